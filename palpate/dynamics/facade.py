"""The functions people call: they check, explain and hand over to one compiled entry each.

Shapes: q (nq,), v, a, tau (nv,); SI units; (angular, linear); world axes unless said.  Damping and dry friction of
joints are not part of these equations: the World applies them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from palpate.dynamics import entries
from palpate.dynamics.coordinates import BAD_SIZE, FINE
from palpate.dynamics.workspace import address_of
from palpate.model.model import Floats, Model
from palpate.spatial.placement import Transform, vector3

_NO_WRENCHES = np.zeros((0, 6))


class Energy(NamedTuple):
    """[J]; potential is zero at the world's origin."""

    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        return self.kinetic + self.potential


class InverseKinematics(NamedTuple):
    """q (nq,), the best found; `error` is the length of the remaining twist (rad and m together)."""

    q: Floats
    converged: bool
    error: float
    iterations: int


def _vector(x: ArrayLike, size: int, name: str) -> Floats:
    """A fresh float64 vector of this size, or an error that names it."""
    array = np.array(x, dtype=np.float64)
    if array.shape != (size,):
        raise ValueError(f"{name} has shape {array.shape}, the model needs ({size},)")
    return array


def _wrenches(model: Model, wrenches: ArrayLike) -> Floats:
    array = np.array(wrenches, dtype=np.float64)
    if array.shape not in ((0, 6), (model.n_bodies, 6)):
        raise ValueError(
            f"wrenches has shape {array.shape}, the model needs ({model.n_bodies}, 6): one (torque, force) per body, "
            "the world's row first"
        )
    return array


def _complain(model: Model, code: int, q: Floats, x: str = "tau") -> None:
    """Raise for what an entry found wrong; q is what it was given, x the name of its third vector."""
    if code == entries.SINGULAR:
        raise ValueError(f"the mass matrix of {model.name!r} is singular here: a joint moves no inertia about its axis")
    if code < 0:
        names = {entries.BAD_V: "v", entries.BAD_X: x, entries.BAD_WRENCH: "wrenches"}
        raise ValueError(f"{names[code]} holds a NaN or an infinity")
    joint = next(name for name, s in model.q_index.items() if s.start <= code < s.stop)
    if not np.isfinite(q[code]):
        raise ValueError(f"q[{code}] of joint {joint!r} is {q[code]}")
    length = float(np.linalg.norm(q[code : code + 4]))
    raise ValueError(f"the quaternion q[{code}:{code + 4}] of joint {joint!r} has length {length:.6g}, not 1")


def _check(model: Model, code: int, q: Floats) -> None:
    if code != FINE:
        _complain(model, code, q)


def _second_try(
    entry: Callable[..., int], x: str, model: Model, arguments: tuple[Any, ...], code: int, out: Floats
) -> None:
    """Run one of the two dynamics on converted arguments if it refused the given ones, or say what is wrong."""
    q = arguments[0]
    if code == BAD_SIZE:
        q, v, third, wrenches = arguments
        q, v, third = _vector(q, model.nq, "q"), _vector(v, model.nv, "v"), _vector(third, model.nv, x)
        code = entry(address_of(model), q, v, third, _wrenches(model, wrenches), out)
    if code != FINE:
        _complain(model, code, np.asarray(q), x)


def forward_dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: ArrayLike | None = None
) -> Floats:
    """a = H^-1 (tau + J^T wrenches - C v - G) (nv,), by the articulated-body algorithm.

    tau       joint forces (nv,) [N m or N]; a free root's six are a (torque, force) on it in its own axes
    wrenches  (n_bodies, 6): (torque, force) on each body from the outside, world axes, at the body's origin
    """
    out = np.empty(model.nv)
    arguments = (q, v, tau, _NO_WRENCHES if wrenches is None else wrenches)
    try:  # arrays that fit go straight in; a list, integers, a read-only or strided array is a TypeError
        code = entries.forward_dynamics_entry(address_of(model), *arguments, out)
    except TypeError:
        code = BAD_SIZE
    if code != FINE:
        _second_try(entries.forward_dynamics_entry, "tau", model, arguments, code, out)
    return out


def inverse_dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: ArrayLike | None = None
) -> Floats:
    """tau = H a + C v + G - J^T wrenches (nv,), by recursive Newton-Euler; arguments as in forward_dynamics."""
    out = np.empty(model.nv)
    arguments = (q, v, a, _NO_WRENCHES if wrenches is None else wrenches)
    try:
        code = entries.inverse_dynamics_entry(address_of(model), *arguments, out)
    except TypeError:
        code = BAD_SIZE
    if code != FINE:
        _second_try(entries.inverse_dynamics_entry, "a", model, arguments, code, out)
    return out


def bias(model: Model, q: ArrayLike, v: ArrayLike) -> Floats:
    """h = C v + G (nv,): the joint forces that hold zero acceleration."""
    return inverse_dynamics(model, q, v, np.zeros(model.nv))


