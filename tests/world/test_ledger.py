"""The account of energy closes: works of actuators, hands, contacts and joints, and what the step itself did."""

import numpy as np
import pytest

import palpate as pp


def test_work_of_a_hand_becomes_kinetic_energy():
    """A free body pushed in weightlessness: F times the way is what it has, to rounding; nothing else did work."""
    world = pp.World(pp.models.box(mass=2.0), gravity=(0, 0, 0), ledger=True)
    for _ in range(500):
        world.apply("box", force=(3.0, 1.0, 0.0), torque=(0.0, 0.0, 0.002))
        world.step()
    account = world.ledger
    assert account.hands == pytest.approx(account.kinetic, rel=1e-9)
    assert account.actuators == account.contacts == account.joints == 0.0
    assert abs(account.step) < 1e-9 * account.hands


def test_friction_takes_what_a_sliding_box_had():
    world = pp.World([pp.models.box(mass=2.0, at=(0, 0, 0.05)), pp.models.plane()], ledger=True)
    world.v[3] = 1.0
    world.step(1000)
    account = world.ledger
    assert account.contacts == pytest.approx(-1.0, rel=2e-2)  # 1/2 m v^2, and the weight's push at each step
    assert account.kinetic < 1e-9
    assert account.step <= 1e-6


def test_actuators_account_for_a_swinging_arm():
    """A driven, damped arm: change of energy is the actuators' work, the step's own part falls with dt."""

    def error(dt):
        world = pp.World(pp.models.puma560(), dt=dt, ledger=True)
        world.hold(200.0, 20.0, q=world.q + 0.3)
        world.step(round(0.3 / dt))
        account = world.ledger
        assert sum(account.by_joint.values()) == pytest.approx(account.actuators)
        return abs(account.step), abs(account.actuators)

    coarse, work = error(1e-3)
    fine, _ = error(2.5e-4)
    assert coarse < 0.05 * work
    assert fine < 0.5 * coarse


def test_contacts_between_tumbling_bodies_only_take_energy():
    """Boxes dropped on each other without restitution: the contacts' account only falls.

    A body that turns over an edge meets each step with the edge's velocity of the step before, of first order in dt:
    what contacts give back that way stays below 1e-4 of what they take.
    """
    boxes = [pp.models.box(at=(0.03 * i, 0.02 * i, 0.06 + 0.13 * i), name=f"b{i}") for i in range(4)]
    world = pp.World([*boxes, pp.models.plane()], ledger=True)
    lowest = 0.0
    for _ in range(600):
        world.step()
        now = world.ledger.contacts
        assert now <= lowest + 1e-4 * abs(lowest) + 1e-9
        lowest = min(lowest, now)
    assert lowest < -1.0


def test_a_world_without_a_ledger_says_so():
    with pytest.raises(ValueError, match="ledger=True"):
        _ = pp.World(pp.models.ball()).ledger


def test_a_snapshot_keeps_the_account():
    world = pp.World([pp.models.ball(at=(0, 0, 0.2)), pp.models.plane()], ledger=True)
    world.step(100)
    snap, before = world.snapshot(), world.ledger
    world.step(100)
    world.restore(snap)
    assert world.ledger == before
    assert np.isfinite(before.step)
