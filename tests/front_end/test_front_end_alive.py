"""The encoder's picture: where things are, what is said, and what the reader's hands ask of the model."""

import itertools
import random

import pytest

pytestmark = pytest.mark.browser
DRAW = random.Random(0)
RIVER, BIG = "The river bank was flooded.", "The big bank raised its interest rates."

# A model without weights: tokens are words, every token attends most to the one before, and two vectors of the word
# part in the attention of layer 1, unless that is out or all of it is cut.
STUB = """
window.asked = [];
window.answerOf = ({texts, word: wanted, cuts, knockouts, detail}) => {
  const [L, H, K] = [3, 2, 4];
  const split = texts.map((text) => ['[CLS]', ...text.toLowerCase().match(/[a-z<>]+|[.]/g), '[SEP]']);
  const common = split[0].filter((t) => /^[a-z]+$/.test(t) && split.every((tokens) => tokens.includes(t)));
  const word = common.includes(wanted) ? wanted : (common.toSorted((a, b) => b.length - a.length)[0] ?? '');
  const out = (part, n) => knockouts.some((k) => k.part === part && (k.layer === null || k.layer === n));
  const cut = (side, n, h, q, k) => cuts.some((c) => c.side === side && c.query === q && c.key === k
    && (c.layer === null || c.layer === n) && (c.head === null || c.head === h));
  const sentences = split.map((tokens, side) => {
    const T = tokens.length;
    const kept = (n, h, q, k) => !out('attention', n) && !cut(side, n, h, q, k);
    const weight = (n, h, q, k) => !kept(n, h, q, k) ? 0 : k === q - 1 ? 0.7 + 0.1 * h : 0.3 / T;
    const fill = (size, value) => Float32Array.from({length: size}, (_, i) => value(i));
    const at = (i) => [Math.floor(i / T / T), Math.floor(i / T) % T, i % T];
    const all = Array.from({length: L}, (_, n) => fill(H * T * T, (i) => weight(n, ...at(i))));
    const changed = cuts.length + knockouts.length > 0;
    return {
      tokens, place: tokens.indexOf(word), weights: all,
      arriving: all.map((w) => fill(T * T, (i) => 2 * (w[i] + w[T * T + i]))),
      values: all.map(() => fill(H * T, () => 2)), kept: fill((2 + 2 * L) * T, () => changed ? 0.9 : 1),
      detail: detail && {layer: detail[0], head: detail[1], query: fill(T * K, Math.sin), key: fill(T * K, Math.cos),
        value: fill(T * K, Math.sin), mixed: fill(T * K, Math.cos),
        scores: fill(T * T, (i) => i % T === 0 ? -Infinity : 3 * Math.sin(i))},
    };
  });
  const two = sentences.length === 2 && sentences.every(({place}) => place >= 0);
  const cosine = (attention, i) => i < 2 || !attention ? 1 : 0.95 - 0.01 * i;
  const cosines = (attention) => Float32Array.from({length: 2 + 2 * L}, (_, i) => cosine(attention, i));
  return {
    layers: L, heads: H, word, sentences, common,
    word_cosines: two ? cosines(!out('attention', 0)) : null,
    sentence_cosine: split.length > 1 ? (knockouts.length ? 0.5 : 0.4) : null,
  };
};
window.wait = (time) => new Promise((done) => setTimeout(done, time));
window.show = async ({alive}, {texts, options, width = 900, recorded}) => {
  const root = document.createElement('section');
  document.body.replaceChildren(root);
  root.style.width = `${width}px`;
  window.asked = [];
  const compute = async (question) => { asked.push(structuredClone(question)); return answerOf(question); };
  const question = {texts, word: 'bank', cuts: [], knockouts: [], detail: null};
  const answer = recorded === undefined ? undefined : {...answerOf(question), recorded};
  const picture = alive.mount(root, {compute, question, options, answer});
  await wait(50);
  window.root = root;
  window.picture = picture;
  window.find = (selector) => root.querySelector(selector);
  window.story = () => find('.alive-story').textContent;
  window.click = async (selector) => {
    find(selector).dispatchEvent(new MouseEvent('click', {bubbles: true}));
    await wait(20);
  };
  window.key = async (name) => {
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true, cancelable: true}));
    await wait(20);
  };
};
"""


