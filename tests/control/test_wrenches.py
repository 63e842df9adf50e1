"""Forces on what is held, as forces on the wrists: avatars.md 10.25, articulated-haptics.md 33."""

import numpy as np
import pytest

from palpate.control.grasp.wrenches import wrist_wrenches

pytestmark = pytest.mark.nojit


def skew(r):
    x, y, z = r
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def grasp_matrix(point, wrists):
    """G of the reference, (6, 12): columns f1, n1, f2, n2."""
    one, zero = np.eye(3), np.zeros((3, 3))
    return np.block([[one, zero, one, zero], [skew(wrists[0] - point), one, skew(wrists[1] - point), one]])


def cases(n=200):
    """Wrists near and far from each other and from the point, at one place, and forces from 1 mN to 1 kN."""
    rng = np.random.default_rng(20)
    for k in range(n):
        wrists = rng.normal(size=(2, 3)) * 10.0 ** rng.uniform(-3, 1)
        if k % 10 == 0:
            wrists[1] = wrists[0]
        point = wrists.mean(axis=0) + rng.normal(size=3) * 10.0 ** rng.uniform(-3, 0.5)
        yield rng.normal(size=6) * 10.0 ** rng.uniform(-3, 3), point, wrists


def test_two_wrists_do_together_what_was_asked_of_the_object():
    """avatars.md 10.25 and articulated-haptics.md 33: residual < 1e-12, of what is asked and its levers."""
    for wrench, point, wrists in cases():
        found = wrist_wrenches(wrench[:3], wrench[3:], point, wrists).ravel()
        G = grasp_matrix(point, wrists)
        assert np.abs(G @ found - wrench).max() < 1e-12 * max(1.0, np.abs(G).max() ** 2 * np.abs(wrench).max())


def test_it_is_the_smallest_pair_of_wrenches_that_does():
    for wrench, point, wrists in cases():
        found = wrist_wrenches(wrench[:3], wrench[3:], point, wrists).ravel()
        expected = np.linalg.pinv(grasp_matrix(point, wrists)) @ wrench
        assert found == pytest.approx(expected, abs=1e-9 * max(1.0, np.abs(expected).max()))


def test_a_squeeze_changes_no_net_wrench_and_presses_along_the_line_between_the_wrists():
    """avatars.md 10.25."""
    for wrench, point, wrists in cases():
        without = wrist_wrenches(wrench[:3], wrench[3:], point, wrists)
        more = wrist_wrenches(wrench[:3], wrench[3:], point, wrists, squeeze_N=20.0) - without
        assert np.abs(grasp_matrix(point, wrists) @ more.ravel()).max() < 1e-11 * max(1.0, np.abs(wrists).max()) * 20.0
        if (wrists[0] != wrists[1]).any():
            way = (wrists[1] - wrists[0]) / np.linalg.norm(wrists[1] - wrists[0])
            scale = max(1.0, np.abs(without).max())
            assert more[0, :3] == pytest.approx(20.0 * way, abs=1e-12 * scale)
            assert more[1, :3] == pytest.approx(-20.0 * way, abs=1e-12 * scale)
        assert not more[:, 3:].any()


def test_one_wrist_bears_the_force_and_its_moment():
    """articulated-haptics.md 33: agrees with r x f."""
    for wrench, point, wrists in cases():
        f, n = wrench[:3], wrench[3:]
        ((*force, nx, ny, nz),) = wrist_wrenches(f, n, point, wrists[:1])
        assert force == pytest.approx(f, abs=0.0)
        scale = max(1.0, np.abs(point).max(), np.abs(wrists[0]).max()) * max(1.0, np.abs(wrench).max())
        assert [nx, ny, nz] == pytest.approx(n + np.cross(point - wrists[0], f), abs=1e-12 * scale)


@pytest.mark.parametrize("wrists", [np.zeros((3, 3)), np.zeros(3), np.full((2, 3), np.nan)])
def test_wrists_that_are_no_points_are_refused(wrists):
    with pytest.raises(ValueError, match="one or two points"):
        wrist_wrenches((0, 0, 1), (0, 0, 0), (0, 0, 0), wrists)
