"""The prediction questions of all notebooks, by name."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A question with one right choice. `answer` is its index; `because` gives the reason in a sentence or two."""

    prompt: str
    choices: tuple[str, ...]
    answer: int
    because: str


QUESTIONS = {
    "alike": Question(
        prompt="Take “How do I bake a cake?” Which question is closer to it?",
        choices=("How do I make a cage?", "Which recipe is good for a birthday?"),
        answer=1,
        because="The first shares nearly all of its letters with the question, the second what it is about.",
    ),
    "parts": Question(
        prompt="The model has 22.6 million numbers. Which part holds the most of them?",
        choices=("the table of words", "attention", "the feed-forward networks"),
        answer=0,
        because="The table has a row of 384 numbers for each of 30,522 word pieces: more than half of all numbers.",
    ),
    "repeat": Question(
        prompt="The ids are [2, 3, 2]: the first token and the third are the same. Are the first and third row equal?",
        choices=("yes, in every number", "nearly, up to rounding", "no, their places differ"),
        answer=0,
        because="Both rows are copies of row 2 of one table. A look-up does not know where in the sentence it happens.",
    ),
    "gradient": Question(
        prompt="A table has 6 rows. A loss uses the ids [1, 4, 4]. How many rows get a gradient that is not zero?",
        choices=("1", "2", "3", "6"),
        answer=1,
        because="Only rows 1 and 4 were read. Row 4 was read twice, so its two gradients add up in the one row.",
    ),
    "shuffle": Question(
        prompt="If we shuffle the words, will the output for dog change?",
        choices=("yes, a lot", "yes, a little", "not at all"),
        answer=2,
        because="Attention takes a weighted mean over the words, and a mean does not care how its terms are ordered.",
    ),
    "scale": Question(
        prompt="The embeddings are 64 wide, drawn from N(0, 1). We multiply them by √64 before we add the sinusoids. "
        "How well does a model learn to reverse sequences now?",
        choices=("much better", "about the same", "much worse"),
        answer=2,
        because="The embeddings grow to about 8: the sinusoids, at about 0.7, are too quiet beside them, and the "
        "vectors as a whole too large to train well.",
    ),
    "distance": Question(
        prompt="Take the dot product of positions 5 and 9, and that of positions 105 and 109. Which one is larger?",
        choices=("5 and 9", "105 and 109", "they are equal"),
        answer=2,
        because="Each pair of sine and cosine contributes the cosine of its frequency times the distance. "
        "Both distances are 4, and where the pair stands drops out.",
    ),
    "sink": Question(
        prompt="The model has 72 attention heads. How many of them look at the first token, [CLS], most of all?",
        choices=("a few", "about half", "nearly all"),
        answer=2,
        because="63 of 72 do on this sentence. A likely reason: a softmax has to spend its whole weight, and a head "
        "that finds nothing may park it on a token that is always there.",
    ),
    "ablate": Question(
        prompt="We remove a fifth of a sentence’s words: those that get the most attention, averaged over all heads. "
        "Compared with removing random words, how far does the sentence’s vector move?",
        choices=("less far", "about as far", "further, but less than twice as far", "more than twice as far"),
        answer=3,
        because="Averaged over all heads, attention finds the words that carry the vector. A single head may not.",
    ),
}
