"""A Model's tree as plain lists for the oracles: revolute, prismatic, spherical and free joints on a z axis."""

from dataclasses import dataclass

import numpy as np

import palpate as pp


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0.0]])


@dataclass
class Link:
    parent: int  # -1: the world
    R0: np.ndarray
    p0: np.ndarray
    S: np.ndarray  # (6, n) in the child frame
    v: slice
    q: slice
    kind: str
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    body: str

    def joint(self, q):
        """(R, p) of the child in its parent at q."""
        x = q[self.q]
        axis = self.S[:3, 0] if self.kind == "revolute" else self.S[3:, 0]
        if self.kind == "revolute":
            K = skew(axis)
            return self.R0 @ (np.eye(3) + np.sin(x[0]) * K + (1 - np.cos(x[0])) * K @ K), self.p0
        if self.kind == "prismatic":
            return self.R0, self.p0 + self.R0 @ (axis * x[0])
        w, a, b, c = x[-4:]
        R = 2 * np.array([[w * w + a * a - 0.5, a * b - w * c, a * c + w * b],
                          [a * b + w * c, w * w + b * b - 0.5, b * c - w * a],
                          [a * c - w * b, b * c + w * a, w * w + c * c - 0.5]])  # fmt: skip
        return self.R0 @ R, self.p0 + (self.R0 @ x[:3] if self.kind == "free" else 0.0)


def links(model: pp.Model) -> list[Link]:
    """From the description, not from the compiled arrays, so that compile is under test too (no fixed joints)."""
    rows = {name: i - 1 for i, name in enumerate(model.body_names)}
    bodies = {b.name: b for b in model.description.bodies}
    out = []
    for name in model.body_names[1:]:
        j, b = model.parent_joint(name), bodies[name]
        axis = np.array(j.axis)
        S = {"revolute": np.r_[axis, 0, 0, 0][:, None], "prismatic": np.r_[0, 0, 0, axis][:, None],
             "spherical": np.eye(6)[:, :3], "free": np.eye(6)}[j.kind]  # fmt: skip
        out.append(Link(rows[j.parent], j.placement.R.matrix(), np.array(j.placement.p), S, model.v_index[j.name],
                        model.q_index[j.name], j.kind, b.mass, np.array(b.com), np.array(b.inertia), name))  # fmt: skip
    return out
