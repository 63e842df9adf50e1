"""What can be set of displays while they run: an event each, whose value becomes numbers of all displays, or of the
first one's person.

r Displays, s Planner
"""

from palpate.frame import EVENT_AT
from palpate.jit import kernel
from palpate.jit.routines import routine
from palpate.mobile.display.fields import SETTINGS
from palpate.mobile.display.person import KEYS, RECORDED
from palpate.mobile.display.tables import load_display, load_displays

(PERSON, FOLLOWER, ESTIMATOR, NOISE, BARRIER, LIFT, WALK_SPEED, WALK_AHEAD, WALK_SIDE, WALK_TURN) = range(len(SETTINGS))
# columns of Displays.preset: what of a Planner makes a follower
PRESET = ("improved", "rate_hz", "dt", "vmax", "pi1", "stop", "activation", "smooth", "response", "brake",
          "user_tau")  # fmt: skip


@kernel
def set_follower(s, x):
    """A Planner follows as a row of Displays.preset says."""
    s.improved, s.rate_hz, s.dt, s.vmax, s.pi1 = int(x[0]), int(x[1]), x[2], x[3], x[4]
    s.stop, s.activation, s.smooth, s.response, s.brake, s.user_tau = x[5], x[6], x[7], x[8], x[9], x[10]


@kernel
def walk(p, which, value, tick):
    """A key of the first display's person, who then walks by keys."""
    if which == WALK_AHEAD:
        p.ahead, p.heard = value, (float(tick), p.heard[1], p.heard[2])
    elif which == WALK_SIDE:
        p.right, p.heard = value, (p.heard[0], float(tick), p.heard[2])
    else:
        p.left_turn, p.heard = value, (p.heard[0], p.heard[1], float(tick))
    if value != 0.0:
        p.way = KEYS


@kernel
def set_person(p, which, value, tick):
    """Of the first display's person: the others do what they do."""
    if which == PERSON:
        way = int(value)
        p.way = way if way != RECORDED or p.time.shape[0] > 0 else p.way
    elif which == WALK_SPEED:
        p.speed = value
    else:
        walk(p, which, value, tick)


@kernel
def set_one(address, r, which, value):
    """Of one display."""
    _, _, _, head, body, f, s, _, l = load_display(address)
    if which == FOLLOWER:
        set_follower(s, r.preset[int(value)])
    elif which == ESTIMATOR:
        f.method = int(value)
        f.bleed = r.bleed[f.method]
    elif which == NOISE:
        x = r.noise[int(value)]
        for station in (head, body):
            station.jitter_m, station.jitter_rad = x[0], x[1]
        f.R = (x[2], x[2], x[3])
    elif which == BARRIER:
        s.barrier = int(value)
    elif which == LIFT:
        l.on = int(value)


@kernel
def put(r, which, value, tick):
    if which == PERSON or which >= WALK_SPEED:
        set_person(load_display(r.display[0])[1], which, value, tick)
    else:
        for n in range(r.display.shape[0]):
            set_one(r.display[n], r, which, value)


@kernel
def set_again(r, tick):
    """What was set since the start, after all is as it was then; keys are let go."""
    for which in range(r.setting.shape[0]):
        if which >= WALK_AHEAD:
            r.setting[which, 0] = 0.0
        elif r.setting[which, 0] != r.setting[which, 3]:
            put(r, which, r.setting[which, 0], tick)


@routine
def take_displays(address):
    """1 if the event is one of theirs; a value out of bounds changes nothing."""
    h, r, _ = load_displays(address)
    which, value = h.event[EVENT_AT.kind] - r.first_event, h.event_f[EVENT_AT.value]
    if not 0 <= which < len(SETTINGS):
        return 0
    if r.setting[which, 1] <= value <= r.setting[which, 2]:
        r.setting[which, 0] = value
        put(r, which, value, h.tick)
    return 1
