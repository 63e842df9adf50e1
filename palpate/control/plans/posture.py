"""Postures: where the joints of one tree should be, blended from one to another on the manifold (posture_kernels.py).

postures = Postures(world.model, world.q)
postures.go(world.model.posture("half_sitting"), seconds=1.5)
while postures.step(world.dt, state.q_hold, state.v_hold): ...          or step_blend in a part of the tick
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from palpate.control.plans.posture_kernels import Blend, begin_blend_entry, step_blend_entry
from palpate.control.prioritised.tree import tree_of
from palpate.dynamics.coordinates import FINE
from palpate.jit import Block
from palpate.model.model import Floats, Floats1, Model


class Postures:
    """Targets of a tree's joints, springs and all; `root` is a body of the tree, if the model has several."""

    def __init__(self, model: Model, q: ArrayLike, root: str | None = None) -> None:
        self.model, self.tree = model, tree_of(model, root)
        zeros, nq, nv = np.zeros, self.tree.model.nq, self.tree.model.nv
        own = self._own(q)
        self.table = Blend(
            q_begin=self.tree.q.start, v_begin=self.tree.v.start, q=own, v_tree=zeros(nv), a=zeros(nv),
            q_from=own.copy(), q_to=own.copy(), way=zeros(nv), v_from=zeros(nv), a_from=zeros(nv), r=zeros(nv),
        )  # fmt: skip
        assert nq == len(own)
        self._block = Block(self.tree.model.arrays, self.table)

    @property
    def address(self) -> int:
        """For a part of a tick (posture_kernels.py); whoever keeps it keeps this object too."""
        return self._block.address

    @property
    def moving(self) -> bool:
        """Whether it is still on its way."""
        return self.table.seconds > 0.0

    def go(self, q: ArrayLike, seconds: float) -> None:
        """Towards q (nq,), of the model or of the tree, from where the targets are and as they move; a free root stays.

        seconds  0: at once
        """
        if not 0.0 <= seconds < np.inf:
            raise ValueError(f"seconds must be finite and not negative, got {seconds!r}")
        self.table.q_to[:] = self._own(q)
        code = begin_blend_entry(self.address, float(seconds))
        if code != FINE:
            raise ValueError(f"q[{code}] is not finite, or begins a quaternion that is not of unit length")

    def step(self, dt: float, q_hold: Floats1, v_hold: Floats) -> bool:
        """A tick of dt [s], into the World's targets (nq,), (nv,); whether it is still on its way."""
        return bool(step_blend_entry(self.address, float(dt), q_hold, v_hold))

    def _own(self, q: ArrayLike) -> Floats1:
        q = np.array(q, dtype=np.float64)
        own = q[self.tree.q] if q.shape == (self.model.nq,) else q
        if own.shape != (self.tree.model.nq,):
            raise ValueError(f"q has shape {q.shape}, the model needs ({self.model.nq},)")
        return own.copy()
