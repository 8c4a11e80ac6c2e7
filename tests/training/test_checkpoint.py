"""A checkpoint gives the same weights back, is written whole or not at all, and refuses what does not fit."""

import os
import pickle

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from encoder_lib import TransformerEncoder, files
from encoder_lib.training import checkpoint
from encoder_lib.training.checkpoint import (
    load_checkpoint,
    load_training,
    read_notes,
    save_checkpoint,
    save_training,
)


def model(d_model=8, n_layers=2, **settings):
    """A small encoder with random weights."""
    return TransformerEncoder(7, n_layers, d_model, 2, 16, **settings)


def same(a, b):
    """Whether two models have the same weights."""
    return all(torch.equal(x, y) for x, y in zip(a.state_dict().values(), b.state_dict().values(), strict=True))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("positional", ["sinusoidal", "learned", "rotary"])
def test_what_is_saved_comes_back_with_its_notes(tmp_path, dtype, positional, device):
    saved, twin = (model(positional=positional).to(device, dtype) for _ in range(2))
    path = tmp_path / "model.safetensors"
    save_checkpoint(saved, path, notes={"task": "reverse", "steps": "200 ✓"})
    assert not same(saved, twin)
    assert load_checkpoint(twin, str(path)) == {"task": "reverse", "steps": "200 ✓"}
    assert same(saved, twin) and {p.device.type for p in twin.parameters()} == {device.type}
    ids = torch.arange(6, device=device)[None]
    assert torch.equal(saved.eval()(ids), twin.eval()(ids))
    assert list(tmp_path.iterdir()) == [path], "nothing else is left"


def test_anybody_can_read_the_file(tmp_path):
    saved = model()
    save_checkpoint(saved, tmp_path / "m")
    read = load_file(tmp_path / "m")
    assert read.keys() == saved.state_dict().keys() and torch.equal(
        read["embedding.token.weight"], saved.embedding.token.weight
    )
    assert load_checkpoint(model(), tmp_path / "m") == {}


def test_tied_and_transposed_weights_are_written_too(tmp_path):
    tied = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 5, bias=False))
    tied[1].weight = tied[0].weight
    save_checkpoint(tied, tmp_path / "m")
    twin = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 5, bias=False))
    load_checkpoint(twin, tmp_path / "m")
    assert torch.equal(twin[0].weight, twin[1].weight) and torch.equal(twin[0].weight, tied[0].weight)
    turned = nn.Linear(3, 4)
    turned.weight = nn.Parameter(torch.randn(3, 4).T)
    save_checkpoint(turned, tmp_path / "m")
    load_checkpoint(other := nn.Linear(3, 4), tmp_path / "m")
    assert torch.equal(other.weight, turned.weight)


@pytest.mark.parametrize("moment", ["save_file", "_to_disk", "replace"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, moment, error):
    path, old = tmp_path / "m.safetensors", model()
    save_checkpoint(old, path)

    def fails(*arguments, **options):
        if moment == "save_file":
            arguments[1].write_bytes(b"half of")
        raise error

    if moment == "replace":
        monkeypatch.setattr(type(path), "replace", fails)
    else:
        monkeypatch.setattr(checkpoint if moment == "save_file" else files, moment, fails)
    with pytest.raises(type(error)):
        save_checkpoint(model(), path)
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == [path]
    load_checkpoint(twin := model(), path)
    assert same(old, twin)


def test_the_numbers_reach_the_disk_before_the_file_gets_its_place(tmp_path, monkeypatch):
    events, fsync, replace = [], os.fsync, type(tmp_path).replace
    monkeypatch.setattr(os, "fsync", lambda handle: (events.append("to disk"), fsync(handle))[1])
    monkeypatch.setattr(type(tmp_path), "replace", lambda a, b: (events.append("in its place"), replace(a, b))[1])
    save_checkpoint(model(), tmp_path / "m")
    assert events == ["to disk", "in its place", "to disk"][: 3 if os.name == "posix" else 2]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "folder").mkdir()
    link, target = tmp_path / "link", tmp_path / "folder" / "m"
    link.symlink_to(target)
    save_checkpoint(model(), link)
    assert link.is_symlink() and target.is_file()


