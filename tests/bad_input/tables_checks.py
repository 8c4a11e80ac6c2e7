"""What a learner may hand in in the place of an answer: no function, functions that raise, give back or do anything."""

import math
import sys
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import torch
from hostile_texts import HOSTILE
from torch import nn

from encoder_lib import checks
from encoder_lib.checks import clinic

CHECKS = {
    name: getattr(module, name) for module in (checks, clinic) for name in module.__all__ if name.startswith("check_")
}


class Stops(BaseException):
    """An exception that is no `Exception`."""


class Speechless(Exception):
    """An exception that cannot say what it is."""

    def __str__(self):
        raise ValueError("no words")


class Endless(Exception):
    """An exception of many words."""

    def __str__(self):
        return "<b>no</b> $x^$ \x00\x1b[31m\ud800" * 10_000


class Touchy:
    """An object that raises whatever is done with it."""

    def __getattr__(self, name):
        raise RuntimeError("do not touch")

    __repr__ = __str__ = __len__ = __iter__ = __bool__ = __eq__ = __float__ = __array__ = __getattr__
    __hash__ = None


class Sly(torch.Tensor):
    """A tensor with which nothing can be computed."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError("no arithmetic with me")


class Number(float):
    """A number that will not be one."""

    def __float__(self):
        raise ValueError("not a number after all")


def raises(error):
    """A function that raises."""

    def attempt(*_):
        raise error

    return attempt


def gives(value):
    """A function that gives back the same for everything."""
    return lambda *_: value


def again(*arguments):
    """A recursion without end."""
    return again(*arguments)


async def later(*_):
    """A coroutine."""
    return torch.zeros(1)


def one_by_one(*_):
    """A generator."""
    yield torch.zeros(1)


def scribbles(*arguments):
    """Changes all that it was given, in shape and in numbers."""
    for tensor in arguments:
        if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
            tensor.fill_(math.nan)
    return torch.full((1,), math.nan)


def chatty(*_):
    """Prints a lot, also markup and escape codes."""
    print("<b>line</b> \x1b[31m" * 2000)
    return torch.full((1,), math.nan)


def warns(*_):
    """Warns, and gives nothing right."""
    warnings.warn("<b>careful</b>", stacklevel=2)
    return torch.full((1,), math.nan)


ATTEMPTS = {
    # no functions
    **{f"{value!r} of {type(value).__name__}": value for value in (None, 3, 1.5, True, "look_up", b"", [], {}, ...)},
    "a tensor": torch.zeros(2, 2),
    "a module's name": "torch.nn.Linear",
    "an array": np.zeros(2),
    "touchy": Touchy(),
    # other arguments
    "no arguments": lambda: 1,
    "nine arguments": lambda a, b, c, d, e, f, g, h, i: 1,
    "keywords alone": lambda *, x: x,
    "a class of nothing": object,
    "a built-in": len,
    "a type": int,
    "an exception": ValueError,
    "print": print,
    # exceptions
    "Exception": raises(Exception("")),
    "ValueError with markup": raises(ValueError("<img src=x onerror=alert(1)>")),
    "KeyError of an object": raises(KeyError(Touchy)),
    "StopIteration": raises(StopIteration(3)),
    "SystemExit": raises(SystemExit("bye")),
    "SystemExit of 0": raises(SystemExit(0)),
    "sys.exit": lambda *_: sys.exit(),
    "GeneratorExit": raises(GeneratorExit()),
    "no Exception": raises(Stops("stop")),
    "MemoryError": raises(MemoryError()),
    "an exception without words": raises(Speechless()),
    "an exception of many words": raises(Endless()),
    "a group of exceptions": raises(BaseExceptionGroup("two", [Stops("a"), ValueError("b")])),
    "endless recursion": again,
    "an assertion": raises(AssertionError()),
    "a warning as error": raises(UserWarning("w")),
    # results
    "a number": gives(1),
    "a text": gives("text"),
    "hostile text": gives(HOSTILE["very long"]),
    "a type of tensor": gives(torch.Tensor),
    "an object": gives(object()),
    "a touchy object": gives(Touchy()),
    "an array of objects": gives(np.array([object()])),
    "a list": gives([]),
    "a dictionary": gives({}),
    "itself": gives(gives),
    "a decimal": gives(Decimal("nan")),
    "a fraction": gives(Fraction(10**400, 3)),
    "a huge integer": gives(10**5000),
    "a complex number": gives(1j),
    "a sly number": gives(Number(1.0)),
    "NaN": gives(math.nan),
    "infinity": gives(-math.inf),
    "a tensor of NaN": gives(torch.tensor(math.nan)),
    "many NaN": gives(torch.full((2, 3), math.nan)),
    "an empty tensor": gives(torch.empty(0)),
    "a meta tensor": gives(torch.ones(1, device="meta")),
    "a complex tensor": gives(torch.ones(1, dtype=torch.complex64)),
    "a sparse tensor": gives(torch.eye(3).to_sparse()),
    "a huge tensor": gives(torch.zeros(1).expand(10**12)),
    "a tensor of many axes": gives(torch.zeros([1] * 60)),
    "a sly tensor": gives(torch.zeros(1).as_subclass(Sly)),
    "a parameter": gives(nn.Parameter(torch.full((2, 2), math.nan))),
    "a generator": one_by_one,
    "a coroutine": later,
    "a tuple of wrong tensors": gives((torch.zeros(1),) * 4),
    # deeds
    "it changes its input": scribbles,
    "it prints": chatty,
    "it warns": warns,
}
