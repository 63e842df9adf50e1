"""Results of `palpate bench batch` as a table for the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from palpate.bench.tables import print_goals, print_load, wide


def batch_table(console: Console, result: dict[str, Any]) -> None:
    """Times of a step of a copy in us, with one thread and with two."""
    table = Table(title=f"a step of 1 ms of one of {result['copies']} copies, us (interleaved)", title_justify="left")
    for name in ("scene", "phase", "engine"):
        table.add_column(name, no_wrap=True)
    for name in ("threads", "step", "core", "cores", "height m", "ratio"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in result["rows"]:
        for i, run in enumerate(row["runs"]):
            theirs = run["engine"] != row["runs"][0]["engine"]
            table.add_row(
                *((f"{row['scene']} {row['points']}", row["phase"]) if i == 0 else ("", "")),
                f"{run['engine']} {run['setting']}", str(run["threads"]), f"{run['step_us']:.2f}",
                f"{run['core_us']:.2f}", f"{run['cores']:.2f}",
                f"{run['height_m']:.4f}{'' if row['same_height'] else ' !'}",
                f"{run['times_faster']:.2f}x" if theirs else "", end_section=i == len(row["runs"]) - 1,
            )  # fmt: skip
    wide(console).print(table)
    for title, us in result["called_us"].items():
        console.print(f"{title}, every step a call from Python, one thread: {us:.2f} us of a core for each copy")
    versions = ", ".join(f"{k} {v or 'not installed'}" for k, v in result["machine"]["packages"].items())
    print_load(console, result, f"; {versions}")
    for missing in result["missing"]:
        console.print(f"not measured: {missing} is not installed")
    print_goals(console, result)
    if result["quick"]:
        console.print("a quick run: it shows that everything runs; its times and heights mean nothing")
