"""The score of a task, kept in the tick (scenes/task.py says what it means).

h Head, m model, w workspace, s TickState: what `state.load` gives
"""

import math

from palpate.conventions import WORLD
from palpate.dynamics.jacobian import body_frame
from palpate.haptics.reach_tables import load_head
from palpate.jit import kernel
from palpate.scenes.task import REACHED, RUNNING, WAITING
from palpate.spatial.vectors import add, dot, get3, sub
from palpate.world.state import load as load_world

APART_S = 0.1  # a touch this long after the last is another collision


@kernel
def restart_score(s):
    """The next trial; one that nobody began is not counted."""
    if s.task_body == WORLD:
        return
    if s.task_trial == 0 or s.task_state != WAITING:
        s.task_trial += 1
    s.task_state, s.task_collisions = WAITING, 0
    s.task_apart = 1 << 60
    s.task_time_s, s.task_path_m, s.task_peak_N = 0.0, 0.0, 0.0


@kernel
def hits_obstacle(s):
    """Whether an obstacle was pressed on in the tick before."""
    _, _, g, c, r, _ = load_world(s.world)
    for i in range(r.n_contacts):
        one, other = g.body[c.shape_a[i]], g.body[c.shape_b[i]]
        if r.lam[i, 0] > 0.0 and (s.task_obstacle[one] or s.task_obstacle[other]):
            return True
    return False


@kernel
def strongest(s):
    """The largest force of a hand or device on what it touches [N]."""
    most = 0.0
    for k in range(s.devices.shape[0]):
        f = load_head(s.devices[k])[0].bodies_force
        most = max(most, math.sqrt(dot(f, f)))
    return most


@kernel
def keep_score(h, m, w, s):
    """After the hands of a tick that moves, before its frame."""
    body = s.task_body
    if body == WORLD:
        return
    _, p = body_frame(m, w, body)
    point, dt = add(get3(w.origin, m.root[m.body_link[body]]), p), h.dt
    away = sub(s.task_target, point)
    s.task_distance_m = math.sqrt(dot(away, away))
    if s.task_state == WAITING and s.touching:
        s.task_state = RUNNING
    elif s.task_state == RUNNING:
        moved = sub(point, s.task_last)
        s.task_time_s += dt
        s.task_path_m += math.sqrt(dot(moved, moved))
        s.task_peak_N = max(s.task_peak_N, strongest(s))
        s.task_apart += 1
        if hits_obstacle(s):
            s.task_collisions += s.task_apart * dt > APART_S
            s.task_apart = 0
        if s.task_distance_m <= s.task_radius_m:
            s.task_state = REACHED
    s.task_last = point
