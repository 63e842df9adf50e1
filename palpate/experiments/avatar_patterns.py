"""What a touch means: push, pull, tap, double tap, shake, hold or stroke, from force alone; avatars.md 7, 10.31.

Generated touches (touches.py) of seeds that nothing was tuned on, one second each, and touches of a simulated HRP-2
through palpate's own coupling (recorded_touches.py), as streams: there the last thing that was said counts.  Beside it
the reference's decision list on the same windows, since its own sets are not known to the last number.
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palpate.control.felt.patterns import PATTERNS, Heard, listen, recognise
from palpate.experiments.recorded_touches import recorded
from palpate.experiments.report import Report
from palpate.experiments.touches import Touch, touches
from palpate.scenes.standing import hrp2_standing

SEED = 301  # 1, 7 and 201 were looked at while thresholds were chosen
FAMILIES = {"plain": 150, "stress": 150, "devices": 40}  # of each pattern
RECORDED = 6  # of each pattern at each of three places
GOALS = {"plain": 0.98, "stress": 0.90, "devices": 0.95, "recorded": 0.95}
TITLES = {
    "plain": "plain", "stress": "stress: cut, biased, noisy, ambiguous", "devices": "other grips and devices",
    "recorded": "a simulated HRP-2, as it is said",
}  # fmt: skip
COLOURS = {"push": "#1f5fa8", "pull": "#d9534f", "tap": "#2a8a4a", "double tap": "#7fbf6a", "shake": "#8e5bb5",
           "hold": "#555555", "stroke": "#e08e2b", "none": "#bbbbbb"}  # fmt: skip
BINS = np.linspace(0.0, 1.0, 11)


def reference_list(t: Touch) -> str:
    """The decision list of avatars.md 7, as printed there."""
    f = np.stack([np.convolve(x, np.full(5, 0.2), "same") for x in t.force.T], axis=1)
    size = np.linalg.norm(f, axis=1)
    peak, on, state = size.max(), np.zeros(len(size), dtype=bool), False
    for i, x in enumerate(size.tolist()):
        on[i] = state = x > (max(0.45, 0.12 * peak) if state else max(0.6, 0.25 * peak))
    where = np.flatnonzero(on)
    for a, b in pairwise(where):
        on[a:b] |= b - a < 40
    if not on.any():
        return "none"
    edges = np.flatnonzero(np.diff(np.r_[0, on.astype(int), 0])).reshape(-1, 2)
    longest = (edges[:, 1] - edges[:, 0]).max()
    g, s = f[on], size[on]
    path = 1e3 * np.linalg.norm(t.point[on][-1] - t.point[on][0])
    swing = g @ np.linalg.eigh(g.T @ g)[1][:, -1]
    sides = np.sign(swing[np.abs(swing) > 0.3 * np.abs(swing).max()])
    flips, straight = int((np.diff(sides) != 0).sum()), np.linalg.norm(g.sum(axis=0)) / s.sum()
    if path > 15.0 and peak < 9.0 and path > 4.0 * peak and flips <= 1:
        return "stroke"
    if flips >= 2 and straight < 0.6:
        return "shake"
    if longest <= 250:
        return ("tap", "double tap", "shake")[min(len(edges), 3) - 1]
    if on.sum() >= 880 and s.std() / s.mean() < 0.25:
        return "hold"
    return "push" if (g @ t.normal).sum() < 0.0 else "pull"


def confusion(meant: list[str], said: list[str]) -> np.ndarray:
    """(8, 8) counts, rows what was meant."""
    counts = np.zeros((len(PATTERNS), len(PATTERNS)), dtype=int)
    for a, b in zip(meant, said, strict=True):
        counts[PATTERNS.index(a), PATTERNS.index(b)] += 1
    return counts


def share_right(counts: np.ndarray) -> float:
    """Of touches; those that were none do not count, as in the reference."""
    return float(np.diag(counts)[1:].sum() / counts[1:].sum())


def draw_confusions(tables: dict[str, np.ndarray]) -> Figure:
    figure = Figure(figsize=(12.4, 11.6), layout="constrained")
    for axes, (family, counts) in zip(figure.subplots(2, 2).ravel(), tables.items(), strict=True):
        shares = counts / counts.sum(axis=1, keepdims=True)
        axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
        for (i, j), n in np.ndenumerate(counts):
            if n:
                axes.text(j, i, str(n), ha="center", va="center", fontsize=9,
                          color="white" if shares[i, j] > 0.55 else "#b02a25" if i != j else "black")  # fmt: skip
        ticks = range(len(PATTERNS))
        axes.set(xticks=ticks, yticks=ticks, xlabel="said", ylabel="meant",
                 title=f"{TITLES[family]}: {100 * share_right(counts):.1f} %")  # fmt: skip
        axes.set_xticklabels(PATTERNS, rotation=40, ha="right")
        axes.set_yticklabels(PATTERNS)
        axes.set_xticks(np.arange(len(PATTERNS) + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(len(PATTERNS) + 1) - 0.5, minor=True)
        axes.grid(which="minor", color="#dddddd", lw=0.6)
        axes.tick_params(which="minor", length=0)
    return figure


def draw_sureness(right: np.ndarray, wrong: np.ndarray) -> Figure:
    """How sure right and wrong answers are, and how often an answer so sure is right."""
    figure = Figure(figsize=(10.4, 3.9), layout="constrained")
    left, share = figure.subplots(1, 2)
    for x, colour, label in ((right, "#1f5fa8", f"right ({len(right)})"), (wrong, "#d9534f", f"wrong ({len(wrong)})")):
        left.hist(x, BINS, weights=np.full(len(x), 100.0 / max(len(x), 1)), color=colour, alpha=0.6, label=label)
    left.set(xlabel="sureness", ylabel="% of these answers", title="plain, stress and devices together", xlim=(0, 1))
    n_right, n_wrong = np.histogram(right, BINS)[0], np.histogram(wrong, BINS)[0]
    n = n_right + n_wrong
    middle = 0.5 * (BINS[1:] + BINS[:-1])
    share.bar(middle[n > 0], 100.0 * n_right[n > 0] / n[n > 0], width=0.085, color="#1f5fa8")
    for x, k, m in zip(middle, n_right, n, strict=True):
        if m:
            share.text(x, 100.0 * k / m + 1.0, str(m), ha="center", fontsize=7)
    share.set(xlabel="sureness", ylabel="right [%]", title="right, by sureness (answers above the bars)",
              xlim=(0, 1), ylim=(0, 112))  # fmt: skip
    left.legend(fontsize=8)
    return figure


def draw_streams(found: list[tuple[Touch, list[Heard]]]) -> Figure:
    """One recorded touch of each pattern: the force along the normal, across it, and when what was said."""
    figure = Figure(figsize=(13.0, 5.8), layout="constrained")
    for axes, name in zip(figure.subplots(2, 4, sharex=True).ravel(), PATTERNS[1:], strict=False):
        touch, heard = next(x for x in found if x[0].name == name and x[1] and x[1][-1].name == name)
        t = np.arange(len(touch.force)) * 1e-3
        along = touch.force @ touch.normal
        axes.plot(t, along, color="#1f5fa8", lw=1.1)
        axes.plot(t, np.linalg.norm(touch.force - np.outer(along, touch.normal), axis=1), color="#999999", lw=0.8)
        _mark(axes, heard)
        low, high = axes.get_ylim()
        axes.set(title=name, xlim=(0.6, 3.0), ylim=(low, high + 0.3 * (high - low)))  # room for what was said
        axes.grid(alpha=0.25)
    blank = figure.axes[-1]
    blank.axis("off")
    blank.plot([], [], color="#1f5fa8", label="along the normal [N]")
    blank.plot([], [], color="#999999", label="across it [N]")
    blank.plot([], [], color="#333333", ls="--", label="said here")
    blank.legend(loc="center", frameon=False)
    for axes in figure.axes[3:7]:
        axes.set_xlabel("time [s]")
    figure.axes[3].tick_params(labelbottom=True)
    return figure


def _mark(axes: Axes, heard: list[Heard]) -> None:
    for k, x in enumerate(heard):
        axes.axvline(x.time_s, color=COLOURS[x.name], ls="--", lw=1.0)
        axes.text(x.time_s + 0.03, 0.97 - 0.09 * k, f"{x.name}, {x.sureness:.2f}", transform=axes.get_xaxis_transform(),
                  va="top", fontsize=8, color=COLOURS[x.name])  # fmt: skip


def run(report: Report) -> None:
    tables: dict[str, np.ndarray] = {}
    right: list[float] = []
    wrong: list[float] = []
    printed = {}
    for family, each in FAMILIES.items():
        made = touches(family, each, SEED)
        answers = [recognise(t.force, t.point, t.normal) for t in made]
        meant = [t.name for t in made]
        tables[family] = confusion(meant, [name for name, _ in answers])
        for name, (said, sure) in zip(meant, answers, strict=True):
            (right if said == name else wrong).append(sure)
        printed[family] = share_right(confusion(meant, [reference_list(t) for t in made]))
        report.say(f"{family}: {100 * share_right(tables[family]):.1f} % of {len(made)} right; "
                   f"the reference's list {100 * printed[family]:.1f} %")  # fmt: skip
    began = time.perf_counter()
    made = recorded(hrp2_standing(), RECORDED, SEED)
    report.say(f"{len(made)} touches of HRP-2 simulated in {time.perf_counter() - began:.0f} s")
    streams = [(t, listen(t.force, t.point, t.normal)) for t in made]
    tables["recorded"] = confusion([t.name for t in made], [x[-1].name if x else "none" for _, x in streams])
    for family, counts in tables.items():
        report.claim(f"{TITLES[family]}: right", share_right(counts), low=GOALS[family])
        quiet = counts[0]
        report.claim(f"{TITLES[family]}: no touch taken for one", 1.0 - quiet[0] / quiet.sum(), high=0.02)
    taps = [x[-1].time_s - _released_s(t) for t, x in streams if x and t.name == x[-1].name == "tap"]
    report.claim("a tap is said after its release, at the latest", max(taps), high=0.6, unit="s")
    pushes = [x[0].time_s - _began_s(t) for t, x in streams if x and t.name in ("push", "pull", "hold")]
    report.claim("what lasts is first said after it began, in the mean", float(np.mean(pushes)), high=0.6, unit="s")
    surer = (np.array(right)[:, None] > np.array(wrong)[None, :]).mean()
    report.claim("a right answer is surer than a wrong one", surer, low=0.75)
    report.values |= {
        "right": {family: round(share_right(counts), 4) for family, counts in tables.items()},
        "right_by_the_references_list": {family: round(x, 4) for family, x in printed.items()},
        "confusion": {family: counts.tolist() for family, counts in tables.items()},
        "said_before_the_last": sum(len(x) > 1 for t, x in streams if t.name in ("push", "pull", "tap", "stroke")),
    }
    report.figure("avatar-patterns", draw_confusions(tables))
    report.figure("avatar-patterns-sureness", draw_sureness(np.array(right), np.array(wrong)))
    report.figure("avatar-patterns-said", draw_streams(streams))


def _began_s(t: Touch) -> float:
    return float(np.flatnonzero(np.linalg.norm(t.force, axis=1) > 0.5)[0]) * 1e-3


def _released_s(t: Touch) -> float:
    return float(np.flatnonzero(np.linalg.norm(t.force, axis=1) > 0.35)[-1]) * 1e-3