@pytest.fixture(scope="module")
def page(modules):
    """The modules, with the model and the helpers above; nothing moves by itself."""
    modules.page.emulate_media(reduced_motion="reduce")
    modules.page.evaluate(STUB + "0")
    return modules


def shown(page, script, texts=(RIVER, BIG), **given):
    """What a script finds after the picture of some texts has been drawn."""
    options = {"sentences": len(texts), "open": None, "predict": False} | given.pop("options", {})
    argument = {"texts": list(texts), "options": options, **given}
    return page.run(f"async (modules, given) => {{ await show(modules, given); {script} }}", argument)


# ---- Where things are ----


def any_plan():
    """A width, the widths of words of one sentence or two, how far layers are open, and which sentence is shown."""
    words = [[DRAW.uniform(4, 90) for _ in range(DRAW.randint(3, 64))] for _ in range(DRAW.randint(1, 2))]
    open_ = [0.0] * DRAW.randint(1, 12)
    open_[DRAW.randrange(len(open_))] = DRAW.choice([0, 0.5, 1])
    return {"width": DRAW.uniform(300, 1400), "words": words, "open": open_, "side": DRAW.randrange(len(words))}


CASES = [any_plan() for _ in range(300)]


@pytest.fixture(scope="module")
def plans(page):
    return page.call("alive_layout.js", "planOf", [[case] for case in CASES])


def test_lanes_stand_side_by_side_between_names_and_edge(plans):
    for case, plan in zip(CASES, plans, strict=True):
        lanes = [lane for side in plan["sides"] for lane in plan["lanes"][side]]
        assert len(lanes) == sum(len(case["words"][side]) for side in plan["sides"])
        assert lanes[0]["x"] - lanes[0]["width"] / 2 >= plan["gutter"] - 1e-6
        for left, right in itertools.pairwise(lanes):
            assert right["x"] - left["x"] >= (left["width"] + right["width"]) / 2 - 1e-6
        assert all(lane["width"] >= 17 - 1e-6 for lane in lanes) or not plan["turned"]
        assert lanes[-1]["x"] < plan["right"] + 1e-6 < plan["width"] + 1e-6


def test_words_overlap_only_where_they_are_turned(plans):
    for case, plan in zip(CASES, plans, strict=True):
        for side in plan["sides"]:
            fits = [lane["width"] > word for word, lane in zip(case["words"][side], plan["lanes"][side], strict=True)]
            assert all(fits) or plan["turned"]


def test_a_narrow_page_or_long_sentences_show_one_tower(plans):
    for case, plan in zip(CASES, plans, strict=True):
        if len(case["words"]) == 1:
            assert plan["sides"] == [0]
        else:
            assert plan["sides"] in ([0, 1], [case["side"]])
            assert case["width"] >= 680 or plan["sides"] == [case["side"]]


def test_everything_rises_without_a_gap(plans):
    """Stations follow each other from the embedding to the top, and layers touch."""
    for case, plan in zip(CASES, plans, strict=True):
        assert len(plan["stretches"]) == len(plan["bends"]) == 2 + 2 * len(case["open"])
        assert plan["stretches"][0][0] == plan["table"]["y"] and plan["stretches"][-1][2] == plan["top"]
        for (_, _, high), (low, _, _) in itertools.pairwise(plan["stretches"]):
            assert high == low
        assert all(low >= branch >= high for low, branch, high in plan["stretches"])
        for layer in plan["layers"]:
            parts = [layer[name] for name in ("plus1", "gate1", "plus2", "gate2", "end")]
            heights = [layer["begin"], *layer["ribbons"], *parts]
            assert heights == sorted(heights, reverse=True)
        for below, above in itertools.pairwise(plan["layers"]):
            assert below["end"] - above["begin"] == pytest.approx(3)


