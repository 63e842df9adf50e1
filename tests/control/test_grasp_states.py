"""What the hands do next, without physics: a puppet whose arms are where they are asked to be at once, and whose palms
feel a box where they meet it."""

from __future__ import annotations

import numpy as np
import pytest

from palpate import jit
from palpate.control.avatar import load_avatar, sense
from palpate.control.grasp.grasp import forget_grasp, grasp
from palpate.control.grasp.grasp_tables import FREE, HELD, JOINT_FORM, LIFTED, LOWER, OPEN, PRESS, STATES
from palpate.jit.routines import routine
from palpate.scenes.tables import table_world, taking
from palpate.world.step import begin_step

needs_compiler = pytest.mark.skipif(jit.DISABLED, reason="takes long as plain Python")
RATE_HZ = 30.0 if jit.DISABLED else 100.0  # nothing is integrated: ten times fewer ticks, or thirty times


@routine
def look(address):
    begin_step(load_avatar(address)[0].world)
    return 0


class Puppet:
    """An avatar at its table whose arms obey at once."""

    def __init__(self, kind: str = "hrp2", **how: object) -> None:
        self.world = table_world(kind, rate_hz=RATE_HZ)
        self.actor, self.grasping = taking(self.world, wish=FREE, **how)
        self.palms, self.g, self.a = self.grasping.palms, self.grasping.arrays, self.actor.avatar
        self.palms.fastest_rad_s = 40.0  # in steps of 10 ms
        self.box = self.world.model.q_index["box"]
        self.pull = np.zeros(3)
        self.there = True  # the box
        self.seen: list[str] = []
        look(self.actor.block.address)
        sense(self.actor.block.address)

    def tick(self, n: int = 1) -> None:
        state, g, a = self.world.arrays.state, self.g, self.a
        for _ in range(n):
            look(self.actor.block.address)
            sense(self.actor.block.address)
            self.feel()
            state.wrenches[g.body, 3:] = self.pull
            state.n_wrenches = self.world.model.n_bodies
            grasp(self.grasping.block.address)
            before = a.palm.mean(axis=0)
            state.q[self.palms.coordinate] = state.q_hold[self.palms.coordinate]
            look(self.actor.block.address)
            sense(self.actor.block.address)
            if PRESS < g.state <= LOWER and self.there:
                state.q[self.box][:3] += a.palm.mean(axis=0) - before
                state.q[self.box.start + 2] = max(state.q[self.box.start + 2], 0.825)
            if not self.seen or self.seen[-1] != STATES[g.state]:
                self.seen.append(STATES[g.state])

    def feel(self) -> None:
        """Palms that are at the box's sides press as they are asked to; what is off the table weighs on them."""
        a, g, box = self.a, self.g, self.world.q[self.box]
        on_table = box[2] < 0.8251
        for side in range(2):
            off = abs(a.palm[side, 1] - box[1]) - 0.15
            touches = self.there and off < 1e-3 and g.state < OPEN
            a.palm_load[side] = max(2.0, g.squeeze_now_N) if touches else 0.0
            a.palm_on[side] = g.body if touches else 0
            a.palm_force[side] = -a.palm_load[side] * a.palm_out[side]
            if touches and not on_table:
                a.palm_force[side, 2] -= 0.5 * g.weight_N

    def until(self, state: str, most: int = 1500) -> None:
        for _ in range(most):
            self.tick()
            if STATES[self.g.state] == state:
                return
        raise AssertionError(f"no {state!r} in {most} ticks, but {self.seen}; {self.grasping.why}")


@pytest.mark.nojit
def test_hands_take_lift_lower_and_let_go_in_order():
    p = Puppet()
    p.g.wish = float(LIFTED)
    p.until("carry")
    assert p.g.raised == pytest.approx(1.0)
    assert p.world.q[p.box][2] == pytest.approx(0.875, abs=2e-3)
    p.pull[:] = (0.0, 4.0, 0.0)
    p.tick(20)
    assert p.world.q[p.box][1] > 0.005
    p.pull[:] = 0.0
    p.g.go_m = 0.02
    p.tick(30)
    assert 0.0 < p.g.gone_m <= 0.02
    p.g.wish = float(HELD)
    p.until("hold")
    p.g.wish = float(FREE)
    p.until("idle")
    assert p.seen == [*STATES[1:9], "hold", *STATES[9:], "idle"][: len(p.seen)]
    assert p.grasping.why == "asked"
    forget_grasp(p.grasping.block.address)
    assert p.g.squeeze_now_N == 0.0


@needs_compiler
def test_what_is_gone_or_pulled_too_hard_is_let_go():
    for fault, why in (("gone", "lost"), ("pulled", "pulled")):
        p = Puppet()
        p.g.wish = float(HELD)
        p.until("hold")
        p.tick(3)
        p.there, p.pull[:] = fault != "gone", (90.0, 0.0, 0.0) if fault == "pulled" else 0.0
        p.until("open", 12)
        assert p.grasping.why == why
        p.tick(6)
        assert p.g.squeeze_now_N == 0.0
        assert p.g.wish == FREE


@needs_compiler
def test_slip_adds_squeeze_and_no_more_than_the_limit():
    p = Puppet()
    p.g.wish = float(HELD)
    p.until("hold")
    for _ in range(40):
        p.world.arrays.state.q[p.box][0] += 1e-3  # the box slides out of the hands
        p.tick()
    assert p.g.slip_m > 0.02
    assert 20.0 + p.g.more_N == pytest.approx(60.0)


@needs_compiler
def test_joints_yield_in_the_paper_s_form():
    p = Puppet(form=JOINT_FORM)
    p.g.wish = float(HELD)
    p.until("hold")
    p.pull[:] = (10.0, 0.0, 0.0)
    before = p.a.palm.copy()
    p.tick(60)
    assert (p.a.palm[:, 0] > before[:, 0] + 1e-3).all()


@pytest.mark.nojit
def test_it_changes_its_mind_before_contact():
    p = Puppet()
    p.g.wish = float(HELD)
    p.until("approach")
    p.g.wish = float(FREE)
    p.until("idle")
    assert "close" not in p.seen


@needs_compiler
def test_the_fallen_let_go():
    p = Puppet()
    p.g.wish = float(HELD)
    p.until("hold")
    p.a.fallen = 1
    p.tick()
    assert p.grasping.why == "fallen"
    assert p.grasping.state == "idle"
