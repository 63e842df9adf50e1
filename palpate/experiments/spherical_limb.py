"""A limb on a shoulder in several descriptions, for `joint-parameters`: by formulas, and as models of the library.

R  rotation of the limb to world axes;  w  its angular velocity in its own axes;  p  parameters of R
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

import palpate as pp

GRAVITY_M_S2 = 9.81
MASS_KG, COM_M = 2.032, 0.1634  # the upper arm; its centre of mass below the shoulder
AT_COM = (0.0132, 0.0118, 0.0041)  # [kg m^2]
INERTIA = np.array([AT_COM[0] + MASS_KG * COM_M**2, AT_COM[1] + MASS_KG * COM_M**2, AT_COM[2]])
SECONDS = 1.2
DAMPING = 0.5  # [N m s/rad] of each joint, as reference 6.5 has it

Floats = np.ndarray
Rate = Callable[[Floats], Floats]


# ---- the limb: rotation R to world axes, angular velocity w in its own


def acceleration(R: Floats, w: Floats) -> Floats:
    """I w' = tau - w x I w, tau of the weight about the shoulder."""
    down = -GRAVITY_M_S2 * R[2]  # gravity in limb axes
    tau = MASS_KG * np.array([COM_M * down[1], -COM_M * down[0], 0.0])  # (0, 0, -c) x m g
    return (tau - cross(w, INERTIA * w)) / INERTIA


def cross(a: Floats, b: Floats) -> Floats:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def energy(R: Floats, w: Floats) -> float:
    return float(0.5 * w @ (INERTIA * w) - MASS_KG * GRAVITY_M_S2 * COM_M * R[2, 2])


def of_quaternion(p: Floats) -> Floats:
    w, x, y, z = p
    return np.array([
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ])  # fmt: skip


def quaternion_rate(p: Floats, w: Floats) -> Floats:
    """1/2 p (0, w)."""
    return 0.5 * np.array(
        [
            -p[1] * w[0] - p[2] * w[1] - p[3] * w[2],
            p[0] * w[0] + p[2] * w[2] - p[3] * w[1],
            p[0] * w[1] + p[3] * w[0] - p[1] * w[2],
            p[0] * w[2] + p[1] * w[1] - p[2] * w[0],
        ]
    )


def of_euler(p: Floats) -> Floats:
    """R_z(p0) R_y(p1) R_x(p2)."""
    (ca, sa), (cb, sb), (cc, sc) = ((math.cos(x), math.sin(x)) for x in p)
    return np.array([
        [ca * cb, ca * sb * sc - sa * cc, ca * sb * cc + sa * sc],
        [sa * cb, sa * sb * sc + ca * cc, sa * sb * cc - ca * sc],
        [-sb, cb * sc, cb * cc],
    ])  # fmt: skip


def euler_rate(p: Floats, w: Floats) -> Floats:
    cb, sb, cc, sc = math.cos(p[1]), math.sin(p[1]), math.cos(p[2]), math.sin(p[2])
    a = (w[1] * sc + w[2] * cc) / cb
    return np.array([a, w[1] * cc - w[2] * sc, w[0] + a * sb])


def of_vector(p: Floats) -> Floats:
    return pp.Rotation.exp(p).matrix()


def vector_rate(p: Floats, w: Floats) -> Floats:
    """r' = w + r x w/2 + (1 - (t/2) cot(t/2))/t^2 r x (r x w),  t = |r|."""
    t = math.sqrt(float(p @ p))
    k = (1.0 - 0.5 * t / math.tan(0.5 * t)) / (t * t) if t > 1e-4 else 1.0 / 12.0
    b = cross(p, w)
    return w + 0.5 * b + k * cross(p, b)


def within_half_a_turn(p: Floats) -> Floats:
    t = math.sqrt(float(p @ p))
    return p * (1.0 - 2.0 * math.pi / t) if t > math.pi else p


def normalised(p: Floats) -> Floats:
    return p / math.sqrt(float(p @ p))


def same(p: Floats) -> Floats:
    return p


def from_matrix(name: str, R: Floats) -> Floats:
    rotation = pp.Rotation.from_matrix(R)
    if name == "quaternion":
        return np.array(rotation.wxyz)
    if name == "rotation vector":
        return np.array(rotation.log())
    return np.array(
        [math.atan2(R[1, 0], R[0, 0]), math.asin(max(-1.0, min(1.0, -R[2, 0]))), math.atan2(R[2, 1], R[2, 2])]
    )


# parameters -> R, their rate, and what is done after every step
KINDS: dict[str, tuple[Rate, Callable[[Floats, Floats], Floats], Rate]] = {
    "quaternion": (of_quaternion, quaternion_rate, normalised),
    "Euler angles": (of_euler, euler_rate, same),
    "rotation vector": (of_vector, vector_rate, within_half_a_turn),
}


def runge_kutta(rate: Rate, x: Floats, h: float) -> Floats:
    a = rate(x)
    b = rate(x + 0.5 * h * a)
    c = rate(x + 0.5 * h * b)
    return x + h / 6.0 * (a + 2.0 * b + 2.0 * c + rate(x + h * c))


