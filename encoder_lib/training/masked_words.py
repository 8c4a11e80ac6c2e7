"""Guess the hidden word: real sentences as a task, and the guesses that counting alone can make."""

import re
import zlib
from collections import Counter
from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor

from encoder_lib import expect
from encoder_lib.training.tasks import IGNORE_INDEX, spell

PADDING, HIDDEN, RARE = range(3)  # the ids that stand for no word
SPECIAL = ("[PAD]", "[MASK]", "[RARE]")


class MaskedWords:
    """Sentences in which words are hidden, to be named from what is left.

    A token is a word in small letters or a punctuation mark. The vocabulary holds the tokens that occur at least
    `least` times in the training sentences, most frequent first; all others are RARE, and are neither hidden nor
    asked for. Sentences of more than `longest` tokens are left out. Every tenth sentence, more or less, is held out:
    a checksum of its letters decides, so that it stays on its side wherever it turns up.

    vocabulary: one string for each id. training, held_out: ids (N, T), padded.
    Raises: TypeError or ValueError for sizes that are not integers ≥ 1; TypeError for sentences that are no texts;
    ValueError for sentences of which nothing is left on one of the two sides.
    Source: Devlin et al. 2018, "BERT", section 3.1 (arXiv 1810.04805), without its random replacements.
    """

    def __init__(self, sentences: Iterable[str], *, least: int = 20, longest: int = 16):
        expect.sizes(least=least, longest=longest)
        sides: tuple[list, list] = [], []
        for sentence in dict.fromkeys(expect.texts("sentences", sentences)):
            tokens = re.findall(r"[a-z]+(?:'[a-z]+)?|[^a-z\s]", sentence.lower())
            if 1 < len(tokens) <= longest:
                sides[zlib.crc32(sentence.encode(errors="surrogatepass")) % 10 == 0].append(tokens)
        counts = Counter(token for tokens in sides[0] for token in tokens)
        words = sorted((word for word in counts if counts[word] >= least), key=lambda word: (-counts[word], word))
        self.vocabulary = [*SPECIAL, *words]
        numbers = {word: i for i, word in enumerate(self.vocabulary)}
        if not all(sides) or not words:
            raise ValueError(
                f"sentences: expected more, got {len(sides[0])} to learn from and {len(sides[1])} to try, of at most "
                f"longest={expect.shown(longest)} tokens, and {len(words)} words that come least={expect.shown(least)} "
                "times"
            )
        self.training, self.held_out = (
            torch.tensor([[numbers.get(t, RARE) for t in row] + [PADDING] * (longest - len(row)) for row in side])
            for side in sides
        )

    def draw(self, batch: int, *, share: float = 0.4) -> tuple[Tensor, Tensor]:
        """Training sentences, drawn at random, in which each word is hidden with probability `share`.

        Shapes: -> ids and targets (B, T); targets are IGNORE_INDEX where no word is hidden.
        Raises: TypeError or ValueError for a `batch` that is not an integer ≥ 1, or a `share` outside 0 … 1.
        """
        expect.sizes(batch=batch)
        expect.probability("share", share)
        rows = self.training[torch.randint(len(self.training), (batch,))]  # (B, T)
        return self._hide(rows, torch.rand(rows.shape) < share)

    def questions(self, n: int | None = None) -> tuple[Tensor, Tensor]:
        """Held-out sentences with one word hidden in each copy: every word in turn, or `n` of them evenly spread.

        Shapes: -> ids and targets (N, T).
        Raises: TypeError or ValueError for an `n` that is not an integer ≥ 1.
        """
        row, place = (self.held_out > RARE).nonzero(as_tuple=True)  # one for each question
        if n is not None:
            expect.sizes(n=n)
            chosen = torch.linspace(0, len(row) - 1, min(n, len(row))).long()
            row, place = row[chosen], place[chosen]
        return self._hide(self.held_out[row], place[:, None] == torch.arange(self.held_out.shape[1]))

    def read(self, ids: Tensor) -> list[str]:
        """One sentence in words, without its padding. Shapes: ids (T,) -> at most T strings; errors: as `spell`."""
        return [word for word in spell(ids, self.vocabulary) if word != SPECIAL[PADDING]]

    def _hide(self, rows: Tensor, hide: Tensor) -> tuple[Tensor, Tensor]:
        hide = hide & (rows > RARE)
        return rows.masked_fill(hide, HIDDEN), rows.masked_fill(~hide, IGNORE_INDEX)

    def counting(self, ids: Tensor, targets: Tensor) -> dict[str, float]:
        """The share of questions that counting in the training sentences gets right, by what the counting goes by.

        "most frequent word": the same answer to all. "word before", "word after": the word that most often stands
        beside the neighbour on that side. "both": the w with the largest P(w | before) · P(w | after) / P(w), as if
        the two neighbours spoke independently. A neighbour never seen leaves it to the frequencies.

        Shapes: ids and targets (N, T), as `questions` gives them.
        Raises: TypeError for what are no ids; ValueError for other shapes, or targets that ask nothing; IndexError for
        an id that is not in the vocabulary.
        """
        expect.token_ids(ids, len(self.vocabulary), name="ids", batched=True)
        expect.token_ids(targets, name="targets")
        if ids.shape != targets.shape:
            shapes = f"{tuple(ids.shape)} and {tuple(targets.shape)}"
            raise ValueError(f"expected ids and targets of one shape (N, T), got {shapes}; try questions()")
        if (targets == IGNORE_INDEX).all():
            raise ValueError(
                f"targets: expected at least one that asks for a word, got {IGNORE_INDEX} everywhere; try questions()"
            )
        n = len(self.vocabulary)
        edge = torch.full((len(self.training), 1), PADDING)
        row = torch.cat([edge, self.training, edge], dim=1).flatten()  # all sentences, with padding between
        pairs = torch.bincount(row[:-1] * n + row[1:], minlength=n * n).view(n, n)  # (token, token after it)
        words = torch.bincount(row, minlength=n).double()  # (n,)
        words[: RARE + 1] = 0  # what is never asked for is never guessed
        words /= words.sum()
        after, before = ((count + words) * (words > 0) for count in (pairs, pairs.T))  # one count more, spread out
        asked = (targets != IGNORE_INDEX).nonzero(as_tuple=True)
        padded = F.pad(ids, (1, 1), value=PADDING)  # (N, T + 2)
        left, right = after[padded[asked]], before[padded[asked[0], asked[1] + 2]]  # (M, n) each
        guesses = {
            "most frequent word": words.expand_as(left),
            "word before": left,
            "word after": right,
            "both": left * right / words.clamp(min=1e-12),
        }
        return {name: (g.argmax(1) == targets[asked]).double().mean().item() for name, g in guesses.items()}
