"""Two avatars carry a plank: avatars.md 5 and 10.34."""

from __future__ import annotations

import numpy as np
import pytest

from palpate import jit
from palpate.control.grasp.grasp_tables import CARRY
from palpate.experiments.avatar_carry import D_M, F_N, S_LEAST, SIDE_M, team

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")


@pytest.mark.parametrize("leader", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_the_other_follows_whoever_leads(leader):
    """avatars.md 10.34: 3 kg over 0.3 m: F <= 10 N, D <= 0.02 m, S >= 0.9; roles exchanged, too."""
    with team(3.0, leader=leader) as t:
        t.take()
        t.lead(leader, -SIDE_M, 3.5)
        done = t.lead(leader, SIDE_M, 5.5)
        assert np.isfinite(done.T_s)
        assert done.plank[-1, 1] - done.plank[0, 1] == pytest.approx(2 * SIDE_M, abs=0.01)
        assert done.F_N <= F_N
        assert done.D_m <= D_M
        assert done.S >= S_LEAST
        assert done.slip_m < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("kg", [0.5, 5.0])
def test_lighter_and_heavier_planks_are_carried_in_balance(kg):
    with team(kg, balanced=True) as t:
        t.take()
        done = t.lead(0, -0.1, 4.0)
        assert done.F_N <= F_N
        assert done.S >= S_LEAST
        assert done.slip_m < 2e-3


@pytest.mark.repeated
def test_a_hand_that_leads_the_plank_leads_both():
    with team(3.0) as t:
        t.take()
        done = t.drag(0.12, 5.5)
        assert np.isfinite(done.T_s)
        assert done.D_m <= D_M
        assert done.S >= S_LEAST
        assert all(each.arrays.state == CARRY for each in t.hands)


@pytest.mark.repeated
def test_when_one_lets_go_the_other_is_not_dragged_along():
    """The plank falls on its stands; nobody falls, and the hands that have lost it open."""
    with team(3.0) as t:
        t.take()
        t.hands[1].arrays.wish = 0.0
        t.run.ticks(4000)
        t.hands[0].arrays.wish = 0.0
        t.run.ticks(6000)
        now = t.run.now
        for k, actor in enumerate(t.actors):
            assert now[f"{actor.field_prefix}com"][2] > 0.9 * actor.avatar.height_m, k
        assert now["q"][t.plank_q][2] < 1.1
