"""Words that cannot be printed, streams that are closed, children that die again and again, folders of the killed.

Nothing of it may end what watches over a session, nor keep force on a device.
"""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands import PALPATE, command
from waiting import WAIT_S, until

from palpate import cli, jit
from palpate.record.reader import Recording
from palpate.runtime import folders
from palpate.runtime import watch as watching
from palpate.runtime.children import Child, ChildError
from palpate.runtime.folders import Folder, sweep
from palpate.runtime.saying import Saying
from palpate.runtime.watch import MOST_RESTARTS, SLOWLY_S, STEADY_S, Tries, Watching
from palpate.runtime.world.session import WorldSession
from palpate.scenes.arm import arm_at_rest
from palpate.servo.loop import HEARTBEAT_NS

STATIC = Path(__file__).parents[2] / "palpate" / "page" / "static" / "index.html"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes as Linux has them")
needs_loop = pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")
needs_page = pytest.mark.skipif(not STATIC.exists(), reason="the page is not built: make page")
UNSAYABLE = [
    OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EIO, "the terminal is gone"), BrokenPipeError(),
    UnicodeEncodeError("ascii", "\udcff", 0, 1, "not in range"), ValueError("I/O operation on closed file"),
    RuntimeError("can't create new thread"), SystemExit(1), AttributeError("'NoneType' has no attribute 'write'"),
]  # fmt: skip


def name(error: BaseException) -> str:
    return type(error).__name__


# ---- words


class Mute:
    """A `say` that fails."""

    def __init__(self, error: BaseException) -> None:
        self.error, self.tried = error, 0

    def __call__(self, text: str) -> None:
        self.tried += 1
        raise self.error


@pytest.fixture(scope="module")
def scene():
    return arm_at_rest()


@pytest.fixture
def taken(monkeypatch) -> list[float]:
    """When force was taken away."""
    times: list[float] = []
    monkeypatch.setattr(watching, "take_force_away", lambda *_: times.append(time.monotonic()))
    return times


def watched(session: WorldSession) -> WorldSession:
    """A session whose loop has been heard of once, and is silent since."""
    session.simulation.beat.control[HEARTBEAT_NS] = time.monotonic_ns()
    session.watching.start()
    return session


def still_watching(session: WorldSession, taken: list[float]) -> bool:
    n = len(taken)
    until(lambda: len(taken) > n + 3)
    return all(t.is_alive() for t in (session.watching.watch, session.watching.collect, session.watching.tend))


@pytest.mark.parametrize("error", UNSAYABLE, ids=name)
def test_force_is_taken_from_a_silent_loop_whatever_becomes_of_words(error, scene, taken):
    say = Mute(error)
    session = watched(WorldSession(scene, say=say))
    try:
        for k in range(3):
            session.note(f"word {k}")
        until(lambda: say.tried == 3)
        assert still_watching(session, taken)
    finally:
        session.stop()
    assert [note for note in session.report.notes if note.startswith("word")] == ["word 0", "word 1", "word 2"]


def test_force_is_taken_from_a_silent_loop_while_the_terminal_is_stopped(scene, taken, monkeypatch):
    """Ctrl-S: the first word does not return, and nobody waits for it."""
    monkeypatch.setattr("palpate.runtime.saying.LAST_S", 0.05)
    go, said = threading.Event(), []
    session = watched(WorldSession(scene, say=lambda text: (go.wait(WAIT_S), said.append(text))))
    try:
        session.note("first")
        session.note("second")
        assert still_watching(session, taken)
        session.stop()
        assert not said
    finally:
        go.set()
    until(lambda: said == ["first", "second"])  # in their order, when it goes on


@pytest.mark.parametrize("where", ["edit", "trials", "recorder", "page"])
def test_force_is_taken_away_whatever_the_others_raise(where, scene, taken, monkeypatch):
    def broken(*_):
        raise MemoryError("nothing left")

    session = WorldSession(scene)
    if where in ("edit", "trials"):
        monkeypatch.setattr(getattr(session, where), "collect", broken)
    else:
        monkeypatch.setattr(session, where, SimpleNamespace(
            alive=False, start=broken, answer=broken, end=lambda *_: None, process=None))  # fmt: skip
    watched(session)
    try:
        until(lambda: any("nothing left" in note for note in session.report.notes))
        assert still_watching(session, taken)
        assert len(session.report.notes) < 10  # not with every look
    finally:
        session.recorder = None
        session.stop()


