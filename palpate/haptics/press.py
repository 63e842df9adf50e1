"""A tip that presses on a surface: a hand without a hold, taken as one plane of the body at a time.

d    = n.(p - tip)                     how deep the tip is; p a point of the surface, n its outward normal
f    = k d + b max(0, d'),  d > 0      along -n on the body: damped on the way in, never sticky;  b = sqrt(k m)
                                                                       reference on articulated bodies 3.1
It acts where the tip is, at c = tip + d n, so that d' = n.(v_c - v_tip) even while the plane turns about p, and f does
exactly the work that the spring gives.

What holds f back (its limit, and how fast it may rise) does so on the way in, when the spring would be loaded, and not
on the way out: a stiff tip would then give more than it took.  So the spring keeps an account, and pays only what it
has:

E   += f.(dtip - T (v + v+)/2)         absorbed in the period before: what the hand did, less what the body got;  v, v+
                                       of c, as the body moved at its ends
f   <= the largest with                -T f d' + T^2 f^2 / m <= E + R,   R a reserve, so that a force can begin at all

E is zero where the tip is outside.  A surface that is chosen anew under the tip, as the hand slides over an edge,
changes d without work: E stays.
"""

import math

from palpate.haptics.tank import RESERVE_J, affordable_share
from palpate.jit import kernel
from palpate.spatial.vectors import add_scaled, dot, sub

LIGHTEST_KG = 1e-6  # a body that shows less is taken to have this much


@kernel
def depth_of(normal, point, tip):
    """d [m]."""
    return dot(normal, sub(point, tip))


@kernel
def press(stiffness, mass, depth, closing, before, most, rise, stored, dt):
    """(force [N], whether `most`, whether the rise or the account held it back) at `depth` [m].

    closing  d' [m/s];  mass  that the body shows there [kg];  before, most, rise  force of the tick before, its limit
    and what it may rise by [N];  stored  E [J]
    """
    wanted = stiffness * depth + math.sqrt(stiffness * mass) * max(0.0, closing)
    limited = min(wanted, most)
    force = min(limited, before + rise)
    yields, work = dt * dt * force * force / max(mass, LIGHTEST_KG), -dt * force * closing
    force *= affordable_share(yields, work, max(stored + RESERVE_J, 0.0))
    return force, limited < wanted, force < limited


@kernel
def touched_point(normal, tip, depth):
    """c: where the tip meets the surface, world [m]."""
    return add_scaled(tip, depth, normal)
