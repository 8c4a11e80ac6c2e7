"""What 09_pretrained says, tested: each number, and each "so"."""

import math
import re
import sys
from copy import deepcopy

import pytest
import torch
import torch.nn.functional as F
from claims import fold, seeds

from encoder_lib import SentenceEncoder, TransformerEncoder, load_pretrained, padding_mask
from encoder_lib.course.kit.notebook import missing
from encoder_lib.course.pretrained.names import learn_names
from encoder_lib.pretrained import config, hub

pytestmark = pytest.mark.long  # the notebook takes most of a minute

OTHERS = (
    "The stock market fell sharply.",
    "How do I bake a cake?",
    "Someone makes music on a string instrument while the audience eats bread.",
)


@pytest.fixture(scope="module")
def minilm():
    return load_pretrained("minilm")


BOTH = "model", "misread"


# The file


def test_the_file_has_91_megabytes():
    assert round((hub.minilm() / "model.safetensors").stat().st_size / 1e6) == 91


def test_the_settings_are_those_of_the_file(notebook):
    """The settings are those of the file, and the last three are in the names of its tensors alone."""
    assert notebook["settings"] | {"padding_idx": 0} == config.settings(hub.minilm())
    said, names = (hub.minilm() / "config.json").read_text(), notebook["published"].keys()
    assert list(notebook["settings"])[-3:] == ["positional", "embedding_norm", "norm_first"]
    assert not any(name in said for name in ("embedding_norm", "norm_first", "learned"))
    assert {"embeddings.position_embeddings.weight", "embeddings.LayerNorm.weight"} <= names
    assert "encoder.LayerNorm.weight" not in names
    assert torch.equal(notebook["published"]["embeddings.position_ids"], torch.arange(512)[None])


def test_names_and_shapes_tell_all_settings_but_three(notebook):
    """`test_three_mistakes_load_in_silence` has the three."""
    wrong = {"vocab_size": 30000, "n_layers": 5, "d_model": 192, "d_ff": 768, "max_len": 500}
    wrong |= {"positional": "sinusoidal", "embedding_norm": False, "norm_first": True}
    assert notebook["settings"].keys() - wrong.keys() == {"n_heads", "activation", "eps"}
    for name, value in wrong.items():
        with pytest.raises(RuntimeError, match="Error"):
            notebook["load"](torch.float32, **{name: value})


def test_without_that_order_a_name_comes_out_wrong(notebook):
    for part in ("dense", "LayerNorm"):
        name = f"encoder.layer.0.attention.output.{part}.weight"
        for theirs, ours in reversed(notebook["translation"].items()):
            name = name.replace(theirs, ours)
        assert name not in notebook["places"]


# The same numbers


def test_what_the_reader_loads_is_what_the_library_loads(notebook, minilm):
    ours, theirs = notebook["model"].encoder.state_dict(), minilm.encoder.state_dict()
    assert ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_where_transformers_is_missing_its_cell_says_so(notebook, monkeypatch, capsys):
    (source,) = (cell.source for cell in notebook.cells if "transformers" in cell.source)
    monkeypatch.setitem(sys.modules, "transformers", None)
    exec(source, notebook.variables | {"missing": missing})
    assert "%pip install transformers" in capsys.readouterr().out


def test_rounding_alone_is_between_bert_model_and_ours(notebook):
    shown = [float(number) for number in re.findall(r"largest difference (\S+)", "".join(notebook.texts))]
    assert 1e-7 < shown[0] < 1e-5 and shown[1] < 1e-13
    assert notebook["real"].sum(dim=1).tolist() == [13, 512]
    assert 1e8 < shown[0] / shown[1] < 1e10  # about nine powers of ten


def test_the_batch_finds_a_late_position_and_a_forgotten_mask(notebook):
    """The batch finds a wrong late position and a forgotten mask, which a single short sentence could not."""
    batch, real = notebook["batch"], notebook["real"]
    encoder = deepcopy(notebook["load"](torch.float64))  # its numbers are the notebook's own
    right = encoder(batch, padding_mask(batch, 0))[real]
    assert (encoder(batch)[real] - right).abs().max() > 0.01
    encoder.embedding.position.weight[500] = 0
    assert (encoder(batch, padding_mask(batch, 0))[real] - right).abs().max() > 0.01
    assert torch.equal(encoder(batch[:1, :13]), notebook["load"](torch.float64)(batch[:1, :13]))


def test_three_mistakes_load_in_silence(notebook):
    table = notebook.prediction("mistakes").result
    assert [cell[:4] for cell in table["cosine with the right vector"]] == ["0.80", "0.56", "1.00"]
    assert (
        table["cosine with the right vector"].iloc[-1] == "1.0000" and table["largest difference"].iloc[-1] == "0.0007"
    )
    assert all(y.isfinite().all() and y.abs().max() < 30 for y in notebook["wrong"])


