"""Check a learner's class against a layer of the library that has parameters of the same names."""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from torch import Tensor, nn

from encoder_lib.course.kit.checking.gradients import missing_gradients
from encoder_lib.course.kit.checking.modules import build
from encoder_lib.course.kit.checking.trained import examine_trained
from encoder_lib.course.kit.checking.verdict import Case, Feedback, Verdict, numbers, require_written
from encoder_lib.seeded import seeded


def examine_layer(
    name: str, parts: str, attempt: Callable, kind: Callable[..., nn.Module], cases: list[Case]
) -> Verdict:
    """Compare a learner's class with the library's, both filled with the same parameters under the same names.

    Each case holds the sizes, norm_first, x (B, T, D), and a mask or None. Gradients have to reach x as they do in the
    library's module, and they have to reach every parameter.
    """

    def output(*given: Any) -> object:
        """The output of the learner's module for x, with the parameters of the library's."""
        *sizes, x, mask = given
        module = build(attempt, *sizes, name=name)
        inputs = (x,) if mask is None else (x, mask)
        try:
            require_written(module(*inputs), type(module).forward)  # before its parts are needed
        except Feedback:
            raise
        except Exception:
            pass  # its parts may be the reason, which `_fill` reports; otherwise the error occurs again below
        _fill(module, _filled(kind, *sizes).state_dict(), parts)
        y = module(*inputs)
        # x requires gradients only after all numbers were right, when gradients are compared
        if x.requires_grad and (missing := missing_gradients(y, dict(module.named_parameters()))):
            raise Feedback(missing)
        return y

    def reference(*given: Any) -> Tensor:
        *sizes, x, mask = given
        return _filled(kind, *sizes)(x, mask)

    # so that the verdict names the arguments as the learner does
    names = ("n_layers", "d_model", "n_heads", "d_ff", "norm_first", "x", "mask")[-len(cases[0].arguments) :]
    vars(output)["__signature__"] = Signature([Parameter(n, Parameter.POSITIONAL_ONLY) for n in names])
    return examine_trained(f"class {name}", output if callable(attempt) else attempt, reference, cases)


def _filled(kind: Callable[..., Any], *sizes: int) -> Any:
    """A module in float64 with the same parameters in every run, and gains other than 1 and biases other than 0."""
    with seeded(0):
        module = kind(*sizes[:-1], norm_first=sizes[-1]).double()
    for seed, parameter in enumerate(module.parameters()):
        parameter.data += 0.3 * numbers(*parameter.shape, seed=seed)
    return module


def _fill(block: nn.Module, parameters: dict[str, Tensor], parts: str) -> None:
    """Give a layer these parameters. Raises: Feedback if it lacks one of them or has others besides."""
    own = block.state_dict()
    if missing := [name for name in parameters if name not in own]:
        raise Feedback(f"expected the parameters of {parts}, but {missing[0]} is missing")
    if extra := [name for name in own if name not in parameters]:
        raise Feedback(f"expected no parameters but those of {parts}, got {extra[0]}")
    for name, wanted in parameters.items():
        if own[name].shape != wanted.shape:
            raise Feedback(f"{name}: expected shape {tuple(wanted.shape)}, got {tuple(own[name].shape)}")
    if frozen := [name for name, parameter in block.named_parameters() if not parameter.requires_grad]:
        raise Feedback(f"{frozen[0]} has requires_grad=False, so training would leave it as it is")
    block.load_state_dict(parameters)
