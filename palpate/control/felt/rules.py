"""Which pattern a window is, and how surely: a decision list of thresholds, each with a width.

A condition has a margin, its distance from its threshold in widths: positive, it holds.  A rule's margin is the least
of its conditions'.  The first rule that holds decides, and the margin of the answer is its own or, if that is less, the
distance by which an earlier rule did not hold: the distance to the nearest boundary between two answers.

    sureness = m / (1 + m)            0 on a boundary, 1/2 a width away from it

1 nothing is on                                                                     -> none
2 the point travels: reach > 12 mm and > 4 mm for each N of the peak                -> stroke
3 presses (along < -0.3), one way (> 0.7)
      brief (width < 0.15 s), turns at most twice (third < 0.3)                     -> tap
      brief (width < 0.2 s), three or four times (third > 0.3, fifth < 0.5)         -> double tap
4 turns five times, or three times and to and fro (one way < 0.7) or long and unevenly as in 5;
      above 1.2 N: a tremor is none, nor is a body that gives way once              -> shake
5 on for 0.82 s, unevenness < 0.25                                                  -> hold
6 along < 0 -> push, else -> pull
"""

from palpate.control.felt.tables import DOUBLE_TAP, HOLD, NONE, PULL, PUSH, SHAKE, STROKE, TAP
from palpate.jit import kernel

# Thresholds, each with its width: tuned on plain and stress touches of seed 1 (experiments/touches.py).  Two conditions
# of a shake, that tremor and a body that gives way are none, came of devices and of a simulated HRP-2, seed 1, too.
REACH_M, REACH_M_N, REACH_WIDTH = 0.012, 0.004, 0.006
BRIEF_S, BRIEF_DOUBLE_S, BRIEF_WIDTH = 0.15, 0.2, 0.03
PRESSES, PRESSES_WIDTH = -0.3, 0.3
ONE_WAY, ONE_WAY_WIDTH = 0.7, 0.15
TURN, TURN_TAP, TURN_WIDTH = 0.5, 0.3, 0.15  # of the peak; of taps, where a second one may be weak
TURN_NOISE = 4.5  # and not below so many times the noise
SHAKE_N, SHAKE_WIDTH = 1.2, 0.4
HOLD_S, HOLD_WIDTH = 0.82, 0.06
EVEN, EVEN_WIDTH = 0.25, 0.1
THERE_WIDTH = 0.5  # of the level
SIDE_WIDTH = 0.3


@kernel
def decide(p):
    """(pattern, margin) of the features in p."""
    there = (p.peak_N - p.level_N) / (THERE_WIDTH * p.level_N) if p.on_s > 0.0 else -1.0
    if p.on_s == 0.0:
        return NONE, min((p.level_N - p.peak_N) / (THERE_WIDTH * p.level_N), 1e3)
    noise = TURN_NOISE * p.noise_N / p.peak_N
    travels = (p.reach_m - max(REACH_M, REACH_M_N * p.peak_N)) / REACH_WIDTH
    brief = (BRIEF_S - p.width_s) / BRIEF_WIDTH
    presses = (PRESSES - p.along) / PRESSES_WIDTH
    one_way = (p.one_way - ONE_WAY) / ONE_WAY_WIDTH
    turns = (p.third - max(TURN, noise)) / TURN_WIDTH
    twice = (p.third - max(TURN_TAP, noise)) / TURN_WIDTH
    goes_on = (p.fifth - max(TURN, noise)) / TURN_WIDTH
    lasts = (p.on_s - HOLD_S) / HOLD_WIDTH
    even = (EVEN - p.unevenness) / EVEN_WIDTH

    margin = there
    if travels > 0.0:
        return STROKE, min(margin, travels)
    margin = min(margin, -travels)
    tap = min(brief, presses, one_way, -twice)
    if tap > 0.0:
        return TAP, min(margin, tap)
    margin = min(margin, -tap)
    double = min((BRIEF_DOUBLE_S - p.width_s) / BRIEF_WIDTH, presses, one_way, twice, -goes_on)
    if double > 0.0:
        return DOUBLE_TAP, min(margin, double)
    margin = min(margin, -double)
    shakes = min(max(goes_on, min(turns, max(-one_way, min(lasts, -even)))), (p.peak_N - SHAKE_N) / SHAKE_WIDTH)
    if shakes > 0.0:
        return SHAKE, min(margin, shakes)
    margin = min(margin, -shakes)
    holds = min(lasts, even)
    if holds > 0.0:
        return HOLD, min(margin, holds)
    margin = min(margin, -holds)
    return (PUSH, min(margin, -p.along / SIDE_WIDTH)) if p.along < 0.0 else (PULL, min(margin, p.along / SIDE_WIDTH))
