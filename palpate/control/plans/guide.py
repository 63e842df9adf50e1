"""The torques of planned joints: follow the plan, yield to a hand, and go on as the mode says (control/plans/modes.py).

    U = rnea(q, v, a_ref)                                        computed torque; gravity and Coriolis compensated
    planned   a_ref = a_plan + Kp (q_plan - q) + Kd (v_plan - v)              follow.py
    touched   a_ref = the acceleration in force, without feedback: the arm does not fight the hand, whose push c adds
              exactly H^-1 J^T c to it
    edited    HOLD: a_ref constant.   RESUME: course.py.   BLEND: plan + offset, always:
              M_d d'' + B_d d' + K_d d = J^T c,   U = rnea(q, v, a_plan + d'' + feedback) - J^T c:
              the arm moves as that mass, damper and spring would, whatever it weighs itself
    ended     a_ref = -Kd v: brakes, and then stays

Joints may be of any kind but free: what is missing is compared on the tangent space (tangent.py).

g  Guide (guide_tables.py);  p  Plan;  m, w  model and workspace
"""

from palpate.control.plans.course import course_acceleration, set_course, tool_state
from palpate.control.plans.follow import KD, KP, next_gain, reference_acceleration
from palpate.control.plans.guide_tables import (
    load_guide,
    load_plan,
)  # fmt: skip
from palpate.control.plans.modes import BLEND, EDITED, ENDED, HOLD, PLANNED, RESUME, TEACH, TOUCHED, WAIT
from palpate.control.plans.tangent import compare, go_on, put_offset, show_joints
from palpate.conventions import WORLD
from palpate.dynamics.inertia import apply_wrenches
from palpate.dynamics.rnea import motion_forces, project_forces
from palpate.jit import kernel, shared
from palpate.spatial.vectors import dot, part3

LIGHTEST_N = 1.0  # a push below this is none for HOLD's mean


@kernel
def plan_row(g, p):
    """The row of the plan for this tick: around and around, or its last for ever."""
    n, row = p.q.shape[0], int(g.phase)
    return row % n if g.loops else min(row, n - 1)


@kernel
def restart_guide(g):
    """Back to the beginning of the plan, nothing edited."""
    g.gain, g.phase, g.since_s, g.pushed_N = 1.0, 0.0, 0.0, 0.0
    g.stage, g.has_course, g.n_kept, g.touching = PLANNED, 0, 0, 0
    g.offset[:] = 0.0
    g.offset_rate[:] = 0.0
    for k in range(g.v_at.shape[0]):
        g.v_last[k] = g.v[g.v_at[k]]


@kernel
def begin_plan(g, address):
    """Another plan under the guide, once through, from its beginning; its goal comes with it."""
    _, goal = load_plan(address)
    g.plan, g.loops = address, 0
    g.goal = part3(goal.place, 0)
    for r in range(4):
        g.goal_turn[r] = goal.place[3 + r]
    restart_guide(g)


@kernel
def change_mode(g, mode):
    """Another mode from now on.  An arm that has left its plan comes back gently (WAIT), keeps its distance (BLEND),
    is led to the goal (RESUME), or comes to rest (HOLD).
    """
    if not WAIT <= mode <= TEACH or mode == g.mode:
        return
    on_plan = g.stage == PLANNED and g.gain == 1.0
    g.mode, g.has_course, g.n_kept = mode, 0, 0
    g.gain = 1.0 if on_plan else 0.0
    if not on_plan:  # RESUME plans as after a touch, in the next tick
        g.stage = TOUCHED if mode == RESUME else ENDED if mode == HOLD else EDITED
    if mode == BLEND and not on_plan:
        p = load_plan(g.plan)[0]
        put_offset(g, p, plan_row(g, p))
    else:
        g.offset[:] = 0.0
        g.offset_rate[:] = 0.0


# ---- stages


@kernel
def keep_acceleration(g):
    """HOLD: what the joints did in the tick before, if a hand pushed in it."""
    dt = g.dt
    pushed = g.stage == TOUCHED and g.pushed_N > LIGHTEST_N
    row = g.n_kept % g.kept.shape[0]
    for k in range(g.v_at.shape[0]):
        v = g.v[g.v_at[k]]
        if pushed:
            g.kept[row, k] = (v - g.v_last[k]) / dt
        g.v_last[k] = v
    if pushed:
        g.n_kept += 1


@kernel
def begin_touch(g, p):
    """The acceleration in force stays in force."""
    row, stage = plan_row(g, p), g.stage
    for k in range(g.v_at.shape[0]):
        if stage != EDITED:
            g.a_force[k] = p.a[row, k] if stage == PLANNED else 0.0
    g.stage, g.n_kept = TOUCHED, 0


@kernel
def end_touch(m, w, g):
    """HOLD: keep the mean of the newest contact.  RESUME: a new way to the goal."""
    n = min(g.n_kept, g.kept.shape[0])
    if g.mode == HOLD and n > 0:
        for k in range(g.v_at.shape[0]):
            total = 0.0
            for i in range(n):
                total += g.kept[i, k]
            g.a_force[k] = total / n
    elif g.mode == RESUME:
        set_course(m, w, g)
    g.stage = EDITED


