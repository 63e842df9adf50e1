"""One tree of a model by itself: a Model whose arrays hold only its links, so that what is done with it costs no more.

A World of two avatars, a table and a box has a model of all of them.  A controller of one avatar works on that
avatar's own coordinates, a slice of the World's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from palpate.conventions import WORLD
from palpate.model.model import Model, ModelArrays


@dataclass(frozen=True)
class Tree:
    """A tree as a model, and where its coordinates are among those of the whole."""

    model: Model
    q: slice
    v: slice
    bodies: tuple[int, ...]  # rows of the whole, in the order of the tree's own; the world first


def tree_of(model: Model, body: str | int | None = None) -> Tree:
    """The tree that a body belongs to; None: the only one there is."""
    m = model.arrays
    if body is not None:
        link = int(m.body_link[model.body(body)])
        if link == WORLD:
            raise ValueError(f"{model.body_names[model.body(body)]!r} is fixed to the world: it belongs to no tree")
        root = int(m.root[link])
    else:
        roots = sorted({int(r) for r in m.root[1:]})
        if len(roots) != 1:
            raise ValueError(f"{model.name!r} has {len(roots)} trees: say which by one of its bodies")
        root = roots[0]
    links = np.flatnonzero(m.root == root)
    links = links[links != WORLD]
    begin, end = int(links[0]), int(links[-1]) + 1
    assert len(links) == end - begin  # subtrees are contiguous
    k0 = int(m.axis_begin[begin])
    k1 = int(m.axis_begin[end - 1] + m.axis_count[end - 1])
    v0, v1 = int(m.axis_v[k0:k1].min()), int(m.axis_v[k0:k1].max()) + 1
    if ((m.axis_v[:k0] >= v0) & (m.axis_v[:k0] < v1)).any() or ((m.axis_v[k1:] >= v0) & (m.axis_v[k1:] < v1)).any():
        raise ValueError(f"a joint of another tree of {model.name!r} follows one of this: they are not to be parted")
    q_at = [where for where, rates in zip(model.q_index.values(), model.v_index.values(), strict=True)
            if v0 <= rates.start < v1]  # fmt: skip
    q0, q1 = min(s.start for s in q_at), max(s.stop for s in q_at)
    bodies = (WORLD, *(b for b in range(1, model.n_bodies) if begin <= m.body_link[b] < end))
    return Tree(_alone(model, (begin, end), (k0, k1), (q0, q1), (v0, v1), bodies), slice(q0, q1), slice(v0, v1), bodies)


def _alone(
    model: Model, links: tuple[int, int], axes: tuple[int, int], q: tuple[int, int], v: tuple[int, int], bodies: Any
) -> Model:
    """A Model of these links, with the world as row 0 as ever."""
    m, rows = model.arrays, np.r_[WORLD, links[0] : links[1]]
    shift = links[0] - 1

    def moved(links: np.ndarray) -> np.ndarray:
        return np.where(links == WORLD, WORLD, links - shift)

    own, at_axes, at_bodies = slice(*axes), m.axis_begin[rows] - axes[0], list(bodies)
    at_axes[0] = 0
    arrays = ModelArrays(
        parent=moved(m.parent[rows]), root=moved(m.root[rows]), kind=m.kind[rows], axis_begin=at_axes,
        axis_count=m.axis_count[rows], q_begin=np.maximum(m.q_begin[rows] - q[0], 0), mass=m.mass[rows],
        com=m.com[rows], inertia=m.inertia[rows], axis_kind=m.axis_kind[own], axis_R=m.axis_R[own],
        axis_p=m.axis_p[own], axis_q=np.maximum(m.axis_q[own] - q[0], 0), axis_v=m.axis_v[own] - v[0],
        axis_ratio=m.axis_ratio[own], axis_offset=m.axis_offset[own], armature=m.armature[own],
        body_link=moved(m.body_link[at_bodies]), body_R=m.body_R[at_bodies], body_p=m.body_p[at_bodies],
        gravity=m.gravity, nq=q[1] - q[0], nv=v[1] - v[0],
    )  # fmt: skip
    tables: dict[str, Any] = {
        name: np.ascontiguousarray(x) for name, x in arrays._asdict().items() if isinstance(x, np.ndarray)
    }
    for name, x in tables.items():
        if name != "gravity":  # the World's own, which a session may change
            x.setflags(write=False)
    arrays = ModelArrays(**{**arrays._asdict(), **tables})
    names = tuple(model.body_names[b] for b in bodies)
    joints = [name for name, where in model.v_index.items() if v[0] <= where.start < v[1]]
    return replace(
        model, arrays=arrays, nq=arrays.nq, nv=arrays.nv, n_bodies=len(bodies), n_links=len(rows), body_names=names,
        joint_names=tuple(joints), q_index={name: _back(model.q_index[name], q[0]) for name in joints},
        v_index={name: _back(model.v_index[name], v[0]) for name in joints},
        lower=model.lower[slice(*q)], upper=model.upper[slice(*q)], velocity_limit=model.velocity_limit[slice(*v)],
        effort_limit=model.effort_limit[slice(*v)], damping=model.damping[slice(*v)],
        friction=model.friction[slice(*v)], _neutral=model._neutral[slice(*q)],
        _joint_of_body={name: joint for name, joint in model._joint_of_body.items() if name in names},
        _scratch={}, _blocks=[],
    )  # fmt: skip


def _back(where: slice, by: int) -> slice:
    return slice(where.start - by, where.stop - by)
