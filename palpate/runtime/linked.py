"""Both ends of a link in one process and in simulated time: the same packets, ticks and faults, the same bits each run.

Every tick of dt: the hand's end sends, the network takes its time, the server's end passes the hand on, steps its world
and answers, and what has come back by then is felt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from palpate.frame import FAULT, RUNNING
from palpate.haptics.devices.pointer import Pointer
from palpate.haptics.devices.protocol import Device
from palpate.jit import entry
from palpate.jit.atomics import load_acquire
from palpate.link.impair import Impairments, put, take
from palpate.link.keys import PUBLIC_KEY
from palpate.link.peers import SEATS
from palpate.link.wire import HELLO
from palpate.runtime.loop import restart, take_events, take_hand
from palpate.runtime.mirror import Mirroring
from palpate.runtime.mirror_kernels import (
    GREET_EVERY,
    load_mirror,
    show_mirror,
    take_due,
    write_hello,
    write_query,
)  # fmt: skip
from palpate.runtime.relay import Relaying
from palpate.runtime.relay_kernels import load as load_relay
from palpate.runtime.relay_kernels import pass_on, take_packet, write_state, write_welcome
from palpate.runtime.ring import HEAD, Follower
from palpate.runtime.ring_kernels import copy_message
from palpate.runtime.state import Engine
from palpate.runtime.state import load as load_servo
from palpate.runtime.tick import tick
from palpate.scenes.scene import Scene

if TYPE_CHECKING:
    from palpate.haptics.reach import Reach


@entry("intp, intp, intp, intp, intp")
def simulate_link(server, relay, mirror, begin, ticks):
    """`ticks` ticks of both ends from tick number `begin` on; returns how many: fewer if the world stopped."""
    m, w, s, o = load_servo(server)
    r, peers, _ = load_relay(relay)
    hand_m, hand_w, hand_s, hand_o, x, e, c, there, back = load_mirror(mirror)
    for k in range(begin, begin + ticks):
        now = round(1e9 * s.dt * k)
        take_hand(hand_s, hand_o)
        put(there, x.query, write_query(hand_s, hand_o, x, now) // 8, now)
        if x.silent and k % GREET_EVERY == 0:
            put(there, x.query, write_hello(x, now) // 8, now)
        words = take(there, r.words, now)
        while words > 0:
            if take_packet(r, peers, 8 * words, now) == HELLO:
                put(back, r.answer, write_welcome(r, peers, now) // 8, now)
            words = take(there, r.words, now)
        holder, _ = pass_on(r, peers, o, now)
        take_hand(s, o)
        take_events(m, s, o)
        tick(m, w, s, o, now, True)
        if s.state == FAULT:
            return k - begin
        copy_message(r.frames, load_acquire(r.frames, HEAD), r.frame)
        for row in range(SEATS):
            if r.due[row]:
                put(back, r.answer, write_state(r, peers, o, row, holder, now) // 8, now)
        show_mirror(hand_m, hand_w, hand_s, hand_o, x, e, take_due(hand_m, hand_s, x, e, c, back, now), now)
    return ticks


class SimulatedLink:
    """A scene, the same scene mirrored, a network between them, and devices at the mirror's end."""

    def __init__(
        self,
        scene: Scene,
        mirrored: Scene,
        devices: Sequence[tuple[Device, Reach]] = (),
        there: Impairments | None = None,
        back: Impairments | None = None,
        estimate: str = "extrapolate",
    ) -> None:
        from palpate.haptics.reach import Reaching

        spec = Pointer().spec
        self.reaching = [
            Reaching(mirrored.world, device.spec, device.in_tick, reach, real_time=False)  # type: ignore[attr-defined]
            for device, reach in devices
        ]
        self.server = Engine(
            scene.world, scene.plan, spec, editing=scene.editing, parked=scene.spares, shared=False, task=scene.task
        )
        self.server.learn_to_touch()
        self.hand = Engine(mirrored.world, None, spec, devices=self.reaching, shared=False)
        self.relaying = Relaying(scene, self.server, PUBLIC_KEY, None)
        self.mirroring = Mirroring(mirrored, self.hand, PUBLIC_KEY, None, estimate, there, back, start_ns=0)
        for engine in (self.server, self.hand):
            restart(engine.address)
            engine.servo.state = RUNNING
        self.ticks, self._frames = 0, [Follower(self.server.frames), Follower(self.hand.frames)]
        self._kept: list[list[np.ndarray]] = [[], []]

    def run(self, seconds: float) -> None:
        """Go on for a while of simulated time [s]."""
        ticks, dt = round(seconds * self.server.rate_hz), 250
        for begin in range(0, ticks, dt):
            n = min(dt, ticks - begin)
            done = simulate_link(self.server.address, self.relaying.address, self.mirroring.address, self.ticks, n)
            self.ticks += done
            for kept, follower in zip(self._kept, self._frames, strict=True):
                kept += follower.read()
            if done < n:
                raise RuntimeError(f"the world stopped: {self.server.world.fault}")

    def history(self, name: str, hand: bool = False) -> Any:
        """A field of every frame so far (ticks, ...), of the server's end or of the hand's."""
        layout = (self.hand if hand else self.server).frame_layout
        return np.array([layout.read(words, name) for words in self._kept[hand]])
