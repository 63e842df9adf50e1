"""Ctrl-C, a request to terminate, a terminal that is closed: at any moment, and whatever swallows them.

A command ends quietly, with nothing left running; a session takes its time to close what it has open.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import random
import signal
import sys
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import command
from waiting import until

from palpate import jit
from palpate.record.reader import Recording
from palpate.runtime import ending
from palpate.runtime.ending import Asked, Asking, Ending

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="signals as Linux has them")]
STATIC = Path(__file__).parents[2] / "palpate" / "page" / "static" / "index.html"
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def soon_again(monkeypatch, heeded_signals):
    monkeypatch.setattr(ending, "AGAIN_S", 0.02)
    before = [signal.getsignal(number) for number in (*SIGNALS, signal.SIGALRM)]
    yield
    assert [signal.getsignal(number) for number in (*SIGNALS, signal.SIGALRM)] == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def send(number: int) -> None:
    os.kill(os.getpid(), number)
    time.sleep(0.0)  # Python looks at signals between two lines


def swallow(number: int) -> None:
    """As libraries do."""
    with contextlib.suppress(BaseException):
        send(number)


def go_on() -> None:
    """As if nothing had happened."""
    until(lambda: False)


def asked_in(body: Callable[[], object]) -> Asked:
    """What ends it."""

    def run() -> None:
        with Asking():
            body()

    with pytest.raises(Asked) as asked:
        run()
    return asked.value


@pytest.mark.parametrize("number", SIGNALS)
def test_a_request_that_a_library_swallowed_is_made_again(number):
    def body() -> None:
        swallow(number)
        go_on()

    assert ending.exit_code(asked_in(body)) == 128 + number


@pytest.mark.parametrize("times", [2, 5])
def test_however_often_it_is_swallowed(times):
    def body() -> None:
        swallow(signal.SIGINT)
        for _ in range(times):
            with contextlib.suppress(BaseException):
                go_on()
        go_on()

    asked_in(body)


def test_one_that_is_swallowed_last_is_found_at_the_end():
    asked_in(lambda: swallow(signal.SIGINT))


def test_an_error_that_came_of_swallowing_is_none():
    def body() -> None:
        swallow(signal.SIGINT)
        raise ImportError("a module that was interrupted")

    asked_in(body)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("another", [None, signal.SIGTERM, signal.SIGHUP])
def test_what_is_being_closed_is_closed_in_peace(number, another):
    closed = []

    def body() -> None:
        try:
            send(number)
        finally:
            for k in range(10):
                time.sleep(0.01)
                if another is not None:
                    send(another)
                closed.append(k)

    asked_in(body)
    assert closed == list(range(10))


def test_a_second_ctrl_c_does_not_wait():
    closed = []

    def body() -> None:
        try:
            send(signal.SIGTERM)
        finally:
            send(signal.SIGINT)
            closed.append("never")

    asked_in(body)
    assert not closed


@pytest.mark.parametrize("number", SIGNALS)
def test_a_session_that_waits_is_over_and_is_not_asked_again(number):
    with Ending(None) as ends:
        threading.Timer(0.05, os.kill, (os.getpid(), number)).start()
        ends.wait()
        assert ends.over
        time.sleep(0.1)  # nothing interrupts what follows
        ends.wait()


def test_it_is_over_after_its_time_or_when_it_is_left():
    with Ending(0.01) as ends:
        ends.wait()
        assert ends.over
    left = threading.Event()
    left.set()
    with Ending(None) as ends:
        ends.wait(left)
        assert not ends.over


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_what_was_ignored_at_the_start_stays_ignored(number):
    """nohup, and programs that a script starts with &."""
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with Asking() as asking:
            send(number)
            assert not asking.number
    finally:
        signal.signal(number, before)


def test_other_threads_may_have_one():
    over = []

    def run() -> None:
        with Ending(0.01) as ends:
            ends.wait()
            over.append(ends.over)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert over == [True]


# ---- whole commands


def moments(seed: int, n: int) -> list[tuple[list[str], float]]:
    """(command, seconds from its beginning to Ctrl-C), seeded; quick commands sooner."""
    rng = random.Random(seed)
    kinds = [
        (["touch", "arm-rest", "--no-browser", "--port", "0"], 4.0), (["scenes"], 0.3), (["experiments"], 0.3),
        (["touch", "kinova", "--no-browser", "--port", "0"], 4.0), (["doctor"], 2.0), (["devices"], 0.5),
        (["serve", "arm-rest", "--port", "0"], 3.0), (["bench", "dynamics", "--rounds", "1"], 3.0),
        (["run", "arm-swing"], 3.0), (["export", "missing.mcap"], 0.4), (["replay", "missing.mcap"], 1.0),
    ]  # fmt: skip
    return [(kind, rng.uniform(0.0, longest_s)) for kind, longest_s in (kinds[k % len(kinds)] for k in range(n))]


def interrupt(arguments: list[str], after_s: float, folder) -> None:
    with command(*arguments, cwd=folder, env={"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path[1:]))}) as c:
        until(c.heeds_signals)
        time.sleep(after_s)
        c.process.send_signal(signal.SIGINT)
        code, _, err = c.ended()
    assert "Traceback" not in err, err
    assert "KeyboardInterrupt" not in err, err
    assert code in (130, 0, 2, -signal.SIGINT), err  # it may have been done, or failed, before; or on its way out
    if code == 2:
        assert "missing.mcap" in err


@pytest.mark.parametrize(("arguments", "after_s"), moments(seed=1, n=4))
def test_ctrl_c_at_any_moment_ends_a_command_quietly(arguments, after_s, tmp_path):
    interrupt(arguments, after_s, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "after_s"), moments(seed=2, n=22))
def test_ctrl_c_at_many_moments_ends_a_command_quietly(arguments, after_s, tmp_path):
    interrupt(arguments, after_s, tmp_path)


def check_recording(path: Path) -> None:
    assert path.read_bytes().endswith(b"\x89MCAP0\r\n")  # it was closed, and need not be recovered
    with Recording(path) as recording:
        assert recording.count > 0


def real_session(test):
    """Of a test that needs the compiled loop and the page."""
    for mark in (pytest.mark.real_time, pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler"),
                 pytest.mark.skipif(not STATIC.exists(), reason="the page is not built: make page")):  # fmt: skip
        test = mark(test)
    return test


def check_end(number: int, arguments: list[str], running: str, path: Path) -> None:
    """A session that records, and a signal to it and all its relatives."""
    with command(*arguments, "--port", "0", "--record", str(path), start_new_session=True) as c:
        c.line(running)
        until(lambda: path.stat().st_size > 100_000)
        os.killpg(c.process.pid, number)
        code, out, err = c.ended()
    assert code == 0, err
    assert err == ""
    assert "recorded" in out
    assert "Hz over" in out
    check_recording(path)


@real_session
@pytest.mark.parametrize("number", [signal.SIGHUP, *(pytest.param(n, marks=pytest.mark.slow) for n in SIGNALS[:2])])
def test_a_signal_to_the_whole_group_ends_a_session_in_order(number, tmp_path):
    check_end(number, ["touch", "arm-rest", "--no-browser"], "servo at", tmp_path / "run.mcap")


@pytest.mark.slow
@real_session
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_both_ends_of_a_link_in_order(number, tmp_path):
    with command("serve", "arm-rest", "--port", "0") as serving:
        where = serving.line("serving").split(" at ")[1].split()[0]
        check_end(number, ["touch", "--remote", where, "--no-browser"], "touching", tmp_path / "run.mcap")
        serving.process.send_signal(number)
        code, out, err = serving.ended()
    assert (code, err) == (0, "")
    assert "Hz over" in out


@real_session
def test_closing_the_terminal_ends_a_session_in_order(tmp_path):
    path, (ours, theirs) = tmp_path / "run.mcap", pty.openpty()
    arguments = ["touch", "arm-rest", "--no-browser", "--port", "0", "--record", str(path)]
    with command(
        *arguments, start_new_session=True, stdin=theirs, stdout=theirs, stderr=theirs,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    ) as c:  # fmt: skip
        os.close(theirs)
        until(lambda: path.exists() and path.stat().st_size > 100_000)
        os.close(ours)  # the terminal's window
        c.ended()
    check_recording(path)
