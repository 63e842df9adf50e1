"""What is seen in a window of touch, from samples of 5 ms (avatars.md 7, with what it says to try next).

    noise      of a sample and axis, from second differences d2: rms/sqrt 6 of those that are not far above the others
    bias       mean force of the quiet part, taken off
    on         above max(0.5 N, peak/4, 5.5 noise) until below max(0.35 N, peak/8, 3 noise); gaps < 40 ms are none
    width      sum |f| h / peak of a stretch that is on, the largest: how long it would last at full force, which tells
               a blow from a push better than its length
    along      sum f.n / sum |f|        one_way = |sum f| / sum |f|        unevenness = std |f| / mean |f|
    third      size of the third largest turn of the way to and fro along the principal axis of f - mean f, of the peak:
               a tap rises and falls (2), a double tap does so twice (4), a shake goes on; fifth likewise
    reach      how far the point goes from where the touch began

p Felt;  n rows of the window, in order;  h seconds of a row
"""

import math

from palpate.control.felt.tables import COLUMNS
from palpate.jit import kernel
from palpate.spatial.vectors import dot, get3, length, scale, sub

ON_N, ON_SHARE, ON_NOISE = 0.5, 0.25, 5.5  # a touch begins above the largest of these, and
OFF_N, OFF_SHARE, OFF_NOISE = 0.35, 0.12, 3.0  # ends below the largest of these
REST_N, REST_SHARE, REST_NOISE = 0.8, 0.15, 4.0  # for the bias: before it is known, it may be in the way
REST_ROWS = 10  # fewer are no quiet part
BIAS_N = 0.5  # a larger one is a touch
GAP_S = 0.04
FAR = 3.0  # second differences this many times above their mean are not noise
BEGIN_ROWS = 3  # the mean of so many points is where a touch began
AXIS_TURNS = 12  # of the power iteration
HALVINGS = 6


@kernel
def copy_window(p):
    """The rows of this touch in order; how many."""
    n, size = p.n_window, p.ring.shape[0]
    for i in range(n):
        row = (p.n_rows - n + i) % size
        for c in range(COLUMNS):
            p.window[i, c] = p.ring[row, c]
    return n


@kernel
def noise_of(p, n):
    """Standard deviation of a sample's noise, each axis."""
    if n < 3:
        return 0.0
    total = 0.0
    for i in range(1, n - 1):
        total += second_difference(p, i)
    limit, kept, count = FAR * total / (n - 2), 0.0, 0
    for i in range(1, n - 1):
        d2 = second_difference(p, i)
        if d2 <= limit:
            kept += d2
            count += 1
    return math.sqrt(kept / (18.0 * max(count, 1)))  # |f[i+1] - 2 f[i] + f[i-1]|^2 = 3 axes * 6 sigma^2


@kernel
def second_difference(p, i):
    """Squared."""
    total = 0.0
    for c in range(3):
        d = p.window[i + 1, c] - 2.0 * p.window[i, c] + p.window[i - 1, c]
        total += d * d
    return total


@kernel
def measure(p, n):
    """|f| of every row; the largest."""
    peak = 0.0
    for i in range(n):
        p.size[i] = length(get3(p.window, i))
        peak = max(peak, p.size[i])
    return peak


@kernel
def take_off_bias(p, n, peak, noise):
    """The mean force of the quiet part is none of the touch's."""
    level = max(REST_N, REST_SHARE * peak, REST_NOISE * noise)
    x, y, z, along, count = 0.0, 0.0, 0.0, 0.0, 0
    for i in range(n):
        if p.size[i] < level:
            x, y, z = x + p.window[i, 0], y + p.window[i, 1], z + p.window[i, 2]
            along += p.window[i, 6]
            count += 1
    if count < REST_ROWS:
        return
    bias = (x / count, y / count, z / count)
    share = min(1.0, BIAS_N / max(length(bias), 1e-9))
    for i in range(n):
        for c in range(3):
            p.window[i, c] -= share * bias[c]
        p.window[i, 6] -= share * along / count


@kernel
def find_on(p, n, h):
    """Where the touch is on; how many rows, and the width of the widest stretch."""
    begin = max(ON_N, ON_SHARE * p.peak_N, ON_NOISE * p.noise_N)
    end = max(OFF_N, OFF_SHARE * p.peak_N, OFF_NOISE * p.noise_N)
    gap = round(GAP_S / h)
    p.level_N = begin
    is_on, last = False, -1
    for i in range(n):
        is_on = p.size[i] > (end if is_on else begin)
        p.on[i] = 1.0 if is_on else 0.0
        if is_on:
            if last >= 0 and 1 < i - last <= gap:
                for k in range(last + 1, i):
                    p.on[k] = 1.0
            last = i
    rows, width, total, peak = 0, 0.0, 0.0, 0.0
    for i in range(n):
        if p.on[i] > 0.0:
            rows, total, peak = rows + 1, total + p.size[i], max(peak, p.size[i])
        if peak > 0.0 and (i == n - 1 or p.on[i] == 0.0):  # a stretch ends
            width, total, peak = max(width, total / peak), 0.0, 0.0
    return rows, width * h


