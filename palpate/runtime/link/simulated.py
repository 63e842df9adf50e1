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
from palpate.runtime.link.mirror import Mirroring
from palpate.runtime.link.mirror_kernels import (
    GREET_EVERY,
    load_mirror,
    show_mirror,
    take_due,
    write_hello,
    write_query,
)  # fmt: skip
from palpate.runtime.link.relay import Relaying
from palpate.runtime.link.relay_kernels import load as load_relay
from palpate.runtime.link.relay_kernels import pass_on, take_packet, write_part, write_state, write_welcome
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes.scene import Scene
from palpate.servo.loop import load_beat, take_events, take_hands, tick
from palpate.servo.ring import HEAD, Follower
from palpate.servo.ring_kernels import copy_message

if TYPE_CHECKING:
    from palpate.haptics.reach import Reach


@entry("intp, intp, intp, intp, intp, intp")
def simulate_link(server, relay, hand, mirror, begin, ticks):
    """`ticks` ticks of both ends from tick number `begin` on; returns how many: fewer if the world stopped.

    server, hand  of their beats;  relay, mirror  of their blocks
    """
    b, h = load_beat(server)
    r, peers, o = load_relay(relay)
    hand_b, hand_h = load_beat(hand)
    _, hand_o, hand_m, hand_w, hand_s, x, e, c, there, back = load_mirror(mirror)
    for k in range(begin, begin + ticks):
        now = round(1e9 * h.dt * k)
        take_hands(hand_b, hand_h)
        take_events(hand_b, hand_h)
        put(there, x.query, write_query(hand_h, hand_s, x, now) // 8, now)
        if x.silent and k % GREET_EVERY == 0:
            put(there, x.query, write_hello(x, now) // 8, now)
        words = take(there, r.words, now)
        while words > 0:
            if take_packet(r, peers, 8 * words, now) == HELLO:
                put(back, r.answer, write_welcome(r, peers, now) // 8, now)
            words = take(there, r.words, now)
        holder, _ = pass_on(r, peers, now)
        take_hands(b, h)
        take_events(b, h)
        tick(b, h, now, True, True)
        if h.state == FAULT:
            return k - begin
        copy_message(r.frames, load_acquire(r.frames, HEAD), r.frame)
        for row in range(SEATS):
            if r.due[row]:
                write_state(r, peers, o, row, holder, now)
                for part in range(r.parts):
                    put(back, r.answer, write_part(r, peers, row, part, now) // 8, now)
        new = take_due(hand_m, hand_h, hand_s, x, e, c, back, now)
        show_mirror(hand_h, hand_o, hand_m, hand_w, hand_s, x, e, new, now)
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
        self.server = WorldSimulation(scene)
        self.server.learn_to_touch()
        self.hand = Mirroring(mirrored, spec, PUBLIC_KEY, None, self.reaching, estimate, there, back, shared=False)
        self.relaying = Relaying(scene, self.server, PUBLIC_KEY, None)
        for engine in (self.server, self.hand):
            engine.restart()
            engine.head.state = RUNNING
        self.ticks, self._frames = 0, [Follower(self.server.frames), Follower(self.hand.frames)]
        self._kept: list[list[np.ndarray]] = [[], []]

    def run(self, seconds: float) -> None:
        """Go on for a while of simulated time [s]."""
        ticks, dt = round(seconds * self.server.rate_hz), 250
        for begin in range(0, ticks, dt):
            n = min(dt, ticks - begin)
            done = simulate_link(self.server.address, self.relaying.address, self.hand.address,
                                 self.hand.block.address, self.ticks, n)  # fmt: skip
            self.ticks += done
            for kept, follower in zip(self._kept, self._frames, strict=True):
                kept += follower.read()
            if done < n:
                raise RuntimeError(self.server.why_stopped())

    def history(self, name: str, hand: bool = False) -> Any:
        """A field of every frame so far (ticks, ...), of the server's end or of the hand's."""
        return (self.hand if hand else self.server).layout.column(np.array(self._kept[hand]), name)
