"""Doors from Python into the chain's kernels, row by row of arrays; see kinematics.py."""

from palpate.haptics.devices.simulation.phantom import forward, inverse
from palpate.jit import block_loader, entry
from palpate.mobile.geometry.chain import (
    Linkage,
    arm_jacobian,
    arm_torque,
    base_jacobian,
    base_reaction,
    heading_of,
    hip,
    hip_rotation,
    robot_origin,
)
from palpate.spatial.vectors import get3, put3

load_linkage = block_loader((Linkage, True))


@entry("intp, float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1]")
def pose_rows(address, tracker_heading, S, theta, out):
    """out (n, 16): HIP, rotation of the tool, R, phi."""
    (c,) = load_linkage(address)
    for i in range(out.shape[0]):
        phi, angles = heading_of(c, tracker_heading[i]), get3(theta, i)
        R = robot_origin(c, phi, get3(S, i))
        put3(out, i, hip(c, phi, R, angles))
        axes = hip_rotation(phi, angles)
        for k in range(9):
            out[i, 3 + k] = axes[k]
        for k in range(3):
            out[i, 12 + k] = R[k]
        out[i, 15] = phi


@entry("intp, float64[::1], float64[:, ::1], float64[:, ::1]")
def jacobian_rows(address, phi, theta, out):
    """out (n, 21): J_R and J_P."""
    (c,) = load_linkage(address)
    for i in range(out.shape[0]):
        base, arm = base_jacobian(c, phi[i], get3(theta, i)), arm_jacobian(c, phi[i], get3(theta, i))
        for k in range(12):
            out[i, k] = base[k]
        for k in range(9):
            out[i, 12 + k] = arm[k]


@entry("intp, float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1]")
def force_rows(address, phi, theta, F, out):
    """out (n, 7): torques of the joints, reaction on the base."""
    (c,) = load_linkage(address)
    for i in range(out.shape[0]):
        put3(out, i, arm_torque(c, phi[i], get3(theta, i), get3(F, i)))
        reaction = base_reaction(c, phi[i], get3(theta, i), get3(F, i))
        for k in range(4):
            out[i, 3 + k] = reaction[k]


@entry("intp, float64[:, ::1], float64[:, ::1]")
def tip_rows(address, theta, out):
    """out (n, 3): the tip in the device's axes."""
    (c,) = load_linkage(address)
    for i in range(out.shape[0]):
        put3(out, i, forward(c.l1, c.l2, get3(theta, i)))


@entry("intp, float64[:, ::1], float64[:, ::1]")
def angle_rows(address, points, out):
    """out (n, 4): joint angles of points in the device's axes, and whether they can be reached."""
    (c,) = load_linkage(address)
    for i in range(out.shape[0]):
        theta, reachable = inverse(c.l1, c.l2, get3(points, i))
        put3(out, i, theta)
        out[i, 3] = reachable
