"""Who leads when two carry one thing: who is told to, or who pushes (avatars.md 5)."""

from __future__ import annotations

import numpy as np
import pytest

from palpate import jit
from palpate.control.grasp.grasp_tables import Grasp
from palpate.control.grasp.roles import SWAP_N, SWAP_S, Roles, Sharing, forget_roles, share_roles
from palpate.experiments.avatar_carry import D_M, F_N, S_LEAST, team
from palpate.jit import Block
from palpate.scenes.tables import carry_world, carrying

DT = 1e-3


@pytest.fixture(scope="module")
def sharing() -> Sharing:
    _, hands = carrying(carry_world())
    return Sharing(*hands)


@pytest.fixture
def pair(sharing: Sharing) -> tuple[Roles, Grasp, Grasp, int]:
    first, second = sharing._grasps
    for each in (first.arrays, second.arrays):
        each.felt, each.go_m, each.gone_m = (0.0, 0.0, 0.0), 0.0, 0.0
    block = Block(sharing.roles)
    sharing.kept = block
    forget_roles(block.address)
    return sharing.roles, first.arrays, second.arrays, block.address


def pushed(r: Roles, follower: Grasp, address: int, force: np.ndarray) -> int:
    """Ticks until they change roles, felt (n, 3) by the follower; -1: they do not."""
    before = r.leads
    for k, f in enumerate(force):
        follower.felt = tuple(f)
        share_roles(address)
        if r.leads != before:
            return k
    return -1


@pytest.mark.nojit
def test_a_steady_push_of_the_follower_changes_roles_and_a_short_or_weak_one_does_not(pair):
    r, first, second, address = pair
    assert (r.leads, first.listens, second.listens) == (0, 0, 1)
    along = np.array([0.6, -0.8, 0.0])
    assert pushed(r, second, address, np.tile(0.95 * SWAP_N * along, (3000, 1))) == -1
    short = np.vstack([np.tile(2.0 * SWAP_N * along, (300, 1)), np.zeros((1500, 3))])
    assert pushed(r, second, address, short) == -1
    ticks = pushed(r, second, address, np.tile(1.5 * SWAP_N * along, (3000, 1)))
    assert SWAP_S < ticks * DT < SWAP_S + 0.4
    assert (r.leads, first.listens, second.listens) == (1, 1, 0)
    assert pushed(r, first, address, np.tile(1.5 * SWAP_N * along, (3000, 1))) * DT > SWAP_S  # and back


@pytest.mark.nojit
def test_a_push_to_and_fro_and_a_weight_change_nothing(pair):
    r, _, second, address = pair
    t = np.arange(4000) * DT
    shaken = np.stack([40.0 * np.sin(2 * np.pi * 3.0 * t), 0 * t, 50.0 + 0 * t], axis=1)
    assert pushed(r, second, address, shaken) == -1


@pytest.mark.nojit
def test_who_is_told_to_lead_leads_and_the_other_stops_where_it_is(pair):
    r, first, second, address = pair
    first.go_m = 0.1
    share_roles(address)
    assert (r.leads, first.go_m) == (0, 0.1)
    first.gone_m = 0.04  # on its way
    second.go_m = -0.05
    share_roles(address)
    assert (r.leads, first.listens, second.listens) == (1, 1, 0)
    assert (first.go_m, first.go_to_m, second.go_m) == (0.04, 0.04, -0.05)
    for _ in range(100):  # and so it stays
        share_roles(address)
    assert (r.leads, second.go_m) == (1, -0.05)


@pytest.mark.nojit
def test_a_reset_gives_the_roles_of_the_start(pair):
    r, first, second, address = pair
    second.go_m = 0.1
    share_roles(address)
    forget_roles(address)
    assert (r.leads, first.listens, second.listens, second.go_m) == (0, 0, 1, 0.0)


@pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
def test_the_second_is_told_to_lead_and_the_first_follows():
    """As item 34 asks of any leader."""
    with team(3.0, shares=True, leader=0) as t:
        t.take()
        done = t.lead(1, 0.12, 4.5)
        assert t.run.now["carry_leads"] == 1
        assert np.isfinite(done.T_s)
        assert done.D_m <= D_M
        assert done.S >= S_LEAST
        assert np.abs(t.run.history("avatar_grasp_felt")[-1, :2]).max() < F_N
