"""Frames, orders, signs and units, stated once; every other file cites this one.

Units            SI: m, kg, s, N, N m, rad.
World            x forward, y left, z up; gravity (0, 0, -9.81) m/s^2 unless a model says otherwise.
Spatial vectors  (angular, linear): motion (w, v), force (torque, force).
Quaternions      (w, x, y, z), Hamilton, unit, mapping child coordinates to parent coordinates.
Body arrays      row 0 is the world, and n_bodies counts it; parent[i] < i; subtrees are contiguous.
Free joint       q = (position, quaternion) of the child in the parent; v = (angular, linear) in the body frame.
Spherical joint  q = quaternion; v = angular velocity in the child frame.
Planar joint     q = (x, y, angle) in the joint frame whose z is the joint's axis; v = dq/dt.
Universal joint  q = the angles about the first axis, then about the second; v = dq/dt.
Cylindrical      q = (angle, travel) about and along the axis; v = dq/dt.
Contact rows     (normal, tangent 1, tangent 2); the normal points from the first body to the second;
                 gap < 0 is penetration.
Forces           on the body, from the outside; tau does positive work on v.
Fixed joints     weld: what they join moves as one *link*, so kernels count links while people count bodies.
"""

GRAVITY = (0.0, 0.0, -9.81)  # [m/s^2], world axes
WORLD = 0  # row of the world in every body and link array
