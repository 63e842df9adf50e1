"""What a sweep found, drawn: one figure for each metric, with lines, a heat map or points, and how it is distributed.

Repeats, and parameters that have no place in the figure, are averaged over; where lines have more than one value, a
band goes from the tenth to the ninetieth percentile of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from palpate.experiments.studies.sweeps.plan import Plan
from palpate.experiments.studies.sweeps.samples import Value
from palpate.experiments.studies.sweeps.task import DONE
from palpate.experiments.studies.sweeps.views import (
    DISTRIBUTION,
    HEAT,
    SCATTER,
    View,
    file_name,
    is_logarithmic,
    is_number,
    label,
    tick,
    view,
)
from palpate.whole_files import written_whole

Table = dict[str, np.ndarray]
COLOURS = ("#1f5fa8", "#d9534f", "#2a8a4a", "#e58a2b", "#7b4fa0", "#3aa6a6", "#8a6d3b", "#777777")
MOST_TICKS = 10
ENOUGH = 24  # numbers, for a distribution
MOST_FIGURES = 60  # an experiment may have a hundred claims; report.metrics chooses


def draw(plan: Plan, table: Table, out: Path) -> list[str]:
    """Figures of what is done of a plan, as PNG and SVG into a folder; the names of the pictures."""
    done = {name: column[table["status"] == DONE] for name, column in table.items()}
    names, taken = [], set[str]()
    for metric in metrics_of(plan, done):
        name = file_name(metric, taken)
        figure = draw_metric(plan, done, metric)
        for suffix in ("png", "svg"):
            with written_whole(out / f"{name}.{suffix}", "wb") as file:
                figure.savefig(file, format=suffix, dpi=120, bbox_inches="tight")
        names.append(f"{name}.png")
    return names


def metrics_of(plan: Plan, table: Table) -> list[str]:
    """Those that the plan names; else all that vary."""
    found = [n for n in list(table)[len(plan.parameters) + 5 : -2] if np.isfinite(table[n]).any()]
    for metric in plan.drawn.metrics:
        if metric not in found:
            raise ValueError(f"report: no metric is called {metric!r}; there are: {', '.join(found) or 'none'}")
    return list(plan.drawn.metrics) or [n for n in found if np.ptp(table[n][np.isfinite(table[n])]) > 0][:MOST_FIGURES]


def draw_metric(plan: Plan, table: Table, metric: str) -> Figure:
    """The figure of one metric."""
    shown = view(plan)
    table = {name: column[np.isfinite(table[metric])] for name, column in table.items()}
    drawing = {HEAT: _heat, SCATTER: _scatter, DISTRIBUTION: _distribution}.get(shown.kind, _lines)
    with matplotlib.rc_context({"axes.axisbelow": True, "axes.titlesize": 10, "font.size": 9}):
        figure = drawing(plan, table, metric, shown)
        figure.suptitle(f"{plan.name}: {label(metric)}", fontsize=12)
    return figure


# ---- kinds


def _lines(plan: Plan, table: Table, metric: str, shown: View) -> Figure:
    panels = list(_groups(plan, table, shown.y))
    spread = len(table["task"]) >= ENOUGH * len(panels)  # of few values a distribution says nothing
    figure = Figure(figsize=(1.5 + 4.6 * len(panels) + 3.2 * spread, 4.2), layout="constrained")
    widths = [1.6] * len(panels) + [1.0] * spread
    axes = figure.subplots(1, len(widths), squeeze=False, width_ratios=widths).ravel()
    at, words = _places(plan, shown.x)
    for k, (place, (title, _, chosen)) in enumerate(zip(axes, panels, strict=False)):
        for name, colour, rows in _groups(plan, table, shown.by):
            _line(place, at, plan.varied[shown.x], table[shown.x], table[metric], rows & chosen, colour, name)
        _parameter_axis(place, plan, shown.x, at, words)
        _value_axis(place, "y", metric, table[metric])
        place.set_title(label(shown.y, title) if shown.y else "")
        if k:
            place.sharey(axes[0])
            place.set_ylabel("")
    _legend(axes[0], shown.by)
    if spread:
        _histogram(axes[-1], plan, table, metric, shown.by)
    return figure


def _line(
    axes: Axes, at: np.ndarray, values: list[Value], x: np.ndarray, y: np.ndarray, rows: np.ndarray, colour: str,
    name: str,
) -> None:  # fmt: skip
    """Means over the values of x that there are, with a band if there is more than one number to one of them."""
    there = [k for k, value in enumerate(values) if (rows & (x == value)).any()]
    each = [y[rows & (x == values[k])] for k in there]
    axes.plot(at[there], [found.mean() for found in each], "o-", color=colour, ms=4, label=name)
    if any(len(found) > 1 for found in each):
        low, high = (np.array([np.percentile(found, p) for found in each]) for p in (10, 90))
        axes.fill_between(at[there], low, high, color=colour, alpha=0.15, lw=0)


def _heat(plan: Plan, table: Table, metric: str, shown: View) -> Figure:
    panels = list(_groups(plan, table, shown.by))
    columns = 2 if len(panels) == 4 else min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(2.2 + 3.6 * columns, 1.0 + 3.2 * rows), layout="constrained")
    axes = np.atleast_1d(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)).ravel()
    maps = [_means(plan, table, metric, shown, chosen) for _, _, chosen in panels]
    scale = _colour_scale(np.array(maps))
    for k, (place, (name, _, _), means) in enumerate(zip(axes, panels, maps, strict=False)):
        place.set_facecolor("#eeeeee")
        mesh = place.pcolormesh(np.ma.masked_invalid(_shown(means, scale)), norm=scale, cmap="viridis", rasterized=True)
        place.set_title(label(shown.by, name) if shown.by else "")
        for which, parameter in (("x", shown.x), ("y", shown.y)):
            values = plan.varied[parameter]
            step = -(-len(values) // MOST_TICKS)
            getattr(place, f"set_{which}ticks")(np.arange(len(values))[::step] + 0.5, [tick(v) for v in values[::step]])
            place.tick_params(which, length=0)
        place.tick_params("x", labelbottom=k + columns >= len(panels))
    for place in axes[len(panels) :]:
        place.set_visible(False)
    figure.supxlabel(label(shown.x), fontsize=10)
    figure.supylabel(label(shown.y), fontsize=10)
    figure.colorbar(mesh, ax=list(axes), label=label(metric), shrink=0.9)
    return figure


def _scatter(plan: Plan, table: Table, metric: str, shown: View) -> Figure:
    names = [n for n, values in plan.varied.items() if is_number(values)][:6]
    figure = Figure(figsize=(2.0 + 3.4 * min(3, len(names) + 1), 3.2 * -(-(len(names) + 1) // 3)), layout="constrained")
    axes = figure.subplots(-(-(len(names) + 1) // 3), min(3, len(names) + 1), squeeze=False).ravel()
    for place, parameter in zip(axes, names, strict=False):
        for name, colour, rows in _groups(plan, table, shown.by):
            x, y = table[parameter][rows], table[metric][rows]
            place.plot(x, y, ".", color=colour, ms=4, alpha=0.35)
            bins = np.array_split(np.argsort(x, kind="stable"), max(1, min(10, len(x) // 8)))
            place.plot(
                [np.median(x[b]) for b in bins], [np.median(y[b]) for b in bins], "-", color=colour, lw=2, label=name
            )
        place.set_xlabel(label(parameter))
        if is_logarithmic(plan.varied[parameter]):
            place.set_xscale("log")
        _value_axis(place, "y", metric, table[metric])
    _legend(axes[0], shown.by)
    _histogram(axes[len(names)], plan, table, metric, shown.by)
    for place in axes[len(names) + 1 :]:
        place.set_visible(False)
    return figure


def _distribution(plan: Plan, table: Table, metric: str, shown: View) -> Figure:
    figure = Figure(figsize=(10.5, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    groups = [group for group in _groups(plan, table, shown.by) if group[2].any()]
    values = [table[metric][rows] for _, _, rows in groups]
    boxes = left.boxplot(values, widths=0.5, showfliers=False, patch_artist=True)
    for k, (box, (_, colour, _), y) in enumerate(zip(boxes["boxes"], groups, values, strict=True)):
        box.set(facecolor=colour, alpha=0.3)
        left.plot(k + 1.0 + np.linspace(-0.2, 0.2, len(y)), y, ".", color=colour, ms=4, alpha=0.6)
    for line in boxes["medians"]:
        line.set_color("black")
    left.set_xticks(np.arange(len(groups)) + 1.0, [name or "all" for name, _, _ in groups],
                    rotation=30 if len(groups) > 4 else 0)  # fmt: skip
    left.set_xlabel(label(shown.by))
    _value_axis(left, "y", metric, table[metric])
    _histogram(right, plan, table, metric, shown.by)
    return figure


# ---- parts


def _groups(plan: Plan, table: Table, by: str) -> Iterator[tuple[str, str, np.ndarray]]:
    """(name, colour, rows) for each value of a parameter; all rows, if there is none."""
    if not by:
        yield "", COLOURS[0], np.ones(len(table["task"]), bool)
        return
    values = plan.varied[by]
    ramp = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.9, len(values)))
    ordered = is_number(values)
    for k, value in enumerate(values):
        colour = matplotlib.colors.to_hex(ramp[k]) if ordered else COLOURS[k % len(COLOURS)]
        yield tick(value), colour, table[by] == value


def _means(plan: Plan, table: Table, metric: str, shown: View, chosen: np.ndarray) -> np.ndarray:
    """(y, x) means of the chosen rows; NaN where there is none."""
    column, row = ({v: k for k, v in enumerate(plan.varied[n])} for n in (shown.x, shown.y))
    total, count = (np.zeros((len(row), len(column))) for _ in range(2))
    at = ([row[v] for v in table[shown.y][chosen].tolist()], [column[v] for v in table[shown.x][chosen].tolist()])
    np.add.at(total, at, table[metric][chosen])
    np.add.at(count, at, 1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _colour_scale(values: np.ndarray) -> Normalize:
    """By decades, four at most, where most of what is positive lies far below the largest."""
    known = values[np.isfinite(values)]
    low, high = float(known.min()), float(known.max())
    if low >= 0.0 and high > 30.0 * np.median(known) and (known > 0.0).sum() > 2:
        return LogNorm(max(float(known[known > 0.0].min()), 1e-4 * high), high)
    return Normalize(low, high)


def _shown(means: np.ndarray, scale: Normalize) -> np.ndarray:
    """What is not positive has no place on a scale of decades: it is shown as its lowest."""
    return np.where(means <= 0.0, scale.vmin or 0.0, means) if isinstance(scale, LogNorm) else means


def _places(plan: Plan, name: str) -> tuple[np.ndarray, list[str]]:
    """Where values go on an axis, and their words if they are no numbers."""
    values = plan.varied[name]
    if is_number(values):
        return np.array(values, float), []
    return np.arange(len(values), dtype=float), [tick(v) for v in values]


def _parameter_axis(axes: Axes, plan: Plan, name: str, at: np.ndarray, words: list[str]) -> None:
    axes.set_xlabel(label(name))
    if words:
        axes.set_xticks(at, words)
    elif is_logarithmic(plan.varied[name]):
        axes.set_xscale("log")
        if len(at) <= MOST_TICKS:
            axes.set_xticks(at, [tick(v) for v in plan.varied[name]])
            axes.minorticks_off()


def _value_axis(axes: Axes, which: str, metric: str, values: np.ndarray) -> None:
    getattr(axes, f"set_{which}label")(label(metric))
    if len(values) and values.min() > 0.0 and values.max() / values.min() > 100.0:
        getattr(axes, f"set_{which}scale")("log")
    axes.grid(alpha=0.25)


def _histogram(axes: Axes, plan: Plan, table: Table, metric: str, by: str) -> None:
    values = table[metric]
    if values.min() > 0.0 and values.max() / values.min() > 100.0:
        bins = np.geomspace(values.min(), values.max(), 31)
    else:
        bins = np.linspace(values.min(), values.max() if values.max() > values.min() else values.min() + 1.0, 31)
    for name, colour, rows in _groups(plan, table, by):
        axes.hist(values[rows], bins.tolist(), histtype="stepfilled", color=colour, alpha=0.25)
        axes.hist(values[rows], bins.tolist(), histtype="step", color=colour, lw=1.4, label=name)
    axes.set_ylabel("tasks")
    _value_axis(axes, "x", metric, values)


def _legend(axes: Axes, by: str) -> None:
    if by:
        axes.legend(title=label(by), fontsize=8, title_fontsize=8)
