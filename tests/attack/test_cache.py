"""The kernel cache under attack: what others plant is not run, what is damaged is compiled again, and all goes on."""

import json
import os
import pickle
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import until

from palpate import doctor, jit
from palpate.jit.cache import folders, functions

compiled = pytest.mark.skipif(jit.DISABLED, reason="nothing is compiled")
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can play two users")

STRANGER, NOBODY = 54321, 65534  # who attacks, and who is attacked where it cannot be root

SAMPLE = """
from palpate.jit import entry, kernel, shared

@kernel
def triple(x):
    return 3.0 * x

@shared("float64(float64)")
def inner(x):
    return triple(x) + 1.0

@shared("float64(float64)")
def outer(x):
    return inner(x) * 2.0

@entry("float64")
def door(x):
    return outer(x) - 1.0
"""
USE = """
from palpate.jit import cache_dir, compile_listener
from cache_sample import door
heard = set()
with compile_listener(lambda name, kernels, seconds, done: heard.add(kernels)):
    print(door(1.0), sum(door._cache_hits.values()), max(heard, default=0), cache_dir())
"""
# Becomes another user only when the compiler is loaded: an interpreter may be where he cannot read it.
BECOME = """
import os, numba, palpate.jit
numba.njit("float64(float64)")(lambda x: x + 1.0)
os.setgroups([]); os.setgid({0}); os.setuid({0})
"""
# answers each line of input with a start from the cache: functions made anew
STARTS = """
import importlib, sys
import cache_sample
for line in sys.stdin:
    importlib.reload(cache_sample)
    print(cache_sample.door(1.0), sum(cache_sample.door._cache_hits.values()), flush=True)
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder that every user can reach, with the sample in it."""
    folder = Path(tempfile.mkdtemp(prefix="palpate-test-")).resolve()
    folder.chmod(0o755)
    (folder / "cache_sample.py").write_text(SAMPLE)
    (folder / "cache_sample.py").chmod(0o644)
    yield folder
    shutil.rmtree(folder)


def start(code: str, place: Path, named: Path | None, **options):
    """A new interpreter that looks for its cache in the named folder, or else has no home."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "PALPATE_", "XDG_", "TMP", "TEMP"))}
    here = str(Path(jit.__file__).parents[2])
    env |= {"PYTHONPATH": f"{place}{os.pathsep}{here}", "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/proc/nowhere"}
    env |= {"TMPDIR": str(place / "temporary")} | ({"PALPATE_CACHE_DIR": str(named)} if named else {})
    return subprocess.Popen([sys.executable, "-c", code], cwd=place, env=env, text=True, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)  # fmt: skip


def ran(code: str, place: Path, named: Path | None, **options) -> tuple[list[str], str]:
    """Words of the output, and what was said on stderr."""
    with start(code, place, named, **options) as process:
        out, err = process.communicate()
    assert process.returncode == 0, err
    return out.split(), err


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")


# ---- whose folders


def trees(seed: int, base: Path) -> Path:
    """A path of folders and links with owners and modes drawn at random; the last is where a cache would be."""
    draw = random.Random(seed)
    here = base / f"tree{seed}"
    here.mkdir(mode=0o755)
    for depth in range(draw.randint(1, 4)):
        here = here / f"part{depth}"
        if draw.random() < 0.2:  # a link to a folder beside or elsewhere
            target = draw.choice([here.parent, base]) / f"target{seed}-{depth}"
            target.mkdir()
            _give(draw, target)
            here.symlink_to(draw.choice([target, os.path.relpath(target.resolve(), here.parent.resolve())]))
            os.chown(here, draw.choice([0, 0, 0, STRANGER]), 0, follow_symlinks=False)
        else:
            here.mkdir()
            _give(draw, here)
    return here


def _give(draw: random.Random, folder: Path) -> None:
    os.chown(folder, draw.choice([0, 0, 0, 0, STRANGER]), draw.choice([0, STRANGER]))
    folder.chmod(draw.choice([0o755, 0o755, 0o755, 0o700, 0o775, 0o777, 0o1777, 0o1775]))


# tries everything: a file put into the folder, parts of the way there replaced, modes changed
ATTACK = """
import json, os, sys
who, paths = json.load(sys.stdin)
os.setgroups([]); os.setgid(who); os.setuid(who)
def tried(*acts):
    try:
        for act in acts: act()
        return True
    except OSError:
        return False
def put(folder):
    os.close(os.open(folder + "/planted", os.O_CREAT | os.O_WRONLY)); os.unlink(folder + "/planted")
