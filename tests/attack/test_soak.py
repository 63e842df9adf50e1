"""A soak: `palpate touch` as a whole, for ten seconds, or for an hour with PALPATE_SOAK_S=3600.

Session, page and recorder run as a person starts them, with a device.  Visitors come and go all the time: they drag,
add and remove bodies, mark, reset; strangers ask for what is not there.  Every process is looked at from outside, and
the recording has the rest.  Asserted are slopes: what grows by itself is found by the hour, whatever its size.

`pytest -s` prints the table.
"""

import asyncio
import os
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import aiohttp
import numpy as np
import pytest
from browsing import Touched
from clients import connected
from waiting import WAIT_S

from palpate import jit
from palpate.frame import COUNTERS
from palpate.record.reader import Recording

pytestmark = [
    pytest.mark.slow,
    pytest.mark.real_time,
    pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler"),
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc"),
]
SOAK_S = float(os.environ.get("PALPATE_SOAK_S", "10"))
LONG_S = 600.0  # from here on lateness and losses are asserted too: in a short soak a busy machine may cause them
ROWS, SHOWN = 60, 13
SETTLING = 0.25  # of the time: pools and caches fill
MOST_GROWTH_MB = 8.0  # of a process over the soak, by its slope; a frame kept once a second would be 20 MB an hour
VISIT_S = 1.0
CHILDREN = {"page": b"palpate.processes\0page", "recorder": b"palpate.processes\0recorder"}


class Process(NamedTuple):
    """One that runs, seen from outside."""

    name: str
    pid: int

    @property
    def memory_MB(self) -> float:
        """Its own; rings and libraries, which it shares, fill as they are read."""
        _, resident, shared, *_ = map(int, Path(f"/proc/{self.pid}/statm").read_text().split())
        return (resident - shared) * os.sysconf("SC_PAGE_SIZE") / 1e6

    @property
    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))


def processes(session: int) -> list[Process]:
    """A session's process, its page's and its recorder's."""
    tasks = Path(f"/proc/{session}/task").glob("*/children")  # of whichever thread started them
    words = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for task in tasks for pid in task.read_text().split()}
    children = [Process(n, int(pid)) for n, module in CHILDREN.items() for pid in words if module in words[pid]]
    return [Process("session", session), *children]


class Recorded(NamedTuple):
    """What a recording says of every tick."""

    wall_s: np.ndarray
    late: np.ndarray
    tick_us: np.ndarray
    lost: int | None


def recorded(path: Path) -> Recorded:
    with Recording(path) as recording:
        at, late_at = recording.layout.offset, COUNTERS.index("late")
        rows = np.concatenate([
            block.words[:, [at["wall_ns"], at["counters"] + late_at, at["tick_us"]]] for block in recording.blocks()
        ])  # fmt: skip
        return Recorded(rows[:, 0] / 1e9, rows[:, 1], rows[:, 2].copy().view(np.float64), recording.lost)


def write_stirring(path: Path) -> None:
    """A device's hand that goes round and round, up and down, and takes hold for a second in every three."""
    t = np.arange(0.0, SOAK_S + WAIT_S, 0.05)
    columns = t, 0.05 * np.cos(2.0 * t), 0.05 * np.sin(2.0 * t), 0.06 * np.sin(0.7 * t), t % 3.0 < 1.0
    np.savetxt(path, np.stack(columns, axis=1), "%.4f,%.4f,%.4f,%.4f,%d", header="time_s,x,y,z,buttons", comments="")


async def visit(url: str, number: int) -> None:
    """One who drags a body, adds another and takes it away again, leaves a mark, and goes."""
    async with connected(url) as visitor:
        bodies = [k for k, body in enumerate(visitor.hello["bodies"]) if body["touchable"] and not body["parked"]]

        async def ask(request: int, what: str, **more: Any) -> dict[str, Any]:
            await visitor.request(request, what, **more)
            return await visitor.answer(id=request)

        added = await ask(1, "add", at=[0.3, 0.3, 0.5], kind=("box", "ball")[number % 2])
        assert (await ask(2, "mark", text=f"visit {number}", data={"number": number}))["ok"]
        await visitor.say({"type": "take"})
        hand = {"type": "hand", "body": bodies[number % len(bodies)], "at_body": [0, 0, 0], "stiffness": 400}
        ended = time.monotonic() + VISIT_S
        while (now := time.monotonic()) < ended:
            await visitor.say({**hand, "target": [0.5 + 0.1 * np.cos(3 * now), 0.1 * np.sin(3 * now), 0.4]})
            await asyncio.sleep(1 / 60)
        await visitor.say({"type": "release"})
        if added["ok"]:
            await ask(3, "remove", name=added["name"])
        if number % 5 == 4:
            await visitor.say({"type": "event", "kind": "reset", "value": 0})


