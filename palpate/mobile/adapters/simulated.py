"""The base as it is simulated (base.py), behind the same orders as a real one.  The tick calls `obey` and `drive`."""

from __future__ import annotations

from typing import Self

from palpate.mobile.adapters.orders import Stopping
from palpate.mobile.hardware.base import Base, new_drive


class SimulatedBase(Stopping):
    """Standing at a pose (x, z, phi); always answers.

    drive   for kernels, with book.orders: obey(drive, orders), drive(drive, k)
    """

    def __init__(
        self, base: Base | None = None, pose: tuple[float, float, float] = (0.0, 0.0, 0.0), seed: int = 0,
        tick_hz: int = 1000,
    ) -> None:  # fmt: skip
        super().__init__()
        self.drive = new_drive(base or Base(), pose, seed, tick_hz)

    def open(self) -> None:
        self.resume()

    def close(self) -> None:
        self.stop()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