def replaced(path):
    found, way = False, ""
    for part in path.strip("/").split("/"):
        way += "/" + part
        found |= tried(lambda: os.rename(way, way + ".gone"), lambda: os.rename(way + ".gone", way))
        if os.path.islink(way):
            link = os.path.join(os.path.dirname(way), os.readlink(way))
            found |= os.lstat(way).st_uid == os.getuid()
            found |= replaced(os.path.normpath(link))
        else:
            found |= tried(lambda: os.chmod(way, os.stat(way).st_mode & 0o7777))
    return found
print(json.dumps([replaced(path) or tried(lambda: put(path)) for path in paths]))
"""


def attacked(paths: list[Path]) -> list[bool]:
    """Which of the folders a stranger can fill or replace."""
    done = subprocess.run([sys.executable, "-c", ATTACK], input=json.dumps([STRANGER, [str(p) for p in paths]]),
                          text=True, capture_output=True, check=True)  # fmt: skip
    return json.loads(done.stdout)


@as_root
def test_a_folder_that_a_stranger_can_fill_is_never_used(place):
    paths = [trees(seed, place) for seed in range(250)]
    broken = attacked(paths)
    whys = [folders.why_unsafe(path, folders.we_and_root()) for path in paths]
    assert 50 < sum(broken) < 240
    assert sum(not why for why in whys) > 10  # some are used
    for path, can, why in zip(paths, broken, whys, strict=True):
        assert why or not can, path


@pytest.fixture
def found(monkeypatch, place):
    """The folder that would be used now, and why not another, for a user without a home."""
    (place / "temporary").mkdir(mode=0o1777)
    (place / "temporary").chmod(0o1777)
    monkeypatch.delenv("PALPATE_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/proc/nowhere")
    monkeypatch.setattr(tempfile, "tempdir", str(place / "temporary"))
    return functions._chosen.__wrapped__


def ours(place: Path) -> Path:
    return place / "temporary" / f"palpate-{os.geteuid()}"


def test_without_a_home_a_folder_of_our_own_is_made_that_nobody_else_can_enter(found, place):
    before = os.umask(0)
    try:
        folder, _ = found()
    finally:
        os.umask(before)
    assert folder.parent == ours(place)
    assert [stat.S_IMODE(f.stat().st_mode) for f in (folder, folder.parent)] == [0o700, 0o700]
    assert found()[0] == folder  # and used again


@pytest.mark.parametrize("home", ["~nobody-of-that-name", "relative", "/proc/nowhere"])
def test_a_user_without_a_home_leaves_nothing_in_the_working_folder(found, place, monkeypatch, home):
    monkeypatch.chdir(place)
    monkeypatch.setenv("HOME", home)
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    before = set(place.iterdir())
    assert found()[0].parent == ours(place)
    assert set(place.iterdir()) == before


@as_root
@pytest.mark.parametrize("planted", ["folder", "link", "link to ours", "file", "open to all", "open to a group"])
def test_what_stands_in_the_temporary_folder_under_our_name_is_not_used_unless_it_is_ours(found, place, planted):
    theirs = ours(place)
    if planted.startswith("link"):
        target = place / "target"
        target.mkdir(mode=0o700)
        theirs.symlink_to(target)
        if planted == "link":
            os.chown(theirs, STRANGER, STRANGER, follow_symlinks=False)
    elif planted == "file":
        theirs.write_text("")
    else:
        theirs.mkdir()
        theirs.chmod({"open to all": 0o777, "open to a group": 0o775}.get(planted, 0o755))
        if planted == "folder":
            os.chown(theirs, STRANGER, STRANGER)
    folder, why = found()
    assert folder is None
    assert str(theirs) in why


def test_a_temporary_folder_without_the_sticky_bit_is_not_used(found, place):
    (place / "temporary").chmod(0o777)
    folder, why = found()
    assert folder is None
    assert "others can write in" in why
    assert not ours(place).exists()


def test_doctor_says_that_nothing_is_kept_and_why(found, place, monkeypatch):
    monkeypatch.setattr(functions, "_chosen", found)
    (place / "temporary").chmod(0o777)
    finding = doctor._cache()
    assert not finding.ok
    assert "every start compiles" in finding.text
    assert f"chmod go-w {place / 'temporary'}" in finding.text
    assert "PALPATE_CACHE_DIR" in finding.text


@as_root
@pytest.mark.parametrize("mode", [0o755, 0o775, 0o777])
def test_a_named_folder_of_another_user_is_used_if_only_its_owner_can_write(found, place, monkeypatch, mode):
    named = place / "lab"
    named.mkdir()
    os.chown(named, STRANGER, STRANGER)
    named.chmod(mode)
    monkeypatch.setenv("PALPATE_CACHE_DIR", str(named))
    folder, why = found()
    assert (folder is None) == (mode != 0o755), why


@as_root
def test_a_name_that_a_stranger_took_in_a_folder_of_everybody_is_not_trusted_for_being_named(found, place, monkeypatch):
    named = place / "temporary" / "lab"
    named.mkdir(mode=0o755)
    os.chown(named, STRANGER, STRANGER)
    monkeypatch.setenv("PALPATE_CACHE_DIR", str(named))
    assert found() == (None, f"{named} belongs to user {STRANGER}")


@as_root
def test_nothing_is_made_in_the_home_of_somebody_else(found, place, monkeypatch):
    home = place / "home"
    home.mkdir(mode=0o755)
    os.chown(home, STRANGER, STRANGER)
    monkeypatch.setenv("HOME", str(home))
    folder, why = found()
    assert folder.parent == ours(place)
    assert str(home) in why
    assert not list(home.iterdir())


class Canary:
    """Pickled code that leaves a trace when it is loaded."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (str(self.trace),)


