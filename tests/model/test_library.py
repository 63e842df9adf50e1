"""The ready-made models keep their published numbers.

Items are those of the acceptance list of reference/articulated-haptics.md, section 9; tables are its 5.2, 5.3, 6.6.
"""

import itertools
import math

import numpy as np
import pytest

import palpate as pp

AVATARS = [pp.models.hrp2(), pp.models.hrp2(sole="spheres"), pp.models.human(), pp.models.human(sole="spheres")]
ALL_MODELS = [
    pp.models.puma560(), *AVATARS, pp.models.ball(), pp.models.box(), pp.models.capsule(), pp.models.cylinder(),
    pp.models.plane(), pp.models.ball(fixed=True, at=(1, 2, 3)),
]  # fmt: skip


def body_poses(description, posture=None):
    """name -> (4, 4) pose in the world."""
    model = pp.compile(description)
    q = model.neutral() if posture is None else model.posture(posture)
    return dict(zip(model.body_names, pp.forward_kinematics(model, q), strict=True))


def centre_of_mass(description, posture):
    poses = body_poses(description, posture)
    return sum(b.mass * (poses[b.name] @ [*b.com, 1.0])[:3] for b in description.bodies) / description.mass


def z_extent(shape, X_world_body):
    """(lowest, highest) z of a shape in the world."""
    X = X_world_body @ shape.placement.matrix()
    down = np.abs(X[2, :3])  # world z in the shape's axes
    half = {
        "sphere": lambda r: r,
        "capsule": lambda r, length: r + 0.5 * length * down[2],
        "cylinder": lambda r, length: r * math.hypot(down[0], down[1]) + 0.5 * length * down[2],
        "box": lambda *edges: 0.5 * down @ edges,
    }[shape.kind](*shape.size)
    return X[2, 3] - half, X[2, 3] + half


def body_extent(description, posture, touched_only=False):
    poses = body_poses(description, posture)
    extents = [
        z_extent(shape, poses[b.name])
        for b in description.bodies
        for shape in b.shapes
        if not (touched_only and shape.role == "visual")
    ]
    return min(low for low, _ in extents), max(high for _, high in extents)


def stature(description, posture=None):
    low, high = body_extent(description, posture)
    return high - low


def mirror_y(X):
    M = np.diag([1.0, -1.0, 1.0, 1.0])
    return M @ X @ M


# ---- all


@pytest.mark.parametrize("description", ALL_MODELS, ids=lambda d: d.name)
def test_every_model_compiles_and_has_a_start_within_its_ranges(description):
    model = pp.compile(description)
    q = model.posture("start")
    assert q.shape == (model.nq,)
    assert (model.lower <= q).all()
    assert (q <= model.upper).all()


@pytest.mark.parametrize("description", AVATARS, ids=lambda d: d.name)
def test_an_avatar_starts_with_its_soles_on_the_ground(description):
    low, _ = body_extent(description, "start", touched_only=True)
    assert low == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("make", [pp.models.hrp2, pp.models.human])
def test_an_avatar_is_its_own_mirror_image(make):
    description = make()
    poses = body_poses(description, "start")
    bodies = {b.name: b for b in description.bodies}
    joints = {j.child: j for j in description.joints}
    left_names = [n for n in bodies if n.startswith("L") or n.endswith("_l")]
    assert left_names
    for left in left_names:
        right = left[:-1] + "r" if left.endswith("_l") else "R" + left[1:]
        a, b = bodies[left], bodies[right]
        np.testing.assert_allclose(poses[left], mirror_y(poses[right]), atol=1e-12)
        np.testing.assert_allclose(a.com, np.multiply(b.com, (1, -1, 1)))
        np.testing.assert_allclose(a.inertia, b.inertia)
        assert a.mass == b.mass
        for shape_left, shape_right in zip(a.shapes, b.shapes, strict=True):
            assert (shape_left.kind, shape_left.size, shape_left.role) == (
                shape_right.kind, pytest.approx(shape_right.size), shape_right.role)  # fmt: skip
        points = [np.sort([s.placement.p[1] * sign for s in body.shapes]) for body, sign in ((a, 1), (b, -1))]
        np.testing.assert_allclose(points[0], points[1], atol=1e-12)
        if joints[left].nq == 1:
            ends = (joints[right].lower, joints[right].upper)
            same = joints[left].axis[1] == 1.0  # turns about y are the same on both sides, others change sign
            assert (joints[left].lower, joints[left].upper) == (ends if same else (-ends[1], -ends[0]))


