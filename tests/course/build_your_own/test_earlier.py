"""What a reader wrote in earlier notebooks is found, and what was never written is not."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from places import ROOT

from encoder_lib.course.build_your_own import earlier_work, show_earlier
from encoder_lib.course.build_your_own.earlier import EARLIER

WRITTEN = "def multi_head(x, mask):\n    # mine\n    return x"
STUB = "def multi_head(x, mask):\n    return ...  # (B, T, D)\n\n\nchecks.check_multi_head(multi_head)"


def folder(tmp_path, *sources, tags=("exercise",)):
    cells = [new_code_cell(source, metadata={"tags": list(tags)}) for source in sources]
    nbformat.write(new_notebook(cells=cells), tmp_path / "04_attention.ipynb")
    return tmp_path


def found(path):
    return next(work for work in earlier_work(path) if work.name == "multi_head")


def test_what_was_written_is_found_as_it_was_written(tmp_path):
    path = folder(tmp_path, "def other(): pass", WRITTEN + "\n\n\nchecks.check_multi_head(multi_head)")
    assert found(path) == ("04_attention", "multi_head", WRITTEN, "yes")
    assert repr(show_earlier("multi_head", path)) == WRITTEN
    assert found(folder(tmp_path, WRITTEN, tags=())).source == ""  # no exercise


ELLIPSIS = "def multi_head(x, mask):\n    return x[..., None]"
HALF = (
    "class multi_head(nn.Module):\n    def __init__(self):\n        ...\n\n    def forward(self, x):\n        return x"
)
UNFINISHED = HALF.replace("return x", "return ...").replace("        ...", "        super().__init__()\n        ...")
DOCUMENTED = 'def multi_head(x, mask):\n    """x -> x"""\n    ...'


@pytest.mark.parametrize("source", [ELLIPSIS, HALF], ids=["an index", "a class that keeps nothing"])
def test_an_ellipsis_that_is_no_body_is_no_stub(tmp_path, source):
    assert found(folder(tmp_path, source)).source == source


@pytest.mark.parametrize("magic", ["%%time\n", "!pip list\n", "    %matplotlib inline\n"])
def test_a_line_of_magic_hides_nothing(tmp_path, magic):
    source = f"{magic}{WRITTEN}" if magic[0] != " " else f"if True:\n{magic}\n{WRITTEN}\n%time multi_head(1, 2)"
    assert found(folder(tmp_path, source)).source == WRITTEN


@pytest.mark.parametrize(
    "source",
    [STUB, "def multi_head(x:\n", "other = 3", UNFINISHED, DOCUMENTED],
    ids=["stub", "unfinished", "gone", "half a class", "documented"],
)
def test_what_is_not_written_is_not_found(tmp_path, source):
    path = folder(tmp_path, source)
    assert [work.source for work in earlier_work(path)] == [""] * len(EARLIER)
    assert repr(show_earlier("multi_head", path)) == "# multi_head in 04_attention: not yet"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"cells": [{}]}', '{"cells": 3}', '{"worksheets": []}', "\udcff"], ids=repr
)
def test_a_notebook_that_cannot_be_read_is_named_and_the_others_are_read(tmp_path, text):
    path = folder(tmp_path, WRITTEN)
    (path / "06_encoder_block.ipynb").write_text(text, encoding="utf-8", errors="surrogateescape")
    *_, block = earlier_work(path)
    unread = "not yet" if text == '{"cells": [{}]}' else "06_encoder_block.ipynb cannot be read"
    assert (block.source, block.written) == ("", unread) and found(path).source == WRITTEN
    assert earlier_work(path)[0].written == "no 01_embedding.ipynb here"


def test_every_exercise_of_the_table_is_there_and_not_written_yet():
    for stem, name in EARLIER:
        cells = nbformat.read(ROOT / "notebooks" / f"{stem}.ipynb", as_version=4).cells
        stubs = [cell.source for cell in cells if "exercise" in cell.metadata.get("tags", [])]
        assert any(f" {name}(" in stub.splitlines()[0] for stub in stubs), (stem, name)
    assert [work.source for work in earlier_work(ROOT / "notebooks")] == [""] * len(EARLIER)


def test_what_is_asked_for_wrongly_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"name: expected .*multi_head.*, got 'head'"):
        show_earlier("head", tmp_path)
    with pytest.raises(NotADirectoryError, match="folder: expected the folder of the notebooks, got"):
        earlier_work(tmp_path / "nowhere")