async def intrude(url: str) -> None:
    """Those who ask for what is not there, come without the token, or say what nobody understands."""
    where = urlsplit(url)
    async with aiohttp.ClientSession() as session:
        for path in ("/../../etc/passwd", "/ws", "/mesh/9999", "/?token=wrong"):
            with suppress(aiohttp.ClientError):
                async with session.get(f"{where.scheme}://{where.netloc}{path}") as answer:
                    await answer.read()
    async with connected(url) as odd:
        for said in ("", "[]", '{"type": "hand"}', '{"type": "request", "id": 1, "what": "nothing"}'):
            await odd.say(said)


async def stay(url: str) -> None:
    """A page that is open all the time, and reads what it is sent."""
    async with connected(url) as watcher:
        async for _ in watcher.ws:
            pass


async def soak(url: str, looked_at: list[Process]) -> np.ndarray:
    """Rows of wall clock [s], then memory [MB] and open files of each process."""
    staying, visits, rows, ended = asyncio.create_task(stay(url)), count(), [], time.monotonic() + SOAK_S
    while time.monotonic() < ended:
        row_ends = time.monotonic() + SOAK_S / ROWS
        while not rows or time.monotonic() < row_ends:
            await visit(url, next(visits))
            await intrude(url)
            if not rows:
                break
        memory, files = [p.memory_MB for p in looked_at], [p.open_files for p in looked_at]
        rows.append([time.monotonic(), *memory, *files])
    assert not staying.done(), "the page that was open all the time was sent away"
    staying.cancel()
    with suppress(asyncio.CancelledError):
        await staying
    print(f"\n{next(visits)} visits in {SOAK_S:g} s")
    return np.array(rows)


def slope(t: np.ndarray, y: np.ndarray) -> float:
    """The median of the slopes between all pairs (Theil and Sen): a few outliers do not bend it."""
    i, j = np.triu_indices(len(t), k=1)
    return float(np.median((y[j] - y[i]) / (t[j] - t[i])))


def show(rows: np.ndarray, names: list[str], run: Recorded) -> None:
    print(f"{'t [s]':>6}" + "".join(f"{name + ' [MB]':>15}" for name in names) + "  open files    late    tick [us]")
    n = len(names)
    for row in rows[np.linspace(0, len(rows) - 1, min(len(rows), SHOWN)).astype(int)]:
        at = min(int(np.searchsorted(run.wall_s, row[0])), len(run.late) - 1)
        print(f"{row[0] - rows[0, 0]:6.0f}" + "".join(f"{MB:15.1f}" for MB in row[1 : 1 + n]), end="  ")
        print(" ".join(f"{int(files):3}" for files in row[1 + n :]), end=" ")
        print(f"{run.late[at]:8} {np.median(run.tick_us[max(0, at - 1000) : at + 1]):12.0f}")


def test_nothing_grows_gets_later_or_is_lost_by_the_hour(tmp_path: Path) -> None:
    path, stirring = tmp_path / "soak.mcap", tmp_path / "stirring.csv"
    write_stirring(stirring)
    running = Touched("training", "--device", f"playback:{stirring}", "--record", str(path))
    try:
        looked_at = processes(running.process.pid)
        assert {process.name for process in looked_at} == {"session", "page", "recorder"}
        rows = asyncio.run(asyncio.wait_for(soak(running.url, looked_at), SOAK_S + WAIT_S))
        assert processes(running.process.pid) == looked_at, "one of them ended, and was started again"
    finally:
        running.end()
    assert running.process.returncode == 0, running.said

    names, run = [process.name for process in looked_at], recorded(path)
    path.unlink()  # an hour has a gigabyte
    show(rows, names, run)
    settled = rows[int(SETTLING * len(rows)) :]
    per_soak = [SOAK_S * slope(settled[:, 0], column) for column in settled[:, 1:].T]
    growth_MB, files = dict(zip(names, per_soak[: len(names)])), dict(zip(names, per_soak[len(names) :]))
    print("growth by slope: " + ", ".join(f"{name} {MB:+.2f} MB" for name, MB in growth_MB.items()))
    print("".join(running.said[-2:]))

    assert max(growth_MB.values()) < MOST_GROWTH_MB, growth_MB
    assert max(files.values()) < 1.0, files
    if SOAK_S >= LONG_S:
        half = len(run.late) // 2
        first, second = run.late[half] / half, (run.late[-1] - run.late[half]) / (len(run.late) - half)
        # other programs make ticks late as well, so a trend must stand out of a hundredth
        assert second < 2.0 * first + 0.01, f"late in the first half {first:.2%}, in the second {second:.2%}"
        assert np.median(run.tick_us[half:]) < 1.5 * np.median(run.tick_us[:half])
        assert run.lost == 0
