"""Tasks in order of priority: what the first asks for is never given up for a later one (avatars.md 9)."""

import numpy as np
import pytest
from mechanisms import ALL_JOINTS, random_state, random_tree

import palpate as pp
from palpate.control.prioritised.palm_tasks import missing_m, palm_tasks, reach_step
from palpate.control.prioritised.priorities import EPS, TOL
from palpate.control.prioritised.task_tables import load_tasks
from palpate.jit import entry

DT = 1e-3
FREELY = {"gain": 1.0, "speed_m_s": 1e9, "turn_rad_s": 1e9}  # e is just what is missing
UNLIMITED = {"speed_limit": 1e9, "singular_speed": 1e12}


# ---- an oracle that knows nothing of the code: the recursion as printed, by singular value decompositions


def rows_of(model, q, task):
    """(J, e) of a Point, Pose or CenterOfMass with gain 1, world axes; J of the centre of mass by differences."""
    if isinstance(task, pp.tasks.CenterOfMass):
        c = pp.center_of_mass(model, q)
        h = 1e-6
        J = np.stack([(pp.center_of_mass(model, pp.integrate(model, q, x, h))
                       - pp.center_of_mass(model, pp.integrate(model, q, -x, h))) / (2 * h)
                      for x in np.eye(model.nv)], axis=1)  # fmt: skip
        keep = ["xyz".index(axis) for axis in task.axes]
        return J[keep], (np.array(task.target) - c)[keep]
    J = pp.jacobian(model, q, task.body, task.at_body)
    X = pp.forward_kinematics(model, q)[model.body(task.body)]
    p = X[:3, :3] @ np.array(task.at_body) + X[:3, 3]
    if isinstance(task, pp.tasks.Point):
        keep = ["xyz".index(axis) for axis in task.axes]
        return J[3:][keep], (np.array(task.target) - p)[keep]
    R = pp.Rotation.from_matrix(X[:3, :3])
    e = np.concatenate([np.array((task.target.R @ R.inv()).log()), np.array(task.target.p) - p])
    keep = ["XYZxyz".index(axis) for axis in task.axes]
    return J[keep], e[keep]


def oracle(levels, nv):
    """v of (J, e) in order of priority: Siciliano & Slotine 1991, damped as Chiaverini 1997."""
    v, N = np.zeros(nv), np.eye(nv)
    for J, e in levels:
        U, s, Vt = np.linalg.svd(J @ N, full_matrices=False)
        l2 = np.where(s < EPS, EPS**2 * (1.0 - (s / EPS) ** 2), 0.0)
        v = v + Vt.T @ (s / (s**2 + l2 + 1e-300) * (U.T @ (e - J @ v)))
        kept = Vt[s > TOL]
        N = N - kept.T @ kept
    return v


def random_tasks(rng, model, n, freely=None):
    """n random levels of points, poses and centres of mass, each aiming somewhere near."""
    limits, levels = FREELY if freely is None else freely, []
    for _ in range(n):
        kind = rng.integers(3)
        body = model.body_names[rng.integers(1, model.n_bodies)]
        at, place = tuple(rng.normal(scale=0.2, size=3)), tuple(rng.normal(scale=0.5, size=3))
        if kind == 0:
            axes = "".join(rng.permutation(list("xyz"))[: rng.integers(1, 4)])
            levels.append(pp.tasks.Point(body, place, at, axes, **limits))
        elif kind == 1:
            axes = "".join(rng.permutation(list("XYZxyz"))[: rng.integers(1, 7)])
            X = pp.Transform(pp.Rotation.exp(rng.normal(size=3)), place)
            levels.append(pp.tasks.Pose(body, X, at, axes, **limits))
        else:
            levels.append(pp.tasks.CenterOfMass(place, "xy", **limits))
    return levels


def tree_and_state(seed, kinds=None, root="free", n=9):
    rng = np.random.default_rng(seed)
    model = pp.compile(random_tree(rng, kinds or [k for k in ALL_JOINTS if k != "free"], n, "tree", True, root))
    return rng, model, random_state(rng, model)[0]


@pytest.mark.parametrize("seed", range(25))
def test_velocities_are_those_of_the_recursion_by_singular_values(seed):
    """avatars.md 9, at regular and near singular configurations alike: the damping is the same function of s."""
    rng, model, q = tree_and_state(seed, root=["free", "spherical", "revolute"][seed % 3])
    levels = random_tasks(rng, model, 4)
    tasks = pp.Tasks(model, levels, q, **UNLIMITED)
    tasks.step(q, 1e-6)
    expected = oracle([rows_of(model, q, task) for task in levels], model.nv)
    assert tasks.velocity == pytest.approx(expected, abs=2e-7 * (1.0 + np.abs(expected).max()))


