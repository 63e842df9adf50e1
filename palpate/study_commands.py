"""`palpate sweep`: arguments only, as in cli.py."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from palpate.terminal import console, say


@dataclass
class Sweep:
    """Vary an experiment or a function of yours over its parameters, on every core.  Goes on where it was stopped."""

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE.toml")]
    """What is called, over which grids, lists and samples, and how often: `docs/sweeps.md` has every word."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """Folder for results, recordings and figures; default: out/FILE."""
    on: Annotated[str, tyro.conf.arg(metavar="WHERE")] = "processes"
    """processes: one for each core, or processes:N.  here: no other process.  dask:ADDRESS: a cluster; dask:local to
    try it.  Or the name of an executor that a package brings."""
    retry: bool = False
    """Do tasks again that failed, hung or died."""
    report: bool = False
    """Run nothing; draw a figure for each metric of what has been found so far."""

    def run(self) -> int:
        from palpate.experiments.studies.sweeps import command

        if self.report:
            return command.report(self.file, self.out, say)
        return command.run(self.file, self.out, self.on, self.retry, console, say)
