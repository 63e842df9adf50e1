"""The servo step of the planar interface in numpy, straight from the reference: the peer of `palpate bench planar`, and
an oracle of its tests.

One block in a rectangular room whose walls are half-planes; sections 1.2 to 1.11, 2.4 to 5 with the walls' eq. (1), the
friction of eq. (2) and impacts by Poisson's hypothesis, solved as the reference says: by trying all active sets, with
least squares on each.  Arrays of four legs and four vertices instead of loops; derivatives of the mass matrix by
complex steps, which are exact.  The whole of section 1.10 without level 1 of proximity: all vertices are looked at.

What a lane (planar/lane.py) adds to the reference is here too: a scaled room, pulses spread over samples, a fence.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from palpate.model.model import Floats
from palpate.planar.configuration import PlanarConfiguration

SX, SY = np.array([-1.0, 1.0, 1.0, -1.0]), np.array([-1.0, -1.0, 1.0, 1.0])  # signs of the base joints
TINY = 1e-30  # of a complex step
E3 = np.eye(3)
V_THRESHOLD = 1e-3
WARM = 0.7  # of its continuous torque: from there on a motor's limit comes down
TRIES = 8  # shares of restitution: all, none, then by halving


@dataclass
class Touch:
    """What a contact keeps: depths of two samples before, and the reset integrator's p and whether it slips."""

    d1: float = 0.0
    d2: float = 0.0
    p: float = 0.0
    slips: bool = False


