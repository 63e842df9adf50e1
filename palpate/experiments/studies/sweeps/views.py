"""What a figure shows of a plan: which parameter goes where, and how names and scales are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from palpate.experiments.studies.sweeps.plan import Plan
from palpate.experiments.studies.sweeps.samples import Value

UNITS = {
    "Ns_m": "N s/m", "Nms_rad": "N m s/rad", "N_m": "N/m", "N_s": "N/s", "Nm_rad": "N m/rad", "rad_s": "rad/s",
    "deg_s": "deg/s", "1_s": "1/s", "percent": "%",
    "m_s2": "m/s²", "m_s": "m/s", "Nm": "N m", "hz": "Hz", "kg": "kg", "mm": "mm", "ms": "ms",
    "us": "µs", "rad": "rad", "deg": "deg", "mJ": "mJ", "N": "N", "J": "J", "m": "m", "s": "s",
}  # fmt: skip
MOST_PANELS, MOST_LINES, MOST_BESIDE = 9, 8, 4
LINES, HEAT, SCATTER, DISTRIBUTION = "lines", "heat", "scatter", "distribution"


class View(NamedTuple):
    """kind of the figure; x and y its axes, of lines y its panels; `by` panels of a heat map, and else colours."""

    kind: str
    x: str = ""
    y: str = ""
    by: str = ""


def view(plan: Plan) -> View:
    """What the plan asks for; else what suits it: of two axes a heat map, of one lines, of samples points."""
    asked, varied = plan.drawn, plan.varied
    sampled = [n for f in plan.factors if len(f.names) > 1 or f.size > 40 for n in f.names if is_number(varied[n])]
    axes = sorted((n for n in varied if is_number(varied[n]) and n not in sampled and len(varied[n]) > 1),
                  key=lambda n: -len(varied[n]))  # fmt: skip
    wished = [n for n in (asked.x, asked.y if asked.kind != LINES else "") if n]
    axes = wished + [n for n in axes if n not in (*wished, asked.by)]
    kind = asked.kind or (HEAT if len(axes) > 1 else LINES if axes else SCATTER if sampled else DISTRIBUTION)
    x = "" if kind == DISTRIBUTION else next(iter(axes or sampled or varied), "")
    y = next((n for n in [*axes, *varied] if n != x), "") if kind == HEAT else ""
    if kind == HEAT and not y:
        kind = LINES
    most = MOST_PANELS if kind == HEAT else MOST_LINES
    rest = [n for n in varied if n not in (x, y) and 1 < len(varied[n]) <= most]
    by = asked.by or next((n for n in rest if not is_number(varied[n])), next(iter(rest), ""))
    if kind == LINES:
        y = asked.y or next((n for n in rest if n != by and len(varied[n]) <= MOST_BESIDE), "")
    return View(kind, x, y, by)


def is_number(values: Sequence[Value]) -> bool:
    return all(isinstance(v, float | int) and not isinstance(v, bool) for v in values)


def is_logarithmic(values: Sequence[Value]) -> bool:
    """Positive, and either spread widely with most of them near zero, or by equal ratios, which somebody meant so."""
    if not is_number(values) or len(values) < 3:
        return False
    x = np.unique(np.array(values, float))
    if len(x) < 3 or x[0] <= 0.0 or not np.isfinite(x[-1]):
        return False
    ratios = x[1:] / x[:-1]
    wide = x[-1] > 30.0 * x[0] and np.median(x) < 0.25 * x[-1]
    return bool(wide or (ratios.max() / ratios.min() < 1.02 and ratios.max() > 1.2))


def label(name: str, value: str = "") -> str:
    """A name for people, with its unit, where it ends in one; or with a value of it."""
    words, unit = name.replace("_", " "), ""
    for suffix, known in UNITS.items():
        if name.endswith(f"_{suffix}"):
            words, unit = name.removesuffix(f"_{suffix}").replace("_", " "), known
            break
    if value:
        return f"{words} {value} {unit}".rstrip()
    return f"{words} [{unit}]" if unit else words


def tick(value: Value) -> str:
    """Three digits of a number; without an exponent as long as that is short."""
    return f"{float(f'{value:.3g}'):g}" if isinstance(value, float) else str(value)


def file_name(metric: str, taken: set[str]) -> str:
    """A metric's name as that of a file, and of no other one's."""
    plain = re.sub(r"[^A-Za-z0-9_.=-]+", "-", metric).strip("-.")[:80] or "metric"
    name, k = plain, 2
    while name in taken:
        name, k = f"{plain}-{k}", k + 1
    taken.add(name)
    return name
