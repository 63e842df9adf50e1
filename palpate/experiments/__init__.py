"""Experiments: each a file with one function that makes claims, draws figures and can fail.  `palpate run NAME`."""

from palpate.registry import Registry

EXPERIMENTS: Registry = {
    "arm-line": ("palpate.experiments.arm_line:run", "the I-GMS line without interaction: link 2 meets the obstacle"),
    "arm-swing": (
        "palpate.experiments.arm_swing:run",
        "a PUMA arm swings freely and is pushed; energy is accounted for",
    ),
    "contact-scaling": (
        "palpate.experiments.contact_scaling:run",
        "time of a contact solve over contacts and bodies: dense, Lemke and the World's",
    ),
    "friction-cones": (
        "palpate.experiments.friction_cones:run",
        "friction on a polygon against the exact cone: direction, drag, time",
    ),
    "sync-vs-async": (
        "palpate.experiments.sync_vs_async:run",
        "a wall in step with the servo against a slow one: lag, energy, stability",
    ),
    "z-width": (
        "palpate.experiments.z_width:run",
        "which virtual walls a sampled device can show, and what remedies do",
    ),
}