@pytest.mark.parametrize("seed", range(15))
def test_a_lower_task_does_not_change_what_a_higher_one_gets(seed):
    """The law of the hierarchy: J_i v of the first i tasks is the same with more below, also at the joints' limits."""
    rng, model, q = tree_and_state(100 + seed)
    levels = random_tasks(rng, model, 4, {"gain": 5.0})
    for speed in (1e6, 2.0):
        alone = []
        for i in range(1, len(levels) + 1):
            tasks = pp.Tasks(model, levels[:i], q, speed_limit=speed)
            tasks.step(q, DT)
            alone.append(tasks.velocity)
        tasks = pp.Tasks(model, [*levels, pp.tasks.Posture(random_state(rng, model)[0])], q, speed_limit=speed)
        tasks.step(q, DT)
        v = tasks.velocity
        for task, own in zip(levels, alone, strict=True):
            J, _ = rows_of(model, q, task)
            assert np.abs(J @ (v - own)).max() <= 2.0 * TOL * (1.0 + np.abs(v).max() + np.abs(own).max())


@pytest.mark.parametrize("seed", range(10))
def test_tasks_of_one_level_are_one_task(seed):
    rng, model, q = tree_and_state(200 + seed)
    one, two, three = random_tasks(rng, model, 3)
    tasks = pp.Tasks(model, [one, (two, three)], q, **UNLIMITED)
    tasks.step(q, 1e-6)
    a, b, c = (rows_of(model, q, task) for task in (one, two, three))
    expected = oracle([a, (np.vstack([b[0], c[0]]), np.concatenate([b[1], c[1]]))], model.nv)
    assert tasks.velocity == pytest.approx(expected, abs=2e-7 * (1.0 + np.abs(expected).max()))


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(10))
def test_what_is_left_goes_to_the_posture(seed):
    """As the last level of all joints and as rows of their own, it is the same velocity."""
    rng, model, q = tree_and_state(300 + seed)
    (task,), goal = random_tasks(rng, model, 1), random_state(rng, model)[0]
    last = pp.Tasks(model, [task, pp.tasks.Posture(goal, **FREELY)], q, **UNLIMITED)
    rows = pp.Tasks(model, [task, pp.tasks.Posture(goal, model.joint_names, **FREELY)], q, **UNLIMITED)
    last.step(q, 1e-6), rows.step(q, 1e-6)
    J, e = rows_of(model, q, task)
    expected = oracle([(J, e), (np.eye(model.nv), pp.difference(model, q, goal))], model.nv)
    assert last.velocity == pytest.approx(expected, abs=1e-6 * (1.0 + np.abs(expected).max()))
    assert rows.velocity == pytest.approx(expected, abs=1e-6 * (1.0 + np.abs(expected).max()))


@pytest.mark.nojit
def test_a_gaze_follows_by_differences():
    """e and J of a Gaze belong together: a step that does just what it asks leaves nothing, to second order."""
    for seed in range(8):
        rng, model, q = tree_and_state(400 + seed)
        gaze = pp.tasks.Gaze("tree7", tuple(rng.normal(size=3)), axis=tuple(rng.normal(size=3)), **FREELY)
        tasks = pp.Tasks(model, [gaze], q, **UNLIMITED)
        missing = tasks.error(gaze, q)[0]
        left = tasks.error(gaze, tasks.step(q, 1e-4))[0]
        assert left == pytest.approx(missing * (1.0 - 1e-4), rel=1e-6) or tasks.table.near_singular


# ---- joints


def limited_tree(seed):
    """A tree whose joints have ranges, and a state within them."""
    rng = np.random.default_rng(seed)
    description = random_tree(rng, ["revolute", "prismatic", "spherical", "universal"], 10, "tree", True, "free")
    joints = []
    for joint in description.joints:
        if joint.kind in ("revolute", "prismatic"):
            joint = pp.Joint(**{**{f: getattr(joint, f) for f in joint.__dataclass_fields__},
                                "lower": -rng.uniform(0.02, 0.2), "upper": rng.uniform(0.02, 0.2)})  # fmt: skip
        joints.append(joint)
    model = pp.compile(pp.MultiBody("limited", description.bodies, joints))
    return rng, model, np.clip(random_state(rng, model)[0], model.lower, model.upper)