class NumpyDevice:
    """Sections 1.1 to 1.6 and 1.11."""

    def __init__(self, settings: PlanarConfiguration) -> None:
        p = settings.device
        self.l1, self.l2, self.r, self.bq = p.proximal_m, p.distal_m, 0.5 * p.crank_m, p.friction_Nms
        self.b = np.stack([0.5 * p.base_m * SX, p.offset_m * SY], axis=1)  # (4, 2)
        self.J1 = p.rotor_kg_m2 + p.proximal_kg * p.proximal_m**2 / 3.0
        self.m2, self.I2 = p.distal_kg, p.distal_kg * p.distal_m**2 / 12.0
        self.handle = np.diag([p.handle_kg, p.handle_kg, p.handle_kg_m2])
        self.quantum, self.sub_steps = 2.0 * math.pi / p.encoder_counts, p.sub_steps
        self.peak, self.continuous, self.heat_s, self.heat = p.peak_Nm, p.continuous_Nm, p.heat_s, np.zeros(4)

    def ends(self, X: Floats) -> tuple[Floats, Floats]:
        """P (..., 4, 2) and J_P (..., 4, 2, 3) of the legs."""
        c, s = np.cos(X[..., 2]), np.sin(X[..., 2])
        u = np.stack([c, s], axis=-1)[..., None, :] * SY[:, None] * self.r
        J = np.zeros((*X.shape[:-1], 4, 2, 3), dtype=X.dtype)
        J[..., 0, 0] = J[..., 1, 1] = 1.0
        J[..., 0, 2], J[..., 1, 2] = -u[..., 1], u[..., 0]
        return X[..., None, :2] + u, J

    def elbows(self, X: Floats) -> Floats:
        """(..., 4, 2) from base joints to elbows: section 1.3 without its angles."""
        P, _ = self.ends(X)
        x, y = (P - self.b)[..., 0], (P - self.b)[..., 1]
        square = x * x + y * y
        along = 0.5 * (self.l1**2 - self.l2**2 + square)
        across = SX * SY * np.sqrt(self.l1**2 * square - along * along)
        return np.stack([along * x - across * y, along * y + across * x], axis=-1) / square[..., None]

    def jacobian(self, X: Floats, e: Floats) -> Floats:
        """A (..., 4, 3), section 1.4."""
        P, J = self.ends(X)
        w, t = P - self.b - e, np.stack([-e[..., 1], e[..., 0]], axis=-1)
        return np.einsum("...i,...ij->...j", w, J) / (w * t).sum(axis=-1)[..., None]

    def mass(self, X: Floats) -> tuple[Floats, Floats]:
        """(M, A), section 1.6."""
        e = self.elbows(X)
        P, J = self.ends(X)
        w, t, A = P - self.b - e, np.stack([-e[..., 1], e[..., 0]], axis=-1), self.jacobian(X, e)
        J_E = t[..., :, None] * A[..., None, :]
        J_c, D = 0.5 * (J_E + J), J - J_E
        turn = (w[..., :1] * D[..., 1, :] - w[..., 1:] * D[..., 0, :]) / self.l2**2
        M = self.handle + self.J1 * np.einsum("...ia,...ib->...ab", A, A)
        M = M + self.m2 * np.einsum("...ixa,...ixb->...ab", J_c, J_c)
        return M + self.I2 * np.einsum("...ia,...ib->...ab", turn, turn), A

    def dynamics(self, X: Floats, V: Floats) -> tuple[Floats, Floats, Floats]:
        """(M, A, C V): C V = M' V - grad(V'M V) / 2."""
        M, A = self.mass(X + 1j * TINY * E3)
        dM = M.imag / TINY  # (3, 3, 3), by X_k first
        dMV = dM @ V
        return M[0].real, A[0].real, V @ dMV - 0.5 * dMV @ V

    def encoders(self, X: Floats) -> Floats:
        e = self.elbows(X)
        return self.quantum * np.floor(np.arctan2(e[:, 1], e[:, 0]) / self.quantum + 0.5)

    def forward(self, q: Floats, before: float) -> Floats:
        """Section 1.2."""
        E = self.b + self.l1 * np.stack([np.cos(q), np.sin(q)], axis=1)
        ends = []
        for a, b in ((E[0], E[1]), (E[2], E[3])):
            D = b - a
            L = math.hypot(*D)
            ends.append(0.5 * (a + b) + math.sqrt(self.l2**2 - 0.25 * L * L) * np.array([-D[1], D[0]]) / L)
        D = ends[1] - ends[0]
        turn = math.atan2(D[1], D[0]) - before
        turn -= 2.0 * math.pi * math.floor(turn / (2.0 * math.pi) + 0.5)
        return np.array([*(0.5 * (ends[0] + ends[1])), before + turn])

    def torques(self, A: Floats, w: Floats, dt: float) -> Floats:
        """Section 1.5 within what each motor may give as warm as it is: least torques, as little of the squeeze of the
        crank as brings all within, or the wrench scaled as a whole."""
        warmth = np.sqrt(self.heat) / self.continuous
        limit = self.continuous + np.clip((1.0 - warmth) / (1.0 - WARM), 0.0, 1.0) * (self.peak - self.continuous)
        tau = (A @ np.linalg.solve(A.T @ A, w)) / limit
        n = np.linalg.svd(A.T)[2][3] / limit
        ends = np.sort(np.stack([(-1.0 - tau) / n, (1.0 - tau) / n]), axis=0)
        low, high = ends[0].max(), ends[1].min()
        if low <= high:
            tau = tau + min(max(0.0, low), high) * n
        else:
            pairs = [(i, j, sign) for i, j in itertools.combinations(range(4), 2) for sign in (1.0, -1.0)]
            tried = [tau - (tau[i] - sign * tau[j]) / (n[i] - sign * n[j]) * n for i, j, sign in pairs]
            tau = min(tried, key=lambda each: float(np.abs(each).max()))
            tau = tau / max(1.0, np.abs(tau).max())
        tau = tau * limit
        self.heat = self.heat + min(1.0, dt / self.heat_s) * (tau * tau - self.heat)
        return tau

    def moved(self, X: Floats, V: Floats, tau: Floats, hand: Any, dt: float) -> tuple[Floats, Floats]:
        """Section 1.11, Runge and Kutta's fourth order."""

        def rate(X: Floats, V: Floats) -> Floats:
            M, A, CV = self.dynamics(X, V)
            out: Floats = np.linalg.solve(M, A.T @ (tau - self.bq * (A @ V)) + hand(X, V) - CV)
            return out

        h = dt / self.sub_steps
        for _ in range(self.sub_steps):
            a1 = rate(X, V)
            V2 = V + 0.5 * h * a1
            a2 = rate(X + 0.5 * h * V, V2)
            V3 = V + 0.5 * h * a2
            a3 = rate(X + 0.5 * h * V2, V3)
            V4 = V + h * a3
            a4 = rate(X + h * V3, V4)
            X, V = X + h / 6.0 * (V + 2.0 * V2 + 2.0 * V3 + V4), V + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        return X, V


