"""A simulation of your own in one file: a ball that bounces, with fields, a setting and a plot of its own.

It runs in simulated time; with --touch on the page, where its restitution is a slider.
"""

from __future__ import annotations

import sys
from typing import Any

import palpate as pp
from palpate.frame import EVENT_AT, FIRST_OWN, Field, places
from palpate.jit import Struct, block_loader
from palpate.jit.routines import routine
from palpate.servo.head import Head, advance, begin_frame, end_frame, put_pose

RADIUS_M, START_M, USUAL, G_M_S2, UPRIGHT = 0.1, 1.0, 0.8, 9.81, (1.0, 0.0, 0.0, 0.0)
FIELDS = (
    Field("bounces", "i", (), "how often it has hit the floor"),
    Field("height_m", "f", (), "of its centre [m]"),
    Field("restitution", "f", (), "speed after a bounce over speed before"),
    Field("pose", "f", ("n_bodies", 7), "position [m] and quaternion (w, x, y, z) of each body in the world"),
)
At = places("At", FIELDS)  # where they lie in a frame


class Ball(Struct):
    height: float  # of its centre [m]
    speed: float  # upwards [m/s]
    restitution: float
    bounces: int


load = block_loader((Head, False), (At, False), (Ball, False))


@routine
def tick_ball(address):
    """Publish what is, then fall."""
    h, at, ball = load(address)
    if h.moving or h.showing:
        frame = begin_frame(h)
        h.frames[frame + at.bounces] = ball.bounces
        h.frames_f[frame + at.height_m], h.frames_f[frame + at.restitution] = ball.height, ball.restitution
        put_pose(h.frames_f, frame + at.pose, (0.0, 0.0, 0.0), UPRIGHT)  # of the world
        put_pose(h.frames_f, frame + at.pose + 7, (0.0, 0.0, ball.height), UPRIGHT)
        end_frame(h)
    if h.moving:
        ball.speed -= G_M_S2 * h.dt
        ball.height += ball.speed * h.dt
        if ball.height < RADIUS_M and ball.speed < 0.0:
            ball.height, ball.speed = RADIUS_M, -ball.restitution * ball.speed
            ball.bounces += 1
        advance(h)
    return 0


@routine
def reset_ball(address):
    _, _, ball = load(address)
    ball.height, ball.speed, ball.bounces = START_M, 0.0, 0
    return 0


@routine
def take_ball(address):
    h, _, ball = load(address)
    if h.event[EVENT_AT.kind] != FIRST_OWN:  # the first that it takes
        return 0
    ball.restitution = min(max(h.event_f[EVENT_AT.value], 0.0), 1.0)
    return 1


class Bouncing(pp.Simulation):
    name, title = "bouncing", "A ball that bounces"
    fields, at, takes = FIELDS, At, (pp.Event("restitution", 0.0, 1.0),)
    tick, reset, take = tick_ball, reset_ball, take_ball

    def __init__(self, rate_hz: float = 1000.0) -> None:
        super().__init__(Ball(restitution=USUAL), rate_hz=rate_hz, sizes={"n_bodies": 2})

    def hello(self) -> dict[str, Any]:
        floor = {"kind": "box", "size": [1.0, 1.0, 0.02], "position": [0.0, 0.0, -0.01], "color": [0.6, 0.65, 0.7, 1]}
        ball = {"kind": "sphere", "size": [RADIUS_M], "color": [0.85, 0.45, 0.2, 1.0]}
        return {
            "bodies": [{"name": "world", "shapes": [floor]}, {"name": "ball", "shapes": [ball]}],
            "start": [[0.0, 0.0, 0.0, *UPRIGHT], [0.0, 0.0, START_M, *UPRIGHT]],
            "settings": [{"event": "restitution", "label": "Restitution", "field": "restitution", "value": USUAL}],
            "plots": [{"title": "Height", "unit": "m", "series": [{"field": "height_m"}]}],
        }


if __name__ == "__main__":
    if "--touch" in sys.argv:
        pp.touch(Bouncing())
    else:
        run = pp.Run(Bouncing())
        run.seconds(3.0)
        print(f"{run.now['bounces']} bounces in 3 s, now at {run.now['height_m']:.3f} m")
