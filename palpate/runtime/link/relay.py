"""The thread of a link's server beside a servo (relay_kernels.py), and its arrays."""

from __future__ import annotations

import contextlib
import os
import socket
import threading

import numpy as np

from palpate.frame import Layout
from palpate.jit import Block, warm
from palpate.link.keys import Key
from palpate.link.peers import COUNTERS, NOBODY, SEATS, new_peers
from palpate.link.sockets import handle_of, new_sender
from palpate.link.wire import (
    FIELDS,
    FOR_SERVER,
    LARGEST_WORDS,
    PAYLOAD,
    WELCOME,
    name_words,
    packet_lengths,
    state_parts,
)
from palpate.runtime.link.reflected import own_fields, scene_fingerprint, words_of
from palpate.runtime.link.relay_kernels import (
    Relay,
    relay_loop,
)  # fmt: skip
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes.scene import Scene
from palpate.servo.ring import Ring
from palpate.servo.simulation import EVENT_SLOTS, HAND_SLOTS

PRIORITY = 79  # the servo has 80


class Relaying:
    """A link's server beside a servo: listens between `start` and `stop`.

    listening  its socket, None: packets are moved by whoever runs it (simulated.py)

    It alone writes the servo's hands and events; what this side's program has to say goes into own_hands, own_events.
    """

    def __init__(self, scene: Scene, engine: WorldSimulation, key: Key, listening: socket.socket | None) -> None:
        nq, nv, zeros = scene.model.nq, scene.model.nv, np.zeros
        own = words_of(scene)
        lengths, (parts, n_rest) = packet_lengths(nq, nv, own=own), state_parts(nq, nv, own)
        rest = zeros(parts * n_rest, dtype=np.int64)
        self.socket, self._engine = listening, engine
        self._handle = None if listening is None else handle_of(listening)
        answer, frame = zeros(LARGEST_WORDS, dtype=np.int64), zeros(engine.layout.words, dtype=np.int64)
        welcome = zeros(int(lengths[WELCOME]), dtype=np.int64)
        welcome[PAYLOAD:-1] = _welcome(scene, engine)
        self.peers = new_peers()
        self.own_hands = Ring.create(HAND_SLOTS, engine.hand_layout.words, shared=False)
        self.own_events = Ring.create(EVENT_SLOTS, engine.event_layout.words, shared=False)
        self.arrays = Relay(
            handle=self._handle.address if self._handle else 0, key=key.words,
            lengths_in=packet_lengths(nq, nv, FOR_SERVER, own), lengths_out=lengths, parts=parts, rest=rest,
            rest_f=rest.view(np.float64), **_own_places(scene, engine), **_own_events(engine),
            words=zeros(LARGEST_WORDS, dtype=np.int64), sender=new_sender(), answer=answer,
            answer_f=answer.view(np.float64), welcome=welcome, frame=frame, frame_f=frame.view(np.float64),
            frames=engine.frames.memory, hands=engine.hands.memory, hands_f=engine.hands.memory.view(np.float64),
            events=engine.events.memory, events_f=engine.events.memory.view(np.float64),
            own_hands=self.own_hands.memory, own_events=self.own_events.memory,
            placeable=np.flatnonzero(engine.arrays.placeable),
            due=zeros(SEATS, dtype=np.int64), arrived_ns=zeros(SEATS, dtype=np.int64),
            session=zeros(SEATS, dtype=np.int64), event_seen=zeros(SEATS, dtype=np.int64),
            spent_J=zeros(SEATS), given_J=zeros(SEATS), told_J=zeros(SEATS),
            clock=zeros(2, dtype=np.int64), stop=zeros(1, dtype=np.int64), holder_before=NOBODY, nq=nq, nv=nv,
        )  # fmt: skip
        self._block = Block(self.arrays, self.peers, engine.places)
        self._thread = threading.Thread(target=self._run, name="link", daemon=True)

    @property
    def address(self) -> int:
        return self._block.address

    def start(self) -> None:
        warm(relay_loop)
        self._thread.start()

    def _run(self) -> None:
        with contextlib.suppress(PermissionError, AttributeError):  # just below the servo: an answer should not wait
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        relay_loop(self._block.address)

    def stop(self) -> None:
        self.arrays.stop[0] = 1
        if self._thread.is_alive():
            self._thread.join()
        if self.socket is not None:
            self.socket.close()

    def is_pending(self, number: int) -> bool:
        """Whether the servo has not yet taken that message of own_events."""
        passed, newest = self.arrays.event_passed >= number, self._engine.events.head
        return not passed or bool(newest >= self._engine.beat.next_event)

    def counts(self) -> dict[str, int]:
        """Packets dropped and why, rows taken away, times the hand was passed on; packets received and answered."""
        more = {"received": self.arrays.received, "answered": self.arrays.answered}
        return dict(zip(COUNTERS, self.peers.counters.tolist(), strict=True)) | more


def _own_places(scene: Scene, engine: WorldSimulation) -> dict[str, int]:
    """Where the fields of controllers lie in a frame: all whole numbers in one run, all others in another."""
    places: dict[str, int] = {}
    for kind, name in (("i", "ints"), ("f", "floats")):
        fields = [field.name for field in own_fields(scene) if field.kind == kind]
        places[f"{name}_at"] = engine.layout.offset[fields[0]] if fields else 0
        places[f"n_{name}"] = sum(engine.layout.length[field] for field in fields)
    return places


def _own_events(engine: WorldSimulation) -> dict[str, np.ndarray]:
    """Which of the simulation's own events a hand may send: those of controllers, within their bounds."""
    takes, before = engine.takes, len(WorldSimulation.takes)
    allowed = [int(k >= before and not take.inside) for k, take in enumerate(takes)]
    return {"event_open": np.array(allowed, dtype=np.int64), "event_low": np.array([float(t.low) for t in takes]),
            "event_high": np.array([float(t.high) for t in takes]),
            "event_whole": np.array([int(t.whole) for t in takes], dtype=np.int64)}  # fmt: skip


def _welcome(scene: Scene, engine: WorldSimulation) -> np.ndarray:
    model = scene.model
    return Layout(FIELDS[WELCOME]).pack(
        nq=model.nq, nv=model.nv, n_bodies=model.n_bodies, fingerprint=scene_fingerprint(scene),
        name=name_words(scene.name), rate_hz=engine.rate_hz, force_limit_N=engine.device.force_limit_N,
    )  # fmt: skip
