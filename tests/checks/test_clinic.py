"""The clinic: its broken code fails for the reason taught, its solutions pass, and five tests notice every fault."""

import ast
import inspect
import re

import nbformat
import pytest
import torch
from answers.clinic import CLINIC, PADDING_RIGHT, PADDING_WRONG, PARITY_RIGHT, PARITY_WRONG
from places import ROOT

from encoder_lib.checks import clinic, verdict
from encoder_lib.checks.clinic import patients, rounds
from encoder_lib.checks.clinic.broken import DropsAlways
from encoder_lib.checks.verdict import Probe, diagnose

NOTEBOOK = nbformat.read(ROOT / "notebooks/10_debugging_clinic.ipynb", as_version=4)
CASES = [
    (symptom.source, cell, fold.source)
    for symptom, cell, fold in zip(NOTEBOOK.cells, NOTEBOOK.cells[1:], NOTEBOOK.cells[2:], strict=False)
    if "exercise" in cell.metadata.get("tags", []) and "### Case" in symptom.source
]
NAMES = [re.search(r"clinic\.(check_\w+)\(", cell.source).group(1) for _, cell, _ in CASES]
BY_NAME = dict(zip(NAMES, CASES, strict=True))
RIGHT = [pytest.param(n, f, id=f"{n}: {k}") for n, (_, right, _) in CLINIC.items() for k, f in right.items()]
WRONG = [pytest.param(n, f, id=f"{n}: {k}") for n, (*_, wrong) in CLINIC.items() for k, f in wrong.items()]
IMPORTS = next(c.source for c in NOTEBOOK.cells if c.cell_type == "code").split("_ = setup")[0]
NUMBERED = list(enumerate(NAMES, start=1))


def code_of(name):
    """The broken code of a case, as its cell shows it."""
    return BY_NAME[name][1].source.split("\n\n\nclinic.")[0]


def made(code):
    """What a cell's code defines: its first function or class."""
    names = {}
    exec(IMPORTS, names)
    exec(code, names)
    return names[re.search(r"^(?:def|class) (\w+)", code, re.MULTILINE).group(1)]


def broken(name):
    """The broken piece of a case, out of the notebook."""
    return made(code_of(name))


def mend(name):
    """The code in the fold below a case."""
    return re.search(r"<details>.*?```python\n(.*?)```.*</details>", BY_NAME[name][2], re.DOTALL)[1]


def solution(name):
    """The mended piece of a case, out of the fold below it."""
    return made(mend(name))


def five_tests():
    """The tests that the notebook builds, in the order in which the rounds take them."""
    names = {}
    exec(IMPORTS, names)
    helpers = ("another_order", "share_parameters")
    wanted = ("ids", "real", "repeats", "parameters", "invariances", "sizes_and_types", "parity")
    for cell in NOTEBOOK.cells:
        if cell.cell_type == "code" and "exercise" not in cell.metadata.get("tags", []):
            for node in ast.parse(cell.source).body:
                defined = getattr(node, "name", None) or ast.unparse(getattr(node, "targets", [ast.Name("")])[0])
                if defined in wanted + helpers:
                    exec(ast.unparse(node), names)
    return {name: names[name] for name in wanted[2:]}


TESTS = five_tests()


@pytest.fixture(autouse=True)
def fresh():
    """No test sees what another has tried."""
    verdict._tries.clear()


def test_there_are_twenty_cases_and_each_is_tested():
    assert len(NAMES) == len(set(NAMES)) == len(rounds.CASES) == 20
    assert set(NAMES) == set(CLINIC)
    assert {name for name in dir(clinic) if name.startswith("check_")} == {*NAMES, "check_more_padding", "check_parity"}
    assert all(len(right) >= 1 and len(wrong) >= 3 for _, right, wrong in CLINIC.values())


@pytest.mark.parametrize(("number", "name"), NUMBERED)
def test_a_case_has_its_number_and_its_title(number, name):
    title = rounds.CASES[number - 1].title
    assert f"### Case {number}: {title}\n" in BY_NAME[name][0]
    assert clinic.TITLES[number - 1] == f"{title} ({number})"
    assert getattr(clinic, name)(broken(name)).exercise.startswith(f"Case {number}, ")


