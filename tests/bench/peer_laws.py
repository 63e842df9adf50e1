"""Laws that every peer of `palpate bench contact` keeps."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import palpate as pp
from palpate.bench import contact, contact_engines
from palpate.bench.contact_scenes import BenchScene, Phase


def moves_a_solid_as_we_do(peer: Callable[[BenchScene], Any], seed: int) -> None:
    """Centre of mass off the origin, any inertia, pushed at its origin as it falls and turns."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3))
    second = A @ A.T  # of its mass about its centre: what has one obeys the triangle inequalities
    inertia = 0.01 * (np.trace(second) * np.eye(3) - second)
    box = pp.models.box((0.2, 0.2, 0.1), mass=4.0, at=(0.0, 0.0, 5.0))
    body = replace(box.bodies[0], com=(0.03, -0.02, 0.05), inertia=tuple(map(tuple, inertia.tolist())))
    scene = BenchScene("any", 0, (replace(box, bodies=(body,)), pp.models.plane()), (), ("box",))
    theirs, ours = peer(scene), contact_engines.Ours(scene)
    for engine in (theirs, ours):
        contact.timed(engine, Phase("pushed", 100, "box", (20.0, 10.0, 60.0), 50))
    turned = np.abs(ours.poses(["box"])[0, :3, :3] - np.eye(3)).max()
    assert turned > 0.01
    np.testing.assert_allclose(theirs.poses(["box"]), ours.poses(["box"]), atol=0.02 * turned)
