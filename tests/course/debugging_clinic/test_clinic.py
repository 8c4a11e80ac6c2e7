"""The clinic: its broken code fails for the reason taught, its solutions pass, and four tests notice every fault."""

import ast
import inspect
import linecache
import re

import nbformat
import pytest
import torch
from answers import answers_of
from places import ROOT
from source_edits import edited

from encoder_lib import from_torch
from encoder_lib.course import debugging_clinic as clinic
from encoder_lib.course.debugging_clinic import patients, rounds
from encoder_lib.course.debugging_clinic.broken import TableLeftBehind

LEARNERS = answers_of("debugging_clinic")
CLINIC, PARITY_RIGHT, PARITY_WRONG = LEARNERS.CLINIC, LEARNERS.PARITY_RIGHT, LEARNERS.PARITY_WRONG
NOTEBOOK = nbformat.read(ROOT / "notebooks/10_debugging_clinic.ipynb", as_version=4)
CASES = [
    (symptom.source, cell, fold.source)
    for symptom, cell, fold in zip(NOTEBOOK.cells, NOTEBOOK.cells[1:], NOTEBOOK.cells[2:], strict=False)
    if "exercise" in cell.metadata.get("tags", []) and "## Case" in symptom.source
]
NAMES = [re.search(r"clinic\.(check_\w+)\(", cell.source).group(1) for _, cell, _ in CASES]
BY_NAME = dict(zip(NAMES, CASES, strict=True))
PIECES = {name: case.piece for name, case in zip(NAMES, rounds.CASES, strict=True)}
IMPORTS = next(c.source for c in NOTEBOOK.cells if c.cell_type == "code").split("_ = setup")[0]
each_case = pytest.mark.parametrize(("number", "name"), list(enumerate(NAMES, start=1)))


def code_of(name):
    """The broken code of a case, as its cell shows it."""
    return BY_NAME[name][1].source.split("\n\n\nclinic.")[0]


def made(code):
    """What a cell's code defines: its first function or class."""
    names = {}
    exec(IMPORTS, names)
    linecache.cache["<case>"] = (len(code), None, code.splitlines(keepends=True), "<case>")  # as a notebook does
    exec(compile(code, "<case>", "exec"), names)
    return names[re.search(r"^(?:def|class) (\w+)", code, re.MULTILINE).group(1)]


def fold(name):
    """The lines of code in the fold below a case."""
    code = re.search(r'<details class="answer">.*?```python\n(.*?)```.*</details>', BY_NAME[name][2], re.DOTALL)[1]
    return [line.strip() for line in code.splitlines()]


def thing(name, answer):
    """An answer as a function or class; a dictionary of changes is made in the case's own code."""
    return edited(PIECES[name], answer) if isinstance(answer, dict) else answer


def four_tests():
    """The four tests, three of them as the notebook writes them, in its order."""
    names = {}
    exec(IMPORTS, names)
    wanted = ("ids", "real", "inventory", "invariances", "sizes_and_types")
    for cell in NOTEBOOK.cells:
        if cell.cell_type == "code" and "exercise" not in cell.metadata.get("tags", []):
            for node in ast.parse(cell.source).body:
                defined = getattr(node, "name", None) or ast.unparse(getattr(node, "targets", [ast.Name("")])[0])
                if defined in wanted:
                    exec(ast.unparse(node), names)
    return {name: names[name] for name in wanted[2:]} | {"parity": clinic.parity}


TESTS = four_tests()


def test_there_are_five_cases_and_each_is_tested():
    assert len(NAMES) == len(set(NAMES)) == len(rounds.CASES) == 5 and set(NAMES) == set(CLINIC)
    assert {name for name in dir(clinic) if name.startswith("check_")} == {*NAMES, "check_parity"}
    assert all(case.right and len(case.half) >= 3 for case in CLINIC.values())


@each_case
def test_a_case_is_the_one_of_its_cell(number, name):
    """Number and title agree, the patient has exactly the code of the cell, and the lines in the fold below mend it."""
    (symptom, _, below), code, title = BY_NAME[name], code_of(name), rounds.CASES[number - 1].title
    assert f"## Case {number}: {title}\n" in symptom
    assert "A way to mend it" not in symptom.split("## Case")[-1]
    assert below.startswith('<details class="answer"><summary>A way to mend it</summary>')
    shown = re.search(r"^(?:def|class) (\w+)", code, re.MULTILINE)[1]
    renamed = re.sub(rf"^(def|class) {shown}\b", rf"\1 {PIECES[name].__name__}", code, flags=re.MULTILINE)
    assert renamed == inspect.getsource(PIECES[name]).strip()
    mended = code
    for old, new in CLINIC[name].mend.items():
        mended = mended.replace(old, new)
    lines = [" ".join(text.split()) for text in (*fold(name), code, mended)]
    *shown, code, mended = (line.replace("( ", "(") for line in lines)
    assert all(line in mended for line in shown) and any(line not in code for line in shown)


