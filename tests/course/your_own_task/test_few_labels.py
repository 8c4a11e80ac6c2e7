"""The classifier of 13: what is computed below the last layers, the head, and fine-tuning."""

import copy

import torch
import torch.nn.functional as F
from explorers import minilm

from encoder_lib.course.your_own_task.docstrings import NAMES
from encoder_lib.course.your_own_task.few_labels import (
    MOST,
    Classifier,
    accuracy,
    below,
    draw,
    fine_tune,
    task,
    train_head,
)

SENTENCES = ["A short one.", "How do I bake a cake for eight people?", "Sort."]


def classifier():
    head = train_head(minilm().encode(SENTENCES), torch.tensor([0, 1, 2]))
    return Classifier(minilm().encoder.encoder.layers[-2:], head)


def test_layers_below_and_last_layers_give_the_encoders_vectors():
    hidden = below(minilm(), SENTENCES)
    vectors = classifier().vectors(hidden).detach()
    torch.testing.assert_close(vectors, minilm().encode(SENTENCES), atol=1e-5, rtol=0)
    one_by_one = torch.cat([classifier().scores([x]) for x in hidden])
    torch.testing.assert_close(classifier().scores(hidden), one_by_one, atol=1e-4, rtol=0)


def test_the_head_learns():
    vectors, labels = (
        F.normalize(torch.randn(30, 8, generator=torch.Generator().manual_seed(0)), dim=1),
        torch.arange(30) % 5,
    )
    few, many = (F.cross_entropy(train_head(vectors, labels, steps)(vectors), labels) for steps in (1, 100))
    assert many < 0.5 * few and train_head(vectors, labels).weight.dtype == vectors.dtype


def test_fine_tuning_changes_head_and_last_layers_only():
    hidden, start = below(minilm(), SENTENCES), classifier()
    before = copy.deepcopy(minilm().encoder.state_dict())
    copied = copy.deepcopy(start)
    losses = [loss for _, loss in fine_tune(copied, hidden, torch.tensor([0, 1, 2]), epochs=3)]
    assert len(losses) == 3 and losses[-1] < losses[0]
    changed = [not torch.equal(a, b) for a, b in zip(start.parameters(), copied.parameters(), strict=True)]
    assert all(changed)
    assert all(torch.equal(x, before[name]) for name, x in minilm().encoder.state_dict().items())


def test_a_draw_has_as_many_of_each_label_and_a_smaller_one_is_part_of_it():
    labels = task("training").labels
    small, large = draw(labels, 3, 1), draw(labels, 8, 1)
    assert labels[small].bincount().tolist() == [3] * 5 and {*small.tolist()} < {*large.tolist()}
    assert draw(labels, 3, 2).tolist() != small.tolist()
    assert accuracy(F.one_hot(labels, 5).double(), labels) == 100


def test_the_parts_share_no_sentence_and_no_sentence_gives_its_label_away():
    texts = [{*task(part).sentences} for part in MOST]
    assert not texts[0] & texts[1] and not texts[0] & texts[2] and not texts[1] & texts[2]
    assert not any(NAMES.search(sentence) for each in texts for sentence in each)
