"""MJCF: mass matrix, bias forces and body poses agree with MuJoCo's on models that cover every joint.

Our v and MuJoCo's qvel differ for a free joint: (angular, linear) in body axes, (linear in world axes, angular in body
axes).  With qvel = T v:  H = T^T M T  and  h = T^T (bias + M dT/dt v).
"""

import math

import numpy as np
import pytest

import palpate as pp
from palpate.model.description import ModelError, ModelWarning
from palpate.model.mjcf import load_mjcf

mujoco = pytest.importorskip("mujoco")

SOLID = '<inertial pos="0.1 -0.05 0.2" mass="{}" fullinertia="0.03 0.04 0.05 0.002 0.003 -0.004"/>'
PLACE = 'pos="0.1 0.2 0.3" euler="20 -30 40"'


def body(name, joints, inside="", mass=1.5):
    return f'<body name="{name}" {PLACE}>{joints}{SOLID.format(mass)}{inside}</body>'


HINGE = '<joint name="h" type="hinge" axis="1 2 -1" pos="0.1 0.2 -0.3"/>'
MODELS = {
    "hinge": body("a", HINGE),
    "slide": body("a", '<joint name="s" type="slide" axis="1 -2 0.5" pos="0.1 0.2 0.3"/>'),
    "ball": body("a", '<joint name="b" type="ball" pos="0.1 0.2 -0.3"/>'),
    "free": body("a", '<freejoint name="f"/>'),
    "several joints": body("a", """<joint name="x" type="slide" axis="1 0.5 0" pos="0.3 0 0"/>
        <joint name="y" type="hinge" axis="0 1 0.5" pos="0.1 0.2 0"/>
        <joint name="z" type="hinge" axis="1 0 1" pos="0 0.2 0.4"/><joint name="w" type="slide" axis="0 0 1"/>"""),
    "hinge with ref": body("a", '<joint axis="1 2 -1" pos="0.1 0.2 -0.3" ref="35"/>'),
    "slide with ref": body("a", '<joint type="slide" axis="1 2 -1" ref="0.4"/>'),
    "several with ref": body("a", """<joint name="y" type="hinge" axis="0 1 0.5" pos="0.1 0.2 0" ref="40"/>
        <joint name="x" type="slide" axis="1 0.5 0" ref="-0.3"/>
        <joint name="z" type="hinge" axis="1 0 1" pos="0 0.2 0.4" ref="-70"/>"""),
    "armature": body("a", '<joint axis="0 1 0" armature="0.7"/>', body("b", '<joint type="ball" armature="0.2"/>')),
    "welded": body("a", HINGE, body("b", "", body("c", "", body("d", '<joint axis="0 1 0"/>')))),
    "welded to the world": body("a", "", body("b", HINGE)),
    "tree on a free base": body("a", '<freejoint/>', body("b", HINGE) + body("c", '<joint type="ball"/>')
        + body("d", '<joint axis="1 0 0"/><joint axis="0 1 0"/>', body("e", '<joint type="slide"/>'))),
    "forest": body("a", "<freejoint/>") + body("b", HINGE) + body("c", "<freejoint/>", body("d", "<joint/>")),
}  # fmt: skip


def mjcf(inside, before=""):
    return f'<mujoco model="m"><compiler autolimits="true"/>{before}<worldbody>{inside}</worldbody></mujoco>'


