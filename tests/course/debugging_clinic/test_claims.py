"""What 10_debugging_clinic says, tested: each number, and each reason."""

import inspect

import pytest
import torch
from claims import seeds

from encoder_lib import EncoderLayer, TransformerEncoder, attention, sinusoidal_table
from encoder_lib.course import debugging_clinic as clinic
from encoder_lib.course import explore
from encoder_lib.course.debugging_clinic import patients
from encoder_lib.course.debugging_clinic.broken import heads_joined_without_transpose
from encoder_lib.course.debugging_clinic.explorers import CUTS
from encoder_lib.seeded import seeded

pytestmark = pytest.mark.long  # the notebook takes half a minute

NAMES = ["inventory", "invariances", "sizes_and_types", "parity"]


# Two ways to cut


@seeds(8)
def test_both_cuts_learn_and_sixteen_heads_learn_late_too(notebook, seed):
    """Both losses end near 0, the accuracies above 95 %; B and the sixteen heads learn later than A."""
    losses_a, losses_b, losses_16 = (notebook[f"losses_{name}"] for name in ("a", "b", "16"))
    accuracy_a, accuracy_b, accuracy_16 = (notebook[f"accuracy_{name}"] for name in ("a", "b", "16"))
    if seed:
        losses_a, accuracy_a = clinic.train(notebook["cut_a"], seed=seed)
        losses_b, accuracy_b = clinic.train(notebook["cut_b"], seed=seed)
        losses_16, accuracy_16 = clinic.train(notebook["cut_a"], n_heads=16, seed=seed)
    assert accuracy_a(padding=3) > 0.95 and accuracy_b(padding=3) < 0.5  # the harm in B, and what its question says
    for losses in (losses_a, losses_b):
        assert len(losses) == 120 and losses[-10:].max() < 0.1
    assert min(accuracy_a(), accuracy_b(), accuracy_16()) > 0.95
    first_a, first_b, first_16 = ((losses < 1).nonzero()[0].item() for losses in (losses_a, losses_b, losses_16))
    assert min(first_b, first_16) >= first_a + 5


def test_the_two_cuts_are_shown_with_the_numbers_1_to_30():
    """Five tokens with 6 numbers each, so that those of token 5 are 25 to 30."""
    assert explore.two_cuts().description.endswith("Each of the 5 tokens has 6 numbers, which go to 2 heads.")
    assert (4 * 6 + 1, 5 * 6) == (25, 30)


def test_what_is_trained_has_one_layer_of_four_heads(notebook):
    met = set()

    def cut(x, n_heads):
        met.add((*x.shape, n_heads))
        return notebook["cut_a"](x, n_heads)

    clinic.train(cut, steps=1)
    assert {(8, 32, 4)} == {sizes[1:] for sizes in met}


# The four tests and their cases


def test_after_training_16_of_48_tensors_are_what_they_were(notebook):
    torch.manual_seed(0)
    stack = notebook["Stack"](2, 6, 1, 10)
    assert len(list(EncoderLayer(6, 1, 10).parameters())) == 16 and len(list(stack.parameters())) == 48
    before = [parameter.clone() for parameter in stack.parameters()]
    optimiser = torch.optim.Adam(stack.parameters())
    for _ in range(3):
        optimiser.zero_grad()
        stack(torch.randn(2, 5, 6)).square().mul(torch.randn(6)).sum().backward()
        optimiser.step()
    assert sum(torch.equal(a, b) for a, b in zip(before, stack.parameters(), strict=True)) == 16
    sums = [parameter.sum().item() for parameter in stack.parameters() if parameter.ndim == 2]
    assert len(set(sums)) == 18  # once trained, the copies differ


def test_without_the_first_fault_6_equal_pairs_are_left(notebook):
    """A layer has six matrices, so without the first fault 6 equal pairs are left, and only inventory notices them."""
    assert sum(parameter.ndim == 2 for parameter in EncoderLayer(6, 1, 10).parameters()) == 6

    class Copies(notebook["Stack"]):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            del self.layer

    assert "got 6 pairs of equal matrices" in clinic.check_stack(Copies).problem
    found = notebook["inventory"](clinic.patient(1, Copies))
    assert found["without a gradient"] == 0 and found["copies"] == 6
    noticed = [clinic.notices(test, clinic.patient(1, Copies)) for test in notebook["tests"]]
    assert noticed == [True, False, False, False]  # parity copies the parameters over them