@pytest.mark.parametrize("seed", range(8))
def test_no_joint_leaves_its_range_or_goes_too_fast_and_quaternions_stay_unit(seed):
    rng, model, q = limited_tree(seed)
    levels = random_tasks(rng, model, 3, {"gain": 20.0})
    tasks = pp.Tasks(model, [*levels, pp.tasks.Posture()], q, speed_limit=3.0)
    held = False
    for _ in range(400):
        q = tasks.step(q, DT)
        assert (q >= model.lower).all()
        assert (q <= model.upper).all()
        held |= tasks.table.solves > 1
        assert np.abs(tasks.velocity[6:]).max() <= 3.0 + 1e-9
    assert held, "no joint came to its end: this shows nothing"
    for rows in model.q_index.values():
        if rows.stop - rows.start in (4, 7):
            assert abs(np.linalg.norm(q[rows][-4:]) - 1.0) < 1e-12


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(6))
def test_a_joint_at_its_end_lets_the_others_do_the_task(seed):
    """A long chain, a point, one of the joints at its end: the point still goes where it is asked to, at full speed."""
    rng = np.random.default_rng(seed)
    description = random_tree(rng, ["revolute"], 16, "tree", True, "revolute")
    free = pp.compile(description)
    q = random_state(rng, free)[0]
    body = max(free.body_names[1:], key=lambda b: np.count_nonzero(np.abs(pp.jacobian(free, q, b)).max(axis=0) > 1e-9))
    J = pp.jacobian(free, q, body)[3:]
    assert (np.abs(J).max(axis=0) > 1e-9).sum() >= 5
    at = pp.forward_kinematics(free, q)[free.body(body)][:3, 3]
    goal = at + 1e-3 * rng.normal(size=3)
    tasks = pp.Tasks(free, [pp.tasks.Point(body, tuple(goal), gain=10.0)], q)
    tasks.step(q, DT)
    worst = int(np.argmax(np.abs(tasks.velocity)))
    end = {"upper" if tasks.velocity[worst] > 0 else "lower": float(q[worst])}
    name = free.joint_names[worst]
    joints = [pp.Joint(**{**{f: getattr(j, f) for f in j.__dataclass_fields__}, **(end if j.name == name else {})})
              for j in description.joints]  # fmt: skip
    model = pp.compile(pp.MultiBody("ends", description.bodies, joints))
    tasks = pp.Tasks(model, [pp.tasks.Point(body, tuple(goal), gain=10.0)], q)
    after = tasks.step(q, DT)
    assert after[worst] == q[worst]
    if not tasks.table.near_singular:
        assert J @ tasks.velocity == pytest.approx(10.0 * (goal - at), abs=1e-9)


@pytest.mark.nojit
def test_a_joint_outside_its_range_comes_back_no_faster_than_it_may():
    rng, model, q = limited_tree(3)
    joint = next(n for n, rows in model.q_index.items() if np.isfinite(model.upper[rows]).all())
    n = model.q_index[joint].start
    q[n] = model.upper[n] + 0.05
    tasks = pp.Tasks(model, random_tasks(rng, model, 2, {"gain": 5.0}), q, speed_limit=2.0)
    before = q[n]
    for _ in range(30):
        q = tasks.step(q, DT)
        assert before - q[n] <= 2.0 * DT + 1e-12
        before = q[n]
    assert q[n] <= model.upper[n]


