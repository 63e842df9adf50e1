"""A hand on a PHANToM leads a block across a network: what delay and loss do, with energy tanks and without."""

from dataclasses import replace

import numpy as np

import palpate as pp
from palpate.haptics.devices.simulation.simulated import Simulated
from palpate.link.impair import Impairments
from palpate.runtime.link.simulated import SimulatedLink

SECONDS = 3.0
# 5 cm to the left and back, softly held
HAND = pp.Hand(
    intent=((1.0, (0, 0, 0)), *((1.0 + 0.4 * k, (0, 0.05 * (k % 2), 0)) for k in range(1, 6))),
    holds=((0.1, 1e3),), stiffness_N_m=50.0, damping_Ns_m=0.5,
)  # fmt: skip


def block() -> pp.Scene:
    """2 kg that float."""
    world = pp.World([pp.models.box((0.1, 0.1, 0.1), mass=2.0, name="tool")], gravity=(0, 0, 0))
    return pp.Scene("block", "A block", world)


def lead(delay_ms: float, loss_percent: float, passivity: str, seed: int = 0) -> dict[str, float]:
    """Energy that the link made out of nothing, and how the force on the hand shakes above 20 Hz, rms of 2 s."""
    there = Impairments(delay_s=1e-3 * delay_ms, loss=0.01 * loss_percent, seed=seed)
    device = Simulated(hand=HAND)
    device.spec = replace(device.spec, continuous_force_N=np.inf)
    device.open()
    reach = pp.Reach(place=pp.Transform(p=(0.0, 0.0, 0.06)), passivity=passivity, stiffness_N_m=3000.0)
    link = SimulatedLink(block(), block(), [(device, reach)], there, replace(there, seed=seed + 1))
    link.run(SECONDS)
    force = link.history("device_force", hand=True)[:, 0]
    smooth = np.apply_along_axis(lambda f: np.convolve(f, np.ones(50) / 50.0, "same"), 0, force)
    given = work_of_the_hand(link, force) + work_of_the_block(link)
    return {
        "made_mJ": 1e3 * max(0.0, -float(given.min())),
        "shaking_N": float(np.sqrt(np.mean(np.sum((force - smooth)[-2000:-50] ** 2, axis=1)))),
    }


def work_of_the_hand(link: SimulatedLink, force: np.ndarray) -> np.ndarray:
    """(ticks - 1,) that it gave to the link so far, in the block's units [J]."""
    way = np.diff(link.history("device_position", hand=True)[:, 0], axis=0)
    return -np.cumsum(np.sum(link.reaching[0].weight * force[:-1] * way, axis=1))


def work_of_the_block(link: SimulatedLink) -> np.ndarray:
    """The same of the block: of the point where it is held, which turns with it."""
    force, point = (link.history(name)[:-1, 0] for name in ("hand_force", "hand_point"))
    pose = link.history("pose")[:, 1]
    before, after = pose[:-1], pose[1:]
    in_block = turned(before[:, 3:] * (1, -1, -1, -1), point - before[:, :3])
    return -np.cumsum(np.sum(force * (after[:, :3] + turned(after[:, 3:], in_block) - point), axis=1))


def turned(quaternion: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(n, 3) vectors turned by (n, 4) quaternions."""
    w, u = quaternion[:, :1], quaternion[:, 1:]
    return v + 2.0 * np.cross(u, np.cross(u, v) + w * v)