@pytest.mark.parametrize("make", [pp.models.hrp2, pp.models.human])
def test_an_avatar_can_be_put_anywhere(make):
    turn = pp.Rotation.about((0, 0, 1), 0.7)
    X = pp.Transform(turn, (1.0, -2.0, 0.3)).matrix()
    here, there = body_poses(make(), "start"), body_poses(make(at=(1.0, -2.0, 0.3), R=turn), "start")
    for name in here.keys() - {"world"}:
        np.testing.assert_allclose(there[name], X @ here[name], atol=1e-12)


@pytest.mark.parametrize(("make", "per_foot"), [(pp.models.hrp2, 16), (pp.models.human, 52)])
def test_a_sole_of_spheres_touches_at_the_published_number_of_points(make, per_foot):
    description = make(sole="spheres")
    low, _ = body_extent(make(sole="box"), "start", touched_only=True)
    poses = body_poses(description, "start")
    feet = [b for b in description.bodies if any(s.kind == "sphere" and s.role == "collision" for s in b.shapes)]
    points = [(b, s) for b in feet for s in b.shapes if s.role != "visual"]
    assert len(feet) == 2
    assert len(points) == 2 * per_foot  # 32 for HRP-2, 104 for the human
    for b, s in points:
        assert z_extent(s, poses[b.name])[0] == pytest.approx(low, abs=1e-12)


@pytest.mark.parametrize("description", [pp.models.hrp2(), pp.models.human()], ids=lambda d: d.name)
def test_what_is_touched_does_not_overlap_at_the_start_unless_a_joint_is_between(description):
    coal = pytest.importorskip("coal")
    make = {"box": coal.Box, "capsule": coal.Capsule, "sphere": coal.Sphere}
    poses = body_poses(description, "start")
    jointed = {frozenset((j.parent, j.child)) for j in description.joints}
    parts = []
    for body in description.bodies:
        for shape in body.shapes:
            if shape.role != "visual":
                X = poses[body.name] @ shape.placement.matrix()
                parts.append((body.name, make[shape.kind](*shape.size), coal.Transform3s(X[:3, :3], X[:3, 3])))
    for (name_a, a, X_a), (name_b, b, X_b) in itertools.combinations(parts, 2):
        if name_a != name_b and frozenset((name_a, name_b)) not in jointed:
            gap = coal.distance(a, X_a, b, X_b, coal.DistanceRequest(), coal.DistanceResult())
            assert gap > 0.004, (name_a, name_b)


# ---- PUMA 560


def test_puma_gravity_and_mass_matrix_at_zero_are_the_published_oracle():  # item 7, section 5.2
    model = pp.compile(pp.models.puma560())
    q = model.posture("zero")
    G, H = pp.bias(model, q, np.zeros(6)), pp.mass_matrix(model, q)
    np.testing.assert_allclose(G, [0, -36.98580915, 0.24892875, 0, 0, 0], atol=1e-7)
    np.testing.assert_allclose(
        np.diag(H), [4.27320842, 6.77244222, 1.16624207, 0.20164, 0.17964216, 0.19304], atol=1e-7
    )
    np.testing.assert_allclose([H[0, 1], H[0, 2], H[1, 2]], [-0.1107, -0.1345, 0.3253], atol=5e-5)


