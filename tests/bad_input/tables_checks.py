"""What a learner may hand in in the place of an answer: no function, functions that raise, give back or do anything."""

import math
import sys
import warnings

import torch
from hostile_texts import HOSTILE

from encoder_lib.course import checks
from encoder_lib.course import debugging_clinic as clinic

CHECKS = checks.CHECKS | {name: getattr(clinic, name) for name in clinic.__all__ if name.startswith("check_")}


class Endless(BaseException):
    """An exception that is no `Exception`, of many words."""

    def __str__(self):
        return "<b>no</b> $x^$ \x00\x1b[31m\ud800" * 10_000


class Touchy(Exception):
    """An object that raises whatever is done with it, also when it is raised itself."""

    def __getattr__(self, name):
        raise RuntimeError("do not touch")

    __repr__ = __str__ = __len__ = __iter__ = __bool__ = __eq__ = __float__ = __array__ = __getattr__
    __hash__ = None


class Sly(torch.Tensor):
    """A tensor with which nothing can be computed."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError("no arithmetic with me")


class NotBuilt(torch.nn.Module):
    """A module that was never initialised."""

    def __init__(self, *sizes):
        self.weight = torch.nn.Parameter(torch.zeros(1))


def raises(error):
    def attempt(*_):
        raise error

    return attempt


def gives(value):
    return lambda *_: value


def again(*arguments):
    return again(*arguments)


def scribbles(*arguments):
    """Changes all that it was given, prints, warns, and gives nothing right."""
    for tensor in arguments:
        if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
            tensor.fill_(math.nan)
    print("<b>line</b> \x1b[31m" * 2000)
    warnings.warn("<b>careful</b>", stacklevel=2)
    return torch.full((1,), math.nan)


ATTEMPTS = {
    # no functions
    **{f"{value!r} of {type(value).__name__}": value for value in (None, 3, "pool", ...)},
    "touchy": Touchy(),
    "no arguments": lambda: 1,
    "a module that was not built": NotBuilt,
    # exceptions
    "ValueError with markup": raises(ValueError("<img src=x onerror=alert(1)>")),
    "sys.exit": lambda *_: sys.exit(),
    "an exception without words": raises(Touchy()),
    "an exception of many words": raises(Endless()),
    "a group of exceptions": raises(BaseExceptionGroup("two", [Endless(), ValueError("b")])),
    "endless recursion": again,
    # results
    "nothing": gives(None),
    "hostile text": gives(HOSTILE["very long"]),
    "a touchy object": gives(Touchy()),
    "a list": gives([]),
    "a huge integer": gives(10**5000),
    "NaN": gives(math.nan),
    "an empty tensor": gives(torch.empty(0)),
    "a meta tensor": gives(torch.ones(1, device="meta")),
    "a complex tensor": gives(torch.ones(1, dtype=torch.complex64)),
    "a huge tensor": gives(torch.zeros(1).expand(10**12)),
    "a sly tensor": gives(torch.zeros(1).as_subclass(Sly)),
    "a tuple of wrong tensors": gives((torch.zeros(1),) * 4),
    "it does what it may not": scribbles,
}
