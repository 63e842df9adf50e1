"""Quaternion kernels: (w, x, y, z), Hamilton, child to parent."""

import math

from palpate.jit import kernel

# Below this square of an angle [rad^2] sine and cosine are their series: the next term is under 1e-19 of the first.
SMALL_SQUARE = 0.25**2


@kernel
def quaternion_matrix(w, x, y, z):
    """R of a quaternion, row-major; its length may be off by rounding, the result's is not."""
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return (1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y),
            s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x),
            s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y))  # fmt: skip


@kernel
def quaternion_product(a, b):
    """a o b."""
    return (a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0])  # fmt: skip


@kernel
def conjugate(q):
    """The turn back, of a unit quaternion."""
    return (q[0], -q[1], -q[2], -q[3])


@kernel
def quaternion_exp(x, y, z):
    """The turn by the rotation vector (x, y, z) [rad]."""
    square = x * x + y * y + z * z
    if square < SMALL_SQUARE:  # of nearly all turns in a step: no root, no division, no call
        h = 0.25 * square
        c = 1.0 - h / 2.0 * (1.0 - h / 12.0 * (1.0 - h / 30.0 * (1.0 - h / 56.0 * (1.0 - h / 90.0))))
        s = 0.5 - h / 12.0 * (1.0 - h / 20.0 * (1.0 - h / 42.0 * (1.0 - h / 72.0 * (1.0 - h / 110.0))))
    else:
        angle = math.sqrt(square)
        c, s = math.cos(0.5 * angle), math.sin(0.5 * angle) / angle
    return (c, s * x, s * y, s * z)


@kernel
def quaternion_log(q):
    """The rotation vector of a unit quaternion, the shorter way round [rad]."""
    sign = -1.0 if q[0] < 0.0 else 1.0
    w, x, y, z = sign * q[0], sign * q[1], sign * q[2], sign * q[3]
    s = math.sqrt(x * x + y * y + z * z)
    # 2 atan2(s, w) / s, and its limit 2/w at s = 0
    k = 2.0 * math.atan2(s, w) / s if s > 1e-12 else 2.0 / w
    return (k * x, k * y, k * z)


@kernel
def rotation_between(before, now):
    """The rotation vector r, R_now = exp(r) R_before, the shorter way round; of a steady turn, w T [rad]."""
    return quaternion_log(quaternion_product(now, conjugate(before)))


@kernel
def quaternion_unit(q):
    s = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (s * q[0], s * q[1], s * q[2], s * q[3])


@kernel
def matrix_quaternion(R):
    """Unit quaternion of a rotation matrix, from its largest pivot."""
    t = (1.0 + R[0] + R[4] + R[8], 1.0 + R[0] - R[4] - R[8], 1.0 - R[0] + R[4] - R[8], 1.0 - R[0] - R[4] + R[8])
    if t[0] >= t[1] and t[0] >= t[2] and t[0] >= t[3]:
        return quaternion_unit((t[0], R[7] - R[5], R[2] - R[6], R[3] - R[1]))
    if t[1] >= t[2] and t[1] >= t[3]:
        return quaternion_unit((R[7] - R[5], t[1], R[3] + R[1], R[2] + R[6]))
    if t[2] >= t[3]:
        return quaternion_unit((R[2] - R[6], R[3] + R[1], t[2], R[7] + R[5]))
    return quaternion_unit((R[3] - R[1], R[2] + R[6], R[7] + R[5], t[3]))