@pytest.mark.parametrize(
    ("other", "error", "words"),
    [
        (lambda: model(d_model=6), ValueError, r"embedding\.token\.weight: expected shape \(7, 6\), got \(7, 8\); try"),
        (lambda: model(n_layers=3), KeyError, r"expected a weight named 'encoder\.layers\.2\..*16 are missing"),
        (lambda: model(n_layers=1), ValueError, r"expected the weights of this model, got \['encoder\.layers\.1"),
        (
            lambda: model().double(),
            TypeError,
            r"expected torch.float64, got torch.float32; try model.to\(torch.float32",
        ),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(tmp_path, other, error, words):
    save_checkpoint(model(), tmp_path / "m")
    other = other()
    before = {name: x.clone() for name, x in other.state_dict().items()}
    with pytest.raises(error, match=words):
        load_checkpoint(other, tmp_path / "m")
    assert all(torch.equal(x, before[name]) for name, x in other.state_dict().items())


class Bomb:
    """Unpickled, it would leave a trace."""

    def __reduce__(self):
        return os.mkdir, ("unpickled",)


def test_nothing_is_unpickled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for write in (lambda p: torch.save({"x": Bomb()}, p), lambda p: p.write_bytes(pickle.dumps(Bomb()))):
        write(tmp_path / "m")
        with pytest.raises(ValueError, match=r"not a safetensors file.*it is a pickle"):
            load_checkpoint(model(), tmp_path / "m")
    assert not (tmp_path / "unpickled").exists()


@pytest.mark.parametrize("content", [b"", b"<html>", b"version https://git-lfs", b"\xff" * 100])
def test_other_files_are_told_apart(tmp_path, content):
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ValueError, match="not a safetensors file"):
        load_checkpoint(model(), tmp_path / "m")


def test_a_file_that_was_cut_off_is_refused(tmp_path):
    save_checkpoint(model(), tmp_path / "m")
    whole = (tmp_path / "m").read_bytes()
    for length in (4, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "m").write_bytes(whole[:length])
        with pytest.raises(ValueError, match="not all of it"):
            load_checkpoint(model(), tmp_path / "m")


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_weights_that_are_no_numbers_are_neither_written_nor_read(tmp_path, bad):
    spoiled, good = model(), model()
    with torch.no_grad():
        spoiled.embedding.token.weight[2, 3] = bad
    with pytest.raises(ValueError, match=r"embedding\.token\.weight: expected finite numbers"):
        save_checkpoint(spoiled, tmp_path / "m")
    assert not list(tmp_path.iterdir())
    save_file({name: x.contiguous() for name, x in spoiled.state_dict().items()}, tmp_path / "m")
    before = good.embedding.token.weight.clone()
    with pytest.raises(ValueError, match="expected finite numbers"):
        load_checkpoint(good, tmp_path / "m")
    assert torch.equal(before, good.embedding.token.weight)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda folder: save_checkpoint("model", folder / "m"), TypeError, "expected a torch module, got str"),
        (lambda folder: load_checkpoint({}, folder / "m"), TypeError, "expected a torch module, got dict"),
        (lambda folder: save_checkpoint(model(), folder), IsADirectoryError, r"got a folder; try .*model\.safetensors"),
        (
            lambda folder: save_checkpoint(model(), folder / "no" / "m"),
            FileNotFoundError,
            "expected a folder, got none",
        ),
        (lambda folder: load_checkpoint(model(), folder / "m"), FileNotFoundError, "expected a file, got nothing"),
        (lambda folder: load_checkpoint(model(), folder), FileNotFoundError, "expected a file, got a folder"),
        (lambda folder: save_checkpoint(model(), folder / "m", notes={"n": 3}), TypeError, "all of them strings"),
        (
            lambda folder: save_checkpoint(model(), folder / "m", notes="abc"),
            TypeError,
            "notes: expected .* got str; try",
        ),
    ],
)
def test_bad_input(tmp_path, call, error, words):
    with pytest.raises(error, match=words):
        call(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("notes", [None, {}, {"task": "none"}])
def test_a_model_without_weights_comes_back_too(tmp_path, notes):
    save_checkpoint(torch.nn.ReLU(), tmp_path / "m", notes=notes)
    assert load_checkpoint(torch.nn.ReLU(), tmp_path / "m") == (notes or {})


def trained(optimiser=torch.optim.Adam, steps=3, **settings):
    """A small network, an optimiser that has moved it, and a function that moves it once more."""
    network = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    mover = optimiser(network.parameters(), lr=0.1, **settings)

    def move():
        mover.zero_grad()
        loss = network(torch.randn(5, 3)).square().sum()
        loss.backward()
        mover.step()
        return loss.item()

    for _ in range(steps):
        move()
    return network, mover, move


@pytest.mark.parametrize(
    ("optimiser", "settings"),
    [(torch.optim.Adam, {}), (torch.optim.AdamW, {"amsgrad": True}), (torch.optim.SGD, {"momentum": 0.9})],
)
def test_a_training_goes_on_as_if_nothing_had_ended_it(tmp_path, optimiser, settings):
    network, mover, move = trained(optimiser, **settings)
    save_training(network, mover, tmp_path / "t", log={"losses": [3.0, 0.1], "looks": []}, notes={"task": "none"})
    expected = [move() for _ in range(4)]
    torch.manual_seed(99)
    other, another, move = trained(optimiser, steps=1, **settings)
    assert load_training(other, another, tmp_path / "t") == {"losses": [3.0, 0.1], "looks": []}
    assert [move() for _ in range(4)] == expected, "weights, memory and random numbers are those of the training"
    assert same(network, other) and read_notes(tmp_path / "t") == {"task": "none"}
    assert list(tmp_path.iterdir()) == [tmp_path / "t"]


def test_a_training_may_end_before_its_first_step_and_move_some_weights_alone(tmp_path):
    network, twin = nn.Linear(2, 3), nn.Linear(2, 3)
    save_training(network, torch.optim.Adam([network.bias]), tmp_path / "t")
    mover = torch.optim.Adam([twin.bias])
    assert load_training(twin, mover, tmp_path / "t") == {}
    assert same(network, twin) and not mover.state


def test_the_weights_of_a_training_load_as_a_checkpoint(tmp_path):
    network, mover, _ = trained()
    save_training(network, mover, tmp_path / "t", notes={"task": "none"})
    twin, *_ = trained(steps=0)
    assert load_checkpoint(twin, tmp_path / "t") == {"task": "none"} and same(network, twin)


def test_no_part_of_a_model_can_have_the_name_that_marks_a_training():
    with pytest.raises(KeyError, match="already exists"):
        nn.Module().add_module("training", nn.Linear(1, 1))


def cut(path, drop=(), **replaced):
    """Write a training's file anew, with some tensors dropped and some replaced."""
    tensors = {name: x for name, x in load_file(path).items() if not name.startswith(tuple(drop) or "?")}
    save_file(tensors | {name.replace("__", "."): x for name, x in replaced.items()}, path)


@pytest.mark.parametrize(
    ("spoil", "error", "words"),
    [
        (lambda path: cut(path, ["training."]), ValueError, "got weights alone; try load_checkpoint"),
        (lambda path: cut(path, ["0.weight"]), KeyError, "expected a weight named '0.weight', got none"),
        (
            lambda path: cut(path, training__optimiser__Adam__0__bias__exp_avg=torch.zeros(9)),
            ValueError,
            "expected what Adam remembers of these weights, got 'training.optimiser.Adam.0.bias.exp_avg'; try",
        ),
        (
            lambda path: cut(path, training__optimiser__Adam__7__bias__exp_avg=torch.zeros(4)),
            ValueError,
            "expected what Adam remembers",
        ),
        (
            lambda path: cut(path, training__optimiser__Adam__0__bias__exp_avg=torch.full((4,), torch.nan)),
            ValueError,
            "expected finite numbers",
        ),
        (lambda path: cut(path, training__random__cpu=torch.zeros(3)), ValueError, r"random state, got \(3,\)"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), ValueError, "not all of it"),
        (lambda path: path.write_bytes(pickle.dumps(Bomb())), ValueError, "it is a pickle"),
        (lambda path: path.unlink(), FileNotFoundError, "expected a file, got nothing"),
    ],
)
def test_a_training_that_does_not_fit_changes_nothing(tmp_path, spoil, error, words):
    network, mover, _ = trained()
    save_training(network, mover, tmp_path / "t")
    spoil(tmp_path / "t")
    twin, other, _ = trained(steps=2)
    weights, random = [p.detach().clone() for p in twin.parameters()], torch.get_rng_state()
    memory = [x.clone() for state in other.state.values() for x in state.values()]
    with pytest.raises(error, match=words):
        load_training(twin, other, tmp_path / "t")
    assert all(torch.equal(a, b) for a, b in zip(weights, twin.parameters(), strict=True))
    after = [x for state in other.state.values() for x in state.values()]
    assert all(torch.equal(a, b) for a, b in zip(memory, after, strict=True))
    assert torch.equal(random, torch.get_rng_state())


