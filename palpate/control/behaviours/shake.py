"""Shake: offers a hand, and shakes the one that takes it, in step with it (reference 6).

    offer    the palm goes 0.45 m ahead and 1.0 m high along a quintic of 0.92 s, or as long as 0.5 m/s takes
    wait     until the hand is held (> 1 N), at most 10 s
    shaken   as soft as 30 N/m; an oscillator falls into step with it (control/felt/oscillator.py) and leads
             the target up and down with it, and a force moves the arm's own mass
    end      |f| < 1 N for 0.5 s with the hand at rest, or none at all, or 4 s:  the hand goes home

A hand that is already being shaken is not offered first.  The middle of the motion follows the person slowly.

memory   BEGIN (3), MIDDLE (3), how long the offer takes, for how long nobody pulls, which hand, how long it is shaken,
         the mean of the force up
o        the oscillator
"""

import math

from palpate.control.behaviours.rows import DONE, LED, SHAKING, Behaviour, Row
from palpate.control.behaviours.tables import load
from palpate.control.felt.oscillator import begin_shake, follow_shake, load_shake, yield_to
from palpate.control.gestures.intent import TO_TARGET
from palpate.control.gestures.tables import HAND_M_S
from palpate.control.limbs import RIGHT
from palpate.dynamics.jacobian import body_frame
from palpate.jit import kernel
from palpate.jit.routines import routine
from palpate.spatial.vectors import add, add_scaled, get3, length, part3, put3, put_part, scale, sub
from palpate.world.state import load as load_world

OFFER, WAIT, SHAKEN = range(3)  # stages
BEGIN, MIDDLE, TAKES_S, LET_GO_S = 0, 3, 6, 7  # in the memory; and
SIDE, SHAKEN_S, MEAN_N = 8, 9, 10
AHEAD_M, HEIGHT_M, INWARD_M = 0.45, 1.0, 0.05  # of the offered palm, from the shoulder's side to the middle
REACH_DOWN_M = 0.30  # no further below the shoulder than an arm can offer
OFFER_S, WAIT_S = 0.92, 10.0
FULL = 0.9  # of the hand's speed limit, at the quintic's fastest
GRABBED_N, LET_GO_N, LET_GO_AFTER_S = 1.0, 1.0, 0.5
NOBODY_N, RESTING_M2_S2 = 0.05, 0.05**2
STIFF, DAMPED = 0.03, 0.05  # of the arm while it is shaken: about 30 N/m and 8 N s/m at the palm
MIDDLE_S = 1.0  # time constant with which the middle follows
MASS_KG = 0.6  # that an arm shows at the palm, upwards (HRP-2 0.62, the human 0.60, wrists held)


@kernel
def quintic(u):
    """(s, ds/du) from 0 to 1 with rest at both ends."""
    return u * u * u * (10.0 + u * (6.0 * u - 15.0)), 30.0 * u * u * (1.0 - u) * (1.0 - u)


@kernel
def place_to_offer(m, w, a, side):
    """Where the palm is offered, ahead of where the waist looks."""
    R, _ = body_frame(m, w, a.waist)
    size = math.sqrt(R[0] * R[0] + R[3] * R[3])
    ahead = (R[0] / size, R[3] / size) if size > 1e-6 else (1.0, 0.0)
    origin = get3(w.origin, m.root[m.body_link[a.waist]])
    shoulder = shoulder_at(m, w, a, side)
    out = -ahead[1] * (shoulder[0] - origin[0]) + ahead[0] * (shoulder[1] - origin[1])  # to the left, of the shoulder
    out += INWARD_M if side == RIGHT else -INWARD_M
    height = max(a.floor_m + HEIGHT_M, shoulder[2] - REACH_DOWN_M)
    return (
        origin[0] + AHEAD_M * ahead[0] - out * ahead[1], origin[1] + AHEAD_M * ahead[1] + out * ahead[0], height,
    ), ahead  # fmt: skip


@kernel
def shoulder_at(m, w, a, side):
    """Origin of the arm's first link, world."""
    i = m.body_link[a.hand[side]]
    chest = m.body_link[a.chest]
    while m.parent[i] != chest and m.parent[i] != 0:
        i = m.parent[i]
    return add(get3(w.origin, m.root[i]), get3(w.p, i))


