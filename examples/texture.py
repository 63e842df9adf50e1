"""Stroke a floor with ridges: the force of a texture, without a device, a world or a clock."""

import numpy as np

import palpate as pp

SPEED, DEPTH, RATE = 0.1, 1e-3, 1000.0  # of the stroke [m/s], of the press [m], updates a second
ridges = pp.Sinusoid(amplitude_m=0.2e-3, wavelength_m=4e-3)
smooth = pp.Surface(stiffness_N_m=1000.0, damping_Ns_m=0.0, static_friction=0.0, dynamic_friction=0.0)
rough = pp.Surface(stiffness_N_m=1000.0, damping_Ns_m=0.0, static_friction=0.0, dynamic_friction=0.0, texture=ridges)

t = np.arange(1000) / RATE
path = np.stack([SPEED * t, np.zeros_like(t), np.full_like(t, -DEPTH)], axis=1)  # behind the surface z = 0

for name, surface in (("smooth", smooth), ("ridges", rough)):
    _, force = pp.Proxy(pp.models.plane(), surface).follow(path)  # on the hand [N]
    force = force[200:]  # the stiffness comes slowly when a hand begins inside a solid
    work = (force[:, 0] * SPEED).sum() / RATE
    print(f"{name}: {force[:, 2].min():.2f} to {force[:, 2].max():.2f} N up, "
          f"{np.abs(force[:, 0]).max():.2f} N along, {1000 * work:+.3f} mJ of work")  # fmt: skip
    spectrum = np.abs(np.fft.rfft(force[:, 2] - force[:, 2].mean()))
    if spectrum.max() > 1e-6:
        print(f"it hums with {np.fft.rfftfreq(len(force), 1 / RATE)[spectrum.argmax()]:.0f} Hz: "
              f"{SPEED} m/s over ridges {1000 * ridges.wavelength_m:.0f} mm apart")  # fmt: skip

effects = pp.effects.Effects([pp.effects.Viscosity(2.0), pp.effects.Magnet(at=(0, 0, 0), range_m=0.02, max_N=1.0)])
print("in the air, 9 mm before a magnet, at rest:", effects.force((0.009, 0, 0)).round(2), "N")
