"""Modules that share everything with the original except their class, or their submodules."""

import copy

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrize

from encoder_lib.recast import share, with_class


class Doubled(nn.Linear):
    """Twice what a linear layer gives."""

    def forward(self, x):
        return 2 * super().forward(x)


def test_with_class_shares_parameters_settings_and_hooks():
    plain, x = nn.Linear(3, 2), torch.randn(4, 3)
    doubled = with_class(plain, Doubled)
    assert type(doubled) is Doubled and type(plain) is nn.Linear and doubled.weight is plain.weight
    torch.testing.assert_close(doubled(x), 2 * plain(x))
    plain.double().eval()
    doubled.bias.data.zero_()
    assert doubled.weight.dtype == torch.float64 and not doubled.training and not plain.bias.any()
    calls = []
    plain.register_forward_hook(lambda *_: calls.append(1))
    doubled(torch.zeros(1, 3, dtype=torch.float64))
    assert calls == [1]


def tree():
    """Submodules in submodules, a buffer, a child that is None, and a submodule that occurs twice."""
    net = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 3)))
    net.again = net[0]
    net[1].register_module("missing", None)
    return net


def test_share_shares_parameters_and_buffers():
    net = tree()
    copied = share(net)
    assert all(a is b for a, b in zip(net.parameters(), copied.parameters(), strict=True))
    assert all(a is b for a, b in zip(net.buffers(), copied.buffers(), strict=True))
    assert list(copied.state_dict()) == list(net.state_dict())
    net.double()
    assert copied[0].weight.dtype == torch.float64 and copied[1][0].running_mean.dtype == torch.float64


def test_share_copies_the_structure():
    """A module replaced, or a mode changed, in the copy is not changed in the original."""
    net = tree()
    copied = share(net)
    assert not {id(m) for m in net.modules()} & {id(m) for m in copied.modules()}
    copied[1][1] = nn.Identity()
    copied.eval()
    assert type(net[1][1]) is nn.Linear and all(module.training for module in net.modules())


def test_share_keeps_none_and_repeated_submodules():
    copied = share(tree())
    assert copied.again is copied[0]
    assert "missing" in copied[1]._modules and copied[1].missing is None


class Uncopyable:
    """A hook whose state must not be copied: a lock, an open file, all the tensors that it has kept."""

    def __init__(self):
        self.calls = 0

    def __deepcopy__(self, memo):
        raise AssertionError("copied")

    def __call__(self, module, args, output):
        self.calls += 1


@pytest.mark.parametrize("later", [False, True], ids=["added before", "added after"])
def test_hooks_fire_in_original_and_copy(later):
    net, hook = tree(), Uncopyable()
    if not later:
        net[0].register_forward_hook(hook)
    copied = share(net)
    if later:
        net[0].register_forward_hook(hook)
    x = torch.randn(4, 3)
    copied[0](x)
    net[0](x)
    assert hook.calls == 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize(
    "special",
    [
        lambda: torch.jit.script(nn.Sequential(nn.Linear(3, 3))),
        lambda: torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(3, 3)), {nn.Linear}),
        lambda: nn.utils.weight_norm(nn.Linear(3, 3)),
        lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3)).eval(),
        lambda: nn.MultiheadAttention(3, 1, batch_first=True),
    ],
    ids=["scripted", "quantised", "weight norm", "spectral norm", "attention"],
)
def test_share_of_special_modules_computes_the_same(special):
    net = nn.Sequential(special())
    args = [torch.randn(1, 2, 3)] * (3 if isinstance(net[0], nn.MultiheadAttention) else 1)
    expected, found = net[0](*args), share(net)[0](*args)
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


def test_copy_of_a_compiled_module_calls_its_own_submodules(monkeypatch):
    """What `module.compile()` stores on the module calls the original."""
    net, x = nn.Sequential(nn.Linear(3, 3)), torch.randn(2, 3)
    monkeypatch.setattr(torch, "compile", lambda call, **settings: call)
    net.compile()
    copied = share(net)
    copied[0] = nn.Identity()
    assert torch.equal(copied(x), x)


def test_share_of_a_parametrized_module():
    net, x = nn.Sequential(nn.Linear(3, 3, bias=False)), torch.randn(2, 3)
    parametrize.register_parametrization(net[0], "weight", nn.Softplus())
    copied = share(net)
    assert torch.equal(copied(x), net(x)) and type(copied[0]) is type(net[0])
    assert copy.deepcopy(copied)[0].parametrizations.weight.original is not net[0].parametrizations.weight.original
