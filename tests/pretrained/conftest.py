"""A model of each kind, made once for each file of tests."""

import shutil
import warnings
from pathlib import Path

import pytest
from bert_folders import bert, save

from encoder_lib import load_pretrained


@pytest.fixture(scope="module")
def hugging():
    """The transformers library, whose import warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import transformers

        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        return transformers


@pytest.fixture(scope="module")
def minilm():
    """MiniLM as we have it."""
    return load_pretrained()


@pytest.fixture(scope="module")
def good(hugging, tmp_path_factory):
    """A small folder in good order."""
    return save(bert(hugging), tmp_path_factory.mktemp("good"))


@pytest.fixture
def copy(good, tmp_path):
    """A copy of it, to be spoiled."""
    return Path(shutil.copytree(good, tmp_path / "copy"))
