"""A mass is pushed onto each wall of the planar interface, with the steps of an encoder and a raw velocity."""

import numpy as np

from palpate.planar.trials import press


def wall(law: str, stiffness_N_m: float, rate_hz: float, seed: int = 0) -> dict[str, float]:
    """How far it moves in the last of 4 s, how its force shakes, and the most energy that the wall gave."""
    push_N = np.random.default_rng(seed).uniform(1.5, 2.5)  # else some walls rest on a step of the encoder, by chance
    run = press(
        law, wall_settings={"stiffness_N_m": stiffness_N_m, "damping_Ns_m": 5.0}, push_N=push_N, gap_m=0.005,
        mass_kg=0.35, damping_Ns_m=0.5, dt_s=1.0 / rate_hz, seconds=4.0, encoder_m=20e-6, velocity_hz=np.inf,
    )  # fmt: skip
    last = slice(-round(rate_hz), None)
    return {
        "motion_mm": 1e3 * float(np.ptp(run.x[last])),
        "ripple_N": float(run.force[last].std()),
        "given_mJ": max(0.0, -1e3 * float(run.absorbed.min())),
    }
