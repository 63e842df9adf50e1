"""`palpate ...`: arguments only.  What a command does lives where it belongs and is imported when it is asked for."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.console import Console
from rich.table import Table

from palpate.registry import Registry, everything

console = Console(highlight=False)


@dataclass
class Doctor:
    """What this machine can do: versions, clock, scheduling, kernel cache."""

    warm: bool = False
    """Compile all kernels now, so that the first start of everything else is quick."""

    def run(self) -> int:
        from palpate.doctor import examine, warm_up

        if self.warm:
            warm_up(console)
        ok = True
        for finding in examine():
            ok &= finding.ok
            console.print(f"[{'green' if finding.ok else 'yellow'}]{'ok  ' if finding.ok else 'note'}[/] "
                          f"{finding.name}: {finding.text}", soft_wrap=True)  # fmt: skip
        return 0


@dataclass
class Bench:
    """Speed, side by side with the engines that are installed, in one run."""

    what: Annotated[Literal["dynamics"], tyro.conf.Positional] = "dynamics"
    """dynamics: forward and inverse dynamics beside Pinocchio."""
    rounds: int = 15
    """Interleaved rounds of 10 ms for each number; more rounds, steadier medians."""
    out: Annotated[Path | None, tyro.conf.arg(name="json", metavar="FILE")] = None
    """Also write everything as JSON."""

    def run(self) -> int:
        from palpate.bench import dynamics
        from palpate.bench.tables import dynamics_table

        if self.rounds < 1:
            raise ValueError(f"--rounds must be at least 1, got {self.rounds}")
        with console.status("compiling, or loading from the cache ...") as status:
            result = dynamics.run(self.rounds, lambda robot: status.update(f"measuring {robot} ..."))
        dynamics_table(console, result)
        if self.out:
            self.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
            console.print(f"written to {self.out}")
        return 0


@dataclass
class Run:
    """Run an experiment: headless, simulated time, deterministic.  Exit 1 if a claim fails."""

    experiment: Annotated[str, tyro.conf.Positional]
    """Its name; `palpate experiments` lists them."""
    out: Path | None = None
    """Folder for report.json and the figures; default: out/EXPERIMENT."""

    def run(self) -> int:
        from palpate.experiments.report import run

        out = self.out or Path("out") / self.experiment
        report = run(self.experiment, out, console.print)
        for claim in report.claims:
            mark = "[green]holds[/]" if claim.passed else "[red]FAILS[/]"
            low = "" if claim.low is None else f"{claim.low:g} <= "
            high = "" if claim.high is None else f" <= {claim.high:g}"
            console.print(f"{mark}  {claim.name}: {low}{claim.value:.4g}{high} {claim.unit}".rstrip(), soft_wrap=True)
        console.print(f"{sum(c.passed for c in report.claims)} of {len(report.claims)} claims hold; "
                      f"report and figures in {out}", soft_wrap=True)  # fmt: skip
        return 0 if report.passed else 1


@dataclass
class Experiments:
    """List the experiments that `palpate run` knows."""

    def run(self) -> int:
        from palpate.experiments import EXPERIMENTS

        return _list(EXPERIMENTS, "experiments")


@dataclass
class Scenes:
    """List the scenes: ready-made worlds to touch."""

    def run(self) -> int:
        return _list({}, "scenes")


@dataclass
class Devices:
    """List the haptic devices that can be opened."""

    def run(self) -> int:
        return _list({}, "devices")


def _list(registry: Registry, group: str) -> int:
    known = everything(registry, group)
    if not known:
        console.print(f"no {group} yet: this version has none built in, and no installed package adds any "
                      f"(entry points of the group palpate.{group})", soft_wrap=True)  # fmt: skip
        return 0
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, (_, line) in sorted(known.items()):
        table.add_row(f"[bold]{name}[/]", line)
    console.print(table)
    return 0


def subcommand(name: str) -> object:
    return tyro.conf.subcommand(name, prefix_name=False)


Command = (
    Annotated[Doctor, subcommand("doctor")]
    | Annotated[Bench, subcommand("bench")]
    | Annotated[Run, subcommand("run")]
    | Annotated[Experiments, subcommand("experiments")]
    | Annotated[Scenes, subcommand("scenes")]
    | Annotated[Devices, subcommand("devices")]
)


def main(arguments: list[str] | None = None) -> int:
    """Entry point of the `palpate` command; errors are one line on stderr, exit 2 for a wrong call."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        command = tyro.cli(Command, prog="palpate", args=arguments or ["--help"],
                           description="Touch a simulation: push, pull and feel articulated bodies.")  # fmt: skip
        return int(command.run())
    except (ValueError, OSError) as error:
        print(f"palpate: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
