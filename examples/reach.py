"""A PUMA arm draws a straight line: inverse kinematics at every point, each from the one before.

    python reach.py [PICTURE.png]

With a file name it also draws the arm at each point, from the side.
"""

import sys

import numpy as np

import palpate as pp

POINTS = 9

model = pp.compile(pp.models.puma560())
q = model.posture("line_start")
first = pp.Transform.from_matrix(pp.forward_kinematics(model, q)[model.body("tool")])
last = pp.Transform.from_matrix(pp.forward_kinematics(model, model.posture("line_end"))[model.body("tool")])

path = []
print("x [m]    error       steps  joints [deg]")
for share in np.linspace(0.0, 1.0, POINTS):
    target = pp.Transform(first.R, (1.0 - share) * np.array(first.p) + share * np.array(last.p))
    fit = pp.inverse_kinematics(model, "tool", target, q)
    if not fit.converged:
        sys.exit(f"{target.p} is out of reach: {fit.error:.3g} is left")
    q = fit.q
    path.append(q)
    degrees = " ".join(f"{angle:6.1f}" for angle in np.degrees(q).round(6) + 0.0)
    print(f"{target.p[0]:.3f}    {fit.error:.1e}   {fit.iterations:3d}   {degrees}")

far = pp.inverse_kinematics(model, "tool", (2.0, 0.0, 0.0), q)  # position only, twice the arm's length away
print(f"2 m away: {'reached' if far.converged else 'not reached'}, {far.error:.2f} m short")

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    for n, q in enumerate(path):
        poses = pp.forward_kinematics(model, q)
        points = np.array([poses[model.body(name)][:3, 3] for name in ("link2", "link3", "link4", "tool")])
        axes.plot(points[:, 0], points[:, 2], "-o", color="#1f5fa8", alpha=0.3 + 0.7 * n / POINTS, ms=3)
    axes.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
    figure.savefig(sys.argv[1], dpi=120)
    print(f"drawn in {sys.argv[1]}")
