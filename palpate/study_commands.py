"""`palpate sweep` and `palpate study`: arguments only, as in cli.py."""

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


@dataclass
class Study:
    """Ask people: lead a participant through a perceptual study, or analyse the answers.  Exit 1: some are missing."""

    file: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """A study as a TOML file, or the name of one that comes along: study-walls, study-friction, study-delay,
    study-handover."""
    participant: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Who sits there: a number from 1 on, and nothing else.  Whoever was interrupted goes on where they were."""
    report: bool = False
    """Analyse the answers so far: report.json, answers.csv and figures."""
    simulate: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=NUMBER ...")] = ()
    """Nobody sits there: an observer with this threshold=, width=, lapse= (or exponent=, noise=, rating=) answers."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """Folder of the answers; default: out/STUDY."""
    device: Annotated[str, tyro.conf.arg(metavar="NAME")] = "pointer"
    """What the hand holds beside the page's pointer, where the study does not say."""
    record: bool = True
    """Record forces and motion, with a marker for all that is felt and answered."""
    browser: bool = True
    """Open the page in the browser."""
    host: Annotated[str, tyro.conf.arg(metavar="ADDRESS")] = "127.0.0.1"
    """Address of the page."""
    port: int = 8642
    """Port of the page; 0 picks one."""
    seconds: Annotated[float | None, tyro.conf.arg(metavar="S")] = None
    """Stop after this time [s]; what was answered is kept."""

    def run(self) -> int:
        from palpate.experiments.studies.people.analysis import analyse, say_report
        from palpate.experiments.studies.people.plan import find_study

        study = find_study(self.file)
        folder = self.out or Path("out") / study.name
        if self.report:
            if self.participant is not None or self.simulate:
                raise ValueError("--report is of all participants: without --participant and --simulate")
            say_report(analyse(study, folder, say), say)
            say(f"report and figures in {folder}")
            return 0
        if self.participant is None:
            raise ValueError("--participant N says who sits there, by a number; --report analyses the answers")
        if self.simulate:
            return self._simulated(study, folder)
        from palpate.experiments.studies.people.live import conduct

        return conduct(study, self.participant, folder, self.device, self.record, self.browser, self.host, self.port,
                       self.seconds, say)  # fmt: skip

    def _simulated(self, study: object, folder: Path) -> int:
        from palpate.experiments.studies.people.answers import Answers
        from palpate.experiments.studies.people.conduct import Conductor
        from palpate.experiments.studies.people.observers import read_observer
        from palpate.experiments.studies.people.plan import Study as Plan

        assert isinstance(study, Plan)
        assert self.participant is not None
        observer = read_observer(self.simulate, study)
        with Answers(folder, study, self.participant) as answers:
            observer.attend(Conductor(study, answers))
            say(f"{sum(line['kind'] == 'trial' for line in answers.done)} trials answered, in {answers.path}")
        return 0
