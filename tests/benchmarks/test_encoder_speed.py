"""How fast the encoder is: ours, step by step, beside its peers, with the same weights on the same vectors.

All take turns in one run. Each line tells the time, how many times as fast it is as the best peer, its share of the
machine's best matrix product (counted on real tokens alone, so that work on padding is no work), and the memory it
needs. Compiled encoders have a section of their own: what torch's compiler can do with ours and with a peer.
"""

import platform
import warnings
from datetime import date
from statistics import median

import peers
import pytest
import torch
from measuring import SIDE, all_cores, matmul_peaks, matmul_works, operations, peak_memory, processor, take_turns  # noqa: F401

from encoder_lib import fast, lengths_mask, trace, unpadded

BATCHES = [(1, 16, 0.0), (8, 64, 0.0), (32, 128, 0.25), (4, 512, 0.0)]
OURS = ("explicit", "fused", "unpadded", "fast", "fast, unpadded")
pytestmark = pytest.mark.filterwarnings("ignore")  # what the peers and the compiler warn of is theirs
SIZES = peers.LAYERS, peers.D, peers.F
CEILING_FLOPS = 2 * SIDE**3
HEAD = "| | ms | × best peer | of the peak | MB |\n|---|---:|---:|---:|---:|"


@pytest.fixture(scope="module")
def encoders():
    """Every encoder, ready for use."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return peers.all_encoders()


@pytest.fixture(scope="module")
def peak():
    """The ceiling: the faster of the two libraries' matrix products."""
    found = matmul_peaks()
    print(f"\n\n{date.today()}, {processor()}, torch {torch.__version__}, Python {platform.python_version()}")
    print(
        "float32 product of 2048 × 2048 matrices: " + ", ".join(f"{k} {v / 1e9:.0f} GFLOP/s" for k, v in found.items())
    )
    return max(found.values())


def batch_of(size, length, padding):
    """Vectors (B, T, D) and lengths (B,): evenly spread, so that just this share is padding."""
    torch.manual_seed(1)
    lengths = torch.linspace(length * (1 - 2 * padding), length, size).round().long()
    return torch.randn(size, length, peers.D), lengths


def passes(encoders, x, lengths):
    """Name -> one forward pass of each."""
    ours, theirs = encoders["ours"], encoders["nn.TransformerEncoder"]
    padded = bool((lengths < x.shape[1]).any())
    mask = lengths_mask(lengths, x.shape[1]) if padded else None  # (B, 1, 1, T)
    real = lengths_mask(lengths, x.shape[1])[:, 0, 0]  # (B, T)
    quick = fast(ours)

    def explicit():
        with trace(ours):  # attention writes its weights out
            return ours(x, mask)

    works = {"explicit": explicit, "fused": lambda: ours(x, mask), "fast": lambda: quick(x, mask)}
    if padded:
        works["unpadded"] = lambda: unpadded(ours, x, lengths)
        works["fast, unpadded"] = lambda: unpadded(quick, x, lengths)
    works["nn.TransformerEncoder"] = lambda: theirs(x, src_key_padding_mask=~real if padded else None)
    works["x-transformers"] = lambda: encoders["x-transformers"](x, mask=real if padded else None)
    square = mask.expand(-1, 1, x.shape[1], -1) if padded else None  # what BertModel makes of a padding mask itself
    added = torch.zeros(square.shape).masked_fill(~square, torch.finfo(x.dtype).min) if padded else None
    works["BertModel, sdpa"] = lambda: encoders["BertModel, sdpa"](x, attention_mask=square).last_hidden_state
    works["BertModel, eager"] = lambda: encoders["BertModel, eager"](x, attention_mask=added).last_hidden_state
    return works


def same(works, lengths):
    """Each gives the explicit pass's numbers at every real token."""
    real = torch.arange(int(lengths.max())) < lengths[:, None]
    with torch.no_grad():
        wanted = works["explicit"]()
        for name, work in works.items():
            difference = (work() - wanted)[real].abs().max().item()
            assert difference <= 1e-4, f"{name} gives other numbers: {difference}"


def backward(work, lengths):
    """A pass and its gradients, of a loss over the real tokens."""
    real = (torch.arange(int(lengths.max())) < lengths[:, None])[..., None]
    return lambda: (work() * real).square().sum().backward()


def show(title, works, peak, flops):
    """Print the table of one batch; -> how many times as fast our best is as the best peer."""
    memory = {name: peak_memory(work) for name, work in works.items()}
    runs = take_turns(works | ceiling())
    peak = max(peak, CEILING_FLOPS / min(runs.pop("ceiling")))  # a machine that others use has its better moments
    times = {name: median(taken) for name, taken in runs.items()}
    best_peer = min(took for name, took in times.items() if not name.startswith(OURS))
    print(f"\n{title}\n\n{HEAD}")
    for name, took in times.items():
        used = "" if memory[name] is None else f"{memory[name] / 1e6:.0f}"
        print(f"| {name} | {1e3 * took:.1f} | {best_peer / took:.2f} | {flops / took / peak:.0%} | {used} |")
    return best_peer / min(took for name, took in times.items() if name.startswith(OURS))


def ceiling():
    """The better library's matrix product, to take turns with the encoders."""
    return {"ceiling": list(matmul_works().values())[-1]}


@pytest.mark.parametrize(("size", "length", "padding"), BATCHES)
def test_forward(encoders, peak, size, length, padding):
    """Inference: ours at its best is at least as fast as the best peer."""
    x, lengths = batch_of(size, length, padding)
    for encoder in encoders.values():
        encoder.eval()
    works = passes(encoders, x, lengths)
    same(works, lengths)
    with torch.inference_mode():
        ratio = show(
            f"#### ({size}, {length}), {padding:.0%} padding, forward", works, peak, operations(lengths, *SIZES)
        )
    assert ratio >= 1


@pytest.mark.parametrize(("size", "length", "padding"), BATCHES)
def test_forward_and_backward(encoders, peak, size, length, padding):
    """Training: a pass and its gradients, counted as three passes' operations."""
    x, lengths = batch_of(size, length, padding)
    x.requires_grad_()
    for encoder in encoders.values():
        encoder.train()
    works = {name: backward(work, lengths) for name, work in passes(encoders, x, lengths).items()}
    title = f"#### ({size}, {length}), {padding:.0%} padding, forward and backward"
    assert show(title, works, peak, 3 * operations(lengths, *SIZES)) >= 1


@pytest.mark.parametrize(("size", "length"), [(1, 16), (8, 64), (4, 512)])
def test_compiled(encoders, peak, size, length):
    """What torch's compiler makes of ours, and of a peer."""
    x, lengths = batch_of(size, length, 0.0)
    for encoder in encoders.values():
        encoder.eval()
    torch.compiler.reset()
    ours = torch.compile(encoders["ours"], fullgraph=True)
    quick = torch.compile(fast(encoders["ours"]), fullgraph=True)
    theirs = torch.compile(encoders["BertModel, sdpa"])
    torch_own = torch.compile(encoders["nn.TransformerEncoder"])
    works = {
        "explicit": lambda: passes(encoders, x, lengths)["explicit"](),
        "fused, compiled": lambda: ours(x),
        "fast, compiled": lambda: quick(x),
        "BertModel, sdpa, compiled": lambda: theirs(x).last_hidden_state,
        "nn.TransformerEncoder, compiled": lambda: torch_own(x),
    }
    with torch.inference_mode():
        same(works, lengths)
        del works["explicit"]
        ratio = show(f"#### ({size}, {length}), forward, compiled", works, peak, operations(lengths, *SIZES))
    assert ratio >= 1
