"""Lessons are found by their folders, and what two of them call by one name is noticed."""

import nbformat
import pytest
from places import NOTEBOOKS, ROOT

from encoder_lib.course import checks, explore
from encoder_lib.course.kit import lessons


def test_each_notebook_has_a_folder_of_its_name():
    folders = {path.parent.name for path in ROOT.glob("encoder_lib/course/*/__init__.py")} - {"kit"}
    assert folders == {path.stem[3:] for path in NOTEBOOKS}


def test_a_lesson_asks_its_own_questions_alone():
    for path in NOTEBOOKS:
        asked = "\n".join(c.source for c in nbformat.read(path, as_version=4).cells if "explore.predict(" in c.source)
        file = ROOT / f"encoder_lib/course/{path.stem[3:]}/questions.toml"
        own = lessons.tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        assert all(f'"{name}"' in asked for name in own) and asked.count("explore.predict(") == len(own), path.stem


@pytest.mark.parametrize(("module", "name"), [(checks, "check_take"), (explore, "attend")])
def test_what_lessons_offer_is_found_and_listed(module, name):
    assert callable(getattr(module, name)) and name in dir(module)
    with pytest.raises(AttributeError, match=f"expected one of the .*{name}.*, got 'nothing'"):
        module.nothing  # noqa: B018


def test_a_new_lesson_is_found_without_being_listed(tmp_path, monkeypatch):
    (tmp_path / "new_lesson").mkdir()
    (tmp_path / "new_lesson/questions.toml").write_text("[why]\nprompt = 'Why?'")
    monkeypatch.setattr(lessons, "COURSE", tmp_path)
    assert lessons.texts("questions.toml") == {"why": {"prompt": "Why?"}}


def test_one_name_in_two_lessons_is_refused(tmp_path, monkeypatch):
    for lesson in ("one", "two"):
        (tmp_path / lesson).mkdir()
        (tmp_path / lesson / "questions.toml").write_text("[why]\nprompt = 'Why?'")
    monkeypatch.setattr(lessons, "COURSE", tmp_path)
    with pytest.raises(ValueError, match=r"two/questions.toml: .* no other lesson uses, got \['why'\]"):
        lessons.texts("questions.toml")


def test_functions_are_those_that_a_module_defines_itself(monkeypatch):
    found = lessons.functions("checks", lambda function: "a" in function.__name__ and function.__name__[0] != "_")
    assert "check_take" in found and "examine" not in found  # examine comes from the kit
    both = [next(lessons.modules("checks"))] * 2
    monkeypatch.setattr(lessons, "modules", lambda name: both)
    with pytest.raises(ValueError, match="no other lesson uses"):
        lessons.functions("checks", lambda function: True)
