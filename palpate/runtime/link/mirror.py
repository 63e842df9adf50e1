"""A World that runs elsewhere, as a Simulation: the hand's end of a link (mirror_kernels.py)."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from palpate.haptics.devices.protocol import DeviceSpec
from palpate.link.clock import open_clock
from palpate.link.estimate import open_estimate
from palpate.link.impair import QUEUE_COUNTERS, Impairments, open_queue
from palpate.link.keys import Key
from palpate.link.sockets import handle_of, new_sender
from palpate.link.wire import FOR_HAND, LARGEST_WORDS, packet_lengths, state_parts
from palpate.runtime.link.mirror_kernels import MOST_DELAY_MS, Mirror, take_mirror, tick_mirror
from palpate.runtime.link.reflected import Reflected, scene_fingerprint, words_of
from palpate.runtime.world.controllers import controllers_of
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes.scene import Scene
from palpate.servo.simulation import Event
from palpate.world.build import placeable

if TYPE_CHECKING:  # rendering loads with the first device
    from palpate.haptics.reach import Reaching

DELAY = Event("delay_ms", 0.0, MOST_DELAY_MS, inside=True)  # of the network, there and back


class Mirroring(WorldSimulation):
    """A scene that mirrors one at the other end of a link.

    connected  the socket, None: packets are moved by whoever runs it (simulated.py).  It begins silent, and says HELLO
    """

    tick, take = tick_mirror, take_mirror

    def __init__(
        self,
        scene: Scene,
        device: DeviceSpec | None,
        key: Key,
        connected: socket.socket | None,
        devices: Sequence[Reaching] = (),
        estimate: str = "extrapolate",
        there: Impairments | None = None,
        back: Impairments | None = None,
        start_ns: int = 0,
        deadline_s: float = 0.0,
        holds: bool = True,
        round_trips: int = 0,
        **options: Any,
    ) -> None:
        for each in devices:
            if np.ptp(each.want.stiffness) > 0.0 or any(each.want.damping):
                raise ValueError("across a link the spring of a hold has one stiffness, and is critically damped")
        model, zeros = scene.model, np.zeros
        nq, nv, own = model.nq, model.nv, words_of(scene)
        parts, n_rest = state_parts(nq, nv, own)
        rest = zeros(parts * n_rest, dtype=np.int64)
        words, query = zeros(LARGEST_WORDS, dtype=np.int64), zeros(LARGEST_WORDS, dtype=np.int64)
        self._handle = None if connected is None else handle_of(connected)
        self.mirror = Mirror(
            sent=start_ns, heard_ns=start_ns, silent=1, may_hold=holds, deadline_ns=round(1e9 * deadline_s),
            nonce=secrets.randbits(62), fingerprint=scene_fingerprint(scene), clock=zeros(2, dtype=np.int64),
            handle=self._handle.address if self._handle else 0, key=key.words,
            lengths=packet_lengths(nq, nv, FOR_HAND, own), lengths_out=packet_lengths(nq, nv, own=own), words=words,
            words_f=words.view(np.float64), raw=zeros(LARGEST_WORDS, dtype=np.int64), sender=new_sender(), query=query,
            query_f=query.view(np.float64), q=zeros(nq), v=zeros(nv), parts=parts, rest=rest,
            rest_f=rest.view(np.float64), own=zeros(own, dtype=np.int64),
            round_trips=zeros(round_trips, dtype=np.int64),
            placeable=np.flatnonzero(placeable(model)[0]),
        )  # fmt: skip
        self.there = open_queue(there or Impairments(), start_ns)
        self.back = open_queue(back or Impairments(), start_ns, 256 * parts)
        self.estimate, self.clock = open_estimate(model, estimate), open_clock()
        more = (self.mirror, self.estimate, self.clock, self.there, self.back)
        reflection = (Reflected(controllers_of(scene), self.mirror.own),) if scene.controllers else ()
        super().__init__(
            replace(scene, plan=None, task=None, controllers=reflection), device, devices=devices, more=more, **options
        )
        self.takes = (*self.takes, DELAY)  # last: the numbers before it are the other end's too
        self.mirror.delay_kind = self.kind_of(DELAY.name)

    def warm_later(self) -> None:
        """Nothing: what hands press on is at the other end."""

    def counts(self) -> dict[str, int]:
        """What became of packets at this end."""
        x = self.mirror
        told = {"dropped": x.dropped, "exchanges": x.logged, "backlog": x.backlog}
        for name, queue in (("there", self.there), ("back", self.back)):
            told |= {f"{name}_{what}": getattr(queue, what) for what in QUEUE_COUNTERS}
        return told
