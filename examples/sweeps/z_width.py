"""A device of one axis is let go before a wall and pushed onto it: does it come to rest?"""

from palpate.experiments.z_width import Setup, drops, stable
from palpate.haptics.devices.simulation.phantom import L1, MODELS

PREMIUM, TOUCH = MODELS["phantom-premium-1.5"], MODELS["touch"]
DEVICES = {  # mass at the tip [kg], damping [N s/m], step of the position [m], rate [Hz]
    # apparent mass as its maker has it; the last device is invented
    "premium 1.5": (0.075, PREMIUM.viscous / L1**2, PREMIUM.quantum * L1, 1000.0),
    "touch": (TOUCH.tip_mass_kg, TOUCH.viscous, TOUCH.quantum, 1000.0),
    "planar 500 Hz": (0.35, 0.5, 20e-6, 500.0),
    "planar 4 kHz": (0.35, 0.5, 20e-6, 4000.0),
    "heavy": (1.5, 2.0, 10e-6, 1000.0),
}


def wall(device: str, stiffness_N_m: float, damping_Ns_m: float) -> dict[str, float]:
    """How far it still moves in the last of 5 s, whether that is rest, and the energy that came out of the wall."""
    mass_kg, own_Ns_m, encoder_m, rate_hz = DEVICES[device]
    setup = Setup(mass_kg=mass_kg, damping_Ns_m=own_Ns_m, encoder_m=encoder_m, rate_hz=rate_hz, filter_hz=0.1 * rate_hz)
    found = drops(setup, stiffness_N_m, damping_Ns_m)
    return {
        "motion_mm": 1e3 * float(found.motion_m),
        "settles": float(stable(setup, found)),
        "created_mJ": 1e3 * float(found.created_J),
    }
