"""Balance and steps of one avatar, as parts of its World's tick; gains and where they come from.

    actor = Actor(world)
    balancing = Balancing(actor)
    actor.add(Stepping(balancing).part)                      first, if it may step
    actor.add(balancing.part)

Gains serve HRP-2 and a person unchanged.  Those of balance are avatars.md 2.1's but softer legs and trunk, and a
smaller `exceed`; those of stepping were searched for at 1.15, 1.3 and 1.5 J_b in five directions, both avatars at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from palpate.control.avatar import Actor
from palpate.control.balance import SOLE_CORNERS, STATES, Balance, reset_balance, tick_balance
from palpate.control.distribution import sole_forces
from palpate.control.foot_steering import Legs, legs_of
from palpate.control.limbs import GRIP, LEFT_ARM, LEFT_LEG, LIMBS, NECK, RIGHT_ARM, RIGHT_LEG, TRUNK
from palpate.control.part import ControlPart, Setting, Shown
from palpate.control.stepping import Steps, reset_steps, tick_steps
from palpate.dynamics.facade import forward_kinematics
from palpate.frame import Field
from palpate.jit import Block
from palpate.model.model import Floats2, ModelArrays

INSET_M = 0.004  # corners of the distribution lie so far inside the soles: on the very edge a foot tips
APART_M = 0.12  # least distance of the feet sideways
# (kp, kv) by limb
GAINS = {
    RIGHT_LEG: (10.0, 2.0), LEFT_LEG: (10.0, 2.0), TRUNK: (800.0, 30.0), NECK: (800.0, 30.0),
    RIGHT_ARM: (200.0, 10.0), LEFT_ARM: (200.0, 10.0), GRIP: (20.0, 1.0),
}  # fmt: skip
TUNED_KG_M2 = 37.0  # m z^2 of HRP-2, for which, and for a person, the gains are: those of a child are less by as much

BALANCE_SHOWN = (
    Field("balance_state", "i", (), "0 off, 1 standing, 2 stepping, 3 fallen"),
    Field("cop", "f", (3,), "centre of pressure that balance asks for, world [m]"),
    Field("wanted", "f", (3,), "where the capture point shall be, world [m]"),
    Field("capture_margin_m", "f", (), "of the capture point in the support polygon, negative outside [m]"),
    Field("support_polygon", "f", (16, 2), "corners of the support polygon, world [m]; the first support_count"),
    Field("support_count", "i", (), "of the support polygon"),
    Field("sole_forces", "f", (8, 3), "that balance asks of the corners of the soles, world [N]"),
    Field("sole_points", "f", (8, 3), "where, world [m]"),
)


class Balancing:
    """Balance of one avatar, as a part of its World's tick: `actor.add(Balancing(actor).part)`.

    hip     the trunk may swing to keep the balance; else the ankles alone do
    upright "chest" or "waist": which of them is kept upright (a waist leaves the trunk's joints to other controllers)
    The world is at rest in the posture that it should keep.
    """

    def __init__(self, actor: Actor, hip: bool = True, feeds: bool = True, upright: str = "waist") -> None:
        self.actor, a, world = actor, actor.avatar, actor.world
        if upright not in ("chest", "waist"):
            raise ValueError(f'upright is "chest" or "waist", got {upright!r}')
        nq, nv, zeros = world.model.nq, world.model.nv, np.zeros
        self.forces = sole_forces(SOLE_CORNERS, moment_weight=0.017 if hip else 0.1)
        size = min(1.0, a.mass * a.height_m**2 / TUNED_KG_M2)
        self.legs = legs_of(world.model, a, size)
        gains = size * np.array([GAINS[limb] for limb in range(len(LIMBS))])
        self.balance = b = Balance(
            on=1.0, feeds=1.0 if feeds else 0.0, k=3.0, k_z=60.0, K_R=200.0 * size, D_R=80.0 * size, margin_m=0.005,
            exceed_m=0.06 if hip else 0.0, moment_weight=0.017 if hip else 0.1, step_exceed_m=0.05,
            step_moment_weight=0.46, step_K_R=1350.0 * size, step_D_R=455.0 * size,
            lean_m=0.10, mass=a.mass, light=0.10, loaded=0.20, trunk=a.chest if upright == "chest" else a.waist,
            kp=gains[:, 0].copy(), kv=gains[:, 1].copy(), sole_at=inset(a.sole_at, INSET_M),
            R_rest=zeros(9), q_rest=zeros(nq), bears=np.ones(2), swings=zeros(2), steered=zeros(2), place=zeros((2, 3)),
            place_velocity=zeros((2, 3)), place_acceleration=zeros((2, 3)), turn=zeros((2, 9)), polygon=zeros((16, 2)),
            point=zeros((16, 2)), a_ref=zeros(nv),
        )  # fmt: skip
        self.block = Block(a, b, self.forces, self.legs)
        self.part = ControlPart(
            "balance", tick_balance, self.block, reset=reset_balance, world=a.world, shows=self._shown(),
            settings=self._settings(), hello=self.hello,
        )  # fmt: skip

    def _shown(self) -> tuple[Shown, ...]:
        within = {"balance_state": "state", "capture_margin_m": "margin", "support_polygon": "polygon",
                  "support_count": "corners", "sole_forces": "force", "sole_points": "corner"}  # fmt: skip
        of_balance, of_forces = BALANCE_SHOWN[:-2], BALANCE_SHOWN[-2:]
        show = self.actor.shown
        return (*show(self.balance, of_balance, **within), *show(self.forces, of_forces, **within))

    def hello(self) -> dict[str, Any]:
        """What a page says of it."""
        return {"avatars": [{"prefix": self.actor.field_prefix, "balance_states": list(STATES)}]}

    def _settings(self) -> tuple[Setting, ...]:
        b, p = self.balance, self.actor.field_prefix
        return (
            Setting(p + "balance", 0.0, 1.0, b, "on", True, "Balance", "", 1.0, "off: only springs hold the joints"),
            Setting(p + "feeds", 0.0, 1.0, b, "feeds", True, "Knows your force", "", 1.0, "it is told what you push"),
            Setting(p + "capture_gain", 0.5, 8.0, b, "k", False, "Capture gain", "1/s", 0.5, "how fast it recovers"),
            Setting(p + "exceed", 0.0, 0.2, b, "exceed_m", False, "Hip strategy", "m", 0.01, "how far it asks beyond"),
        )  # fmt: skip


def inset(corners: Floats2, by: float) -> Floats2:
    """Corners (8, 3) of two soles, each moved inwards by so much along both edges [m]."""
    out = corners.copy()
    for side in (slice(0, 4), slice(4, 8)):
        out[side, :2] -= by * np.sign(corners[side, :2] - corners[side, :2].mean(axis=0))
    return out


STEPS_SHOWN = (
    Field("steps", "i", (), "of the avatar since the start"),
    Field("step_phase", "i", (), "0 stands, 1 unloads a foot, 2 swings it, 3 lands"),
    Field("step_target", "f", (3,), "where the foot that swings will land, world [m]"),
)


class Stepping:
    """Steps of one avatar that balances: `actor.add(Stepping(balancing).part)`, before balance itself."""

    def __init__(self, balancing: Balancing, most: int = 0) -> None:
        self.balancing, actor = balancing, balancing.actor
        a, b = actor.avatar, balancing.balance
        corners = np.array(a.sole_at[:4])
        size = np.ptp(corners, axis=0)
        model = actor.world.model.arrays
        leg = leg_length(model, balancing.legs)
        apart = rest_width(actor)
        self.steps = t = Steps(
            on=1.0, swing_s=0.14, slow_s=0.20, height_m=0.05, reach_m=0.726 * leg, wide_m=apart + 0.674 * leg,
            near_m=max(APART_M, float(size[1]) + 0.01), ahead_s=0.12, push_lasts_s=0.055, fade_s=0.01, slack_m=0.029,
            lower_m=0.034, overshoot=0.29,
            most=float(most), try_point=np.zeros((16, 2)), try_hull=np.zeros((16, 2)), half=size[:2] / 2 - 0.005,
        )  # fmt: skip
        self.block = Block(a, b, t)
        p = actor.field_prefix
        shows = actor.shown(t, STEPS_SHOWN, steps="count", step_phase="phase", step_target="target")
        settings = (
            Setting(p + "stepping", 0.0, 1.0, t, "on", True, "Steps", "", 1.0, "may it step when pushed"),
            Setting(p + "swing_time", 0.12, 0.4, t, "swing_s", False, "Step time", "s", 0.02, "of a sideways step"),
        )
        self.part = ControlPart(
            "stepping", tick_steps, self.block, reset=reset_steps, world=a.world, shows=shows,
            settings=settings,
        )  # fmt: skip


def leg_length(m: ModelArrays, legs: Legs) -> float:
    """Hip to ankle, stretched [m]: the longest two links on the way."""
    links = legs.link[: legs.count[0]]
    return float(sum(sorted(np.linalg.norm(m.axis_p[m.axis_begin[i]]) for i in links)[-2:]))


def rest_width(actor: Actor) -> float:
    """Of the middles of the soles, sideways [m]."""
    a, X = actor.avatar, forward_kinematics(actor.world.model, actor.world.q)
    middles = [X[a.foot[s]][:3, :3] @ a.sole_at[4 * s : 4 * s + 4].mean(axis=0) + X[a.foot[s]][:3, 3] for s in range(2)]
    return float(np.linalg.norm((middles[1] - middles[0])[:2]))
