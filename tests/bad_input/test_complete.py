"""Every public function and class of the library, and every parameter of theirs, stands in a table of bad input."""

import ast
import importlib
import inspect
import pkgutil
import re

import pytest
import tables_checks
import tables_explorers
import tables_model
import tables_tools
from bad_values import public
from places import ROOT

import encoder_lib
from encoder_lib import explore, plots

HERE = ROOT / "tests/bad_input"
# modules whose bad input is tried in files of their own, beside or in place of the tables
OWN = (
    "expect", "fast", "files", "packed", "lab.costs", "lab.timing", "pretrained.config", "pretrained.hub",
    "pretrained.weights", "training.checkpoint", "training.cli", "training.distributed", "training.fit",
    "workshop.earlier", "workshop.own", "workshop.page",
)  # fmt: skip
# what only the library calls, with what it made or has checked itself
INSIDE = {
    "checks.": "what the checks are made of; a learner hands in one function, which bad_input/test_checks.py tries",
    "explore.pretrained.habit": "words on weights that the explorer computed",
    "explore.block.": "parts of block_steps",
    "explore.widget.controls.Control": "each kind of control has its own entry",
    "explore.widget.controls.ControlTrait": "made by Explorer of a control",
    "explore.widget.front_end.": "names of files of the library",
    "explore.norm.": "parts of normalise",
    "explore.widget.prediction.Judgement": "made by judge",
    "explore.widget.result.Result": "made by as_result",
    "explore.widget.views.colour_table": "the name comes from a Heatmap",
    "lab.unscaled.UnscaledAttention": "arguments of MultiHeadAttention, which stand in the tables of the model",
    "lab.clocks.Clock": "made by find_clocks",
    "lab.ladder.CardLayer": "made by CardModel, which checks its arguments",
    "lab.ladder.Part": "a row of PARTS",
    "lab.ladder.Rung": "made by climb",
    "lab.warm_up.Learned": "made by learn_to_reverse",
    "lab.measure.Profile": "made by depth_profiles",
    "recast.recast": "modules and classes of the library",
    "training.tasks.Sample": "made by the tasks",
    "training.tasks.Task": "made by the library",
    "training.tasks.spell": "Task.read hands on what it gets",
    "trace.Trace": "made by trace",
    "lab.units.UnitActivations": "made by listen",
    "workshop.lines.lines_of": "what a reader has defined; of anything else, nobody knows the lines",
}
NO_INPUT = ("wire", "lines", "validate", "check", "position", "forward", "extra_repr", "set_state", "set", "build")


def surface() -> dict:
    """Dotted name -> function, class or method, as the modules define them."""
    found = {}
    for info in pkgutil.walk_packages(encoder_lib.__path__, "encoder_lib."):
        module = importlib.import_module(info.name)
        for name, thing in vars(module).items():
            if name.startswith("_") or getattr(thing, "__module__", "") != info.name or not callable(thing):
                continue
            dotted = f"{info.name}.{name}".removeprefix("encoder_lib.")
            found[dotted] = thing
            for method, body in vars(thing).items() if inspect.isclass(thing) else ():
                if inspect.isfunction(body) and not method.startswith("_") and method not in NO_INPUT:
                    found[f"{dotted}.{method}"] = body
    return found


def parameters(thing) -> set[str]:
    """The names of what can be handed in."""
    try:
        names = inspect.signature(thing).parameters
    except ValueError:  # an exception
        return set()
    return {name for name in names if name != "self"}


def entries() -> dict[str, set[str]]:
    """Dotted name of the defining module -> the parameters that a table speaks of."""
    tables = {}
    for entry in (*tables_tools.ENTRIES, *tables_explorers.ENTRIES):
        thing = public(entry.name)
        module = thing.__module__.removeprefix("encoder_lib.")  # a package may hand out what a module of it defines
        tables[f"{module}.{thing.__qualname__}"] = set(entry.wrong) | set(entry.anything)
    return tables


