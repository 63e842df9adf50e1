"""Sine and cosine of many angles at once, without calls, so that the compiler can do four or eight side by side.

Reduction to |r| <= pi/4 by Cody and Waite, pi/2 in three parts whose products with n are exact or fused; then the
polynomials of fdlibm.  Within 2 units in the last place for |x| < LARGE, where libm takes over.
"""

import math

from numpy import floor

from palpate.jit import exact_kernel

LARGE = 1e5  # [rad]; beyond it the three parts of pi/2 run out of digits
TWO_OVER_PI = 6.36619772367581382433e-01
PI_2_A, PI_2_B, PI_2_C = 1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21

S1, S2, S3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
S4, S5, S6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
C1, C2, C3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
C4, C5, C6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11


@exact_kernel
def sincos(x, sin, cos):
    """x (n,) [rad] -> sin (n,), cos (n,)."""
    beyond = 0
    for i in range(x.shape[0]):
        n = floor(x[i] * TWO_OVER_PI + 0.5)
        r = ((x[i] - n * PI_2_A) - n * PI_2_B) - n * PI_2_C
        z = r * r
        s = r + r * z * (S1 + z * (S2 + z * (S3 + z * (S4 + z * (S5 + z * S6)))))
        c = 1.0 - (0.5 * z - z * z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * C6))))))
        quadrant = n - 4.0 * floor(0.25 * n)  # 0, 1, 2 or 3
        swapped = (quadrant == 1.0) | (quadrant == 3.0)
        a = c if swapped else s
        b = s if swapped else c
        sin[i] = -a if quadrant >= 2.0 else a
        cos[i] = -b if (quadrant == 1.0) | (quadrant == 2.0) else b
        beyond += not abs(x[i]) < LARGE
    if beyond:
        for i in range(x.shape[0]):
            sin[i], cos[i] = math.sin(x[i]), math.cos(x[i])
