"""Many throws and pushes of one block among walls, each with laws of its own, in one compiled loop."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from palpate.haptics.contact_laws import SETTINGS, FrictionLaw, KeeperLaw, WallLaw, find_contact_law
from palpate.jit import Block, Struct, block_loader, entry
from palpate.model.model import Floats1, Floats2, Ints1
from palpate.planar.bodies.rooms import enclosure
from palpate.planar.bodies.stages import contact_stage, motion_stage, put_bodies
from palpate.planar.bodies.tables import HAND, NONE, load_bodies
from palpate.planar.bodies.world import IMPACTS, PlanarWorld


class Trials(Struct):
    """What is tried, one row each, and what came of it."""

    start: Floats2  # (N, 6) X, v
    push: Floats2  # (N, 3) wrench of a hand that is always there
    wall: Ints1  # addresses, 0: none
    friction: Ints1
    keeper: Ints1
    wall_setting: Floats2
    friction_setting: Floats2
    keeper_setting: Floats2
    impulse: Ints1
    bounded: Ints1
    restitution: Floats1
    impact: Ints1
    audit: Floats1  # worst of invariant 1
    created: Floats1  # most that impacts and contacts had given while nothing touched, over what was put in
    struck: Floats1  # most that impulses had given, over the same
    fastest: Floats1  # most kinetic energy while nothing touched, over what was put in
    touches: Ints1  # steps with a contact
    faults: Ints1


load = block_loader((Trials, False))


@entry("intp, intp, float64, intp")
def run_trials(address, world, dt, steps):
    (t,) = load(address)
    _polygons, motion, laws, contacts, audit, rules = load_bodies(world)
    for k in range(t.wall.shape[0]):
        for i in range(3):
            motion.X[1, i], motion.v[1, i] = t.start[k, i], t.start[k, 3 + i]
            motion.applied[HAND * motion.X.shape[0] + 1, i] = t.push[k, i]
        for edge in range(laws.wall.shape[0]):
            laws.wall[edge], laws.friction[edge], laws.keeper[edge] = t.wall[k], t.friction[k], t.keeper[k]
            for i in range(SETTINGS):
                laws.wall_setting[edge, i] = t.wall_setting[k, i]
                laws.friction_setting[edge, i] = t.friction_setting[k, i]
                laws.keeper_setting[edge, i] = t.keeper_setting[k, i]
            laws.impulse[edge], laws.bounded[edge] = t.impulse[k], t.bounded[k]
            laws.restitution[edge] = t.restitution[k]
        rules.impact = t.impact[k]
        put_bodies(world)
        given, worked = audit.kinetic_start, 0.0
        for _ in range(steps):
            contact_stage(world, dt)
            motion_stage(world, dt)
            given += abs(audit.work[HAND] - worked)
            worked = audit.work[HAND]
            free = True
            for row in range(contacts.count):
                free = free and contacts.state[row] == NONE
            t.struck[k] = max(t.struck[k], audit.impulses / given)
            t.faults[k] += contacts.fault != 0
            if free:
                t.created[k] = max(t.created[k], (audit.impulses + audit.contacts) / given)
                t.fastest[k] = max(t.fastest[k], audit.kinetic / given)
            else:
                t.touches[k] += 1
        t.audit[k] = audit.worst


class Laws(NamedTuple):
    """By name, with settings."""

    wall: str = "seh"
    wall_settings: Mapping[str, float] = MappingProxyType({})
    friction: str | None = None
    friction_settings: Mapping[str, float] = MappingProxyType({})
    keeper: str | None = None
    keeper_settings: Mapping[str, float] = MappingProxyType({})
    impact: str = "poisson"
    impulse: bool = True
    restitution: float = 0.5
    bounded: bool = True


def throws(choices, seconds, rng, rate_hz=500.0, pushed=0.3):
    """The Trials of one random throw for each of `choices`; some of them pushed all the time."""
    N = len(choices)
    kinds = {"wall": WallLaw, "friction": FrictionLaw, "keeper": KeeperLaw}
    known, columns = {}, {}
    for name, kind in kinds.items():
        address, settings = np.zeros(N, dtype=np.int64), np.zeros((N, SETTINGS))
        for k, laws in enumerate(choices):
            which, given = getattr(laws, name), getattr(laws, name + "_settings")
            if which is not None:
                if (name, which) not in known:
                    known[name, which] = find_contact_law(kind, which)
                law = known[name, which]
                address[k], settings[k] = law.address, law.row(**given)
        columns |= {name: address, name + "_setting": settings}
    start = rng.uniform(-1, 1, (N, 6)) * [0.08, 0.06, np.pi, 1.0, 1.0, 8.0]
    push = rng.uniform(-1, 1, (N, 3)) * [6.0, 6.0, 0.1] * (rng.uniform(size=(N, 1)) < pushed)
    trials = Trials(
        start=start, push=push, **columns, impulse=np.array([int(c.impulse) for c in choices]),
        bounded=np.array([int(c.bounded) for c in choices]), restitution=np.array([c.restitution for c in choices]),
        impact=np.array([IMPACTS[c.impact] for c in choices]), touches=np.zeros(N, dtype=np.int64),
        faults=np.zeros(N, dtype=np.int64), **{name: np.zeros(N) for name in ("audit", "created", "struck", "fastest")},
    )  # fmt: skip
    world, block = PlanarWorld(enclosure(), rate_hz=rate_hz), Block(trials)
    run_trials(block.address, world.block.address, world.dt_s, round(seconds * rate_hz))
    assert world.contacts.lost == 0
    return trials