@kernel
def point_forward(i, side, ahead):
    """The hand points ahead, its palm inward: R_z(yaw) R_y(-90 degrees)."""
    yaw = 0.5 * math.atan2(ahead[1], ahead[0])
    c, s, h = math.cos(yaw), math.sin(yaw), math.sqrt(0.5)
    i.hand_turn[side, 0], i.hand_turn[side, 1], i.hand_turn[side, 2], i.hand_turn[side, 3] = c * h, s * h, -c * h, s * h
    i.turning[side] = 1.0


@kernel
def offer(i, b, side):
    """Along the quintic, then still."""
    begin, middle = part3(b.memory, BEGIN), part3(b.memory, MIDDLE)
    takes = b.memory[TAKES_S]
    u = min(b.behaviour_time_s / takes, 1.0)
    s, rate = quintic(u)
    way = sub(middle, begin)
    put3(i.hand_at, side, add_scaled(begin, s, way))
    put3(i.hand_velocity, side, scale(rate / takes, way))


@kernel
def be_shaken(a, i, b, o, side):
    """Soft, and up and down with the hand that holds it."""
    dt, palm = b.dt, get3(a.palm, side)
    middle = part3(b.memory, MIDDLE)
    middle = add_scaled(middle, dt / MIDDLE_S, sub(palm, middle))
    put_part(b.memory, MIDDLE, middle)
    v = a.palm_velocity[side, 2]
    if b.follows > 0.0:
        f = b.hand_force[side, 2]
        b.memory[MEAN_N] += dt / MIDDLE_S * (f - b.memory[MEAN_N])  # what only bears says nothing of who leads
        yield_to(o, f - b.memory[MEAN_N], v, dt)
        follow_shake(o, v, dt)
    part = min(1.0, HAND_M_S / (abs(o.v) + 1e-9))  # no faster than a hand may move by itself
    put3(i.hand_at, side, (middle[0], middle[1], middle[2] + o.y))
    put3(i.hand_velocity, side, (0.0, 0.0, part * o.v))
    put3(i.hand_push, side, (0.0, 0.0, MASS_KG * o.a))
    i.stiffness[side], i.damping[side] = STIFF, DAMPED


@kernel
def grab(b, o, palm):
    b.stage, b.memory[LET_GO_S], b.memory[SHAKEN_S] = SHAKEN, 0.0, 0.0
    begin_shake(o, 0.0)
    put_part(b.memory, MIDDLE, palm)


@routine
def act(address):
    a, i, b, _ = load(address)
    m, w, _, _, _, _ = load_world(a.world)
    o = load_shake(b.oscillator)[0]
    side = b.side if b.ticks == 0 else int(b.memory[SIDE])
    palm = get3(a.palm, side)
    pull = max(b.hand_N[side], length(get3(a.palm_force, side)))
    place, ahead = place_to_offer(m, w, a, side)
    if b.ticks == 0:
        b.memory[SIDE] = side
        put_part(b.memory, BEGIN, palm)
        put_part(b.memory, MIDDLE, place)
        b.memory[TAKES_S] = max(OFFER_S, 1.875 * length(sub(place, palm)) / (FULL * HAND_M_S))  # its peak speed
        if b.hand_N[side] > GRABBED_N:
            grab(b, o, palm)
    i.reach[side] = TO_TARGET
    point_forward(i, side, ahead)
    i.gazing, i.gaze = 1, (i.user_x, i.user_y, i.user_z)
    if b.stage == SHAKEN:
        b.memory[SHAKEN_S] += b.dt
        resting = o.A2 < RESTING_M2_S2 or pull < NOBODY_N  # a hand that goes along well feels little while it is shaken
        b.memory[LET_GO_S] = b.memory[LET_GO_S] + b.dt if pull < LET_GO_N and resting else 0.0
        be_shaken(a, i, b, o, side)
        return 1 if b.memory[LET_GO_S] >= LET_GO_AFTER_S or b.memory[SHAKEN_S] >= b.shake_s else 0
    offer(i, b, side)
    if b.stage == OFFER and b.behaviour_time_s >= b.memory[TAKES_S]:
        b.stage = WAIT
    if pull > GRABBED_N:
        grab(b, o, palm)
    return 1 if b.behaviour_time_s > b.memory[TAKES_S] + WAIT_S else 0


shake = Behaviour(
    "shake", act, SHAKING,
    (Row(LED, "shake", "shake", ("at hand",)), Row(LED, "offer hand", "shake"), Row("shake", DONE, "stand"),
     Row("shake", "release", "stand")),
)  # fmt: skip