@pytest.mark.parametrize(("number", "name"), NUMBERED)
def test_the_patient_has_what_the_cell_shows(number, name):
    """Word for word, apart from the piece's name."""
    code, piece = code_of(name), rounds.CASES[number - 1].piece
    shown = re.search(r"^(?:def|class) (\w+)", code, re.MULTILINE)[1]
    assert re.sub(rf"^(def|class) {shown}\b", rf"\1 {piece.__name__}", code) == inspect.getsource(piece).strip()


def test_a_patient_has_its_piece_in_every_layer():
    layers = clinic.patient(1)().encoder.layers
    assert [type(layer.feed_forward) for layer in layers] == [DropsAlways] * patients.LAYERS


@pytest.mark.parametrize("name", NAMES)
def test_the_mend_stands_below_the_broken_code(name):
    assert "<details>" not in BY_NAME[name][0].split("### Case")[-1]
    assert BY_NAME[name][2].startswith("<details><summary>A way to mend it</summary>")


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


# the least that has to change in a case's own code: what stands there, and what should
SMALLEST = {
    "check_evaluation": {"self.dropout)  # (B": "self.dropout, self.training)  # (B"},
    "check_stack": {
        "        self.layer = EncoderLayer(d_model, n_heads, d_ff)\n": "",
        "deepcopy(self.layer)": "EncoderLayer(d_model, n_heads, d_ff)",
    },
    "check_torch_mask": {"=real": "=~real"},
    "check_positions": {
        "self.table = sinusoidal_table(100, d_model)": 'self.register_buffer("table", sinusoidal_table(100, d_model))'
    },
    "check_table": {"2 * i /": "2 * (i // 2) /"},
    "check_feed_forward": {"layers = nn.Sequential()": "layers = self.layers = nn.Sequential()"},
    "check_split": {"reshape(B, T,": "reshape(B, x.shape[1],"},
    "check_half_precision": {"-1e9": "torch.finfo(scores.dtype).min"},
    "check_embedding": {"self.token(ids) + self.position(ids)": "self.position(self.token(ids))"},
    "check_empty_text": {".softmax(dim=-1)": ".softmax(dim=-1).masked_fill(~mask, 0)"},
    "check_quiet_rows": {"1e-10": "1e-5"},
    "check_self_attention": {
        "self.d_model = d_model": "self.maps = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(3))",
        "(nn.Linear(self.d_model, self.d_model)(x) for _ in range(3))": "(linear(x) for linear in self.maps)",
    },
    "check_padding_row": {
        "xavier_uniform_(weight)": "xavier_uniform_(weight)\n            nn.init.zeros_(weight[padding_idx])"
    },
    "check_context": {"mask & past": "mask"},
    "check_batch_mask": {"scores, real)": "scores, real[:, None])"},
    "check_padding": {"x = layer(x)": "x = layer(x, (ids != 0)[:, None, None])"},
    "check_mixture": {"dim=1": "dim=-1"},
    "check_reread": {"network(x)": "network(y)"},
    "check_wide": {"key.transpose(-2, -1)": "key.transpose(-2, -1) / query.shape[-1] ** 0.5"},
    "check_biased_variance": {
        "x.std(dim=-1, keepdim=True)": "x.var(dim=-1, keepdim=True, unbiased=False)",
        "(std + eps)": "(std + eps).sqrt()",
    },
}


@pytest.mark.parametrize(("number", "name"), NUMBERED)
def test_the_smallest_mend_with_the_cells_own_defaults_passes_and_no_test_objects(number, name, default_dtype):
    code = code_of(name)
    for wrong, right in SMALLEST[name].items():
        assert code.count(wrong) == 1
        code = code.replace(wrong, right)
    result = getattr(clinic, name)(made(code))
    assert result.correct, result
    assert not any(clinic.notices(test, clinic.patient(number, made(code))) for test in TESTS.values())


def arguments(code):
    """What a piece takes, with its defaults."""
    return re.search(r"^def \w+(\(.*\))|def __init__(\(.*\))", code, re.MULTILINE).groups()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "check_quiet_rows"])  # its ε is the fault