def test_relu_errs_to_one_side_in_each_of_1536_numbers(notebook):
    x = torch.linspace(-8, 8, 16001)
    surplus = F.relu(x) - F.gelu(x)
    assert (surplus >= 0).all() and 0.165 < surplus.max() < 0.17 and notebook["settings"]["d_ff"] == 1536


# Search


def test_with_six_heads_it_finds_the_same(notebook):
    """Both encoders find the same for the first two questions, and both answer the third, which has no answer."""
    library, sentences = notebook["library"], notebook["sentences"]
    assert len(sentences) == pytest.approx(560, abs=60)
    squares = [notebook[each].encode(notebook["questions"]) @ notebook[each].encode(sentences).T for each in BOTH]
    (twelve, at), (six, six_at) = (square.max(dim=1) for square in squares)
    found = [sentences[i] for i in at]
    assert library[found[0]] == "tempfile.TemporaryDirectory"
    assert re.match("gzip|bz2|lzma|zlib", library[found[1]])
    assert (at[:2] == six_at[:2]).all()
    assert (twelve[:2] - six[:2]).abs().max() < 0.03
    assert [round(cosine, 2) for cosine in twelve.tolist()] == [0.81, 0.70, 0.36]
    assert [round(cosine, 2) for cosine in six[:2].tolist()] == [0.81, 0.72] and six_at[2] != at[2]
    assert not any("prime" in sentence.lower() for sentence in sentences)
    assert twelve[2] < 0.8 * twelve[:2].min()


def test_questions_and_sentences_are_wrong_together(notebook):
    """A question's vector has a cosine of 0.82 to 0.86 with its right one, and those of sentences moved with it."""
    moved = [float(cell) for cell in notebook.prediction("misread").result["six with twelve"]]
    assert (min(moved), max(moved)) == (0.82, 0.86)
    right, wrong = (notebook[each].encode(notebook["sentences"]) for each in BOTH)
    cosines = wrong @ right.T
    assert 0.8 < cosines.diagonal().mean() < 0.9
    assert (cosines.argmax(dim=1) == torch.arange(len(cosines))).double().mean() > 0.98  # each nearest to its own


def test_random_numbers_have_larger_cosines_in_pairs(notebook):
    """Random parameters give larger cosines in pairs and nearly as large ones elsewhere, so the loss is near chance."""
    assert round(math.log(3), 2) == 1.10
    paired, minilm = notebook["paired"], notebook["square"](notebook["model"])
    assert round(minilm[paired].mean().item(), 2) == 0.63 and round(minilm[~paired].mean().item(), 2) == 0.14
    squares, losses = [], []
    for seed in range(8):
        torch.manual_seed(seed)
        untrained = TransformerEncoder(**notebook["settings"]).to(notebook["device"])
        squares.append(notebook["square"](SentenceEncoder(notebook["tokenizer"], untrained)))
        losses.append(F.cross_entropy(20 * squares[-1], torch.arange(3)).item())
        diagonal, elsewhere = squares[-1][paired].mean(), squares[-1][~paired].mean()
        assert diagonal > 0.66 and 0.9 * diagonal < elsewhere and 0.6 < losses[-1] < 2
    shown = torch.stack(list(notebook["squares"].values())[1:])
    torch.testing.assert_close(shown, torch.stack(squares[:3]), atol=1e-4, rtol=0)
    diagonals = [square[paired].mean().item() for square in squares[:3]]
    assert [round(each, 2) for each in (min(diagonals), max(diagonals))] == [0.67, 0.71]
    assert [round(each, 2) for each in (min(losses[:3]), max(losses[:3]))] == [0.87, 1.18]


def test_bare_cosines_lie_too_close_for_a_sure_softmax():
    row = torch.tensor([1.0, -1.0, -1.0])
    assert round(row.softmax(dim=0)[0].item(), 2) == 0.79 and (20 * row).softmax(dim=0)[0] > 0.999


def test_the_batches_had_1024_pairs():
    assert "batch size of 1024" in (hub.minilm() / "README.md").read_text()


# Where heads look


def parked(weights):
    """In how many heads [CLS] gets most, layer by layer."""
    return (weights.mean(dim=2).argmax(dim=-1) == 0).sum(dim=1)


def test_in_65_of_72_heads_cls_gets_most(notebook, minilm):
    """In 65 of the 72 heads [CLS] gets most, and in nearly as many on other sentences."""
    assert parked(notebook["attention"]).sum() == 65
    others = [minilm.attention(sentence) for sentence in OTHERS]
    counts = [parked(weights).sum().item() for weights in others]
    assert min(counts) == 64 and max(counts) == 67
    assert all(0.4 < weights[..., 0].mean() < 0.6 for weights in others)
    table = notebook.prediction("parking").result
    assert sum(int(count) for count in table["of 12 heads, [CLS] leads in"]) == 65 and notebook["tokens"][0] == "[CLS]"
    assert 0.4 < notebook["received"][..., 0].mean() < 0.6


