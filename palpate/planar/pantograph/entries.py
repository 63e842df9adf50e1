"""Doors from Python into the device's kernels, row by row of arrays; see facade.py."""

from __future__ import annotations

from palpate.jit import block_loader, entry, kernel
from palpate.planar.pantograph.dynamics import coriolis_back_of, coriolis_of, kinetic_energy, mass_of
from palpate.planar.pantograph.kinematics import elbows, forward, inverse, is_inside, jacobian, jacobian_of
from palpate.planar.pantograph.mechanism import Mechanism
from palpate.planar.pantograph.plant import HandSpring, Plant, move
from palpate.planar.pantograph.statics import share_torques
from palpate.spatial.vectors import get3, get4, put3

load_mechanism = block_loader((Mechanism, True))
load_plant = block_loader((Mechanism, True), (Plant, False), (HandSpring, True))


@kernel
def put4(out, i, x):
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = x


@entry("intp, float64[:, ::1], float64[:, ::1]")
def inverse_rows(address, poses, out):
    """Joint angles of n poses, out (n, 5): q and whether they exist."""
    (m,) = load_mechanism(address)
    for i in range(poses.shape[0]):
        q, ok = inverse(m, get3(poses, i))
        put4(out, i, q)
        out[i, 4] = ok


@entry("intp, float64[:, ::1], float64[::1]")
def inside_rows(address, poses, out):
    """Whether each of n poses is in the workspace."""
    (m,) = load_mechanism(address)
    for i in range(poses.shape[0]):
        out[i] = is_inside(m, get3(poses, i))


@entry("intp, float64[:, ::1], float64, float64[:, ::1]")
def forward_rows(address, angles, angle, out):
    """Poses of n joint angles one after the other, the angle unwrapped from `angle` on; out (n, 5): X, residual, ok."""
    (m,) = load_mechanism(address)
    for i in range(angles.shape[0]):
        X, residual, ok = forward(m, get4(angles, i), angle)
        put3(out, i, X)
        out[i, 3], out[i, 4] = residual, ok
        if ok:
            angle = X[2]


@entry("intp, float64[:, ::1], float64[:, ::1], float64[:, ::1]")
def jacobian_rows(address, poses, angles, out):
    """out (4 n, 3)."""
    (m,) = load_mechanism(address)
    for i in range(poses.shape[0]):
        a, b, c, d = jacobian(m, get3(poses, i), get4(angles, i))
        put3(out, 4 * i, a)
        put3(out, 4 * i + 1, b)
        put3(out, 4 * i + 2, c)
        put3(out, 4 * i + 3, d)


@entry("intp, float64[:, ::1], float64[:, ::1], intp, float64[:, ::1]")
def torque_rows(address, poses, wrenches, way, out):
    """out (n, 5): torques within the peak, and the share of the wrench that they make."""
    (m,) = load_mechanism(address)
    for i in range(poses.shape[0]):
        X = get3(poses, i)
        e, _ = elbows(m, X)
        tau, share = share_torques(m, jacobian_of(m, X, e), get3(wrenches, i), way)
        put4(out, i, tau)
        out[i, 4] = share


@entry("intp, float64[:, ::1], float64[:, ::1], float64[:, ::1]")
def dynamics_rows(address, poses, rates, out):
    """out (n, 13): M as (xx, xy, xt, yy, yt, tt), C V, C^T V, kinetic energy."""
    (m,) = load_mechanism(address)
    for i in range(poses.shape[0]):
        X, V = get3(poses, i), get3(rates, i)
        e, _ = elbows(m, X)
        M, f, g = mass_of(m, X, e), coriolis_of(m, X, e, V), coriolis_back_of(m, X, e, V)
        for k in range(6):
            out[i, k] = M[k]
        for k in range(3):
            out[i, 6 + k], out[i, 9 + k] = f[k], g[k]
        out[i, 12] = kinetic_energy(m, X, V)


@entry("intp, float64, float64[:, ::1]")
def move_rows(address, dt, out):
    """The plant under its held torques for n steps; out (n, 7): X, V, kinetic energy after each."""
    m, plant, hand = load_plant(address)
    for i in range(out.shape[0]):
        move(m, plant, hand, dt)
        X, V = plant.X, plant.V
        for k in range(3):
            out[i, k], out[i, 3 + k] = X[k], V[k]
        out[i, 6] = kinetic_energy(m, X, V)