def test_an_open_layer_takes_room_and_the_others_give_way(page):
    words = [[30.0] * 6]
    closed, opened = page.call(
        "alive_layout.js",
        "planOf",
        [[{"width": 900, "words": words, "open": states, "side": 0}] for states in ([0, 0, 0], [0, 1, 0])],
    )
    sizes = [[layer["begin"] - layer["end"] for layer in plan["layers"]] for plan in (closed, opened)]
    assert sizes[1][1] > sizes[0][1] + 200 and sizes[1][0] < sizes[0][0] and sizes[1][2] < sizes[0][2]


def test_play_passes_every_station_once(page, plans):
    stations = page.run(
        """({ alive_layout }, plans) => plans.map((plan) => Array.from({ length: 400 }, (_, i) =>
          alive_layout.stationAt(plan, alive_layout.frontOf(plan, i / 399))))""",
        plans[:30],
    )
    for case, passed in zip(CASES[:30], stations, strict=True):
        assert [station for station, _ in itertools.groupby(passed)] == list(range(3 + 2 * len(case["open"])))


# ---- What the numbers mean ----


def test_the_gap_of_the_strands_is_the_distance_of_the_vectors(page):
    cosines = [1, 0.5, 0, -1, 1.0000001]
    assert page.call("alive_layout.js", "distanceOf", [[c] for c in cosines]) == pytest.approx([0, 1, 2**0.5, 2, 0])
    strands = shown(
        page,
        """return [...root.querySelectorAll('.alive-strand')].map((path) => {
          const [x] = path.getAttribute('d').match(/[\\d.]+(?= [\\d.]+V)/);
          return Number(x);
        })""",
    )
    gaps = [right - left for left, right in zip(strands[::2], strands[1::2], strict=True)]
    expected = [0, 0, *(100 * (2 - 2 * (0.95 - 0.01 * i)) ** 0.5 for i in range(2, 8))]
    assert gaps == pytest.approx(expected, abs=0.11)


def test_ribbons_are_as_wide_as_what_arrives_or_as_the_weights(page):
    widths = shown(
        page,
        """const ribbons = () => [...root.querySelectorAll('.alive-ribbon')];
        const width = () => ribbons().map((r) => Number(r.getAttribute('stroke-width')));
        const arriving = Math.max(...width());
        await picture.set({ measure: 'weights' });
        const weights = Math.max(...width());
        await picture.set({ measure: 'arrives', head: 1 });
        return [arriving, weights, Math.max(...width())]""",
    )
    assert widths == pytest.approx([min(22, 3.4 * 2 * 1.5), 17 * 0.75, 3.4 * 2 * 0.8], abs=0.06)


def test_what_is_longer_than_the_legend_says_gets_no_wider_ribbon(page):
    legend, widths = page.run(
        """async ({ alive_state, alive_page }) => {
          const answer = answerOf({ texts: ['a bank'], word: 'bank', cuts: [], knockouts: [], detail: null });
          answer.sentences[0].arriving[0].set([1, 4, 3000, 5000]);
          const { width } = alive_state.reachOf(answer, { open: null, head: null, measure: 'arrives' }, 0, 0);
          const root = document.createElement('section');
          alive_page.makePage(root, '');
          const legend = root.querySelector('.alive-legend .alive-attention').textContent;
          return [legend, [0, 1, 2, 3].map((k) => width(0, k))];
        }"""
    )
    assert widths[1] == pytest.approx(4 * widths[0]) and widths[2] == widths[3]
    assert legend.endswith(f"shown up to {widths[2] / widths[0]:.0f}")


def test_after_a_change_only_strands_arrows_and_ribbons_keep_their_old_selves(page):
    """The lanes have none: how far a vector has turned is said in numbers."""
    kinds = shown(
        page,
        """await picture.set({ knockouts: [{ part: 'attention', layer: null }] });
        await wait(30);
        return [...new Set([...root.querySelectorAll('.alive-in-ghosts path')].map((path) => path.classList[0]))]""",
    )
    assert sorted(kinds) == ["alive-was", "alive-was-ribbon"]