@compiled
@as_root
def test_code_planted_in_the_temporary_folder_is_not_run(place):
    (place / "temporary").mkdir()
    (place / "temporary").chmod(0o1777)
    ran(USE, place, None)  # its names are known to everybody who has run it once
    for path in files(ours(place)):
        path.write_bytes(pickle.dumps(Canary(place / "trace")))
    for path in (ours(place), *ours(place).rglob("*")):
        os.chown(path, STRANGER, STRANGER)
    (answer, hits, _, folder), said = ran(USE, place, None)
    assert (answer, hits, folder) == ("7.0", "0", "None")
    assert not (place / "trace").exists()
    assert said.count("\n") == 1
    assert str(ours(place)) in said
    assert "PALPATE_CACHE_DIR" in said


@compiled
@as_root
def test_a_cache_of_root_is_used_without_writing_to_it(place):
    lab = place / "lab"
    lab.mkdir(mode=0o755)
    assert ran(USE, place, lab)[0][0] == "7.0"
    kept = {path: path.stat().st_mtime_ns for path in files(lab)}
    (answer, hits, compiled_now, _), said = ran(BECOME.format(NOBODY) + USE, place, lab)
    assert (answer, hits, compiled_now, said) == ("7.0", "1", "0", "")
    for path in kept:  # and one that is of no use to him is not kept, which is said once
        path.write_bytes(b"")
    (answer, hits, *_), said = ran(BECOME.format(NOBODY) + USE, place, lab)
    assert (answer, hits) == ("7.0", "0")
    assert said.count("\n") == 1
    assert str(lab) in said


# ---- damage


def damaged(draw: random.Random, kind: str, data: list[bytes]) -> list[bytes]:
    """What becomes of the files."""
    if kind == "swapped":
        return data[1:] + data[:1]
    made = []
    for each in data:
        changed = bytearray(each)
        if kind == "bits":
            for _ in range(draw.choice([1, 1, 2, 10])):
                changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
        elif kind == "cut":
            del changed[draw.randrange(len(changed)) :]
        elif kind == "longer":
            changed += draw.randbytes(draw.randint(1, 100))
        elif kind == "zeros":
            begin = draw.randrange(len(changed))
            changed[begin : begin + 4096] = bytes(len(changed[begin : begin + 4096]))
            changed = changed if bytes(changed) != each else bytearray()
        else:
            changed = bytearray({"empty": b"", "noise": draw.randbytes(len(each)), "pickle": pickle.dumps(1)}[kind])
        made.append(bytes(changed))
    return made


KINDS = ["bits", "bits", "bits", "cut", "cut", "longer", "zeros", "empty", "noise", "pickle", "swapped"]


@compiled
@pytest.mark.parametrize("repeats", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_damage_is_noticed_and_mended(place, repeats):
    draw = random.Random(8)
    with start(STARTS, place, place / "cache") as process:

        def again() -> str:
            process.stdin.write("\n")
            process.stdin.flush()
            return process.stdout.readline().strip()

        assert again() == "7.0 0"
        for kind in KINDS * repeats:
            assert again() == "7.0 1"
            kept = files(place / "cache")
            assert len(kept) >= 4
            for path, data in zip(kept, damaged(draw, kind, [p.read_bytes() for p in kept]), strict=True):
                path.write_bytes(data)
            assert again() == "7.0 0", kind
            assert files(place / "cache") == kept
        assert again() == "7.0 1"


@pytest.mark.slow
@compiled
def test_one_damaged_file_among_good_ones_is_mended(place):
    """Every file in turn: also one that is only read when another is missing."""
    with start(STARTS, place, place / "cache") as process:

        def again() -> str:
            process.stdin.write("\n")
            process.stdin.flush()
            return process.stdout.readline().split()[0]

        assert again() == "7.0"
        for path in files(place / "cache"):
            path.write_bytes(path.read_bytes()[:-1] + b"?")
            assert again() == "7.0", path


@compiled
def test_code_of_an_older_source_put_back_is_not_run(place):
    """As a backup does, or a process that is killed between two writes."""
    assert ran(USE, place, place / "cache")[0][0] == "7.0"
    old = {path: path.read_bytes() for path in files(place / "cache")}
    sample = place / "cache_sample.py"
    sample.write_text(SAMPLE.replace("3.0", "5.0"))
    assert ran(USE, place, place / "cache")[0][:2] == ["11.0", "0"]
    for path, data in old.items():
        path.write_bytes(data)
    assert ran(USE, place, place / "cache")[0][:2] == ["11.0", "0"]
    assert ran(USE, place, place / "cache")[0][:2] == ["11.0", "1"]


@compiled
def test_a_full_disk_is_said_once_and_everything_goes_on(place):
    """A limit on the size of files gives the same error in the same place as a disk or a quota that is full."""
    full = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))}
    (answer, hits, *_), said = ran(USE, place, place / "cache", **full)
    assert (answer, hits) == ("7.0", "0")
    assert said.count("\n") == 1
    assert str(place / "cache") in said
    assert not files(place / "cache")  # no pieces
    assert ran(USE, place, place / "cache")[0][:2] == ["7.0", "0"]  # with room again