def test_another_kind_of_optimiser_is_refused(tmp_path):
    network, mover, _ = trained(torch.optim.SGD, momentum=0.9)
    save_training(network, mover, tmp_path / "t")
    with pytest.raises(ValueError, match=r"expected what Adam remembers .* got 'training\.optimiser\.SGD"):
        load_training(*trained(steps=0)[:2], tmp_path / "t")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda folder: save_training(nn.ReLU(), "Adam", folder / "t"),
            TypeError,
            "expected a torch optimiser, got str",
        ),
        (lambda folder: save_training(None, None, folder / "t"), TypeError, "expected a torch module, got NoneType"),
        (
            lambda folder: save_training(nn.ReLU(), trained()[1], folder / "t"),
            ValueError,
            "optimiser: expected one of this model's weights, got 4 others too; try",
        ),
        (
            lambda folder: save_training(*trained()[:2], folder / "t", log={"losses": [1.0, torch.inf]}),
            ValueError,
            "losses: expected finite numbers",
        ),
        (lambda folder: save_training(*trained()[:2], folder), IsADirectoryError, "got a folder"),
        (lambda folder: read_notes(folder / "t"), FileNotFoundError, "expected a file, got nothing"),
    ],
)
def test_bad_input_for_a_training(tmp_path, call, error, words):
    with pytest.raises(error, match=words):
        call(tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_optimiser_that_remembers_no_tensors_is_refused(tmp_path):
    network, mover, _ = trained(torch.optim.LBFGS, steps=0)
    mover.step(lambda: network(torch.ones(3)).sum())
    with pytest.raises(TypeError, match=r"optimiser: expected tensors to remember, got .*; try torch\.optim\.Adam"):
        save_training(network, mover, tmp_path / "t")


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        (None, TypeError, r"path: expected a path, got None \(NoneType\); try"),
        (3, TypeError, r"path: expected a path, got 3 \(int\); try"),
        (b"m.safetensors", TypeError, r"path: expected a path, got .* \(bytes\); try"),
        ("m\0.safetensors", ValueError, "path: expected the name of a file, got .* zero byte"),
    ],
)
def test_what_is_no_path_is_refused(path, error, words):
    """By all that write and all that read."""
    network, mover, _ = trained()
    for call in (
        lambda: save_checkpoint(network, path),
        lambda: load_checkpoint(network, path),
        lambda: save_training(network, mover, path),
        lambda: load_training(network, mover, path),
        lambda: read_notes(path),
    ):
        with pytest.raises(error, match=words):
            call()