@pytest.mark.parametrize("name", MODELS)
def test_agrees_with_mujoco(name):
    text = mjcf(MODELS[name])
    model = pp.compile(load_mjcf(text))
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    assert (model.nq, model.nv) == (m.nq, m.nv)
    rng = np.random.default_rng(7)
    q, v = rng.uniform(-1.5, 1.5, m.nq), rng.uniform(-2, 2, m.nv)
    free = []  # (velocities, quaternion) of free joints
    for j in range(m.njnt):
        first, kind = m.jnt_qposadr[j], int(m.jnt_type[j])
        wxyz = slice(first, first + 4) if kind == mujoco.mjtJoint.mjJNT_BALL else slice(first + 3, first + 7)
        if kind in (mujoco.mjtJoint.mjJNT_BALL, mujoco.mjtJoint.mjJNT_FREE):
            q[wxyz] /= np.linalg.norm(q[wxyz])
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            free.append((slice(m.jnt_dofadr[j], m.jnt_dofadr[j] + 6), pp.Rotation(tuple(q[wxyz])).matrix()))

    T, drift = np.eye(m.nv), np.zeros(m.nv)  # drift = dT/dt v
    for part, R in free:
        T[part, part] = np.block([[np.zeros((3, 3)), R], [np.eye(3), np.zeros((3, 3))]])
        angular, linear = v[part][:3], v[part][3:]
        drift[part.start : part.start + 3] = R @ np.cross(angular, linear)
    d.qpos[:], d.qvel[:] = q, T @ v
    mujoco.mj_forward(m, d)
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, M)

    H, h = T.T @ M @ T, T.T @ (d.qfrc_bias + M @ drift)
    np.testing.assert_allclose(pp.mass_matrix(model, q), H, rtol=0, atol=1e-9 * np.abs(H).max())
    np.testing.assert_allclose(pp.bias(model, q, v), h, rtol=0, atol=1e-9 * np.abs(h).max())
    poses = pp.forward_kinematics(model, q)
    for i in range(1, m.nbody):
        pose = poses[model.body(m.body(i).name)]
        np.testing.assert_allclose(pose[:3, 3], d.xpos[i], atol=1e-9)
        np.testing.assert_allclose(pose[:3, :3], d.xmat[i].reshape(3, 3), atol=1e-9)


def test_joint_keeps_its_limits_and_losses():
    text = mjcf(body("a", '<joint axis="0 1 0" range="-30 60" damping="2" frictionloss="3" actuatorfrcrange="-4 4"/>'))
    (joint,) = load_mjcf(text).joints
    assert joint.lower == pytest.approx((-math.pi / 6,))
    assert joint.upper == pytest.approx((math.pi / 3,))
    assert (joint.damping, joint.friction, joint.effort_limit) == ((2,), (3,), 4)


def test_free_joint_keeps_its_damping_but_not_its_armature():
    text = mjcf(body("a", '<joint name="f" type="free" damping="2" armature="3"/>'))
    with pytest.warns(ModelWarning, match="left out the armature of free joint 'f'$"):
        (joint,) = load_mjcf(text).joints
    assert (joint.damping, joint.armature) == ((2,) * 6, (0,) * 6)


def test_geoms_become_shapes():
    inside = """<geom name="floor" type="plane" size="1 1 1" rgba="1 0 0 1"/>
        <body name="a"><joint/><geom type="sphere" size="0.1" friction="0.7"/><geom type="box" size="1 2 3"/>
        <geom type="capsule" size="0.1 0.2" contype="0" conaffinity="0"/>
        <geom type="cylinder" size="0.1 0.2" condim="1" pos="1 2 3"/></body>"""
    static, a = load_mjcf(mjcf(inside)).bodies
    assert [(s.kind, s.size, s.color) for s in static.shapes] == [("plane", (), (1, 0, 0, 1))]
    sphere, box, capsule, cylinder = a.shapes
    assert (sphere.kind, sphere.size, sphere.material.friction, sphere.role) == ("sphere", (0.1,), 0.7, "both")
    assert (box.kind, box.size) == ("box", (2, 4, 6))
    assert (capsule.kind, capsule.size, capsule.role) == ("capsule", (0.1, 0.4), "visual")
    assert (cylinder.kind, cylinder.material.friction, cylinder.placement.p) == ("cylinder", 0.0, (1, 2, 3))