def test_the_value_of_cls_is_short_from_layer_2_on(notebook):
    share = notebook["lengths"][:, 0] / notebook["lengths"][:, 1:].mean(dim=1)
    assert (share[1:] < 0.12).all() and share[1:].min() < 0.05 and 0.2 < share[0] < 0.4


def test_head_3_of_layer_1_follows_the_rows_in_every_order(notebook):
    table = notebook.prediction("shuffled_rows").result
    before, rows = table["weight on the token before"], table["on the token with the row before"]
    before, rows = [[float(cell) for cell in column] for column in (before, rows)]
    assert before[0] == rows[0] > 0.98 and rows[1] > 0.98 and before[1] < 0.1
    original = notebook["load"](torch.float32).embedding.position.weight[:13].clone()
    for seed in range(1, 8):
        row = torch.randperm(13, generator=torch.Generator().manual_seed(seed))
        notebook["positions"][:13] = original[row]
        weights, place = notebook["looks"](notebook["shuffled"]), row.argsort()
        assert weights[place[1:], place[:-1]].mean() > 0.98 and weights.diagonal(-1).mean() < 0.4


def test_head_9_of_layer_2_looks_ahead_or_parks(notebook):
    tokens, weights = notebook["tokens"], notebook["attention"][1, 8]
    ahead = weights.argmax(dim=-1)
    parks = [tokens[i] for i in range(1, 12) if ahead[i] == 0]
    assert parks == ["mat", "because", "tired"]
    assert all(ahead[i] == i + 1 for i in range(1, 12) if ahead[i] != 0)


def test_in_head_2_of_layer_4_the_preference_falls_most(notebook):
    assert (notebook["layer"], notebook["head"]) == (3, 1)
    assert round(notebook["big"][3, 1].item(), 2) == 0.39 and round(notebook["small"][3, 1].item(), 2) == 0.48


def test_the_best_head_follows_it_no_better_than_the_best_coin(notebook):
    right, coins = notebook["counts"], notebook["coins"]
    assert (coins.min(), coins.max()) == (9, 11)
    assert right.max() == 10 and 5.5 < right.mean() < 6.5 and len(notebook["twelve"]) == 12
    for sentence, _, last in notebook["twelve"]:  # each thing is one token
        words, tokens = sentence.lower().split(), notebook["model"].tokens(f"{sentence} {last}.")
        assert (tokens[2], tokens[tokens.index("because") - 1]) == (words[1], words[words.index("because") - 1])


def test_with_drawn_answers_the_best_head_has_so_many_of_twelve(notebook):
    rises = notebook["rises"]
    answers = torch.cartesian_prod(*[torch.tensor([True, False])] * 12)  # (4096, 12): all
    best = (rises == answers[..., None]).sum(dim=1).amax(dim=1)
    heads = [(best >= right).double().mean().item() for right in (10, 11, 12)]
    assert 0.65 < heads[0] < 0.76 and 0.17 < heads[1] < 0.23 and 0.01 < heads[2] < 0.025
    one = sum(math.comb(12, k) for k in (10, 11, 12)) / 2**12
    assert 0 < 1 - (1 - one) ** 72 - heads[0] < 0.1  # hardly less often than the best of 72 coins


def test_equal_vectors_do_not_tell_queries_from_keys():
    torch.manual_seed(0)
    x, (q, k, v) = torch.ones(3, 4), torch.randn(3, 4, 4)
    right = F.scaled_dot_product_attention(x @ q.T, x @ k.T, x @ v.T)
    torch.testing.assert_close(F.scaled_dot_product_attention(x @ k.T, x @ q.T, x @ v.T), right)


@seeds(8)
def test_a_table_of_rows_learns_names_whatever_the_seed(notebook, minilm, seed):
    names, sentences = list(notebook["library"].values()), list(notebook["library"])
    cosines = minilm.encode(names) @ minilm.encode(sentences).T
    exec(fold(notebook, "def pair_loss"), answer := {"torch": torch, "F": F})
    torch.manual_seed(seed)
    table = learn_names(answer["pair_loss"], notebook["tokenizer"])
    before, after = ([float(cell) for cell in table[name]] for name in ("before", "after"))
    assert before[0] <= 50 and after[0] >= 65 and after[0] > 1.6 * before[0]
    assert all(a < b for a, b in zip(after[1:4], before[1:4], strict=True))  # a full stop, a, the
    assert all(a > b for a, b in zip(after[4:], before[4:], strict=True))  # is, text, format
    kept = torch.randperm(len(names))[:200]
    assert 85 <= (cosines[kept][:, kept].argmax(dim=1) == torch.arange(200)).sum() <= 125
    assert sum(name.rpartition(".")[2].startswith("is") for name in names) >= 20  # isgenerator, for instance
