"""Arms and neck of an avatar as a part of the tick: what an Intent asks becomes targets, springs and torques."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from palpate.control.avatar import Actor
from palpate.control.gestures.chain import chain_of, load_chain
from palpate.control.gestures.gaze import move_head
from palpate.control.gestures.hands import move_hand
from palpate.control.gestures.intent import Intent
from palpate.control.gestures.tables import ELBOW_M, HAND_N, Gestures, load
from palpate.control.limbs import LEFT, RIGHT, TRUNK
from palpate.control.part import ControlPart, Setting
from palpate.frame import Field
from palpate.jit import Block, kernel
from palpate.jit.routines import routine
from palpate.model.model import CHAIN
from palpate.spatial.vectors import finite3, is_finite
from palpate.world.state import load as load_world

ZERO = (0.0, 0.0, 0.0)


@kernel
def soften_trunk(s, a, times):
    for k in range(a.axis_first, a.axis_end):
        if a.limb[k] == TRUNK:
            s.kp[k] *= times
            s.kv[k] *= math.sqrt(times)


@routine
def gesture(address):
    a, i, g = load(address)
    m, w, _, _, _, s = load_world(a.world)
    dt = s.dt
    for k in range(3):
        c = load_chain(g.chains[k])[0]
        if k == 2:
            move_head(m, w, s, a, i, g, c, dt)
        else:
            move_hand(m, w, s, a, i, g, c, k, dt)
    times = i.trunk_stiffness
    if is_finite(times) and times < 1.0:
        soften_trunk(s, a, max(times, 0.05))
    if finite3(i.lean):
        a.lean = i.lean
    g.ticks += 1
    return 0


@routine
def rest_gestures(address):
    """As at the start."""
    a, _, g = load(address)
    m, _, _, _, _, s = load_world(a.world)
    g.ticks, g.refused, g.look, g.fed = 0, 0, ZERO, 0
    g.hand_rate[:, :] = 0.0
    for side in range(2):
        g.pull_N[side], g.limp[side], g.calm_s[side] = 0.0, 0.0, 0.0
        g.hand_yields[side], g.slips[side] = 0, 0
    for k in range(3):
        c = load_chain(g.chains[k])[0]
        c.rate[:] = 0.0
        for i in c.links:
            if m.kind[i] == CHAIN:
                for axis in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
                    s.q_hold[m.axis_q[axis]] = c.q_rest[m.axis_q[axis]]
            else:
                for r in range(4):
                    s.q_hold[m.q_begin[i] + r] = c.q_rest[m.q_begin[i] + r]
    return 0


EYES = (0.08, 0.0, 0.1)  # of a head [m], in its axes

FIELDS = (
    Field("hand_yields", "i", (2,), "1: the right or the left hand is pulled beyond what it bears, and is limp"),
    Field("hand_rate", "f", (2, 3), "how fast the targets of the palms move, world [m/s]"),
    Field("look", "f", (3,), "yaw and pitch of the gaze in the chest's axes [rad]"),
)


def shared_number(struct: Any, name: str) -> Any:
    """(1,) the memory of a number of someone else's Struct; of none a zero."""
    return np.zeros(1) if struct is None else struct.array(name).reshape(1)


ALIVE = (Field("alive", "f", (), "how much it breathes and looks about, 0: not at all"),)


class Gesturing:
    """Arms and neck of one avatar."""

    def __init__(self, actor: Actor, intent: Intent, balance: Any = None) -> None:
        """balance: Struct with `on` and `feeds`, as that of Balancing; None: there is none."""
        a, model = actor.avatar, actor.world.model
        q_rest = actor.world.q.copy()
        self.chains = [
            chain_of(model, a.chest, int(body), tuple(point), q_rest, int(elbow))
            for body, point, elbow in (
                (a.hand[RIGHT], a.palm_at[RIGHT], a.elbow[RIGHT]),
                (a.hand[LEFT], a.palm_at[LEFT], a.elbow[LEFT]),
                (a.head, EYES, 0),
            )
        ]
        self.gestures = Gestures(
            chains=np.array([block.address for _, block in self.chains], dtype=np.int64),
            balance_on=shared_number(balance, "on"), balance_feeds=shared_number(balance, "feeds"),
            elbow_out_m=ELBOW_M, hand_rate=np.zeros((2, 3)), pull_N=np.zeros(2), bearable_N=np.full(2, HAND_N),
            limp=np.zeros(2), calm_s=np.zeros(2), hand_yields=np.zeros(2, dtype=np.int64),
            slips=np.zeros(2, dtype=np.int64), eyes=EYES,
        )  # fmt: skip
        self.intent = intent
        number = "" if actor.number == 0 else str(actor.number + 1)
        self.part = ControlPart(
            f"gestures{number}", gesture, Block(a, intent, self.gestures), reset=rest_gestures, world=a.world,
            keeps=self, shows=actor.shown(self.gestures, FIELDS) + actor.shown(intent, ALIVE),
            settings=(
                Setting(f"alive{number}", 0.0, 1.0, intent, "alive", label="Alive", step=0.1,
                        field=actor.field_prefix + "alive",
                        about="breathing and looking about"),
                *(Setting(f"user_{axis}{number}", -50.0, 50.0, intent, f"user_{axis}") for axis in "xyz"),
            ),
        )  # fmt: skip
