"""The clinic: its broken code fails for the reason taught, its solutions pass, and five tests catch every fault."""

import re

import nbformat
import pytest
import torch
from answers.clinic import CLINIC
from places import ROOT

from encoder_lib.checks import clinic, verdict
from encoder_lib.checks.clinic import fault_injection, registry
from encoder_lib.checks.verdict import Probe, diagnose

NOTEBOOK = nbformat.read(ROOT / "notebooks/10_debugging_clinic.ipynb", as_version=4)
CASES = [
    (symptom.source, cell)
    for symptom, cell in zip(NOTEBOOK.cells, NOTEBOOK.cells[1:], strict=False)
    if "exercise" in cell.metadata.get("tags", [])
]
NAMES = [re.search(r"clinic\.(check_\w+)\(", cell.source).group(1) for _, cell in CASES]
BY_NAME = dict(zip(NAMES, CASES, strict=True))
RIGHT = [pytest.param(n, f, id=f"{n}: {k}") for n, (_, right, _) in CLINIC.items() for k, f in right.items()]
WRONG = [pytest.param(n, f, id=f"{n}: {k}") for n, (*_, wrong) in CLINIC.items() for k, f in wrong.items()]
IMPORTS = next(c.source for c in NOTEBOOK.cells if c.cell_type == "code").split("device =")[0]


def made(code):
    """What a cell's code defines: its first function or class."""
    names = {}
    exec(IMPORTS, names)
    exec(code, names)
    return names[re.search(r"^(?:def|class) (\w+)", code, re.MULTILINE).group(1)]


def broken(name):
    """The broken code of a case, out of the notebook."""
    return made(BY_NAME[name][1].source.split("\n\n\nclinic.")[0])


def solution(name):
    """The folded solution of a case, out of the notebook."""
    folded = re.search(r"<details>.*?```python\n(.*?)```.*</details>", BY_NAME[name][0], re.DOTALL)
    return made(folded.group(1))


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """No test sees what another looked at."""
    monkeypatch.setattr(registry, "_seen", {})
    monkeypatch.setattr(registry, "_faulty", {})
    verdict._tries.clear()


def test_there_are_cases_enough_and_each_is_tested():
    assert len(NAMES) == len(set(NAMES)) >= 15
    assert set(NAMES) == set(CLINIC) == {name for name in dir(clinic) if name.startswith("check_")}
    assert [getattr(clinic, name).fault for name in NAMES] == list(clinic.FAULTS)
    assert all(len(right) >= 1 and len(wrong) >= 3 for _, right, wrong in CLINIC.values())


@pytest.mark.parametrize(("number", "name"), list(enumerate(NAMES, start=1)))
def test_a_case_has_its_number(number, name):
    assert f"### Case {number}: " in BY_NAME[name][0]
    assert getattr(clinic, name)(broken(name)).exercise.startswith(f"Case {number}, ")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("default_dtype", [torch.float64], indirect=True)  # as in the notebook
def test_broken_code_fails_for_the_reason_taught(name, default_dtype):
    result = getattr(clinic, name)(broken(name))
    assert not result.correct and result.hint
    assert CLINIC[name][0] in result.problem
    (stored,) = BY_NAME[name][1].outputs
    assert stored.data["text/plain"] == repr(result).replace("at::Half", "c10::Half")  # as nbval.cfg has it


@pytest.mark.parametrize("name", NAMES)
def test_broken_code_fails_and_the_solution_passes(name, default_dtype):
    check = getattr(clinic, name)
    assert not check(broken(name)).correct
    result = check(solution(name))
    assert result.correct, result
    assert len(result.passed) >= 2 and not result.hint


@pytest.mark.parametrize(("name", "thing"), RIGHT)
def test_another_way_to_mend_it_passes(name, thing, default_dtype):
    result = getattr(clinic, name)(thing)
    assert result.correct, result


@pytest.mark.parametrize(("name", "thing"), WRONG)
def test_half_mended_code_fails_with_a_hint(name, thing, default_dtype):
    result = getattr(clinic, name)(thing)
    assert not result.correct and result.problem and result.hint


@pytest.mark.parametrize("name", NAMES)
def test_no_verdict_gives_the_solution_away(name):
    lines = {line.strip() for line in re.search(r"```python\n(.*?)```", BY_NAME[name][0], re.DOTALL)[1].splitlines()}
    own = {line.split("  #")[0] for line in lines - {line.strip() for line in BY_NAME[name][1].source.splitlines()}}
    check, thing = getattr(clinic, name), broken(name)
    said = "\n".join(repr(check(thing)) for _ in range(4))
    assert own and not [line for line in own if line in said]


def _fails(*_, **__):
    raise RuntimeError("<b>no</b>")


def _leaves(*_, **__):
    raise SystemExit("bye")


class _NotBuilt(torch.nn.Module):
    def __init__(self, *sizes):
        self.weight = torch.nn.Parameter(torch.zeros(1))  # before super().__init__()