def test_on_the_way_to_another_answer_numbers_move_and_places_do_not(page):
    """The followed word is the third token in one text and the second in the other one, of as many tokens."""
    place, cosines, sentence, tokens = page.run(
        """({ alive_state }) => {
          const [one, other] = ['a river bank', 'a bank again'].map((text) => answerOf(
            { texts: [text, text], word: 'bank', cuts: [], knockouts: [], detail: null }));
          other.word_cosines.fill(0);
          const half = alive_state.between(one, { ...other, sentence_cosine: 0.25 }, 0.5);
          return [half.sentences[0].place, [...half.word_cosines], half.sentence_cosine, half.sentences[0].tokens];
        }"""
    )
    assert (place, sentence) == (2, 0.325) and tokens == ["[CLS]", "a", "bank", "again", "[SEP]"]
    assert cosines == pytest.approx([0.5, 0.5, *(0.475 - 0.005 * i for i in range(2, 8))])


# ---- What the reader does, and what is asked ----

CUT = {"side": 0, "layer": 0, "head": None, "query": 3, "key": 2}


def test_a_click_on_a_ribbon_cuts_it_and_a_second_one_mends_it(page):
    questions, marks = shown(
        page,
        """await click('.alive-target[data-act="ribbon 0 0 3 2"]');
        const marks = root.querySelectorAll('.alive-cross').length;
        await click('.alive-target[data-act="ribbon 0 0 3 2"]');
        return [asked.map(({ cuts }) => cuts), [marks, root.querySelectorAll('.alive-cross').length]]""",
    )
    assert questions == [[], [CUT], []] and marks == [1, 0]


@pytest.mark.parametrize(
    ("scope", "cut"), [("layer", {}), ("all", {"layer": None}), ("head", {"head": 1})], ids=["layer", "all", "head"]
)
def test_a_cut_reaches_as_far_as_the_reader_says(page, scope, cut):
    """In one head: in the one that is shown, or else in the one that brings most."""
    (asked,) = shown(
        page,
        f"""await picture.set({{ scope: '{scope}' }});
        await click('.alive-target[data-act="ribbon 0 0 3 2"]');
        return asked.at(-1).cuts""",
    )
    assert asked == CUT | cut


@pytest.mark.parametrize("part", ["attention", "residual1", "norm1", "feed_forward", "residual2", "norm2"])
@pytest.mark.parametrize(("scope", "layer"), [("layer", 0), ("head", 0), ("all", None)])
def test_a_click_on_a_name_takes_its_part_out(page, part, scope, layer):
    taken, pressed = shown(
        page,
        f"""await picture.set({{ scope: '{scope}' }});
        await click('[data-act="part {part} 0"]');
        return [asked.at(-1).knockouts, find('[data-act="part {part} 0"]').getAttribute('aria-pressed')]""",
    )
    assert taken == [{"part": part, "layer": layer}] and pressed == "true"


def test_positions_are_out_everywhere_and_all_is_restored(page):
    questions = shown(
        page,
        """await click('[data-act="part position "]');
        await click('[data-act="restore"]');
        return asked.map(({ knockouts }) => knockouts)""",
    )
    assert questions == [[], [{"part": "position", "layer": None}], []]


def test_the_buttons_below_do_the_same_as_the_ribbons(page):
    text, cuts = shown(
        page,
        """await click('.alive-feet [data-act="ribbon 1 0 3 2"]');
        await click('[data-act="mend cuts 0"]');
        return [find('.alive-feet button').textContent, asked.map((q) => q.cuts)]""",
    )
    assert text == "river3.0" and cuts == [[], [CUT | {"side": 1}], []]


