"""What a log would have shown: the probability, by how large the bonus is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from affinity_bandits.plots.style import COLOURS, FOR_A_PAGE, GREY, new_figure

if TYPE_CHECKING:
    from affinity_bandits.audit.result import Audit

SMALL = 9.0


def draw_power(audit: Audit) -> Any:
    """Draw how probably each bonus would have been shown; return the figure."""
    from affinity_bandits.audit.conclusions import SURELY, bonus_words

    figure, axes = new_figure(width=FOR_A_PAGE, height=0.9 + 0.4 * len(audit.power))
    for row, one in enumerate(audit.power):
        enough = one.probability >= SURELY
        colour = COLOURS[0] if enough else COLOURS[1]
        axes.barh(row, 100.0 * one.probability, height=0.55, color=colour, linewidth=0)
        low, high = one.interval
        axes.plot([100.0 * low, 100.0 * high], [row, row], color="black", linewidth=1.0)
        at = 100.0 * max(one.probability, high)
        axes.annotate(
            f"{100.0 * one.probability:.0f} of 100",
            (at, row),
            (5.0, 0.0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
        )
    axes.axvline(100.0 * SURELY, color=GREY, linestyle=":", linewidth=1.2)
    axes.set_yticks(range(len(audit.power)), [bonus_words(one.bonus) for one in audit.power])
    axes.set_ylim(len(audit.power) - 0.5, -0.5)
    axes.set_xlim(0.0, 118.0)
    axes.set_xticks(range(0, 101, 20))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("shown by so many of 100 logs like this one", fontsize=SMALL)
    return figure
