"""Machine: which behaviour an avatar is in, what it was told and what it noticed; and `load`, which behaviours use."""

from __future__ import annotations

from palpate.control.avatar import Avatar
from palpate.control.gestures.intent import Intent
from palpate.control.gestures.tables import Gestures
from palpate.jit import Struct, Vector, block_loader
from palpate.model.model import Floats1, Floats2, Ints1

MEMORY = 16  # numbers that a behaviour may keep while it lasts


class Machine(Struct):
    """B bodies; pairs are (right, left)."""

    dt: float  # [s]
    # the state, and
    behaviour: int
    behaviour_time_s: float  # since it began
    stage: int  # of a behaviour that has several; 0 when it begins
    least_ticks: int  # that a state lasts, unless something of higher rank comes
    ticks: int  # since it began
    done: int  # what its act returned
    # what is decided from
    told: float  # number of a command, < 0: none; an event writes it
    told_first: float  # what a reset tells it
    events: int  # bits of the table's events that nobody has answered yet
    guards: int  # bits of rows.GUARDS
    rows: Ints1  # (n * COLUMNS,) rows.Table
    rank: Ints1  # (states,)
    act: Ints1  # (states,) addresses of routines
    first_command: int  # bit of the event that is command 0
    # what a behaviour may use
    side: int  # RIGHT or LEFT: the hand that was touched last, and that is meant
    where: Vector  # of the newest touch, world
    since: Vector  # where the palm that is meant was when the state began
    memory: Floats1  # (MEMORY,) zero when it begins
    shake_s: float  # how long a hand shake lasts at most
    follows: float  # 1: an oscillator shakes along, 0: the hand is only soft
    oscillator: int  # its address (control/felt/oscillator.py)
    # what is noticed (senses.py)
    place: Ints1  # (B,) of PLACES
    side_of: Ints1  # (B,) RIGHT, LEFT, -1: neither
    hand_force: Floats2  # (2, 3) of persons, on each hand [N]
    hand_N: Floats1  # (2,) its size, smoothed
    hand_led_s: Floats1  # (2,) for how long it is pulled, and
    hand_free_s: Floats1  # (2,) for how long it is not
    object_N: float  # of persons, on what both hands touch [N]
    trunk_force: Vector  # of persons, on the trunk and head [N]
    trunk_N: float
    pressed_s: float
    released_s: float
    margin_m: float  # of the capture point within the soles
    tipping_s: float
    steady_s: float
    strain_s: float  # for how long a hand presses on something beyond its limit
    limits: int  # ticks in which a limit was passed
    fallen: int
    point: Floats2  # (8, 2) corners of the soles that bear something, and
    hull: Floats2  # (9, 2) the line around them, n_hull corners of it
    n_hull: int
    # of others, who write it: memory of their Structs
    said: Ints1  # (1,) pattern of touch, of rows.PATTERNS from 1 on, and
    said_count: Ints1  # (1,) how many were said
    heard_count: int  # how many of them were heard
    grasp_wish: Floats1  # (1,) what is wanted of the hands, written here
    grasp_state: Ints1  # (1,) what they do (control/grasp/grasp_tables.py), 0: nothing


load = block_loader((Avatar, False), (Intent, False), (Machine, False), (Gestures, False))