def test_the_mend_in_the_fold_takes_what_the_cell_takes(name):
    assert arguments(mend(name)) == arguments(code_of(name))


def test_each_fault_of_case_20_has_a_hint_of_its_own(default_dtype):
    """Whatever the number of tries."""
    half = CLINIC["check_biased_variance"][2]["biased, ε outside"]
    hints = {clinic.check_biased_variance(half).hint for _ in range(4)}
    assert len(hints) == 1 and "ε" in hints.pop()


@pytest.mark.parametrize(("name", "thing"), RIGHT)
def test_another_way_to_mend_it_passes(name, thing, default_dtype):
    result = getattr(clinic, name)(thing)
    assert result.correct, result


@pytest.mark.parametrize(("name", "thing"), WRONG)
def test_half_mended_code_fails_with_a_hint(name, thing, default_dtype):
    result = getattr(clinic, name)(thing)
    assert not result.correct and result.problem and result.hint


@pytest.mark.parametrize(
    ("name", "mistake", "words"),
    [
        ("check_evaluation", "never", "Training still needs dropout"),
        ("check_evaluation", "kept from the first call", "who reads it, and when"),
        ("check_evaluation", "on the output", "on the hidden numbers"),
        ("check_stack", "one object", "holds one layer"),
        ("check_stack", "copies", "The second fault: a deep copy copies the random numbers too."),
        ("check_stack", "a plain list", "not in a list"),
        ("check_stack", "the mask dropped", "gets the mask"),
        ("check_torch_mask", "no mask", "a mixture of both"),
        ("check_positions", "a parameter", "it would learn"),
        ("check_positions", "dtype alone", "the device does not"),
        ("check_table", "no cosines", "At position 0"),
        ("check_table", "sine and cosine swapped", "At position 0"),
        ("check_table", "half the exponent", "The first clock is right"),
        ("check_torch_mask", "padding zeroed as a query", "The mask is right"),
        ("check_positions", "always float32", "the table has kept its own"),
        ("check_feed_forward", "a plain list", "not a list's"),
        ("check_feed_forward", "no bend", "a ReLU between them"),
        ("check_feed_forward", "detached", "cut it off"),
        ("check_split", "no transpose", "a slice of one token"),
        ("check_split", "every n-th number", "the first half of its numbers"),
        ("check_half_precision", "−1e4", "as low as −30000"),
        ("check_half_precision", "times the mask", "In float64 all was well"),
        ("check_half_precision", "in float32", "the dtype that the scores have"),
        ("check_embedding", "padding like a word", "told so"),
        ("check_embedding", "tokens twice", "twice, or not at all"),
        ("check_embedding", "no positions", "twice, or not at all"),
        ("check_embedding", "no tokens", "twice, or not at all"),
        ("check_empty_text", "lowest number", "The NaN is gone"),
        ("check_empty_text", "−1e9", "The NaN is gone"),
        ("check_empty_text", "times the mask", "those that may be seen share 1"),
        ("check_empty_text", "−1e9, then the mask", "Does float16 have the number"),
        ("check_quiet_rows", "nan_to_num", "Small ones show ε"),
        ("check_quiet_rows", "ε of 1e-6", "Small ones show ε"),
        ("check_quiet_rows", "ε outside", "Small ones show ε"),
        ("check_quiet_rows", "float32 and the old ε", "Small ones show ε"),
        ("check_self_attention", "the mask dropped", "and the mask"),
        ("check_self_attention", "a plain list", "What is in a plain list is not"),
        ("check_self_attention", "one map for all three", "all three maps"),
        ("check_padding_row", "no Xavier", "The padding is right"),
        ("check_padding_row", "row 0 whatever padding is", "Which row is the padding's here"),
        ("check_padding_row", "a row that learns", "keeps its gradient at zero"),
        ("check_padding_row", "all rows zero", "The padding is right"),
        ("check_context", "no mask at all", "Does the softmax still get the mask"),
        ("check_context", "the other triangle", "in each row"),
        ("check_batch_mask", "queries hidden", "As a query it may ask"),
        ("check_batch_mask", "no mask", "The second token is padding"),
        ("check_padding", "first layer alone", "With one layer it is right"),
        ("check_padding", "inverted", "nothing may be hidden"),
        ("check_reread", "pre-norm", "goes through norm1"),
        ("check_reread", "in place", "+="),
        ("check_wide", "/ √T", "has to be 1 there"),
        ("check_wide", "a fixed 1/2", "know of the width"),
        ("check_biased_variance", "biased, ε outside", "The second fault"),
        ("check_biased_variance", "an ε of 1e-6", "it is torch's"),
        ("check_biased_variance", "no parentheses", "its own mean"),
    ],
)
def test_the_first_hint_speaks_of_the_mistake_that_was_made(name, mistake, words):
    assert words in getattr(clinic, name)(CLINIC[name][2][mistake]).hint