def test_a_patient_has_its_broken_part_in_every_layer():
    assert isinstance(clinic.patient(3).embedding.position, TableLeftBehind)
    layers = clinic.patient(5).encoder.layers
    assert [type(layer.attention).__name__ for layer in layers] == ["Heads"] * patients.LAYERS


@each_case
@pytest.mark.parametrize("default_dtype", [torch.float64], indirect=True)  # as in the notebook
def test_broken_code_fails_for_the_reason_taught(number, name, default_dtype):
    """The verdict is the one stored in the cell, and no verdict gives the solution away."""
    check, broken = getattr(clinic, name), made(code_of(name))
    results = [check(broken) for _ in range(4)]
    assert results[0].exercise.startswith(f"Case {number}, ") and not results[0].correct
    assert [bool(result.hint) for result in results] == [False, True, True, True]
    assert CLINIC[name].says in results[0].problem
    (stored,) = BY_NAME[name][1].outputs
    assert stored.data["text/plain"] == repr(results[0])
    known = {line.strip() for line in code_of(name).splitlines()}
    own = {line.split("  #")[0] for line in {*fold(name)} - known}
    assert own and not [line for line in own if len(line) > 1 and line in "\n".join(map(repr, results))]


@each_case
def test_mended_code_passes_and_no_test_objects(number, name, default_dtype):
    """The smallest fix, which the fold shows, and others."""
    least = thing(name, CLINIC[name].mend)
    for mended in (least, *(thing(name, answer) for answer in CLINIC[name].right.values())):
        result = getattr(clinic, name)(mended)
        assert result.correct and len(result.passed) >= 2 and not result.hint, result
    assert not any(clinic.notices(test, clinic.patient(number, least)) for test in TESTS.values())


HALF = [pytest.param(n, *half, id=f"{n}: {k}") for n, case in CLINIC.items() for k, half in case.half.items()]


@pytest.mark.parametrize(("name", "answer", "words"), HALF)
@pytest.mark.parametrize("default_dtype", [torch.float64], indirect=True)
def test_half_mended_code_fails_and_the_first_hint_speaks_of_it(name, answer, words, default_dtype):
    check = getattr(clinic, name)
    check(made(code_of(name)))  # as it comes; that run has no hint
    result = check(thing(name, answer))
    assert not result.correct and result.problem and result.hint and words in result.hint


def _fails(*_, **__):
    raise RuntimeError("<b>no</b>")


def _leaves(*_, **__):
    raise SystemExit("bye")


# The test that learners write.


def test_unwritten_test_is_reported_as_unwritten():
    (cell,) = (cell for cell in NOTEBOOK.cells if "clinic.check_parity(" in cell.source)
    assert "exercise" in cell.metadata.tags
    exec(cell.source.split("\n\n\nclinic.")[0], names := {"clinic": clinic})
    said = clinic.check_parity(names["my_parity"])
    assert not said.correct and "returns nothing yet" in said.problem and said.exercise == "Your turn, my_parity"
    (stored,) = cell.outputs
    assert stored.data["text/plain"] == repr(said)


def test_parity_written_in_several_ways_passes(default_dtype):
    for name, answer in ({"the clinic's": TESTS["parity"]} | PARITY_RIGHT).items():
        assert clinic.check_parity(answer).correct, name


OWN = [pytest.param(*answer, id=name) for name, answer in PARITY_WRONG.items()]


@pytest.mark.parametrize(("answer", "problem", "hint"), OWN)
@pytest.mark.parametrize("default_dtype", [torch.float64], indirect=True)
def test_a_wrong_test_fails_and_hears_why(answer, problem, hint, default_dtype):
    result = clinic.check_parity(answer)
    assert not result.correct and hint in result.hint
    assert problem in repr(result)


# The four tests.

# what each of the four notices, in their order
NOTICED = {
    "check_stack": "1001", "check_torch_mask": "0111", "check_positions": "0010", "check_table": "0001",
    "check_unknown": "0101",
}  # fmt: skip