def test_mesh_geom_lies_where_mujoco_has_it(tmp_path):
    corners = [(1, 1, 1), (1.4, 1, 1), (1, 1.3, 1), (1, 1, 1.2)]
    faces = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "t.obj").write_text("".join(f"v {x} {y} {z}\n" for x, y, z in corners) + faces)
    text = mjcf('<body name="a"><joint/><geom type="mesh" mesh="t" pos="0.1 0.2 0.3" euler="10 20 30"/></body>',
                '<asset><mesh name="t" file="parts/t.obj" scale="1 2 3"/></asset>')  # fmt: skip
    (tmp_path / "robot.xml").write_text(text)
    (shape,) = pp.load(tmp_path / "robot.xml").bodies[0].shapes
    assert shape.mesh.samefile(tmp_path / "parts" / "t.obj")
    ours = shape.placement.apply(np.array(corners) * shape.size)

    m = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    place = pp.Transform(pp.Rotation(tuple(m.geom_quat[0])), tuple(m.geom_pos[0]))
    theirs = place.apply(m.mesh_vert)
    nearest = np.linalg.norm(ours[:, None] - theirs[None], axis=2).min(axis=1)  # MuJoCo may reorder them
    assert nearest.max() < 1e-6  # MuJoCo keeps vertices in single precision


def test_postures_are_the_reference_and_the_keyframes():
    keys = '<keyframe><key name="up" qpos="1 2 3 0 1 0 0 0.5"/></keyframe>'
    text = mjcf(body("a", '<freejoint name="f"/>', body("b", HINGE))).replace("</mujoco>", f"{keys}</mujoco>")
    model = pp.compile(load_mjcf(text))
    np.testing.assert_allclose(model.posture("up"), [1, 2, 3, 0, 1, 0, 0, 0.5])
    np.testing.assert_allclose(model.posture("qpos0"), mujoco.MjModel.from_xml_string(text).qpos0)


LEFT_OUT = {
    "equality constraints (1)": ("", '<equality><connect body1="a" anchor="0 0 0"/></equality>'),
    "tendons (1)": ("", '<tendon><fixed><joint joint="h" coef="1"/></fixed></tendon>'),
    "actuators (1)": ("", '<actuator><motor joint="h"/></actuator>'),
    "ellipsoid geom egg": ('<geom name="egg" type="ellipsoid" size="1 2 3"/>', ""),
    "mesh geom soup": ('<geom name="soup" type="mesh" mesh="m"/>',
                       '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>'),
    "gravity (0.0, 0.0, -1.0) (pass gravity= to compile)": ("", '<option gravity="0 0 -1"/>'),
}  # fmt: skip


@pytest.mark.parametrize("what", LEFT_OUT)
def test_warns_of_what_it_leaves_out(what):
    inside, beside = LEFT_OUT[what]
    text = mjcf(body("a", HINGE, inside)).replace("</mujoco>", f"{beside}</mujoco>")
    with pytest.warns(ModelWarning) as caught:
        load_mjcf(text)
    assert [str(w.message) for w in caught] == [f"MJCF text: left out {what}"]


REFUSED = {
    "body 'a' combines a ball joint with other joints": body("a", '<joint type="slide"/><joint type="ball"/>'),
    "Schema violation: unrecognized element": "<bodi/>",
    "mass and inertia of moving bodies must be larger": '<body name="a"><joint/></body>',
}


@pytest.mark.parametrize("fragment", REFUSED)
def test_refuses_in_one_line(fragment):
    with pytest.raises(ModelError) as error:
        load_mjcf(mjcf(REFUSED[fragment]))
    assert str(error.value).startswith("MJCF text: ")
    assert fragment in str(error.value)
    assert "\n" not in str(error.value)


def test_free_base_is_not_for_mjcf(tmp_path):
    (tmp_path / "robot.xml").write_text(mjcf(MODELS["hinge"]))
    assert pp.load(tmp_path / "robot.xml").name == "m"
    with pytest.raises(ModelError, match="in MJCF give the root body a <freejoint/>"):
        pp.load(tmp_path / "robot.xml", free_base=True)