@pytest.mark.parametrize("name", NAMES)
def test_no_verdict_gives_the_solution_away(name):
    lines = {line.strip() for line in mend(name).splitlines()}
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
        patient = clinic.patient(NAMES.index(name) + 1, thing)
        assert any(clinic.notices(test, patient) for test in TESTS.values())


@pytest.mark.parametrize("name", NAMES)
def test_a_check_leaves_the_random_numbers_alone(name):
    torch.manual_seed(3)
    expected = torch.rand(3)
    for thing in (broken(name), solution(name)):
        torch.manual_seed(3)
        getattr(clinic, name)(thing)
        clinic.visit(TESTS["repeats"], NAMES.index(name) + 1, thing)
        assert torch.equal(torch.rand(3), expected)


# The tests that the reader writes.

WRITTEN = {"check_more_padding": "Your turn, more_padding", "check_parity": "Your turn, my_parity"}


def own_cells(check):
    """The exercise's cell, and the fold below it."""
    (place,) = (i for i, cell in enumerate(NOTEBOOK.cells) if f"clinic.{check}(" in cell.source)
    return NOTEBOOK.cells[place : place + 2]


@pytest.mark.parametrize("check", WRITTEN)
def test_an_unwritten_test_is_told_to_be_written(check):
    cell, _ = own_cells(check)
    assert "exercise" in cell.metadata.tags
    for nothing in (made(cell.source.split("\n\n\nclinic.")[0]), lambda build: None):
        said = getattr(clinic, check)(nothing)
        assert not said.correct and "returns nothing yet" in said.problem and said.exercise == WRITTEN[check]
    (stored,) = cell.outputs
    assert stored.data["text/plain"] == repr(said)


def test_the_test_in_the_fold_passes_and_notices_what_it_should(default_dtype):
    _, fold = own_cells("check_more_padding")
    code = re.search(r"<details>.*?```python\n(.*?)```.*</details>", fold.source, re.DOTALL)[1]
    names = {}
    exec(IMPORTS, names)
    exec("ids = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 0, 0]])\nreal = ids != 0", names)
    exec(code, names)
    result = clinic.check_more_padding(names["more_padding"])
    assert result.correct and len(result.passed) == 12, result
    noticed = [i for i, _ in NUMBERED if clinic.notices(names["more_padding"], clinic.patient(i))]
    assert noticed == [1, 3, 6, 9, 12, 15, 16, 17]


def test_the_notebooks_own_parity_passes_the_check(default_dtype):
    result = clinic.check_parity(TESTS["parity"])
    assert result.correct and len(result.passed) == 12, result


def own(padding, parity):
    """For each answer its check, and what it should be told."""
    first = [pytest.param(clinic.check_more_padding, *_all(a), id=f"more padding: {k}") for k, a in padding.items()]
    return first + [pytest.param(clinic.check_parity, *_all(a), id=f"parity: {k}") for k, a in parity.items()]


def _all(answer):
    return answer if isinstance(answer, tuple) else (answer,)


@pytest.mark.parametrize(("check", "thing"), own(PADDING_RIGHT, PARITY_RIGHT))
def test_another_way_to_write_a_test_passes(check, thing, default_dtype):
    result = check(thing)
    assert result.correct, result


