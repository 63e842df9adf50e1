"""Who walks: by a list of events (users.py), by keys and pointer, in a headset, or along a recording.

Keys say how fast, -1 to 1: ahead, to the right, and turning to the left; a person who hears nothing of them any more
stops.  The hand is where it was to the trunk, until a pointer or a controller leads it: then within the arm's reach,
and no faster than a hand is.  A pointer's hand holds the device and stops where that ends, and while the pointer rests
it goes along with the trunk; a controller's is where it is.  Who takes the hand of a person who walks by themselves
takes over.

A headset is the person's head, a controller their hand: HAND messages that name the shown bodies.

p Person, u Walker
"""

from __future__ import annotations

import math

from palpate.haptics.devices.messages import load_speaking
from palpate.haptics.devices.want import HOLD
from palpate.haptics.hand import row_before
from palpate.jit import Struct, Vector, block_loader, entry, kernel
from palpate.mobile.geometry.frames import to_y_up
from palpate.mobile.rates import wrap
from palpate.mobile.walking.users import NOBODY_M, Walker, step_user
from palpate.model.model import Floats1, Floats2
from palpate.spatial.vectors import add_scaled, length, sub

SCRIPT, KEYS, RECORDED = range(3)
WAYS = ("by itself", "by keys", "recorded")
ROW = ("time_s", "x", "z", "g", "hand_x", "hand_y", "hand_z", "head_x", "head_y", "head_z")  # of a recorded walk
STILL_M = 1e-4  # of a pointer that rests


class Person(Struct):
    """How one walks, and what was heard."""

    way: int  # WAYS
    speed: float  # of keys at 1 [m/s]
    turning: float  # [rad/s]
    acceleration: float  # [m/s^2]
    hand_speed: float  # [m/s]
    nearest: float  # of the hand to the trunk [m]
    farthest: float
    lowest: float  # of the hand above the floor [m]
    highest: float
    patience: int  # [ticks]
    ahead: float  # as heard
    right: float
    left_turn: float
    heard: Vector  # ticks at which they were, as ahead, right, turn
    hand: Vector  # ahead, right, up: from the trunk's place on the floor [m]
    led: Vector  # where a pointer or a controller wants it, the same, and
    led_to: Vector  # (x, y, z) in the room, as it was heard [m]
    place: Vector  # of a headset when it began, so that it begins where the person is
    wears: int  # a headset
    hand_messages: int  # Block of a page's hand (haptics/devices/messages.py), 0: there is no page, and
    head_messages: int
    hand_body: int  # rows of `pose` that they name
    head_body: int
    time: Floats1  # (n,) of the recording [s]
    row: Floats2  # (n, 9) the rest of ROW


load_walker = block_loader((Walker, False))


@kernel
def trunk_axes(g):
    """Ahead and to the right, (x, z)."""
    s, c = math.sin(g), math.cos(g)
    return (s, c), (-c, s)


@kernel
def in_trunk_axes(u, x):
    """Ahead, right, up of a point (x, y, z)."""
    (ax, az), (rx, rz) = trunk_axes(u.g)
    dx, dz = x[0] - u.x, x[2] - u.z
    return dx * ax + dz * az, dx * rx + dz * rz, x[1]


@kernel
def from_trunk_axes(u, local):
    (ax, az), (rx, rz) = trunk_axes(u.g)
    return u.x + local[0] * ax + local[1] * rx, local[2], u.z + local[0] * az + local[1] * rz


@kernel
def within_reach(p, local):
    """Where an arm can bring the hand."""
    away = math.hypot(local[0], local[1])
    up = min(max(local[2], p.lowest), p.highest)
    if away < 1e-6:
        return p.nearest, 0.0, up
    f = min(max(away, p.nearest), p.farthest) / away
    return f * local[0], f * local[1], up


@kernel
def heard(p, which, value, tick):
    """What a key says, unless that was too long ago."""
    return value if tick - p.heard[which] <= p.patience else 0.0


@kernel
def is_led(messages, body):
    """Whether a page's hand holds this body."""
    if messages == 0:
        return False
    want = load_speaking(messages)[1]
    return want.does == HOLD and want.body == body


@kernel
def on_device(x, middle, farthest):
    """A place, no farther than that from the middle of a device's workspace."""
    off = sub(x, middle)
    far = length(off)
    return x if far <= farthest else add_scaled(middle, farthest / far, off)


@kernel
def lead_hand(p, u, middle, farthest, dt):
    """The hand goes where a pointer or a controller wants it; middle (x, y, z) of the device's workspace."""
    wanted = p.hand
    if is_led(p.hand_messages, p.hand_body):
        port, want, _ = load_speaking(p.hand_messages)
        x = to_y_up(port.position)
        if p.wears or length(sub(x, p.led_to)) > STILL_M:
            ahead, left, up = want.at_body  # it was taken at a point of it
            p.led_to, p.led = x, sub(in_trunk_axes(u, x), (ahead, -left, up))
        wanted = p.led
        if not p.wears:
            wanted = in_trunk_axes(u, on_device(from_trunk_axes(u, wanted), middle, farthest))
    else:
        p.led_to = (math.inf, math.inf, math.inf)
    way = sub(within_reach(p, wanted), p.hand)
    far = length(way)
    if far > 0.0:
        p.hand = add_scaled(p.hand, min(1.0, p.hand_speed * dt / far), way)


