"""URDF: every robot of example-robot-data against Pinocchio, then the details of the format on small files.

Pinocchio orders joints by name, puts (cos, sin) into q for continuous joints, (linear, angular) into v for free ones,
and lets mimic joints move on their own.  `Translation` writes our q and v in its terms: v_pin = G v, tau = G^T tau_pin.
"""

import warnings
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest

import palpate as pp
from palpate.model.description import ModelError, ModelWarning
from palpate.model.meshes import load_mesh
from palpate.model.urdf import load_urdf

pin = pytest.importorskip("pinocchio")


def robot_files() -> dict[str, Path]:
    """{"ur_description/ur5_robot": path, ...} of every URDF file of the installed example-robot-data."""
    try:
        robots = distribution("example-robot-data")
    except PackageNotFoundError:
        return {}
    paths = sorted(Path(str(robots.locate_file(f))) for f in robots.files or () if f.suffix == ".urdf")
    return {f"{path.parents[1].name}/{path.stem}": path for path in paths}


ROBOTS = robot_files()

# Files that do not simply load and agree: why, and (in the test named after each) what happens instead.
EXCEPTIONS = {
    "ur_description/ur3": "holds a <robot> without links",
    "alex_description/alex_psyonic_hands": "mimics joints that the file does not have",
    "romeo_description/romeo": "the joints of the hands move links without mass",
    "romeo_description/romeo_laas_small": "names meshes that nobody has; three links have a negative principal moment",
}
# Files with links whose inertia no mass distribution has: they load with a warning that lists those links.
UNPHYSICAL = {
    "alex_description/alex_psyonic_hands", "allegro_hand_description/allegro_left_hand",
    "allegro_hand_description/allegro_right_hand", "anymal_b_simple_description/anymal",
    "anymal_b_simple_description/anymal-kinova", "anymal_c_simple_description/anymal", "b1_description/b1",
    "b1_description/b1-z1", "go1_description/go1", "hyq_description/hyq_no_sensors", "pr2_description/pr2",
    "romeo_description/romeo_laas_small", "romeo_description/romeo_small", "tiago_description/tiago",
    "tiago_description/tiago_dual", "tiago_description/tiago_no_hand",
}  # fmt: skip


def load_noting_warnings(name, **options):
    """The description, and the warnings it was read with."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return load_urdf(ROBOTS[name], **options), [str(w.message) for w in caught]


def pinocchio_model(path, free_base, mimic=False):
    if free_base:
        return pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer(), mimic=mimic)
    return pin.buildModelFromUrdf(str(path), mimic=mimic)


class Translation:
    """Our coordinates in Pinocchio's terms, by joint name."""

    def __init__(self, model, pinocchio):
        self.model, self.pin = model, pinocchio
        self.G = np.zeros((pinocchio.nv, model.nv))
        self.parts = []  # (Pinocchio's joint, our joint's coordinates, ratio, offset)
        joints = {j.name: j for j in model.description.joints}
        for i in range(1, pinocchio.njoints):
            joint, theirs, ratio, offset = joints[pinocchio.names[i]], pinocchio.joints[i], 1.0, 0.0
            while joint.mimic:
                ratio, offset = ratio * joint.mimic.ratio, offset + ratio * joint.mimic.offset
                joint = joints[joint.mimic.joint]
            if joint.kind == "fixed":  # a test welded it
                continue
            v = model.v_index[joint.name]
            block = np.roll(np.eye(6), 3, axis=0) if joint.kind == "free" else ratio * np.eye(theirs.nv)
            self.G[theirs.idx_v : theirs.idx_v + theirs.nv, v] = block
            self.parts.append((theirs, model.q_index[joint.name], ratio, offset))

    def q(self, q):
        out = pin.neutral(self.pin)
        for theirs, part, ratio, offset in self.parts:
            values = ratio * q[part] + offset
            if theirs.nq == 7:
                values = np.concatenate([q[part][:3], np.roll(q[part][3:], -1)])  # (w, x, y, z) -> (x, y, z, w)
            elif theirs.nq == 2:
                values = np.array([np.cos(values[0]), np.sin(values[0])])
            out[theirs.idx_q : theirs.idx_q + theirs.nq] = values
        return out