def inside(name: str) -> bool:
    """Whether only the library calls it: it is excepted by name, or a part of the pictures that is not handed out."""
    package, *path = name.split(".")
    if package == "plots" and path[1] not in plots.__all__:
        return True
    return any(name == known or (known.endswith(".") and name.startswith(known)) for known in INSIDE)


SURFACE, TABLES = surface(), entries()
ELSEWHERE = ("model.", *(f"{module}." for module in OWN))  # the model's: see tables_model.py
TOOLS = [name for name in SURFACE if not name.startswith(ELSEWHERE) and not inside(name)]


@pytest.mark.parametrize("name", TOOLS)
def test_every_parameter_of_every_public_function_stands_in_a_table(name):
    """A new function, or a new parameter, wants an entry: what is wrong for it, or why nothing is."""
    wanted = parameters(SURFACE[name])
    if not wanted and name not in TABLES:
        return  # nothing can be handed in
    where = "tests/bad_input/tables_tools.py, or _explorers.py"
    assert name in TABLES, f"expected an entry for {name} in {where}, got none; try Entry({name!r}, ...)"
    lacking = wanted - TABLES[name]
    assert not lacking, f"{name}: expected each parameter in its entry in {where}, got none for {sorted(lacking)}"


def test_every_entry_speaks_of_something_that_is_there():
    """Names in tables and lists of exceptions do not outlive what they name."""
    assert not {name for name in TABLES if name not in SURFACE and not name.startswith(ELSEWHERE)}
    assert not [known for known in INSIDE if not any(name.startswith(known) for name in SURFACE)]


def test_every_check_is_tried_with_everything():
    """Those of the notebooks and those of the clinic."""
    names = {name.rpartition(".")[2] for name in SURFACE if name.startswith("checks.") and ".check_" in name}
    assert names == set(tables_checks.CHECKS) and len(tables_checks.ATTEMPTS) > 60


def test_every_explorer_is_tried():
    """All that `explore` hands out and that gives an Explorer."""
    made = {
        n for n in explore.__all__ if inspect.get_annotations(getattr(explore, n)).get("return") is explore.Explorer
    }
    assert len(made) >= 12 and made == set(tables_explorers.NAMES)


def called(source: str) -> set[str]:
    """The names of all that is called in a file."""
    return {
        node.func.id
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def test_every_class_and_function_of_the_model_is_called_with_bad_input():
    """The tables of tables_model.py hold calls, and every parameter but tensors is the key of one of them."""
    model = {n.split(".")[2]: thing for n, thing in SURFACE.items() if n.startswith("model.") and n.count(".") == 2}
    assert model.keys() <= called((HERE / "tables_model.py").read_text(encoding="utf-8"))
    tables = (tables_model.SIZES, tables_model.COUNTS, tables_model.OPTIONAL_COUNTS, tables_model.FLAGS)
    names = {name for table in (*tables, tables_model.OPTIONAL_FLAGS, tables_model.CHOICES) for name in table}
    names |= {name for name, _, _ in tables_model.NUMBERS}
    tensors = {"query", "key", "value", "mask", "bias", "scores", "ids", "lengths", "dtype", "device"}
    lacking = {name for thing in model.values() for name in parameters(thing)} - names - tensors
    assert not lacking, f"expected a table for each of these parameters, got none: {sorted(lacking)}"


@pytest.mark.parametrize("module", [m for m in OWN if importlib.util.find_spec(f"encoder_lib.{m}")])
def test_modules_without_a_table_are_tried_in_a_file_of_their_own(module):
    """A file of tests that speaks of the module, or of what it defines, and expects exceptions."""
    names = [name.removeprefix(f"{module}.").split(".")[0] for name in SURFACE if name.startswith(f"{module}.")]
    files = {path: path.read_text(encoding="utf-8") for path in HERE.parent.rglob("test_*.py")}
    spoken = re.compile(rf"\b(encoder_lib\.{module}|{'|'.join(names)})\b")
    found = [
        path
        for path, text in files.items()
        if path.name != "test_complete.py" and spoken.search(text) and "pytest.raises(" in text
    ]
    assert found, f"expected a file of tests with bad input to encoder_lib.{module}, got none; try one, or entries"
