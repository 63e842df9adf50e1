"""The arrays of a link's end at the hand (mirror_kernels.py)."""

from __future__ import annotations

import secrets
import socket

import numpy as np

from palpate.jit import Block
from palpate.link.clock import open_clock
from palpate.link.estimate import open_estimate
from palpate.link.fingerprint import fingerprint
from palpate.link.impair import QUEUE_COUNTERS, Impairments, open_queue
from palpate.link.keys import Key
from palpate.link.sockets import HANDLE_WORDS, handle_of, new_sender
from palpate.link.wire import FOR_HAND, LARGEST_WORDS, packet_lengths
from palpate.runtime.mirror_kernels import (
    Mirror,
)  # fmt: skip
from palpate.runtime.state import Engine
from palpate.scenes.scene import Scene


class Mirroring:
    """A scene that mirrors one at the other end of a link; `address` is what the loops take.

    connected  the socket, None: packets are moved by whoever runs it (linked.py).  It begins silent, and says HELLO
    """

    def __init__(
        self,
        scene: Scene,
        engine: Engine,
        key: Key,
        connected: socket.socket | None,
        estimate: str = "extrapolate",
        there: Impairments | None = None,
        back: Impairments | None = None,
        start_ns: int = 0,
        deadline_s: float = 0.0,
        holds: bool = True,
        round_trips: int = 0,
    ) -> None:
        for each in engine.devices:
            if np.ptp(each.want.stiffness) > 0.0 or any(each.want.damping):
                raise ValueError("across a link the spring of a hold has one stiffness, and is critically damped")
        model, zeros = scene.model, np.zeros
        nq, nv = model.nq, model.nv
        words, query = zeros(LARGEST_WORDS, dtype=np.int64), zeros(LARGEST_WORDS, dtype=np.int64)
        self.arrays = Mirror(
            sent=start_ns, heard_ns=start_ns, silent=1, may_hold=holds, deadline_ns=round(1e9 * deadline_s),
            nonce=secrets.randbits(62), fingerprint=fingerprint(model),
            handle=zeros(HANDLE_WORDS, dtype=np.int64) if connected is None else handle_of(connected), key=key.words,
            lengths=packet_lengths(nq, nv, FOR_HAND), lengths_out=packet_lengths(nq, nv), words=words,
            words_f=words.view(np.float64), raw=zeros(LARGEST_WORDS, dtype=np.int64), sender=new_sender(), query=query,
            query_f=query.view(np.float64), q=zeros(nq), v=zeros(nv),
            round_trips=zeros(round_trips, dtype=np.int64),
            placeable=np.flatnonzero(engine.servo.placeable),
        )  # fmt: skip
        self.there, self.back = (open_queue(x or Impairments(), start_ns) for x in (there, back))
        self.estimate, self.clock = open_estimate(model, estimate), open_clock()
        self._block = Block(model.arrays, scene.world.arrays.work, engine.servo, engine.offsets, self.arrays,
                            self.estimate, self.clock, self.there, self.back)  # fmt: skip

    @property
    def address(self) -> int:
        return self._block.address

    def counts(self) -> dict[str, int]:
        """What became of packets at this end."""
        x = self.arrays
        told = {"dropped": x.dropped, "exchanges": x.logged, "backlog": x.backlog}
        for name, queue in (("there", self.there), ("back", self.back)):
            told |= {f"{name}_{what}": int(n) for what, n in zip(QUEUE_COUNTERS, queue.counters, strict=True)}
        return told
