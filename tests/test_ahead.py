"""The other processes of a first start: what they compile, the first one finds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import WAIT_S

from palpate import jit

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="nothing is compiled")

ROOT = Path(jit.__file__).parents[2]  # of the palpate that is tested
SAMPLE = """
from palpate.jit import entry, kernel, shared

@kernel
def double(x):
    return 2.0 * x

@shared("float64(float64)")
def inner(x):
    return double(x) + 1.0

@shared("float64(float64)")
def outer(x):
    return inner(x) * inner(x + 1.0)

@entry("float64")
def door(x):
    return outer(x)
"""
USE = """
from palpate.jit import compile_listener
from ahead_sample import door
heard = []
with compile_listener(lambda *news: heard.append(news)):
    print(door(1.0), len(heard))
"""


def run(arguments, folder, **options):
    path = os.pathsep.join([str(folder), str(ROOT)])
    env = os.environ | {"PYTHONPATH": path, "PALPATE_CACHE_DIR": f"{folder / 'cache'}", "PALPATE_QUIET": "1"}
    return subprocess.run([sys.executable, *arguments], cwd=folder, env=env, capture_output=True, text=True, **options)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "ahead_sample.py").write_text(SAMPLE)
    return tmp_path


def test_what_was_compiled_ahead_is_not_compiled_again(folder):
    code = "from palpate.jit.starts.ahead import compile_all; compile_all('ahead_sample', 'door')"
    ahead = run(["-c", code], folder)
    assert ahead.returncode == 0, ahead.stderr
    assert run(["-c", USE], folder).stdout == "15.0 0\n"


@pytest.mark.parametrize(("worker", "compiled"), [(0, ["door", "outer", "inner"]), (1, ["inner", "outer"])])
def test_several_processes_begin_in_different_places_and_leave_nothing_out(folder, worker, compiled):
    code = f"""
from palpate.jit.starts import ahead
import ahead_sample
each = ahead.reached_by(ahead_sample.door.py_func)[0].__class__
order, original = [], each.compiled
each.compiled = lambda self: (order.append(self.name), original(self))
compile_door = type(ahead_sample.door).compile
type(ahead_sample.door).compile = lambda self, types: (order.append("door"), compile_door(self, types))
ahead.compile_all("ahead_sample", "door", {worker}, 2)
print(*order)
"""
    assert run(["-c", code], folder).stdout.split() == compiled
    if worker == 0:
        assert run(["-c", USE], folder).stdout == "15.0 0\n"


def test_of_several_doors_the_last_comes_first_and_what_they_share_is_compiled_once(folder):
    (folder / "ahead_doors.py").write_text(
        "from palpate.jit import entry\nfrom ahead_sample import door, outer\n\n"
        '@entry("float64")\ndef second(x):\n    return outer(x) + 1.0\n\nDOORS = (door, second)\n'
    )
    code = """
from palpate.jit.starts import ahead
from palpate.jit.decorators import Entry
from palpate.jit.shared import Shared
order, originals = [], (Entry.compile, Shared.compiled)
Entry.compile = lambda self, types: (order.append(self.__name__), originals[0](self, types))
Shared.compiled = lambda self: (order.append(self.name), originals[1](self))
ahead.compile_all("ahead_doors", "DOORS")
print(*order)
"""
    assert run(["-c", code], folder).stdout.split() == ["second", "door", "outer", "inner"]
    assert run(["-c", USE.replace("ahead_sample", "ahead_doors")], folder).stdout == "15.0 0\n"


def test_a_first_start_with_a_second_process_computes_the_same(folder):
    code = "from palpate.jit.starts.ahead import compiled_ahead\nwith compiled_ahead('ahead_sample', 'door'):"
    both = run(["-c", code + "".join(f"\n    {line}" for line in USE.splitlines())], folder)
    assert both.stdout.startswith("15.0 "), both.stderr
    assert run(["-c", USE], folder).stdout == "15.0 0\n"


def test_the_second_process_ends_with_the_first(folder):
    ended = run(["-m", "palpate.jit.starts.ahead", "ahead_sample", "door", "0", "1"], folder, input="", timeout=WAIT_S)
    assert ended.returncode == 0
