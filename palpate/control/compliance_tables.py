"""What the joint form of compliance (compliance.py) reads and writes, as arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from palpate.jit import Struct
from palpate.model.model import Floats1, Ints1, Model

MASS, DAMPING = 1.0, 20.0  # M [kg m^2], B [N m s/rad]: reference on articulated bodies 6.5 has B = 2 to 20


class JointForm(Struct):
    """nq coordinates, nv velocities of a model."""

    waist: int  # the link where a chain ends; itself and what carries it does not yield
    q: Floats1  # (nq,) q_d
    q_next: Floats1  # (nq,) scratch
    v: Floats1  # (nv,) q'_d
    push: Floats1  # (nv,) J^T (n, f)
    mass: Floats1  # (nv,) M [kg m^2, kg]
    damping: Floats1  # (nv,) B [N m s/rad, N s/m]; may change while it runs
    moves: Ints1  # (nv,) 1: may yield, and in a chain since the last `clear_pushes`: 2
    lower: Floats1  # (nq,) ranges
    upper: Floats1  # (nq,)


def compliance_of(
    model: Model,
    q: ArrayLike,
    waist: str,
    joints: Sequence[str] | None = None,
    mass: float = MASS,
    damping: float = DAMPING,
) -> JointForm:
    """The joint form of a model at q (nq,); chains end at the body `waist`; joints: that may yield, None: all."""
    if not (0.0 < mass < np.inf and 0.0 <= damping < np.inf):
        raise ValueError(f"mass must be positive and damping not negative, both finite, got {mass} and {damping}")
    q = np.array(q, dtype=np.float64)
    if q.shape != (model.nq,):
        raise ValueError(f"q has shape {q.shape}, the model needs ({model.nq},)")
    moves = np.zeros(model.nv, dtype=np.int64)
    for name in model.joint_names if joints is None else joints:
        if name not in model.v_index:
            raise ValueError(f"there is no joint {name!r}; known: {', '.join(model.joint_names)}")
        moves[model.v_index[name]] = 1
    full, zeros = np.full, np.zeros
    return JointForm(
        waist=int(model.arrays.body_link[model.body(waist)]), q=q, q_next=q.copy(), v=zeros(model.nv),
        push=zeros(model.nv), mass=full(model.nv, float(mass)), damping=full(model.nv, float(damping)), moves=moves,
        lower=model.lower.copy(), upper=model.upper.copy(),
    )  # fmt: skip
