"""Two loops to try the control in, sample by sample: the set-ups of reference 10.1 on planar haptics.

observe   the device under a soft spring to where it started, w = -K (X - X_0) - B v, and a history of pushes
couple    a hand leads the device, which is coupled to a body in front of a wall x = wall_x: two vertices of the body,
          each with a share of the wall's stiffness and damping, their force by eq. (1) (sample, estimate and hold):
          Fn = max(0, K (2 d_k - 1.5 d_k-1 + 0.5 d_k-2) + B d'), depths d clipped at 0
The order of a sample is that of 1.10: sense, estimate, forces, command, act, update.
"""

from __future__ import annotations

import math

from palpate.jit import Struct, Vector, block_loader, entry, kernel
from palpate.planar.control.channels import Channels, couple, to_master, to_slave
from palpate.planar.control.impedance import Impedance, impedance
from palpate.planar.control.observer import Observer, estimate, update
from palpate.planar.pantograph.drive import Drive, act, sense
from palpate.planar.pantograph.mechanism import Mechanism
from palpate.planar.pantograph.plant import HandSpring, Plant
from palpate.spatial.vectors import add, get3, get4, sub

# columns of what a loop writes, three each: true pose and rate, pose measured; what the observer says; true force of
# the hand; the body; what the wall does to it; then the command as applied, and single numbers
X, V, MEASURED, RATE, COPY_RATE, FELT, HAND, BODY, WALL, APPLIED = range(0, 30, 3)
LARGEST_TORQUE, RESIDUAL, FAULT, SCALE = range(30, 34)
COLUMNS = 34


class Trial(Struct):
    """What is not the device's: the spring of `observe`; body and wall of `couple`."""

    dt: float  # [s]
    home: Vector
    stiffness: Vector
    damping: Vector
    biased: int  # 1: use the copy's own rate x2 as the velocity, the pitfall of 1.7
    body: Vector  # X_s
    body_rate: Vector
    inertia: Vector  # M_s
    body_damping: Vector  # B_d
    wall_x: float  # [m]
    wall_K: float  # of both vertices [N/m]
    wall_B: float
    vertex: Vector  # (x, +-y) in the body's frame [m]
    depth_1: Vector  # the depths of the two vertices a sample ago, and two
    depth_2: Vector


load = block_loader(
    (Mechanism, True), (Plant, False), (HandSpring, False), (Drive, False), (Observer, False), (Impedance, False),
    (Channels, False), (Trial, False),
)  # fmt: skip


@kernel
def vertex_force(trial, turn, sign, before, twice):
    """(wrench of the wall on the body at one vertex, its depth)."""
    c, s = math.cos(turn), math.sin(turn)
    a, b, v = trial.vertex[0], sign * trial.vertex[1], trial.body_rate
    x, y = c * a - s * b, s * a + c * b
    depth = max(0.0, trial.body[0] + x - trial.wall_x)
    if depth <= 0.0:
        return (0.0, 0.0, 0.0), 0.0
    approach = v[0] - v[2] * y
    push = 0.5 * (trial.wall_K * (2.0 * depth - 1.5 * before + 0.5 * twice) + trial.wall_B * approach)
    push = max(0.0, push)
    return (-push, 0.0, y * push), depth


@kernel
def wall_force(trial):
    """f_e, of the wall on the body."""
    turn, one, two = trial.body[2], trial.depth_1, trial.depth_2
    upper, d = vertex_force(trial, turn, 1.0, one[0], two[0])
    lower, e = vertex_force(trial, turn, -1.0, one[1], two[1])
    trial.depth_2 = one
    trial.depth_1 = (d, e, 0.0)
    return add(upper, lower)


@kernel
def move_body(trial, f):
    """Section 5: v+ = v + f dt/m,  x+ = x + dt (v + v+)/2."""
    v, m, dt = trial.body_rate, trial.inertia, trial.dt
    after = (v[0] + dt * f[0] / m[0], v[1] + dt * f[1] / m[1], v[2] + dt * f[2] / m[2])
    H, X_s = 0.5 * dt, trial.body
    trial.body = (X_s[0] + H * (v[0] + after[0]), X_s[1] + H * (v[1] + after[1]), X_s[2] + H * (v[2] + after[2]))
    trial.body_rate = after


@kernel
def note(out, i, plant, drive, observer, trial, f_e):
    """What was so when this sample was taken, and what it led to."""
    put_at(out, i, X, plant.X)
    put_at(out, i, V, plant.V)
    put_at(out, i, MEASURED, drive.X)
    put_at(out, i, RATE, observer.velocity)
    put_at(out, i, COPY_RATE, observer.x2)
    put_at(out, i, FELT, observer.force)
    put_at(out, i, HAND, plant.hand_wrench)
    put_at(out, i, BODY, trial.body)
    put_at(out, i, WALL, f_e)


@kernel
def note_command(out, i, drive):
    put_at(out, i, APPLIED, drive.applied)
    tau = drive.torque
    out[i, LARGEST_TORQUE] = max(max(abs(tau[0]), abs(tau[1])), max(abs(tau[2]), abs(tau[3])))
    out[i, RESIDUAL], out[i, FAULT], out[i, SCALE] = drive.residual, drive.fault, drive.scale


@kernel
def put_at(out, i, k, x):
    out[i, k], out[i, k + 1], out[i, k + 2] = x


@entry("intp, float64[:, ::1], float64[:, ::1], float64[:, ::1]")
def observe_rows(address, pushes, noise, out):
    """pushes (n, 3) of the hand; noise (n, 4) on the joints' angles or none; out (n, COLUMNS)."""
    m, plant, hand, drive, observer, _, _, trial = load(address)
    for i in range(pushes.shape[0]):
        hand.push = get3(pushes, i)
        if noise.shape[0] > 0:
            plant.encoder_error = get4(noise, i)
        sense(m, drive, plant)
        estimate(observer, drive.X)
        note(out, i, plant, drive, observer, trial, (0.0, 0.0, 0.0))
        k, b, x = trial.stiffness, trial.damping, sub(drive.X, trial.home)
        v = observer.x2 if trial.biased else observer.velocity
        drive.wrench = (-k[0] * x[0] - b[0] * v[0], -k[1] * x[1] - b[1] * v[1], -k[2] * x[2] - b[2] * v[2])
        act(m, drive, plant, hand, trial.dt)
        update(observer, m, drive.X, drive.applied, trial.dt)
        note_command(out, i, drive)


@entry("intp, float64[:, ::1], float64[:, ::1]")
def couple_rows(address, targets, out):
    """targets (n, 3) of the hand; out (n, COLUMNS)."""
    m, plant, hand, drive, observer, target, channels, trial = load(address)
    for i in range(targets.shape[0]):
        hand.target = get3(targets, i)
        sense(m, drive, plant)
        estimate(observer, drive.X)
        v = observer.x2 if trial.biased else observer.velocity
        f_c = couple(channels, drive.X, v, trial.body, trial.body_rate)
        f_e = wall_force(trial)
        note(out, i, plant, drive, observer, trial, f_e)
        drive.wrench = impedance(target, m, drive.X, v, observer.force, to_master(channels, f_c, f_e))
        act(m, drive, plant, hand, trial.dt)
        update(observer, m, drive.X, drive.applied, trial.dt)
        b, u = trial.body_damping, trial.body_rate
        f = add(add(to_slave(channels, f_c, observer.force), f_e), (-b[0] * u[0], -b[1] * u[1], -b[2] * u[2]))
        move_body(trial, f)
        note_command(out, i, drive)
