"""The laws of balance and stepping tick by tick, in a world that does not move: small enough for plain Python too."""

import numpy as np
import pytest

import palpate as pp
from palpate.control.avatar import Actor
from palpate.control.balance.balance import FALLEN, OFF, STANDING, STEPPING
from palpate.control.balance.balancing import Balancing, Stepping
from palpate.control.balance.push_trial import FELL, FINE, PushTrial, begin_entry
from palpate.control.balance.stepping import FADE, LAND, STAND, SWING
from palpate.scenes.pushed import standing_world

pytestmark = pytest.mark.nojit
RATE_HZ = 200.0  # few ticks, long ones


class Still:
    """An avatar whose controllers tick while nothing moves but what the test moves."""

    def __init__(self, kind="human", steps=True):
        self.world = standing_world(kind, rate_hz=RATE_HZ)
        self.actor = Actor(self.world)
        self.balancing = Balancing(self.actor)
        self.stepping = Stepping(self.balancing)
        if steps:
            self.actor.add(self.stepping.part)
        self.actor.add(self.balancing.part)
        self.b, self.t, self.a = self.balancing.balance, self.stepping.steps, self.actor.avatar
        begin_entry(self.a.world)
        for part in self.actor.parts:
            part.reset(part.block.address)

    def tick(self, push=None, load=True):
        state, rows = self.world.arrays.state, self.world.arrays.rows
        rows.n_contacts = 0  # no step was made: nothing touches
        begin_entry(self.a.world)
        state.wrenches[:] = 0.0
        if push is not None:
            state.wrenches[self.a.chest, 3:] = push
            state.n_wrenches = self.world.model.n_bodies
        for part in self.actor.parts:
            part.tick(part.block.address)
            if load and part.name == "sense":
                self.a.foot_load[:] = 0.5 * self.a.mass * 9.81


@pytest.mark.parametrize("kind", ["hrp2", "human"])
def test_at_rest_the_soles_bear_the_weight_and_the_pressure_is_under_the_centre_of_mass(kind):
    s = Still(kind)
    s.tick()
    force = s.balancing.forces.force
    assert force.sum(axis=0) == pytest.approx([0.0, 0.0, s.a.mass * 9.81], abs=1.0)
    assert s.b.cop[:2] == pytest.approx(s.a.com[:2], abs=2e-3)
    assert s.b.state == STANDING
    assert s.b.margin > 0.05
    assert not s.world.tau[:6].any()


def test_the_pressure_leads_the_capture_point_by_the_gain():
    """p = xi_d + (1 + k/w)(xi - xi_d) while it is inside the polygon."""
    s = Still("hrp2")
    s.world.v[3] = 0.02  # all of it, forward
    s.tick()
    away = np.array(s.a.capture[:2]) - s.b.wanted[:2]
    assert away[0] > 0.004
    assert np.array(s.b.cop_wanted[:2]) - s.b.wanted[:2] == pytest.approx((1.0 + 3.0 / s.a.w) * away, abs=1e-12)


def test_an_unloaded_leg_is_held_to_its_footprint_and_a_loaded_one_is_soft():
    s = Still("human")
    s.tick()
    state, leg = s.world.arrays.state, s.a.limb == 0
    assert (state.kp[leg] == 10.0).all()
    for _ in range(4):
        s.tick(load=False)
    assert (state.kp[leg] > 600.0).all()
    assert s.b.steered == pytest.approx([1.0, 1.0], abs=0.2)
    # where the foot is, is where it shall be: no target pulls
    assert pp.difference(s.world.model, s.world.q, state.q_hold)[6:20] == pytest.approx(np.zeros(14), abs=1e-3)
    s.world.q[0] += 0.02  # the waist moves, the foot shall not: its targets call it back
    s.tick(load=False)
    moved = pp.integrate(s.world.model, s.world.q, np.zeros(s.world.model.nv), 1.0)
    moved[7:] = state.q_hold[7:]
    foot = s.world.model.body_names[s.a.foot[0]]
    where = [pp.forward_kinematics(s.world.model, q)[s.world.model.body(foot)][0, 3] for q in (s.world.q, moved)]
    assert where[1] - where[0] == pytest.approx(-0.02 * s.b.steered[0], abs=3e-3)


@pytest.mark.parametrize("kind", ["hrp2", "human"])
def test_a_step_goes_through_its_phases_and_lands_where_the_capture_point_will_be(kind):
    s = Still(kind)
    s.tick()
    s.world.v[3] = 1.2  # forward, all of it: xi is far ahead
    seen, z = [], []
    for _ in range(90):
        s.tick()
        if s.t.phase == SWING:
            z.append(s.b.place[s.t.side, 2] - s.a.floor_m)
            s.a.foot_load[s.t.side] = 0.0
        seen.append(s.t.phase)
        if s.t.count and s.t.phase == STAND:
            break
        if s.t.phase == SWING and s.t.since_s > s.t.time_s - 0.05:  # the target is no longer changed
            s.world.v[3] = 0.0
    assert {FADE, SWING, LAND} <= set(seen)
    assert max(z) == pytest.approx(s.t.height_m, rel=0.2)
    assert s.t.count == 1
    assert s.t.target[0] > s.b.place[1 - s.t.side, 0] + 0.1  # ahead of the other foot
    apart = abs(s.t.target[1] - s.b.place[1 - s.t.side, 1])
    assert apart >= s.t.near_m - 1e-9
    assert s.b.bears == pytest.approx([1.0, 1.0])


def test_a_known_push_is_leant_against_and_starts_a_step_before_the_sway_is_there():
    s = Still("hrp2")
    for _ in range(40):
        s.tick(push=(20.0, 0.0, 0.0))
    assert s.t.count == 0
    assert s.b.off[0] < -0.02
    assert abs(s.b.off[1]) < 1e-3
    for _ in range(12):
        s.tick(push=(900.0, 0.0, 0.0))
        if s.t.count:
            break
    assert s.t.count == 1
    assert s.b.state in (STANDING, STEPPING)


def test_who_lies_is_limp_and_who_is_switched_off_is_left_alone():
    s = Still("hrp2")
    s.b.on = 0.0
    s.tick()
    assert s.b.state == OFF
    s.b.on = 1.0
    s.world.q[2] -= 0.4
    s.tick()
    assert s.b.state == FALLEN
    assert s.a.fallen == 1
    assert s.world.arrays.state.kp[6:].max() < 20.0
    assert not s.world.tau.any()


def test_a_trial_pushes_for_as_long_as_it_says():
    actor = Actor(standing_world("hrp2", rate_hz=RATE_HZ))
    actor.add(Balancing(actor).part)
    trial = PushTrial(actor)
    assert trial.run((100.0, 0.0, 0.0), 0.065, push_s=0.005, at_com=True) == FINE
    gained = trial.log[-1, 0] - trial.log[0, 0]
    assert gained == pytest.approx(100.0 * 0.005 / (58.0 * actor.avatar.w), rel=0.2)
    assert len(trial.log) == 13
    trial.world.q[2] -= 0.4
    assert trial.run((0.0, 0.0, 0.0), 0.01, start=False) == FELL