@kernel
def walk_by_keys(p, u, tick, dt):
    """Ahead and aside in the direction that they face."""
    (ax, az), (rx, rz) = trunk_axes(u.g)
    a, r = p.speed * heard(p, 0, p.ahead, tick), p.speed * heard(p, 1, p.right, tick)
    fastest = math.hypot(a, r)
    if fastest > p.speed:
        a, r = a * p.speed / fastest, r * p.speed / fastest
    dvx, dvz = a * ax + r * rx - u.vx, a * az + r * rz - u.vz
    change, most = math.hypot(dvx, dvz), p.acceleration * dt
    f = 1.0 if change <= most else most / change
    u.vx, u.vz = u.vx + f * dvx, u.vz + f * dvz
    u.x, u.z = u.x + dt * u.vx, u.z + dt * u.vz
    u.g = wrap(u.g + dt * p.turning * heard(p, 2, p.left_turn, tick))
    (ax, az), _ = trunk_axes(u.g)
    u.head = (u.x + u.head_ahead * ax, u.eyes, u.z + u.head_ahead * az)


@kernel
def wear(p, u):
    """A headset's head is theirs, if there is one; whether there is."""
    if not is_led(p.head_messages, p.head_body):
        p.wears = 0
        return False
    port = load_speaking(p.head_messages)[0]
    x, q = to_y_up(port.position), port.quaternion
    # x of its axes is ahead: (1 - 2 (y^2 + z^2), 2 (x y + w z)) of the world's x and y
    ahead = to_y_up((1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]), 2.0 * (q[1] * q[2] + q[0] * q[3]), 0.0))
    if not p.wears:
        p.wears, p.place = 1, sub(u.head, x)
    if math.hypot(ahead[0], ahead[2]) > 1e-3:
        u.g = math.atan2(ahead[0], ahead[2])
    (ax, az), _ = trunk_axes(u.g)
    head = (x[0] + p.place[0], x[1], x[2] + p.place[2])
    u.x, u.z, u.head = head[0] - u.head_ahead * ax, head[2] - u.head_ahead * az, head
    return True


@kernel
def play_walk(p, u, t):
    """Along the recording; before and after it where it begins and ends."""
    last = p.time.shape[0] - 1
    k = row_before(p.time, min(max(t, p.time[0]), p.time[last]))
    a, b = p.row[k], p.row[min(k + 1, last)]
    width = p.time[min(k + 1, last)] - p.time[k]
    s = min(max((t - p.time[k]) / width, 0.0), 1.0) if width > 0.0 else 0.0
    x, z = a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])
    u.vx, u.vz = (x - u.x) / u.dt, (z - u.z) / u.dt
    u.x, u.z, u.g = x, z, a[2] + s * wrap(b[2] - a[2])
    u.hand = (a[3] + s * (b[3] - a[3]), a[4] + s * (b[4] - a[4]), a[5] + s * (b[5] - a[5]))
    u.head = (a[6] + s * (b[6] - a[6]), a[7] + s * (b[7] - a[7]), a[8] + s * (b[8] - a[8]))


@kernel
def step_person(p, u, tick, robot, middle, farthest):
    """The person at a tick, from where they were a tick before; who takes their hand or head walks from then on.

    robot (x, z, phi);  middle (x, y, z) of the device's workspace, from which a pointer leads the hand so far
    """
    if is_led(p.hand_messages, p.hand_body) or is_led(p.head_messages, p.head_body):
        p.way = KEYS
    if p.way == RECORDED:
        play_walk(p, u, tick * u.dt)
        p.hand = in_trunk_axes(u, u.hand)
        return
    if p.way == SCRIPT:
        step_user(u, tick, robot[0], robot[1])
        p.hand = in_trunk_axes(u, u.hand)
        return
    if not wear(p, u):
        walk_by_keys(p, u, tick, u.dt)
    lead_hand(p, u, middle, farthest, u.dt)
    u.hand = from_trunk_axes(u, p.hand)


@entry("intp, intp, float64[:, ::1]")
def walk_rows(address, every, rows):
    """A row of ROW every so many ticks, of a person who does what their events say."""
    (u,) = load_walker(address)
    for k in range(every * (rows.shape[0] - 1) + 1):
        step_user(u, k, NOBODY_M, NOBODY_M)
        if k % every == 0:
            row = rows[k // every]
            row[0], row[1], row[2], row[3] = k * u.dt, u.x, u.z, u.g
            row[4], row[5], row[6] = u.hand
            row[7], row[8], row[9] = u.head
