"""`palpate ...`: arguments only.  What a command does lives where it belongs and is imported when it is asked for."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.table import Table
from rich.text import Text

from palpate import __version__
from palpate.printable import complain, printable
from palpate.registry import Registry, everything
from palpate.runtime.ending import exit_code
from palpate.study_commands import Study, Sweep
from palpate.terminal import console, say, say_marked, warned
from palpate.whole_files import write_whole

# what each numeric option may be, wherever it occurs
NUMBERS = {
    "seconds": (1e-3, 1e8, "a time from 0.001 to 1e8 s (without it there is no limit)"),
    "port": (0, 65535, "a number from 0 to 65535; 0 picks a free port"),
    "rounds": (1, 100_000, "a number from 1 to 100000"),
}
EditMode = Literal["wait", "hold", "resume", "blend", "teach"]
BenchName = Literal["dynamics", "contact", "servo", "link", "page", "record", "avatars", "planar", "mobile", "batch",
                    "sweep"]  # fmt: skip


@dataclass
class Doctor:
    """What this machine can do: versions, clock, scheduling, kernel cache."""

    warm: bool = False
    """Compile all kernels now, so that the first start of everything else is quick."""

    def run(self) -> int:
        from palpate.doctor import examine, warm_up

        if self.warm:
            warm_up(console)
        for finding in examine():
            mark, style = ("ok  ", "green") if finding.ok else ("note", "yellow")
            say_marked(mark, style, f" {finding.name}: {finding.text}")
        return 0


@dataclass
class Bench:
    """Speed, side by side with the engines that are installed, in one run."""

    what: Annotated[BenchName, tyro.conf.Positional] = "dynamics"
    """dynamics: forward and inverse dynamics beside Pinocchio.  contact: the whole step of robots, stacks and piles
    beside MuJoCo, PyBullet, Rapier and Drake.  servo: how well the loop holds its rate, and how old hands and frames
    are when they arrive.  link: the same across a link, whose packets are lost, late or doubled.  page: from the
    pointer to the picture, several pages at once, and how long a start takes.  record: whether recordings keep up, and
    what kill -9 costs them.  avatars: what each of their controllers takes, and whether their scenes hold 1 kHz.
    planar: the servo step of the planar interface beside numpy, its bodies beside pymunk, and whether it holds 4 kHz.
    mobile: the tick of mobile displays, walks without a device, and the proxy beside numpy.  batch: many copies of a
    robot at once, on one core and on two, beside mujoco.rollout.  sweep: what sweeps cost beside their tasks."""
    rounds: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """dynamics (15), contact, planar, batch (5): interleaved rounds for each number; more rounds, steadier medians."""
    quick: bool = False
    """contact, planar, mobile, batch, sweep: a fiftieth of all steps, to see that everything runs."""
    seconds: Annotated[float | None, tyro.conf.arg(metavar="S")] = None
    """servo, avatars, planar, mobile (4), link (2.4), page (1.5), record (5) and sweep (10): how long each row is
    measured [s]."""
    out: Annotated[Path | None, tyro.conf.arg(name="json", metavar="FILE")] = None
    """Also write everything as JSON."""

    def run(self) -> int:
        from palpate.bench import BENCHES

        bench = BENCHES[self.what]
        with console.status("compiling, or loading from the cache ...") as status:
            result = bench.measure(lambda what: status.update(f"measuring {what} ..."), rounds=self.rounds,
                                   quick=self.quick, seconds=self.seconds)  # fmt: skip
        bench.show(console, result)
        if self.out:
            write_whole(self.out, json.dumps(result, indent=2) + "\n")
            say(f"written to {self.out}")
        return 0


@dataclass
class Touch:
    """The main job: run a scene in real time and open the page; drag the arm with the mouse."""

    scene: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SCENE")] = "arm"
    """Its name, `palpate scenes` lists them; or a robot arm: ur5, panda, kinova, or a .urdf file, which gets a line to
    follow, a wall and an obstacle."""
    device: Annotated[str, tyro.conf.arg(metavar="NAME")] = "pointer"
    """What the hand holds beside the page's pointer: NAME or NAME:WHICH; `palpate devices` lists them."""
    mode: Literal["push", "pull"] = "pull"
    """With a device: push what it touches; pull: and take hold of it while its button is pressed."""
    edit: EditMode | None = None
    """What a touch does to a planned motion: wait for the hand; hold the acceleration it gave; resume to the goal;
    blend its push into the plan; teach a new one.  Default: as the scene has it."""
    remote: Annotated[str | None, tyro.conf.arg(metavar="HOST:PORT")] = None
    """Touch what `palpate serve` runs there; SCENE and --edit are then the other side's."""
    watch: bool = False
    """With --remote: only look; never ask for the hand."""
    estimate: Literal["hold", "interpolate", "extrapolate"] = "extrapolate"
    """With --remote: the state between two packets."""
    key: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """With --remote: the file of the key that both sides have; or set PALPATE_KEY."""
    record: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Record every frame into this MCAP file."""
    browser: bool = True
    """Open the page in the browser."""
    host: Annotated[str, tyro.conf.arg(metavar="ADDRESS")] = "127.0.0.1"
    """Address of the page; the printed one has a token, for whoever is not you on this machine."""
    port: int = 8642
    """Port of the page; 0 picks one."""
    tls: bool = False
    """Serve the page by https, with a certificate made now: a headset on another machine asks for it."""
    seconds: Annotated[float | None, tyro.conf.arg(metavar="S")] = None
    """Stop after this time [s]; default: until Ctrl-C."""

    def run(self) -> int:
        from palpate.runtime import commands as live

        if self.remote is None:
            if self.watch or self.key:
                raise ValueError("--watch and --key are for --remote")
            return live.touch(self.scene, self.device, self.mode, self.edit, self.record, self.browser, self.host,
                              self.port, self.tls, self.seconds, say)  # fmt: skip
        if self.edit is not None:
            raise ValueError("--edit belongs to the other side: palpate serve SCENE --edit ...")
        return live.touch_remote(self.remote, self.device, self.mode, self.watch, self.estimate, self.key, self.record,
                                 self.browser, self.port, self.seconds, say)  # fmt: skip


@dataclass
class Serve:
    """Run a scene in real time for hands on other machines, over UDP: `palpate touch --remote HOST:PORT`."""

    scene: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SCENE")] = "arm"
    """As in `palpate touch`."""
    edit: EditMode | None = None
    """As in `palpate touch`."""
    record: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Record every frame into this MCAP file."""
    host: Annotated[str, tyro.conf.arg(metavar="ADDRESS")] = "127.0.0.1"
    """Address to listen on; one that others can reach needs a key on both sides."""
    port: int = 8643
    """UDP port; 0 picks one."""
    key: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """File of the key; or set PALPATE_KEY."""
    seconds: Annotated[float | None, tyro.conf.arg(metavar="S")] = None
    """Stop after this time [s]; default: until Ctrl-C."""

    def run(self) -> int:
        from palpate.runtime.commands import serve

        return serve(self.scene, self.edit, self.record, self.host, self.port, self.key, self.seconds, say)


