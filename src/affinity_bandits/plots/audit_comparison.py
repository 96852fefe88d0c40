"""Groups compared, as scores stand and with the bias taken into account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from affinity_bandits.plots.style import COLOURS, FOR_A_PAGE, GREY, cut, new_figure

if TYPE_CHECKING:
    from affinity_bandits.audit.result import Audit, Compared

SMALL = 9.0
MOST_LINES = 10
TICKS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)


def draw_comparison(audit: Audit) -> Any:
    """Draw ratios of groups: of their mean scores, and of their true values; return the figure."""
    shown = [one for one in audit.compared if one.plain is not None][:MOST_LINES]
    figure, axes = new_figure(width=FOR_A_PAGE, height=1.7 + 0.5 * len(shown))
    ends = [1.0]
    for row, one in enumerate(shown):
        ends += _draw_pair(axes, row, one)
    axes.axvline(1.0, color=GREY, linestyle=":", linewidth=1.2)
    axes.set_xscale("log")
    axes.set_xlim(0.8 * min(ends), 1.25 * max(ends))
    ticks = [at for at in TICKS if min(ends) <= at <= max(ends)]
    axes.set_xticks(ticks, [f"{at:g}" for at in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(shown)), [f"{cut(one.group)}\nover {cut(one.than)}" for one in shown])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("ratio: above 1 the first group is better", fontsize=SMALL)
    axes.plot([], [], "x", color=GREY, label="mean scores as they stand")
    axes.plot([], [], color=COLOURS[0], linewidth=4.0, label="true values, if the bias is a bonus")
    axes.plot([], [], ">", color=COLOURS[2], label="at least, whatever the bias")
    figure.legend(loc="outside lower left", fontsize=SMALL, frameon=False)
    return figure


def _draw_pair(axes: Any, row: int, one: Compared) -> list[float]:
    """Draw one pair of groups; return the numbers that must be on the axis."""
    assert one.plain is not None
    ends = [min(max(one.plain, 0.05), 20.0)]
    if one.ratio is None:
        axes.annotate(
            "true values: everything is possible",
            (0.02, row),
            (0.0, 7.0),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            ha="left",
            fontsize=SMALL,
            color=GREY,
        )
    else:
        low, high = max(one.ratio[0], 0.02), min(one.ratio[1], 50.0)
        axes.plot([low, high], [row, row], color=COLOURS[0], linewidth=4.0, solid_capstyle="butt")
        ends += [low, high]
    if one.at_least is not None:
        axes.plot([one.at_least], [row - 0.22], ">", color=COLOURS[2])
        ends.append(one.at_least)
    axes.plot([ends[0]], [row], "x", color=GREY, zorder=4)
    return ends
