"""A wall of one's own beside two that are there: how high does what is dropped on it come back?

Run it:  python examples/own_wall.py            prints the comparison
         python examples/own_wall.py --touch    feel it: a box on the ground, both with this wall
A wall is a function of depth and approach, compiled and called by address.  The same law works in palpate's planar
scenes, on a World's surfaces and here, in one dimension.
"""

import sys

import palpate as pp
from palpate.planar.trials import apexes, impacts, press


@pp.wall_law(stiffness_N_m=2500.0, damping_Ns_m=0.0, kept=0.8)
def clay(depth, approach, dt, mass, setting, state):
    """A spring of which a share `kept` is left on the way out; state[0]: depth of the sample before."""
    leaves = depth < state[0]
    state[0] = depth
    return setting[0] * depth * (setting[2] if leaves else 1.0)


def compare(wall: object) -> None:
    """Drop a block of 1 kg on two vertices, 5 N, 20 mm, 500 Hz."""
    drop = press(wall, contacts=2, seconds=4.0)
    height = 1e3 * apexes(drop.x)
    gave = -1e3 * drop.absorbed.min()  # beyond what it had taken
    verdict = f"gave {gave:.0f} mJ" if gave > 1e-9 else "gave nothing that it did not take"
    heights = ", ".join(f"{mm:.1f}" for mm in height[:3])
    print(f"{getattr(wall, 'name', wall):5s} {len(impacts(drop.x)):2d} impacts; {heights} mm; {verdict}")


if "--touch" in sys.argv:
    soft = pp.Surface(stiffness_N_m=800.0, wall=clay, friction="reset-integrator")
    pp.touch(pp.World([pp.models.plane(), pp.models.box((0.1, 0.1, 0.1), at=(0.0, 0.0, 0.05))]), surface=soft)
else:
    for wall in ("zoh", "seh", clay):
        compare(wall)
    for kept in (0.8, 0.4):
        drop = press(clay, wall_settings={"kept": kept}, contacts=2)
        print(f"{kept:.0%} kept: after 10 s {'at rest' if drop.x[-500:].max() < 0.0 else 'it still hops'}")