class _NoForward(torch.nn.Module):
    def __init__(self, *sizes):
        super().__init__()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "thing",
    [
        _fails, _leaves, _NotBuilt, _NoForward, lambda: 1, lambda *_: None, lambda *_: ..., lambda *_: "text",
        lambda *_: torch.tensor(float("nan")), lambda *_: torch.ones(1, dtype=torch.complex64),
        lambda *_: torch.ones(1, device="meta"), lambda *_: [], int, torch.nn.Module, 3, None,
    ],
)  # fmt: skip
def test_nothing_makes_a_check_or_the_rounds_raise(name, thing):
    result = getattr(clinic, name)(thing)
    assert not result.correct and result.problem
    if thing in (_fails, _leaves, _NoForward, int):
        caught, mended = clinic.fault_matrix()
        assert any(caught[getattr(clinic, name).fault]) and not mended


@pytest.mark.parametrize("name", NAMES)
def test_a_check_leaves_the_random_numbers_alone(name):
    torch.manual_seed(3)
    expected = torch.rand(3)
    for thing in (broken(name), solution(name)):
        torch.manual_seed(3)
        getattr(clinic, name)(thing)
        clinic.fault_matrix()
        assert torch.equal(torch.rand(3), expected)


# A probe that objects, fails, or never ends.


def test_diagnose_stops_at_the_first_objection():
    probes = (Probe("one", lambda thing: ""), Probe("two", lambda thing: f"got {thing()}"), Probe("three", _fails))
    result = diagnose("thing", lambda: 5, probes, ("first", "second"))
    assert result.passed == ("one",) and result.problem == "two: got 5" and result.hint == "first"
    assert diagnose("thing", lambda: 5, probes, ("first", "second")).hint == "second"
    assert diagnose("thing", lambda: 5, probes[:1], ("first",)).correct


def test_diagnose_reports_errors_and_loops_in_words(monkeypatch):
    monkeypatch.setattr(verdict, "PATIENCE", 0.1)

    def never_ends():
        while True:
            pass

    probes = (Probe("a call", lambda thing: thing() or ""),)
    assert diagnose("t", _fails, probes, ("h",)).problem == "a call: it stopped with RuntimeError: <b>no</b>"
    assert "a call: it was still running after" in diagnose("t", never_ends, probes, ("h",)).problem
    assert diagnose("t", 3, probes, ("h",)).problem == "expected a function or a class, got int"


# The five tests.

BOTH_DTYPES = [pytest.param(torch.float32, marks=pytest.mark.long), torch.float64]
SOUND = [
    pytest.param(
        fault_injection.FaultyModel(fault_injection.no_fault, n_heads, norm_first),
        id=f"{n_heads} heads, norm_first={norm_first}",
    )
    for n_heads in (1, 2)
    for norm_first in (False, True)
]


@pytest.mark.parametrize("patient", SOUND)
@pytest.mark.parametrize("test", list(fault_injection.TESTS.values()), ids=list(fault_injection.TESTS))
def test_a_sound_encoder_passes_every_test(test, patient, default_dtype):
    test(patient)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("default_dtype", BOTH_DTYPES, indirect=True)
def test_the_five_tests_catch_the_fault_and_leave_the_solution_alone(name, default_dtype):
    check = getattr(clinic, name)
    check(broken(name))
    caught, mended = clinic.fault_matrix()
    assert any(caught[check.fault]) and not mended
    check(solution(name))
    assert clinic.fault_matrix() == (caught, {check.fault: [False] * 5})


def test_the_solution_in_a_whole_encoder_is_torchs_encoder():
    """Where the test of parity passes, it was not because nothing was compared."""
    for name in NAMES:
        patient = clinic.FAULTS[getattr(clinic, name).fault](solution(name))
        fault_injection.parity(patient)

        def spoil(model, patient=patient):
            patient.inject(model)
            model.register_forward_hook(lambda module, ids, y: y + 1e-9)

        with pytest.raises(AssertionError):
            fault_injection.parity(fault_injection.FaultyModel(spoil, patient.n_heads, patient.norm_first))


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("check_self_attention", "check_feed_forward")])
def test_a_part_fits_an_encoder_of_any_size(name):
    patient = clinic.FAULTS[getattr(clinic, name).fault](solution(name))
    losses, share = fault_injection.train(patient, n_heads=1, steps=2)
    assert len(losses) == 2 and 0 <= share <= 1


@pytest.mark.parametrize(
    "put", [fault_injection.inject_attend, fault_injection.inject_attend_real, fault_injection.inject_torch_attend]
)
def test_a_part_without_a_mask_gets_one_where_the_vectors_are(put):
    met = []

    def attend(*arguments):
        met.append(arguments[-1].device.type)
        return arguments[-2]

    model = put(attend).build().to("meta")
    model.encoder(torch.zeros(1, 3, fault_injection.D, device="meta"))
    assert met == ["meta"] * fault_injection.LAYERS


def test_a_case_mended_before_the_kernel_started_has_nothing_to_show():
    for name in NAMES:
        getattr(clinic, name)(solution(name))
    caught, mended = clinic.fault_matrix()
    assert caught == mended == {fault: [False] * 5 for fault in clinic.FAULTS}
    assert clinic.faulty_model("no 1/√K") is not None


def test_rounds_want_something_to_look_at():
    with pytest.raises(LookupError, match="run the cells"):
        clinic.fault_matrix()
    with pytest.raises(LookupError, match="whose cell has run"):
        clinic.faulty_model("no 1/√K")
