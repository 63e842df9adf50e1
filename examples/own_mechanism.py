"""A mechanism written by hand: a double pendulum that hangs on a ball joint and has a hinge as its elbow.

It swings for five seconds.  Nothing brakes it, so its energy must stay what it was.
"""

import numpy as np

import palpate as pp

LENGTH, RADIUS, MASS = 0.5, 0.05, 1.0  # of each rod [m], [m], [kg]
DT, STEPS = 1e-3, 5000  # five seconds


def rod(name: str) -> pp.Body:
    """A round rod that hangs from its own origin, along -z."""
    middle = pp.Transform(p=(0.0, 0.0, -LENGTH / 2))
    across = MASS * (RADIUS**2 / 4 + LENGTH**2 / 12)
    inertia = (across, across, MASS * RADIUS**2 / 2)  # about the middle; a rod without thickness could spin for free
    return pp.Body(name, MASS, middle.p, inertia, [pp.Shape("cylinder", (RADIUS, LENGTH), middle)])


pendulum = pp.MultiBody(
    "pendulum",
    bodies=[rod("upper"), rod("lower")],
    joints=[
        pp.Joint("shoulder", "spherical", "world", "upper"),
        pp.Joint("elbow", "revolute", "upper", "lower", pp.Transform(p=(0, 0, -LENGTH)), axis=(0, 1, 0)),
    ],
)
model = pp.compile(pendulum)
print(f"{model.name}: q has {model.nq} numbers (a quaternion and an angle), v has {model.nv}")

q, v, no_torque = model.neutral(), np.zeros(model.nv), np.zeros(model.nv)
q[model.q_index["shoulder"]] = pp.Rotation.about((1, 0, 0), np.radians(45)).wxyz
q[model.q_index["elbow"]] = np.radians(30)

start = pp.energy(model, q, v)
worst = fastest = 0.0
for _ in range(STEPS):  # the midpoint rule; `integrate` keeps the quaternion a quaternion
    v_middle = v + DT / 2 * pp.forward_dynamics(model, q, v, no_torque)
    q_middle = pp.integrate(model, q, v, DT / 2)
    v = v + DT * pp.forward_dynamics(model, q_middle, v_middle, no_torque)
    q = pp.integrate(model, q, v_middle, DT)
    energy = pp.energy(model, q, v)
    fastest = max(fastest, energy.kinetic)
    worst = max(worst, abs(energy.total - start.total))

print(f"swung for {STEPS * DT:g} s, at most {fastest:.2f} J kinetic")
print(f"energy kept to {worst / fastest:.1e} of that: {'good' if worst < 1e-3 * fastest else 'BAD'}")