@pytest.mark.slow
@compiled
@as_root
def test_a_real_disk_that_is_full(place):
    disk = place / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k,mode=700", "tmpfs", str(disk)], check=False)
    if mounted.returncode:
        pytest.skip("mounting is not permitted")
    try:
        (answer, *_), said = ran(USE, place, disk)
        assert answer == "7.0"
        assert said.count("\n") == 1
        assert "No space left" in said
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# ---- two at once

# says each function that it compiles; waits for a line before the first
COUNT = """
import sys
from numba.core import event
from palpate.jit.shared import Callback
import cache_sample
made = []
compile_shared = Callback._compile_uncached
Callback._compile_uncached = lambda self: (made.append(self.__name__), compile_shared(self))[1]
class Listener(event.Listener):
    def on_start(self, event): made.append(event.data["dispatcher"].__name__)
    def on_end(self, event): pass
listener = Listener()
event.register("numba:compile", listener)
print("ready", flush=True)
sys.stdin.readline()
print(cache_sample.door(1.0), *made)
"""
# holds what it compiles first, for ever
HOLD = """
import time
from palpate.jit.shared import Callback
import cache_sample
Callback._compile_uncached = lambda self: (print("holds", flush=True), time.sleep(1e6))
cache_sample.door(1.0)
"""


@compiled
def test_of_several_first_starts_at_once_each_function_is_compiled_by_one(place):
    several = [start(COUNT, place, place / "cache") for _ in range(3)]
    for process in several:
        assert process.stdout.readline() == "ready\n"
    for process in several:
        process.stdin.write("\n")
        process.stdin.flush()
    done = [process.communicate()[0].split() for process in several]
    assert [answer for answer, *_ in done] == ["7.0"] * 3
    assert sorted(name for _, *made in done for name in made) == ["door", "inner", "outer", "triple"]


@compiled
def test_who_dies_while_compiling_keeps_nobody_waiting(place):
    with start(HOLD, place, place / "cache") as holder:
        assert holder.stdout.readline() == "holds\n"
        with start("from cache_sample import door; print(door(1.0))", place, place / "cache") as waiting:
            assert "waiting for another process" in waiting.stderr.readline()
            assert waiting.poll() is None
            os.kill(holder.pid, signal.SIGKILL)
            assert waiting.communicate()[0].split()[0] == "7.0"


@pytest.mark.slow
@compiled
def test_who_waits_for_a_process_that_was_stopped_compiles_for_himself(place):
    with start(HOLD, place, place / "cache") as holder:
        assert holder.stdout.readline() == "holds\n"
        impatient = "from palpate.jit.cache import turns\nturns.PATIENCE_S = 0.1\n"
        assert ran(impatient + USE, place, place / "cache")[0][:2] == ["7.0", "0"]
        os.kill(holder.pid, signal.SIGKILL)


@compiled
def test_a_second_start_leaves_compiling_ahead_to_the_first(place):
    code = """
import subprocess, sys
from palpate.jit.starts.ahead import compiled_ahead
from palpate.jit.starts import ahead
ahead.processes = lambda: 2
begun, popen = [], subprocess.Popen
subprocess.Popen = lambda *a, **k: (begun.append(1), popen(*a, **k))[1]
with compiled_ahead("cache_sample", "door"):
    print(len(begun), flush=True)
    sys.stdin.readline()
"""
    with start(code, place, place / "cache") as first:
        assert first.stdout.readline() == "1\n"
        with start(code, place, place / "cache") as second:
            assert second.communicate()[0] == "0\n"
        first.communicate()
    until(lambda: first.poll() is not None)
