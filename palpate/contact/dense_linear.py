"""Dense factorisations that the staged solver needs, in place, without allocation.  Rows are contiguous.

Twin of factor.py, which keeps the zeros of a graph of links out.
"""

import math

from palpate.jit import kernel


@kernel
def pivoted_cholesky(G, d, J, floor):
    """G = J J^T with as few columns as that takes: (rank, what is left).  J (n, n), d (n,) scratch.

    Takes the largest remaining diagonal each time and stops when all are at most `floor`.  The largest entry then left
    of G - J J^T is of that size too if G is positive semidefinite, and larger if it is not.
    """
    n = G.shape[0]
    rank = n
    for i in range(n):
        d[i] = G[i, i]
    for k in range(n):
        p = 0
        for i in range(1, n):
            if d[i] > d[p]:
                p = i
        if not d[p] > floor:
            rank = k
            break
        root = math.sqrt(d[p])
        for i in range(n):
            x = G[p, i]
            for j in range(k):
                x -= J[i, j] * J[p, j]
            if i != p:
                J[i, k] = x / root
                d[i] -= J[i, k] * J[i, k]
        J[p, k] = root
        d[p] = -math.inf  # taken
    left = 0.0
    for i in range(n):
        for j in range(i + 1):
            if d[i] > -math.inf and d[j] > -math.inf:
                x = G[i, j]
                for k in range(rank):
                    x -= J[i, k] * J[j, k]
                left = max(left, abs(x))
    return rank, left


@kernel
def solve_general(A, n, x):
    """x <- A^-1 x for the leading n x n part of A, which is destroyed.  Partial pivoting; False if A is singular."""
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if not abs(A[p, k]) > 0.0:
            return False
        if p != k:
            for j in range(k, n):
                A[k, j], A[p, j] = A[p, j], A[k, j]
            x[k], x[p] = x[p], x[k]
        inv = 1.0 / A[k, k]
        for i in range(k + 1, n):
            f = A[i, k] * inv
            if f != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= f * A[k, j]
                x[i] -= f * x[k]
    for i in range(n - 1, -1, -1):
        y = x[i]
        for j in range(i + 1, n):
            y -= A[i, j] * x[j]
        x[i] = y / A[i, i]
    return True


@kernel
def factor_positive(A, n):
    """The lower triangle of the leading n x n part becomes its Cholesky factor, with inverse diagonal."""
    for i in range(n):
        for j in range(i + 1):
            x = A[i, j]
            for k in range(j):
                x -= A[i, k] * A[j, k]
            if j < i:
                A[i, j] = x * A[j, j]
            else:
                A[i, i] = 1.0 / math.sqrt(x)


@kernel
def solve_factored(A, n, x):
    """x <- A^-1 x with what factor_positive left in A."""
    for i in range(n):
        y = x[i]
        for k in range(i):
            y -= A[i, k] * x[k]
        x[i] = y * A[i, i]
    for i in range(n - 1, -1, -1):
        y = x[i] * A[i, i]
        x[i] = y
        for k in range(i):
            x[k] -= A[i, k] * y