@pytest.mark.parametrize(("check", "thing", "problem", "hint"), own(PADDING_WRONG, PARITY_WRONG))
def test_a_wrong_test_fails_and_hears_why(check, thing, problem, hint, default_dtype):
    result = check(thing)
    assert not result.correct and hint in result.hint
    assert problem in repr(result)


@pytest.mark.parametrize(
    ("check", "wrong", "word"),
    [
        (clinic.check_more_padding, PADDING_WRONG["dropout on"][0], "eval()"),
        (clinic.check_parity, PARITY_WRONG["no positions"][0], "ignore"),
    ],
)
def test_the_hints_on_a_test_grow_with_the_tries(check, wrong, word):
    hints = [check(wrong).hint for _ in range(4)]
    assert len(set(hints)) == 3 and word in hints[1] and hints[2] == hints[3]


# A probe that objects, fails, or never ends.


def test_diagnose_stops_at_the_first_objection():
    probes = (Probe("one", lambda thing: ""), Probe("two", lambda thing: f"got {thing()}"), Probe("three", _fails))
    result = diagnose("thing", lambda: 5, probes, ("first", "second"))
    assert result.passed == ("one",) and result.problem == "two: got 5" and result.hint == "first"
    assert diagnose("thing", lambda: 5, probes, ("first", "second")).hint == "second"
    assert diagnose("thing", lambda: 5, probes[:1], ("first",)).correct


def test_a_probe_with_a_hint_of_its_own_gives_that():
    probes = (Probe("one", lambda thing: "wrong", "its own"),)
    assert [diagnose("thing", lambda: 5, probes, ("first", "second")).hint for _ in range(2)] == ["its own"] * 2


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

SOUND = [
    pytest.param(patients.Patient(patients.no_fault, n_heads, norm_first), id=f"{n_heads} heads, {norm_first=}")
    for n_heads in (1, 2)
    for norm_first in (False, True)
]
each_test = pytest.mark.parametrize("test", TESTS.values(), ids=TESTS)
BOTH_DTYPES = [pytest.param(torch.float32, marks=pytest.mark.long), torch.float64]
both_dtypes = pytest.mark.parametrize("default_dtype", BOTH_DTYPES, indirect=True)
# what each of the five notices, in their order
NOTICED = {
    "check_evaluation": "10101", "check_stack": "01001", "check_torch_mask": "10111", "check_positions": "00010",
    "check_table": "00001", "check_feed_forward": "11111", "check_split": "00010", "check_half_precision": "00010",
    "check_embedding": "11111", "check_empty_text": "00010", "check_quiet_rows": "00011",
    "check_self_attention": "10111", "check_padding_row": "01000", "check_context": "00101",
    "check_batch_mask": "11111", "check_padding": "00101", "check_mixture": "00101", "check_reread": "00001",
    "check_wide": "00001", "check_biased_variance": "00001",
}  # fmt: skip


@each_test
@pytest.mark.parametrize("patient", SOUND)
def test_a_sound_encoder_passes_every_test(test, patient, default_dtype):
    assert not clinic.notices(test, patient)


@pytest.mark.parametrize(("number", "name"), NUMBERED)
@both_dtypes
def test_the_five_tests_notice_the_fault_and_leave_the_solution_alone(number, name, default_dtype):
    noticed = "".join(str(int(clinic.notices(test, clinic.patient(number)))) for test in TESTS.values())
    assert noticed == NOTICED[name]
    assert not any(clinic.notices(test, clinic.patient(number, solution(name))) for test in TESTS.values())


def test_the_matrix_has_a_row_for_each_case_and_a_column_for_each_test():
    matrix = clinic.fault_matrix(list(TESTS.values())[:2])
    assert matrix.tolist() == [[digit == "1" for digit in NOTICED[name][:2]] for name in NAMES]


@pytest.mark.parametrize(("number", "name"), NUMBERED)
def test_the_solution_in_a_whole_encoder_is_torchs_encoder(number, name):
    """Where the test of parity passes, it was not because nothing was compared."""
    patient = clinic.patient(number, solution(name))

    def spoil(model):
        patient.inject(model)
        model.register_forward_hook(lambda module, ids, y: y + 1e-9)

    spoilt = patients.Patient(spoil, patient.n_heads, patient.norm_first)
    assert not clinic.notices(TESTS["parity"], patient) and clinic.notices(TESTS["parity"], spoilt)


