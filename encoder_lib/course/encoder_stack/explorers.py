"""The explorer of 07_encoder_stack."""

from encoder_lib.course.encoder_stack.plots import plot_profiles
from encoder_lib.course.kit.measure import INITS, ORDERS, Profile, depth_profiles
from encoder_lib.course.kit.plots import GREY
from encoder_lib.course.kit.widget.controls import Range, Select
from encoder_lib.course.kit.widget.explorer import Explorer
from encoder_lib.course.kit.widget.web import Web

DEEPEST, STEP = 32, 2
QUANTITIES = ("gradient", "size", "similarity")  # one Axes each


def depth(depth: int = 12, order: str = "post-norm", init: str = "default") -> Explorer:
    """Measure each layer of a random stack: its gradient, the size of its vectors, and the similarity of its tokens.

    The other order, with the same initialisation, is drawn in grey. Everything is measured when the explorer is made,
    in a second or two, so that the slider does not have to wait.
    """
    controls = (
        Range("depth", depth, min=STEP, max=DEEPEST, step=STEP, label="layers"),
        Select("order", order, options=tuple(ORDERS)),
        Select("init", init, options=tuple(INITS), label="initialisation"),
    )
    depths = range(STEP, DEEPEST + 1, STEP)
    profiles = {
        (o, i): depth_profiles(depths, norm_first=norm_first, init=i) for o, norm_first in ORDERS.items() for i in INITS
    }

    def chosen(depth: int, order: str, init: str) -> tuple[Profile, Profile]:
        return profiles[order, init][depth], profiles[_other(order), init][depth]

    figure = plot_profiles({name: profiles[name, "default"][DEEPEST] for name in ORDERS})
    for ax, quantity in zip(figure.axes, QUANTITIES, strict=True):
        ax.lines[1].set(color=GREY, zorder=1)
        ax.set_xlim(-1, DEEPEST + 1)
        if quantity != "similarity":
            every = [getattr(p, quantity) for cuts in profiles.values() for p in cuts.values()]
            low, high = min(v.min().item() for v in every), max(v.max().item() for v in every)
            ax.set_ylim(low / 1.3, high * 1.3)
    (legend,) = figure.legends
    legend.get_lines()[1].set_color(GREY)

    def show(depth: int, order: str, init: str) -> str:
        this, other = chosen(depth, order, init)
        for ax, quantity in zip(figure.axes, QUANTITIES, strict=True):
            for line, profile in zip(ax.lines, (this, other), strict=True):
                values = getattr(profile, quantity)
                line.set_data(range(depth + 1 - len(values), depth + 1), values)
        for text, name in zip(legend.get_texts(), (order, _other(order)), strict=True):
            text.set_text(name)
        return f"{depth} layers, {init} initialisation. {_words(order, this)} {_words(_other(order), other)}"

    web = Web(heights=(600, 700), together=(("depth", "order", "init"),))
    return Explorer(show, *controls, title="A stack before training, layer by layer", figure=figure, web=web)


def _other(order: str) -> str:
    return next(name for name in ORDERS if name != order)


def _words(order: str, profile: Profile) -> str:
    ratio = (profile.gradient[-1] / profile.gradient[0]).item()
    size, similarity = profile.size[-1].item(), profile.similarity[-1].item()
    return (
        f"{order.capitalize()}: the last layer's gradient is {ratio:.2f} times the first one's. After the last layer "
        f"the root mean square of the vectors is {size:.2f}, and the mean cosine between two tokens {similarity:.2f}."
    )