def test_frozen_parameters_stay_as_they_were_but_are_not_too_many(notebook):
    class Frozen(notebook["Stack"]):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            del self.layer
            self.layers[1].requires_grad_(False)

    stack = Frozen(2, 6, 1, 10)
    stack(torch.randn(2, 5, 6)).sum().backward()
    assert len(list(stack.parameters())) == 32 and sum(p.grad is None for p in stack.parameters()) == 16


def test_pytorchs_documentation_recommends_initialising_the_layers_yourself():
    said = " ".join(torch.nn.TransformerEncoder.__doc__.split())
    assert "are initialized with the same parameters. It is recommended to manually initialize the layers" in said


def test_patient_2_hides_a_sentence_without_padding_altogether(notebook):
    """Sent alone, the second sentence is masked out altogether; in its batch it attends to its padding alone."""
    model, ids = clinic.patient(2), notebook["ids"]
    assert model(ids[1:, :3]).isnan().all() and notebook["real"][1].tolist() == [True] * 3 + [False] * 2
    y = model(ids)
    assert y[0].isnan().all() and not y[1].isnan().any()
    with torch.no_grad():
        mask, x, first = notebook["real"][:, None, None], model.embedding(ids), model.encoder.layers[0].attention
        changed = x.clone()
        changed[1, 0] += torch.arange(6.0)  # a word of the second sentence, which no token attends to
        assert torch.equal(first(x, x, x, mask)[1, 1:], first(changed, changed, changed, mask)[1, 1:])


def test_an_overflow_does_not_depend_on_which_sentence_is_the_longest():
    """With scores that overflow, the same tokens are NaN in a sentence sent alone and beside a longer one."""
    with seeded(0):
        theirs = torch.nn.MultiheadAttention(4, 1, batch_first=True)
        x = torch.randn(2, 5, 4)
    x[:, 0] *= 1e200  # the first token's score with itself is infinite
    real = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    y = theirs(x, x, x, key_padding_mask=~real)[0]
    alone = theirs(x[1:, :3], x[1:, :3], x[1:, :3])[0]
    assert y[0].isnan().any() and alone.isnan().any() and torch.equal(alone.isnan(), y[1:, :3].isnan())


def test_invariances_meet_nan_in_patient_2(notebook):
    assert all(value.isnan() for value in notebook["invariances"](clinic.patient(2)).values())


@pytest.mark.parametrize(("length", "held"), [(8, [{1, 2}, {3, 4}, {5, 6}, {7, 8}]), (11, [{1, 2, 3}, {3, 4, 5, 6}])])
def test_bs_heads_get_two_symbols_each_of_eight_not_of_eleven(notebook, length, held):
    """With eleven tokens they get other pieces; the first head's last three rows, all masked out, are of token 3."""
    tokens = torch.arange(1, length + 1).view(1, length, 1).expand(1, length, 32)
    heads = notebook["cut_b"](tokens, 4)[0]  # (H, T, K)
    assert [{*head.flatten().tolist()} for head in heads][: len(held)] == held
    assert length == 8 or (heads[0, -3:] == 3).all()


def test_through_the_four_heads_each_position_learns_about_all_eight(notebook):
    """Each quarter of a position's new vector depends on two of the eight symbols, so the four depend on all eight."""
    x = torch.randn(1, 8, 32, requires_grad=True)
    heads = notebook["cut_b"](x, 4)
    mixed = attention(heads, heads, heads)[0].transpose(1, 2).flatten(-2)  # (1, T, D)
    for position in range(8):
        for quarter in range(4):
            part = mixed[0, position, 8 * quarter : 8 * quarter + 8].sum()
            (gradient,) = torch.autograd.grad(part, x, retain_graph=True)
            tokens = gradient[0].abs().amax(dim=1).nonzero().flatten().tolist()
            assert tokens == [2 * quarter, 2 * quarter + 1]


def test_a_table_that_follows_x_passes_the_check(notebook):
    class Follows(notebook["Positions"]):
        def forward(self, x):
            return x + self.table[: x.shape[1]].to(x)

    assert clinic.check_positions(Follows).correct and not list(Follows(4).buffers())