@kernel
def must_end(m, w, g):
    """Whether a motion that nothing leads any more is at the wall or at a limit."""
    if g.has_wall and g.tool != WORLD:
        normal = g.wall
        _, position, velocity, _, _ = tool_state(m, w, g.tool)
        if dot(normal, position) <= g.wall_m and dot(normal, velocity) < 0.0:
            return True
    for k in range(g.v_at.shape[0]):
        n, v = g.q_of[k], g.v[g.v_at[k]]
        if abs(v) > g.fastest[k]:
            return True
        if n >= 0:  # a quaternion has no ends
            q = g.q[g.q_at[n]]
            if (q >= g.upper[n] and v > 0.0) or (q <= g.lower[n] and v < 0.0):
                return True
    return False


@kernel
def next_stage(m, w, g, p):
    """Where the motion is after what the hand did."""
    mode, stage, touching = g.mode, g.stage, g.touching != 0
    if mode == HOLD:
        keep_acceleration(g)
    if mode in (WAIT, TEACH):
        g.gain = next_gain(g.gain, touching or mode == TEACH, g.dt)
        g.stage = TOUCHED if touching else EDITED if mode == TEACH else PLANNED
    else:
        if touching and stage != TOUCHED:
            begin_touch(g, p)
        elif stage == TOUCHED and not touching:
            end_touch(m, w, g)
        if mode == HOLD and g.stage == EDITED and must_end(m, w, g):
            g.stage = ENDED


# ---- the acceleration that is asked for


@kernel
def plan_acceleration(g, p, feedback):
    """The plan, and BLEND's offset on it."""
    compare(g, p, plan_row(g, p))
    for k in range(g.v_at.shape[0]):
        rate = g.v_plan[k] + g.offset_rate[k] - g.v[g.v_at[k]]
        g.a_ref[g.v_at[k]] = g.a_plan[k] + feedback * (KP * g.error[k] + KD * rate)


@kernel
def held_acceleration(g):
    """HOLD: constant."""
    for k in range(g.v_at.shape[0]):
        g.a_ref[g.v_at[k]] = g.a_force[k]
    show_joints(g)


@kernel
def brake(g):
    for k in range(g.v_at.shape[0]):
        g.a_ref[g.v_at[k]] = -KD * g.v[g.v_at[k]]
    show_joints(g)


@kernel
def hands_push(m, w, g):
    """J^T c (nv,) of all hands, into g.push."""
    w.F[:, :] = 0.0
    apply_wrenches(m, g.wrenches, w)
    project_forces(m, g.nothing, w, g.push)
    for j in range(m.nv):
        g.push[j] = -g.push[j]


@kernel
def move_offset(m, w, g):
    """BLEND: M_d d'' + B_d d' + K_d d = J^T c, stable for any damping and spring; adds d'' to a_ref."""
    hands_push(m, w, g)
    dt = g.dt
    for k in range(g.v_at.shape[0]):
        M, B, K = g.offset_mass[k], g.offset_damping[k], g.offset_stiffness[k]
        force = g.push[g.v_at[k]] - K * g.offset[k] - (B + dt * K) * g.offset_rate[k]
        curve = force / (M + dt * B + dt * dt * K)
        g.a_ref[g.v_at[k]] += curve
        if g.moving:
            g.offset_rate[k] += dt * curve
    if g.moving:
        go_on(g, dt)


@kernel
def ask(m, w, g, p):
    """a_ref of the planned joints; all others are left alone."""
    mode, stage = g.mode, g.stage
    g.a_ref[:] = 0.0
    if mode in (WAIT, TEACH):
        row = plan_row(g, p)
        reference_acceleration(p, row, 0.0 if mode == TEACH else g.gain, g)
    elif stage == ENDED:
        brake(g)
    elif mode == BLEND:
        plan_acceleration(g, p, 1.0)
        move_offset(m, w, g)
    elif mode == HOLD and stage != PLANNED:
        held_acceleration(g)
    elif g.has_course:
        course_acceleration(m, w, g, 0.0 if stage == TOUCHED else 1.0)
        show_joints(g)
    else:
        plan_acceleration(g, p, 0.0 if stage == TOUCHED else 1.0)


@kernel
def put_torques(m, w, g):
    """U of the planned joints; of the others what it was."""
    motion_forces(m, g.a_ref, w)
    if g.mode == BLEND:
        apply_wrenches(m, g.wrenches, w)
    project_forces(m, g.a_ref, w, g.push)
    yielding = 0.0
    if g.mode in (WAIT, TEACH):
        yielding = 1.0 if g.mode == TEACH else 1.0 - g.gain
    for j in range(m.nv):
        g.tau[j] = g.tau_rest[j]
    for k in range(g.v_at.shape[0]):
        j = g.v_at[k]
        g.tau[j] = g.push[j] - yielding * g.damping[k] * g.v[j]


@kernel
def advance_guide(g):
    """A tick further along the plan, or the course."""
    mode = g.mode
    if mode != TEACH and g.stage != ENDED:
        g.phase += g.gain if mode == WAIT else 1.0  # WAIT: the plan waits while a hand holds
    g.pushed_N = g.push_N
    g.since_s += g.dt


@shared("void(intp)")
def guide(address):
    """The torques of this tick, from where things are and what hands do; a moving world gets on with its plan."""
    m, w, g = load_guide(address)
    p = load_plan(g.plan)[0]
    if g.moving:
        next_stage(m, w, g, p)
    ask(m, w, g, p)
    put_torques(m, w, g)
    if g.moving:
        advance_guide(g)
