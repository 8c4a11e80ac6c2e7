"""Bad input to the checks: whatever a learner's function is, does or gives back, the answer is a verdict in words."""

import pytest
import torch
from answers import ANSWERS
from tables_checks import ATTEMPTS, CHECKS

from encoder_lib.course.kit.checking.verdict import Verdict


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.filterwarnings("ignore:<b>careful</b>")
def test_every_attempt_gets_a_verdict(check, capsys):
    """Not right, said in words that can be shown, without markup, and not too many; random numbers and inputs stay."""
    random = torch.get_rng_state()
    for name, attempt in ATTEMPTS.items():
        said = check(attempt)
        assert type(said) is Verdict and not said.correct and said.problem, name
        text, page = repr(said), said._repr_html_()
        text.encode()
        page.encode()
        assert len(text) < 4000 and not {"\x00", "\x1b"} & set(text), name
        assert "<b>" not in page and "<img" not in page and "<script" not in page, name
    assert torch.equal(torch.get_rng_state(), random)
    if check in ANSWERS:  # the clinic's answers have their own tests
        assert check(next(iter(ANSWERS[check][0].values()))).correct
