"""What prioritised tasks are as arrays: a row of these for each, and the scratch of priorities.py."""

from __future__ import annotations

from palpate.dynamics.workspace import Workspace
from palpate.jit import Struct, block_loader
from palpate.model.model import Floats1, Floats2, Ints1, ModelArrays

# what a task is about
POSE, CENTER, GAZE, POSTURE = range(4)


class TaskTable(Struct):
    """T tasks with R rows in all, at most M in a level; n columns: the velocities of the tree that may move.

    The model beside it is that of one tree (tree.py), and so are q and v_tree; q_begin and v_begin say where they are
    among those of the World.
    """

    dt: float  # [s] of the step
    singular_speed: float  # [rad/s] that near-singular directions may have (priorities.py)
    q_begin: int
    v_begin: int
    has_posture: int  # whether the last level is all columns' posture
    near_singular: int  # levels that were damped in the last step, and
    solves: int  # how often it was solved
    refused: int  # steps so far that did nothing, since a target was no number
    q: Floats1  # (nq,) q_d of the tree: the step starts from here and ends here
    q_next: Floats1  # (nq,)
    v_tree: Floats1  # (nv,) velocity of the step
    # tasks, in order of priority
    kind: Ints1  # (T,) POSE, ...
    body: Ints1  # (T,) the tree's own row
    first: Ints1  # (T,) its first row
    count: Ints1  # (T,) how many
    row_of: Ints1  # (6 T,) of an axis (turn x, y, z, place x, y, z) among its own rows, -1: not asked for
    at_body: Floats2  # (T, 3) [m]
    axis: Floats2  # (T, 3) GAZE: the direction that looks, body axes
    target: Floats2  # (T, 7) place [m] and quaternion, world
    rate: Floats2  # (T, 6) of the target (angular, linear), world
    gain: Floats1  # (T,) [1/s]
    speed: Floats1  # (T,) at most so fast towards it [m/s], and
    turn_speed: Floats1  # (T,) [rad/s]
    error: Floats2  # (T, 2) what was missing before the step [rad], [m]
    # POSTURE: of joints
    q_posture: Floats1  # (nq,) their target
    posture_column: Ints1  # (R,) the column that a row is about
    gain_posture: Floats1  # (n,) of a posture of all columns [1/s], 0: not asked for
    away: Floats1  # (nv,) from q to q_posture
    # columns
    level_begin: Ints1  # (levels + 1,) their first rows
    column: Ints1  # (nv,) of a velocity, -1: does not move
    v_of: Ints1  # (n,) the velocity of a column
    q_of: Ints1  # (n,) its coordinate, -1: has no range
    lower: Floats1  # (n,)
    upper: Floats1  # (n,)
    fastest: Floats1  # (n,) [rad/s, m/s]
    # scratch
    J: Floats2  # (R, n)
    e: Floats1  # (R,)
    e_posture: Floats1  # (n,)
    v: Floats1  # (n,)
    dv: Floats1  # (n,) of a level
    free: Floats1  # (n,) 1, or 0 where a joint comes back into its range
    low: Floats1  # (n,) velocities that end within the range, and are slow enough
    high: Floats1  # (n,)
    A: Floats2  # (M, n) J N
    basis: Floats2  # (n + M, n) orthonormal rows: what tasks use
    R: Floats2  # (M, M)
    W: Floats2  # (M, M)
    rest: Floats1  # (M,) e - J v
    y: Floats1  # (M,)
    size: Floats1  # (M,)
    square: Floats1  # (M,)
    pivot: Ints1  # (M,)
    mass: Floats1  # (L,) of a link and all it carries [kg], and
    moment: Floats2  # (L, 3) times where, from the reference point [kg m]


load_tasks = block_loader((ModelArrays, True), (Workspace, False), (TaskTable, False))
