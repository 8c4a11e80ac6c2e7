"""Which parameter of a reader's part is which of the library's, and what is said of one that is missing."""

import pytest
import torch
from answers import ANSWERS
from torch import nn

from encoder_lib.course.build_your_own.checks import NORM as NORM_KIND
from encoder_lib.course.build_your_own.checks import check_own_encoder, names_in, parameter_names
from encoder_lib.course.kit.checking import parts
from encoder_lib.course.kit.checking.verdict import Feedback

NORM, NETWORK = parts.Norm(3, 1e-5), parts.FeedForward(2, 3)


def part(**shapes):
    return nn.ParameterDict({name: torch.zeros(*shape) for name, shape in shapes.items()})


@pytest.mark.parametrize(
    ("mine", "theirs", "names"),
    [
        (part(bias=(3,), weight=(3,)), NORM, {"weight": "weight", "bias": "bias"}),
        (part(bias=(3,), gain=(3,)), NORM, {"weight": "gain", "bias": "bias"}),
        (nn.ModuleDict({"shift": part(bias=(3,)), "rms": nn.RMSNorm(3)}), NORM,
         {"weight": "rms.weight", "bias": "shift.bias"}),
        (part(table=(4, 2)), parts.Embedding(4, 2), {"weight": "table"}),
        (nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 2)), NETWORK,
         dict(zip(NETWORK.state_dict(), ("0.weight", "0.bias", "1.weight", "1.bias"), strict=True))),
        (parts.Attention(2, 1), parts.Attention(2, 1), {name: name for name in parts.Attention(2, 1).state_dict()}),
    ],
)  # fmt: skip
def test_a_parameter_is_known_by_its_name_or_alone_of_its_shape(mine, theirs, names):
    assert parameter_names(mine, theirs) == names


@pytest.mark.parametrize(
    ("mine", "theirs", "words"),
    [
        (nn.Identity(), parts.Embedding(4, 2), r"a parameter named weight of shape \(4, 2\), got none"),
        (part(weight=(2, 4)), parts.Embedding(4, 2), r"weight of shape \(4, 2\), got weight \(2, 4\)"),
        (parts.FeedForward(3, 2), NETWORK, r"linear1.weight of shape \(3, 2\), got linear1.weight \(2, 3\)"),
        (part(gain=(3,), shift=(3,)), NORM, r"weight of shape \(3,\), got gain \(3,\), shift \(3,\)"),
        (part(w1=(2, 3), b1=(3,), w2=(3, 2), b2=(2,)), NETWORK, r"linear1.weight of shape \(3, 2\), got b1 \(3,\), b2"),
        (nn.ModuleDict({n: nn.Linear(2, 2) for n in "abcd"}), parts.Attention(2, 1), r"q_proj.weight .* d.bias \(2,\)"),
        (part(weight=(3,), bias=(3,), more=(1,)), NORM, "expected no parameters but weight, bias, got more"),
        (nn.LayerNorm(3).requires_grad_(False), NORM, "weight has requires_grad=False"),
    ],
)  # fmt: skip
def test_a_missing_or_extra_parameter_is_named(mine, theirs, words):
    with pytest.raises(Feedback, match=words):
        parameter_names(mine, theirs)


def test_an_attempt_that_changes_what_it_is_given_spoils_no_later_check():
    wrong = ANSWERS[check_own_encoder][1]
    before = check_own_encoder(wrong["no norm"]).problem
    check_own_encoder(wrong["blocks taken out of the list"])
    assert check_own_encoder(wrong["no norm"]).problem == before


class Stopping(parts.Norm):
    def forward(self, x):
        raise ZeroDivisionError("by hand")


def test_names_of_a_part_that_stops_are_not_known():
    assert names_in(NORM_KIND, parts.Norm) == {"weight": "weight", "bias": "bias"}
    with pytest.raises(ZeroDivisionError, match="by hand"):
        names_in(NORM_KIND, Stopping)
