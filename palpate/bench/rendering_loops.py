"""Updates of a proxy in one compiled loop, each with its time."""

import numpy as np

from palpate.haptics.rendering.proxy import update_proxy
from palpate.jit import entry
from palpate.jit.atomics import monotonic_ns
from palpate.model.model import Floats


@entry("intp, float64[:, ::1], float64[:, ::1], float64, int64[::1], int64[::1], int64[::1]")
def timed_updates(
    address: int, hip: Floats, v: Floats, dt: float, clock: np.ndarray, ns: np.ndarray, contacts: np.ndarray
) -> None:
    """Rows of hip and velocity in; ns (n,) each update's time with one reading of the clock, contacts (n,) its touches.

    address 0 updates nothing: what the clock itself takes.
    """
    for i in range(hip.shape[0]):
        began = monotonic_ns(clock)
        if address != 0:
            contacts[i] = update_proxy(address, hip[i, 0], hip[i, 1], hip[i, 2], v[i, 0], v[i, 1], v[i, 2], dt)
        ns[i] = monotonic_ns(clock) - began
