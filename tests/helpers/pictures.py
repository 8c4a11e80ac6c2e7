"""Every plot, of the kit and of the lessons, drawn with so many names, at least three, and a title of one's own."""

from types import SimpleNamespace

import pandas as pd
import torch

from encoder_lib.course.kit import lessons
from encoder_lib.course.kit import plots as shared_plots
from encoder_lib.course.kit.measure import Profile

plots = SimpleNamespace(**vars(shared_plots))  # all that any of them offers
for module in lessons.modules("plots"):
    vars(plots).update(vars(module))

WAVE = torch.linspace(0, 6, 30).sin()
PROFILE = Profile(gradient=torch.arange(1.0, 4), size=torch.arange(1.0, 5), similarity=torch.linspace(0, 1, 4))


def labels(title):
    return {"title": title, "x_label": title, "y_label": title}


def rows(names):
    return torch.eye(len(names))


def order(names):
    return [*range(1, len(names)), 0]


def curves(names):
    return {name: WAVE + i for i, name in enumerate(names)}


def learning_curves(models):
    rows = [(model, seed, step, 50.0) for model in models for seed in (0, 1) for step in (100, 200)]
    return pd.DataFrame(rows, columns=["model", "seed", "step", "accuracy"])


def fit(titles):
    x, units = torch.arange(30.0), torch.stack([WAVE] * 3, dim=-1)
    return plots.plot_fit(x, WAVE, units, 0.1, breakpoints=[3.0, 4.0], unit=1, titles=titles)


DRAWN = {
    "plot_heatmap": lambda n, t: plots.plot_heatmap(rows(n), x_ticks=n, y_ticks=n, **labels(t)),
    "plot_mask": lambda n, t: plots.plot_mask(rows(n), names=n[:2], x_ticks=n, y_ticks=n, **labels(t)),
    "plot_masks": lambda n, t: plots.plot_masks(
        dict.fromkeys(n[:2], rows(n)), ticks=dict.fromkeys(n[:2], n), x_label=t, y_label=t
    ),
    "plot_heatmaps": lambda n, t: plots.plot_heatmaps(dict.fromkeys(n[:3], rows(n)), x_label=t, y_label=t),
    "plot_lines": lambda n, t: plots.plot_lines(curves(n), **labels(t)),
    "plot_panels": lambda n, t: plots.plot_panels(dict.fromkeys(n[:3], curves(n)), y_label=t),
    "plot_bars": lambda n, t: plots.plot_bars(dict.fromkeys(n, 1.0), title=t, x_label=t),
    "plot_bar_panels": lambda n, t: plots.plot_bar_panels(dict.fromkeys(n[:3], range(len(n))), n),
    "plot_histogram": lambda n, t: plots.plot_histogram(WAVE, dict.fromkeys(n, 1.0), **labels(t)),
    "plot_word_vectors": lambda n, t: plots.plot_word_vectors(rows(n)[:, :2], n, n, title=t),
    "plot_query": lambda n, t: plots.plot_query([1.0, 2.0], rows(n[1:])[:, :2], n, title=t),
    "plot_attention": lambda n, t: plots.plot_attention(*[rows(n)] * 3, n, titles=[t] * 3),
    "plot_attention_lines": lambda n, t: plots.plot_attention_lines(rows(n), n, title=t),
    "plot_cards": lambda n, t: plots.plot_cards(n, order(n), n, title=t),
    "plot_ladder": lambda n, t: plots.plot_ladder([(name, 0.5, 1.0) for name in n], title=t),
    "plot_learning_curves": lambda n, t: plots.plot_learning_curves(learning_curves(n[:2]), title=t),
    "plot_token_attention": lambda n, t: plots.plot_token_attention(rows(n)[0], n, chosen=0, title=t),
    "plot_reordering": lambda n, t: plots.plot_reordering(rows(n), rows(n), order(n), n, title=t),
    "plot_fit": lambda n, t: fit([t] * 2),
    "plot_dots": lambda n, t: plots.plot_dots({name: dict.fromkeys(n, 1.0) for name in n}, title=t, x_label=t),
    "plot_shapes": lambda n, t: plots.plot_shapes({name: torch.ones(i + 1, 4) for i, name in enumerate(n)}, title=t),
    "plot_normalisations": lambda n, t: plots.plot_normalisations(dict.fromkeys(n[:3], 2)),
    "plot_names": lambda n, t: plots.plot_names(dict.fromkeys(n, WAVE), dict(zip(n, n[::-1], strict=True)), title=t),
    "plot_profiles": lambda n, t: plots.plot_profiles(dict.fromkeys(n, PROFILE)),
}  # name of the plot -> (names, title) -> an Axes or a figure


def figure_of(name, names="abc", title="t"):
    """The figure of a plot."""
    return DRAWN[name](list(names), title).get_figure(root=True)
