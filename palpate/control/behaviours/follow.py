"""Follow: a hand that is led goes along as a mass in honey would, M v' + B v = f (object form at it, reference 4.4).

When it is let go, v fades with M/B = 67 ms: nothing springs back.  The centre of mass leans after the hand, so that a
balance that can step goes where it is led.
"""

from palpate.control.behaviours.rows import LED, Behaviour, Row
from palpate.control.behaviours.tables import load
from palpate.control.gestures.intent import TO_TARGET
from palpate.control.gestures.tables import HAND_M_S, clipped
from palpate.jit.routines import routine
from palpate.spatial.vectors import add, add_scaled, get3, part3, put3, put_part, scale, sub

MASS_KG, DAMPING_NS_M = 2.0, 30.0
LEAD_M = 0.03  # the target is no further ahead of the palm than this
LEAN, MOST_LEAN_M = 0.2, 0.03  # of the way that the hand was led
RATE, TARGET = 0, 3  # where they are in the memory


@routine
def act(address):
    a, i, b, _ = load(address)
    side, dt = b.side, b.dt
    palm, f = get3(a.palm, side), get3(b.hand_force, side)
    if b.ticks == 0 or b.stage != side + 1:  # it begins, or the other hand is led now
        b.stage, b.since = side + 1, palm
        put_part(b.memory, RATE, (0.0, 0.0, 0.0))
        put_part(b.memory, TARGET, palm)
    v = part3(b.memory, RATE)
    v = scale(1.0 / (MASS_KG + dt * DAMPING_NS_M), add_scaled(scale(MASS_KG, v), dt, f))  # implicit in v
    v = clipped(v, HAND_M_S)
    target = add_scaled(part3(b.memory, TARGET), dt, v)
    target = add(palm, clipped(sub(target, palm), LEAD_M))
    put_part(b.memory, RATE, v)
    put_part(b.memory, TARGET, target)
    i.reach[side] = TO_TARGET
    put3(i.hand_at, side, target)
    put3(i.hand_velocity, side, v)
    led = clipped(scale(LEAN, sub(target, b.since)), MOST_LEAN_M)
    i.lean = (led[0], led[1], 0.0)
    i.gazing, i.gaze = 1, palm
    return 0


follow = Behaviour(
    "follow", act, LED,
    (Row(LED, "", "follow", ("led",)), Row(LED, "pull", "follow", ("at hand",)), Row("follow", "", "stand", ("free",))),
)  # fmt: skip