def test_puma_inverse_dynamics_is_the_published_oracle():  # item 7, section 5.2
    model = pp.compile(pp.models.puma560())
    tau = pp.inverse_dynamics(model, np.array([0.3, -0.7, 0.5, 0.2, 0.4, -0.6]), np.full(6, 0.5), np.full(6, 0.2))
    expected = [1.25109232, -25.7909891, 2.08940223, 0.04124343, 0.03144973, 0.03862584]
    np.testing.assert_allclose(tau, expected, atol=1e-7)


def test_puma_tool_point_at_zero():  # section 5.2
    X = body_poses(pp.models.puma560(), "zero")["tool"]
    np.testing.assert_allclose(X[:3, 3], (0.4115, 0.1501, 0.5331), atol=1e-12)
    np.testing.assert_allclose(X[:3, :3], np.eye(3), atol=1e-12)


@pytest.mark.parametrize(("posture", "x"), [("line_start", 0.50), ("line_end", 0.88)])
def test_puma_line_begins_and_ends_where_the_scene_says(posture, x):  # section 5.3; angles have three decimals
    X = body_poses(pp.models.puma560(), posture)["tool"]
    np.testing.assert_allclose(X[:3, 3], (x, 0.1501, -0.05), atol=2e-5)
    np.testing.assert_allclose(X[:3, :3], [[0, 0, 1], [0, 1, 0], [-1, 0, 0]], atol=2e-5)


def test_puma_ranges_are_those_of_the_scene_and_hold_the_line():  # section 5.3
    model = pp.compile(pp.models.puma560())
    np.testing.assert_allclose(np.degrees(model.lower), (-160, -225, -45, -110, -100, -266))
    np.testing.assert_allclose(np.degrees(model.upper), (160, 45, 225, 170, 100, 266))
    for posture in ("line_start", "line_end"):
        q = model.posture(posture)
        assert ((model.lower <= q) & (q <= model.upper)).all()


def test_puma_touches_with_the_three_capsules_of_the_scene():  # section 5.3
    arm = pp.models.puma560()
    touched = {b.name: [s for s in b.shapes if s.role != "visual"] for b in arm.bodies}
    assert [name for name, shapes in touched.items() if shapes] == ["link2", "link3", "tool"]
    wrist = (-0.0203, -0.4331, 0)
    expected = {"link2": ((0, 0, 0), (0.4318, 0, 0), 0.09), "link3": ((0, 0, 0), wrist, 0.07),
                "tool": ((0, 0, -0.10), (0, 0, 0), 0.05)}  # fmt: skip
    for name, (start, end, radius) in expected.items():
        (capsule,) = touched[name]
        r, length = capsule.size
        assert r == radius
        np.testing.assert_allclose(capsule.placement.apply((0, 0, -0.5 * length)), start, atol=1e-12)
        np.testing.assert_allclose(capsule.placement.apply((0, 0, 0.5 * length)), end, atol=1e-12)


def test_the_unedited_line_touches_the_obstacle_with_link_2_only_near_its_end():  # section 5.3, at the two ends
    centre, radius = np.array([0.44, 0.34, 0.20]), 0.07
    for posture, link2_is_clear in (("line_start", True), ("line_end", False)):
        poses = body_poses(pp.models.puma560(), posture)
        for body in pp.models.puma560().bodies:
            for shape in (s for s in body.shapes if s.role != "visual"):
                r, length = shape.size
                X = poses[body.name] @ shape.placement.matrix()
                x, y, z = X[:3, :3].T @ (centre - X[:3, 3])
                gap = math.hypot(x, y, z - np.clip(z, -length / 2, length / 2)) - r - radius
                assert (gap > 0.0) == (body.name != "link2" or link2_is_clear), (posture, body.name, gap)


