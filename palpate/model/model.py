"""Model: a compiled description.  Names for people, read-only arrays for kernels.

People count *bodies*; kernels count *links*.  A link is everything that moves as one: a body and whatever is welded to
it by fixed joints.  A link moves on its parent link by up to six *axes*, one row of the motion subspace S each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palpate.model.description import Joint, ModelError, MultiBody

Floats = NDArray[np.float64]
# the compiler reads the number of dimensions from these names
Floats1 = NDArray[np.float64]
Floats2 = NDArray[np.float64]
Ints1 = NDArray[np.int64]

# How a link moves on its parent.  The only chain over these is in dynamics/kinematics.py (and, for positions, in
# dynamics/coordinates.py).
CHAIN, SPHERICAL, FREE = 0, 1, 2
# What one axis of a CHAIN does along its own z.
REVOLUTE, PRISMATIC = 0, 1


class ModelArrays(NamedTuple):
    """What kernels read: same dtypes, orders and flags for every model, so that all share one compilation.

    Sizes: L links (row 0 the world), A axes, B bodies (row 0 the world), nq coordinates, nv velocities.
    A link frame sits so that its last axis is its z; bodies keep their own frames and know their place in the link.
    """

    # links
    parent: Ints1  # (L,) parent[i] < i, subtrees contiguous
    root: Ints1  # (L,) the link of the same tree that hangs on the world; its origin is the tree's reference point
    kind: Ints1  # (L,) CHAIN, SPHERICAL or FREE
    axis_begin: Ints1  # (L,) first row of the link's axes
    axis_count: Ints1  # (L,) 1..6; 3 for SPHERICAL, 6 for FREE; 0 for the world
    q_begin: Ints1  # (L,) first coordinate of a SPHERICAL or FREE link
    mass: Floats1  # (L,) [kg]
    com: Floats2  # (L, 3) centre of mass in link axes [m]
    inertia: Floats2  # (L, 6) about the centre of mass, link axes: xx, yy, zz, xy, xz, yz [kg m^2]
    # axes
    axis_kind: Ints1  # (A,) REVOLUTE or PRISMATIC
    axis_R: Floats2  # (A, 9) frame of this axis in the frame after the previous one, row-major
    axis_p: Floats2  # (A, 3) [m]
    axis_q: Ints1  # (A,) its coordinate (CHAIN only)
    axis_v: Ints1  # (A,) its velocity
    axis_ratio: Floats1  # (A,) 1, or the ratio of a mimic joint
    axis_offset: Floats1  # (A,) 0, or the offset of a mimic joint
    armature: Floats1  # (A,) [kg m^2 or kg]
    # bodies
    body_link: Ints1  # (B,)
    body_R: Floats2  # (B, 9) the body's frame in its link's frame, row-major
    body_p: Floats2  # (B, 3) [m]
    # everything
    gravity: Floats1  # (3,) [m/s^2], world axes
    nq: int
    nv: int


@dataclass(frozen=True, eq=False)
class Model:
    """A compiled MultiBody.  Made by `palpate.compile`; nothing in it can be written."""

    name: str
    description: MultiBody = field(repr=False)
    arrays: ModelArrays = field(repr=False)
    nq: int  # coordinates
    nv: int  # velocities: degrees of freedom
    n_bodies: int  # the world counted
    n_links: int  # rigid groups of welded bodies, the world counted
    body_names: tuple[str, ...] = field(repr=False)  # row 0 is "world"
    joint_names: tuple[str, ...] = field(repr=False)  # joints that have coordinates, in the order of q
    q_index: dict[str, slice] = field(repr=False)  # joint name -> its coordinates in q
    v_index: dict[str, slice] = field(repr=False)  # joint name -> its velocities in v
    lower: Floats = field(repr=False)  # (nq,) limits of the coordinates; infinite: none
    upper: Floats = field(repr=False)
    velocity_limit: Floats = field(repr=False)  # (nv,)
    effort_limit: Floats = field(repr=False)  # (nv,)
    damping: Floats = field(repr=False)  # (nv,) viscous; forward_dynamics leaves it to the World's implicit step
    friction: Floats = field(repr=False)  # (nv,) dry
    _neutral: Floats = field(repr=False)
    _joint_of_body: dict[str, Joint] = field(repr=False)
    # thread id -> address of its scratch, and what keeps that alive (dynamics/workspace.py)
    _scratch: dict[int, Any] = field(default_factory=dict, repr=False)
    _blocks: list[Any] = field(default_factory=list, repr=False)

    @property
    def has_mimic(self) -> bool:
        """True if a joint follows another, so that there are more axes than velocities."""
        return len(self.arrays.axis_v) != self.nv

    @property
    def mass(self) -> float:
        """Total mass of everything that can move [kg]."""
        return float(self.arrays.mass[1:].sum())

    def neutral(self) -> Floats:
        """q with every coordinate zero and every quaternion the identity (nq,)."""
        return self._neutral.copy()

    def posture(self, name: str) -> Floats:
        """A named posture of the description as q (nq,); joints it does not name are neutral."""
        if name not in self.description.postures:
            known = ", ".join(self.description.postures) or "none"
            raise ValueError(f"{self.name!r} has no posture {name!r}; known: {known}")
        q = self.neutral()
        for joint, value in self.description.postures[name].items():
            q[self.q_index[joint]] = value
        return q

    def body(self, name: str | int) -> int:
        """Row of a body in (n_bodies, ...) arrays, by name or by row."""
        if isinstance(name, str):
            try:
                return self.body_names.index(name)
            except ValueError:
                raise ValueError(f"{self.name!r} has no body {name!r}{_nearest(name, self.body_names)}") from None
        row = int(name)
        if not 0 <= row < self.n_bodies:
            raise ValueError(f"{self.name!r} has bodies 0..{self.n_bodies - 1}, not {row}")
        return row

    def parent_joint(self, body: str | int) -> Joint | None:
        """The joint that carries a body; None for the world."""
        return self._joint_of_body.get(self.body_names[self.body(body)])

    def child_joints(self, body: str | int) -> tuple[Joint, ...]:
        """The joints a body carries."""
        name = self.body_names[self.body(body)]
        return tuple(j for j in self._joint_of_body.values() if j.parent == name)


def _nearest(name: str, names: tuple[str, ...]) -> str:
    import difflib

    close = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


__all__ = ["CHAIN", "FREE", "PRISMATIC", "REVOLUTE", "SPHERICAL", "Model", "ModelArrays", "ModelError"]
