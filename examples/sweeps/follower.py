"""A robot with a haptic arm follows people who walk at random, with gains that are not its own."""

import math
from dataclasses import replace

from palpate.experiments.mobile_follow import RIGS
from palpate.mobile.walking.follow import follow
from palpate.mobile.walking.users import explore

SECONDS = 20.0
RIG = RIGS["improved"]


def walk(gain_1_s: float, target_ms: float, speed_m_s: float, seed: int = 0) -> dict[str, float]:
    """How long the hand is out of reach, how near the robot comes, and whether it touches; 20 s."""
    follower = replace(RIG.follower, gain_1_s=gain_1_s, target_s=1e-3 * target_ms)
    events = explore(seed, SECONDS, speed_m_s, 180.0)
    numbers = follow(events, SECONDS, replace(RIG, follower=follower), seed % 10_000).numbers
    return {
        "off_percent": 100.0 * numbers.off_share,
        "least_distance_m": numbers.least_distance_m,
        "touched": float(not math.isnan(numbers.touched_s)),
    }