def test_puma_stands_where_it_is_put():
    poses = body_poses(pp.models.puma560(at=(1, 2, 0.66), R=pp.Rotation.about((0, 0, 1), math.pi / 2)), "zero")
    np.testing.assert_allclose(poses["base"][:3, 3], (1, 2, 0.66))
    np.testing.assert_allclose(poses["tool"][:3, 3], (1 - 0.1501, 2 + 0.4115, 0.66 + 0.5331), atol=1e-12)


# ---- HRP-2


def test_hrp2_has_32_joints_on_a_free_waist_and_58_kg():  # item 28
    model = pp.compile(pp.models.hrp2())
    assert model.nv == 38
    assert len(model.joint_names) == 33
    assert model.joint_names[0] == "WAIST"
    assert model.mass == pytest.approx(58.0, abs=1e-6)


def test_hrp2_is_ordered_legs_chest_head_arms():
    limbs = [name.split("_")[0] for name in pp.compile(pp.models.hrp2()).joint_names]
    order = [limb for limb, _ in itertools.groupby(limbs)]
    assert order == ["WAIST", "RLEG", "LLEG", "CHEST", "HEAD", "RARM", "RHAND", "LARM", "LHAND"]


def test_hrp2_is_1540_mm_tall():  # item 28
    assert stature(pp.models.hrp2()) == pytest.approx(1.540, abs=0.005)


def test_hrp2_sits_half_with_its_waist_and_centre_of_mass_where_published():  # item 28, section 6.6
    robot = pp.models.hrp2()
    poses, com = body_poses(robot, "half_sitting"), centre_of_mass(robot, "half_sitting")
    assert poses["WAIST"][2, 3] == pytest.approx(0.6487, abs=0.0005)
    assert com[2] == pytest.approx(0.799, abs=0.0005)
    for ankle in ("RLEG_JOINT5", "LLEG_JOINT5"):
        assert com[0] - poses[ankle][0, 3] == pytest.approx(0.007, abs=0.0005)
        np.testing.assert_allclose(poses[ankle][:3, :3], np.eye(3), atol=1e-12)  # soles level
    assert com[1] == pytest.approx(0.0, abs=1e-12)


def test_hrp2_soles_are_the_published_rectangles():  # section 6.6
    feet = {b.name: b.shapes for b in pp.models.hrp2().bodies if b.name.endswith("LEG_JOINT5")}
    for name, y_centre in (("RLEG_JOINT5", -0.010), ("LLEG_JOINT5", 0.010)):
        (foot,) = feet[name]
        np.testing.assert_allclose(foot.size[:2], (0.23, 0.13))
        np.testing.assert_allclose(foot.placement.p[:2], (0.015, y_centre))
        assert foot.placement.p[2] - 0.5 * foot.size[2] == pytest.approx(-0.105)


def test_hrp2_ranges_of_yaw_and_roll_are_mirrored():  # section 6.6
    joints = {j.name: j for j in pp.models.hrp2().joints}
    for name, lower, upper in (
        ("RLEG_JOINT0", -45, 30), ("LLEG_JOINT0", -30, 45), ("RLEG_JOINT5", -20, 35), ("LLEG_JOINT5", -35, 20),
        ("RARM_JOINT1", -95, 10), ("LARM_JOINT1", -10, 95), ("LLEG_JOINT3", 0, 150), ("CHEST_JOINT1", -5, 60),
    ):  # fmt: skip
        assert (math.degrees(joints[name].lower), math.degrees(joints[name].upper)) == pytest.approx((lower, upper))


# ---- human


def test_human_has_47_freedoms_75_kg_and_1750_mm():  # item 29
    model = pp.compile(pp.models.human())
    assert model.nv == 47
    assert model.mass == pytest.approx(75.0, abs=1e-6)
    assert stature(pp.models.human()) == pytest.approx(1.75, abs=0.01)


def test_human_centre_of_mass_is_at_a_humans_height():  # item 29; 57.7 % in section 6.6
    com = centre_of_mass(pp.models.human(), "standing")
    assert 0.55 < com[2] / 1.75 < 0.59
    assert com[2] / stature(pp.models.human()) == pytest.approx(0.577, abs=0.002)
    assert com[1] == pytest.approx(0.0, abs=1e-12)


