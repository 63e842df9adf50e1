"""Scratch of the dynamics, and the handle through which Python reaches model and scratch in one argument."""

from __future__ import annotations

from threading import get_ident
from typing import Any, NamedTuple

import numpy as np

from palpate.jit import entry, handle
from palpate.model.model import Floats, Model


class Workspace(NamedTuple):
    """Arrays the kernels write; each says who writes it.  L links, A axes, nv velocities.

    World axes throughout; moments and linear velocities about the tree's reference point (see kinematics.py).
    """

    x: Floats  # (A,) value of each axis of a chain                  kinematics
    sin: Floats  # (A,)                                              kinematics
    cos: Floats  # (A,)                                              kinematics
    R: Floats  # (L, 9) link to world, row-major                     kinematics
    p: Floats  # (L, 3) link origin from the reference point [m]     kinematics
    origin: Floats  # (L, 3) rows of roots: the reference point [m]  kinematics
    drift: Floats  # (L, 3) rows of roots: its velocity [m/s]        kinematics
    S: Floats  # (A, 6) motion subspace, one row per axis            kinematics
    V: Floats  # (L, 6) twist, less the reference point's velocity   kinematics
    A: Floats  # (L, 6) acceleration at zero qdd, gravity as -g      kinematics
    F: Floats  # (L, 6) force that motion needs, then with children  rnea, aba
    dA: Floats  # (L, 6) acceleration due to qdd                     rnea, aba
    IA: Floats  # (L, 21) articulated inertia: A (6), B (9), C (6)   aba
    U: Floats  # (A, 6) IA S                                         aba
    D_inv: Floats  # (A,) 1 / (S.U + armature)                       aba
    u: Floats  # (A,) tau - S.pA                                     aba
    Ic: Floats  # (L, 10) composite inertia: mass, m c, I            crba
    H: Floats  # (nv, nv), h (nv,): mass matrix and bias             forward_dynamics of models with mimic joints
    h: Floats


DynamicsHandle = handle("DynamicsHandle", ("model", "work"))


@entry
def bind(model, work):
    return DynamicsHandle(model, work)


def workspace(model: Model) -> Workspace:
    """Fresh scratch for a model."""
    L, A, nv = model.n_links, len(model.arrays.axis_v), model.nv
    dense = nv if model.has_mimic else 0  # only they solve with the dense matrix
    work = Workspace(
        x=np.zeros(A), sin=np.zeros(A), cos=np.zeros(A), R=np.zeros((L, 9)), p=np.zeros((L, 3)), origin=np.zeros((L, 3)), drift=np.zeros((L, 3)), S=np.zeros((A, 6)),
        V=np.zeros((L, 6)), A=np.zeros((L, 6)), F=np.zeros((L, 6)),
        dA=np.zeros((L, 6)), IA=np.zeros((L, 21)), U=np.zeros((A, 6)), D_inv=np.zeros(A), u=np.zeros(A),
        Ic=np.zeros((L, 10)), H=np.zeros((dense, dense)), h=np.zeros(dense),
    )  # fmt: skip
    work.R[0, ::4] = 1.0  # the world's own rows, which no kernel writes
    work.A[0, 3:] = -model.arrays.gravity  # gravity as an upward acceleration of the world
    return work


def handle_of(model: Model) -> Any:
    """The calling thread's handle on a model: kernels release the GIL, so threads must not share scratch."""
    thread = get_ident()
    try:
        return model._scratch[thread]
    except KeyError:
        model._scratch[thread] = bind(model.arrays, workspace(model))
        return model._scratch[thread]
