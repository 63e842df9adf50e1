"""The loop where there is no Linux: the same schedule by Python's clock, and no name that only Linux has."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import FINDS_US

from palpate import jit

ROOT = Path(__file__).parents[2] / "palpate"
pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")

# Before palpate is imported: a system without them.  numpy, numba and what they load have seen the real one.
ELSEWHERE = """
import ctypes, os, sys
import numba, numpy, llvmlite.binding, multiprocessing, subprocess, tempfile, asyncio, concurrent.futures
for name in [name for name in dir(os) if name.startswith(("sched_", "SCHED_", "memfd_", "MFD_", "eventfd", "pidfd_"))]:
    delattr(os, name)
for name in ("fcntl", "resource", "termios", "pty"):
    sys.modules[name] = None
loaded = ctypes.CDLL
def refuse(name=None, *args, **options):
    assert name is not None, "a system without a libc to ask"
    return loaded(name, *args, **options)
ctypes.CDLL = refuse
"""


def elsewhere(code: str, **environment: str) -> str:
    """What a script prints on a system without Linux' own names."""
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE + code], capture_output=True, text=True, timeout=600,
        env=os.environ | {"PALPATE_CLOCK": "python", "PALPATE_QUIET": "1"} | FINDS_US | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_compiled_code_names_no_symbol_of_a_system():
    """Only our own: those of palpate/jit/clock.py, which are bound at import, and shared functions."""
    named = {
        (file.name, name)
        for file in ROOT.rglob("*.py")
        for name in re.findall(r"ExternalFunction\(\s*([^,]+),", file.read_text(encoding="utf-8"))
    }
    assert named == {("atomics.py", "GETTIME"), ("atomics.py", "NANOSLEEP"), ("shared.py", "self.symbol")}


@pytest.mark.slow
def test_a_session_runs_and_a_hand_feels_the_wall_on_a_system_without_linux():
    out = elsewhere("""
import palpate as pp
from palpate.jit.clock import CLOCK
from waiting import until

wall = pp.models.plane(normal=(-1.0, 0.0, 0.0))
world = pp.World([wall, pp.models.box(at=(-1.0, 0.0, 0.0), name="box")])
person = pp.Hand(intent=((0.0, (-0.01, 0, 0)), (0.3, (0.01, 0, 0))))
with pp.open_device("simulated:phantom-premium-1.5", hand=person) as device:
    with pp.touch(world, device, "push") as session:
        until(lambda: session.frame()["tick"] > 200)
        until(lambda: abs(session.frame()["device_force"][0, 0]) > 0.1)
        session.pause()
        until(lambda: session.frame()["state"] == 0)
        tick = session.frame()["tick"]
        session.step()
        until(lambda: session.frame()["tick"] == tick + 1)
        session.play()
        until(lambda: session.frame()["tick"] > tick + 50)
print(CLOCK, sum(session.report.lateness) == session.report.periods, not any(device.in_tick.port.force))
print(any("timed by Python's clock" in note for note in session.report.notes))
""")
    assert out.split() == ["python", "True", "True", "True"]


@pytest.mark.slow
def test_the_schedule_is_absolute_and_gives_up_what_is_over():
    """By a clock that only moves when the loop asks or sleeps: due at t0 + k T, whatever happens between."""
    out = elsewhere("""
import numpy as np
import palpate as pp
from palpate.frame import COUNTERS
from palpate.jit.clock import PythonClock
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes.scene import Scene
from palpate.servo.loop import SPIN_NS

T, READ, SPIN = 1_000_000, 1_000, 80_000  # [ns]

class Clock:
    now, sleeps, wakes = 5_000_000_000, 0, []

    def now_ns():
        Clock.now += READ
        return Clock.now

    def sleep_s(seconds):
        Clock.sleeps += 1
        # every tenth time it oversleeps by half a spin, once by five and a half periods
        late = 5.5 * T if Clock.sleeps == 50 else 0.5 * SPIN if Clock.sleeps % 10 == 0 else 0
        Clock.now += round(1e9 * seconds + late)

PythonClock.now_ns, PythonClock.sleep_s = Clock.now_ns, Clock.sleep_s
world = pp.World([pp.models.ball(at=(0, 0, 1))])
engine = WorldSimulation(Scene("world", "A world", world), lateness_log=200)
engine.restart()
engine.beat.control[SPIN_NS] = SPIN
start = Clock.now + READ
assert engine.loop(200) == 200
late = engine.beat.lateness_log
counters = dict(zip(COUNTERS, engine.head.counters.tolist()))
calm = np.delete(late, [49, 50])
assert 0 <= calm.min() and calm.max() <= 2 * READ, calm.max()  # half a spin late is still in time
assert abs(late[49] - (5.5 * T - SPIN)) <= 4 * READ, late[49]
assert abs(late[50] - (0.5 * T - SPIN)) <= 8 * READ, late[50]  # the last of those that are over: at once
assert counters["late"] == 1 and counters["skipped"] == 4, counters
# 200 periods and the four that were given up, and no drift
assert abs(Clock.now - (start + 204 * T)) <= 6 * READ, Clock.now - start
assert Clock.sleeps == 200
print("ok")
""")
    assert out.split() == ["ok"]


def test_what_the_clock_may_be_is_said():
    done = subprocess.run(
        [sys.executable, "-c", "import palpate.jit.atomics"], capture_output=True, text=True,
        env=os.environ | {"PALPATE_CLOCK": "sundial"},
    )  # fmt: skip
    assert done.returncode != 0
    assert "PALPATE_CLOCK is 'sundial', here it can be " in done.stderr


def test_doctor_says_which_clock_there_is():
    code = "\nfrom palpate.doctor import _loop, _scheduling\nprint(_loop().text)\nprint(_scheduling().text)"
    out = elsewhere(code)
    assert "Python's monotonic clock: best effort" in out
    assert "has no SCHED_FIFO" in out
    assert "Python-timed" not in out


def test_rings_work_without_linux_own_memory():
    out = elsewhere("""
import numpy as np
from palpate.servo.ring import Follower, Ring
ring = Ring.create(8, 2)
follower = Follower(ring)
for k in range(5):
    ring.write(np.array([k, -k]))
print([words.tolist() for words in follower.read()] == [[k, -k] for k in range(5)], ring.newest()[0])
ring.close()
""")
    assert out.split() == ["True", "5"]


def test_windows_is_told_that_there_is_no_page(monkeypatch):
    from palpate.runtime import children

    monkeypatch.setattr(children.os, "name", "nt")
    with pytest.raises(children.ChildError, match="run without page and recording"):
        children.Child("page", {}, [3])
