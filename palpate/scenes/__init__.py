"""Ready-made scenes: functions shared by tests, benchmarks, experiments, page and command line."""

from palpate.registry import Registry

SCENES: Registry = {
    "arm": ("palpate.scenes.arm:arm", "a PUMA 560 draws a line there and back; pull it anywhere and it yields"),
    "arm-line": ("palpate.scenes.arm:arm_line", "the I-GMS line: a wall to reach, and an obstacle on the way"),
    "arm-rest": ("palpate.scenes.arm:arm_at_rest", "the same arm at rest: nothing moves until you pull"),
}
