"""Registration of a headset's world: a yaw and a translation from places that both have seen.  Mobile display, 6.2."""

import math

import numpy as np
import pytest

from palpate.mobile.adapters.register import Registration, register
from palpate.mobile.adapters.source import HEAD, Pose

SQUARE = np.array([[0.0, 0.4, 0.0], [1.0, 0.4, 0.0], [1.0, 0.4, 1.0], [0.0, 0.4, 1.0]])


def moved(places, yaw, translation):
    """places turned about y by yaw, counter-clockwise seen from above, then moved."""
    c, s = math.cos(yaw), math.sin(yaw)
    return places @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]).T + translation


@pytest.mark.parametrize("n", [4, 5, 40])
def test_without_noise_any_yaw_and_translation_is_found(n):
    rng = np.random.default_rng(n)
    for yaw in [*np.linspace(-math.pi, math.pi, 25), 1e-9, -1e-9]:
        places, there = rng.uniform(-2, 2, (n, 3)), rng.uniform(-50, 50, 3)
        places[:4] = SQUARE * rng.uniform(0.2, 4.0) + rng.normal(0.0, 0.02, (4, 3))
        found = register(places, moved(places, yaw, there))
        assert math.cos(found.yaw_rad - yaw) == pytest.approx(1.0, abs=1e-14)
        assert abs(math.sin(found.yaw_rad - yaw)) < 1e-12
        assert found.translation_m == pytest.approx(there, abs=1e-12)
        assert found.rms_m < 1e-12
        assert found.warning == ""


def test_of_all_yaws_and_translations_it_leaves_the_least():
    """Least squares: any other one nearby is worse."""
    rng = np.random.default_rng(10)
    for _ in range(20):
        seen = rng.uniform(-2, 2, (6, 3))
        known = moved(seen, rng.uniform(-3, 3), rng.uniform(-5, 5, 3)) + rng.normal(0.0, 0.02, (6, 3))
        best = register(seen, known)

        def left(r, seen=seen, known=known):
            return float(np.sqrt(((r.place(seen) - known) ** 2).sum(axis=1).mean()))

        assert best.rms_m == pytest.approx(left(best), rel=1e-12)
        assert best.rms_m <= best.worst_m
        for _ in range(20):
            other = tuple(np.add(best.translation_m, rng.normal(0.0, 0.003, 3)).tolist())
            assert left(Registration(best.yaw_rad + rng.normal(0.0, 0.003), other)) > best.rms_m


def test_above_10_mm_rms_it_warns():
    """Mobile display, 6.2: four places that are off by the same length in ways that no motion explains."""
    pull = np.array([[-1.0, 0, -1.0], [1.0, 0, -1.0], [1.0, 0, 1.0], [-1.0, 0, 1.0]]) / math.sqrt(2.0)  # a scale
    for off_m, warns in ((0.0099, False), (0.0101, True)):
        found = register(SQUARE, moved(SQUARE + off_m * pull, 0.7, (1.0, 0.0, 2.0)))
        assert found.rms_m == pytest.approx(off_m, rel=1e-9)
        assert bool(found.warning) == warns
    assert "10.1 mm rms" in found.warning
    assert "\n" not in found.warning


def test_a_pose_moves_as_its_places_do():
    """The head's front (-Z of it) and its place, turned together."""
    rng = np.random.default_rng(3)
    for _ in range(30):
        yaw, there, q = float(rng.uniform(-3, 3)), rng.uniform(-2, 2, 3), rng.normal(size=4)
        q /= np.linalg.norm(q)
        r, pose = Registration(yaw, tuple(there.tolist())), Pose(HEAD, 1.0, (0.3, 1.6, -0.2), tuple(q.tolist()))
        found = r.pose(pose)
        assert found.position_m == pytest.approx(moved(np.array([pose.position_m]), yaw, there)[0], abs=1e-12)
        front = rotated(pose.quaternion, (0.0, 0.0, -1.0))
        assert rotated(found.quaternion, (0.0, 0.0, -1.0)) == pytest.approx(moved(front, yaw, 0.0), abs=1e-12)
        assert rotated(found.quaternion, (0.0, 1.0, 0.0)) == pytest.approx(
            moved(rotated(pose.quaternion, (0.0, 1.0, 0.0)), yaw, 0.0), abs=1e-12
        )


def rotated(q, v):
    """v turned by (w, x, y, z): v + 2 w u x v + 2 u x (u x v)."""
    u, v = np.array(q[1:]), np.array(v)
    return v + 2.0 * q[0] * np.cross(u, v) + 2.0 * np.cross(u, np.cross(u, v))


LINE = np.outer(np.arange(6.0), [1.0, 0.0, 0.5])


@pytest.mark.parametrize(("seen", "known", "says"), [
    (SQUARE[:3], SQUARE[:3], "3 places; a registration takes 4 or more"),
    (SQUARE, SQUARE[:3], r"places \(n, 3\) of both worlds, got \(4, 3\) and \(3, 3\)"),
    (SQUARE[:, :2], SQUARE[:, :2], "got"),
    (SQUARE * [1, 1, np.nan], SQUARE, "is not finite; leave it out"),
    (LINE, LINE, "in a line"),
    (LINE + [0, 3, 0] * (np.arange(6) % 2)[:, None], LINE, "in a line"),  # height does not help
    (SQUARE * 0.0, SQUARE, "in a line"),
    (SQUARE, SQUARE * 0.0, "display: 0 mm rms across"),
    (0.05 * SQUARE, 0.05 * SQUARE, "25 mm rms across it, 50 or more are needed"),
])  # fmt: skip
def test_places_that_say_no_yaw_are_refused_in_one_line(seen, known, says):
    with pytest.raises(ValueError, match=says) as why:
        register(seen, known)
    assert "\n" not in str(why.value)