def test_human_inertias_are_those_of_the_table():  # section 6.6, four decimals
    bodies = {b.name: b for b in pp.models.human().bodies}
    for name, mass, sagittal, transverse, longitudinal in (
        ("head", 5.205, 0.0285, 0.0307, 0.0212), ("thorax", 11.970, 0.1807, 0.0726, 0.1530),
        ("lumbar", 12.248, 0.1335, 0.0843, 0.1259), ("pelvis", 8.377, 0.0680, 0.0546, 0.0619),
        ("upper_arm_r", 2.032, 0.0132, 0.0118, 0.0041), ("forearm_l", 1.215, 0.0068, 0.0062, 0.0013),
        ("hand_r", 0.458, 0.0014, 0.0009, 0.0006), ("thigh_l", 10.620, 0.2070, 0.2070, 0.0425),
        ("shank_r", 3.248, 0.0389, 0.0374, 0.0064),
    ):  # fmt: skip
        assert bodies[name].mass == pytest.approx(mass, abs=1e-3)
        np.testing.assert_allclose(np.diag(bodies[name].inertia), (sagittal, transverse, longitudinal), atol=1.5e-4)
    foot = bodies["foot_l"]
    np.testing.assert_allclose(np.diag(foot.inertia), (0.0011, 0.0042, 0.0046), atol=1e-4)  # its long axis is x
    np.testing.assert_allclose(foot.com, (0.0497, 0.0, -0.0402), atol=1e-4)


@pytest.mark.parametrize(("height", "mass"), [(1.50, 45.0), (1.75, 110.0), (1.98, 75.0)])
def test_human_scales_lengths_with_height_masses_with_mass_and_inertias_with_both(height, mass):
    reference, other = pp.models.human(), pp.models.human(height, mass)
    s, k = height / 1.75, mass / 75.0
    assert other.mass == pytest.approx(mass, abs=1e-9)
    assert stature(other) == pytest.approx(s * stature(reference), rel=1e-12)
    assert body_extent(other, "standing")[0] == pytest.approx(0.0, abs=1e-12)
    for a, b in zip(reference.bodies, other.bodies, strict=True):
        assert b.mass == pytest.approx(k * a.mass)
        np.testing.assert_allclose(b.com, np.multiply(s, a.com), atol=1e-15)
        np.testing.assert_allclose(b.inertia, np.multiply(k * s * s, a.inertia), rtol=1e-12)
    np.testing.assert_allclose(centre_of_mass(other, "standing"), s * centre_of_mass(reference, "standing"), atol=1e-12)


def test_human_knees_bend_backwards_only():
    human = pp.models.human()
    model = pp.compile(human)
    q = model.posture("standing")
    q[model.q_index["knee_r"]] = 1.0
    poses = pp.forward_kinematics(model, q)
    assert poses[model.body("foot_r")][0, 3] < -0.3
    assert np.radians(-10) < model.lower[model.q_index["knee_l"]] < 0.0  # and give a little when stretched


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"height": 175}, r"human: height must be 0.5 .. 2.5 m, got 175; is it in cm\?"),
        ({"height": -1.0}, r"human: height must be .* got -1.0$"),
        ({"height": "tall"}, "height must be 0.5 .. 2.5 m, got 'tall'"),
        ({"height": math.nan}, "height must be"),
        ({"mass": 0.0}, "human: mass must be"),
        ({"mass": math.inf}, "human: mass must be"),
        ({"sole": "wheels"}, "a sole is 'box' or 'spheres', got 'wheels'"),
    ],
)
def test_impossible_people_are_refused_in_one_line(options, message):
    with pytest.raises(pp.ModelError, match=message) as error:
        pp.models.human(**options)
    assert "\n" not in str(error.value)