@pytest.mark.parametrize(
    ("number", "name"), [(i, n) for i, n in NUMBERED if n not in ("check_self_attention", "check_feed_forward")]
)
def test_a_part_fits_an_encoder_of_any_size(number, name):
    losses, share = clinic.train(clinic.patient(number, solution(name)), steps=2)
    assert losses.shape == (2,) and 0 <= share <= 1


@pytest.mark.parametrize("put", [patients.inject_attend, patients.inject_attend_real, patients.inject_torch_attend])
def test_a_part_without_a_mask_gets_one_where_the_vectors_are(put):
    met = []

    def attend(*arguments):
        met.append(arguments[-1].device.type)
        return arguments[-2]

    model = put(attend)().to("meta")
    model.encoder(torch.zeros(1, 3, patients.D, device="meta"))
    assert met == ["meta"] * patients.LAYERS


# A visit


def finds(number):
    """A test that finds this in every encoder."""
    return lambda build: {"found": number}


def test_a_visit_shows_what_is_found_in_three_encoders(default_dtype):
    shown = clinic.visit(TESTS["parameters"], 2, solution("check_stack"))
    assert list(shown.index) == ["a sound encoder", "patient 2", "with your Stack"]
    assert shown["without a gradient"].tolist() == ["0", "16", "0"]
    assert set(clinic.visit(TESTS["parity"], 6, _fails)["beside PyTorch's"][1:]) == {"RuntimeError"}


@pytest.mark.parametrize(
    ("number", "found"),
    [(0, False), (1e-11, False), (-1e-9, True), (1e-9, True), (float("nan"), True), (torch.tensor(3.0), True)],
)
def test_a_number_is_a_find_when_it_is_more_than_rounding(number, found):
    assert clinic.notices(finds(number), clinic.SOUND) is found


def test_a_test_that_raises_or_never_ends_has_found_something(monkeypatch):
    monkeypatch.setattr(rounds, "PATIENCE", 0.1)

    def never_ends(build):
        while True:
            pass

    assert all(clinic.notices(test, clinic.SOUND) for test in (_fails, _leaves, never_ends))
    with pytest.raises(RuntimeError):
        clinic.visit(_fails, 1, solution("check_evaluation"))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: clinic.patient(0), "case: expected an integer of at least 1"),
        (lambda: clinic.patient(21), "case: expected 1 to 20, got 21"),
        (lambda: clinic.patient("1"), "case: expected an integer"),
        (lambda: clinic.patient(1, 3), "piece: expected a function, got 3"),
        (lambda: clinic.cut_with(3), "cut: expected a function"),
        (lambda: clinic.visit(3, 1, solution("check_evaluation")), "test: expected a function"),
        (lambda: clinic.visit(finds(0), 1, None), "piece: expected a function"),
        (lambda: clinic.visit(lambda build: 0, 1, _fails), "what the test gives: expected a dictionary"),
        (lambda: clinic.notices(lambda build: 0, clinic.SOUND), "what the test gives: expected a dictionary"),
        (lambda: clinic.notices(finds("x"), clinic.SOUND), "what the test gives, 'found'"),
        (lambda: clinic.notices(None, clinic.SOUND), "test: expected a function"),
        (lambda: clinic.fault_matrix(TESTS["parity"]), "tests: expected a list of functions"),
        (lambda: clinic.fault_matrix([]), "tests: expected at least one"),
        (lambda: clinic.train(clinic.SOUND, steps=0), "steps"),
        (lambda: clinic.train(clinic.SOUND, seed=-1), "seed"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        call()


def test_a_patient_and_its_twin_are_the_same_each_time():
    (a, b), (c, d) = ((clinic.SOUND(), clinic.SOUND()), (clinic.SOUND.twin(), clinic.SOUND.twin()))
    for one, other in ((a, b), (c, d)):
        assert all(torch.equal(p, q) for p, q in zip(one.parameters(), other.parameters(), strict=True))
    assert all(p.abs().max() > 0.3 for p in c.parameters())  # biases and gains too
