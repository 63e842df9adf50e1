"""Events of a World: gravity, friction and bodies that are put somewhere; what is a controller's goes to its part.

h Head, m model, s TickState: what `state.load` gives
"""

from palpate.conventions import WORLD
from palpate.dynamics.coordinates import put_quaternion
from palpate.frame import EVENT_AT, FAULT, FRICTION, GRAVITY, PLACE
from palpate.jit import kernel
from palpate.jit.routines import routine
from palpate.runtime.world.state import load
from palpate.servo.parts import TAKE, call_parts
from palpate.spatial.quaternions import quaternion_matrix, quaternion_product
from palpate.spatial.vectors import add, part3, part4, put_part, rotate
from palpate.world.build import FARTHEST_M

MOST_TIMES = 10.0  # the scene's gravity, or friction
UNIT = 1e-3  # how far from one the square of a quaternion's length may be


@routine
def take_world(address):
    """1 if Head.event is a World's, whatever became of it; none is taken while the world has stopped."""
    h, _, m, _, s = load(address)
    kind, value = h.event[EVENT_AT.kind], h.event_f[EVENT_AT.value]
    if h.state == FAULT:
        return 0
    if kind == GRAVITY:
        set_gravity(s, value)
    elif kind == FRICTION:
        set_friction(s, value)
    elif kind == PLACE:
        place(h, m, s, h.event[EVENT_AT.event_body], value != 0.0)
    else:
        return int(call_parts(s.parts, TAKE))
    return 1


@kernel
def set_gravity(s, times):
    """Times the scene's own."""
    if 0.0 <= times <= MOST_TIMES:
        s.gravity_times = times
        for r in range(3):
            s.gravity[r] = times * s.gravity_own[r]


@kernel
def set_friction(s, times):
    """Times the scene's own, of all pairs of materials."""
    if 0.0 <= times <= MOST_TIMES:
        s.friction_times = times
        T = s.mu_static.shape[0]
        for a in range(T):
            for b in range(T):
                s.mu_static[a, b], s.mu_sliding[a, b] = times * s.mu_own[a, b], times * s.mu_own[a, T + b]


@kernel
def place(h, m, s, body, parked):
    """Put a body that may be placed (world/build.py says which) somewhere else, at rest; a reset finds it there.

    parked  it takes no part and stays there, as what is made with placed=True does
    """
    if not 0 < body < s.placeable.shape[0] or s.placeable[body] == WORLD:
        return
    link, at = s.placeable[body], EVENT_AT.placement
    p, x = part3(h.event_f, at), part4(h.event_f, at + 3)
    length = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]
    if not (abs(length - 1.0) < UNIT and max(abs(p[0]), abs(p[1]), abs(p[2])) <= FARTHEST_M):  # so a NaN is refused too
        return
    around = s.place_around[body]  # q = before o X o after
    R = quaternion_matrix(x[0], x[1], x[2], x[3])
    B = quaternion_matrix(around[3], around[4], around[5], around[6])
    p = add(part3(around, 0), rotate(B, add(p, rotate(R, part3(around, 7)))))
    x = quaternion_product(quaternion_product(part4(around, 3), x), part4(around, 10))
    n, j = m.q_begin[link], m.axis_v[m.axis_begin[link]]
    put_part(s.q, n, p)
    put_quaternion(s.q, n + 3, x)
    for r in range(7):
        s.q_start[n + r] = s.q[n + r]
    for r in range(6):
        s.v[j + r], s.v_start[j + r] = 0.0, 0.0
    s.pushed[link] = WORLD if parked else s.pushed_own[link]
    s.pushed_start[link], s.parked[body] = s.pushed[link], parked
