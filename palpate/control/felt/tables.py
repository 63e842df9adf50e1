"""What is felt on one body: the last second of force, what was seen in it, what it means and what was said of it."""

from __future__ import annotations

import numpy as np

from palpate.jit import Struct, Vector, block_loader
from palpate.model.model import Floats1, Floats2

PATTERNS = ("none", "push", "pull", "tap", "double tap", "shake", "hold", "stroke")
NONE, PUSH, PULL, TAP, DOUBLE_TAP, SHAKE, HOLD, STROKE = range(len(PATTERNS))

SAMPLE_S, WINDOW_S = 0.005, 1.0  # ticks are averaged to samples, of which a window holds the last second
COLUMNS = 7  # of a sample: force (3), point (3), force along the normal


class Felt(Struct):
    """Of one body; body axes, normals outward, forces are on the body."""

    dt: float  # of a tick [s]
    time_s: float  # since the start
    per_sample: int  # ticks of a sample
    # what the newest window looks like, at `when_s`
    pattern: int  # of PATTERNS
    sureness: float  # 0..1, of the distance to the nearest decision boundary
    when_s: float
    # what was said, once for each touch and pattern: `said_count` tells that something new was
    said: int
    said_sureness: float
    said_s: float
    said_count: int
    said_here: int  # in this touch, NONE: nothing yet
    # features of the newest window (features.py)
    peak_N: float
    noise_N: float
    level_N: float  # above which a touch is on
    on_s: float
    width_s: float
    along: float  # -1 presses .. 1 pulls
    one_way: float  # 0 to and fro .. 1
    unevenness: float
    third: float  # size of the third swing, of the peak, and
    fifth: float
    reach_m: float  # of the point
    force: Vector  # mean while on [N]
    point: Vector  # likewise [m]
    # the sample that is being made, and the ring
    n_ticks: int
    n_rows: int  # that were ever written
    n_window: int  # of them that belong to this touch, at most the ring's
    # when to look
    touching: int
    n_touch: int  # samples since this touch began
    n_quiet: int  # samples since the last force
    n_look: int  # samples since the window was last looked at
    quiet_noise: float  # square of the noise of a sample, as it comes [N^2]
    quiet_force: Vector  # force when nothing touches [N]
    making: Floats1  # (COLUMNS + 1,) sums: of force, |f| point, force along the normal, |f|
    ring: Floats2  # (n, COLUMNS)
    window: Floats2  # (n, COLUMNS) scratch: in order, without bias
    size: Floats1  # (n,) scratch: |f|
    swing: Floats1  # (n,) scratch: along the principal axis
    on: Floats1  # (n,) scratch: 1 where the touch is on


load_felt = block_loader((Felt, False))


def new_felt(dt_s: float) -> Felt:
    """Nothing felt yet, at ticks of `dt_s`."""
    per_sample = max(1, round(SAMPLE_S / dt_s))
    n = round(WINDOW_S / (per_sample * dt_s))
    if n < 50:
        raise ValueError(f"touch patterns need 50 Hz or more, the ticks are {dt_s} s apart")
    zeros = np.zeros
    return Felt(
        dt=dt_s, per_sample=per_sample, making=zeros(COLUMNS + 1), ring=zeros((n, COLUMNS)), window=zeros((n, COLUMNS)),
        size=zeros(n), swing=zeros(n), on=zeros(n),
    )  # fmt: skip