def test_opening_a_layer_asks_for_its_telling_head(page):
    details, rows, closed = shown(
        page,
        """await click('[data-act="open 1"]');
        await wait(30);
        const rows = [...root.querySelectorAll('.alive-in-names text')].map((t) => t.textContent);
        await click('[data-act="open 1"]');
        return [asked.map(({ detail }) => detail), rows, root.querySelectorAll('.alive-vector').length]""",
    )
    assert details == [None, [1, 1], None] and closed == 0
    for name in ("query", "key", "value", "weighted mean"):
        assert name in rows


def test_own_sentences_drop_their_cuts_and_follow_a_common_word(page):
    question, *words = shown(
        page,
        """await picture.set({ cuts: [{ side: 0, layer: 0, head: null, query: 3, key: 2 }] });
        const input = find('[data-text="0"]');
        input.value = 'Interest rises.';
        input.dispatchEvent(new Event('input', { bubbles: true }));
        await wait(500);
        return [asked.at(-1), picture.state.word, find('[data-name="word"]').value]""",
    )
    assert question["texts"] == ["Interest rises.", BIG] and question["cuts"] == [] and words == ["interest"] * 2


@pytest.mark.parametrize("recorded", [False, True])
def test_what_was_before_is_of_the_same_model_and_word(page, recorded):
    """So it is asked again beside the first change of what was recorded, and when another word is followed."""
    asked = shown(
        page,
        """const cuts = [{ side: 0, layer: 0, head: null, query: 3, key: 2 }];
        await picture.set({ cuts });
        await picture.set({ cuts: [...cuts, { ...cuts[0], side: 1 }] });
        await picture.set({ word: 'the' });
        return asked.map((question) => [question.word, question.cuts.length])""",
        recorded=recorded,
    )
    again = [["bank", 0]] if recorded else []
    assert asked == [["bank", 1], *again, ["bank", 2], ["the", 2], ["the", 0]]


def test_only_the_newest_answer_is_shown_and_an_error_is_said(page):
    numbers, error = page.run(
        """async ({ alive }) => {
          const root = document.body.appendChild(document.createElement('section'));
          const late = [];
          const compute = (question) => new Promise((resolve, reject) => late.push({ question, resolve, reject }));
          const question = { texts: ['a bank', 'my bank'], word: 'bank', cuts: [], knockouts: [], detail: null };
          const { set } = alive.mount(root, { compute, question, answer: answerOf(question) });
          set({ knockouts: [{ part: 'attention', layer: null }] });
          set({ knockouts: [{ part: 'norm1', layer: null }] });
          late[1].resolve(answerOf(late[1].question));
          late[0].resolve(answerOf(late[0].question));
          await wait(30);
          const cosine = root.querySelector('.alive-story').textContent;
          set({ knockouts: [] });
          late[2].reject(new Error('The kernel is busy.'));
          await wait(30);
          const error = root.querySelector('.alive-error').textContent;
          root.remove();
          return [cosine, error];
        }"""
    )
    assert "cosine of 0.880" in numbers
    assert error == "The kernel is busy. The picture shows the last answer."


# ---- Predict first ----


def test_a_prediction_hides_the_strands_until_the_reader_has_marked_a_place(page):
    before, after = shown(
        page,
        """const strands = () => root.querySelectorAll('.alive-strand').length;
        const look = () => [strands(), story(), root.textContent.includes('0.8')];
        find('.alive-words').open = true;
        await wait(30);
        const before = look();
        await click('[data-act="guess 4"]');
        picture.set({ at: 1 });
        await wait(30);
        return [before, look()]""",
        options={"predict": True},
    )
    assert before[0] == 0 and before[1].startswith("Both sentences have the word “bank”") and not before[2]
    assert after[0] == 16 and after[2]


@pytest.mark.parametrize(
    ("mark", "said"), [(2, "Your mark is right."), (5, "Your mark is in the feed-forward network of layer 2.")]
)
def test_the_story_says_how_the_mark_did(page, mark, said):
    text = shown(
        page, f"await picture.set({{ asking: false, guess: {mark} }}); return story()", options={"predict": True}
    )
    assert text.startswith(said)
    assert "They part in the attention of layer 1, where “river” reaches one and “big” the other." in text


# ---- In words ----


