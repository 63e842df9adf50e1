"""Walls and frictions of the reference on planar haptics (6.2, 7.1, 8.4), in plain Python, straight from its text.

Walls: `force(d, C0, T, m)` while d > 0, `clear()` when d <= 0.  Frictions: `force(x, v, T)` with F_C and F_S given or
set from the normal force; `slips` after it.  Nothing here knows the compiled laws.
"""

import math

# ---- walls (6.2)


class Zoh:
    def __init__(self, K, B=0.0):
        self.K, self.B = K, B
        self.clear()

    def clear(self):
        self.d1 = self.d2 = 0.0

    def estimate(self, d):
        return d

    def force(self, d, C0, T, m):
        return max(0.0, self.K * self.estimate(d) + self.B * C0)


class Seh(Zoh):
    """Eq. (1): 2 d_k - 1.5 d_{k-1} + 0.5 d_{k-2}, history zero before contact."""

    def estimate(self, d):
        mean = 2.0 * d - 1.5 * self.d1 + 0.5 * self.d2
        self.d2, self.d1 = self.d1, d
        return mean


class Pi(Seh):
    """K d* + K_I I, I += T d; K_I I <= limit if one is given."""

    def __init__(self, K, K_I, hold="seh", limit=math.inf, B=0.0):
        self.K_I, self.hold, self.limit = K_I, hold, limit
        super().__init__(K, B)

    def clear(self):
        super().clear()
        self.integral = 0.0

    def force(self, d, C0, T, m):
        self.integral += T * d
        star = self.estimate(d) if self.hold == "seh" else d
        return max(0.0, self.K * star + self.B * C0 + min(self.K_I * self.integral, self.limit))


class Hysteretic(Seh):
    """A spring beside springs that end on blocks with dry friction."""

    def __init__(self, K0, k, f, hold="seh", B=0.0):
        self.k, self.f, self.hold = k, f, hold
        super().__init__(K0, B)

    def clear(self):
        super().clear()
        self.s = [0.0] * len(self.f)

    def force(self, d, C0, T, m):
        star = self.estimate(d) if self.hold == "seh" else d
        total = self.K * star + self.B * C0
        for i, f in enumerate(self.f):
            F = self.k * (star - self.s[i])
            if abs(F) > f:
                F = math.copysign(f, F)
                self.s[i] = star - F / self.k
            total += F
        return max(0.0, total)


# ---- frictions (7.1, 8.4); lumped values of the peg by default


class Friction:
    def __init__(self, F_C=6.0, a=0.1):
        self.F_C, self.a, self.slips = F_C, a, False

    @property
    def F_S(self):
        return (1.0 + self.a) * self.F_C


class Classical(Friction):
    def __init__(self, F_C=6.0, a=0.1, v_s=0.02):
        super().__init__(F_C, a)
        self.v_s = v_s

    def force(self, x, v, T):
        self.slips = abs(v) > self.v_s
        return math.copysign(self.F_C, v) if self.slips else self.F_S * v / self.v_s


class Karnopp(Friction):
    """Stick: PD about an anchor; the finger-pad is the same with other numbers."""

    def __init__(self, F_C=6.0, a=0.1, k=5000.0, damping=60.0, b_v=0.5, v_min=0.005):
        super().__init__(F_C, a)
        self.k, self.damping, self.b_v, self.v_min = k, damping, b_v, v_min
        self.anchor, self.way, self.fast = None, 0.0, False

    def force(self, x, v, T):
        if self.anchor is None:
            self.anchor = x
        if self.slips:
            self.fast = self.fast or abs(v) >= self.v_min
            if (self.fast and abs(v) < self.v_min) or v * self.way < 0.0:
                self.slips, self.anchor = False, x - self.way * self.F_C / self.k
        elif self.k * abs(x - self.anchor) > self.F_S:
            self.slips, self.way, self.fast = True, math.copysign(1.0, x - self.anchor), abs(v) >= self.v_min
        if self.slips:
            return self.F_C * self.way + self.b_v * v
        return self.k * (x - self.anchor) + self.damping * v


class FingerPad(Karnopp):
    def __init__(self, F_C=6.0, a=0.1, k=800.0, damping=20.0, b_v=0.5, v_min=0.005):
        super().__init__(F_C, a, k, damping, b_v, v_min)


