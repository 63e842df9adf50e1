"""Gestures: what leads hands and gaze keeps, its limits, and small vector kernels."""

from __future__ import annotations

from palpate.control.avatar import Avatar
from palpate.control.gestures.intent import Intent
from palpate.jit import Struct, Vector, block_loader, kernel
from palpate.model.model import Floats1, Floats2, Ints1
from palpate.spatial.vectors import length, scale

HAND_M_S, HAND_M_S2, HAND_N = 0.5, 12.0, 60.0  # reference 8; the second so that a start is no blow
JOINT_RAD_S = 4.0  # reference 8
ELBOW_M = 0.30  # of a body of ordinary size: an elbow this far from the middle is clear of the trunk (reference 4.1)


class Gestures(Struct):
    """Pairs are (right, left)."""

    ticks: int  # since the start
    chains: Ints1  # (3,) addresses: right arm, left arm, neck
    # of a balance, whose memory it is: while it is on it bears the arms' weight, and if it feeds, the push of hands too
    balance_on: Floats1  # (1,)
    balance_feeds: Floats1  # (1,)
    fed: int  # body that it feeds: the one that was touched last
    elbow_out_m: float  # how far from the middle elbows stay
    hand_rate: Floats2  # (2, 3) of the palms' targets [m/s]
    pull_N: Floats1  # (2,) force of persons on each hand, written by who knows it (behaviours/senses.py), and
    bearable_N: Floats1  # (2,) what it may be
    limp: Floats1  # (2,) 0: as stiff as asked .. 1: not at all
    calm_s: Floats1  # (2,) since the pull became small
    hand_yields: Ints1  # (2,) 1: pulled beyond what it can bear
    slips: Ints1  # (2,) ticks in which targets slipped at the force limit
    look: Vector  # yaw and pitch of the gaze in the chest's axes [rad]; the third is not used
    eyes: Vector  # in the head's axes
    refused: int  # targets that were no numbers


load = block_loader((Avatar, False), (Intent, False), (Gestures, False))


@kernel
def clipped(x, most):
    """A vector no longer than that."""
    size = length(x)
    return scale(most / size, x) if size > most else x