def test_the_story_follows_what_is_out(page):
    plain, out, inside = shown(
        page,
        """const plain = story();
        await picture.set({ knockouts: [{ part: 'attention', layer: null }] });
        const out = story();
        await picture.set({ knockouts: [] });
        await click('[data-act="open 0"]');
        return [plain, out, story()]""",
    )
    assert plain.endswith("At the top, their cosine is 0.880.")
    assert out.startswith("At the top, the two “bank” now have a cosine of 1.000 (before: 0.880), and the sentences")
    assert " have 0.500 (before: 0.400)." in out
    assert inside.startswith("Layer 1, head 2: “bank” attends most to “river” (score")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("cuts: [{ side: 0, layer: 0, head: null, query: 3, key: 2 }]", "All other tokens still reach them."),
        (
            "knockouts: [{ part: 'attention', layer: null }]",
            "Only attention moves anything between tokens, so the two stay the same vector.",
        ),
        ("knockouts: [{ part: 'attention', layer: 1 }]", ""),
        ("knockouts: [{ part: 'feed_forward', layer: null }]", "Attention alone parts them."),
        (
            "knockouts: [{ part: 'residual1', layer: 1 }]",
            "What “bank” was before is lost in layer 2; only what attention brings goes on.",
        ),
        (
            "knockouts: ['norm1', 'norm2'].map((part) => ({ part, layer: null }))",
            "No norm rescales the sums: in layer 3, the first “bank” gets 3.0 from “river” (before: 3.0).",
        ),
    ],
    ids=["cut", "no attention", "no attention in one layer", "no feed-forward", "no residual connection", "no norm"],
)
def test_the_story_says_why_where_that_is_certain(page, change, why):
    said = shown(page, f"await picture.set({{ {change} }}); return story()")
    old = "Dashed lines between the towers, grey ribbons and numbers in brackets are from before."
    assert said.partition("the sentences have ")[2].partition("). ")[2] == f"{why} {old}".lstrip()


@pytest.mark.parametrize(("other", "said"), [(RIVER, "they never part"), (BIG, "they hardly part")])
def test_vectors_whose_cosine_rounds_to_1_never_part_only_in_the_same_sentence(page, other, said):
    words = page.run(
        """({ alive_words }, texts) => {
          const answer = answerOf({ texts, word: 'bank', cuts: [], knockouts: [], detail: null });
          answer.word_cosines.fill(0.9996);
          const state = { cuts: [], knockouts: [], open: null, head: null, focus: null, guess: null };
          return alive_words.story({ answer, before: answer, state });
        }""",
        [RIVER, other],
    )
    assert words.startswith(f"Both “bank” start as the same vector, and {said}.")


def test_one_sentence_has_a_story_of_its_own(page):
    story, strands, towers = shown(
        page,
        """const count = (selector) => root.querySelectorAll(selector).length;
        return [story(), count('.alive-strand'), count('.alive-feet > :not([hidden])')]""",
        texts=[RIVER],
    )
    assert "attention adds what it brings from other tokens, here to “bank”" in story and strands == 0 and towers == 1


def test_sentences_without_a_common_word_are_compared_as_a_whole(page):
    story = shown(page, "return story()", texts=["Dogs bark.", "We swim."])
    assert (
        story == "The two sentences have no word in common whose vectors could be compared. Their own cosine is 0.400."
    )


def test_play_tells_each_station(page):
    told = shown(
        page,
        """const told = new Set();
        for (let i = 0; i < 200; i++) { await picture.set({ at: i / 200 }); told.add(story()); }
        return [...told]""",
    )
    assert [text.split(":")[0] for text in told[2:8]] == [
        f"Layer {n}, {part}" for n in (1, 2, 3) for part in ("attention", "feed-forward")
    ]
    assert told[2].startswith(
        "Layer 1, attention: “bank” gets most from “river”, and in the second sentence “bank” gets"
    )


