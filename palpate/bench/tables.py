"""Bench results as tables for the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x"


def dynamics_table(console: Console, result: dict[str, Any]) -> None:
    """Times in us per call; a ratio above 1 means we are faster."""
    table = Table(title="forward and inverse dynamics, us per call (medians, interleaved)", title_justify="left")
    for name in ("robot", "nv", "algorithm", "compiled loop", "Python call", "Pinocchio", "loop ratio", "call ratio",
                 "agreement"):  # fmt: skip
        table.add_column(name, justify="left" if name in ("robot", "algorithm") else "right")
    for row in result["rows"]:
        peer = "-" if row["peer_us"] is None else f"{row['peer_us']:.2f}"
        agreement = "-" if row["agreement"] is None else f"{row['agreement']:.0e}"
        table.add_row(row["robot"], str(row["nv"]), row["algorithm"], f"{row['loop_us']:.2f}", f"{row['call_us']:.2f}",
                      peer, _ratio(row["loop_ratio"]), _ratio(row["call_ratio"]), agreement)  # fmt: skip
    console.print(table)
    machine = result["machine"]
    console.print(f"load {machine['load_1_min']:.2f} on {machine['cores']} cores before the run; "
                  f"Pinocchio {machine['packages']['pin'] or 'not installed'}")  # fmt: skip
    for missing in result["missing"]:
        console.print(f"not measured: {missing} is not installed")
    for line in result["shortfalls"]:
        console.print(f"below its goal: {line}")
    if not result["shortfalls"] and not result["missing"]:
        console.print("all goals met: 32-joint humanoids forward 3x and inverse 2x in the loop, no call slower")


def servo_table(console: Console, result: dict[str, Any]) -> None:
    """Lateness in us; late: ticks that ended after the next was due."""
    table = Table(
        title=f"servo of the arm, {result['seconds']:g} s each: how late ticks begin, in us", title_justify="left"
    )
    for name in ("rate", "neighbour", "FIFO", "p50", "p99", "p99.9", "max", "late"):
        table.add_column(name, justify="left" if name in ("neighbour", "FIFO") else "right")
    for row in result["rows"]:
        table.add_row(f"{row['rate_hz']} Hz", "busy" if row["busy"] else "-",
                      "yes" if row["fifo"] else "no",
                      *(f"{row[key]:.1f}" for key in ("p50_us", "p99_us", "p99.9_us", "max_us")),
                      f"{100 * row['late_fraction']:.3f} %")  # fmt: skip
    console.print(table)
    for name, row in result["latency"].items():
        console.print(f"{name}: {row['p50_ms']:.2f} ms (median), {row['p99_ms']:.2f} ms (99 %), "
                      f"{row['max_ms']:.2f} ms (largest of {row['samples']})", soft_wrap=True)  # fmt: skip
    machine = result["machine"]
    console.print(f"load {machine['load_1_min']:.2f} on {machine['cores']} cores before the run"
                  f"{'' if result['fifo_permitted'] else '; SCHED_FIFO is not permitted here'}")  # fmt: skip
