"""Rotation and Transform: immutable values in which people state where things are.

Legend: R_ab maps coordinates in b to coordinates in a; p_ab is the origin of b seen from a, in a's axes;
so X_ac = X_ab @ X_bc checks itself by eye.  Angles in rad, lengths in m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Matrix = NDArray[np.float64]
Vector3 = tuple[float, float, float]

# A quaternion or matrix read from a file carries a few digits; beyond this it is a mistake, not rounding.
UNIT_TOLERANCE = 1e-3

# Of a length, a mass or their inverses, in SI units.  The dynamics multiply a few of them (m r^2 is at most 1e72, and
# solving with it forms products of four such): beyond this the result is infinite or zero in double precision.
LARGEST = 1e24


def vector3(value: ArrayLike, what: str) -> Vector3:
    """Three finite floats, or a ValueError that names `what`."""
    array = np.asarray(value, dtype=float)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise ValueError(f"{what} must be three finite numbers, got {array.tolist()}")
    return (float(array[0]), float(array[1]), float(array[2]))


def point3(value: ArrayLike, what: str) -> Vector3:
    """Three floats, none beyond LARGEST, or a ValueError that names `what`."""
    point = vector3(value, what)
    if max(map(abs, point)) > LARGEST:
        raise ValueError(f"{what} must not be beyond {LARGEST:g}, got {list(point)}")
    return point


def unit3(value: ArrayLike, what: str) -> Vector3:
    """A direction of any length but zero, normalised."""
    x, y, z = point3(value, what)
    length = math.sqrt(x * x + y * y + z * z)
    if length < 1e-12:
        raise ValueError(f"{what} must not be zero")
    return (x / length, y / length, z / length)


def skew(a: ArrayLike) -> Matrix:
    """The matrix [a]x with [a]x b = a x b."""
    x, y, z = np.asarray(a, dtype=float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


@dataclass(frozen=True)
class Rotation:
    """An orientation, kept as a unit quaternion (w, x, y, z), child to parent."""

    wxyz: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        q = np.asarray(self.wxyz, dtype=float)
        if q.shape != (4,) or not np.isfinite(q).all():
            raise ValueError(f"a quaternion is four finite numbers (w, x, y, z), got {q.tolist()}")
        length = float(np.linalg.norm(q))
        if abs(length - 1.0) > UNIT_TOLERANCE:
            raise ValueError(f"a quaternion must have length 1, got {length:.6g} from {q.tolist()}")
        w, x, y, z = (q / length).tolist()
        object.__setattr__(self, "wxyz", (w, x, y, z))

    @classmethod
    def about(cls, axis: ArrayLike, angle: float) -> Rotation:
        """Turn by `angle` [rad] about `axis` (any length but zero)."""
        x, y, z = unit3(axis, "a rotation axis")
        s = math.sin(0.5 * angle)
        return cls((math.cos(0.5 * angle), x * s, y * s, z * s))

    @classmethod
    def rpy(cls, roll: float, pitch: float, yaw: float) -> Rotation:
        """Rz(yaw) Ry(pitch) Rx(roll), the order of URDF [rad]."""
        return cls.about((0, 0, 1), yaw) @ cls.about((0, 1, 0), pitch) @ cls.about((1, 0, 0), roll)

    @classmethod
    def from_matrix(cls, R: ArrayLike) -> Rotation:
        """From a proper orthogonal (3, 3) matrix (Shepperd's choice of the largest pivot)."""
        m = np.asarray(R, dtype=float)
        if m.shape != (3, 3) or not np.isfinite(m).all():
            raise ValueError(f"a rotation matrix is (3, 3) and finite, got shape {m.shape}")
        if np.abs(m @ m.T - np.eye(3)).max() > UNIT_TOLERANCE or np.linalg.det(m) < 0.0:
            raise ValueError("a rotation matrix must be orthogonal with determinant +1")
        squares = np.array([1 + m[0, 0] + m[1, 1] + m[2, 2], 1 + m[0, 0] - m[1, 1] - m[2, 2],
                            1 - m[0, 0] + m[1, 1] - m[2, 2], 1 - m[0, 0] - m[1, 1] + m[2, 2]])  # fmt: skip
        products = np.array([  # 4 q q^T, row k divided by its pivot gives q
            [squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
            [m[2, 1] - m[1, 2], squares[1], m[1, 0] + m[0, 1], m[0, 2] + m[2, 0]],
            [m[0, 2] - m[2, 0], m[1, 0] + m[0, 1], squares[2], m[2, 1] + m[1, 2]],
            [m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[2, 1] + m[1, 2], squares[3]],
        ])  # fmt: skip
        row = products[int(np.argmax(squares))]
        w, x, y, z = (row / np.linalg.norm(row)).tolist()
        return cls((w, x, y, z))

    @classmethod
    def between(cls, a: ArrayLike, b: ArrayLike) -> Rotation:
        """The shortest turn that takes direction `a` to direction `b`."""
        u, v = np.array(unit3(a, "a direction")), np.array(unit3(b, "a direction"))
        w = 0.5 * float((u + v) @ (u + v))  # 1 + u.v, exact for nearly opposite directions too
        if w < 1e-24:  # opposite: half a turn about anything perpendicular
            return cls.about(np.cross(u, np.eye(3)[int(np.argmin(np.abs(u)))]), math.pi)
        q = np.array([w, *np.cross(u, v)])
        w, x, y, z = (q / np.linalg.norm(q)).tolist()
        return cls((w, x, y, z))

    @classmethod
    def exp(cls, rotation_vector: ArrayLike) -> Rotation:
        """From a rotation vector (axis times angle) [rad]."""
        v = np.asarray(rotation_vector, dtype=float)
        angle = float(np.linalg.norm(v))
        return cls.about(v, angle) if angle > 1e-12 else cls((1.0, 0.5 * v[0], 0.5 * v[1], 0.5 * v[2]))

    def log(self) -> Matrix:
        """The rotation vector (3,), the shorter way round [rad]."""
        w, vector = self.wxyz[0], np.array(self.wxyz[1:])
        if w < 0.0:
            w, vector = -w, -vector
        s = float(np.linalg.norm(vector))
        return vector * (2.0 * math.atan2(s, w) / s if s > 1e-12 else 2.0 / w)

    def matrix(self) -> Matrix:
        """R (3, 3), child coordinates to parent coordinates."""
        w, x, y, z = self.wxyz
        return np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ])  # fmt: skip

    def inv(self) -> Rotation:
        """The turn back."""
        w, x, y, z = self.wxyz
        return Rotation((w, -x, -y, -z))

    def apply(self, points: ArrayLike) -> Matrix:
        """Rotate one vector (3,) or many (n, 3)."""
        return np.asarray(points, dtype=float) @ self.matrix().T

    def __matmul__(self, other: Rotation) -> Rotation:
        a, b, c, d = self.wxyz
        w, x, y, z = other.wxyz
        return Rotation((a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y,
                         a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w))  # fmt: skip