@pytest.mark.parametrize("seed", [5, 6])
def test_a_tree_in_a_bigger_world_gives_the_same_as_alone(seed):
    """Bit by bit; nothing else moves; and the tree as a model has the poses of the whole."""
    rng = np.random.default_rng(seed)
    parts = [pp.models.human(), pp.models.box(at=(2.0, 0.0, 1.0)), pp.models.hrp2(at=(0.0, 3.0, 0.0))]
    whole, alone = pp.compile(parts), pp.compile(parts[2])
    q, q_alone = whole.neutral(), alone.posture("half_sitting")
    tree = pp.Tasks(whole, [pp.tasks.Feet("RLEG_JOINT5", "LLEG_JOINT5")]).tree
    q[tree.q] = q_alone
    X, X_alone = pp.forward_kinematics(whole, q), pp.forward_kinematics(alone, q_alone)
    assert (X[list(tree.bodies)[1:]] == X_alone[1:]).all()
    assert (pp.forward_kinematics(tree.model, q[tree.q]) == X_alone).all()
    goal = tuple(X_alone[alone.body("RARM_JOINT6")][:3, 3] + rng.normal(scale=0.1, size=3))

    def levels():
        reach, look = pp.tasks.Point("RARM_JOINT6", goal), pp.tasks.Gaze("HEAD_JOINT1", goal)
        feet = pp.tasks.Feet("RLEG_JOINT5", "LLEG_JOINT5")
        return [feet, pp.tasks.CenterOfMass(), reach, look, pp.tasks.Posture()]

    one, other = pp.Tasks(whole, levels(), q), pp.Tasks(alone, levels(), q_alone)
    before = q.copy()
    q, q_alone = one.step(q, DT, 200), other.step(q_alone, DT, 200)
    assert (q[tree.q] == q_alone).all()
    before[tree.q] = q[tree.q]
    assert (q == before).all()


# ---- avatars

AVATARS = {
    "hrp2": (pp.models.hrp2, "half_sitting", ("RLEG_JOINT5", "LLEG_JOINT5"), "RARM_JOINT6", "HEAD_JOINT1"),
    "human": (pp.models.human, "standing", ("foot_r", "foot_l"), "hand_r", "head"),
}


def avatar(name):
    make, posture, feet, hand, head = AVATARS[name]
    model = pp.compile(make())
    return model, model.posture(posture), feet, hand, head


@pytest.mark.parametrize(("offset", "reached"), [((0.12, 0.05, 0.25), True), ((1.0, -0.3, 0.2), False)])
@pytest.mark.parametrize("name", AVATARS)
def test_item_32_a_hand_out_of_reach_moves_neither_feet_nor_centre_of_mass(name, offset, reached):
    """avatars.md 10.32: feet < 0.1 mm, CoM < 0.1 mm, joint speed < 8 rad/s, in every tick; in reach the hand arrives
    (section 9: 0.1 mm in 3 s).  And it is calm: out of reach no joint chatters."""
    model, q, feet, hand, head = avatar(name)
    place = pp.forward_kinematics(model, q)[model.body(hand)][:3, 3] + offset
    stand, centre = pp.tasks.Feet(*feet), pp.tasks.CenterOfMass()
    reach, look = pp.tasks.Point(hand, tuple(place)), pp.tasks.Gaze(head, tuple(place))
    tasks = pp.Tasks(model, [stand, centre, reach, look, pp.tasks.Posture()], q)
    soles = [pp.forward_kinematics(model, q)[model.body(foot)] for foot in feet]
    c = pp.center_of_mass(model, q)[:2]
    for _ in range(3000):
        q = tasks.step(q, DT)
        assert np.abs(tasks.velocity[6:]).max() < 8.0
        assert np.hypot(*(pp.center_of_mass(model, q)[:2] - c)) < 1e-4
        X = pp.forward_kinematics(model, q)
        for foot, sole in zip(feet, soles, strict=True):
            assert np.linalg.norm(X[model.body(foot)][:3, 3] - sole[:3, 3]) < 1e-4
    if reached:
        assert tasks.error(reach, q)[1] < 1e-4
        assert tasks.error(look, q)[0] < np.radians(0.1)
    else:
        assert tasks.error(reach, q)[1] > 0.1
        last = tasks.velocity
        for _ in range(100):
            q = tasks.step(q, DT)
            assert np.abs(tasks.velocity - last).max() < 0.5
            last = tasks.velocity


PALMS = {
    "hrp2": (pp.models.hrp2, 0.825, (("RARM_JOINT6", (0.0, 0.04, -0.055)), ("LARM_JOINT6", (0.0, -0.04, -0.055))),
             ("RARM_JOINT3", "LARM_JOINT3"), lambda joint: "ARM" in joint),
    "human": (pp.models.human, 1.075, (("hand_r", (0.0, 0.04, -0.09)), ("hand_l", (0.0, -0.04, -0.09))),
              ("forearm_r", "forearm_l"), lambda joint: joint[:-2] in ("shoulder", "elbow", "wrist")),
}  # fmt: skip


@entry("intp, float64[:, ::1], float64, intp")
def reach_entry(address, places, dt, ticks):
    right = (places[0, 0], places[0, 1], places[0, 2]), (places[0, 3], places[0, 4], places[0, 5], places[0, 6])
    left = (places[1, 0], places[1, 1], places[1, 2]), (places[1, 3], places[1, 4], places[1, 5], places[1, 6])
    for _ in range(ticks):
        reach_step(address, right, left, dt)
    return missing_m(load_tasks(address)[2])


