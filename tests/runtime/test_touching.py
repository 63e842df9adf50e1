"""pp.touch from a script, from a prompt and in a `with`: what runs, what waits, and what ends by itself.

Each in a process of its own, as people run it; nothing is asserted about how long things took.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from waiting import WAIT_S

import palpate as pp
from palpate import jit

STATIC = Path(__file__).parents[2] / "palpate" / "page" / "static" / "index.html"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("heeded_signals"),
    pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler"),
    pytest.mark.skipif(not STATIC.exists(), reason="the page is not built: make page"),
]
BEGIN = """
    import palpate as pp
    world = pp.World([pp.models.box(mass=1.0, at=(0, 0, 0.5)), pp.models.plane()])
"""
TOUCH = "pp.touch(world, port=0, browser=False, fifo=False)"


def program(*lines: str) -> str:
    return textwrap.dedent(BEGIN) + "\n".join(lines) + "\n"


@contextmanager
def running(*command: str, stdin: str | None = None) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        if stdin is not None:
            process.stdin.write(stdin)
            process.stdin.flush()
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def until_said(process: subprocess.Popen[str], words: str) -> str:
    """The line of stdout with these words."""
    for line in process.stdout:
        if words in line:
            return line
    raise AssertionError(f"it ended without {words!r}: {process.stderr.read()}")


def page_of(line: str) -> bytes:
    url = next(word for word in line.split() if word.startswith("http"))
    with urllib.request.urlopen(url, timeout=WAIT_S) as answer:
        return answer.read()


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_script_that_touches_shows_the_page_and_runs_until_it_is_asked_to_end(asked, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(program(TOUCH, "print('the last line')"))
    with running(str(script)) as process:
        line = until_said(process, "the page is at")
        until_said(process, "the last line")
        until_said(process, "until Ctrl-C")
        assert b"<html" in page_of(line).lower()
        assert process.poll() is None
        process.send_signal(asked)
        out, err = process.communicate(timeout=WAIT_S)
        assert process.returncode == 0
        assert "Hz over" in out
        assert "Traceback" not in err


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([f"with {TOUCH} as session:", "    session.wait(0.05)", "    print(session.frame()['tick'] >= 0)"], 0),
        ([f"session = {TOUCH}", "print(session.is_running)", "session.stop()"], 0),
        ([f"session = {TOUCH}", "print(session.is_running)", "session.run(seconds=0.05)"], 0),
        ([TOUCH, "print(True)", "raise RuntimeError('a mistake')"], 1),
    ],
    ids=["with", "stop", "run", "error"],
)
def test_a_program_that_ends_its_session_or_fails_ends_by_itself(lines, code):
    with running("-c", program(*lines)) as process:
        out, err = process.communicate(timeout=WAIT_S)
        assert process.returncode == code, err
        assert "True" in out
        assert "until Ctrl-C" not in out
        assert ("a mistake" in err) == bool(code)


def test_at_a_prompt_it_does_not_block_and_leaving_the_prompt_ends_it():
    said = program(f"session = {TOUCH}", "print('next', session.is_running)", "exit()")
    with running("-i", stdin=said) as process:
        out, _ = process.communicate(timeout=WAIT_S)
        assert process.returncode == 0
        assert "the page is at" in out
        assert "next True" in out
        assert "until Ctrl-C" not in out


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_wait_ends_when_it_is_asked_to_and_no_traceback(asked):
    looks = "look = session._stopping.is_set; session._stopping.is_set = lambda: (print('waiting'), look())[1]"
    lines = [f"session = {TOUCH}", looks, "session.wait()", "del session._stopping.is_set", "print('after')",
             "session.stop()"]  # fmt: skip
    with running("-c", program(*lines)) as process:
        until_said(process, "waiting")
        process.send_signal(asked)
        out, err = process.communicate(timeout=WAIT_S)
        assert process.returncode == 0, err
        assert "after" in out
        assert "Traceback" not in err


def test_without_a_page_nothing_runs_before_it_is_started():
    session = pp.touch(pp.World(pp.models.box(mass=1.0)), page=False, fifo=False)
    assert not session.is_running
    with session:
        assert session.is_running
        assert session.start() is session  # once is enough
        with pytest.raises(ValueError, match="real time"):
            session.simulate(0.1)
    assert not session.is_running
    with pytest.raises(ValueError, match="another session"):
        session.start()