@dataclass(frozen=True)
class Transform:
    """A placement X_ab: frame b seen from frame a, by its orientation `R` and its origin `p` [m]."""

    R: Rotation = Rotation()
    p: Vector3 = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", point3(self.p, "a position"))
        if not isinstance(self.R, Rotation):
            raise ValueError(f"a Transform takes a Rotation, got {type(self.R).__name__}")

    @classmethod
    def from_matrix(cls, X: ArrayLike) -> Transform:
        """From a homogeneous (4, 4) matrix."""
        m = np.asarray(X, dtype=float)
        if m.shape != (4, 4) or not np.allclose(m[3], (0, 0, 0, 1)):
            raise ValueError("a homogeneous matrix is (4, 4) with last row (0, 0, 0, 1)")
        return cls(Rotation.from_matrix(m[:3, :3]), tuple(m[:3, 3]))

    def matrix(self) -> Matrix:
        """The homogeneous (4, 4) matrix."""
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = self.R.matrix(), self.p
        return X

    def inv(self) -> Transform:
        """X_ba: frame a seen from frame b."""
        R = self.R.inv()
        return Transform(R, tuple(-R.apply(self.p)))

    def apply(self, points: ArrayLike) -> Matrix:
        """Points (3,) or (n, 3) of frame b, seen from frame a."""
        return self.R.apply(points) + np.asarray(self.p)

    def adjoint(self) -> Matrix:
        """(6, 6): twists (angular, linear) about b in b's axes to twists about a in a's axes."""
        R = self.R.matrix()
        return np.block([[R, np.zeros((3, 3))], [skew(self.p) @ R, R]])

    def __matmul__(self, other: Transform) -> Transform:
        return Transform(self.R @ other.R, tuple(self.apply(other.p)))


IDENTITY = Transform()
