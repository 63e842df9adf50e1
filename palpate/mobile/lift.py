"""temporary"""
from __future__ import annotations
from palpate.jit import Struct, kernel
class Lift(Struct):
    on: int
    y: float
    velocity: float
    acceleration: float
def new_lift(height, on, tick_hz):
    return Lift(on=int(on))
@kernel
def lift_step(l, k, hand_y, allowed):
    l.acceleration = 0.0
