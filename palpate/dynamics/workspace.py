"""Scratch of the dynamics, and the Block through which Python hands model and scratch to compiled code."""

from __future__ import annotations

from threading import get_ident
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palpate.jit import Block, block_loader
from palpate.model.model import CHAIN, Floats1, Floats2, Ints1, Model, ModelArrays


class Workspace(NamedTuple):
    """Arrays the kernels write; each says who writes it.  L links, A axes, nq coordinates, nv velocities.

    World axes throughout; moments and linear velocities about the tree's reference point (see kinematics.py).
    """

    awake: Ints1  # (L,) 1: looked at, as all but sleepers are; row 0: how many    world
    inward: Ints1  # (L - 1,) links, the deepest first: one limb need not wait for another   never changed
    chains: Ints1  # (2C,) begin and end of each run of axes of chains           never changed
    x: Floats1  # (A,) value of each axis of a chain                   kinematics
    sin: Floats1  # (A,)                                               kinematics
    cos: Floats1  # (A,)                                               kinematics
    R: Floats2  # (L, 9) link to world, row-major                      kinematics
    p: Floats2  # (L, 3) link origin from the reference point [m]      kinematics
    origin: Floats2  # (L, 3) rows of roots: the reference point [m]   kinematics
    drift: Floats2  # (L, 3) rows of roots: its velocity [m/s]         kinematics
    S: Floats2  # (A, 6) motion subspace, one row per axis             kinematics
    V: Floats2  # (L, 6) twist, less the reference point's velocity    kinematics
    A: Floats2  # (L, 6) acceleration at zero qdd, gravity as -g       kinematics
    F: Floats2  # (L, 6) force that motion needs, then with children   rnea, aba
    dA: Floats2  # (L, 6) acceleration due to qdd                      rnea, aba
    alone: Ints1  # (L,) 1: floats by itself, so that it has no IA, U, D_inv, u    aba
    IA: Floats2  # (L, 36) articulated inertia, row-major             aba
    U: Floats2  # (A, 6) IA S                                          aba
    D_inv: Floats1  # (A,) 1 / (S.U + armature)                        aba
    u: Floats1  # (A,) tau - S.pA                                      aba
    path: Ints1  # (L,) links from a body to its root                  mobility
    Ic: Floats2  # (L, 10) composite inertia: mass, m c, I             crba
    H: Floats2  # (nv, nv) mass matrix and                             forward dynamics with mimic joints
    h: Floats1  # (nv,) bias; both empty without mimic joints          forward dynamics with mimic joints
    trial: Floats1  # (nq,) coordinates after a step                   ik
    e: Floats1  # (6,) twist that is still missing                     ik
    J: Floats2  # (6, nv) Jacobian in body axes                        ik
    JJ: Floats2  # (6, 6) J J^T + damping                              ik
    y: Floats1  # (6,) (J J^T + damping)^-1 e                          ik
    dq: Floats1  # (nv,) the step                                      ik


load = block_loader((ModelArrays, True), (Workspace, False))


def workspace(model: Model) -> Workspace:
    """Fresh scratch for a model."""
    L, A, nq, nv = model.n_links, len(model.arrays.axis_v), model.nq, model.nv
    dense = nv if model.has_mimic else 0  # only they solve with the dense matrix
    zeros = np.zeros
    work = Workspace(
        awake=np.ones(L, dtype=np.int64), inward=_inward(model), chains=_chains(model),
        x=zeros(A), sin=zeros(A), cos=zeros(A),
        R=zeros((L, 9)), p=zeros((L, 3)), origin=zeros((L, 3)),
        drift=zeros((L, 3)), S=zeros((A, 6)), V=zeros((L, 6)), A=zeros((L, 6)), F=zeros((L, 6)), dA=zeros((L, 6)),
        alone=zeros(L, dtype=np.int64), IA=zeros((L, 36)), U=zeros((A, 6)), D_inv=zeros(A), u=zeros(A),
        path=zeros(L, dtype=np.int64), Ic=zeros((L, 10)),
        H=zeros((dense, dense)), h=zeros(dense),
        trial=zeros(nq), e=zeros(6), J=zeros((6, nv)), JJ=zeros((6, 6)), y=zeros(6), dq=zeros(nv),
    )  # fmt: skip
    work.awake[0] = L - 1
    work.R[0, ::4] = 1.0  # the world's own row, which no kernel writes
    return work


def _inward(model: Model) -> NDArray[np.int64]:
    """All links but the world, children before parents and neighbours of different limbs, by depth (L - 1,).

    Along a limb every step waits for the one before; those of other limbs in between keep the processor busy.
    """
    depth = np.zeros(model.n_links, dtype=np.int64)
    for i in range(1, model.n_links):
        depth[i] = depth[model.arrays.parent[i]] + 1
    return 1 + np.argsort(-depth[1:], kind="stable")


def _chains(model: Model) -> NDArray[np.int64]:
    """Begin and end of each run of axes that belong to chains, one after the other (2C,)."""
    m = model.arrays
    in_chain = np.repeat(m.kind == CHAIN, m.axis_count)
    return np.flatnonzero(np.diff(in_chain, prepend=False, append=False))


def address_of(model: Model) -> int:
    """Where compiled code finds the model and the calling thread's scratch (kernels run without the GIL)."""
    thread = get_ident()
    try:
        return model._scratch[thread]
    except KeyError:
        block = Block(model.arrays, workspace(model))
        model._blocks.append(block)  # keeps it alive as long as the model
        model._scratch[thread] = block.address
        return block.address
