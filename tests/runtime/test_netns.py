"""A link between two networks of the kernel, a cable between them: `palpate serve` in one, a hand in the other.

Once with the kernel's own delay and losses (tc netem), where it has them, and once with ours (link/impair.py).  It
needs root and iproute2, and is skipped without.  Nothing is asserted about how long things took, but for what the delay
makes at least.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator

import pytest
from waiting import FINDS_US

from palpate import jit

IP, TC = (shutil.which(tool, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") for tool in ("ip", "tc"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.real_time,
    pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler"),
    pytest.mark.skipif(os.uname().sysname != "Linux", reason="network namespaces are Linux's"),
    pytest.mark.skipif(IP is None or TC is None, reason="ip or tc is not installed (package iproute2)"),
    pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() != 0, reason="network namespaces need root"),
]
DELAY_S, LOSS, PORT = 0.01, 0.03, 8643
KEY = "0123456789abcdef" * 2

CLIENT = textwrap.dedent("""
    import json, sys, time
    import numpy as np
    from palpate.link import LinkError
    from palpate.link.impair import Impairments
    from palpate.link.keys import key_of, load_key
    from palpate.runtime.link.sessions import Remote, RemoteSession
    from palpate.scenes.arm import arm
    from waiting import until

    host, port, told = sys.argv[1], int(sys.argv[2]), {}
    there, back = (Impairments(**json.loads(sys.argv[3]), seed=k) for k in range(2))
    try:
        Remote(host, port, key_of("another key"))
    except LinkError as refused:
        told["another_key"] = str(refused)
    scene = arm()
    remote, options = Remote(host, port, load_key()), {"fifo": False, "round_trips": 10000}
    with RemoteSession(remote, scene, there=there, back=back, **options) as session:
        until(lambda: session.simulation.counts()["exchanges"] > 100)
        seen, begin = [], session.frame()["time_s"]
        while session.frame()["time_s"] < begin + 2.5:
            seen.append(session.frame()["q"].copy())
            time.sleep(0.02)
        seen = np.array(seen)
        on_path = [np.abs(scene.plan.q - q).max(axis=1).min() for q in seen]
        told |= {"moved": float(np.ptp(seen, axis=0).max()), "off_path": float(max(on_path))}
        tool = scene.model.body("tool")
        target = session.frame()["pose"][tool][:3] + (0.0, 0.1, 0.0)

        def pulled():
            session.hold("tool", (0, 0, 0), target)
            return abs(session.frame()["pose"][tool][1] - target[1]) < 0.03

        until(pulled)
        told["held"] = bool(session.frame()["hand_body"][0] == tool)
    trips = session.simulation.mirror.round_trips
    told |= session.report.counters | {
        "ticks": session.report.periods, "shortest_ns": int(trips[trips > 0].min()),
        "dropped": session.simulation.counts()["dropped"],
    }
    print(json.dumps(told))
""")


def called(*command: str) -> None:
    """Run a command of iproute2; what it complains about is why the test is skipped."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"not possible here: {' '.join(command)}: {done.stderr.strip()}")


@contextlib.contextmanager
def networks(netem: bool) -> Iterator[tuple[str, str, str]]:
    """(namespace of the server, namespace of the hand, the server's address); netem: with a bad cable, both ways."""
    ip, tc, mark = str(IP), str(TC), f"plp{os.getpid()}"
    server, hand = f"{mark}s", f"{mark}h"
    net = f"10.{231 + os.getpid() % 20}.{os.getpid() // 20 % 250}"
    ends = (server, f"{mark}a", f"{net}.1"), (hand, f"{mark}b", f"{net}.2")
    bad = ("netem", "delay", f"{1e3 * DELAY_S:g}ms", "loss", f"{100 * LOSS:g}%")
    try:
        for name in (server, hand):
            called(ip, "netns", "add", name)
        first, second = ([f"{mark}{end}", "netns", name] for end, name in (("a", server), ("b", hand)))
        called(ip, "link", "add", *first, "type", "veth", "peer", "name", *second)
        for name, end, address in ends:
            called(ip, "-n", name, "address", "add", f"{address}/24", "dev", end)
            called(ip, "-n", name, "link", "set", end, "up")
            if netem:
                called(tc, "-n", name, "qdisc", "add", "dev", end, "root", *bad)
        yield server, hand, f"{net}.1"
    finally:
        for name in (server, hand):  # and the cable with them
            subprocess.run([ip, "netns", "delete", name], capture_output=True)


@contextlib.contextmanager
def served(namespace: str, host: str) -> Iterator[subprocess.Popen]:
    """`palpate serve arm` in a namespace, listening."""
    command = [str(IP), "netns", "exec", namespace, sys.executable, "-m", "palpate", "serve", "arm", "--host", host]
    environment = os.environ | {"PALPATE_KEY": KEY, "PYTHONUNBUFFERED": "1"}
    server = subprocess.Popen(
        [*command, "--port", str(PORT)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert server.stdout is not None
        said = []
        while not (said and "serving 'arm'" in said[-1]):
            said.append(server.stdout.readline())
            assert said[-1], f"the server ended: {''.join(said)}"
        yield server
    finally:
        server.terminate()
        try:
            server.wait(120)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@pytest.mark.parametrize("netem", [True, False], ids=["kernel's losses", "our losses"])
def test_a_link_across_networks_with_delay_and_loss(netem):
    """articulated-haptics.md section 4: 10 ms and 3 % lost each way."""
    ours = {} if netem else {"delay_s": DELAY_S, "loss": LOSS}
    with networks(netem) as (here, there, address), served(here, address) as server:
        done = subprocess.run(
            [str(IP), "netns", "exec", there, sys.executable, "-c", CLIENT, address, str(PORT), json.dumps(ours)],
            env=os.environ | {"PALPATE_KEY": KEY} | FINDS_US, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        server.terminate()
        farewell = server.stdout.read()
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["another_key"].startswith(f"nobody answers at {address}:{PORT}")
    assert told["moved"] > 0.1  # [rad]
    assert told["off_path"] < 0.05
    assert told["held"]
    assert told["shortest_ns"] >= 2e9 * DELAY_S  # nothing comes through before
    assert told["link_stale"] > 0.02 * told["ticks"]  # of every exchange a part is lost, 6 % of them
    assert told["dropped"] == 0
    assert "forged" in farewell  # who had another key
    assert "malformed" not in farewell
    assert server.returncode == 0
