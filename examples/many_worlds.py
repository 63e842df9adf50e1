"""How hard may HRP-2 be pushed before it falls?  Many copies of one world find out at once, on all cores.

python examples/many_worlds.py
"""

import numpy as np

import palpate as pp

world = pp.World([pp.models.hrp2(sole="spheres"), pp.models.plane()])
world.hold(stiffness=2000.0, damping=60.0)
world.step(500)  # it settles on its soles

forces = np.arange(50.0, 450.0, 25.0)  # [N], for 0.2 s, at the chest
pushes = np.zeros((len(forces), 1000, 6))  # (torque, force) in each of 1000 steps
pushes[:, :200, 3] = forces[:, None]

with pp.Batch(world, len(forces)) as batch:
    for name, way in (("forwards", 1.0), ("backwards", -1.0)):
        batch.reset()
        run = batch.rollout(pushes={"CHEST_JOINT1": way * pushes})
        height = run.q[:, -1, 2]  # of the waist, 1 s after the push began
        stands = height > 0.9 * world.q[2]
        print(f"{name}: stands {forces[stands].max():.0f} N, falls at {forces[~stands].min():.0f} N")

    batch.reset()
    batch.set_friction(np.linspace(0.05, 0.8, batch.n))  # and on floors from ice to rubber, with one push for all
    run = batch.rollout(pushes={"CHEST_JOINT1": pushes[2]})
    slid = np.abs(run.q[:, -1, 0] - world.q[0])
    print(
        f"on ice it slides {100 * slid[0]:.0f} cm; on rubber it rocks, within {100 * slid[-1]:.0f} cm of where it was"
    )