class Dahl(Friction):
    """Stick-slip form, without drift: alpha = 0 in stick, 1 / z_k in slip."""

    def __init__(self, F_C=6.0, a=0.1, K=1500.0, damping=10.0):
        super().__init__(F_C, a)
        self.K, self.damping, self.w, self.before = K, damping, None, None

    def alpha(self, z, moved):
        if self.slips and moved * z <= 0.0:
            self.slips = False
        elif not self.slips and abs(z) > self.F_S / self.K:
            self.slips = True
        return self.K / self.F_C if self.slips else 0.0

    def force(self, x, v, T):
        if self.w is None:
            self.w = self.before = x
        z, moved = x - self.w, x - self.before
        z /= 1.0 + self.alpha(z, moved) * abs(moved)
        self.w, self.before = x - z, x
        return self.K * z + (0.0 if self.slips else self.damping * v)


class OriginalDahl(Dahl):
    """alpha = 1 / z_max always: it drifts."""

    def __init__(self, F_C=6.0, a=0.1, K=1500.0, damping=10.0):
        super().__init__(F_C, a, K, damping)

    def alpha(self, z, moved):
        return self.K / self.F_S


class ResetIntegrator(Friction):
    """Eq. (2)."""

    def __init__(self, F_C=6.0, a=0.1, K=10_000.0, beta=150.0):
        super().__init__(F_C, a)
        self.K, self.beta, self.p = K, beta, 0.0

    def force(self, x, v, T):
        p0 = self.F_C / self.K
        self.p = min(max(self.p, -p0), p0)
        self.slips = (v > 0.0 and self.p >= p0) or (v < 0.0 and self.p <= -p0)
        if self.slips:
            return self.K * self.p
        F = (1.0 + self.a) * self.K * self.p + self.beta * v
        self.p = min(max(self.p + T * v, -p0), p0)
        return F


class LuGre(Friction):
    def __init__(self, F_C=6.0, a=0.1, s0=5000.0, s1=100.0, s2=0.5, v_S=0.01):
        super().__init__(F_C, a)
        self.s0, self.s1, self.s2, self.v_S, self.z = s0, s1, s2, v_S, 0.0

    def alpha(self, v, z_ss):
        return 1.0

    def force(self, x, v, T):
        z_ss = (self.F_C + (self.F_S - self.F_C) * math.exp(-((v / self.v_S) ** 2))) / self.s0
        alpha = self.alpha(v, z_ss)
        z = (self.z + T * v) / (1.0 + alpha * T * abs(v) / z_ss)
        rate, self.z = (z - self.z) / T, z
        self.slips = abs(z) >= 0.99 * self.F_C / self.s0
        return self.s0 * z + self.s1 * rate + self.s2 * v


class ElastoPlastic(LuGre):
    def __init__(self, F_C=6.0, a=0.1, s0=5000.0, s1=100.0, s2=0.5, v_S=0.01, share=0.7):
        super().__init__(F_C, a, s0, s1, s2, v_S)
        self.share = share

    def alpha(self, v, z_ss):
        z, z_ba = self.z, self.share * self.F_C / self.s0
        if v * z <= 0.0 or abs(z) <= z_ba:
            return 0.0
        if abs(z) >= z_ss:
            return 1.0
        return 0.5 * math.sin(math.pi * (abs(z) - 0.5 * (z_ss + z_ba)) / (z_ss - z_ba)) + 0.5


# ---- loops (6.3, 7.2), lumped: one axis, section 5's update


def drop(wall, gap, seconds, m=1.0, F=5.0, T=2e-3, contacts=2, restitution=None):
    """Gap (n,) [m] of a block that is pushed flat onto a wall of so many vertices; restitution: the pulse's."""
    y, v, touching, out = gap, 0.0, False, []
    for _ in range(round(seconds / T)):
        out.append(y)
        d, Fn = -y, 0.0
        if d > 0.0:
            if not touching and restitution is not None and v < -1e-3:
                v = -restitution * v
            touching = True
            Fn = contacts * wall.force(d, -v, T, m)
        else:
            touching = False
            wall.clear()
        faster = v + T / m * (Fn - F)
        y, v = y + 0.5 * T * (v + faster), faster
    return out


def slide(friction, force, seconds, m=2.0, T=2e-3, x=0.1):
    """(place, speed, slips) (n,) each, of a mass under a force over time and a friction."""
    v, out = 0.0, []
    for k in range(round(seconds / T)):
        Ff = friction.force(x, v, T)
        out.append((x, v, friction.slips))
        faster = v + T / m * (force(k * T) - Ff)
        x, v = x + 0.5 * T * (v + faster), faster
    out.append((x, v, friction.slips))
    return out
