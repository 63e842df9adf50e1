"""Figures of a study: psychometric functions, thresholds, staircases, magnitudes, scales, response times."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from palpate.experiments.report import Report
from palpate.experiments.studies.people.plan import Study

matplotlib.use("Agg")
SIZE_IN = (7.0, 4.2)
FINE = 200
MOST_TICKS = 10


def draw(study: Study, document: dict[str, Any], people: dict[int, list[dict[str, Any]]], report: Report) -> None:
    """All that this study has something for."""
    runs = document["runs"]
    if any("mu" in row for row in runs):
        report.figure("psychometric", psychometric(study, runs))
        report.figure("thresholds", by_condition(study, runs, "threshold", document["unit"]))
    if study.asking.kind in ("staircase", "quest"):
        report.figure("levels", levels(study, people))
    if any("exponent" in row for row in runs):
        report.figure("magnitudes", magnitudes(study, people, runs))
    if any("scales" in row for row in runs):
        report.figure("workload", workload(study, runs))
    report.figure("response-times", response_times(study, people))


def _figure() -> tuple[Figure, Any]:
    figure = Figure(figsize=SIZE_IN, layout="constrained")
    return figure, figure.add_subplot()


def psychometric(study: Study, runs: list[dict[str, Any]]) -> Figure:
    """Shares of hits, and the functions that were fitted; each participant thin, each condition a colour."""
    figure, ax = _figure()
    function, log = study.function, study.function.scale == "log"
    u = np.linspace(function.u[0], function.u[-1], FINE)
    x = np.exp(u) if log else u
    for k, condition in enumerate(study.conditions):
        mine = [row for row in runs if row["condition"] == condition.name]
        hits, shown = (np.sum([row[key] for row in mine], axis=0) for key in ("hits", "shown"))
        told = np.atleast_1d(shown) > 0
        if not mine or not told.any():
            continue
        ax.scatter(study.levels[told], hits[told] / shown[told], s=12 + 60 * shown[told] / shown.max(), color=f"C{k}",
                   alpha=0.6, label=condition.name)  # fmt: skip
        for row in mine:
            z = (u - row["mu"]) / row["s"]
            psi = function.guess + (1.0 - function.guess - function.lapse) * 0.5 * (1.0 + np.tanh(0.5 * z))
            ax.plot(x, psi, color=f"C{k}", lw=1.0, alpha=0.7)
    ax.axhline(study.asking.at, color="0.6", lw=0.8, ls=":")
    _label(ax, study, log)
    ax.set_ylabel(
        {"compare": "comparison chosen", "detect": "right answers", "judge": study.asking.answers[1]}[study.asking.task]
    )
    ax.set_ylim(-0.02, 1.04)
    ax.legend(frameon=False)
    return figure


def _label(ax: Any, study: Study, log: bool) -> None:
    assert study.stimulus is not None
    unit = f" [{study.stimulus.unit}]" if study.stimulus.unit else ""
    ax.set_xlabel(f"{study.stimulus.setting}{unit}")
    if log:
        ax.set_xscale("log")
        shown = study.levels[:: -(-len(study.levels) // MOST_TICKS)]
        ax.set_xticks(shown, [f"{level:.3g}" if level < 1000 else f"{level:.0f}" for level in shown])
        ax.set_xticks([], minor=True)


def by_condition(study: Study, runs: list[dict[str, Any]], key: str, unit: str) -> Figure:
    """An estimate of each participant with its interval, side by side."""
    figure, ax = _figure()
    names = [c.name for c in study.conditions]
    for k, name in enumerate(names):
        mine = [row for row in runs if row["condition"] == name and key in row]
        for j, row in enumerate(mine):
            x, e = k + 0.5 * ((j + 0.5) / len(mine) - 0.5), row[key]
            ax.errorbar(x, e.value, yerr=[[max(0.0, e.value - e.low)], [max(0.0, e.high - e.value)]], fmt="o",
                        color=f"C{k}", capsize=2)  # fmt: skip
    ax.set_xticks(range(len(names)), names)
    ax.set_xlim(-0.6, len(names) - 0.4)
    ax.set_ylabel(f"{key} [{unit}]" if unit else key)
    return figure


def levels(study: Study, people: dict[int, list[dict[str, Any]]]) -> Figure:
    """Which levels an adaptive method went through."""
    figure, ax = _figure()
    for k, condition in enumerate(study.conditions):
        for number, lines in enumerate(people.values()):
            shown = [x["level"] for x in lines if x["kind"] == "trial" and x["condition"] == condition.name
                     and not x["practice"]]  # fmt: skip
            ax.plot(range(1, len(shown) + 1), shown, marker=".", color=f"C{k}", lw=0.5, alpha=0.6,
                    label=condition.name if number == 0 else None)  # fmt: skip
    assert study.stimulus is not None
    ax.set_xlabel("trial")
    ax.set_ylabel(
        f"{study.stimulus.setting} [{study.stimulus.unit}]" if study.stimulus.unit else study.stimulus.setting
    )
    if study.stimulus.scale == "log":
        ax.set_yscale("log")
    ax.legend(frameon=False)
    return figure


def magnitudes(study: Study, people: dict[int, list[dict[str, Any]]], runs: list[dict[str, Any]]) -> Figure:
    """Numbers that were said, and Stevens' power laws."""
    figure, ax = _figure()
    for k, condition in enumerate(study.conditions):
        done = [x for lines in people.values() for x in lines if x["kind"] == "trial" and not x["practice"]
                and x["condition"] == condition.name]  # fmt: skip
        ax.scatter([x["level"] for x in done], [x["answer"] for x in done], s=10, color=f"C{k}", alpha=0.5,
                   label=condition.name)  # fmt: skip
        x = np.geomspace(study.levels[0], study.levels[-1], 2)
        for row in runs:
            if row["condition"] == condition.name:
                ax.plot(x, row["factor"] * x ** row["exponent"].value, color=f"C{k}", lw=1.0)
    _label(ax, study, True)
    ax.set_yscale("log")
    ax.set_ylabel("magnitude")
    ax.legend(frameon=False)
    return figure


def workload(study: Study, runs: list[dict[str, Any]]) -> Figure:
    """The scales, and their mean, of each condition."""
    figure, ax = _figure()
    rated = [row for row in runs if "scales" in row]
    names, width = [*rated[0]["scales"], "mean"], 0.8 / len(study.conditions)
    for k, condition in enumerate(study.conditions):
        mine = [row for row in rated if row["condition"] == condition.name]
        if mine:
            heights = [np.mean([row["scales"][name] for row in mine]) for name in names[:-1]]
            x = np.arange(len(names)) + (k - 0.5 * (len(study.conditions) - 1)) * width
            ax.bar(x, [*heights, np.mean(heights)], width, color=f"C{k}", label=condition.name)
    ax.set_xticks(range(len(names)), [name.replace(" ", "\n") for name in names])
    ax.set_ylim(0, 100)
    ax.set_ylabel("of 100")
    ax.legend(frameon=False)
    return figure


def response_times(study: Study, people: dict[int, list[dict[str, Any]]]) -> Figure:
    """How long answers took, by condition."""
    figure, ax = _figure()
    names = [c.name for c in study.conditions]
    times = [[x["response_s"] for lines in people.values() for x in lines if x["kind"] == "trial" and not x["practice"]
              and x["condition"] == name] or [np.nan] for name in names]  # fmt: skip
    ax.boxplot(times, tick_labels=names)
    ax.set_ylabel("response time [s]")
    ax.set_ylim(bottom=0.0)
    return figure