def test_a_correct_encoder_passes_every_test(default_dtype):
    assert not [name for name, test in TESTS.items() if clinic.notices(test, clinic.correct_encoder())]


@pytest.mark.parametrize(
    "default_dtype", [pytest.param(torch.float32, marks=pytest.mark.long), torch.float64], indirect=True
)
def test_the_four_tests_notice_every_fault(default_dtype):
    matrix = clinic.fault_matrix(list(TESTS.values()))
    rows = ["".join(str(int(noticed)) for noticed in row) for row in matrix.to_numpy()]
    assert dict(zip(NAMES, rows, strict=True)) == NOTICED and list(matrix.columns) == list(TESTS)
    assert list(matrix.index) == [f"{number} {case.title}" for number, case in enumerate(rounds.CASES, start=1)]


@each_case
def test_an_encoder_with_the_solution_computes_what_torchs_does(number, name):
    """If parity finds nothing, that is not because nothing was compared: a difference of 1e-9 is noticed."""
    patient, spoilt = (clinic.patient(number, thing(name, CLINIC[name].mend)) for _ in range(2))
    spoilt.register_forward_hook(lambda module, ids, y: y + 1e-9)
    assert not clinic.notices(TESTS["parity"], patient) and clinic.notices(TESTS["parity"], spoilt)


def test_a_part_without_a_mask_gets_one_on_the_device_of_the_vectors():
    met = []

    def attend(attention, x, real):
        met.append(real.device.type)
        return x

    model = clinic.patient(2, attend).to("meta")
    model.encoder(torch.zeros(1, 3, patients.D, dtype=torch.float64, device="meta"))
    assert met == ["meta"] * patients.LAYERS


def finds(number):
    """A test that finds this number in every encoder."""
    return lambda model: {"found": number}


def test_a_visit_shows_what_is_found_in_two_encoders(default_dtype):
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    shown = clinic.visit(TESTS["inventory"], 1)
    assert list(shown.index) == ["a correct encoder", "patient 1"]
    assert shown["without a gradient"].tolist() == ["0", "16"]
    assert clinic.visit(TESTS["parity"], 1)["difference from PyTorch"].tolist()[1] == "ValueError"
    assert torch.equal(torch.rand(3), expected)


def test_a_number_is_a_finding_if_it_is_more_than_rounding():
    numbers = (0, 1e-11, -1e-9, 1e-9, float("nan"), torch.tensor(3.0))
    assert [clinic.notices(finds(n), clinic.correct_encoder()) for n in numbers] == [
        False,
        False,
        True,
        True,
        True,
        True,
    ]


def test_a_test_that_raises_or_never_ends_has_found_something(monkeypatch):
    monkeypatch.setattr(rounds, "PATIENCE", 0.1)

    def never_ends(model):
        while True:
            pass

    assert all(clinic.notices(test, clinic.correct_encoder()) for test in (_fails, _leaves, never_ends))
    with pytest.raises(RuntimeError):
        clinic.visit(_fails, 1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: clinic.patient(0), "case: expected an integer of at least 1"),
        (lambda: clinic.patient(6), "case: expected 1 to 5, got 6"),
        (lambda: clinic.cut_with(3), "cut: expected a function"),
        (lambda: clinic.train(3), "cut: expected a function"),
        (lambda: clinic.visit(3, 1), "test: expected a function"),
        (lambda: clinic.visit(lambda model: 0, 1), "what the test returns: expected a dictionary"),
        (lambda: clinic.notices(finds("x"), clinic.correct_encoder()), "what the test returns, 'found'"),
        (lambda: clinic.notices(None, clinic.correct_encoder()), "test: expected a function"),
        (lambda: clinic.fault_matrix(TESTS["parity"]), "tests: expected a list of functions"),
        (lambda: clinic.fault_matrix([]), "tests: expected at least one"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        call()


def test_encoder_and_torch_counterpart_share_parameters():
    model, other = clinic.correct_encoder(), clinic.correct_encoder()
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), other.parameters(), strict=True))
    (words, theirs), (_, again) = clinic.torch_counterpart(model), clinic.torch_counterpart(other)
    assert all(torch.equal(p, q) for p, q in zip(theirs.parameters(), again.parameters(), strict=True))
    assert all(p.abs().max() > 0.3 for p in theirs.parameters())  # biases and gains too
    given = [words, *from_torch(theirs).parameters()]
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), given, strict=True))
