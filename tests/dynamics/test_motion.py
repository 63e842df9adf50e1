"""Motion over time and in position: acceptance items 8, 11, 12, orders of convergence, inverse kinematics."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from mechanisms import random_state, random_tree, relative

import palpate as pp
from palpate import jit
from palpate.bench.peers.pinocchio import Mirror

PUMA_DH = [  # alpha, a, d (reference 5.2, modified)
    (0.0, 0.0, 0.0), (-np.pi / 2, 0.0, 0.2435), (0.0, 0.4318, -0.0934),
    (np.pi / 2, -0.0203, 0.4331), (-np.pi / 2, 0.0, 0.0), (np.pi / 2, 0.0, 0.0),
]  # fmt: skip


def semi_implicit(model, q, v, dt, tau):
    v = v + dt * pp.forward_dynamics(model, q, v, tau(q, v))
    return pp.integrate(model, q, v, dt), v


def runge_kutta(model, q, v, dt, tau):
    """Classical fourth order in exponential coordinates about q: u' = v to the order that the step keeps (RKMK)."""

    def rate(u, w):
        here = pp.integrate(model, q, u, 1.0)
        return inverse_left_jacobian(model, u, w), pp.forward_dynamics(model, here, w, tau(here, w))

    zero = np.zeros(model.nv)
    k1, a1 = rate(zero, v)
    k2, a2 = rate(0.5 * dt * k1, v + 0.5 * dt * a1)
    k3, a3 = rate(0.5 * dt * k2, v + 0.5 * dt * a2)
    k4, a4 = rate(dt * k3, v + dt * a3)
    return pp.integrate(model, q, dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4), 1.0), v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def inverse_left_jacobian(model, u, w):
    """u' such that exp(u) moves with body velocity w: u' = w + [u, w]/2 + [u, [u, w]]/12 per joint."""
    out = w.copy()
    for s in model.v_index.values():
        n = s.stop - s.start
        joint = next(name for name, t in model.v_index.items() if t == s)
        kind = {j.name: j.kind for j in model.description.joints}[joint]
        if kind == "spherical":
            c = np.cross(u[s], w[s])
            out[s] = w[s] + 0.5 * c + np.cross(u[s], c) / 12
        elif kind == "free":

            def bracket(a, b):
                return np.r_[np.cross(a[:3], b[:3]), np.cross(a[:3], b[3:]) + np.cross(a[3:], b[:3])]

            c = bracket(u[s], w[s])
            out[s] = w[s] + 0.5 * c + bracket(u[s], c) / 12
        else:
            assert n >= 1
    return out


def simulate(model, q, v, step, dt, seconds, tau=None):
    tau = tau or (lambda q, v: np.zeros(model.nv))
    for _ in range(round(seconds / dt)):
        q, v = step(model, q, v, dt, tau)
    return q, v


@pytest.mark.parametrize(("step", "limit"), [(runge_kutta, 1e-9), (semi_implicit, 5e-3)])
def test_item_11_energy_of_the_free_swinging_puma_stays(step, limit):
    model = pp.compile(pp.models.puma560())
    q, v = model.neutral(), np.zeros(6)
    start, worst, largest = pp.energy(model, q, v).total, 0.0, 0.0
    for _ in range(2000):
        q, v = step(model, q, v, 1e-3, lambda q, v: np.zeros(6))
        energy = pp.energy(model, q, v)
        worst, largest = max(worst, abs(energy.total - start)), max(largest, energy.kinetic)
    assert largest > 10.0
    assert worst / largest < limit


@pytest.mark.skipif(jit.DISABLED, reason="a second of it takes too long as plain Python")
@pytest.mark.parametrize(("integrator", "limit"), [("runge-kutta", 1e-6), ("semi-implicit", 1e-3)])
@pytest.mark.parametrize("seed", [12, 13, 14])
def test_item_12_the_world_keeps_the_momentum_of_the_floating_human(integrator, limit, seed):
    """One second without gravity, joint damping 0.5 N m s/rad, from random joint speeds; nothing to touch."""
    human = pp.models.human()
    bodies = tuple(replace(b, shapes=()) for b in human.bodies)
    joints = tuple(
        j if j.kind in ("free", "fixed") else replace(j, damping=0.5, lower=-np.inf, upper=np.inf) for j in human.joints
    )
    world = pp.World(replace(human, bodies=bodies, joints=joints), gravity=(0, 0, 0), integrator=integrator)
    world.q = world.model.posture("start")
    world.v = np.random.default_rng(seed).normal(scale=0.5, size=world.model.nv)
    before = pp.momentum(world.model, world.q, world.v)
    for _ in range(100):
        world.step(10)
        assert world.report.rows == 0  # a step with rows is of first order
    after = pp.momentum(world.model, world.q, world.v)
    for part in (slice(0, 3), slice(3, 6)):
        assert np.linalg.norm(after[part] - before[part]) / np.linalg.norm(before[part]) < limit


def rate_of_momentum(model, q, v, a, eps=3e-3):
    """dh/dt (6,) along q' = v, v' = a, from `momentum` by central differences of eighth order."""

    def along(t):
        return pp.momentum(model, pp.integrate(model, q, v, t), v + t * a)

    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return sum(c * (along(k * eps) - along(-k * eps)) for k, c in enumerate(weights, start=1)) / eps


