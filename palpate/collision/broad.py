"""Which proxies are near each other: boxes along the world's axes, sorted along the one on which they spread most."""

from palpate.conventions import WORLD
from palpate.jit import kernel
from palpate.spatial.vectors import add, get3, get9, rotate

# Gaps of the sort (Ciura 2001): quick on last time's order, and bounded when everything moved.
SHELL = (1750, 701, 301, 132, 57, 23, 10, 4, 1)


@kernel
def place_boxes(g, c):
    """The box around each proxy, half the margin added: two that overlap may hold shapes within the margin."""
    margin = 0.5 * c.margin
    for i in range(g.proxy_link.shape[0] - g.n_planes):
        link = g.proxy_link[i]
        if c.still[link] and c.anew == 0 and link != WORLD:
            continue
        R = get9(c.link_R, link)
        centre = add(get3(c.link_p, link), rotate(R, get3(g.proxy_centre, i)))
        h = get3(g.proxy_half, i)
        for k in range(3):
            half = abs(R[3 * k]) * h[0] + abs(R[3 * k + 1]) * h[1] + abs(R[3 * k + 2]) * h[2] + margin
            c.low[i, k] = centre[k] - half
            c.high[i, k] = centre[k] + half


@kernel
def widest_axis(link, box_low, box_high, n):
    """The axis on which the centres of the moving proxies spread most; depends on nothing but where they are."""
    sums, squares, moving = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0
    for i in range(n):
        if link[i] != 0:
            x = add(get3(box_low, i), get3(box_high, i))
            sums = add(sums, x)
            squares = add(squares, (x[0] * x[0], x[1] * x[1], x[2] * x[2]))
            moving += 1
    x = squares[0] * moving - sums[0] * sums[0]
    y = squares[1] * moving - sums[1] * sums[1]
    z = squares[2] * moving - sums[2] * sums[2]
    if x >= y and x >= z:
        return 0
    return 1 if y >= z else 2


@kernel
def sort_boxes(order, boxes, box_low, box_high, n, axis):
    """The order by the low ends along the axis, equal ones by number: one order, whatever it was before."""
    for gap in SHELL:
        if 4 * gap < n or gap == 1:  # a few are as quick without
            for i in range(gap, n):
                mine = order[i]
                low = box_low[mine, axis]
                j = i - gap
                while j >= 0 and (
                    box_low[order[j], axis] > low or (box_low[order[j], axis] == low and order[j] > mine)
                ):
                    order[j + gap] = order[j]
                    j -= gap
                order[j + gap] = mine
    u, v = (axis + 1) % 3, (axis + 2) % 3
    for i in range(n):
        k = order[i]
        boxes[i, 0], boxes[i, 1] = box_low[k, axis], box_high[k, axis]
        boxes[i, 2], boxes[i, 3] = box_low[k, u], box_high[k, u]
        boxes[i, 4], boxes[i, 5] = box_low[k, v], box_high[k, v]


@kernel
def excludes(begin, excluded, i, j):
    """Whether a filter keeps proxies i < j apart."""
    for k in range(begin[i], begin[i + 1]):
        if excluded[k] == j:
            return True
    return False
