"""What an experiment leaves behind: claims with bounds, values, figures; written as report.json beside them."""

from __future__ import annotations

import json
import math
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from palpate import registry
from palpate.experiments import EXPERIMENTS
from palpate.whole_files import write_whole, written_whole


@dataclass(frozen=True)
class Claim:
    """A number that must lie within bounds (inclusive; None: no bound on that side)."""

    name: str
    value: float
    low: float | None
    high: float | None
    unit: str
    passed: bool


@dataclass
class Report:
    """Filled by an experiment while it runs."""

    experiment: str
    out: Path
    say: Callable[[str], None] = print  # progress, one line at a time
    claims: list[Claim] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    figures: list[str] = field(default_factory=list)
    recordings: list[str] = field(default_factory=list)

    def claim(
        self, name: str, value: float, low: float | None = None, high: float | None = None, unit: str = ""
    ) -> None:
        """State a number and the bounds it must keep; NaN keeps none."""
        value = float(value)
        passed = not math.isnan(value) and (low is None or value >= low) and (high is None or value <= high)
        self.claims.append(Claim(name, value, low, high, unit, passed))

    def figure(self, name: str, figure: Any) -> None:
        """Save a matplotlib figure as PNG and SVG."""
        for suffix in ("png", "svg"):
            with written_whole(self.out / f"{name}.{suffix}", "wb") as file:
                figure.savefig(file, format=suffix, dpi=150, bbox_inches="tight")
            self.figures.append(f"{name}.{suffix}")

    def recording(self, name: str) -> Path:
        """Where to record; the file is listed in the report."""
        self.recordings.append(f"{name}.mcap")
        return self.out / self.recordings[-1]

    @property
    def passed(self) -> bool:
        """True if there are claims and all hold."""
        return bool(self.claims) and all(c.passed for c in self.claims)


def run(name: str, out: Path, say: Callable[[str], None] = print, **options: float | str) -> Report:
    """Run an experiment by name into a folder, with options it takes; writes report.json even when a claim fails."""
    function = registry.find(EXPERIMENTS, "experiments", name)
    _check_options(name, function, options)
    out.mkdir(parents=True, exist_ok=True)
    report = Report(name, out, say)
    began = time.perf_counter()
    function(report, **options)
    seconds = time.perf_counter() - began
    document = {
        "experiment": name,
        "options": options,
        "passed": report.passed,
        "claims": [asdict(c) for c in report.claims],
        "values": report.values,
        "figures": report.figures,
        "recordings": report.recordings,
        "seconds": round(seconds, 3),
        "versions": {"palpate": version("palpate"), "python": platform.python_version(), "numpy": version("numpy")},
    }
    write_whole(out / "report.json", json.dumps(document, indent=2) + "\n")
    return report


def option(text: str) -> tuple[str, float | str]:
    """NAME=VALUE as --set has it; a value that looks like a number is one."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ValueError(f"--set takes NAME=VALUE, got {text!r}")
    try:
        number = float(value)
    except ValueError:
        return name, value
    if not math.isfinite(number):
        raise ValueError(f"--set takes finite numbers, got {text!r}")
    return name, number


def _check_options(name: str, function: Callable[..., None], options: dict[str, float | str]) -> None:
    takes = getattr(function, "options", ())
    for option in options:
        if option not in takes:
            known = f"it takes {', '.join(takes)}" if takes else "it takes none"
            raise ValueError(f"the experiment {name!r} has no option {option!r}; {known}")
