"""A plug-in simulation: HRP-2 stands, somebody pushes it from behind, and it comes back.

Runs by itself, or as `palpate run push_plugin.py --seconds 3`.
"""

import numpy as np

import palpate as pp


class Push:
    """60 N forward on the chest, for a fifth of a second."""

    force_N, begin_s, end_s = 60.0, 0.5, 0.7

    def make_world(self) -> pp.World:
        """What `palpate run` puts it into, unless it is told a scene."""
        return pp.World([pp.models.plane(), pp.models.hrp2()])

    def init(self, world: pp.World) -> None:
        world.hold(3000.0, 100.0)  # every joint, where it is
        self.leans = []

    def step(self, world: pp.World, dt: float) -> None:
        if self.begin_s <= world.time < self.end_s:
            world.apply("CHEST_JOINT1", force=(self.force_N, 0.0, 0.0))
        self.leans.append(np.degrees(np.arcsin(world.pose("WAIST")[0, 2])))  # z of the waist, forward

    def cleanup(self, world: pp.World) -> None:
        if self.leans:
            print(f"pushed with {self.force_N:g} N it leaned {max(self.leans):.2f} degrees, then {self.leans[-1]:.2f}")
            height = world.pose("WAIST")[2, 3]
            print(f"it {'stands' if height > 0.5 else 'has fallen'}, on {len(world.contacts)} contacts")


if __name__ == "__main__":
    push = Push()
    pp.run_simulation(push, push.make_world(), seconds=3.0)