def test_words_come_in_their_order_from_many_threads():
    said: list[str] = []
    saying = Saying(said.append)
    threads = [threading.Thread(target=lambda k=k: [saying(f"{k} {i}") for i in range(100)]) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    saying.finish()
    assert len(said) == 400
    for k in range(4):
        assert [line for line in said if line.startswith(f"{k} ")] == [f"{k} {i}" for i in range(100)]


@needs_loop
@needs_page
@pytest.mark.real_time
@pytest.mark.parametrize("error", [
    BrokenPipeError(), *(pytest.param(e, marks=pytest.mark.slow) for e in UNSAYABLE if type(e) is not BrokenPipeError)
], ids=name)  # fmt: skip
def test_a_page_comes_back_and_a_recording_is_finished_without_a_word(error, scene, tmp_path):
    path = tmp_path / "run.mcap"
    with WorldSession(scene, page=True, port=0, record=path, say=Mute(error)) as session:
        first = session.page.process
        first.process.kill()
        until(lambda: session.page.process is not first and session.page.alive)
        until(lambda: any("started again" in note for note in session.report.notes))
    with Recording(path) as recording:
        assert recording.count > 0


# ---- a page that dies again and again


def lives(seed: int, n: int) -> list[float]:
    """How long each of the pages lives [s]."""
    rng = random.Random(seed)
    return [rng.choice([0.0, 0.01, STEADY_S / 2, 2 * STEADY_S, 10 * SLOWLY_S]) for _ in range(n)]


@pytest.mark.parametrize("seed", range(20))
def test_it_is_tried_for_ever_but_not_too_often(seed):
    """By the times of its starts alone: more than MOST_RESTARTS short lives in a row are SLOWLY_S apart."""
    now, starts, ends = 0.0, [0.0], []
    tries = Tries(lambda: now)
    for life in lives(seed, 40):
        now += life
        ends.append(now)
        waited = 0.0
        tries.ended()
        while not tries.due:
            now, waited = now + 0.25, waited + 0.25
            tries.ended()  # seen with every look
            assert waited <= SLOWLY_S
        tries.begin()
        starts.append(now)
    short = [end - start < STEADY_S for start, end in zip(starts, ends, strict=False)]
    for k in range(len(ends)):
        row = 0  # short lives up to the k-th
        while row <= k and short[k - row]:
            row += 1
        at_once = starts[k + 1] == ends[k]
        if row <= MOST_RESTARTS - 1:
            assert at_once
        elif row > MOST_RESTARTS + 1:
            assert starts[k + 1] - starts[k] >= SLOWLY_S


class DyingPage:
    """One that ends at once, or does not start."""

    def __init__(self, fails: bool) -> None:
        self.alive, self.fails, self.starts, self.mended = False, fails, 0, False

    def start(self) -> None:
        self.starts += 1
        self.alive = self.mended

    def listening(self) -> None:
        if self.fails and not self.mended:
            raise ChildError("port 8642 is taken")


@pytest.mark.parametrize("fails", [True, False])
def test_a_page_that_is_given_up_is_told_and_tried_again(fails):
    now, notes, page = 0.0, [], DyingPage(fails)
    session = SimpleNamespace(page=page, recorder=None, note=notes.append)
    watch = Watching(session, threading.Event())
    watch._tries = Tries(lambda: now)
    for _ in range(100):
        watch._tend()
    assert page.starts == MOST_RESTARTS
    assert sum("times in a row" in note for note in notes) == 1
    for _ in range(5):
        before = page.starts
        now += SLOWLY_S
        for _ in range(100):
            watch._tend()
        assert page.starts == before + 1
    if fails:
        assert sum("port 8642 is taken" in note for note in notes) <= 2
    page.mended, now = True, now + SLOWLY_S
    watch._tend()
    assert page.alive
    now += 2 * STEADY_S
    page.alive, before = False, page.starts
    watch._tend()
    assert page.starts == before + 1  # it lived well: at once


def test_a_recorder_that_ended_is_told_once():
    notes = []
    recorder = Child("palpate.nonsense", {}, [])
    recorder.process.wait()
    session = SimpleNamespace(page=None, recorder=recorder, record=Path("x.mcap"), note=notes.append)
    watch = Watching(session, threading.Event())
    for _ in range(5):
        watch._tend()
    assert session.recorder is None
    assert len(notes) == 1
    assert "nothing more is recorded" in notes[0]


def test_a_child_that_prints_nonsense_is_still_heard(tmp_path, monkeypatch):
    (tmp_path / "noisy_child.py").write_text(
        'import os\nos.write(1, b\'\\xff\\xfe\\n[1]\\n{"x": 1\\n"y"\\n\')\nos.write(1, b\'{"url": "here"}\\n\')\n'
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    child = Child("noisy_child", {}, [])
    assert child.answer("url", WAIT_S) == "here"
    assert child.end() == 0


# ---- closed and broken streams


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full 2>/dev/full", "2>/dev/full"])
@pytest.mark.parametrize("arguments", ["scenes", "touch --port 70000"])
def test_a_command_does_what_it_does_without_its_streams(closed, arguments):
    done = subprocess.run(["sh", "-c", f'exec "$@" {arguments} {closed}', "sh", *PALPATE], capture_output=True,
                          text=True, timeout=WAIT_S, check=False)  # fmt: skip
    assert "Traceback" not in done.stderr
    assert "ignored" not in done.stderr
    assert done.returncode == (0 if arguments == "scenes" and not closed.startswith(">/dev/full") else 2)


def test_whoever_reads_may_leave():
    reads, writes = os.pipe()
    os.close(reads)  # has left before anything was written
    try:
        with command("scenes", stdout=writes) as c:
            code, _, err = c.ended()
    finally:
        os.close(writes)
    assert (code, err) == (141, "")


def test_a_terminal_that_knows_no_more_than_ascii_is_enough():
    done = subprocess.run([*PALPATE, "run", "nowhere-\u00b5\u2026"], capture_output=True, timeout=WAIT_S, check=False,
                          env=os.environ | {"PYTHONIOENCODING": "ascii"})  # fmt: skip
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_who_reads_only_the_beginning_of_the_help_gets_no_traceback():
    """It is printed in pieces, and the reader is gone before the last."""
    reads_nothing = subprocess.run(["sh", "-c", '"$@" --help | true', "sh", *PALPATE], capture_output=True, text=True,
                                   timeout=WAIT_S, check=False, env=os.environ | {"PYTHONUNBUFFERED": "1"})  # fmt: skip
    assert "Traceback" not in reads_nothing.stderr
    assert "BrokenPipe" not in reads_nothing.stderr


@needs_loop
@needs_page
@pytest.mark.real_time
@pytest.mark.parametrize("closed", [
    "<&- >&- 2>&-", *(pytest.param(c, marks=pytest.mark.slow) for c in ("<&-", ">&-", ">/dev/full", "| head -1"))
])  # fmt: skip
def test_a_session_runs_without_its_streams(closed, tmp_path):
    path = tmp_path / "run.mcap"
    touch = f'"$@" touch arm-rest --no-browser --port 0 --seconds 0.3 --record {path} {closed}'
    done = subprocess.run(["sh", "-c", touch, "sh", *PALPATE], capture_output=True, text=True, timeout=WAIT_S,
                          check=False)  # fmt: skip
    assert "Traceback" not in done.stderr
    assert path.read_bytes().endswith(b"\x89MCAP0\r\n")  # closed in order
    with Recording(path) as recording:
        assert recording.count > 0


# ---- numbers


def wrong_numbers() -> list[tuple[str, str]]:
    """(flag, value): what nobody can mean."""
    times = ["nan", "inf", "-inf", "-1", "0", "-0.0", "1e300", "1e-300", "infinity", "-nan", "1e999"]
    ports = ["-1", "65536", "99999999999999999999", "-99999999999999999999"]
    return (
        [("seconds", t) for t in times] + [("port", p) for p in ports] + [("rounds", r) for r in ("0", "-3", "9" * 30)]
    )


TAKES = {
    "seconds": [["touch"], ["serve"], ["replay", "x.mcap"], ["bench"], ["run", "x.py"]],
    "port": [["touch"], ["serve"], ["replay", "x.mcap"]],
    "rounds": [["bench"]],
}


@pytest.mark.parametrize(("flag", "value"), wrong_numbers())
def test_a_number_that_nobody_can_mean_is_one_line_that_names_its_flag(flag, value, capsys):
    for arguments in TAKES[flag]:
        assert cli.main([*arguments, f"--{flag}={value}"]) == 2
        error = capsys.readouterr().err.strip()
        assert f"--{flag} takes" in error
        assert "\n" not in error


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_an_option_of_an_experiment_is_finite(value, capsys):
    assert cli.main(["run", "z-width", "--set", f"rate_hz={value}"]) == 2
    assert "--set takes finite numbers" in capsys.readouterr().err


@pytest.mark.parametrize(
    "where", ["127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:\u00b2", ":8643", "a:b"]
)
def test_a_port_that_cannot_be_is_one_line(where, capsys):
    assert cli.main(["touch", f"--remote={where}"]) == 2
    error = capsys.readouterr().err.strip()
    assert "--remote takes HOST:PORT" in error
    assert "\n" not in error


# ---- folders of the killed


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield tmp_path
    tempfile.tempdir = None


MAKE = """
import sys
from palpate.runtime.folders import Folder
folder = Folder("robot")
(folder.path / "part.stl").write_bytes(b"x" * 1000)
print(folder.path, flush=True)
sys.stdin.read()
"""


def other() -> tuple[subprocess.Popen, Path]:
    """A process with a folder."""
    made = subprocess.Popen([sys.executable, "-c", MAKE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return made, Path(made.stdout.readline().strip())


def test_folders_of_the_killed_are_swept_and_those_of_the_living_stay(temporary):
    (killed, left), (lives, kept) = other(), other()
    try:
        killed.kill()
        killed.communicate()
        assert (left / "part.stl").exists()
        with Folder("export") as own:
            sweep()
            assert not left.parent.exists()
            assert (kept / "part.stl").exists()
            assert own.exists()
    finally:
        lives.communicate()  # ends in order, and takes its folder along
    assert list(temporary.iterdir()) == []


def test_only_what_is_ours_is_swept(temporary, monkeypatch):
    """Nothing that merely has such a name, nor what is behind a link, nor another's."""
    precious = temporary / "precious"
    (precious / "files").mkdir(parents=True)
    (precious / "owner").touch()
    (temporary / "palpate-robot-link").symlink_to(precious)
    (temporary / "palpate-robot-file").touch()
    (temporary / "palpate-robot-mine").mkdir()
    (temporary / "palpate-robot-mine" / "thesis.tex").touch()
    (temporary / "palpate-robot-both").mkdir()
    for file in ("owner", "thesis.tex"):
        (temporary / "palpate-robot-both" / file).touch()
    (temporary / "palpate-robot-linked").mkdir()
    (temporary / "palpate-robot-linked" / "owner").symlink_to(precious / "owner")
    (temporary / "palpate-robot-pipe").mkdir()
    os.mkfifo(temporary / "palpate-robot-pipe" / "owner")
    killed, left = other()
    killed.kill()
    killed.communicate()
    before = sorted(str(path) for path in temporary.rglob("*"))
    monkeypatch.setattr(folders.os, "geteuid", lambda: os.getuid() + 1)
    sweep()
    assert sorted(str(path) for path in temporary.rglob("*")) == before  # all of it is another's
    monkeypatch.undo()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    sweep()
    assert sorted(str(path) for path in temporary.rglob("*")) == [
        path for path in before if not path.startswith(str(left.parent))
    ]


def test_a_folder_goes_with_whoever_holds_it(temporary):
    folder = Folder("meshes")
    remove = folder.remove
    path = folder.path
    del folder
    assert path.exists()  # as long as someone may still remove it
    remove()
    remove()
    assert list(temporary.iterdir()) == []
