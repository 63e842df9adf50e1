"""Random mechanisms from watch to crane, and one written once more from the pictures: angles by the law of cosines,
velocities of every body by differences, in plain numpy."""

import math
from dataclasses import replace

import numpy as np

from palpate.planar.pantograph.mechanism import Pantograph

STANDARD = Pantograph()


def pantographs(n, seed=17):
    """n of them: links from 1 cm to 3 m, in any proportion that reaches a workspace, masses over four decades."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < n:
        size, heavy = 10.0 ** rng.uniform(-1.3, 1.0), 10.0 ** rng.uniform(-2.0, 2.0, 4)
        l1, l2 = size * rng.uniform(0.08, 0.35), size * rng.uniform(0.12, 0.45)
        mass = heavy * [0.06, 0.05, 0.15, 1.0]
        try:
            found.append(Pantograph(
                proximal_m=l1, distal_m=l2, base_m=size * rng.uniform(0.005, 0.3),
                offset_m=size * rng.uniform(0.1, 0.5),
                crank_m=size * rng.uniform(0.01, 0.3), proximal_kg=mass[0], distal_kg=mass[1], handle_kg=mass[2],
                rotor_kg_m2=8e-5 * size**2 * heavy[3], handle_kg_m2=mass[2] * (size * rng.uniform(0.02, 0.1)) ** 2,
                half_width_m=size * rng.uniform(0.01, 0.1), half_height_m=size * rng.uniform(0.01, 0.1),
            ))  # fmt: skip
        except ValueError:
            continue
    return found


def poses_in(pantograph, n, seed=0, turns=10.0):
    """(n, 3) in the nominal workspace, corners and middles of its sides first, any angle."""
    rng = np.random.default_rng(seed)
    poses = rng.uniform(-1.0, 1.0, (n, 3))
    edge = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]
    poses[: len(edge), :2] = edge[:n]
    return poses * [pantograph.half_width_m, pantograph.half_height_m, turns]


def rates_for(pantograph, n, seed=1):
    """(n, 3) such that translation and rotation matter alike."""
    size = pantograph.proximal_m
    return np.random.default_rng(seed).normal(size=(n, 3)) * [size, size, 2.0 * size / pantograph.crank_m]


def points(p, poses):
    """End points and elbows of the four legs, (n, 4, 2) each, by 1.3 of the reference."""
    poses = np.atleast_2d(poses)
    u = 0.5 * p.crank_m * np.stack([np.cos(poses[:, 2]), np.sin(poses[:, 2])], axis=1)
    ends, elbows = [], []
    for (bx, by), side, s in zip(
        [(-1, -1), (1, -1), (1, 1), (-1, 1)], (-1, -1, 1, 1), (1, -1, 1, -1), strict=True
    ):  # fmt: skip
        b = np.array([0.5 * p.base_m * bx, p.offset_m * by])
        P = poses[:, :2] + side * u
        r = P - b
        R = np.linalg.norm(r, axis=1)
        q = np.arctan2(r[:, 1], r[:, 0]) + s * np.arccos(
            (p.proximal_m**2 + R**2 - p.distal_m**2) / (2 * p.proximal_m * R)
        )
        ends.append(P)
        elbows.append(b + p.proximal_m * np.stack([np.cos(q), np.sin(q)], axis=1))
    return np.stack(ends, 1), np.stack(elbows, 1)


def kinetic(p, pose, rate, h=1e-6):
    """Kinetic energy [J] as moving points have it: from where they are a moment before and after."""
    before, after = (points(p, pose + sign * h * rate) for sign in (-1.0, 1.0))
    bases = 0.5 * p.base_m * np.array([[-1, 0], [1, 0], [1, 0], [-1, 0]]) + p.offset_m * np.array(
        [[0, -1], [0, -1], [0, 1], [0, 1]]
    )
    turning = lambda a, b: np.angle((b[..., 0] + 1j * b[..., 1]) / (a[..., 0] + 1j * a[..., 1])) / (2 * h)  # noqa: E731
    (P0, E0), (P1, E1) = before, after
    proximal = turning(E0 - bases, E1 - bases)
    distal = turning(P0 - E0, P1 - E1)
    middle = 0.5 * ((P1 + E1) - (P0 + E0)) / (2 * h)
    energy = 0.5 * p.handle_kg * (rate[0] ** 2 + rate[1] ** 2) + 0.5 * p.handle_kg_m2 * rate[2] ** 2
    energy += 0.5 * (p.rotor_kg_m2 + p.proximal_kg * p.proximal_m**2 / 3) * (proximal**2).sum()
    return energy + 0.5 * p.distal_kg * (middle**2).sum() + 0.5 * p.distal_kg * p.distal_m**2 / 12 * (distal**2).sum()


def without_friction(p, **changed):
    return replace(p, friction_Nms=0.0, **changed)


TURN = 2.0 * math.pi
