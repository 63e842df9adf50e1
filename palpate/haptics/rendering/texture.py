"""Textures: a height h over the surface, felt as depth and as a tilt of the normal.

    n' = unit(n - (grad h - (grad h . n) n)),  |F| = k (d + h)                reference on the mobile display 5.3

h is counted outward, so a bump is felt earlier and pushes back on its near side: then the force is, to first order in
the slope, the gradient of k (d + h)^2 / 2, and no closed path over the surface gives energy.  (The reference prints
d - h, which is the same law for heights counted inward.)  Below a depth of the pattern's amplitude, height and slope
shrink with the depth (Ho, Basdogan and Srinivasan 1999): contact begins without a jump and never with a negative force.

Sinusoid:    h = A sin(2 pi e.x / wavelength), x on the surface in the shape's frame, e the direction.
Height map:  h(u, v), bilinear between nodes over a patch of the shape's frame, as are its slopes; 0 outside.
Above 200 periods a second a 1 kHz loop would alias: the pattern fades out by 400.
"""

import math

from palpate.haptics.rendering.tables import (
    ALONG_U,
    ALONG_V,
    AMPLITUDE,
    LENGTH_U,
    LENGTH_V,
    ORIGIN,
    SINUSOID,
    WAVELENGTH,
)  # fmt: skip
from palpate.jit import kernel
from palpate.spatial.vectors import add, add_scaled, dot, scale, sub

FASTEST_HZ = 200.0  # passages of a period that are still felt in full


@kernel
def row(pattern, i, column):
    return (pattern[i, column], pattern[i, column + 1], pattern[i, column + 2])


@kernel
def sinusoid(f, i, x):
    """(h, grad h) at x of the shape's frame."""
    e, k = row(f.pattern, i, ALONG_U), 2.0 * math.pi / f.pattern[i, WAVELENGTH]
    phase, A = k * dot(e, sub(x, row(f.pattern, i, ORIGIN))), f.pattern[i, AMPLITUDE]
    return A * math.sin(phase), scale(A * k * math.cos(phase), e)


@kernel
def cell(at, nodes, repeats):
    """(node, node after it, part of the way) for a place counted in cells; the node is -1 outside."""
    if repeats:  # the last node is the first again
        span = nodes - 1.0
        at -= span * math.floor(at / span)
    if not 0.0 <= at <= nodes - 1.0:
        return -1, 0, 0.0
    k = min(int(at), nodes - 2)
    return k, k + 1, at - k


@kernel
def height_map(f, i, x):
    """(h, grad h) at x of the shape's frame."""
    begin, rows, columns, repeats = f.map[4 * i], f.map[4 * i + 1], f.map[4 * i + 2], f.map[4 * i + 3]
    d = sub(x, row(f.pattern, i, ORIGIN))
    u, v = row(f.pattern, i, ALONG_U), row(f.pattern, i, ALONG_V)
    i0, i1, a = cell(dot(d, u) / f.pattern[i, LENGTH_U] * (rows - 1), rows, repeats)
    j0, j1, b = cell(dot(d, v) / f.pattern[i, LENGTH_V] * (columns - 1), columns, repeats)
    if i0 < 0 or j0 < 0:
        return 0.0, (0.0, 0.0, 0.0)
    value = (0.0, 0.0, 0.0)  # height, slope along u, slope along v
    for k in range(4):
        r, s = i0 if k < 2 else i1, j0 if k % 2 == 0 else j1
        weight = (1.0 - a if k < 2 else a) * (1.0 - b if k % 2 == 0 else b)
        node = begin + r * columns + s
        value = add(value, (weight * f.height[node, 0], weight * f.height[node, 1], weight * f.height[node, 2]))
    return value[0], add(scale(value[1], u), scale(value[2], v))


@kernel
def textured(f, i, x, n, depth, speed, gain):
    """(depth that is felt [m], normal n') at x; shape's frame, `speed` along the surface [m/s], gain 0 .. 1."""
    h, slope = sinusoid(f, i, x) if f.texture[i] == SINUSOID else height_map(f, i, x)
    gain *= min(max(2.0 - speed / (f.pattern[i, WAVELENGTH] * FASTEST_HZ), 0.0), 1.0)
    amplitude = f.pattern[i, AMPLITUDE]
    if depth < amplitude:
        gain *= depth / amplitude
    tangential = add_scaled(slope, -dot(slope, n), n)
    tilted = add_scaled(n, -gain, tangential)
    return max(depth + gain * h, 0.0), scale(1.0 / math.sqrt(dot(tilted, tilted)), tilted)
