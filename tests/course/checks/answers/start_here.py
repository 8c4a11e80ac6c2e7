"""What learners answer in 00_start_here: right answers, and wrong ones by the mistake that each makes."""

import torch

from encoder_lib.course import checks


def closed(*closings):
    """An answer that begins with a mask of ones, and puts False at some (row, column), made from word and other."""

    def hide(length, word, other):
        mask = torch.ones(length, length, dtype=torch.bool)
        for closing in closings:
            mask[closing(word, other)] = False
        return mask.fill_diagonal_(True)

    return hide


ALL = slice(None)
ANSWERS = {
    checks.check_hide: (
        {
            "nobody looks at the other": closed(lambda word, other: (ALL, other)),
            "by comparison": lambda n, word, other: (torch.arange(n) != other).expand(n, n) | torch.eye(n).bool(),
        },
        {
            "the word looks at nobody": closed(lambda word, other: (word, ALL)),
            "its look alone": closed(lambda word, other: (word, other)),
            "both looks of the two": closed(lambda word, other: (word, other), lambda word, other: (other, word)),
            "the other looks at nobody": closed(lambda word, other: (other, ALL)),
            "nobody looks at the word": closed(lambda word, other: (ALL, word)),
            "numbers": lambda *at: closed(lambda word, other: (ALL, other))(*at).double(),
        },
    ),
}
