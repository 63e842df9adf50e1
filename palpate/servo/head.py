"""Head: what the servo and its simulation tell each other; the first part of every simulation's Block."""

from __future__ import annotations

from palpate.frame import BASE_AT
from palpate.jit import Struct, block_loader, kernel
from palpate.model.model import Floats1, Ints1
from palpate.servo.ring_kernels import begin_write, end_write


class Head(Struct):
    """The servo writes what is said to be so; all the rest is the simulation's to write."""

    # by the servo, before each tick
    now_ns: int  # monotonic clock, or simulated time [ns]
    until_ns: int  # by when this tick should have done what can be cut short; 0 in simulated time, where nothing is
    late_s: float  # how much later than a period after the one before it began
    moving: int  # whether this tick advances
    showing: int  # whether a frame is due in any case: while paused only some are
    state: int  # frame.PAUSED, RUNNING, FAULT
    speed: float  # of the simulation beside the clock
    tick_us: float  # how long the period before took
    # by the simulation: `advance`
    tick: int
    time: float  # [s]
    dt: float  # [s]
    # counts, by both
    counters: Ints1  # frame.COUNTERS
    lateness: Ints1  # histogram over frame.LATENESS_EDGES_US
    # messages: the newest HAND of each hand, one after the other; the EVENT that `take` is asked about
    hand: Ints1  # (HANDS * HAND_WORDS,)
    hand_f: Floats1  # the same words as floats
    event: Ints1  # (EVENT_WORDS,)
    event_f: Floats1
    # the ring of frames, and where in it the frame that is being written begins
    frame_at: int
    frames: Ints1
    frames_f: Floats1  # the same words as floats


load_head = block_loader((Head, False))


@kernel
def advance(h):
    """One tick further."""
    h.tick += 1
    h.time = h.tick * h.dt


@kernel
def put_words(array, at, values):
    for i in range(values.shape[0]):
        array[at + i] = values[i]


@kernel
def put_pose(floats, at, position, quaternion):
    """Position and quaternion (w, x, y, z) of a body, as a row of the field `pose` has them."""
    for k in range(3):
        floats[at + k] = position[k]
    for k in range(4):
        floats[at + 3 + k] = quaternion[k]


@kernel
def begin_frame(h):
    """Where the frame of this tick begins in h.frames [words]; what BASE has is written."""
    at = h.frame_at = begin_write(h.frames)
    words, floats = h.frames, h.frames_f
    words[at + BASE_AT.tick], words[at + BASE_AT.wall_ns], words[at + BASE_AT.state] = h.tick, h.now_ns, h.state
    put_words(words, at + BASE_AT.counters, h.counters)
    put_words(words, at + BASE_AT.lateness, h.lateness)
    floats[at + BASE_AT.time_s], floats[at + BASE_AT.tick_us], floats[at + BASE_AT.speed] = h.time, h.tick_us, h.speed
    return at


@kernel
def end_frame(h):
    """Everybody may read it."""
    end_write(h.frames)