def random_state(model, seed=0):
    """q, v, a; every quaternion unit."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.0, 1.0, model.nq)
    for joint in model.description.joints:
        if joint.kind == "free":
            wxyz = slice(model.q_index[joint.name].start + 3, model.q_index[joint.name].stop)
            q[wxyz] /= np.linalg.norm(q[wxyz])
    return q, rng.uniform(-1.0, 1.0, model.nv), rng.uniform(-1.0, 1.0, model.nv)


def assert_agrees(multibody, pinocchio):
    """Mass, poses of all links, inverse dynamics at a random state."""
    model = pp.compile(multibody)
    masses = [inertia.mass for inertia in pinocchio.inertias]
    assert model.mass == pytest.approx(sum(masses[1:]), rel=1e-12)  # row 0 there: what is welded to the world
    assert multibody.mass == pytest.approx(sum(masses), rel=1e-12)
    theirs_alone = [j.name for j in multibody.joints if pinocchio.existJointName(j.name) and j.nv == 0]
    assert model.nv == pinocchio.nv - len(theirs_alone)  # mimic joints, and those a test welded

    q, v, a = random_state(model)
    ours_in_theirs = Translation(model, pinocchio)
    q_pin, G, data = ours_in_theirs.q(q), ours_in_theirs.G, pinocchio.createData()

    pin.framesForwardKinematics(pinocchio, data, q_pin)
    poses = pp.forward_kinematics(model, q)
    for frame, X in zip(pinocchio.frames, data.oMf, strict=True):
        if frame.type == pin.FrameType.BODY and frame.name != "world":  # a free one is called world_link here
            np.testing.assert_allclose(poses[model.body(frame.name)], X.homogeneous, atol=1e-9)

    expected = G.T @ pin.rnea(pinocchio, data, q_pin, G @ v, G @ a)
    scale = np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(pp.inverse_dynamics(model, q, v, a), expected, rtol=0, atol=1e-9 * scale)


@pytest.mark.oracle_heavy
@pytest.mark.parametrize("free_base", [False, True], ids=["fixed", "free"])
@pytest.mark.parametrize("name", [name for name in ROBOTS if name not in EXCEPTIONS])
def test_robot_agrees_with_pinocchio(name, free_base):
    multibody, warned = load_noting_warnings(name, free_base=free_base)
    assert_agrees(multibody, pinocchio_model(ROBOTS[name], free_base))
    if name in UNPHYSICAL:
        assert len(warned) == 1
        assert "no mass distribution has the inertia of" in warned[0]
    else:
        assert warned == []


@pytest.mark.parametrize("name", [name for name in ("panda_description/panda", "pr2_description/pr2",
                                                    "baxter_description/baxter") if name in ROBOTS])  # fmt: skip
def test_mimic_joints_add_no_freedom(name):
    multibody, _ = load_noting_warnings(name)
    assert pp.compile(multibody).nv == pinocchio_model(ROBOTS[name], free_base=False, mimic=True).nv


@pytest.mark.skipif(not ROBOTS, reason="example-robot-data is not installed")
class TestExceptions:
    def test_each_has_a_file_and_a_reason(self):
        assert set(EXCEPTIONS) <= set(ROBOTS)
        assert set(UNPHYSICAL) <= set(ROBOTS)
        assert all(EXCEPTIONS.values())

    def test_ur3_has_no_links(self):
        with pytest.raises(ModelError, match=r"^ur3.urdf:6: the robot has no links$"):
            load_urdf(ROBOTS["ur_description/ur3"])

    @pytest.mark.parametrize("free_base", [False, True])
    def test_psyonic_hands_mimic_nothing_and_agree_without_mimic(self, free_base):
        name = "alex_description/alex_psyonic_hands"
        with pytest.raises(ModelError, match=r"joint 'Left_index_q2' mimics 'index_q1', which is not a joint"):
            load_urdf(ROBOTS[name])
        multibody, warned = load_noting_warnings(name, free_base=free_base, mimic=False)
        assert "Left_thumb_base" in warned[0]
        assert_agrees(multibody, pinocchio_model(ROBOTS[name], free_base))

    @pytest.mark.parametrize("free_base", [False, True])
    def test_romeo_agrees_when_its_massless_hands_are_welded(self, free_base):
        path = ROBOTS["romeo_description/romeo"]
        multibody = load_urdf(path, free_base=free_base)
        with pytest.raises(ModelError, match=r"joint 'LHand' moves nothing that has inertia about its axis"):
            pp.compile(multibody)
        hands = {j.name for j in multibody.joints if j.name in ("LHand", "RHand") or j.mimic}
        welded = [replace(j, kind="fixed", mimic=None) if j.name in hands else j for j in multibody.joints]
        assert len(hands) == 24
        assert_agrees(replace(multibody, joints=tuple(welded)), pinocchio_model(path, free_base))

    def test_romeo_laas_small_lacks_meshes_and_has_negative_inertia(self):
        name = "romeo_description/romeo_laas_small"
        with pytest.raises(ModelError, match=r":172: link 'torso': mesh 'file:///usr/.*/Torso.mesh' is not there"):
            load_urdf(ROBOTS[name])
        multibody, warned = load_noting_warnings(name, skip_missing_meshes=True)
        assert "meshes that are not there: file://" in warned[1]
        masses = [inertia.mass for inertia in pinocchio_model(ROBOTS[name], free_base=False).inertias]
        assert multibody.mass == pytest.approx(sum(masses), rel=1e-12)
        with pytest.raises(ModelError, match=r"joint '\w+' moves the negative principal moment -0.0\d+ kg m\^2"):
            pp.compile(multibody)


# ---- small files

SOLID = '<inertial><mass value="2"/><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><inertia ixx="0.3" ixy="0.01" ixz="0.02" iyy="0.4" iyz="0.03" izz="0.5"/></inertial>'  # noqa: E501


def write(folder, body, name="robot.urdf", head='<robot name="test">'):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{head}\n{body}\n</robot>\n")
    return path


def two_links(joint, links="", solid=SOLID):
    """Base and arm, both solid, with one joint between them."""
    return f'<link name="base">{solid}</link><link name="arm">{solid}{links}</link>{joint}'


def test_planar_and_floating_joints_agree_with_pinocchio(tmp_path):
    path = write(tmp_path, f"""
        <link name="a">{SOLID}</link><link name="b">{SOLID}</link><link name="c">{SOLID}</link>
        <joint name="plane" type="planar"><parent link="a"/><child link="b"/>
            <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 0 1"/></joint>
        <joint name="loose" type="floating"><parent link="b"/><child link="c"/>
            <origin xyz="-1 0 1" rpy="0.3 0 0.3"/></joint>""")  # fmt: skip
    model = pp.compile(load_urdf(path))
    theirs = pinocchio_model(path, free_base=False)
    (x, y, angle), planar = (0.3, -0.2, 0.7), model.v_index["plane"]
    q, v, a = random_state(model)
    q[model.q_index["plane"]] = (x, y, angle)
    loose = q[model.q_index["loose"]]
    q_pin = np.concatenate([[x, y, np.cos(angle), np.sin(angle)], loose[:3], np.roll(loose[3:], -1)])
    # theirs: velocity in the moving frame, so v_pin = R^T v and a_pin = R^T a + (d/dt R^T) v
    c, s = np.cos(angle), np.sin(angle)
    G = np.zeros((9, 9))
    G[:3, planar] = [[c, s, 0], [-s, c, 0], [0, 0, 1]]
    G[3:, model.v_index["loose"]] = np.roll(np.eye(6), 3, axis=0)
    drift = np.zeros(9)
    drift[:3] = v[planar][2] * np.array([[-s, c, 0], [-c, -s, 0], [0, 0, 0]]) @ v[planar]
    expected = G.T @ pin.rnea(theirs, theirs.createData(), q_pin, G @ v, G @ a + drift)
    np.testing.assert_allclose(pp.inverse_dynamics(model, q, v, a), expected, atol=1e-9 * np.abs(expected).max())


def test_joints_that_mimic_in_a_chain_agree_with_pinocchio(tmp_path):
    names = "abcd"
    links = "".join(f'<link name="{name}">{SOLID}</link>' for name in names)
    mimics = ["", '<mimic joint="j1" multiplier="-2" offset="0.3"/>', '<mimic joint="j2" multiplier="0.5" offset="1"/>']
    kinds = ["revolute", "revolute", "prismatic"]
    joints = "".join(
        f'''<joint name="j{i + 1}" type="{kinds[i]}"><parent link="{names[i]}"/><child link="{names[i + 1]}"/>
        <origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/><axis xyz="0 1 0"/><limit lower="-9" upper="9"
        velocity="1" effort="1"/>{mimics[i]}</joint>''' for i in range(3))  # fmt: skip
    path = write(tmp_path, links + joints)
    assert load_urdf(path).joints[2].mimic == pp.Mimic("j1", -2.0, 0.3)
    assert_agrees(load_urdf(path), pinocchio_model(path, free_base=False))
    assert_agrees(load_urdf(path, mimic=False), pinocchio_model(path, free_base=False))


def test_joint_keeps_its_limits_and_losses(tmp_path):
    joint = """<joint name="elbow" type="{}"><parent link="base"/><child link="arm"/><axis xyz="0 2 0"/>
        <limit lower="-1" upper="2" velocity="3" effort="4"/><dynamics damping="5" friction="6"/></joint>"""
    _, elbow = load_urdf(write(tmp_path, two_links(joint.format("revolute")))).joints
    assert (elbow.kind, elbow.axis) == ("revolute", (0.0, 1.0, 0.0))
    assert (elbow.lower, elbow.upper, elbow.velocity_limit, elbow.effort_limit) == (-1, 2, 3, 4)
    assert (elbow.damping, elbow.friction) == (5, 6)
    _, wheel = load_urdf(write(tmp_path, two_links(joint.format("continuous")))).joints
    assert (wheel.kind, wheel.lower, wheel.upper, wheel.velocity_limit) == ("revolute", -np.inf, np.inf, 3)


def test_joint_without_axis_turns_about_x(tmp_path):
    joint = '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>'
    assert load_urdf(write(tmp_path, two_links(joint))).joints[1].axis == (1.0, 0.0, 0.0)


WELD = '<joint name="{}" type="fixed"><parent link="{}"/><child link="{}"/></joint>'


def test_root_is_welded_to_the_world_or_free(tmp_path):
    path = write(tmp_path, two_links(WELD.format("root_joint", "base", "arm")))  # the name is taken
    root, _ = load_urdf(path).joints
    assert (root.name, root.kind, root.parent, root.child) == ("root_joint_", "fixed", "world", "base")
    assert load_urdf(path, free_base=True).joints[0].kind == "free"


def test_root_link_called_world_is_the_world(tmp_path):
    bare = write(tmp_path, f'<link name="world"/><link name="arm">{SOLID}</link>' + WELD.format("j", "world", "arm"))
    assert [b.name for b in load_urdf(bare).bodies] == ["arm"]
    assert [(j.parent, j.child) for j in load_urdf(bare).joints] == [("world", "arm")]
    free = load_urdf(bare, free_base=True).joints
    assert [(j.kind, j.parent, j.child) for j in free] == [
        ("free", "world", "world_link"), ("fixed", "world_link", "arm")]  # fmt: skip
    table = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    full = write(tmp_path, f'<link name="world">{table}</link><link name="arm"/>' + WELD.format("j", "world", "arm"))
    assert [(b.name, len(b.shapes)) for b in load_urdf(full).bodies] == [("arm", 0), ("world_link", 1)]


def test_shapes_keep_form_size_place_role_and_colour(tmp_path):
    body = """<material name="red"><color rgba="1 0 0 1"/></material>
        <link name="a">
          <visual><origin xyz="1 2 3"/><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>
          <visual><geometry><sphere radius="0.5"/></geometry><material name="blue"/></visual>
          <visual><geometry><cylinder radius="1" length="2"/></geometry>
            <material name="blue"><color rgba="0 0 1 0.5"/></material></visual>
          <collision><geometry><capsule radius="1" length="2"/></geometry></collision></link>"""
    box, sphere, cylinder, capsule = load_urdf(write(tmp_path, body)).bodies[0].shapes
    assert (box.kind, box.size, box.placement.p, box.role) == ("box", (1, 2, 3), (1, 2, 3), "visual")
    assert (sphere.kind, sphere.size) == ("sphere", (0.5,))
    assert (cylinder.kind, cylinder.size) == ("cylinder", (1, 2))
    assert (capsule.kind, capsule.size, capsule.role, capsule.color) == ("capsule", (1, 2), "collision", None)
    assert box.color == (1, 0, 0, 1)
    assert sphere.color == cylinder.color == (0, 0, 1, 0.5)


TRIANGLE = """solid t
facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet
endsolid t
"""


def with_mesh(filename):
    return f'<link name="a"><visual><geometry><mesh filename="{filename}" scale="1 1 -2"/></geometry></visual></link>'


@pytest.mark.parametrize("how", ["relative", "file", "package_dirs", "environment", "above", "itself", "manifest"])
def test_mesh_is_found(tmp_path, monkeypatch, how):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    package = tmp_path / ("checkout" if how == "manifest" else "pkg")
    mesh = package / "meshes" / "t.stl"
    mesh.parent.mkdir(parents=True)
    mesh.write_text(TRIANGLE)
    if how == "manifest":
        (package / "package.xml").write_text("<package><name>pkg</name></package>")
    name = {"relative": "../meshes/t.stl", "file": f"file://{mesh}"}.get(how, "package://pkg/meshes/t.stl")
    far = tmp_path / "elsewhere"
    folder = {"package_dirs": far, "environment": far, "above": tmp_path / "robots"}.get(how, package / "urdf")
    if how == "environment":
        monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{tmp_path}")
    dirs = [tmp_path] if how == "package_dirs" else []
    if folder == far:  # out of reach of the walk up
        folder = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    path = write(folder, with_mesh(name))
    shape = load_urdf(path, package_dirs=dirs).bodies[0].shapes[0]
    assert shape.mesh.samefile(mesh)
    assert shape.size == (1, 1, -2)


def test_mesh_is_read_as_vertices_and_triangles(tmp_path):
    (tmp_path / "t.stl").write_text(TRIANGLE)
    (tmp_path / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    for name in ("t.stl", "t.obj"):
        vertices, faces = load_mesh(tmp_path / name)
        assert (vertices.dtype, faces.dtype) == (np.float64, np.int64)
        corners = sorted(map(tuple, vertices[faces[0]]))
        assert corners == [(0, 0, 0), (0, 1, 0), (1, 0, 0)]


def test_load_chooses_the_reader_by_the_file(tmp_path):
    urdf = '<robot name="r"><link name="a"/></robot>'
    for name in ("r.urdf", "r.xml"):
        (tmp_path / name).write_text(urdf)
        assert pp.load(tmp_path / name).name == "r"
    assert pp.load(tmp_path / "r.xml", free_base=True).joints[0].kind == "free"


def test_warning_points_at_the_caller(tmp_path):
    flat = SOLID.replace('izz="0.5"', 'izz="5"')
    path = write(tmp_path, f'<link name="a">{flat}</link>')
    with pytest.warns(ModelWarning, match=r"^robot.urdf: no mass distribution has the inertia of a; ") as caught:
        pp.load(path)
    assert caught[0].filename == __file__
