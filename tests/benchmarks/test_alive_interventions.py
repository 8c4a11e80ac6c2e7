"""How long the kernel works on an intervention in the whole encoder: processor time, from message to reply."""

import time
from statistics import median, quantiles

import pytest
import torch
from explorers import PAIR, minilm

from encoder_lib.course import explore

REPEATS = 15
LONG = "word " * 62, "other words and word " * 15 + "a"  # 64 tokens each
CUT = {"layer": 0, "head": None, "query": 3, "key": 2}
KINDS = {
    "one sentence is cut": {"cuts": [{"side": 0, **CUT}]},
    "both sentences are cut": {"cuts": [{"side": 0, **CUT}, {"side": 1, **CUT}]},
    "attention is out": {"knockouts": [{"part": "attention", "layer": None}]},
    "the residual connections are out": {
        "knockouts": [{"part": "residual1", "layer": None}, {"part": "residual2", "layer": None}]
    },
    "the norms are out": {"knockouts": [{"part": "norm1", "layer": None}, {"part": "norm2", "layer": None}]},
    "seen before": {},
}


@pytest.mark.parametrize("texts", [PAIR, LONG], ids=["short", "long"])
@pytest.mark.parametrize("kind", KINDS)
def test_intervention(kind, texts, capsys):
    """Print the median and the 90th percentile; nothing is remembered but the runs without interventions."""
    torch.set_num_threads(1)
    alive = explore.alive(minilm(), *texts)
    spent = []
    for _ in range(REPEATS):
        alive._intervened._runs.clear()
        alive._intervened._without.cache_clear()
        alive.set(cuts=(), knockouts=())
        alive._intervened.ask(alive.question)  # which is remembered
        begun = time.process_time()
        alive._hear(alive, {"id": 1, "question": alive._question | KINDS[kind]}, [])
        spent.append(1e3 * (time.process_time() - begun))
    with capsys.disabled():
        tokens = " + ".join(str(len(minilm().tokens(text))) for text in texts)
        numbers = f"median {median(spent):5.1f} ms, p90 {quantiles(spent, n=10)[-1]:5.1f} ms"
        print(f"\n{kind:<34} {tokens:>8} tokens: {numbers}", end="")
