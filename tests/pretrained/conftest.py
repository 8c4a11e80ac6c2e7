"""Models that the tests of one file share."""

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
    """MiniLM in our classes."""
    return load_pretrained()


@pytest.fixture(scope="module")
def good(hugging, tmp_path_factory):
    """A small valid folder."""
    return save(bert(hugging), tmp_path_factory.mktemp("good"))


@pytest.fixture
def copy(good, tmp_path):
    """A copy of the valid folder, to be damaged."""
    return Path(shutil.copytree(good, tmp_path / "copy"))
