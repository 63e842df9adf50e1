"""Contacts that their joints can hardly open or close: a normal through the centre of the joints between."""

import numpy as np
import pytest

import palpate as pp

LEVERS = [0.0, 1e-17, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.1]


def pressed(lever, kind, deep=0.02, gravity=(0.0, 0.0, -9.81)):
    """A link that turns about the origin, overlapping a fixed ball `deep`, the normal passing by the joint at `lever`.

    The ball at (0.3, 0, 0) presses along x; the joint's axes pass `lever` above that line.
    """
    bead = pp.Shape("sphere", (0.05,), pp.Transform(p=(0.2 + deep, 0.0, -lever)))
    link = pp.Body("link", 1.0, (0.1, 0.0, 0.0), (0.01, 0.01, 0.01), shapes=(bead,))
    joint = pp.Joint("joint", kind, "world", "link", **({"axis": (0.0, 1.0, 0.0)} if kind == "revolute" else {}))
    ball = pp.models.ball(0.05, at=(0.3, 0.0, -lever), fixed=True)
    return pp.World([pp.MultiBody("arm", (link,), (joint,)), ball], gravity=gravity)


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
@pytest.mark.parametrize("lever", LEVERS)
def test_taking_out_overlap_never_throws_joints_about(kind, lever):
    """With no lever the overlap stays; with a small one it goes slowly; the joint turns by no more than a few degrees
    a step, and gains no velocity from it."""
    world = pressed(lever, kind, gravity=(0.0, 0.0, 0.0))
    for _ in range(200):
        before = world.q.copy()
        world.step()
        turned = np.linalg.norm(pp.difference(world.model, before, world.q))
        assert turned < 0.1
        assert np.abs(world.v).max() < 1e-9
    if lever >= 0.01:
        assert max((-c.gap for c in world.contacts), default=0.0) < 0.019  # it does come out


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("speed", [0.0, 1.0, -1.0])
def test_a_contact_that_nothing_can_open_neither_stops_nor_feeds_a_joint(kind, lever, speed):
    """Energy never rises, and where the lever is rounding the joint swings as if the contact were not there."""
    world, free = pressed(lever, kind, deep=-1e-4), pressed(lever, kind, deep=-0.2)
    for w in (world, free):
        w.v[1 if kind == "spherical" else 0] = speed
    energy = world.energy.total
    for _ in range(20):
        world.step()
        free.step()
        assert world.energy.total <= energy + 1e-3 * (1.0 + abs(energy))
        assert np.isfinite(world.q).all()
    if lever <= 1e-12:
        friction = 0.0 if not world.contacts else max(np.linalg.norm(c.force) for c in world.contacts)
        assert friction == pytest.approx(0.0, abs=1e-9) or world.v == pytest.approx(free.v, abs=0.3)


@pytest.mark.parametrize("seed", range(4))
def test_joints_that_lie_on_each_other_are_never_thrown(seed):
    """A floating HRP-2 whose postures overlap by chance: no joint jumps while it comes apart."""
    rng = np.random.default_rng(seed)
    world = pp.World(pp.models.hrp2(), gravity=(0.0, 0.0, 0.0))
    model = world.model
    for joint in model.description.joints:
        if joint.kind == "revolute":
            where = model.q_index[joint.name]
            world.q[where] = rng.uniform(np.maximum(model.lower[where], -1.5), np.minimum(model.upper[where], 1.5))
    for _ in range(150):
        before = world.q.copy()
        world.step()
        assert np.abs(pp.difference(model, before, world.q)).max() < 0.2
        assert np.abs(world.v).max() < 1e-6 or len(world.contacts) > 0