def fall(
    name: str, R: Floats, w: Floats, h: float, seconds: float = SECONDS, settle: bool = True
) -> tuple[Floats, Floats, float]:
    """(R, w) at the end, and the largest change of energy relative to m g c; fourth order, steps of h."""
    matrix, rate, tidy = KINDS[name]
    n = len(from_matrix(name, R))

    def derivative(x: Floats) -> Floats:
        return np.concatenate([rate(x[:n], x[n:]), acceleration(matrix(x[:n]), x[n:])])

    x, start, worst = np.concatenate([from_matrix(name, R), w]), energy(R, w), 0.0
    with np.errstate(all="ignore"):
        for _ in range(round(seconds / h)):
            x = runge_kutta(derivative, x, h)
            if settle:
                x[:n] = tidy(x[:n])
            if not np.isfinite(x).all() or np.abs(x[n:]).max() > 1e4:
                return np.full((3, 3), np.nan), x[n:], math.inf
            worst = max(worst, abs(energy(matrix(x[:n]), x[n:]) - start))
    return matrix(x[:n]), x[n:], worst / (MASS_KG * GRAVITY_M_S2 * COM_M)


def angle_between(A: Floats, B: Floats) -> float:
    """[rad], half a turn if either is no rotation any more."""
    if not (np.isfinite(A).all() and np.isfinite(B).all()):
        return math.pi
    return 2.0 * math.asin(min(1.0, float(np.linalg.norm(A - B)) / math.sqrt(8.0)))


def past_lock(degrees: float) -> Floats:
    """An arm raised to the front, 30 deg above the horizontal, and rolled about its own axis by this angle.

    It falls past the horizontal, where the first and the last of the angles (z, y, x) turn about one line, at a
    distance of about 0.6 of the roll.
    """
    up, roll = (
        pp.Rotation.about((0.0, 1.0, 0.0), math.radians(-120.0)),
        pp.Rotation.about((1.0, 0.0, 0.0), math.radians(degrees)),
    )
    return (up @ roll).matrix()


ASIDE = pp.Rotation.about((0.0, 1.0, 0.0), -0.9).matrix()
CASES = {
    "clear of gimbal lock": (ASIDE, np.array([0.0, 0.5, 1.0])),
    "past gimbal lock": (past_lock(1.0), np.zeros(3)),
    "tumbling": (ASIDE, np.array([3.0, 6.0, 9.0])),
}


def nearest_to_lock(R: Floats, w: Floats, seconds: float = SECONDS) -> float:
    """[deg] on the way; steps are fine where it is near, since an arm turns by 0.3 deg in 1 ms."""
    matrix, rate, tidy = KINDS["quaternion"]

    def derivative(x: Floats) -> Floats:
        return np.concatenate([rate(x[:4], x[4:]), acceleration(matrix(x[:4]), x[4:])])

    x, least, t, away = np.concatenate([from_matrix("quaternion", R), w]), 90.0, 0.0, 90.0
    while t < seconds:
        h = 1e-3 if away > 3.0 else 2e-5
        x, t = runge_kutta(derivative, x, h), t + h
        x[:4] = tidy(x[:4])
        m = matrix(x[:4])
        away = math.degrees(math.atan2(math.hypot(m[0, 0], m[1, 0]), abs(m[2, 0])))
        least = min(least, away)
    return least


def euler_rule_length(w: float, h: float, seconds: float) -> tuple[float, float]:
    """Length of a quaternion that turns at w [rad/s] by Euler's rule: found, and by the law sqrt(1 + (h w/2)^2)^n."""
    p, spin = np.array([1.0, 0.0, 0.0, 0.0]), w * np.array([0.48, 0.6, 0.64])
    n = round(seconds / h)
    for _ in range(n):
        p = p + h * quaternion_rate(p, spin)
    return math.sqrt(float(p @ p)), (1.0 + (0.5 * h * w) ** 2) ** (0.5 * n)


def step_for(name: str, R: Floats, w: Floats, exact: Floats, good_rad: float) -> float:
    """The largest of ever smaller steps [s] with which the end is off by less than good_rad."""
    h = 1.6e-2
    while h > 1e-4 and angle_between(fall(name, R, w, h)[0], exact) > good_rad:
        h *= 0.5
    return h


# ---- the same by the library: a spherical joint, and three hinges with light bodies between


def limb(
    name: str,
    parent: str,
    at: tuple[float, float, float],
    mass: float,
    com: float,
    inertia: tuple[float, float, float],
    epsilon: float | None,
) -> tuple[list[pp.Body], list[pp.Joint]]:
    """A body that hangs from a joint; epsilon None: spherical, else hinges z, y, x with bodies of that part of it."""
    body = pp.Body(name, mass, (0.0, 0.0, -com), np.diag(inertia))
    if epsilon is None:
        return [body], [pp.Joint(name, "spherical", parent, name, pp.Transform(p=at))]
    small = epsilon * np.eye(3) * (sum(inertia) / 3.0 + mass * com**2)
    bodies, joints = [], []
    for axis, link, place in zip(
        np.eye(3)[::-1], (f"{name}_z", f"{name}_y", name), (at, (0, 0, 0), (0, 0, 0)), strict=True
    ):
        bodies.append(body if link == name else pp.Body(link, epsilon * mass, (0.0, 0.0, 0.0), small))
        joints.append(pp.Joint(link, "revolute", parent, link, pp.Transform(p=place), axis=axis))
        parent = link
    return bodies, joints


