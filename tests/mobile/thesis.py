"""What the thesis prints, in its millimetres, written from the reference and not from the code; and random poses."""

import numpy as np

L = 4191 / 20  # both links
INITIAL = np.array([206.0, 0.0, -370.0, -1.6, -235.8, 59.2])  # SRx, SRy, SRz, RPx, RPy, RPz
CALIBRATED = np.array([203.1, 1.8, -387.6, -2.1, -232.8, 41.6])
# regression vector of 2.6
HEADING = np.radians(30.0)
THETA = np.radians([10.0, 20.0, 15.0])
SENSOR = np.array([500.0, -300.0, 1900.0])


def matrix(rows, translation):
    return np.vstack([np.column_stack([np.array(rows, float), translation]), [0.0, 0.0, 0.0, 1.0]])


def printed_base(heading, sensor, offsets):
    """W_T_I, I_T_S, S_T_R, R_T_P as (4.1) to (4.4) have them."""
    c, s = np.cos(heading), np.sin(heading)
    return (
        matrix([[0, 1, 0], [0, 0, -1], [-1, 0, 0]], (0, 2624, 0)),
        matrix([[c, -s, 0], [s, c, 0], [0, 0, -1]], sensor),
        matrix([[0, -1, 0], [-1, 0, 0], [0, 0, 1]], offsets[:3]),
        matrix([[1, 0, 0], [0, 0, -1], [0, 1, 0]], offsets[3:]),
    )


def printed_tool(theta, l1=L, l2=L):
    """(4.5) as printed: its rotation is none."""
    (c1, c2, c3), (s1, s2, s3) = np.cos(theta), np.sin(theta)
    r = l1 * c2 + l2 * s3
    return matrix([[c1, -s1 * s3, -s1 * s3], [0, c3, s3], [s1, -c1 * s3, -c1 * c3]],
                  (s1 * r, l2 + l1 * s2 - l2 * c3, -l1 + c1 * r))  # fmt: skip


def corrected_tool(theta, l1=L, l2=L):
    """With the three entries of 2.5."""
    T = printed_tool(theta, l1, l2)
    c1, s1, c3 = np.cos(theta[0]), np.sin(theta[0]), np.cos(theta[2])
    T[0, 2], T[2, 0], T[2, 2] = s1 * c3, -s1, c1 * c3
    return T


def tool_in_world(heading, sensor, theta, offsets, l1=L, l2=L):
    a, b, c, d = printed_base(heading, sensor, offsets)
    return a @ b @ c @ d @ corrected_tool(theta, l1, l2)


def closed_form(heading, sensor, theta, forward, across, up):
    """X, Y, Z of 4.3 (and of chapter 5) with their constants: 2209/5, 8/5, 10091/4 for the initial offsets."""
    (c2, c3), (s2, s3) = np.cos(theta[1:]), np.sin(theta[1:])
    r, a = L * (c2 + s3), heading - theta[0]
    return np.array([
        sensor[1] + r * np.sin(a) + (forward - L) * np.sin(heading) + across * np.cos(heading),
        up + L * (s2 - c3) - sensor[2],
        -sensor[0] - r * np.cos(a) - (forward - L) * np.cos(heading) + across * np.sin(heading),
    ])  # fmt: skip


def poses(n, seed):
    """Headings, sensors [mm] and joint angles, all of any size."""
    rng = np.random.default_rng(seed)
    sensors = rng.uniform(-1.0, 1.0, (n, 3)) * (3000.0, 3000.0, 600.0) + (0.0, 0.0, 1900.0)
    return rng.uniform(-7.0, 7.0, n), sensors, rng.uniform(-np.pi, np.pi, (n, 3))
