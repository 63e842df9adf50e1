"""How deep solids are in each other, by cases made up by hand and by shadows of corners."""

import numpy as np
import pytest

import palpate as pp
from palpate.bench import contact_engines
from palpate.bench.contact_depth import Solids
from palpate.bench.contact_scenes import BenchScene, scenes


def poses(*places) -> np.ndarray:
    return np.array([pp.Transform(R, p).matrix() for R, p in places])


def pair(kind: str) -> Solids:
    make = (lambda n: pp.models.ball(0.05, name=n)) if kind == "ball" else (lambda n: pp.models.box((0.1,) * 3, name=n))
    wall = pp.models.plane((-0.35, 0.0, 0.0), (1.0, 0.0, 0.0), name="wall")
    return Solids.of(
        BenchScene("two", 0, (make("a"), make("b"), wall, pp.models.plane()), (), ("a", "b"), moving_touch=True)
    )


I, TILT = pp.Rotation(), pp.Rotation.about((0.0, 1.0, 0.0), np.pi / 4)
CORNER = 0.05 * 2**0.5  # from the middle of a cube of 0.1 m to its edge


@pytest.mark.parametrize(
    ("kind", "a", "b", "depth"),
    [
        ("ball", (I, (0.0, 0.0, 0.05)), (I, (0.0, 0.0, 0.15)), 0.0),
        ("ball", (I, (0.0, 0.0, 0.05)), (I, (0.06, 0.0, 0.127)), 0.1 - np.hypot(0.06, 0.077)),
        ("ball", (I, (0.0, 0.0, 0.047)), (I, (0.0, 0.0, 0.3)), 0.003),  # in the floor
        ("ball", (I, (-0.303, 0.0, 0.2)), (I, (0.0, 0.0, 0.3)), 0.003),  # in the wall
        ("box", (I, (0.0, 0.0, 0.05)), (I, (0.0, 0.0, 0.15)), 0.0),
        ("box", (I, (0.0, 0.0, 0.05)), (I, (0.03, 0.02, 0.147)), 0.003),  # face in face
        ("box", (I, (0.0, 0.0, 0.05)), (I, (0.098, 0.09, 0.1)), 0.002),  # side by side, the least way out counts
        ("box", (I, (0.0, 0.0, 0.05)), (TILT, (0.0, 0.0, 0.1 + CORNER - 0.004)), 0.004),  # edge in face
        ("box", (TILT, (0.0, 0.0, CORNER - 0.004)), (I, (1.0, 0.0, 1.0)), 0.004),  # edge in the floor
        ("box", (TILT, (0.0, 0.0, 1.0)),  # edge in edge, crossed
         (pp.Rotation.about((1.0, 0.0, 0.0), np.pi / 4), (0.0, 0.0, 1.0 + 2 * CORNER - 0.005)), 0.005),
        ("box", (TILT, (0.0, 0.0, 1.0)),  # near, and bounding spheres meet, but apart
         (pp.Rotation.about((1.0, 0.0, 0.0), np.pi / 4), (0.0, 0.0, 1.0 + 2 * CORNER + 0.005)), 0.0),
    ],
)  # fmt: skip
def test_penetration_is_what_was_made_up(kind, a, b, depth):
    assert pair(kind).deepest(poses(a, b)) == pytest.approx(depth, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_depth_of_two_boxes_is_the_least_overlap_of_their_shadows_in_any_direction(seed):
    """Searched among all directions, which knows no axes: at random, then ever nearer to the best."""
    rng = np.random.default_rng(seed)
    R = [pp.Rotation.about(tuple(rng.normal(size=3).tolist()), float(rng.uniform(0, 3))) for _ in range(2)]
    way = rng.normal(size=3)
    centres = [
        np.array([0.0, 0.0, 2.0]),
        np.array([0.0, 0.0, 2.0]) + rng.uniform(0.05, 0.08) * way / np.linalg.norm(way),
    ]
    corners = np.array(np.meshgrid(*[(-0.05, 0.05)] * 3)).reshape(3, -1)
    a, b = (turn.matrix() @ corners + at[:, None] for turn, at in zip(R, centres, strict=True))
    best, spread, least = np.zeros(3), 1.0, np.inf
    for k in range(60):
        ways = best + spread * rng.normal(size=(500, 3))
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        overlap = (ways @ a).max(axis=1) - (ways @ b).min(axis=1)
        if overlap.min() < least:
            best, least = ways[overlap.argmin()], overlap.min()
        spread = 1.0 if k < 10 else 0.8 * spread
    depth = pair("box").deepest(poses(*((turn, tuple(at)) for turn, at in zip(R, centres, strict=True))))
    assert depth > 0.0
    assert depth == pytest.approx(least, abs=1e-5)


def test_soles_are_measured_on_the_floor_and_mixed_solids_are_refused():
    scene = next(scene for scene in scenes() if scene.name == "hrp2")
    solids = Solids.of(scene)
    assert len(solids.body) == 32
    X = contact_engines.Ours(scene).poses(solids.bodies)
    before = solids.deepest(X)
    X[:, 2, 3] -= 0.01
    assert solids.deepest(X) == pytest.approx(before + 0.01, abs=1e-3)
    with pytest.raises(ValueError, match="spheres among boxes"):
        Solids.of(BenchScene("mixed", 0, (pp.models.box(), pp.models.ball()), (), (), moving_touch=True))
