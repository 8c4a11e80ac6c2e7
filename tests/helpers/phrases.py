"""What would give the answer of each question away, and where questions are asked."""

import ast
import re

from encoder_lib.course.kit.questions import QUESTIONS

# question -> what would give its answer away, as regular expressions; they are looked for without regard to capitals
PHRASES = {
    "part": (
        r"0\.31",
        r"0\.9[24]",
        r"first thing that differs",
        r"(part|come apart) at (the|their) first look",
        r"comes from the neighbours",
    ),
    "alone": (
        r"never (part|come apart)",
        r"equal vectors stay equal",
        r"stay together",
        r"they are the same vector",
        r"0\.79",
    ),
    "banks": (r"0\.87 between", r"on the wrong side", r"fifteen(\.| of)"),
    "without": (r"as many as before", r"two thirds or fewer", r"without norm half"),
    "blank": (r"whatever (the table holds|stands there)", r"equal rows", r"much in common"),
    "opposite": (r"0\.\d\d, in other", r"opposite has", r"cosine stays high", r"two texts agree"),
    "alike": (r"flour comes first", r"finds the flour", r"0\.54", r"topic leads"),
    "parts": (r"more than half", r"11[.,]7", r"needed whole", r"table of words (holds|has) "),
    "gradient": (r"cat and sees", r"three rows", r"is left out", r"dog is looked up twice", r"in the sum twice"),
    "forgotten": (
        r"above 300",
        r"gradients? (add|pile) up",
        r"rises far",
        r"repeats all earlier",
        r"longer and longer",
    ),
    "kinds": (r"four bundles", r"from run to run", r"side by side share", r"each kind, in another place", r"left open"),
    "own_card": (r"looks anywhere", r"one card at a time", r"no better than a guess", r"as many as a guess"),
    "shuffle": (
        r"not at all",
        r"gone with",
        r"in the last row",
        r"permutation equivarian",
        r"not care how",
        r"not care in which",
        r"outputs, shuffled",
    ),
    "distance": (
        r"less and less",
        r"out of step",
        r"depends? only on",
        r"drops out",
        r"distance alone",
        r"wherever the pair",
    ),
    "scale": (r"no longer guesses", r"both reasons", r"drown(ed)? all the same", r"get only what quiet"),
    "mirror": (r"keeps all its distances", r"nothing but distances", r"alibi alone"),
    "longer": (
        r"rotary stays",
        r"fall to a fifth",
        r"rotary carries on",
        r"rotary copies",
        r"there is a winner",
        r"four times the length",
    ),
    "twelve_layers": (
        r"0\.4\b",
        r"millionth",
        r"less than a thousandth",
        r"leaves about 0\.4",
        r"0\.00015",
        r"0\.0{5,}",
        r"(words|outputs|vectors) are (equal|the same)",
    ),
    "norm_or_factor": (r"whatever the factor", r"both with layer norm", r"lines lie on each other", r"0\.59\b"),
    "bare_minilm": (r"one vector", r"all near 1", r"above 0\.99", r"size is not enough"),
    "outlier": (r"about 20\b", r"pattern (stays|is what)", r"still stands out"),
    "norm_learns": (
        r"only × (√6|\$)",
        r"from all three",
        r"has to be hit",
        r"every start will do",
        r"factor cancels",
        r"without subtracting",
    ),
    "wrong_dim": (r"nothing crashes", r"more than 1 to spend", r"no error tells"),
    "saturate": (
        r"more than 80",
        r"climbs with K",
        r"but its largest",
        r"takes nearly all",
        r"stays near 10",
        r"not even out",
        r"sums? gets? larger",
        r"hundred and fifty",
        r"one word alone",
    ),
    "zero_vector": (r"they shrink", r"e\^0", r"e⁰", r"zero is not nothing", r"shorter than alone", r"gets its share"),
    "trophy": (r"looks where it looked", r"0\.23\b", r"by a hundredth", r"with either word"),
    "one_look": (r"about a quarter", r"spends it in one place", r"one arrow in seven", r"nearly all on one"),
    "no_bend": (r"0\.5 to (all|each)", r"half a capital"),
    "one_token": (r"mixes two rows", r"each place alone", r"position-wise", r"moves all four", r"other three where"),
    "silent_unit": (r"dead unit", r"no gradient", r"speaks again", r"in every digit", r"stays silent"),
    "ladder_feed_forward": (r"seven of eight", r"\b81\.\d|\b81 %", r"nearly (every|all) seed", r"mostly it does not"),
    "without_residual": (r"one vector, thirteen", r"copies of", r"little in common", r"looks at all tokens"),
    "cls_normed": (r"quietest", r"0\.42", r"0\.41", r"8\.1"),
    "pre_norm_length": (
        r"within a hundredth",
        r"as much into a large",
        r"beside 10",
        r"would have written",
        r"stays loud",
    ),
    "ladder_residual": (r"are enough", r"gives the network the card", r"near one half", r"it takes both"),
    "loud_cards": (r"only the model with norms", r"stays far below\.", r"norms buy", r"independence of scale"),
    "ladder_attention": (r"one half", r"toss", r"about 50 %", r"\b50\.\d ?%", r"the letter is found", r"can do more"),
    "deep": (r"with post-norm (learn|fail|guess|get)", r"layers guess", r"depth has a part", r"not too deep"),
    "arrives": (r"training has stopped", r"tokens (have become )?one", r"did come down, through"),
    "hops": (r"all three\b", r"two layers (followed|manage|reach)", r"where does the third"),
    "single_look": (r"answers are (lost|left)", r"does not need", r"the letter of stop 3", r"three are needed"),
    "across": (r"0\.22", r"falls to 0\.04", r"anisotrop", r"common direction"),
    "tables": (r"passes three", r"stays ahead of so", r"still rises", r"stay ahead of it"),
    "one_side": (r"half as many", r"hardly matters which side"),
    "forbidden": (r"at least three quarters of it", r"few right answers hang", r"without the four nearest fewer"),
    "more_seeds": (r"all six\.", r"some 35 gaps"),
    "mistakes": (r"0\.80", r"0\.57", r"most harm"),
    "misread": (r"wrong with wrong", r"wrong \*together", r"the same directory", r"cosines? of 0\.81"),
    "pairs": (r"\*larger\* cosines", r"0\.67 to 0\.71", r"loss is nearer", r"leads its row"),
    "parking": (r"a tenth", r"next to nothing", r"hands out nothing", r"\bsink\b", r"\bparks?\b"),
    "shuffled_rows": (r"follows the rows", r"the address before", r"addresses alone"),
    "winograd": (r"nine to eleven", r"eleven in the best", r"cannot be told from luck", r"ten of twelve"),
    "blocks_exchanged": (
        r"0\.92",
        r"can (even )?be missing",
        r"0\.9\b",
        r"stay near",
        r"the middle",
        r"change places, and",
    ),
    "neighbours_kept": (r"12 with", r"eight of (the )?20", r"lose their nearest", r"suffers no more"),
    "without_positions": (r"a quarter", r"a third", r"lies there", r"cannot be found"),
    "clinic_curves": (r"less than 0\.1", r"95 %", r"both (encoders|cuts) (learn|then)", r"a little later"),
    "clinic_padding": (r"2\d %", r"(fewer|less) than half", r"wrong all along", r"still names"),
    "clinic_parity": (r"misses patient", r"float64 alone", r"cannot be copied", r"compares nothing"),
    "crossing": (r"2,304", r"2304", r"2d \+ f", r"one ninth"),
    "bill": (r"rectangle may win", r"takes longer than", r"four times (as many|the)", r"one at a time is"),
    "attention_time": (r"more than a tenth", r"leaves out the softmax", r"share by your clock"),
    "online_total": (
        r"1\.2034",
        r"one factor",
        r"missing to 5",
        r"e to the 3 − 5",
        r"shrink",
        r"online softmax",
        r"such a factor",
        r"first factor",
    ),
    "padding_batch": (
        r"(?<!\d)(71|7\d) %",
        r"three quarters",
        r"one long (one|text)",
        r"(most|half) of the tokens",
    ),
    "uncut": (
        r"everybody",
        r"strangers",
        r"all 16 texts",
        r"every (token|vector) (changes|comes out)",
        r"whole strip",
    ),
}


def asked(cell):
    """The questions that a cell asks, by name, and whether each has something to show."""
    if cell.cell_type != "code" or "predict(" not in cell.source:
        return
    for node in ast.walk(ast.parse(cell.source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "predict":
            yield ast.literal_eval(node.args[0]), len(node.args) + len(node.keywords) > 1


def answers_in(text, name):
    """The phrases in a text that give an answer away; the answer's own words too, where no other choice stands."""
    for phrase in PHRASES.get(name, ()):
        if found := re.search(phrase.casefold(), text):
            yield found.group()
    choices = [normal(choice) for choice in QUESTIONS[name].choices]
    answer = choices.pop(QUESTIONS[name].answer)
    if len(answer.split()) > 2 and answer in text and not any(other in text for other in choices):
        yield answer


def normal(text):
    """A text in small letters, with single spaces."""
    return " ".join(text.split()).casefold()
