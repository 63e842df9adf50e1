"""A hand that speaks in HAND messages (frame.py), as a device in the tick: a page's pointer, keys or controllers, a
program's, or one at the other end of a link.  It feels nothing."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from palpate.conventions import WORLD
from palpate.frame import HAND, PRESS, PUSH, Layout
from palpate.haptics.devices.port import (
    NOW_S,
    OK,
    POSITION,
    QUATERNION,
    SAMPLED_S,
    VELOCITY,
    InTick,
    Port,
    empty_port,
)
from palpate.haptics.devices.want import GIVE, HOLD, NOTHING, TOUCH, Want
from palpate.jit import Block, Struct, block_loader, kernel
from palpate.jit.routines import routine
from palpate.model.model import Floats1, Ints1
from palpate.spatial.vectors import part3, part4, put_part

STALE_NS = 100_000_000  # a hand that has not been heard of for this long lets go
STIFFEST_N_M, STIFFEST_NM_RAD, MOST_DAMPING, LARGEST_BALL_M = 1e5, 1e3, 10.0, 0.1
LARGEST_SANE = 1e6  # [m, N/m, N m/rad, N, J]: no honest hand has more
UNIT = 1e-3  # how far from one the square of a quaternion's length may be
SURFACE_N_M = 1000.0  # of a surface that a hand touches whose message says so; it scales with the stiffness there
UNTURNED = (1.0, 0.0, 0.0, 0.0)


HandOffsets = namedtuple("HandOffsets", Layout(HAND).offset)  # type: ignore[misc]  # where its fields lie, in words
AT: Any = HandOffsets(**Layout(HAND).offset)


class Heard(Struct):
    """The newest message of one hand."""

    stale: int  # times that it was not heard of for too long while it did something, and
    refused: int  # that its numbers made no sense
    words: Ints1
    floats: Floats1  # the same words


load_speaking = block_loader((Port, False), (Want, False), (Heard, False))


@kernel
def is_sane(x):
    sane = True
    for i in range(AT.at_body, x.floats.shape[0]):  # all its floats; a NaN fails this too
        sane = sane and abs(x.floats[i]) <= LARGEST_SANE
    return sane


@kernel
def is_open(x):
    """Whether it says that it does nothing."""
    return x.words[AT.body] <= WORLD and x.words[AT.hold] != PRESS


@kernel
def speaks(x, now_ns):
    """Whether it does anything; a hand that makes no sense or has fallen silent is counted, and opened."""
    if is_open(x):
        return False
    silent, sane = now_ns - x.words[AT.sent_ns] > STALE_NS, is_sane(x)
    if silent or not sane:
        x.stale += sane
        x.refused += not sane
        x.words[AT.body], x.words[AT.hold] = WORLD, 0
    return sane and not silent


@kernel
def clipped(x, most):
    return min(max(x, 0.0), most)


@kernel
def say_spring(x, want):
    """How stiff and damped the message wants to hold."""
    f, more = x.floats, part3(x.floats, AT.stiffer_N_m)
    k, ratio = f[AT.stiffness_N_m], f[AT.damping]
    want.stiffness = (
        clipped(k + more[0], STIFFEST_N_M), clipped(k + more[1], STIFFEST_N_M), clipped(k + more[2], STIFFEST_N_M),
    )  # fmt: skip
    want.damping, want.ratio = part3(f, AT.damping_Ns_m), clipped(ratio, MOST_DAMPING) if ratio != 0.0 else 1.0
    want.times = clipped(k, STIFFEST_N_M) / SURFACE_N_M
    q = part4(f, AT.orientation)
    length = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    turns = abs(length - 1.0) < UNIT
    want.stiffness_Nm_rad = clipped(f[AT.stiffness_Nm_rad], STIFFEST_NM_RAD) if turns else 0.0
    want.damping_Nms_rad = f[AT.damping_Nms_rad]
    return q if turns else UNTURNED


@routine
def sample_message(address):
    """The newest message as a reading and a want."""
    port, want, x = load_speaking(address)
    hold, want.does = x.words[AT.hold], NOTHING
    port.number[SAMPLED_S] = 1e-9 * x.words[AT.sent_ns]
    if speaks(x, round(1e9 * port.number[NOW_S])):
        want.does = TOUCH if hold == PRESS else GIVE if hold == PUSH else HOLD
        want.body, want.at_body = x.words[AT.body], part3(x.floats, AT.at_body)
        want.force, want.radius_m = part3(x.floats, AT.force), clipped(x.floats[AT.radius_m], LARGEST_BALL_M)
        want.account, want.energy_J = x.words[AT.session], x.floats[AT.energy_J]
        want.tells_motion = want.account != 0  # across a link messages come in every tick
        put_part(port.reading, POSITION.start, part3(x.floats, AT.target))
        put_part(port.reading, VELOCITY.start, part3(x.floats, AT.velocity))
        put_part(port.reading, QUATERNION.start, say_spring(x, want))
    return OK


@routine
def feel_nothing(address):
    """There is nothing that could make the force."""
    return OK


class Messages:
    """A hand whose newest message lies in `words`, which someone else writes."""

    def __init__(self, words: Ints1) -> None:
        self.heard = Heard(words=words, floats=words.view(np.float64))
        port, want = empty_port(), Want(does=NOTHING, ratio=1.0, times=1.0)
        self.in_tick = InTick(port, Block(port, want, self.heard), sample_message, feel_nothing, self, want)