@kernel
def principal_axis(p, n, mean):
    """Of the force about its mean while on: power iteration on the covariance, from its largest column."""
    xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        if p.on[i] > 0.0:
            x, y, z = sub(get3(p.window, i), mean)
            xx, yy, zz = xx + x * x, yy + y * y, zz + z * z
            xy, xz, yz = xy + x * y, xz + x * z, yz + y * z
    axis = (xx, xy, xz)
    if yy > xx and yy >= zz:
        axis = (xy, yy, yz)
    elif zz > xx:
        axis = (xz, yz, zz)
    for _ in range(AXIS_TURNS):
        size = length(axis)
        if size < 1e-12:
            return (1.0, 0.0, 0.0)
        x, y, z = scale(1.0 / size, axis)
        axis = (xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z)
    return scale(1.0 / max(length(axis), 1e-12), axis)


@kernel
def turns_so_often(p, first, end, least, wanted):
    """Whether the force turns `wanted` times, by more than `least` [N] each time, from row `first` to before `end`."""
    low, high, rises, count = p.swing[first], p.swing[first], False, 0
    for i in range(first, end):
        x = p.swing[i]
        low, high = min(low, x), max(high, x)  # since the last turn
        if x - low > least and not (rises and count):
            rises, count, high = True, count + 1, x
        elif high - x > least and (rises or not count):
            rises, count, low = False, count + 1, x
        if count == wanted:
            return True
    return False


@kernel
def size_of_swings(p, first, end, wanted, most):
    """The largest share of the peak, at most `most`, by which the force turns so often; bisected."""
    if turns_so_often(p, first, end, most * p.peak_N, wanted):
        return most
    low, high = 0.0, most
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if turns_so_often(p, first, end, middle * p.peak_N, wanted):
            low = middle
        else:
            high = middle
    return low


@kernel
def reach_of(p, n, first):
    """How far the point goes from where the touch began."""
    x, y, z = 0.0, 0.0, 0.0
    rows = min(BEGIN_ROWS, n - first)
    for i in range(first, first + rows):
        x, y, z = x + p.window[i, 3], y + p.window[i, 4], z + p.window[i, 5]
    begin, farthest = (x / rows, y / rows, z / rows), 0.0
    for i in range(first, n):
        if p.on[i] > 0.0:
            farthest = max(farthest, length(sub((p.window[i, 3], p.window[i, 4], p.window[i, 5]), begin)))
    return farthest


@kernel
def look(p):
    """All features of the newest window."""
    n, h = copy_window(p), p.per_sample * p.dt
    p.noise_N = noise_of(p, n)
    take_off_bias(p, n, measure(p, n), p.noise_N)
    p.peak_N = measure(p, n)
    rows, p.width_s = find_on(p, n, h)
    p.on_s = rows * h
    p.along, p.one_way, p.unevenness, p.third, p.fifth, p.reach_m = 0.0, 1.0, 0.0, 0.0, 0.0, 0.0
    p.force, p.point = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if rows == 0:
        return
    first, last = -1, 0
    total, squares, along = 0.0, 0.0, 0.0
    fx, fy, fz, px, py, pz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        if p.on[i] > 0.0:
            first, last = i if first < 0 else first, i
            total, squares, along = total + p.size[i], squares + p.size[i] * p.size[i], along + p.window[i, 6]
            fx, fy, fz = fx + p.window[i, 0], fy + p.window[i, 1], fz + p.window[i, 2]
            px, py, pz = px + p.window[i, 3], py + p.window[i, 4], pz + p.window[i, 5]
    mean = (fx / rows, fy / rows, fz / rows)
    p.force, p.point = mean, (px / rows, py / rows, pz / rows)
    p.along, p.one_way = along / total, rows * length(mean) / total
    p.unevenness = math.sqrt(max(rows * squares / (total * total) - 1.0, 0.0))
    axis = principal_axis(p, n, mean)
    for i in range(n):
        p.swing[i] = dot(axis, get3(p.window, i))
    first_swing, end_swing = max(first - 1, 0), min(last + 2, n)
    p.third = size_of_swings(p, first_swing, end_swing, 3, 1.0)
    p.fifth = size_of_swings(p, first_swing, end_swing, 5, p.third)
    p.reach_m = reach_of(p, n, first)
