"""Results of `palpate bench sweep` as a table for the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from palpate.bench.tables import print_goals, print_load, wide


def sweep_table(console: Console, result: dict[str, Any]) -> None:
    """What a sweep costs beside its tasks."""
    title = (
        f"tasks of {1e3 * result['task_s']:g} ms in {result['workers']} processes, from the first outcome to the last"
    )
    table = Table(title=title, title_justify="left")
    table.add_column("by", no_wrap=True)
    for name in ("tasks", "s", "mean ms", "overhead", "start s", "memory MB", "grown MB"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in result["rows"]:
        memory = ("", "") if row["memory_MB"] is None else (f"{row['memory_MB']:.0f}", f"{row['grown_MB']:.1f}")
        table.add_row(row["name"], str(row["tasks"]), f"{row['seconds']:.2f}", f"{row['mean_ms']:.2f}",
                      f"{100.0 * row['overhead']:.1f} %", f"{row['start_s']:.2f}", *memory)  # fmt: skip
    wide(console).print(table)
    console.print(f"a resumed sweep of {result['keys']} keys: {result['resume_s']:.2f} s from the command to its task")
    print_load(console, result)
    print_goals(console, result)
    if result["quick"]:
        console.print("a quick run: it shows that everything runs; its numbers mean nothing")
