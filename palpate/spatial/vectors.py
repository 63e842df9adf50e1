"""Kernels on small tuples: 3-vectors, row-major 3x3 rotations, symmetric 3x3 matrices.

Tuples live in registers, so these cost no memory traffic and read like the book.
R: 9 numbers, row-major.  Symmetric: (xx, yy, zz, xy, xz, yz).  get*/put* move rows of arrays in and out.
"""

import math

from numpy import uintp

from palpate.jit import kernel

LARGEST = 1.7976931348623157e308


@kernel
def is_finite(x):
    """Neither NaN nor infinite.  Not math.isfinite: our fast arithmetic may fold numba's to true."""
    return abs(x) <= LARGEST


@kernel
def finite3(x):
    """Whether all three are numbers."""
    return is_finite(x[0]) and is_finite(x[1]) and is_finite(x[2])


@kernel
def get3(array, i):
    i = uintp(i)
    return (array[i, 0], array[i, 1], array[i, 2])


@kernel
def put3(array, i, x):
    i = uintp(i)
    array[i, 0] = x[0]
    array[i, 1] = x[1]
    array[i, 2] = x[2]


@kernel
def part3(x, at):
    """Three numbers of a flat array, from `at` on."""
    return (x[at], x[at + 1], x[at + 2])


@kernel
def part4(x, at):
    return (x[at], x[at + 1], x[at + 2], x[at + 3])


@kernel
def put_part(x, at, values):
    for r in range(len(values)):
        x[at + r] = values[r]


@kernel
def get6(array, i):
    """Row i as (angular, linear)."""
    i = uintp(i)
    return (array[i, 0], array[i, 1], array[i, 2]), (array[i, 3], array[i, 4], array[i, 5])


@kernel
def put6(array, i, w, v):
    i = uintp(i)
    array[i, 0] = w[0]
    array[i, 1] = w[1]
    array[i, 2] = w[2]
    array[i, 3] = v[0]
    array[i, 4] = v[1]
    array[i, 5] = v[2]


@kernel
def add6(array, i, w, v):
    i = uintp(i)
    array[i, 0] += w[0]
    array[i, 1] += w[1]
    array[i, 2] += w[2]
    array[i, 3] += v[0]
    array[i, 4] += v[1]
    array[i, 5] += v[2]


@kernel
def get4(array, i):
    """Row i of an (n, 4) array as a tuple."""
    return (array[i, 0], array[i, 1], array[i, 2], array[i, 3])


@kernel
def get9(array, i):
    i = uintp(i)
    return (array[i, 0], array[i, 1], array[i, 2], array[i, 3], array[i, 4], array[i, 5],
            array[i, 6], array[i, 7], array[i, 8])  # fmt: skip


@kernel
def put9(array, i, R):
    i = uintp(i)
    for k in range(9):
        array[i, k] = R[k]


@kernel
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def length(x):
    return math.sqrt(dot(x, x))


@kernel
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def add(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def scale(s, a):
    return (s * a[0], s * a[1], s * a[2])


@kernel
def add_scaled(a, s, b):
    """a + s b."""
    return (a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2])


@kernel
def rotate(R, x):
    """R x."""
    return (R[0] * x[0] + R[1] * x[1] + R[2] * x[2],
            R[3] * x[0] + R[4] * x[1] + R[5] * x[2],
            R[6] * x[0] + R[7] * x[1] + R[8] * x[2])  # fmt: skip


@kernel
def rotate_back(R, x):
    """R^T x."""
    return (R[0] * x[0] + R[3] * x[1] + R[6] * x[2],
            R[1] * x[0] + R[4] * x[1] + R[7] * x[2],
            R[2] * x[0] + R[5] * x[1] + R[8] * x[2])  # fmt: skip


@kernel
def compose(A, B):
    """A B, both 3x3."""
    return (A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
            A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
            A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
            A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
            A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
            A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
            A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
            A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
            A[6] * B[2] + A[7] * B[5] + A[8] * B[8])  # fmt: skip


@kernel
def transpose(R):
    """R^T."""
    return (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8])


@kernel
def turn_z(R, c, s):
    """R Rz(angle), c and s its cosine and sine: the first two columns mix, the third stays."""
    return (c * R[0] + s * R[1], c * R[1] - s * R[0], R[2],
            c * R[3] + s * R[4], c * R[4] - s * R[3], R[5],
            c * R[6] + s * R[7], c * R[7] - s * R[6], R[8])  # fmt: skip


@kernel
def column(R, k):
    return (R[k], R[3 + k], R[6 + k])


@kernel
def inverse_symmetric(I):
    """The inverse of (xx, yy, zz, xy, xz, yz), as 9 numbers."""
    a, b, c, d, e, f = I
    A, B, C = b * c - f * f, e * f - d * c, d * f - e * b
    k = 1.0 / (a * A + d * B + e * C)
    x, y, z = k * (a * c - e * e), k * (d * e - a * f), k * (a * b - d * d)
    return (k * A, k * B, k * C, k * B, x, y, k * C, y, z)


@kernel
def solve_symmetric(I, x):
    """I^-1 x, I symmetric and positive definite, by elimination: no digits are lost where its moments differ much."""
    a, b, c, d, e, f = I
    A = 1.0 / a
    p, q = A * d, A * e
    B = 1.0 / (b - p * d)
    f = f - p * e
    r = B * f
    C = 1.0 / (c - q * e - r * f)
    y = x[1] - p * x[0]
    Z = C * (x[2] - q * x[0] - r * y)
    Y = B * y - r * Z
    return (A * x[0] - p * Y - q * Z, Y, Z)


@kernel
def inverse3(A):
    """The inverse of a 3x3 matrix by cofactors."""
    a, b, c = A[4] * A[8] - A[5] * A[7], A[5] * A[6] - A[3] * A[8], A[3] * A[7] - A[4] * A[6]
    k = 1.0 / (A[0] * a + A[1] * b + A[2] * c)
    return (k * a, k * (A[2] * A[7] - A[1] * A[8]), k * (A[1] * A[5] - A[2] * A[4]),
            k * b, k * (A[0] * A[8] - A[2] * A[6]), k * (A[2] * A[3] - A[0] * A[5]),
            k * c, k * (A[1] * A[6] - A[0] * A[7]), k * (A[0] * A[4] - A[1] * A[3]))  # fmt: skip


@kernel
def symmetric_times(I, x):
    """I x, I symmetric."""
    return (I[0] * x[0] + I[3] * x[1] + I[4] * x[2],
            I[3] * x[0] + I[1] * x[1] + I[5] * x[2],
            I[4] * x[0] + I[5] * x[1] + I[2] * x[2])  # fmt: skip


@kernel
def rotate_symmetric(R, I):
    """R I R^T, I symmetric."""
    x = symmetric_times(I, (R[0], R[1], R[2]))  # the rows of R I
    y = symmetric_times(I, (R[3], R[4], R[5]))
    z = symmetric_times(I, (R[6], R[7], R[8]))
    return (R[0] * x[0] + R[1] * x[1] + R[2] * x[2],
            R[3] * y[0] + R[4] * y[1] + R[5] * y[2],
            R[6] * z[0] + R[7] * z[1] + R[8] * z[2],
            R[3] * x[0] + R[4] * x[1] + R[5] * x[2],
            R[6] * x[0] + R[7] * x[1] + R[8] * x[2],
            R[6] * y[0] + R[7] * y[1] + R[8] * y[2])  # fmt: skip