class NumpyRoom:
    """A block between four half-planes: sections 2.4, 3, 4 and 5."""

    def __init__(
        self, size_m: tuple[float, float], room_m: tuple[float, float], mass: Floats, settings: PlanarConfiguration,
        stiction: float = 0.1, stick_N_m: float = 2500.0, stick_Ns_m: float = 37.5,
    ) -> None:  # fmt: skip
        x, y = 0.5 * size_m[0], 0.5 * size_m[1]
        self.vertex = np.array([(-x, -y), (x, -y), (x, y), (-x, y)])
        self.n = np.array([(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])  # left, right, bottom, top
        self.t = np.stack([-self.n[:, 1], self.n[:, 0]], axis=1)
        self.face = 0.5 * np.array([room_m[0], room_m[0], room_m[1], room_m[1]])
        self.mass, self.X, self.v = np.array(mass, dtype=float), np.zeros(3), np.zeros(3)
        self.K, self.B, self.e, self.mu = (
            settings.stiffness_N_m, settings.damping_Ns_m, settings.restitution, settings.mu
        )  # fmt: skip
        self.a, self.K_r, self.beta = stiction, stick_N_m, stick_Ns_m
        self.touches: dict[tuple[int, int], Touch] = {}
        self.contact, self.struck = np.zeros(3), np.zeros(3)

    def touch(self, dt: float) -> None:
        """Contacts, impulses and forces at the pose and velocity now: `contact` and `struck`."""
        c, s = math.cos(self.X[2]), math.sin(self.X[2])
        r = self.vertex @ np.array([(c, s), (-s, c)])  # (4, 2) world axes
        depth = -((self.X[:2] + r) @ self.n.T + self.face)  # (vertex, wall)
        now = [(int(i), int(k)) for i, k in np.argwhere(depth > 0.0)]
        new = {pair for pair in now if pair not in self.touches}
        self.touches = {pair: self.touches.get(pair, Touch()) for pair in now}
        self.contact, self.struck = np.zeros(3), np.zeros(3)
        if not now:
            return
        i, k = np.array(now).T
        W, S = self.rows(r[i], self.n[k]), self.rows(r[i], self.t[k])
        g = W @ self.v
        hits = np.array([pair in new for pair in now]) & (-g > V_THRESHOLD)
        if hits.any():
            self.struck = W.T @ self.impulses(W, g, hits, depth[i, k], dt)
            self.v = self.v + self.struck / self.mass
        for (pair, touch), d, w, u in zip(self.touches.items(), depth[i, k], W, S, strict=True):
            assert pair in self.touches
            Fn = self.K * (2.0 * d - 1.5 * touch.d1 + 0.5 * touch.d2) - self.B * (w @ self.v)  # eq. (1)
            touch.d1, touch.d2 = d, touch.d1
            Fn = max(Fn, 0.0)
            self.contact += Fn * w - self.friction(touch, Fn, u @ self.v, dt) * u

    @staticmethod
    def rows(r: Floats, n: Floats) -> Floats:
        return np.column_stack([n, r[:, 0] * n[:, 1] - r[:, 1] * n[:, 0]])

    def friction(self, touch: Touch, Fn: float, slide: float, dt: float) -> float:
        """Eq. (2), the reset integrator; a slip goes on while it keeps its direction, though p0 grows."""
        p0 = self.mu * Fn / self.K_r
        p = min(max(touch.p, -p0), p0)
        touch.p = min(max(p + dt * slide, -p0), p0)
        at_bound = (slide > 0.0 and p >= p0) or (slide < 0.0 and p <= -p0)
        touch.slips = at_bound or (touch.slips and slide * p > 0.0)
        return self.K_r * p if touch.slips else (1.0 + self.a) * self.K_r * p + self.beta * slide

    def impulses(self, W: Floats, g: Floats, hits: np.ndarray, depth: Floats, dt: float) -> Floats:
        """Section 3.2, restitution bounded as in 3.3, by each first push, and by what all of them would create."""
        G = W / self.mass @ W.T
        kappa = self.K * dt * dt * np.diag(G)
        late = np.maximum(1.0, np.divide(depth, -g * dt, out=np.ones_like(g), where=hits))  # came in sideways: deeper
        e_max = np.minimum(np.sqrt(1.0 - kappa + kappa**2) - kappa, 1.0 - 2.0 * kappa * late)
        e = np.where(hits, np.clip(np.minimum(self.e, e_max), 0.0, None), 0.0)
        compression = complementary(G, g)
        push = np.where(hits, 2.0 * self.K * depth, 0.0) * dt
        low, high, share = 0.0, 1.0, 1.0
        for k in range(TRIES):
            L = compression + share * e * compression
            L = L + complementary(G, g + G @ L)
            after = L + push
            if after @ (g + 0.5 * G @ after) > 0.0:
                if share == 0.0:
                    break
                high = share
            elif k == 0:
                break
            else:
                low = share
            share = 0.0 if k == 0 else 0.5 * (low + high) if k < TRIES - 2 else low
        return L

    def move(self, wrench: Floats, dt: float) -> None:
        """Section 5."""
        v = self.v + dt * (wrench + self.contact) / self.mass
        self.X, self.v = self.X + 0.5 * dt * (self.v + v), v


def complementary(G: Floats, q: Floats) -> Floats:
    """0 <= z _|_ q + G z >= 0 by all active sets, with least squares on each: the reference's own way."""
    n = len(q)
    best, least = np.zeros(n), np.inf
    for some in itertools.product((False, True), repeat=n):
        P, z = np.flatnonzero(some), np.zeros(n)
        if len(P):
            z[P] = np.linalg.lstsq(G[np.ix_(P, P)], -q[P], rcond=1e-12)[0]
        y = q + G @ z
        wrong = max(0.0, -z.min(), -y.min(), np.abs(y[P]).max() if len(P) else 0.0)
        if wrong < least:
            best, least = z, wrong
        if wrong < 1e-13 * np.abs(q).max():
            break
    return best


@dataclass
class NumpyLane:
    """Section 1.10: device, observer, channels, impedance and block; steps with the hand's wish."""

    settings: PlanarConfiguration
    room: NumpyRoom
    stiffness: Floats  # K_x and B_x of the channels
    damping: Floats
    dt: float
    device: NumpyDevice = field(init=False)

    def __post_init__(self) -> None:
        self.device = NumpyDevice(self.settings)
        s = self.settings.scale
        self.ratio = np.array([s, s, 1.0])
        self.offset = np.array([*self.settings.offset, 0.0])
        self.X, self.V = (self.room.X - self.offset) / self.ratio, np.zeros(3)
        self.X_m, self.applied = self.X.copy(), np.zeros(3)
        self.x1, self.x2, self.M = np.full(3, np.nan), np.zeros(3), np.zeros((3, 3))
        self.pulse, self.pulse_left = np.zeros(3), 0
        self.f_h, self.v_m = np.zeros(3), np.zeros(3)

    def step(self, target: Floats, target_velocity: Floats) -> None:
        control, s, dt, room = self.settings.control, self.ratio, self.dt, self.room
        omega, zeta = control.omega_rad_s, control.zeta
        # 1, 2
        q = self.device.encoders(self.X)
        self.X_m = self.device.forward(q, self.X_m[2])
        if np.isnan(self.x1[0]):
            self.x1 = self.X_m.copy()
        e = self.X_m - self.x1
        self.v_m, self.f_h = self.x2 + 2.0 * zeta * omega * e, self.M @ (omega**2 * e)
        # 3
        f_c = self.stiffness * (self.offset + s * self.X_m - room.X) + self.damping * (s * self.v_m - room.v)
        room.touch(dt)
        f_e = room.contact + self.felt(room.struck)
        # 4
        f_cmd = s * (f_e - f_c)
        M, A, CV = self.device.dynamics(self.X_m, self.v_m)
        drag = self.device.bq * (A.T @ (A @ self.v_m))
        f = f_cmd - np.array(control.damping) * self.v_m
        if self.settings.impedance == "shaped":
            w = M @ ((f + self.f_h) / (room.mass * s * s)) + CV + drag - self.f_h
        else:
            w = f + CV
        w = self.inwards(w) + self.fence()
        E = self.device.l1 * np.stack([np.cos(q), np.sin(q)], axis=1)
        A_q = self.device.jacobian(self.X_m, E)
        tau = self.device.torques(A_q, w, dt)
        self.applied = A_q.T @ tau
        K_h, B_h = np.array(self.settings.hand.stiffness), np.array(self.settings.hand.damping)
        self.X, self.V = self.device.moved(
            self.X, self.V, tau, lambda X, V: K_h * (target - X) + B_h * (target_velocity - V), dt
        )
        # 5
        self.x2 = self.x2 + dt * (np.linalg.solve(M, self.applied - CV - drag) + omega**2 * e)
        self.x1 = self.x1 + dt * (self.x2 + 2.0 * zeta * omega * e)
        self.M = M
        room.move(self.f_h / s + f_c - np.array(control.damping) / (s * s) * room.v, dt)

    def felt(self, struck: Floats) -> Floats:
        """Impulses as pulses over some samples."""
        control = self.settings.control
        if struck.any():
            self.pulse = self.pulse + struck
            force = self.settings.scale * math.hypot(*self.pulse[:2]) / (self.dt * control.pulse_N)
            turn = abs(self.pulse[2]) / (self.dt * control.pulse_Nm)
            self.pulse_left = max(1, math.ceil(max(force, turn)))
        if self.pulse_left <= 0:
            return np.zeros(3)
        now: Floats = self.pulse / self.pulse_left
        self.pulse_left -= 1
        self.pulse = self.pulse - now if self.pulse_left else np.zeros(3)
        return now / self.dt

    def inwards(self, w: Floats) -> Floats:
        """Nothing but the fence pushes the handle where it is beyond it, but inwards."""
        device = self.settings.device
        beyond = np.abs(self.X_m[:2]) > [device.half_width_m, device.half_height_m]
        return np.array([*np.where(beyond & (w[:2] * self.X_m[:2] > 0.0), 0.0, w[:2]), w[2]])

    def fence(self) -> Floats:
        control, device = self.settings.control, self.settings.device
        border, out = np.array([device.half_width_m, device.half_height_m]), np.sign(self.X_m[:2])
        over = np.abs(self.X_m[:2]) - border
        push = np.maximum(0.0, control.fence_N_m * over + control.fence_Ns_m * out * self.v_m[:2])
        return np.array([*np.where(over > 0.0, -out * push, 0.0), 0.0])