def test_where_nothing_moves_play_goes_from_station_to_station(page):
    """With reduced motion, as on this page: each station is told, and the height changes only from one to the next."""
    told, heights = shown(
        page,
        """const [told, heights] = [new Set(), new Set()];
        const now = performance.now();
        const frame = window.requestAnimationFrame;
        const frames = [];
        window.requestAnimationFrame = (callback) => frames.push(callback);
        await click('[data-act="play"]');
        for (let i = 0; i < 200; i++) {
          told.add(story());
          heights.add(find('input[type=range]').value);
          frames.splice(0).forEach((callback) => callback(now + 250 * i));
        }
        window.requestAnimationFrame = frame;
        return [[...told], heights.size]""",
    )
    assert len(told) == heights == 10
    assert told[0].startswith("Each token takes its row") and told[-1].startswith("Both “bank”")
    assert [text.split(":")[0] for text in told[2:8]] == [
        f"Layer {n}, {part}" for n in (1, 2, 3) for part in ("attention", "feed-forward")
    ]


def test_the_picture_in_words_has_every_station(page):
    lines = shown(
        page,
        """find('.alive-words').open = true;
        await wait(30);
        return [...root.querySelectorAll('.alive-words p')].map((p) => p.textContent)""",
    )
    assert len(lines) == 10 and lines[3].startswith("Layer 1, attention: “bank” gets river 3.0, ")
    assert ", and in the second sentence “bank” gets big 3.0, " in lines[3]
    assert lines[8].startswith("Layer 3, feed-forward: ") and lines[8].endswith("Cosine of the two “bank”: 0.880.")


def test_the_words_name_the_head_and_keep_the_amounts_from_before(page):
    cut, by_head, chip = shown(
        page,
        """find('.alive-words').open = true;
        const layer = () => root.querySelectorAll('.alive-words p')[3].textContent;
        await picture.set({ cuts: [{ side: 0, layer: 0, head: null, query: 3, key: 2 }] });
        const cut = layer();
        await picture.set({ cuts: [] });
        await click('[data-act="open 0"]');
        return [cut, layer(), find('.alive-feet span').textContent]""",
    )
    assert cut.startswith("Layer 1, attention: “bank” gets river 0.0 (3.0), ")
    assert by_head.startswith("Layer 1, attention: in head 2, “bank” gets river 1.6, ")
    assert chip.startswith("“bank”, layer 1, head 2, gets from")


def test_tokens_stay_text(page):
    marked = shown(
        page, "return root.querySelectorAll('svg b, svg script, .alive-feet b').length", texts=["a <b> bank", BIG]
    )
    assert marked == 0


# ---- Keys ----


def test_one_button_of_the_picture_is_in_the_tab_order_and_arrows_lead_on(page):
    stops, way, out = shown(
        page,
        """const stops = () => root.querySelectorAll('svg [tabindex="0"]').length;
        const before = stops();
        find('svg [tabindex="0"]').focus();
        await wait(0);
        const way = [];
        for (const name of ['ArrowRight', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowLeft']) {
          await key(name);
          way.push(document.activeElement.dataset.act);
        }
        await key('Enter');
        return [[before, stops()], way, [asked.at(-1).knockouts, document.activeElement.dataset.act]]""",
    )
    assert stops == [1, 1]
    assert way[0] == "token 0 1" and "part attention 0" in way
    assert out[0][0]["part"] == out[1].split()[1]  # the part in focus is out, and has kept the focus


def test_tab_leads_into_the_picture_and_out_of_it(page):
    """At the picture as a whole, which does nothing, it does not stop."""
    shown(page, "find('input[type=range]').focus()")
    way = []
    for _ in range(2):
        page.page.keyboard.press("Tab")
        way.append(page.page.evaluate("(({ act, text }) => act ?? `text ${text}`)(document.activeElement.dataset)"))
    assert way == ["token 0 0", "text 0"]


def test_keys_stay_inside_the_picture(page):
    heard = shown(
        page,
        """let heard = 0;
        const hear = () => { heard++; };
        document.addEventListener('keydown', hear);
        find('svg [tabindex="0"]').focus();
        await wait(0);
        await key('ArrowRight');
        document.removeEventListener('keydown', hear);
        return heard""",
    )
    assert heard == 0