@pytest.mark.parametrize("name", PALMS)
def test_item_16_both_palms_reach_the_sides_of_the_box(name):
    """avatars.md 10.16: IK to the pregrasp, < 0.1 mm both palms, both avatars; called as a part of a tick would."""
    make, z, palms, elbows, moves = PALMS[name]
    model = pp.compile(make(at=(0.09, 0.0, 0.0)))
    q = model.posture("start")
    joints = [joint for joint in model.joint_names if moves(joint)]
    reach = palm_tasks(model, q, palms, elbows, joints)
    R = pp.Rotation.exp((0.0, -np.pi / 2, 0.0))
    places = np.array([[0.42, side * 0.20, z, *R.wxyz] for side in (-1.0, 1.0)])
    assert reach_entry(reach.address, places, DT, 1500) < 1e-4
    q[reach.tree.q] = reach.table.q
    X = pp.forward_kinematics(model, q)
    for (body, at), place in zip(palms, places, strict=True):
        hand = X[model.body(body)]
        assert hand[:3, :3] @ np.array(at) + hand[:3, 3] == pytest.approx(place[:3], abs=1e-4)
        assert hand[:3, :3] == pytest.approx(np.array(R.matrix()), abs=1e-4)
    still = [rows for joint, rows in model.q_index.items() if joint not in joints]
    start = model.posture("start")
    assert all((q[rows] == start[rows]).all() for rows in still)


def test_a_target_that_is_no_number_moves_nothing_and_is_forgotten():
    """A device that fails, a force that is NaN: q_d stays, and goes on with the next target."""
    model, q, feet, hand, head = avatar("human")
    reach, look = pp.tasks.Point(hand), pp.tasks.Gaze(head)
    tasks = pp.Tasks(model, [pp.tasks.Feet(*feet), reach, look, pp.tasks.Posture()], q)
    for k, bad in ((tasks.row(reach), np.nan), (tasks.row(look), np.nan), (tasks.row(reach), np.inf)):
        before = tasks.table.target[k].copy()
        tasks.table.target[k, 1] = bad  # as a part of a tick would
        refused = tasks.table.refused
        assert np.isfinite(tasks.step(q, DT, 5)).all()
        assert (tasks.velocity == 0.0).all()
        assert tasks.table.refused == refused + 5
        tasks.table.target[k] = before
    tasks.aim(reach, (0.3, -0.2, 1.1))
    after = tasks.step(q, DT, 3000)
    assert tasks.error(reach, after)[1] < 1e-4


# ---- refusals


@pytest.mark.nojit
def test_tasks_explain_what_they_do_not_take():
    model, q, feet, hand, _ = avatar("human")
    with pytest.raises(ValueError, match="did you mean 'hand_r'"):
        pp.Tasks(model, [pp.tasks.Point("hand_R")])
    with pytest.raises(ValueError, match="axes are some of 'xyz'"):
        pp.tasks.Point(hand, axes="XY")
    with pytest.raises(ValueError, match="gain must be positive"):
        pp.tasks.Pose(hand, gain=0.0)
    with pytest.raises(TypeError, match="unexpected keyword"):
        pp.tasks.Gaze("head", speed=1.0)
    with pytest.raises(ValueError, match="at least one"):
        pp.Tasks(model, [])
    with pytest.raises(ValueError, match="twice"):
        pp.Tasks(model, [(task := pp.tasks.Point(hand)), task])
    with pytest.raises(TypeError, match="is no task"):
        pp.Tasks(model, ["hand_r"])
    with pytest.raises(ValueError, match="no joint 'knee'"):
        pp.Tasks(model, [pp.tasks.Point(hand)], joints=["knee"])
    tasks = pp.Tasks(model, [pp.tasks.Feet(*feet)], q)
    with pytest.raises(ValueError, match="shape"):
        tasks.step(q[1:], DT)
    with pytest.raises(ValueError, match="not finite"):
        tasks.step(np.where(np.arange(model.nq) == 8, np.nan, q), DT)
    with pytest.raises(ValueError, match="has 2 trees"):
        pp.Tasks(pp.compile([pp.models.human(), pp.models.hrp2()]), [pp.tasks.CenterOfMass()])
