"""Behaviours, gestures and what they sense as parts by themselves, without a tick around them: also as plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from palpate.control.behaviours.machine import Acting
from palpate.control.behaviours.rows import PATTERNS
from palpate.control.gestures.tables import HAND_M_S
from palpate.scenes.acting import answering

KINDS = ("hrp2", "human")


class Still:
    """An avatar whose world does not move: its parts are called, and nothing else."""

    def __init__(self, kind: str) -> None:
        self.world, self.acting = answering(kind, balanced=False)
        self.parts, self.state = self.acting.actor.parts, self.world.arrays.state
        self.avatar = self.acting.actor.avatar
        for part in self.parts:
            if part.reset is not None:
                part.reset(part.block.address)

    def ticks(self, n: int, body: int = 0, force=(0.0, 0.0, 0.0)) -> None:
        for _ in range(n):
            self.state.wrenches[:] = 0.0
            self.state.n_wrenches = self.world.model.n_bodies if body else 0
            if body:
                self.state.wrenches[body, 3:] = force
            for part in self.parts:
                part.tick(part.block.address)
                if part.name == "sense":
                    self.avatar.foot_load[:] = 200.0  # it stands

    @property
    def name(self) -> str:
        acting: Acting = self.acting
        return acting.names[acting.machine.behaviour]

    def tell(self, word: str) -> None:
        self.acting.machine.told = float(self.acting.command(word))

    def say(self, pattern: str) -> None:
        self.acting.machine.said[0] = 1 + PATTERNS.index(pattern)
        self.acting.machine.said_count[0] += 1


@pytest.mark.nojit
@pytest.mark.parametrize("kind", KINDS)
def test_every_state_asks_for_targets_within_the_speed_limit(kind):
    still = Still(kind)
    g, b = still.acting.gesturing.gestures, still.acting.machine
    b.least_ticks = 2
    right = int(still.avatar.hand[0])

    def check(name: str) -> None:
        assert still.name == name
        assert np.isfinite(still.state.q_hold).all()
        assert np.linalg.norm(g.hand_rate, axis=1).max() <= HAND_M_S + 1e-9

    still.ticks(3)
    check("stand")
    for pattern, name in (("tap", "acknowledge"), ("double tap", "look")):
        still.say(pattern)
        still.ticks(5)
        check(name)
    still.tell("stand")
    still.ticks(3)
    b.hand_led_s[0] = 1.0
    still.ticks(10, right, (8.0, 0.0, 0.0))
    b.hand_led_s[0] = 1.0
    still.ticks(5, right, (8.0, 0.0, 0.0))
    check("follow")
    still.tell("offer hand")
    still.ticks(5)
    check("shake")
    still.ticks(20, right, (0.0, 0.0, 9.0))
    assert b.stage == 2  # it is taken
    still.tell("take")
    still.ticks(3)
    check("take")
    b.grasp_state[0] = 7  # it carries
    still.ticks(5)
    check("carry")
    still.tell("hand over")
    still.ticks(5)
    check("hand over")
    still.tell("put down")
    still.ticks(5)
    check("put down")
    b.grasp_state[0] = 9  # it opens by itself
    still.ticks(2)
    check("let go")
    b.grasp_state[0] = 0
    still.ticks(5)
    check("stand")
    still.ticks(30, still.avatar.chest, (-20.0, 0.0, 0.0))
    b.pressed_s = 1.0
    still.ticks(2, still.avatar.chest, (-20.0, 0.0, 0.0))
    check("yield")
    b.tipping_s = 1.0
    b.margin_m = -1.0
    still.avatar.fallen = 0
    still.tell("stop")
    still.ticks(40)  # nobody presses any more
    check("safe")
    still.tell("reset")
    still.ticks(5)
    check("stand")


@pytest.mark.nojit
@pytest.mark.parametrize("kind", KINDS)
def test_a_hand_pulled_too_hard_is_limp_and_its_targets_are_where_it_is(kind):
    still = Still(kind)
    state, g = still.state, still.acting.gesturing.gestures
    chain = still.acting.gesturing.chains[0][0]
    still.ticks(2)
    assert state.kp[chain.axes].min() > 0.0
    still.ticks(140, int(still.avatar.hand[0]), (0.0, 0.0, 200.0))
    assert g.hand_yields[0] == 1
    assert state.kp[chain.axes].max() == 0.0
    arm = [n for name, at in still.world.model.q_index.items() for n in range(at.start, at.stop)
           if still.world.model.v_index[name].start in still.world.model.arrays.axis_v[chain.axes]]  # fmt: skip
    assert np.abs(state.q_hold[arm] - state.q[arm]).max() < 1e-3


@pytest.mark.nojit
def test_targets_far_from_the_joints_slip_until_they_hold_no_more_than_sixty_newtons():
    still = Still("hrp2")
    still.ticks(1)
    q = still.world.model.q_index["RARM_JOINT3"]
    still.state.q_hold[q] = still.state.q[q] - 1.5
    still.ticks(1)
    assert still.acting.gesturing.gestures.slips[0] > 0
    assert abs(still.state.q_hold[q] - still.state.q[q]).max() < 1.0
