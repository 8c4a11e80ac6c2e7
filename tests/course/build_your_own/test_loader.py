"""What stands below a reader's parts: an encoder and its tokenizer from a folder, and vectors for texts."""

import pytest
import torch
from own_parts import SIZES, made, stubs, tokenizer

from encoder_lib.course.build_your_own import loader, take_away


@pytest.fixture
def folder(tmp_path):
    """A folder with an encoder whose parts are all lent."""
    mine = stubs()
    take_away(mine, made(mine).float(), tokenizer(), SIZES, tmp_path / "mine")
    return tmp_path / "mine"


def test_what_was_written_is_loaded(folder):
    encoder, words = loader.load(folder)
    expected = made(stubs()).float().state_dict()
    assert encoder.state_dict().keys() == expected.keys() and not encoder.training
    assert all(torch.equal(tensor, expected[name]) for name, tensor in encoder.state_dict().items())
    assert words.to_str() == tokenizer().to_str()


def test_a_program_in_the_folder_has_a_vector_of_length_1_for_each_text_whatever_stands_beside_it(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    from my_encoder import encode, load

    encoder, words = load()
    both = encode(["a dog", "dog a dog a dog"], encoder, words)
    assert both.shape == (2, SIZES["d_model"]) and not both.requires_grad
    torch.testing.assert_close(both.norm(dim=-1), torch.ones(2))
    torch.testing.assert_close(both[:1], encode(["a dog"], encoder, words))


def test_parameters_of_other_sizes_are_refused(folder):
    (folder / "config.json").write_text((folder / "config.json").read_text().replace('"d_ff": 5', '"d_ff": 4'))
    with pytest.raises(RuntimeError, match="size mismatch"):
        loader.load(folder)
