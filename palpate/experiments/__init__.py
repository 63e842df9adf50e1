"""Experiments: each a file with one function that makes claims, draws figures and can fail.  `palpate run NAME`."""

from palpate.registry import Registry

EXPERIMENTS: Registry = {
    "arm-swing": (
        "palpate.experiments.arm_swing:run",
        "a PUMA arm swings freely and is pushed; energy is accounted for",
    ),
}
