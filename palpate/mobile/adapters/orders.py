"""Orders to a base: from the tick, which plans, to whoever drives a robot, in a thread of its own.

The tick calls `order` at every tick: that it does is its sign of life, and the newest counts.  Back comes `silent`: the
base does not answer, so forces shall fade and the plan stop, as when its pose is lost.  The base as it is simulated
takes the same orders (`obey`).

v    velocity (vx, vz, vphi) in the display's world [m/s, rad/s];  phi  heading of the base, for those who drive in its
     own axes [rad]
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, Protocol

import numpy as np

from palpate.jit import Struct, kernel
from palpate.jit.atomics import load_acquire
from palpate.model.model import Floats1, Ints1
from palpate.servo.ring import HEAD, Ring
from palpate.servo.ring_kernels import begin_write, copy_message, end_write

SLOTS, WORDS = 8, 5  # of a message: tick, vx, vz, vphi, phi


class Orders(Struct):
    """What the tick sees."""

    silent: int  # 1: no answer from the base; written by its driver
    stopped: int  # 1: told to stop: nothing but zero is driven; written by its driver
    ring: Ints1
    ring_f: Floats1  # the same as floats
    taken: Ints1  # (WORDS,) of `obey`
    taken_f: Floats1


@kernel
def order(o, k, v, phi):
    """Drive at v from tick k on."""
    at = begin_write(o.ring)
    o.ring[at] = k
    o.ring_f[at + 1], o.ring_f[at + 2], o.ring_f[at + 3], o.ring_f[at + 4] = v[0], v[1], v[2], phi
    end_write(o.ring)


@kernel
def obey(b, o):
    """The newest order is the command of a simulated base (base.py); nothing was ordered yet: none."""
    newest = load_acquire(o.ring, HEAD)
    if newest == 0 or not copy_message(o.ring, newest, o.taken):
        return
    b.commanded_at = o.taken[0]
    b.command = (0.0, 0.0, 0.0) if o.stopped else (o.taken_f[1], o.taken_f[2], o.taken_f[3])


class Order(NamedTuple):
    """The newest, as a driver's thread reads it."""

    number: int  # grows with every tick
    velocity: tuple[float, float, float]
    heading_rad: float


class OrderBook:
    """Orders with the door for Python: `orders` for kernels, `newest` for a driver."""

    def __init__(self) -> None:
        self._ring = Ring.create(SLOTS, WORDS, shared=False)
        taken = np.zeros(WORDS, dtype=np.int64)
        self.orders = Orders(ring=self._ring.memory, ring_f=self._ring.memory.view(np.float64), taken=taken,
                             taken_f=taken.view(np.float64))  # fmt: skip

    def newest(self) -> Order | None:
        """None: nothing was ordered yet."""
        found = self._ring.newest()
        if found is None:
            return None
        vx, vz, vphi, phi = found[1][1:].view(np.float64).tolist()
        return Order(found[0], (vx, vz, vphi), phi)


class BaseDriver(Protocol):
    """The contract.  `open` begins, `close` ends with the base standing, at any time and twice too."""

    book: OrderBook  # what to drive, and `silent` and `stopped` for the tick
    faults: Counter[str]  # what went wrong, by kind

    def open(self) -> None: ...

    def stop(self) -> None:
        """Zero, whatever is ordered, until `resume`."""

    def resume(self) -> None: ...

    def close(self) -> None: ...


class Stopping:
    """The part of the contract that drivers share."""

    def __init__(self) -> None:
        self.book = OrderBook()
        self.faults: Counter[str] = Counter()

    def stop(self) -> None:
        self.book.orders.stopped = 1

    def resume(self) -> None:
        self.book.orders.stopped = 0