def test_the_third_patient_stops_with_an_error(notebook):
    with seeded(0), patients.in_float64():
        model = clinic.patient(3).to(torch.float32)
        assert model.embedding(notebook["ids"]).dtype == torch.float64  # the addition goes through
        with pytest.raises(TypeError, match=r"query: expected torch.float32 like the weights, got torch.float64"):
            model(notebook["ids"])


def test_the_waves_of_case_4_get_slower_but_make_no_clocks(notebook):
    """They stay between −1 and 1, but a sine and its cosine run at different speeds."""
    waves = notebook["position_table"](50, 32)
    steps = waves.diff(dim=0).abs().mean(dim=0)  # (D,)
    assert waves.abs().max() <= 1 and steps[:4].min() > 10 * steps[16:].max()
    assert not torch.allclose(waves[:, 0::2].square() + waves[:, 1::2].square(), torch.ones(()), atol=0.1)


def test_two_programs_agree_to_some_fifteen_digits(notebook):
    """In float64 they agree to some fifteen digits; in float32 rounding leaves much more."""
    assert clinic.parity(clinic.correct_encoder())["difference from PyTorch"].detach() < 1e-14
    model = clinic.correct_encoder().float()
    words, reference = (given.float() for given in clinic.torch_counterpart(model))
    ids, real = notebook["ids"], notebook["real"]
    x = words[ids] + sinusoidal_table(5, 6).float()
    off = (model(ids) - reference(x, src_key_padding_mask=~real))[real].abs().max().item()
    assert 2e-7 < off < 2e-6


def test_patient_4_is_off_by_0_39_in_numbers_of_size_1_or_2(notebook):
    assert round(clinic.parity(clinic.patient(4))["difference from PyTorch"].item(), 2) == 0.39
    mended = clinic.parity(clinic.patient(4, lambda length, d_model: sinusoidal_table(length, d_model)))
    assert mended["difference from PyTorch"].detach() < 1e-14
    words, reference = clinic.torch_counterpart(clinic.correct_encoder())
    sizes = reference(words[notebook["ids"]] + sinusoidal_table(5, 6)).abs()
    assert 1 < sizes.mean() < 2 and sizes.max() < 2.6


def test_a_fault_of_the_librarys_table_would_be_on_both_sides(notebook):
    """Patient 4 agrees with a reference that takes its positions from the same wrong table."""
    model = clinic.patient(4)
    words, reference = clinic.torch_counterpart(model)
    x = words[notebook["ids"]] + notebook["position_table"](5, 6)
    off = model(notebook["ids"]) - reference(x, src_key_padding_mask=~notebook["real"])
    assert off[notebook["real"]].abs().max() < 1e-14


# All patients, all tests


def test_in_row_1_alone_parity_stops_before_it_compares(notebook):
    stopped = []
    for case in range(1, 6):
        with seeded(0), patients.in_float64():
            clinic.patient(case)(notebook["ids"])
            try:
                clinic.parity(clinic.patient(case))
            except (RuntimeError, ValueError):
                stopped.append(case)
    assert stopped == [1]
    with pytest.raises(ValueError, match="zip"):
        clinic.torch_counterpart(clinic.patient(1))


def test_without_parity_invariances_alone_would_notice_b(notebook):
    """Without parity only invariances would notice B, and patient 5, which the matrix of test_clinic holds."""
    assert objecting(notebook, clinic.cut_with(notebook["cut_b"])) == ["invariances", "parity"]


def attend_to_earlier_tokens(layer, query, key, value, mask):
    given = zip((layer.q_proj, layer.k_proj, layer.v_proj), (query, key, value), strict=True)
    heads = [linear(x).unflatten(-1, (layer.n_heads, -1)).transpose(1, 2) for linear, x in given]  # (B, H, T, K) each
    causal = torch.ones(query.shape[1], query.shape[1], dtype=torch.bool).tril()
    return layer.out_proj(attention(*heads, causal if mask is None else mask & causal)[0].transpose(1, 2).flatten(-2))


class Before(torch.nn.Module):
    """A part whose input is first changed by a function of all tokens."""

    def __init__(self, change, part):
        super().__init__()
        self.change, self.part = change, part

    def forward(self, x):
        return self.part(self.change(x))


