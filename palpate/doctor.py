"""`palpate doctor`: what this machine can do, in plain words, and the kernels compiled ahead."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from palpate.bench.dynamics import installed
from palpate.bench.servo import fifo_permitted, lateness

PEERS = {"pin": "Pinocchio, peer of `palpate bench`", "mujoco": "MJCF files", "example-robot-data": "robots to try"}


class Finding(NamedTuple):
    ok: bool
    name: str
    text: str


def _clock() -> Finding:
    """Smallest step and cost of the monotonic clock."""
    samples = [time.perf_counter_ns() for _ in range(20000)]
    steps = [b - a for a, b in pairwise(samples) if b > a]
    return Finding(
        min(steps) < 1000, "clock", f"steps of {min(steps)} ns, read in {(samples[-1] - samples[0]) / 2e4:.0f} ns"
    )


def _servo(fifo: bool) -> Finding:
    """How late the ticks of a real servo begin, over half a second; compiles nothing."""
    from palpate.jit.starts.remaining import missing
    from palpate.runtime.world.tick import tick_world

    if missing([tick_world]):
        return Finding(False, "servo", "not measured: its kernels are not compiled yet (`palpate doctor --warm`)")
    row = lateness(1000, 0.5, fifo)
    text = (f"1 kHz for 0.5 s: ticks began {row['p50_us']:.0f} us late (median), {row['p99_us']:.0f} us (99 %), "
            f"{row['max_us']:.0f} us (worst); {100 * row['late_fraction']:.1f} % missed their time")  # fmt: skip
    return Finding(row["late_fraction"] < 0.01, "servo", text)


def _page() -> Finding:
    import webbrowser

    built = (Path(__file__).parent / "page" / "static" / "index.html").exists()
    if not built:
        return Finding(False, "page", "not built: `make page`")
    try:
        return Finding(True, "page", f"built; opens in {webbrowser.get().name}")
    except webbrowser.Error:
        return Finding(False, "page", "built; no browser found here, so open the address that `palpate touch` prints")


def _devices() -> Iterator[Finding]:
    """Devices that need nothing else, and what each driver finds; opens none."""
    from palpate.haptics.devices import DEVICES, DRIVERS
    from palpate.haptics.devices.opening import availability
    from palpate.registry import everything

    yield Finding(True, "devices", ", ".join(everything(DEVICES, "devices")))
    for name in DRIVERS:
        found = availability(name)
        yield Finding(found.startswith("found"), name, found)


def _scheduling() -> Finding:
    if not hasattr(os, "sched_setscheduler"):
        return Finding(False, "scheduling", f"{platform.system()} has no SCHED_FIFO: ticks will be late under load")
    if not fifo_permitted():
        return Finding(False, "scheduling", "SCHED_FIFO is not permitted; ticks will be late under load "
                       "(allow it: rtprio in limits.conf, or CAP_SYS_NICE)")  # fmt: skip
    return Finding(True, "scheduling", "SCHED_FIFO is permitted: a servo loop can hold its rate beside other programs")


def _loop() -> Finding:
    """What times the loop: the same compiled schedule everywhere, another clock behind it."""
    from palpate.jit.clock import CLOCK

    if CLOCK == "libc":
        return Finding(True, "loop", "compiled, sleeps by libc's clock_nanosleep: Python cannot delay it")
    return Finding(False, "loop", "compiled, sleeps and spins by Python's monotonic clock: best effort, for all that "
                   "Python does delays it")  # fmt: skip


def _cache() -> Finding:
    from palpate.jit.cache import prebuilt
    from palpate.jit.cache.functions import cache_dir, why_not_elsewhere

    folder, why = cache_dir(), why_not_elsewhere()
    brought = list(prebuilt.FOLDER.glob("*.nbc")) if prebuilt.usable(prebuilt.FOLDER) else []
    if folder is None:
        return Finding(False, "kernels", f"every start compiles, nothing is kept: {why}; name a folder of your "
                       "own in PALPATE_CACHE_DIR")  # fmt: skip
    sizes = []
    for file in folder.rglob("*.nbc"):
        with suppress(FileNotFoundError):  # another start has just replaced it
            sizes.append(file.stat().st_size)
    hint = "" if sizes else "; `palpate doctor --warm` compiles them ahead"
    if brought:
        hint = f"; {len(brought)} came with palpate"
    if not os.access(folder, os.W_OK):
        hint += "; only read, what is missing is not kept"
    if why:
        hint += f"; not elsewhere: {why}"
    return Finding(
        bool(sizes or brought), "kernels", f"{len(sizes)} compiled, {sum(sizes) / 1e6:.1f} MB in {folder}{hint}"
    )


def examine() -> Iterator[Finding]:
    """One finding after another; nothing here takes more than a few seconds."""
    yield Finding(sys.version_info >= (3, 11), "python", f"{platform.python_version()} on {platform.system()} "
                  f"{platform.machine()}, {os.cpu_count()} cores")  # fmt: skip
    supported = platform.system() == "Linux" and platform.machine() == "x86_64"
    if not supported:
        yield Finding(False, "platform", "only Linux on x86-64 has been tried; elsewhere simulated time should work, "
                      "and sessions: no links to other machines, on Windows neither page nor recording")  # fmt: skip
    yield Finding(True, "packages", ", ".join(f"{n} {installed(n)}" for n in ("palpate", "numpy", "numba")))
    for name, use in PEERS.items():
        found = installed(name)
        yield Finding(bool(found), name, f"{found} ({use})" if found else f"not installed ({use})")
    yield _clock()
    scheduling = _scheduling()
    yield scheduling
    yield _loop()
    yield _cache()
    yield _servo(fifo=scheduling.ok)
    yield from _devices()
    yield _page()


def warm_up(console: Console) -> None:
    """Compile every entry, or load it from the cache, with a bar that says which."""
    import palpate.bench.loops
    import palpate.dynamics.entries
    import palpate.mobile.display.displays
    import palpate.planar.simulation
    import palpate.runtime.world.simulation
    import palpate.world.entries
    import palpate.world.many.batch  # noqa: F401
    from palpate.jit import compile_listener, entries
    from palpate.jit.routines import routines

    began = time.perf_counter()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        doors: list[Any] = [*entries, *routines]
        task = progress.add_task("compiling", total=len(doors))
        for door in doors:
            name = door.__name__

            def heard(_: str, kernels: int, seconds: float, done: bool, name: str = name) -> None:
                progress.update(task, description=f"compiling {name}: {kernels} kernels")

            with compile_listener(heard):
                door.warm()
            progress.advance(task)
    console.print(f"{len(doors)} entries ready in {time.perf_counter() - began:.1f} s")