def mass_matrix(model: Model, q: ArrayLike) -> Floats:
    """H (nv, nv), symmetric, armature on its diagonal, by the composite-rigid-body algorithm."""
    q, H = _vector(q, model.nq, "q"), np.empty((model.nv, model.nv))
    _check(model, entries.mass_matrix_entry(address_of(model), q, H), q)
    return H


def forward_kinematics(model: Model, q: ArrayLike) -> Floats:
    """Poses (n_bodies, 4, 4) of all bodies in the world, in the order of `model.body_names`."""
    q, X = _vector(q, model.nq, "q"), np.empty((model.n_bodies, 4, 4))
    _check(model, entries.forward_kinematics_entry(address_of(model), q, X), q)
    return X


def jacobian(model: Model, q: ArrayLike, body: str | int, at_body: ArrayLike = (0.0, 0.0, 0.0)) -> Floats:
    """J (6, nv): J v = (angular, linear) velocity, world axes, of the point `at_body` [m, body axes] of a body."""
    q, J = _vector(q, model.nq, "q"), np.empty((6, model.nv))
    point = _vector(at_body, 3, "at_body")
    _check(model, entries.jacobian_entry(address_of(model), q, model.body(body), point, J), q)
    return J


def _motion(model: Model, q: ArrayLike, v: ArrayLike) -> Floats:
    q, v, out = _vector(q, model.nq, "q"), _vector(v, model.nv, "v"), np.empty(11)
    _check(model, entries.motion_entry(address_of(model), q, v, out), q)
    return out


def energy(model: Model, q: ArrayLike, v: ArrayLike) -> Energy:
    """Kinetic energy 1/2 v^T H v and potential energy -sum m g.c [J]."""
    out = _motion(model, q, v)
    return Energy(float(out[0]), float(out[1]))


def momentum(model: Model, q: ArrayLike, v: ArrayLike) -> Floats:
    """(6,): (angular about the common centre of mass [kg m^2/s], linear [kg m/s]); rotors of `armature` not counted."""
    return _motion(model, q, v)[5:]


def center_of_mass(model: Model, q: ArrayLike) -> Floats:
    """The common centre of mass (3,) in the world [m]."""
    if model.mass <= 0.0:
        raise ValueError(f"{model.name!r} has no mass, hence no centre of mass")
    return _motion(model, q, np.zeros(model.nv))[2:5]


def integrate(model: Model, q: ArrayLike, v: ArrayLike, dt: float) -> Floats:
    """q after following v for dt [s]: quaternions turn by the exponential, free joints along their screw."""
    q, v, out = _vector(q, model.nq, "q"), _vector(v, model.nv, "v"), np.empty(model.nq)
    if not np.isfinite(dt):
        raise ValueError(f"dt must be finite, got {dt}")
    _check(model, entries.integrate_entry(address_of(model), q, v, float(dt), out), q)
    return out


def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> Floats:
    """The v (nv,) that takes q0 to q1 in one second, the shorter way round: integrate(q0, v, 1) = q1."""
    q0, q1, out = _vector(q0, model.nq, "q0"), _vector(q1, model.nq, "q1"), np.empty(model.nv)
    code = entries.difference_entry(address_of(model), q0, q1, out)
    if code != FINE:
        integrate(model, q0, np.zeros(model.nv), 0.0)  # complains if it is q0
        _complain(model, code, q1)
    return out


def inverse_kinematics(
    model: Model,
    body: str | int,
    target: Transform | ArrayLike,
    q: ArrayLike,
    at_body: ArrayLike = (0.0, 0.0, 0.0),
    tolerance: float = 1e-10,
    iterations: int = 200,
) -> InverseKinematics:
    """Coordinates that bring the point `at_body` of a body to a target, starting from q and inside the limits.

    target     a Transform or (4, 4) matrix for position and orientation, or (3,) for position alone, in the world
    tolerance  on the length of the remaining twist (rad and m)
    Damped least squares; it reports failure (`converged` False, with the best q) and never raises for a far target.
    """
    if iterations < 1 or not tolerance > 0.0:
        raise ValueError(f"iterations must be at least 1 and tolerance positive, got {iterations} and {tolerance}")
    row = model.body(body)
    best = np.clip(_vector(q, model.nq, "q"), model.lower, model.upper)
    position_only = not isinstance(target, Transform) and np.shape(target) == (3,)
    if position_only:
        X = Transform(p=vector3(target, "target"))  # type: ignore[arg-type]
    elif isinstance(target, Transform):
        X = target
    elif np.shape(target) == (4, 4):
        X = Transform.from_matrix(target)
    else:
        raise ValueError(f"a target is a Transform, a (4, 4) matrix or a position (3,), got shape {np.shape(target)}")
    goal, point = np.array([*X.p, *X.R.wxyz]), _vector(at_body, 3, "at_body")
    lower, upper = model.lower.copy(), model.upper.copy()  # entries take writable arrays only
    code, error, used = entries.inverse_kinematics_entry(
        address_of(model), row, point, goal, position_only, lower, upper, float(tolerance), int(iterations), best
    )
    _check(model, code, best)
    return InverseKinematics(best, bool(error <= tolerance), float(error), int(used))