def norm_over_the_tokens(model):
    for layer in model.encoder.layers:
        layer.norm1 = Before(lambda x: (x - x.mean(dim=1, keepdim=True)) / x.std(dim=1, keepdim=True), layer.norm1)


def network_that_mixes_tokens(model):
    for layer in model.encoder.layers:
        layer.feed_forward = Before(lambda x: x.transpose(1, 2).reshape(x.shape), layer.feed_forward)


@pytest.mark.parametrize(
    ("inject", "failed"),
    [
        (lambda model: patients.inject_heads(attend_to_earlier_tokens, model), ["shuffled"]),
        (norm_over_the_tokens, ["sent alone"]),
        (network_that_mixes_tokens, ["sent alone", "shuffled"]),
    ],
    ids=["causal mask", "norm", "network"],
)
def test_which_faults_give_the_column_of_patient_5(notebook, inject, failed):
    """A causal mask or a norm over the tokens fails one invariance only; a reshape fails both, in the network too."""
    with patients.in_float64():
        found = notebook["invariances"](clinic.correct_encoder(inject))
    assert [name for name, value in found.items() if value > 1e-3] == failed
    assert all(value < 1e-10 for name, value in found.items() if name not in failed)


def test_norms_and_network_take_each_token_alone_so_they_need_no_reshape():
    layer, x = clinic.correct_encoder().encoder.layers[0], torch.randn(2, 5, 6)
    for part in (layer.norm1, layer.norm2, layer.feed_forward):
        assert torch.allclose(part(x)[:, 2:3], part(x[:, 2:3]), atol=1e-12)
    assert not torch.allclose(layer.attention(x, x, x)[:, 2:3], layer.attention(*[x[:, 2:3]] * 3), atol=1e-3)


def test_with_the_mended_line_patient_5_passes_all_four_tests(notebook):
    lines = inspect.getsource(heads_joined_without_transpose)
    mended = lines.replace("heads.reshape(", "heads.transpose(1, 2).reshape(")
    names = {"masked_softmax": notebook["masked_softmax"]}
    exec(mended, names)
    patient = clinic.patient(5, names["heads_joined_without_transpose"])
    assert mended != lines and objecting(notebook, patient) == []
    assert objecting(notebook, clinic.patient(5)) == ["invariances", "parity"]


def test_the_unknown_patient_joins_two_rows_of_one_head():
    heads = torch.arange(2.0)[:, None, None] + torch.arange(0, 50, 10)[:, None] + torch.zeros(2, 5, 3)  # (H, T, K)
    assert heads.reshape(5, 6)[0].tolist() == [0] * 3 + [10] * 3
    assert heads.transpose(0, 1).reshape(5, 6)[0].tolist() == [0] * 3 + [1] * 3


def test_nobody_finds_out_a_bias_of_0_that_is_forgotten():
    """A forgotten bias goes unnoticed where all biases are 0, as PyTorch makes them, but not where they are random."""
    with seeded(0):
        x, theirs = torch.randn(2, 5, 6), torch.nn.MultiheadAttention(6, 1, batch_first=True)

    def off():
        heads = [x @ part.T for part in theirs.in_proj_weight.chunk(3)]  # no bias is added
        mine = attention(*heads)[0] @ theirs.out_proj.weight.T
        return (mine - theirs(x, x, x)[0]).abs().max()

    assert off() < 1e-6
    torch.nn.init.ones_(theirs.in_proj_bias)
    assert off() > 0.1


def test_the_picture_is_the_matrix_with_a_row_for_each_patient(notebook):
    ax = notebook.prediction("clinic_parity").result
    assert (ax.images[0].get_array().data == notebook["noticed"].to_numpy()).all()
    assert [label.get_text() for label in ax.get_yticklabels()] == [f"patient {n}" for n in range(1, 6)]


def test_patients_whom_nobody_notices_without_a_test(notebook):
    noticed = notebook["noticed"]
    explorer = explore.who_notices(noticed, runs=20)
    missed = {"sizes_and_types": "No test notices patient 3.", "parity": "No test notices patient 4."}
    for test in noticed.columns:
        explorer.without = test
        assert explorer.description.endswith(missed.get(test, "Each patient is noticed by at least one test."))