def test_item_12_rate_of_momentum_under_internal_torques_is_zero():
    """|dh_G/dt| < 1e-10 from the accelerations of the articulated-body algorithm, without gravity."""
    rng = np.random.default_rng(13)
    model = pp.compile(pp.models.human(), gravity=(0, 0, 0))
    for _ in range(5):
        q, v, tau = random_state(rng, model)
        tau[:6] = 0.0
        a = pp.forward_dynamics(model, q, v, tau)
        assert np.abs(rate_of_momentum(model, q, v, a)).max() < 1e-10
        a[-1] += 1e-6  # one part in 1e9 of a wrist's acceleration is seen
        assert np.abs(rate_of_momentum(model, q, v, a)).max() > 1e-10


@pytest.mark.parametrize(("step", "order"), [(semi_implicit, 1), (runge_kutta, 4)])
def test_halving_the_step_divides_the_error_by_two_to_the_order(step, order):
    rng = np.random.default_rng(14)
    model = pp.compile(random_tree(rng, ["revolute", "spherical", "prismatic"], 4, root="free"))
    q, v, _ = random_state(rng, model, speed=0.3)
    ends = [simulate(model, q, v, step, dt, 0.16, None) for dt in (0.02, 0.01, 0.005)]
    errors = [np.linalg.norm(np.r_[pp.difference(model, a[0], b[0]), a[1] - b[1]])
              for a, b in pairwise(ends)]  # fmt: skip
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)


def test_item_8_modified_dh_kinematics_equal_pinocchio():
    rng = np.random.default_rng(15)
    model = pp.compile(pp.from_dh([pp.DH(alpha=al, a=a, d=d) for al, a, d in PUMA_DH]))
    mirror = Mirror(model)
    import pinocchio as pin

    for _ in range(50):
        q = rng.uniform(-3, 3, size=6)
        pin.forwardKinematics(mirror.pin, mirror.data, q)
        poses = pp.forward_kinematics(model, q)
        for row, name in enumerate(model.body_names[1:], start=1):
            joint, X = mirror.place[name]
            assert np.abs(poses[row] - (mirror.data.oMi[joint] * X).homogeneous).max() < 1e-12


def test_item_8_inverse_kinematics_follows_the_line_within_1e_9():
    """The tool line of reference 5.3 in 41 poses, elbow up, inside the joint ranges."""
    model = pp.compile(pp.models.puma560())
    R = pp.Rotation.from_matrix([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    q = np.array([0, -0.96, 3.74, 0, -1.2, 0])
    for n in range(41):
        s = n / 40
        x = 0.50 + 0.38 * (10 * s**3 - 15 * s**4 + 6 * s**5)  # minimum jerk
        target = pp.Transform(R, (x, 0.1501, -0.05))
        fit = pp.inverse_kinematics(model, "tool", target, q)
        q = fit.q
        assert fit.converged
        assert np.abs(pp.forward_kinematics(model, q)[model.body("tool")] - target.matrix()).max() < 1e-9
        assert (q >= model.lower).all()
        assert (q <= model.upper).all()
        if n == 0:
            assert np.abs(np.degrees(q) - (0, -55.335, 217.157, 0, -71.822, 0)).max() < 2e-3
    assert np.abs(np.degrees(q) - (0, -21.807, 143.522, 0, -31.715, 0)).max() < 2e-3


def test_inverse_kinematics_reports_failure_and_keeps_the_limits():
    model = pp.compile(pp.models.puma560())
    far = pp.inverse_kinematics(model, "tool", (5.0, 0.0, 0.0), model.neutral())
    assert not far.converged
    assert far.error > 1.0
    assert (far.q >= model.lower).all()
    assert (far.q <= model.upper).all()


def test_inverse_kinematics_by_position_and_of_a_point_on_a_floating_body():
    rng = np.random.default_rng(16)
    human = pp.compile(pp.models.human())
    q, _, _ = random_state(rng, human)
    point, target = (0.02, 0.01, -0.05), (0.4, 0.3, 1.2)
    fit = pp.inverse_kinematics(human, "hand_r", target, q, at_body=point)
    assert fit.converged
    X = pp.forward_kinematics(human, fit.q)[human.body("hand_r")]
    assert np.abs(X[:3, :3] @ point + X[:3, 3] - target).max() < 1e-9


def test_inverse_kinematics_reaches_random_reachable_poses():
    rng = np.random.default_rng(17)
    model = pp.compile(pp.models.puma560())
    found = 0
    for _ in range(50):
        goal = rng.uniform(model.lower, model.upper)
        target = pp.forward_kinematics(model, goal)[model.body("tool")]
        seed = np.clip(goal + rng.normal(scale=0.3, size=6), model.lower, model.upper)
        fit = pp.inverse_kinematics(model, "tool", target, seed)
        found += fit.converged
        if fit.converged:
            assert relative(pp.forward_kinematics(model, fit.q)[model.body("tool")], target) < 1e-9
    assert found >= 45
