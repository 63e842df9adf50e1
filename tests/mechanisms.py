"""Random mechanisms for the laws: every joint kind, any branching, fixed and floating, one tree or several.

Also their mirror in Pinocchio, with the conversions of coordinate orders that end here.
"""

from __future__ import annotations

import numpy as np

import palpate as pp
from palpate.model.description import JOINT_KINDS, Step

# Every kind a link can move by, straight from the table: a new kind is under all laws at once.
ALL_JOINTS = [kind for kind in JOINT_KINDS if kind != "fixed"]


def random_body(rng: np.random.Generator, name: str) -> pp.Body:
    """A body of random points: its inertia is one that some solid really has."""
    points, masses = rng.normal(scale=0.15, size=(6, 3)), rng.uniform(0.1, 1.0, size=6)
    com = masses @ points / masses.sum()
    r = points - com
    inertia = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, r, strict=True))
    return pp.Body(name, float(masses.sum()), com, inertia)


def random_placement(rng: np.random.Generator, reach: float = 0.4) -> pp.Transform:
    return pp.Transform(pp.Rotation.exp(rng.normal(size=3)), rng.normal(scale=reach, size=3))


def random_joint(rng: np.random.Generator, name: str, kind: str, parent: str, child: str, **options) -> pp.Joint:
    if kind == "composite":
        options["steps"] = tuple(
            Step(rng.choice(["revolute", "prismatic"]), rng.normal(size=3), rng.normal(scale=0.2, size=3))
            for _ in range(rng.integers(2, 5))
        )
    if kind not in ("free", "spherical", "fixed"):
        options.setdefault("child_placement", random_placement(rng, 0.1))
    return pp.Joint(name, kind, parent, child, random_placement(rng),
                    axis=rng.normal(size=3), axis2=rng.normal(size=3), **options)  # fmt: skip


def random_tree(
    rng: np.random.Generator, kinds: list[str], n: int, name: str = "tree", armature: bool = False, root: str = ""
) -> pp.MultiBody:
    """n bodies, each hung on a random earlier one (or the world, for the first) by a joint of a random kind.

    Every kind appears at least once while n lasts; `root` names the kind of the first.
    """
    order = [root] if root else []
    order += list(rng.permutation(kinds)) + list(rng.choice(kinds, size=n))
    bodies, joints = [], []
    for i in range(n):
        bodies.append(random_body(rng, f"{name}{i}"))
        parent = f"{name}{rng.integers(max(0, i - 3), i)}" if i else "world"
        options = {"armature": float(rng.uniform(0.0, 0.3))} if armature and order[i] != "free" else {}
        joints.append(random_joint(rng, f"{name}_joint{i}", str(order[i]), parent, bodies[-1].name, **options))
    return pp.MultiBody(name, bodies, joints)


def random_state(rng: np.random.Generator, model: pp.Model, speed: float = 1.0):
    """(q, v, tau): anywhere on the manifold."""
    q = pp.integrate(model, model.neutral(), rng.normal(size=model.nv), 1.0)
    return q, rng.normal(scale=speed, size=model.nv), rng.normal(scale=3.0, size=model.nv)


def random_wrenches(rng: np.random.Generator, model: pp.Model) -> np.ndarray:
    wrenches = rng.normal(size=(model.n_bodies, 6))
    wrenches[0] = 0.0
    return wrenches


def relative(a, b) -> float:
    """Largest difference, relative to max(1, |b|): the 'rel' of the acceptance list."""
    a, b = np.asarray(a), np.asarray(b)
    return float(np.abs(a - b).max() / max(1.0, np.abs(b).max())) if a.size else 0.0


def all_kinds_forest(seed: int, armature: bool = True) -> pp.Model:
    """A floating tree and a fixed one that between them hold every joint kind, welded bodies included."""
    rng = np.random.default_rng(seed)
    return pp.compile([
        random_tree(rng, [*ALL_JOINTS, "fixed"], 14, "a", armature, root="free"),
        random_tree(rng, [k for k in ALL_JOINTS if k != "free"] + ["fixed"], 10, "b", armature, root="planar"),
    ])  # fmt: skip