def test_wrong_cut_has_two_rows_of_their_own_tokens():
    """The first of head 1 and the last of head 2; those of token 5 are where the test found a change."""
    explorer = explore.two_cuts(cut=CUTS[1])
    words = explorer._descriptions
    assert [n for n, text in enumerate(words) if "as it should" in text] == [1, 10]
    assert [n for n, text in enumerate(words) if "belong to token 5, " in text] == [9, 10]
    assert all("as it should" in text for text in explore.two_cuts(cut=CUTS[0])._descriptions[1:])


# An encoder of your own


def own(**changed):
    """`mine`, built with other options."""
    with seeded(0), patients.in_float64():
        return TransformerEncoder(11, 2, 6, 2, 10, padding_idx=0, final_norm=False, **changed).eval()


def objecting(notebook, model):
    return [name for name, test in zip(NAMES, notebook["tests"], strict=True) if clinic.notices(test, model)]


def test_with_norm_first_parity_alone_objects(notebook):
    mine = own(norm_first=True)
    assert objecting(notebook, mine) == ["parity"]
    assert clinic.parity(mine)["difference from PyTorch"] > 1, "numbers are compared"


def test_without_the_mask_invariances_and_parity_object(notebook):
    mine = own()
    mine.padding_idx = None
    assert objecting(notebook, mine) == ["invariances", "parity"]


class OwnAttention(torch.nn.Module):
    """Correct attention, which makes its linear layers in the order that `names` gives."""

    def __init__(self, d_model, n_heads, names="qkvo"):
        super().__init__()
        self.linears, self.n_heads = torch.nn.ModuleDict(), n_heads
        for name in names:
            self.linears[name] = torch.nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        given = {"q": query, "k": key, "v": value}
        heads = [self.linears[n](x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for n, x in given.items()]
        return self.linears["o"](attention(*heads, mask)[0].transpose(1, 2).flatten(-2))


@pytest.mark.parametrize(("names", "expected"), [("qkvo", []), ("kqvo", ["parity"])])
def test_parity_accuses_an_attention_with_keys_before_queries(notebook, names, expected):
    """Every shape fits, so nothing stops, and parity objects to correct code."""
    mine = own()
    with patients.in_float64():
        mine.encoder.layers[0].attention = OwnAttention(6, 2, names)
    assert objecting(notebook, mine) == expected
    assert clinic.parity(mine)["difference from PyTorch"].isfinite()


def test_the_copying_stops_for_a_layer_that_makes_its_norms_first():
    mine = own()
    layer = mine.encoder.layers[0]
    for name in ("attention", "feed_forward"):  # to the end of the layer's parts
        layer._modules[name] = layer._modules.pop(name)
    assert next(name for name, _ in layer.named_parameters()).startswith("norm")
    with pytest.raises(RuntimeError, match="shape"):
        clinic.torch_counterpart(mine)


def test_the_parameters_are_in_the_order_that_the_text_names():
    names = [name.rpartition(".")[0] for name, _ in clinic.correct_encoder().named_parameters()]
    layer = ["attention.q_proj", "attention.k_proj", "attention.v_proj", "attention.out_proj"]
    layer += ["feed_forward.linear1", "feed_forward.linear2", "norm1", "norm2"]
    expected = ["embedding.token", *(f"encoder.layers.{i}.{name}" for i in range(2) for name in layer)]
    assert list(dict.fromkeys(names)) == expected


def test_pytorchs_layers_start_as_copies_and_those_of_the_reference_do_not():
    """PyTorch's layers start as copies, attention's biases at 0, gains at 1; the reference draws all at random."""
    layer = torch.nn.TransformerEncoderLayer(6, 1, 10, batch_first=True)
    stack = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    one, other = (dict(layer.named_parameters()) for layer in stack.layers)
    assert all(torch.equal(one[name], other[name]) for name in one) and stack.norm is None
    assert not one["self_attn.in_proj_bias"].any() and not one["self_attn.out_proj.bias"].any()
    assert one["norm1.weight"].eq(1).all() and one["norm2.weight"].eq(1).all()
    one, other = (
        dict(layer.named_parameters()) for layer in clinic.torch_counterpart(clinic.correct_encoder())[1].layers
    )
    assert not any(torch.equal(one[name], other[name]) for name in one)
    assert one["self_attn.in_proj_bias"].all() and one["norm1.weight"].ne(1).all()