# ---- The kernel ----

MODEL_OF = """
const packed = (answer) => {
  const numbers = [];
  const place = (value) => {
    if (value instanceof Float32Array) return { at: numbers.push(...value) - value.length, size: value.length };
    if (Array.isArray(value)) return value.map(place);
    if (!value || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, place(v)]));
  };
  const header = place(answer);
  const bytes = new Uint8Array(1 + 4 * numbers.length);
  bytes.set(new Uint8Array(Float32Array.from(numbers).buffer), 1);
  return [header, new DataView(bytes.buffer, 1)]; // at an odd place, as a message may lie
};
const question = { texts: ['a bank', 'my bank'], word: 'bank', cuts: [], knockouts: [], detail: null };
const [_answer, _data] = packed(answerOf(question));
const _options = { sentences: 2, open: null, predict: false };
const model = new Model({ title: 'Two sentences', _question: question, _answer, _data, _options });
const sent = [];
model.send = (message) => sent.push(message);
model.hear = (...reply) => [...model.callbacks('msg:custom')].forEach((callback) => callback(...reply));
model.answer = ({ id, question }) => {
  const [answer, data] = packed(answerOf(question));
  model.hear({ id, answer }, [data]);
};
const el = document.body.appendChild(document.createElement('div'));
const stop = alive.default.render({ model, el });
const story = () => el.querySelector('.alive-story').textContent;
await wait(30);
"""


def with_model(page, script):
    return page.run(f"async ({{ alive }}) => {{ {MODEL_OF} {script} }}")


def test_the_first_picture_comes_from_the_traits(page):
    sent, story = with_model(page, "return [sent.length, story()]")
    assert sent == 0 and story.startswith("Both “bank” start as the same vector.")


def test_a_change_is_sent_to_the_kernel_and_its_answer_is_drawn(page):
    message, story, others = with_model(
        page,
        """el.querySelector('[data-act="part attention 0"]').dispatchEvent(new MouseEvent('click', { bubbles: true }));
        await wait(20);
        model.hear({ id: 'of another view', answer: {} }, []);
        model.hear({}, []);
        model.answer(sent[0]);
        await wait(30);
        return [sent[0].question, story(), sent.length]""",
    )
    assert message["knockouts"] == [{"part": "attention", "layer": 0}] and others == 1
    assert "cosine of 1.000 (before: 0.880)" in story


def test_what_the_kernel_cannot_answer_is_said(page):
    words = with_model(
        page,
        """el.querySelector('[data-act="part norm1 0"]').dispatchEvent(new MouseEvent('click', { bubbles: true }));
        await wait(20);
        model.hear({ id: sent[0].id, error: 'Out of memory.' }, []);
        await wait(20);
        return el.querySelector('.alive-error').textContent""",
    )
    assert words == "Out of memory. The picture shows the last answer."


def test_an_answer_that_is_long_in_coming_is_still_drawn(page):
    words, story, later = with_model(
        page,
        """el.querySelector('[data-act="part attention 0"]').dispatchEvent(new MouseEvent('click', { bubbles: true }));
        await wait(4300);
        const words = el.querySelector('.alive-error').textContent;
        model.answer(sent[0]);
        await wait(30);
        return [words, story(), el.querySelector('.alive-error').textContent]""",
    )
    assert words.startswith("No answer from the kernel yet.") and "cosine of 1.000" in story and later == ""


def test_python_can_set_the_question(page):
    asked, listening = with_model(
        page,
        """model.message({ _question: { ...question, knockouts: [{ part: 'norm2', layer: null }], detail: [1, 0] } });
        await wait(20);
        const asked = sent.at(-1).question;
        stop();
        return [asked, model.callbacks('msg:custom').size + model.callbacks('change:_question').size]""",
    )
    assert asked["knockouts"] == [{"part": "norm2", "layer": None}] and asked["detail"] == [1, 0]
    assert listening == 0