def upper_arm(epsilon: float | None) -> pp.Model:
    bodies, joints = limb("limb", "world", (0.0, 0.0, 0.0), MASS_KG, COM_M, AT_COM, epsilon)
    return pp.compile(pp.MultiBody("limb", tuple(bodies), tuple(joints)))


def whole_arm(epsilon: float | None) -> pp.Model:
    """The human's: shoulder, elbow and wrist, all spherical (reference 6.6)."""
    bodies: list[pp.Body] = []
    joints: list[pp.Joint] = []
    for row in (
        ("upper", "world", (0.0, 0.0, 0.0), MASS_KG, COM_M, AT_COM),
        ("forearm", "upper", (0.0, 0.0, -0.2832), 1.215, 0.1236, (0.0068, 0.0062, 0.0013)),
        ("hand", "forearm", (0.0, 0.0, -0.2703), 0.458, 0.0685, (0.0014, 0.0009, 0.0006)),
    ):
        some, others = limb(*row, epsilon)
        bodies += some
        joints += others
    return pp.compile(pp.MultiBody("arm", tuple(bodies), tuple(joints)))


def drop(model: pp.Model, q: Floats, h: float, seconds: float) -> tuple[Floats, float, float]:
    """Where the last body's origin ends [m], the largest relative change of energy, and the fastest joint [rad/s]."""
    turning = model.nq != model.nv
    zero = np.zeros(model.nv)

    def derivative(x: Floats) -> Floats:
        place, v = x[: model.nq].copy(), x[model.nq :]
        if turning:
            place = np.concatenate([normalised(p) for p in place.reshape(-1, 4)])
        a = pp.forward_dynamics(model, place, v, zero)
        rate = (
            np.concatenate([quaternion_rate(p, w) for p, w in zip(place.reshape(-1, 4), v.reshape(-1, 3), strict=True)])
            if turning
            else v
        )
        return np.concatenate([rate, a])

    x, begin, worst, fastest = np.concatenate([q, zero]), pp.energy(model, q, zero).total, 0.0, 0.0
    scale = abs(pp.energy(model, model.neutral(), zero).total)
    for _ in range(round(seconds / h)):
        try:
            x = runge_kutta(derivative, x, h)
        except ValueError:  # not finite any more, or the mass matrix is singular
            return np.full(3, np.nan), math.inf, math.inf
        if turning:
            x[: model.nq] = np.concatenate([normalised(p) for p in x[: model.nq].reshape(-1, 4)])
        fastest = max(fastest, float(np.abs(x[model.nq :]).max()))
        if fastest > 1e5:
            return np.full(3, np.nan), math.inf, math.inf
        worst = max(worst, abs(pp.energy(model, x[: model.nq], x[model.nq :]).total - begin) / scale)
    return pp.forward_kinematics(model, x[: model.nq])[-1][:3, 3], worst, fastest


def condition(model: pp.Model, middle_deg: float) -> float:
    return float(np.linalg.cond(pp.mass_matrix(model, np.array([0.3, math.radians(middle_deg), 0.2]))))


def longest_step(model: pp.Model, q: Floats) -> float:
    """[s] up to which Euler's rule is stable with dampers in the joints: 2 over the fastest decay."""
    return 2.0 / float(
        np.abs(np.linalg.eigvals(np.linalg.solve(pp.mass_matrix(model, q), DAMPING * np.eye(model.nv)))).max()
    )


def decays(model: pp.Model, q: Floats, h: float) -> bool:
    """Whether velocities under dampers alone die out by Euler's rule, held at one posture."""
    H, v = pp.mass_matrix(model, q), np.ones(model.nv)
    for _ in range(2000):
        v = v - h * np.linalg.solve(H, DAMPING * v)
        if np.abs(v).max() > 1e6:
            return False
    return bool(np.abs(v).max() < 1.0)


def falls(rng: np.random.Generator, arms: int) -> list[list[Floats]]:
    """Rotations of shoulder, elbow and wrist: arms raised to the front, elbows and wrists a little bent."""
    found = []
    for _ in range(arms):
        shoulder = pp.Rotation.about((0, 1, 0), math.radians(-rng.uniform(100.0, 140.0))) @ pp.Rotation.exp(
            0.03 * rng.normal(size=3)
        )
        found.append([shoulder.matrix(), pp.Rotation.exp((0.0, -rng.uniform(0.2, 0.9), 0.0)).matrix(),
                      pp.Rotation.exp(0.2 * rng.normal(size=3)).matrix()])  # fmt: skip
    return found


def coordinates(arm: list[Floats], epsilon: float | None) -> Floats:
    return np.concatenate([from_matrix("quaternion" if epsilon is None else "three hinges", R) for R in arm])
