"""The prediction questions of all notebooks, by name, and `predict`, which asks one."""

from collections.abc import Callable
from typing import Any

from encoder_lib import expect
from encoder_lib.explore.widget.prediction import Prediction, Question

QUESTIONS = {
    "alike": Question(
        prompt="Take “How do I bake a cake?” Which question does the model find closer to it?",
        choices=("How do I make a cage?", "Which recipe is good for a birthday?"),
        answer=1,
        finding="The recipe is closer: its cosine with the cake is 0.35, that of the cage 0.21. What "
        "a question is about counts for more here than its letters. Shared words count, too: the cage is nearer to the "
        "cake than to the recipe.",
    ),
    "parts": Question(
        prompt="Which of the three parts holds the most parameters?",
        choices=("the table of words", "attention", "feed-forward"),
        answer=0,
        finding="The table of words holds 11.7 of 22.6 million, more than half. For one token, though, only one "
        "row of it is read.",
    ),
    "cards": Question(
        prompt="What is the right answer at card 2, the one with the dark arrow?",
        choices=("B", "b", "C", "c"),
        answer=1,
        finding="Card 2 points at a B and is a capital itself, so the answer is b, the B with its case swapped. Below "
        "each card stands its answer.",
    ),
    "repeat": Question(
        prompt="In “dog eats dog” one dog eats, and the other is eaten. Do both get the same vector?",
        choices=("yes, in every number", "nearly, up to rounding", "no, their places differ"),
        answer=0,
        finding="The first row and the third are equal: both are copies of row 2 of one table. A look-up knows neither "
        "the place of a word nor its company. Finding out who eats whom is left to the rest of the encoder.",
    ),
    "gradient": Question(
        prompt="The table has 6 rows, and row 0 is that of the padding. The batch holds “dog sees dog”, 2, 4, 2, and "
        "“cat” with padding, 1, 0, 0. How many rows get a gradient that is not zero?",
        choices=("2", "3", "4", "6"),
        answer=1,
        finding="Three: cat, dog and sees. A number that was read once is in the sum once and has the gradient 1; dog "
        "was read twice and has 2. The rows of eats and fish were not read; that of the padding was, and is left out. "
        "From this batch those three rows cannot learn.",
    ),
    "forgotten": Question(
        prompt="The same loop without its line zero_grad. What does the loss do in 150 steps?",
        choices=("the same as before", "it falls, but more slowly", "it never falls", "it falls and rises again"),
        answer=3,
        finding="It falls, for some steps even faster than before, and ends above 100. backward adds to what grad "
        "holds, so each step repeats all earlier gradients. That makes the steps longer and longer, which helps "
        "until they run past the lowest place; they end far from it.",
    ),
    "kinds": Question(
        prompt="Three trainings, from three random beginnings. How do the arrows of the sixteen words lie in the end?",
        choices=(
            "anyhow, as at the beginning",
            "words of one kind together, each kind in the same place every time",
            "words of one kind together, each kind in another place every time",
        ),
        answer=2,
        finding="Each picture has four bundles, one for each kind of word. Cat and dog stand beside the same verb, so "
        "the linear layer has to give both nearly the same scores, and two numbers are all it sees of either. Which "
        "way a bundle points differs from run to run: the loss does not ask for it.",
    ),
    "new_word": Question(
        prompt="Our 200 merges were found in the beginning of Alice, which has no “unbelievably”. How is it cut?",
        choices=(
            "not at all: it is unknown",
            "into its twelve letters",
            "into many short pieces",
            "into two or three long ones",
        ),
        answer=2,
        finding="Into eight: un, b, el, i, e, v, ab, ly. A few pieces are found again; the rest is nearly letters. "
        "MiniLM has far more pieces, 30,522 of them, and needs five.",
    ),
    "own_card": Question(
        prompt="An embedding of the 64 cards and a linear layer, trained on 400 batches of fresh cards. How many of "
        "its answers are right?",
        choices=("about 12.5 %, as many as a guess", "about 25 %", "about 50 %", "nearly all"),
        answer=0,
        finding="As many as a guess. A table reads one card at a time, and the answer lies on another, whose letter "
        "was drawn independently of this one. The arrow says where to look, but nothing in this model looks anywhere. "
        "One in eight is the most in the long run; the tenths are luck, on 32,000 cards.",
    ),
    "thirty_layers": Question(
        prompt="Two words go through thirty layers, each as PyTorch draws it. At the start they differ by about 1.5. "
        "By how much do they differ at the end?",
        choices=("by about 1.5", "by about a tenth of that", "by about a thousandth", "by less than a billionth"),
        answer=3,
        finding="By 0.0000000000015. Each layer leaves about 0.4 of the difference, and the next one 0.4 of that.",
    ),
    "bell": Question(
        prompt="A token has many small numbers and a few large ones. What does their histogram look like after "
        "normalising?",
        choices=("a bell curve", "the old histogram, moved and stretched", "flat"),
        answer=1,
        finding="The same bars stand over other numbers: before, they ran from 0 to 7.4, now they run from −1.0 to "
        "6.5. The mean is 0 and the spread 1, and nothing else has changed.",
    ),
    "who_moves": Question(
        prompt="One of the 12 words is exchanged. How many of the 12 tokens come out changed: with layer norm, with a "
        "norm over the whole sequence, with batch norm?",
        choices=("1, 1 and 1", "1, 3 and 6", "1, 4 and 12", "12, 4 and 1"),
        answer=2,
        finding="Layer norm changes 1 token, the new word itself. A norm over the sequence changes its 4 tokens. Batch "
        "norm changes all 12, also those of sequences that the word does not stand in.",
    ),
    "rms_mean": Question(
        prompt="We add 100 to each of the six numbers of a token. What does RMS norm give?",
        choices=("what it gave before", "what it gave before, 100 higher", "six numbers that are all nearly 1"),
        answer=2,
        finding="All six lie between 0.98 and 1.04. Nearly all of the mean square is now the square of the mean, so "
        "each number is divided by about 105.",
    ),
    "norm_learns": Question(
        prompt="Twelve layers without a norm, trained from three different starts. Which of them get more than 90 % "
        "right?",
        choices=("all three", "only the one drawn as PyTorch draws", "only the one × √6", "only the one × 10"),
        answer=2,
        finding="Only × √6, the factor at which a layer roughly keeps the size. With a norm behind each layer all "
        "three starts get there, or close.",
    ),
    "shuffle": Question(
        prompt="If we shuffle the words, will the output for dog change?",
        choices=("yes, a lot", "yes, a little", "not at all"),
        answer=2,
        finding="Dog’s row has moved to the other end, and none of its numbers has changed: a weighted mean does not "
        "care how its terms are ordered.",
    ),
    "distance": Question(
        prompt="Take the dot product of positions 5 and 9, and that of positions 105 and 109. Which one is larger?",
        choices=("5 and 9", "105 and 109", "they are equal"),
        answer=2,
        finding="The two curves lie on each other. Each clock contributes the cosine of the angle between its two "
        "hands, and the distance alone decides that angle.",
    ),
    "learned_table": Question(
        prompt="One matrix for five steps, found on MiniLM’s positions 1 to 128 and tried on 129 to 256. How much does "
        "it leave unexplained there?",
        choices=("nothing, as with the sinusoids", "less than a tenth", "about a half", "about all of it"),
        answer=1,
        finding="6 % is left. Twenty walks leave more, a third in the median, and of the same rows in a random order "
        "the best matrix explains nothing.",
    ),
    "scale": Question(
        prompt="The small encoder learns from embeddings as they are drawn, then from embeddings 8 times as large; the "
        "sinusoids stay as they are. As drawn, it writes 98 % of the letters right. How many does it with the larger "
        "ones?",
        choices=("more than 98 %", "about as many", "about half of them", "about as many as by guessing"),
        answer=3,
        finding="A guess is right in 10 of 100 cases, and so, about, is this model. Positions an eighth as large do "
        "harm as well: what counts is how loud they are beside the words.",
    ),
    "mirror": Question(
        prompt="Sinusoids, rotary, ALiBi: which of them cannot tell man bites dog from dog bites man?",
        choices=("none: each can", "sinusoids", "rotary", "ALiBi"),
        answer=3,
        finding="Read backwards, a sentence keeps all its distances, and ALiBi knows nothing but distances.",
    ),
    "longer": Question(
        prompt="Each model was trained to copy the letter three places back, on texts of 16 letters. Which of them "
        "copies at the 55th letter of a longer text?",
        choices=(
            "the one with sinusoids: its table has no end",
            "the one with rotary positions",
            "both of them",
            "none of them",
        ),
        answer=1,
        finding="Rotary stays at 100 %; sinusoids fall to a fifth on average after the 16 places of the training, "
        "where the learned table ends.",
    ),
    "positions_rung": Question(
        prompt="We add learned positions to the embedding. How many of the answers does the model get right now?",
        choices=("as many as a guess: 12.5 %", "about a quarter", "about half", "nearly all"),
        answer=0,
        finding="Each card knows where it stands, and none can look at another one.",
    ),
    "without_residual": Question(
        prompt="How alike are the thirteen vectors that come out, compared with those that went in?",
        choices=("as different as before", "somewhat more alike", "nearly all the same"),
        answer=2,
        finding="On the left the tokens have little in common. On the right every two of them have a cosine near 1: "
        "one vector, thirteen times. A fresh attention looks at all tokens about equally, so each gets about the same "
        "mean.",
    ),
    "head_three": Question(
        prompt="Head 3 of MiniLM’s first layer, on “The cat sat on the mat because it was tired.”: whom does each "
        "token look at?",
        choices=("at itself", "at the token before it", "at [CLS]", "at words that mean something similar"),
        answer=1,
        finding="Each token looks at the one before it, with a weight of 0.99 or more, and [CLS], which has none "
        "before it, at itself.",
    ),
    "pre_norm_length": Question(
        prompt="Twelve fresh blocks with their norms on the branches. How long is a token’s vector after the last one, "
        "compared with the beginning?",
        choices=("shorter", "as long: there are 24 norms", "longer"),
        answer=2,
        finding="Longer, by about a third to a half. On the way from bottom to top there is no norm at all: every "
        "branch adds something, and nothing cuts the sum back. With post-norm the length is 8 after every block.",
    ),
    "residual_alone": Question(
        prompt="Attention with a plus sign around it, and no feed-forward network. How many answers are right?",
        choices=("as many as by a guess: 12.5 %", "about half", "about three quarters", "nearly all"),
        answer=1,
        finding="About half: as many as attention alone. The card’s own case is there now, beside the letter, and "
        "a linear map cannot make the one act on the other.",
    ),
    "loud_cards": Question(
        prompt="Embeddings ten times as large. What becomes of the two models, without norms and with?",
        choices=(
            "both still learn it",
            "without norms it stays far below, with norms it learns",
            "with norms it stays far below, without norms it learns",
            "both stay far below",
        ),
        answer=1,
        finding="As drawn, both are right nearly always. Ten times as large, only the model with norms is; the one "
        "without is stuck at 38 % with this seed, and with two others at 38 and 58 %.",
    ),
    "saturate": Question(
        prompt="With K = 512 and without the division by √K: how much of its weight does a query give to the one key "
        "that it likes best?",
        choices=("2 %, an even share", "about 10 %", "about half", "more than 80 %"),
        answer=3,
        finding="Not divided, the largest weight climbs with K, from less than a fifth at K = 2 to more than 80 % "
        "at K = 512. Divided by √K it stays near 10 % throughout.",
    ),
    "zero_vector": Question(
        prompt="We add two tokens of padding to a sentence of three words. Their vectors are zero in every number, and "
        "so are their keys and values. What happens to the outputs of the three words?",
        choices=("nothing: zeros add nothing", "they shrink", "they grow"),
        answer=1,
        finding="Each output is shorter than alone, by the very share that its word spends on padding. A key of zeros "
        "has the score 0, and a softmax gives the score 0 its share, since e⁰ is 1. Zero is not nothing.",
    ),
    "one_look": Question(
        prompt="A guess is right in 12.5 %. One head is trained for 400 steps on both questions at once: how many "
        "answers are right?",
        choices=("nearly all, on both", "about half, on both", "nearly all on one, few on the other"),
        answer=2,
        finding="One question is answered nearly always, the other in about a quarter of the cases. A row of weights "
        "has 1 to spend, and this head spends it in one place. The quarter is luck: one arrow in seven points left, "
        "and an eighth of the others is right by chance.",
    ),
    "trophy": Question(
        prompt="The it of “too big” and the it of “too small” mean two things to you. How alike are the two vectors "
        "that MiniLM gives them?",
        choices=(
            "less than the river bank and the bank with the rates, 0.84",
            "between 0.84 and 0.97",
            "more than two banks of a river, 0.97",
        ),
        answer=2,
        finding="0.997: more alike than two banks of a river, and no less than with large, a word that changes "
        "nothing about what it means.",
    ),
    "ladder_attention": Question(
        prompt="A card can now look at the card that its arrow points at. What is the share of right answers?",
        choices=("still 12.5 %", "about 35 %", "about 50 %", "nearly 100 %"),
        answer=2,
        finding="About one half. The letter is found, but not whether to swap its case: between a small letter and its "
        "capital the model tosses a coin.",
    ),
    "no_bend": Question(
        prompt="Both networks have 16 hidden units and are trained alike to follow a wave, one with its bend and one "
        "without. What does the one without draw?",
        choices=("the wave, a little less well", "a zigzag", "a straight line"),
        answer=2,
        finding="A straight line. The network with its bend follows the wave. Without it, 500 steps have done no more "
        "than to find the line that lies best.",
    ),
    "three_hinges": Question(
        prompt="Add up the three: one upward hinge at −1, twice a downward one at 0, one upward hinge at 1. What does "
        "their sum look like?",
        choices=("a straight line", "a staircase", "one peak, and flat on both sides", "a wave that goes on"),
        answer=2,
        finding="One peak of height 1 at x = 0. Left of −1 all three are zero, and right of 1 their slopes, 1, −2 and "
        "1, cancel.",
    ),
    "silent_unit": Question(
        prompt="A hidden unit begins with a sum below zero at every x. After 300 steps of training, once with ReLU and "
        "once with GELU: has its largest sum changed?",
        choices=("with both", "with ReLU only", "with GELU only", "with neither"),
        answer=2,
        finding="With ReLU the largest sum is what it was, in every digit, with each of the three seeds. With GELU it "
        "has changed each time: once it came above zero, once close to it, and once it went further down.",
    ),
    "ladder_feed_forward": Question(
        prompt="Attention with one head, then a feed-forward network with 128 hidden units, 400 steps, from three "
        "random beginnings. What is the share of right answers?",
        choices=("more than 95 %, all three times", "about 75 %, all three times", "about 50 %, at least twice"),
        answer=2,
        finding="About 50 % with two of the three seeds, as with attention alone, and 81 % with the third. A bend that "
        "could decide is there, and mostly it does not help.",
    ),
    "six_heads": Question(
        prompt="The same file, with six heads where it was trained with twelve, and nothing else changed. How does "
        "the vector of our sentence come out?",
        choices=(
            "it has nothing to do with the right one: a cosine near 0",
            "much like the right one: a cosine of about 0.8",
            "nearly the right one: a cosine of 0.99 or more",
        ),
        answer=1,
        finding="The cosine with the right vector is 0.80: wrong, and near enough to be believed. All four mistakes "
        "loaded without a word.",
    ),
    "turns_over": Question(
        prompt="At the end the recipe is nearer to the cake than the cage is, 0.35 against 0.21. Follow the two "
        "cosines up: from where on is the recipe ahead?",
        choices=(
            "from the entrance on, before the first layer",
            "from the middle, after layer 3",
            "only after layer 6, the last one",
        ),
        answer=2,
        finding="Only the last layer turns it over: after layer 5 the cage still leads, with 0.79 against 0.70.",
    ),
    "eight_triples": Question(
        prompt="Eight such triples. After the last layer, in how many of them does the sentence on the same topic "
        "lead over the one with the same words?",
        choices=("in one or two", "in four", "in all eight"),
        answer=1,
        finding="In four of eight. For the cake and the plant the last layer alone turns it over, for the loan and the "
        "bass it happens in the middle, and the other four end with the words ahead. What all eight share is the "
        "direction: the topic stands better at the end than at the entrance.",
    ),
    "favourites": Question(
        prompt="Each of the 72 heads has a favourite: the token that gets the most weight. Which one is it in most "
        "heads?",
        choices=("it differs too much to say", "cat, the subject", "tired, the point of it", "[CLS], which is no word"),
        answer=3,
        finding="In 65 of 72 heads it is [CLS]. An even share would be 0.08; [CLS] gets 0.48, about half of all the "
        "weight that this model has to give.",
    ),
    "erasure": Question(
        prompt="In each sentence we take away the token that gets the most weight, averaged over all heads ([CLS] and "
        "[SEP] apart). Compared with taking away any token at random, how far does the sentence’s vector move?",
        choices=("less far", "about as far", "about twice as far", "about three times as far"),
        answer=3,
        finding="About three times as far as any token at random. That is four fifths of the ceiling, which no rule "
        "can beat.",
    ),
    "whisper": Question(
        prompt="Without residual connections: how much of the gradient that the last of 32 networks gets is left "
        "before the first one?",
        choices=(
            "about a half",
            "about a thousandth",
            "about a millionth",
            "less than a billionth of a billionth",
        ),
        answer=3,
        finding="Less than 0.000 000 000 000 000 000 01 of it: the lower line falls by twenty powers of ten. With "
        "residual connections about twice as much arrives as was sent.",
    ),
    "deepen": Question(
        prompt="Thirty-two layers against two, before any training: which of the four gradients is left with the "
        "smallest share?",
        choices=(
            "post-norm’s first layer",
            "post-norm’s last layer",
            "pre-norm’s first layer",
            "pre-norm’s last layer",
        ),
        answer=3,
        finding="Pre-norm’s last layer, with 0.47. The first layers keep 0.61 and 0.92, and post-norm’s last one "
        "nearly all.",
    ),
    "order": Question(
        prompt="Ten layers, a learning rate of 0.01 from the first step on. Which order learns to reverse eight "
        "symbols within 60 steps?",
        choices=("post-norm", "pre-norm", "both", "neither"),
        answer=1,
        finding="Pre-norm answers all, post-norm guesses. The cosine of two tokens is near 0 in the one and 1 in the "
        "other.",
    ),
    "hops": Question(
        prompt="One layer does one hop. Which of the three tasks do two layers do, with nearly all answers right?",
        choices=("1 hop alone", "1 hop and 2 hops, not 3", "all three"),
        answer=2,
        finding="All three. One layer manages one hop and gets about a third of the others; two layers manage "
        "three hops as well as one.",
    ),
    "two_cards": Question(
        prompt="In both layers no card may look at the first card of its way; at all others it may. How many answers "
        "are right?",
        choices=("nearly all", "about a half", "about a quarter", "as many as a guess gets, one in eight"),
        answer=2,
        finding="About a quarter, and the same without the second card. These two alone suffice for nearly all.",
    ),
    "across": Question(
        prompt="Two words of one sentence: their mean cosine climbs from 0.06 at the entrance to 0.46 after the last "
        "layer. And two words of different sentences?",
        choices=(
            "it stays near 0",
            "it climbs too, up to the end",
            "it climbs too, and falls in the last layer",
        ),
        answer=2,
        finding="It climbs too, to 0.22 after the fifth layer, and falls to 0.04 in the last. After the first layer "
        "the two are 0.17 and 0.16: a common direction, which has nothing to do with the sentence.",
    ),
    "crossing": Question(
        prompt="From how many tokens on do the products of tokens with tokens cost more than the six linear maps?",
        choices=("256", "384", "768", "2,304"),
        answer=3,
        finding="2,304, which is 2D + F. Two straight lines, one twice as steep as the other, cross there.",
    ),
    "few": Question(
        prompt="Both models end up with every answer right on the rows that they learned from. How many answers does "
        "the model with eight rows get right on held-out ones?",
        choices=("nearly all", "about half", "hardly more than a guess, one in ten"),
        answer=2,
        finding="About 17 %, where a guess among ten letters gets 10. The model with 64 rows answers them all.",
    ),
    "brackets": Question(
        prompt="How much of their weight do the eight heads give to the partner, each on average?",
        choices=("one of them nearly all", "one of them more than half", "none of them as much as half"),
        answer=2,
        finding="The most that a head gives is 15 %, and on average it is 9 %, where an even look would give 6 %.",
    ),
    "forbidden": Question(
        prompt="Which of the three places costs the most answers, when no bracket may look there?",
        choices=("the partner", "the place with most weight", "the place drawn at random", "all about the same"),
        answer=0,
        finding="Without the partner about 55 % are left; without the place with most weight 65 %; without a random "
        "one 93 %.",
    ),
    "more_steps": Question(
        prompt="Train the model with norms twice as long, for 400 steps. How many of its answers are right then?",
        choices=("about half, as before", "about three quarters", "nearly all"),
        answer=2,
        finding="Nearly all: 51 % after 200 steps, 99 % after 400.",
    ),
    "scores_memory": Question(
        prompt="A sentence of 512 tokens goes through an attention of MiniLM: 384 numbers for each token, 12 heads. "
        "How much memory do the scores of all heads take, compared with the vectors of the tokens?",
        choices=("a tenth of it", "about as much", "four times as much", "16 times as much"),
        answer=3,
        finding="At 512 tokens the scores take 12.58 MB and the vectors 0.79 MB, so 16 times as much. At 16 tokens it "
        "was half as much: with T the vectors grow as T, the scores as T².",
    ),
    "online_total": Question(
        prompt="In the first piece the largest score was 3, and everything was measured against that. Now the second "
        "piece brings a 5. What has to be done with the old total before the new powers are added to it?",
        choices=(
            "nothing: a sum is a sum",
            "multiply it by e to the 5 − 3",
            "multiply it by e to the 3 − 5",
            "throw it away and begin again",
        ),
        answer=2,
        finding="The total of the whole row is 1.2034, and only e to the 3 − 5 gives it. Each old power had 3 "
        "subtracted in its exponent; the factor subtracts the 2 that are missing to 5.",
    ),
    "padding_batch": Question(
        prompt="32 sentences, drawn at random from the manual of Python’s library, are padded to the longest of them. "
        "How much of the batch is padding?",
        choices=("about 10 %", "about 20 %", "about 40 %", "about 60 %"),
        answer=3,
        finding="About 60 %, the dark part. Most sentences are short, and one long one is enough to fill all others up "
        "to its length.",
    ),
    "uncut": Question(
        prompt="Nobody has cut the strip, and attention takes it for one long sentence. Whose vectors come out "
        "different?",
        choices=(
            "nobody’s: a layer treats each token alone",
            "those of the tokens at the seams",
            "those of the longest sentence",
            "everybody’s",
        ),
        answer=3,
        finding="Everybody’s. Each token now takes its mean over the tokens of all 32 sentences, strangers among them, "
        "and what it needs is only part of that mean.",
    ),
    "clinic_curves": Question(
        prompt="One of the two cuts is wrong. How many of the symbols does the encoder with that cut name rightly in "
        "the end?",
        choices=("a tenth, as by guessing", "about half", "nearly all"),
        answer=2,
        finding="Both curves of the loss fall from 2.4 to less than 0.1, B’s later. And both encoders then name more "
        "than 95 % of the symbols.",
    ),
    "clinic_enough": Question(
        prompt="Twenty patients, five tests. How many of the tests does it take, at the least, to notice every one?",
        choices=("one, parity", "two", "three", "all five"),
        answer=2,
        finding="Parity notices most, but not all. Together with sizes and types, and with parameters, it notices all "
        "twenty, and none of these three can be spared: each has rows with no other yellow cell.",
    ),
    "clinic_spread": Question(
        prompt="At 4 numbers the broken norm of case 20 is off by about 0.2. How far is it off at 512?",
        choices=("by about 0.2 as well", "by about 0.005", "by less than 0.000001"),
        answer=1,
        finding="The error falls from 0.2 at width 4 to 0.005 at 512: on numbers that reach about 5, that is a "
        "thousandth.",
    ),
    "blocks_exchanged": Question(
        prompt="Blocks 3 and 4 of MiniLM change places, in the middle of six. What cosine do the vectors that come out "
        "have with the right ones, in the mean?",
        choices=("about 0: nothing of them is left", "about 0.4", "about 0.9: hardly anything has changed"),
        answer=2,
        finding="It is 0.92: two blocks of the middle change places, and the vectors hardly notice. The first two, "
        "exchanged, leave 0.78, the last two 0.54; with the first in the last one’s place it is 0.20.",
    ),
    "man_bites_dog": Question(
        prompt="“The dog bit the man” and “The man bit the dog”: what is the cosine of their vectors?",
        choices=("below 0.5: it is another story", "about 0.8", "above 0.95"),
        answer=2,
        finding="It is 0.98: for this model the two say nearly the same. With an apple in the dog’s place it is 0.49.",
    ),
}


def predict(name: str, show: Callable[[], Any] | None = None) -> Prediction:
    """Ask the question `name` of `QUESTIONS`; what `show()` gives (see `Prediction`) is seen after the commitment.

    Raises KeyError for a name that is not there, TypeError for a `show` that is no function or gives nothing to see.
    """
    if not isinstance(name, str) or name not in QUESTIONS:
        raise KeyError(f"name: expected one of {sorted(QUESTIONS)}, got {expect.shown(name)}")
    return Prediction(QUESTIONS[name], show)
