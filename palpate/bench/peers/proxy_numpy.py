"""The proxy of the mobile display's reference (5.1) in plain numpy: every triangle is asked, without friction."""

from __future__ import annotations

import numpy as np

from palpate.model.model import Floats

SKIN_M, TIMES = 1e-4, 4


class NumpyProxy:
    """A point that follows the hand and stays outside of triangles (n, 3, 3) [m]."""

    def __init__(self, triangles: Floats, stiffness_N_m: float) -> None:
        self.a, self.stiffness = triangles[:, 0], stiffness_N_m
        self.u, self.v = triangles[:, 1] - self.a, triangles[:, 2] - self.a
        normals = np.cross(self.u, self.v)
        self.normal = normals / np.linalg.norm(normals, axis=1, keepdims=True)
        self.position: Floats | None = None

    def _hit(self, p: Floats, way: Floats) -> tuple[float, int]:
        """Share of the way to the first triangle that is met from its front, and which; inf: none (Moller 1997)."""
        h = np.cross(way, self.v)
        det = np.einsum("ij,ij->i", self.u, h)
        with np.errstate(divide="ignore", invalid="ignore"):
            s = p - self.a
            b = np.einsum("ij,ij->i", s, h) / det
            q = np.cross(s, self.u)
            c, t = (q @ way) / det, np.einsum("ij,ij->i", self.v, q) / det
            met = (det > 0.0) & (b >= -1e-9) & (c >= -1e-9) & (b + c <= 1.0 + 1e-9) & (t >= 0.0)
        t = np.where(met, t, np.inf)
        k = int(np.argmin(t))
        return float(t[k]), k

    def update(self, hip: Floats) -> Floats:
        """Force on the hand (3,) [N]."""
        p = hip.copy() if self.position is None else self.position
        goal, planes = hip, list[Floats]()
        for _ in range(TIMES):
            way = goal - p
            far = float(np.linalg.norm(way))
            if far < 1e-10:
                break
            reach = 1.0 + TIMES * SKIN_M / far
            t, k = self._hit(p, way * reach)
            if t > 1.0:
                p = goal
                break
            n = self.normal[k]
            gap = float(n @ (p - self.a[k])) - SKIN_M  # above the plane that keeps it outside
            slope = float(n @ way)
            p = p + way * max(0.0, min(1.0, -gap / slope)) if slope < 0.0 else p
            if not any(abs(n @ m) > 1.0 - 1e-9 for m in planes):
                planes.append(n)
            if len(planes) > 2:
                break
            if len(planes) == 1:
                goal = hip - n * float(n @ (hip - p))
            else:
                along = np.cross(planes[0], planes[1])
                along /= np.linalg.norm(along)
                goal = p + along * float(along @ (hip - p))
        self.position = p
        force = self.stiffness * (p - hip)
        return force - self.stiffness * SKIN_M * planes[0] if planes else np.zeros(3)
