"""Small dense symmetric positive definite systems, in place, without allocation."""

import math

from palpate.jit import kernel


@kernel
def cholesky_solve(H, x):
    """x <- H^-1 x; the lower triangle of H (n, n) becomes its Cholesky factor.  False if H is not positive."""
    n = H.shape[0]
    for j in range(n):
        for k in range(j):
            for i in range(j, n):
                H[i, j] -= H[i, k] * H[j, k]
        if not H[j, j] > 0.0:
            return False
        scale = 1.0 / math.sqrt(H[j, j])
        for i in range(j, n):
            H[i, j] *= scale
    for i in range(n):
        for k in range(i):
            x[i] -= H[i, k] * x[k]
        x[i] /= H[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= H[k, i] * x[k]
        x[i] /= H[i, i]
    return True
