"""`palpate bench link`: what loss, delay, jitter, reordering, doubles and an outage do to a hand at the other end.

Server and hand are two processes on this machine.  A simulated PHANToM takes hold of the arm's tool, moves it around a
closed cycle and lets go, once for each network.  Then the same in simulated time (runtime/link/simulated.py): rows that
are exact and the same every time: a busy machine hides the network in the first table, nothing does in the second.

rate, period     between forces on the hand
stale            ticks for which no new state had come;  late: ticks that ended after the next was due
round trip       there and back, less the server's own time
step             the largest change of the force on the hand from one tick to the next [N]
work             that hand and arm did on the link over the cycle, in the arm's units: hand + body [J].  Below zero the
                 link made energy; the reference on articulated bodies, section 4, allows a millijoule
backlog          the most packets that came in one tick
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

import palpate as pp
from palpate.bench.dynamics import machine
from palpate.bench.link_rows import (
    FIVE_PERCENT,
    LOSS,
    NETWORKS,
    PERFECT,
    TWENTY_MS,
    Network,
    Trace,
    cycles,
    cycling_hand,
    link_row,
    reach_of,
    row_seconds,
)
from palpate.bench.peers.link import python_echo
from palpate.bench.servo import fifo_permitted
from palpate.link.wire import QUERY_WORDS
from palpate.runtime.children import Child, ChildError
from palpate.runtime.link.mirror_kernels import tick_mirror
from palpate.runtime.link.sessions import Remote, RemoteSession
from palpate.runtime.link.simulated import SimulatedLink
from palpate.scenes.arm import arm_at_rest
from palpate.servo.ring import Follower

DEVICE = "simulated:phantom-premium-1.5"
DEADLINE_S = 0.0003  # that RemoteSession has
WATCH_S = 0.05
CREATED_J = 1e-3  # the most that a link may make
RATE_HZ, RATE_WITHIN_HZ, STALE_GOAL, LOSS_WITHIN, STEPS = 1000.0, 5.0, 0.01, 0.015, 2.0


# ---- in simulated time


def simulated_row(network: Network, seconds: float) -> dict[str, Any]:
    """Both ends in this process; the same numbers every time."""
    rounds, mirrored = cycles(network, seconds), arm_at_rest()
    with pp.open_device(DEVICE, hand=cycling_hand(rounds)) as device:
        link = SimulatedLink(arm_at_rest(), mirrored, [(device, reach_of(mirrored))], network.there,
                             network.back)  # fmt: skip
        clock, trips = link.hand.clock, []
        window = len(clock.round_trip)
        for _ in range(round(10.0 * row_seconds(rounds))):  # in pieces, since the clock keeps the last exchanges only
            before = clock.noted
            link.run(0.1)
            new = min(clock.noted - before, window)  # below 0 where a new greeting made it forget
            trips += [int(clock.round_trip[(clock.next - 1 - i) % window]) for i in range(new)]
        trace = Trace.of(lambda name: link.history(name, hand=True))
        holds, force, point = (link.history(name)[:, 0] for name in ("hand_body", "hand_force", "hand_point"))
        goes_on = (holds[:-1] != 0) & (holds[1:] != 0)
        absorbed = -float((force[:-1] * np.diff(point, axis=0)).sum(axis=1) @ goes_on)
        row = link_row(
            network, trace, 0, np.array(trips), link.reaching[0], link.hand.counts()["backlog"],
            absorbed, link.server.tank.lowest,
        )  # fmt: skip
        for engine in (link.server, link.hand):
            engine.close()
    return row


# ---- in real time


class Server:
    """The other process."""

    def __init__(self) -> None:
        self.child = Child("palpate.bench.link_server", {}, ())
        try:
            self.port = int(self.child.answer("port", 600.0))  # it may have to compile
        except ChildError:
            self.close()
            raise

    def order(self, order: str, answer: str) -> Any:
        assert self.child.process.stdin is not None
        self.child.process.stdin.write(order + "\n")
        self.child.process.stdin.flush()
        return self.child.answer(answer, 10.0)

    def close(self) -> None:
        self.child.end()


def real_row(network: Network, seconds: float, server: Server, fifo: bool) -> dict[str, Any]:
    """The hand's end in this process, the arm's in the other."""
    rounds, scene = cycles(network, seconds), arm_at_rest()
    length_s = row_seconds(rounds)
    server.order("begin", "begun")
    with contextlib.closing(pp.open_device(DEVICE, hand=cycling_hand(rounds))) as device:
        session = RemoteSession(
            Remote("127.0.0.1", server.port), scene, [(device, reach_of(scene))], fifo=fifo, deadline_s=DEADLINE_S,
            there=network.there, back=network.back, round_trips=round(2000 * length_s),
        )  # fmt: skip
        follower, layout = Follower(session.simulation.frames), session.simulation.layout
        frames: list[np.ndarray] = []
        with session:
            for _ in range(math.ceil(length_s / WATCH_S)):
                session.wait(WATCH_S)
                frames += follower.read()
            frames += follower.read()
        mirror, reaching = session.simulation, session.reaching[0]
        trips_ns = mirror.mirror.round_trips[: mirror.mirror.logged]
        trace = Trace.of(lambda name: layout.column(np.array(frames), name))
        body = server.order("end", "row")
        row = link_row(
            network, trace, mirror.there.start_ns, trips_ns, reaching, mirror.counts()["backlog"],
            body["absorbed_J"], body["tank_lowest_J"],
        )  # fmt: skip
    return row | {"frames_lost": follower.lost + body["frames_lost"]}


# ---- the whole


def verdicts(rows: list[dict[str, Any]], when: str) -> list[tuple[str, bool]]:
    """(what was reached, whether that meets the goal): reference on articulated bodies, acceptance 36 and section 4."""
    by_name = {row["network"]: row for row in rows}
    perfect, lossy, slow = (by_name.get(network.name) for network in (PERFECT, FIVE_PERCENT, TWENTY_MS))
    goals = []
    if perfect:
        rate, stale = perfect["rate_hz"], perfect["stale_fraction"]
        goals.append((f"{rate:.1f} Hz, goal {RATE_HZ:g} +- {RATE_WITHIN_HZ:g}", abs(rate - RATE_HZ) <= RATE_WITHIN_HZ))
        goals.append((f"{100 * stale:.2f} % stale, goal under {100 * STALE_GOAL:g} %", stale < STALE_GOAL))
    if lossy:
        stale = lossy["stale_fraction"]
        goals.append((f"{100 * stale:.2f} % stale with {100 * LOSS:g} % loss, goal {100 * LOSS:g} +- "
                      f"{100 * LOSS_WITHIN:g} %", abs(stale - LOSS) <= LOSS_WITHIN))  # fmt: skip
    if perfect and lossy:
        ratio = lossy["force_step_N"] / perfect["force_step_N"]
        goals.append((f"force steps {ratio:.2f} times those without loss, goal under {STEPS:g}", ratio < STEPS))
    if slow:
        rate, backlog = slow["rate_hz"], slow["backlog"]
        goals.append((f"{rate:.1f} Hz with 20 ms of delay, goal {RATE_HZ:g} +- {RATE_WITHIN_HZ:g}",
                      abs(rate - RATE_HZ) <= RATE_WITHIN_HZ))  # fmt: skip
        goals.append((f"at most {backlog} packets in a tick with 20 ms of delay, goal 1", backlog <= 1))
    least = min(row["work_J"] for row in rows)
    goals.append((f"work of any link at least {1e3 * least:.2f} mJ, goal no less than {-1e3 * CREATED_J:g} mJ",
                  least >= -CREATED_J))  # fmt: skip
    return [(f"{when}: {what}", is_met) for what, is_met in goals]


def run(
    seconds: float = 2.4,
    progress: Callable[[str], None] = lambda what: None,
    networks: tuple[Network, ...] | None = None,
) -> dict[str, Any]:
    """Measure everything, or these networks only; returns what `palpate bench link --json` writes."""
    networks = NETWORKS if networks is None else networks
    if not hasattr(os, "sched_setscheduler"):
        raise ValueError("this bench needs Linux, as a link does")
    before, load, permitted = machine(), os.getloadavg(), fifo_permitted()
    progress("the kernels of both ends, compiled or loaded")
    tick_mirror.warm()
    simulated = []
    for network in networks:
        progress(f"{network.name}, in simulated time")
        simulated.append(simulated_row(network, seconds))
    rows, server = [], Server()
    try:
        for network in networks:
            progress(f"{network.name}{', FIFO' if permitted else ''}")
            rows.append(real_row(network, seconds, server, permitted))
    finally:
        server.close()
    progress("plain Python sockets")
    peer = python_echo(seconds, RATE_HZ, 8 * QUERY_WORDS, DEADLINE_S, permitted)
    goals = verdicts(rows, "in real time") + verdicts(simulated, "in simulated time")
    return {
        "bench": "link",
        "machine": before,
        "load": {"before": load, "after": os.getloadavg()},
        "seconds": seconds,
        "fifo_permitted": permitted,
        "rows": rows,
        "simulated": simulated,
        "python_echo": peer,
        "met": [what for what, is_met in goals if is_met],
        "shortfalls": [what for what, is_met in goals if not is_met],
    }
