"""The ring in shared memory: nothing torn, nothing silently lost, nothing left behind."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from palpate import jit
from palpate.jit import entry
from palpate.jit.atomics import load_acquire
from palpate.servo.ring import HEAD, Follower, Ring
from palpate.servo.ring_kernels import WORDS, begin_write, copy_message, end_write

compiled = pytest.mark.skipif(jit.DISABLED, reason="the compiler is off")


@entry("int64[::1], intp")
def produce(memory, messages):
    """Messages whose words are all their own number."""
    for _ in range(messages):
        at = begin_write(memory)
        number = memory[HEAD] + 1
        for i in range(memory[WORDS]):
            memory[at + i] = number
        end_write(memory)


@entry("int64[::1], int64[::1], intp")
def consume(memory, out, reads):
    """(good, torn) of that many attempts at the newest."""
    good, torn = 0, 0
    for _ in range(reads):
        number = load_acquire(memory, HEAD)
        if number > 0 and copy_message(memory, number, out):
            good += 1
            for i in range(memory[WORDS]):
                if out[i] != number:
                    torn += 1
                    break
    return good, torn


def producer_process(ring: Ring, messages: int) -> subprocess.Popen:
    code = f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_ring import produce
        from palpate.servo.ring import Ring
        ring = Ring({ring.fd})
        produce(ring.memory, 1)
        print("ready", flush=True)
        sys.stdin.readline()
        produce(ring.memory, {messages})
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, pass_fds=(ring.fd,))  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("go\n")
    process.stdin.flush()
    return process


@compiled
def test_millions_of_reads_across_two_processes_and_none_torn():
    ring = Ring.create(64, 100)
    out = np.zeros(100, dtype=np.int64)
    consume(ring.memory, out, 1)
    process = producer_process(ring, 5_000_000)
    good = torn = 0
    while good < 2_000_000 or process.poll() is None:
        a, b = consume(ring.memory, out, 100_000)
        good, torn = good + a, torn + b
    assert process.wait() == 0
    assert torn == 0
    assert good >= 2_000_000


@compiled
def test_python_reads_what_compiled_code_writes_and_none_is_torn():
    ring = Ring.create(256, 50)
    process = producer_process(ring, 3_000_000)
    good = 0
    while process.poll() is None:
        newest = ring.newest()
        if newest is not None:
            good += 1
            assert (newest[1] == newest[0]).all()
    assert good > 100


def test_a_follower_reads_everything_in_order():
    ring = Ring.create(100, 2)
    follower = Follower(ring)
    for k in range(1, 301):
        ring.write(np.array([k, -k]))
        if k % 40 == 0:
            numbers = [m[0] for m in follower.read()]
            assert numbers == list(range(k - 39, k + 1))
    assert follower.lost == 0


def test_a_slow_follower_counts_exactly_what_it_lost():
    ring = Ring.create(16, 1)
    follower, got = Follower(ring), []
    for k in range(1, 1001):
        ring.write(np.array([k]))
        if k % 50 == 0:
            got += [int(m[0]) for m in follower.read()]
    assert got == sorted(set(got))
    assert got[-1] == 1000
    assert len(got) + follower.lost == 1000


def test_newest_of_an_empty_ring_is_none():
    assert Ring.create(4, 4).newest() is None


def test_memory_that_is_no_ring_is_refused():
    fd = os.memfd_create("other", 0)
    os.ftruncate(fd, 4096)
    with pytest.raises(ValueError, match="not a ring"):
        Ring(fd)
    os.close(fd)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_shared_memory_is_gone_when_its_process_is_killed():
    code = "from palpate.servo.ring import Ring; r = Ring.create(8, 8); print(r.fd, flush=True); input()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    fd = int(process.stdout.readline())
    where = os.readlink(f"/proc/{process.pid}/fd/{fd}")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert where.startswith("/memfd:")  # it never had a name in any folder
    assert where.endswith("(deleted)")  # to be left behind
    assert not Path(f"/proc/{process.pid}").exists()


def test_two_processes_that_write_lose_nothing():
    """Page and session both write events."""
    ring = Ring.create(4096, 2)
    code = (
        "import sys, numpy as np; from palpate.servo.ring import Ring; ring = Ring(int(sys.argv[1]))\n"
        "for k in range(1000): ring.write(np.array([int(sys.argv[2]), k]))"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(ring.fd), str(who)], pass_fds=[ring.fd]) for who in (1, 2)
    ]
    assert [writer.wait(300) for writer in writers] == [0, 0]
    messages = np.array(Follower(ring, start=1).read())
    assert len(messages) == 2000
    for who in (1, 2):
        assert messages[messages[:, 0] == who, 1].tolist() == list(range(1000))
    ring.close()
