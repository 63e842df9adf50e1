"""Everything that the tick of a World in a session reads and writes, beside the World itself.

The page, the recorder and the devices never see these: they read frames and write hands and events (frame.py).
"""

from __future__ import annotations

from palpate.dynamics.workspace import Workspace
from palpate.frame import WORLD_FIELDS, places
from palpate.jit import Struct, Vector, block_loader
from palpate.model.model import Floats1, Floats2, Ints1, ModelArrays
from palpate.servo.head import Head

LINKED_HAND = 0  # the hand of a device across a link, which energy may limit
SURFACE_NS_M = 20.0  # of a surface of SURFACE_N_M, so that what is pressed does not bounce


class TickState(Struct):
    """What the World's tick keeps beside the World."""

    # addresses of blocks
    world: int  # the World's own
    guide: int  # what the planned joints follow (control/plans/guide_tables.py), 0: nothing is planned
    start: int  # the Start, where a reset goes (start.py)
    reach: int  # the routine that a hand's or a device's tick is
    # settings
    gravity_times: float  # the scene's own
    friction_times: float
    touching: int  # whether a hand or a device touches or holds a body in this tick, and
    push_N: float  # the sum of their forces on bodies
    edit_mode: int  # of the guide (control/plans/modes.py), for frames, and
    edit_stage: int
    # the task (score.py)
    task_body: int  # 0: there is no task
    task_target: Vector
    task_radius_m: float
    task_state: int  # scenes/task.py
    task_trial: int
    task_collisions: int
    task_apart: int  # ticks since its body touched an obstacle
    task_last: Vector  # where its body was
    task_time_s: float
    task_path_m: float
    task_peak_N: float
    task_distance_m: float
    # the World's arrays
    q: Floats1  # (nq,) coordinates
    v: Floats1  # (nv,)
    tau: Floats1  # (nv,) the controller's
    q_hold: Floats1  # (nq,) where joints are held
    pushed: Ints1  # (L,) world/state.py
    mu_static: Floats2  # world/state.py: as they are now, and
    mu_sliding: Floats2
    mu_own: Floats2  # (T, 2 T) as the scene has them
    # the servo's own
    # of the Start
    tau_start: Floats1  # (nv,)
    q_start: Floats1  # (nq,)
    v_start: Floats1  # (nv,)
    pushed_start: Ints1  # (L,)
    gravity: Floats1  # (3,) the model's own array: what it is now [m/s^2], and
    gravity_own: Floats1  # (3,) what the scene has
    placeable: Ints1  # (B,) link of each body that can be placed, 0: it cannot (world/build.py), and
    place_around: Floats2  # (B, 14) what gives its coordinates
    pushed_own: Ints1  # (L,) `pushed` of what is not parked
    parked: Ints1  # (B,) 1: the body waits to be added
    task_obstacle: Ints1  # (n_bodies,) 1: one of the task's obstacles
    devices: Ints1  # (HANDS + n_devices,) the blocks that `reach` is called with: first those of the hands
    parts: Ints1  # servo/parts.py: controllers


Offsets = places("Offsets", WORLD_FIELDS)  # where a World's own fields lie in its frames [words]

load = block_loader((Head, False), (Offsets, False), (ModelArrays, True), (Workspace, False), (TickState, False))
