"""The score of a task, kept in the tick (scenes/task.py says what it means).

m model, w workspace, s servo state: what `state.load` gives
"""

import math

from palpate.contact.rows import N_CONTACTS
from palpate.conventions import WORLD
from palpate.dynamics.jacobian import body_frame
from palpate.frame import HANDS
from palpate.haptics.reach_tables import BODIES_FORCE, load_head
from palpate.jit import kernel
from palpate.runtime.state import (
    DISTANCE_M,
    DT_S,
    PATH_M,
    PEAK_N,
    SCORE_TIME_S,
    TARGET_M,
    TASK_APART,
    TASK_BODY,
    TASK_COLLISIONS,
    TASK_LAST_M,
    TASK_RADIUS_M,
    TASK_STATE,
    TASK_TRIAL,
)  # fmt: skip
from palpate.scenes.task import REACHED, RUNNING, WAITING
from palpate.spatial.vectors import add, dot, get3, part3, put_part, sub
from palpate.world.state import load as load_world

APART_S = 0.1  # a touch this long after the last is another collision


@kernel
def restart_score(s):
    """The next trial; one that nobody began is not counted."""
    if s.task_integer[TASK_BODY] == WORLD:
        return
    if s.task_integer[TASK_TRIAL] == 0 or s.task_integer[TASK_STATE] != WAITING:
        s.task_integer[TASK_TRIAL] += 1
    s.task_integer[TASK_STATE], s.task_integer[TASK_COLLISIONS] = WAITING, 0
    s.task_integer[TASK_APART] = 1 << 60
    s.task_number[SCORE_TIME_S], s.task_number[PATH_M], s.task_number[PEAK_N] = 0.0, 0.0, 0.0


@kernel
def hits_obstacle(s):
    """Whether an obstacle was pressed on in the tick before."""
    _, _, g, c, r, _ = load_world(s.world)
    for i in range(s.rows_integer[N_CONTACTS]):
        one, other = g.body[c.shape_a[i]], g.body[c.shape_b[i]]
        if r.lam[i, 0] > 0.0 and (s.task_obstacle[one] or s.task_obstacle[other]):
            return True
    return False


@kernel
def strongest(s):
    """The largest force of a hand or device on what it touches [N]."""
    most = 0.0
    for k in range(HANDS):
        f = get3(s.hand_force, k)
        most = max(most, math.sqrt(dot(f, f)))
    for k in range(s.devices.shape[0]):
        f = get3(load_head(s.devices[k])[0].vector, BODIES_FORCE)
        most = max(most, math.sqrt(dot(f, f)))
    return most


@kernel
def keep_score(m, w, s, touching):
    """After the hands of a tick that moves, before its frame."""
    body = s.task_integer[TASK_BODY]
    if body == WORLD:
        return
    _, p = body_frame(m, w, body)
    point, dt = add(get3(w.origin, m.root[m.body_link[body]]), p), s.number[DT_S]
    away = sub(part3(s.task_number, TARGET_M), point)
    s.task_number[DISTANCE_M] = math.sqrt(dot(away, away))
    if s.task_integer[TASK_STATE] == WAITING and touching:
        s.task_integer[TASK_STATE] = RUNNING
    elif s.task_integer[TASK_STATE] == RUNNING:
        moved = sub(point, part3(s.task_number, TASK_LAST_M))
        s.task_number[SCORE_TIME_S] += dt
        s.task_number[PATH_M] += math.sqrt(dot(moved, moved))
        s.task_number[PEAK_N] = max(s.task_number[PEAK_N], strongest(s))
        s.task_integer[TASK_APART] += 1
        if hits_obstacle(s):
            s.task_integer[TASK_COLLISIONS] += s.task_integer[TASK_APART] * dt > APART_S
            s.task_integer[TASK_APART] = 0
        if s.task_number[DISTANCE_M] <= s.task_number[TASK_RADIUS_M]:
            s.task_integer[TASK_STATE] = REACHED
    put_part(s.task_number, TASK_LAST_M, point)