@dataclass
class Replay:
    """Show a recording on the page, with a time line to scrub."""

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """A recording that `palpate touch` made."""
    browser: bool = True
    """Open the page in the browser."""
    port: int = 8642
    """Port of the page; 0 picks one."""
    seconds: Annotated[float | None, tyro.conf.arg(metavar="S")] = None
    """Stop after this time [s]; default: until Ctrl-C."""

    def run(self) -> int:
        from palpate.runtime.commands import replay

        return replay(self.file, self.browser, self.port, self.seconds, say)


@dataclass
class Recover:
    """Repair a recording whose recorder was killed: writes what is whole into a new file."""

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """A recording that `palpate touch` made."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """Where to; default: beside the original, which is kept."""

    def run(self) -> int:
        from palpate.record.recover import recover

        with console.status("reading ..."):
            report = recover(self.file, self.out)
        say(f"{report.frames} frames, {report.seconds:.3f} s, in {report.path}; "
            f"{report.lost_bytes} bytes at the end could not be read")  # fmt: skip
        return 0


@dataclass
class Export:
    """Turn a recording into CSV, Parquet or a joint trajectory."""

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """A recording that `palpate touch` made."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """Where to; default: beside the recording."""
    format: Literal["csv", "parquet", "trajectory", "hand", "hands", "marks"] = "csv"
    """trajectory: joint positions and velocities over time as JSON, in the manner of ROS.  hand: what the first device
    did, for `--device playback:FILE`; without a device the same as hands: what the page's hands did, tick by tick.
    marks: the markers and their data."""
    everything: bool = False
    """Also the contacts, the poses of all bodies and the lateness histogram."""

    def run(self) -> int:
        from palpate.record.export import export

        out = self.out or self.file.with_suffix(
            {"trajectory": ".json", "csv": ".csv", "parquet": ".parquet"}.get(self.format, f".{self.format}.csv")
        )
        with console.status("exporting ...") as status:
            rows = export(self.file, out, self.format, self.everything,
                          lambda part: status.update(f"exporting ... {100 * part:.0f} %"), note=say)  # fmt: skip
        say(f"{rows} {'points' if self.format == 'trajectory' else 'rows'} in {out}")
        return 0


@dataclass
class Run:
    """Run an experiment or a plug-in simulation: headless, simulated time, deterministic.  Exit 1 if a claim fails."""

    experiment: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="EXPERIMENT")]
    """Its name; `palpate experiments` lists them.  Or a plug-in: FILE.py, FILE.py:CLASS, or the name an installed
    package gives it."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """Experiments: folder for report.json and the figures; default: out/EXPERIMENT."""
    seconds: Annotated[float | None, tyro.conf.arg(metavar="S")] = None
    """Plug-ins: how long, in simulated time [s]; default: 10."""
    scene: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """Plug-ins: run it in the world of this scene instead of its own."""
    set: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE ...")] = ()
    """Experiments that take options, such as z-width: mass_kg=0.1 rate_hz=4000 method=controller."""

    def run(self) -> int:
        from palpate.experiments import plugins
        from palpate.experiments.report import option, run

        if plugins.is_plugin(self.experiment):
            if self.out is not None or self.set:
                raise ValueError("--out and --set are for experiments; a plug-in writes what it likes itself")
            done = plugins.run_plugin(self.experiment, 10.0 if self.seconds is None else self.seconds, self.scene, say)
            say(f"{done.name}: {done.simulated_s:g} s in {done.steps} steps took {done.real_s:.2f} s; "
                f"{done.contacts} contacts at the end")  # fmt: skip
            return 0
        if self.seconds is not None or self.scene is not None:
            raise ValueError("--seconds and --scene are for plug-ins; an experiment knows its own")
        out = self.out or Path("out") / self.experiment
        report = run(self.experiment, out, say, **dict(map(option, self.set)))
        for claim in report.claims:
            mark, style = ("holds", "green") if claim.passed else ("FAILS", "red")
            low = "" if claim.low is None else f"{claim.low:g} <= "
            high = "" if claim.high is None else f" <= {claim.high:g}"
            say_marked(mark, style, f"  {claim.name}: {low}{claim.value:.4g}{high} {claim.unit}".rstrip())
        say(f"{sum(c.passed for c in report.claims)} of {len(report.claims)} claims hold; report and figures in {out}")
        return 0 if report.passed else 1


@dataclass
class Calibrate:
    """Find how tracker, robot and arm of a mobile display sit on each other, from recorded poses."""

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """CSV, a row for each pose: heading_deg, sensor_x_mm, .., theta1_deg, .., tool_x_mm, .. (or _rad, _m)."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """Also write report.json and figures of the residuals into this folder."""

    def run(self) -> int:
        from palpate.mobile.calibration.command import calibrate_file

        calibrate_file(self.file, self.out, console)
        return 0


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
        from palpate.scenes import SCENES

        return _list(SCENES, "scenes")


@dataclass
class Devices:
    """List the haptic devices that can be opened."""

    def run(self) -> int:
        from palpate.haptics.devices import DEVICES, DRIVERS
        from palpate.haptics.devices.opening import availability

        _list(DEVICES, "devices")
        console.print("\ndrivers, none of them tried on hardware yet:")
        return _list({name: (where, f"{about}\n{availability(name)}") for name, (where, about) in DRIVERS.items()},
                     "drivers")  # fmt: skip


def _list(registry: Registry, group: str) -> int:
    known = everything(registry, group)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, (_, line) in sorted(known.items()):
        table.add_row(Text(printable(name), style="bold"), "\n".join(map(printable, line.split("\n"))))
    console.print(table)
    return 0


def subcommand(name: str) -> object:
    return tyro.conf.subcommand(name, prefix_name=False)


Command = (
    Annotated[Touch, subcommand("touch")]
    | Annotated[Serve, subcommand("serve")]
    | Annotated[Replay, subcommand("replay")]
    | Annotated[Recover, subcommand("recover")]
    | Annotated[Export, subcommand("export")]
    | Annotated[Doctor, subcommand("doctor")]
    | Annotated[Bench, subcommand("bench")]
    | Annotated[Run, subcommand("run")]
    | Annotated[Sweep, subcommand("sweep")]
    | Annotated[Study, subcommand("study")]
    | Annotated[Calibrate, subcommand("calibrate")]
    | Annotated[Experiments, subcommand("experiments")]
    | Annotated[Scenes, subcommand("scenes")]
    | Annotated[Devices, subcommand("devices")]
)


def main(arguments: list[str] | None = None) -> int:
    """Entry point of the `palpate` command; errors are one line on stderr, exit 2 for a wrong call."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments in (["--version"], ["-V"]):
        print(f"palpate {__version__}")
        return 0
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            command = tyro.cli(Command, prog="palpate", args=arguments or ["touch"],
                               description="Touch a simulation: push, pull and feel articulated bodies.")  # fmt: skip
    except SystemExit as stop:
        if stop.code:
            complain(_one_line(complaint.getvalue()))
        return int(stop.code or 0)
    try:
        _check_numbers(command)
        with warnings.catch_warnings():
            warnings.showwarning = warned
            return int(command.run())
    except (ValueError, OSError, RuntimeError) as error:
        complain(str(error))
        return 2
    except KeyboardInterrupt as asked:
        return exit_code(asked)


def _check_numbers(command: object) -> None:
    """That every number which was given is one that the command can use."""
    for name, (low, high, what) in NUMBERS.items():
        value = getattr(command, name, None)
        if value is not None and not low <= value <= high:  # nan is not
            raise ValueError(f"--{name} takes {what}, got {value}")


def _one_line(box: str) -> str:
    """What the argument parser drew as a box, as one line."""
    lines = [
        line.strip(" │|") for line in re.sub(r"\x1b\[[0-9;]*m", "", box).splitlines() if line.startswith(("│", "|"))
    ]
    text = " ".join(line for line in lines if line and not set(line) <= set("─-"))
    text = text.replace("For full helptext, run", "see").strip()
    return text or " ".join(box.split())
