"""Bad input gets one clear line and never a model: descriptions, compile, URDF files, meshes.

One table per source: what is wrong -> (how to make it, what the line says).
"""

import math
import sys

import numpy as np
import pytest

import palpate as pp
from palpate.model.meshes import load_mesh

NAN = math.nan


def body(name="b", **options):
    return pp.Body(name, **{"mass": 1.0, "inertia": (1.0, 1.0, 1.0), **options})


def joint(name="j", **options):
    return pp.Joint(name, **{"kind": "revolute", "parent": "world", "child": "b", **options})


def structure(bodies, joints):
    return pp.MultiBody("m", tuple(bodies), tuple(joints))


def compiled(*joints, bodies=None):
    names = {j.child for j in joints}
    return pp.compile(structure(bodies or [body(name) for name in sorted(names)], joints))


DESCRIPTIONS = {
    # inertia
    "inertia not finite": (lambda: body(inertia=(1, 1, NAN)), "body 'b': inertia must be three or (3, 3) finite"),
    "inertia of wrong shape": (lambda: body(inertia=np.eye(2)), "body 'b': inertia must be three or (3, 3) finite"),
    "inertia ragged": (lambda: body(inertia=[[1, 2], [3]]), "body 'b': inertia must be three or (3, 3) finite"),
    "inertia not symmetric": (
        lambda: body(inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), "body 'b': the inertia matrix is not symmetric"),
    "inertia negative": (
        lambda: body(inertia=(-1, 1, 1)), "body 'b': the inertia has the negative principal moment -1 kg m^2"),
    "triangle inequality": (
        lambda: body(inertia=(1, 1, 3)), "body 'b': principal moments 1, 1, 3 kg m^2 break the triangle inequality"),
    "mass not finite": (lambda: body(mass=math.inf), "body 'b': mass must be finite and not negative, got inf"),
    "mass negative": (lambda: body(mass=-1), "body 'b': mass must be finite and not negative, got -1"),
    "mass a word": (lambda: body(mass="heavy"), "body 'b': mass must be finite and not negative, got heavy"),
    "centre of mass of wrong shape": (
        lambda: body(com=(1, 2)), "body 'b': centre of mass must be three finite numbers, got [1.0, 2.0]"),
    "nothing to move": (
        lambda: compiled(joint(), bodies=[pp.Body("b")]), "joint 'j' moves nothing that has inertia about its axis"),
    "nothing to slide": (
        lambda: compiled(joint(kind="prismatic"), bodies=[pp.Body("b", inertia=(1, 1, 1))]),
        "joint 'j' moves nothing that has inertia about its axis"),
    "a point mass on its own axis": (
        lambda: compiled(joint(), bodies=[pp.Body("b", 1.0)]),
        "joint 'j' moves nothing that has inertia about its axis"),
    "a point mass on a ball joint": (
        lambda: compiled(joint(kind="spherical"), bodies=[pp.Body("b", 1.0, (0, 0, -1))]),
        "joint 'j' moves nothing that has inertia about its axis"),
    "limits of a ball joint": (
        lambda: joint(kind="spherical", upper=1.0), "joint 'j': a spherical joint cannot have limits"),
    "negative where it moves": (
        lambda: compiled(joint(), bodies=[body(inertia=(-1, 1, 1), check=False)]),
        "joint 'j' moves the negative principal moment -1 kg m^2"),
    # the tree
    "cycle": (
        lambda: structure([body("a"), body("b")], [joint(parent="a"), joint("k", parent="b", child="a")]),
        "the joints form a cycle through body"),
    "two parents": (
        lambda: structure([body("a"), body("b")], [joint(), joint("k", child="a"), joint("l", parent="a")]),
        "body 'b' has two parents: joint 'l' is the second"),
    "unknown parent": (
        lambda: structure([body()], [joint(parent="c")]), "joint 'j': its parent 'c' is not a body of 'm'"),
    "unknown child": (lambda: structure([body()], [joint(child="c")]), "joint 'j': its child 'c' is not a body of 'm'"),
    "hangs on nothing": (lambda: structure([body()], []), "body 'b' hangs on nothing; give it a joint, to 'world'"),
    "two bodies of one name": (lambda: structure([body(), body()], []), "'m' has two of the body name 'b'"),
    "a body called world": (
        lambda: structure([body("world")], []), "'world' is the name of the world and cannot be a body's"),
    "a body that is none": (lambda: structure([3], []), "'m' is made of Body and Joint, got int"),
    "body without name": (lambda: pp.Body(""), "a body needs a name"),
    "joint without name": (lambda: joint(""), "a joint needs a name"),
    # joints
    "unknown kind": (lambda: joint(kind="screw"), "joint 'j': unknown kind 'screw'; known: fixed, revolute, prismatic"),
    "no axis": (lambda: joint(axis=(0, 0, 0)), "joint 'j': axis must not be zero"),
    "parallel axes": (
        lambda: joint(kind="universal", axis=(0, 1, 0)), "joint 'j': the two axes of a universal joint must not be"),
    "placement a matrix": (lambda: joint(placement=np.eye(4)), "joint 'j': placement must be a Transform, got ndarray"),
    "limits crossed": (lambda: joint(lower=2, upper=1), "joint 'j': the limits 2.0 .. 1.0 hold no value"),
    "limits of wrong shape": (lambda: joint(lower=(1, 2)), "joint 'j': lower needs 1 number, got 2"),
    "armature negative": (lambda: joint(armature=-1), "joint 'j': armature must be finite and not negative"),
    "effort not a number": (lambda: joint(effort_limit=NAN), "joint 'j': effort_limit must not be negative, got nan"),
    "composite without steps": (lambda: joint(kind="composite"), "joint 'j': steps belong to a composite joint"),
    "step of unknown kind": (lambda: pp.Step("ball", (1, 0, 0)), "a composite joint is made of revolute and prismatic"),
    "mimics nothing": (
        lambda: structure([body()], [joint(mimic=pp.Mimic("k"))]), "joint 'j' mimics 'k', which does not exist"),
    "mimics itself": (lambda: compiled(joint(mimic=pp.Mimic("j"))), "joint 'j' mimics itself"),
    "mimics a free joint": (
        lambda: compiled(joint("f", kind="free", child="a"), joint(mimic=pp.Mimic("f"))),
        "joint 'f' is mimicked but has 6 freedoms; only one can be followed"),
    "mimic not finite": (lambda: joint(mimic=pp.Mimic("k", NAN)), "joint 'j': the ratio and offset of a mimic must be"),
    # frames
    "quaternion far from unit": (
        lambda: pp.Rotation((2, 0, 0, 0)), "a quaternion must have length 1, got 2 from [2.0, 0.0, 0.0, 0.0]"),
    "quaternion of wrong shape": (lambda: pp.Rotation((1, 0, 0)), "a quaternion is four finite numbers (w, x, y, z)"),
    "quaternion not finite": (lambda: pp.Rotation((NAN, 0, 0, 1)), "a quaternion is four finite numbers (w, x, y, z)"),
    "matrix that mirrors": (lambda: pp.Rotation.from_matrix(np.diag([1, 1, -1])), "orthogonal with determinant +1"),
    "position of wrong shape": (lambda: pp.Transform(p=(1, 2)), "a position must be three finite numbers, got [1"),
    "rotation a matrix": (lambda: pp.Transform(np.eye(3)), "a Transform takes a Rotation, got ndarray"),
    # shapes
    "unknown shape": (lambda: pp.Shape("blob"), "unknown shape 'blob'; known: plane, sphere"),
    "shape of wrong size": (lambda: pp.Shape("box", (1, 2)), "a box takes the sizes (x, y, z), got (1, 2)"),
    "shape negative": (lambda: pp.Shape("sphere", (-1,)), "the sizes of a sphere must be positive, got (-1.0,)"),
    "mesh without a file": (lambda: pp.Shape("mesh", (1, 1, 1)), "a mesh shape needs a mesh file"),
    # compile and what takes arrays
    "compile nothing": (lambda: pp.compile([]), "there is nothing to compile"),
    "compile none": (lambda: pp.compile(None), "compile takes MultiBody descriptions, got NoneType"),
    "compile a body": (lambda: pp.compile([body()]), "compile takes MultiBody descriptions, got Body"),
    "gravity of wrong shape": (
        lambda: pp.compile(structure([body()], [joint()]), gravity=(0, 9.81)), "gravity must be three finite numbers"),
    "q of wrong shape": (
        lambda: pp.inverse_dynamics(compiled(joint()), [0, 0], [0], [0]), "q has shape (2,), the model needs (1,)"),
    "q with a quaternion far from unit": (
        lambda: pp.inverse_dynamics(compiled(joint(kind="spherical")), [2, 0, 0, 0], [0, 0, 0], [0, 0, 0]),
        "the quaternion q[0:4] of joint 'j' has length 2, not 1"),
}  # fmt: skip


@pytest.mark.parametrize("what", DESCRIPTIONS)
def test_wrong_description_is_refused_in_one_line(what):
    make, fragment = DESCRIPTIONS[what]
    with pytest.raises(ValueError) as error:  # noqa: PT011  ModelError is one
        make()
    assert fragment in str(error.value)
    assert "\n" not in str(error.value)


INERTIA = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
LINKS = '<link name="a"/>\n<link name="b"/>\n'
JOINT = '<joint name="j" type="{}">{}</joint>'
ENDS = '<parent link="a"/><child link="b"/>'


def inertial(mass='<mass value="1"/>', inertia=INERTIA):
    return f'<link name="a">\n<inertial>{mass}{inertia}</inertial></link>'


def visual(geometry, name="a"):
    return f'<link name="{name}"><visual>\n<geometry>{geometry}</geometry></visual></link>'


# what is wrong -> (what stands in the file from its second line on, the whole message from its line number on)
FILES = {
    "tag not closed": ('<link name="a">', "3: malformed XML: mismatched tag"),
    "no XML": ("<link name=a/>", "2: malformed XML: not well-formed (invalid token)"),
    "no links": ("", "1: the robot has no links"),
    "xacro macro": ('<xacro:arm side="left"/>', "2: <xacro:arm> is a xacro macro; run xacro on the file first"),
    "xacro expression": (
        inertial('<mass value="${m}"/>'), "3: value='${m}' is a xacro expression; run xacro on the file first"),
    "link without name": ("<link/>", "2: <link> needs the attribute 'name'"),
    "two links of one name": (
        '<link name="a"/>\n<link name="a"/>', "3: a second link is called 'a'; the first is in line 2"),
    "two roots": (LINKS, "1: a robot is one tree, but this one has 2 root links: a, b"),
    "cycle": (
        LINKS + JOINT.format("fixed", ENDS)
        + '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>',
        "1: a robot is one tree, but this one has no root: its joints form a cycle"),
    "two parents": (
        LINKS + '<link name="c"/>' + JOINT.format("fixed", ENDS)
        + '<joint name="k" type="fixed"><parent link="a"/><child link="c"/></joint>'
        + '<joint name="l" type="fixed"><parent link="c"/><child link="b"/></joint>',
        " body 'b' has two parents: joint 'l' is the second"),
    "unknown joint": (
        LINKS + JOINT.format("screw", ENDS), "4: joint 'j' has the type 'screw'; known: fixed, revolute, continuous, "
        "prismatic, planar, floating"),
    "joint without type": (LINKS + f'<joint name="j">{ENDS}</joint>', "4: <joint> needs the attribute 'type'"),
    "joint without parent": (LINKS + JOINT.format("fixed", '<child link="b"/>'), "4: joint 'j' has no <parent>"),
    "joint without child": (LINKS + JOINT.format("fixed", '<parent link="a"/>'), "4: joint 'j' has no <child>"),
    "joint to nowhere": (
        '<link name="a"/><link name="forearm"/>\n'
        + JOINT.format("fixed", '<parent link="a"/>\n<child link="fore_arm"/>'),
        "4: joint 'j': its child 'fore_arm' is not a link of the robot; did you mean 'forearm'?"),
    "no limit": (
        LINKS + JOINT.format("revolute", ENDS),
        "4: joint 'j' is revolute and needs a <limit>; type=\"continuous\" has none"),
    "limits crossed": (
        LINKS + JOINT.format("prismatic", ENDS + '<limit lower="1" upper="0"/>'),
        "4: joint 'j': the limits 1.0 .. 0.0 hold no value"),
    "no axis": (
        LINKS + JOINT.format("continuous", ENDS + '<axis xyz="0 0 0"/>'), "4: joint 'j': axis must not be zero"),
    "mimics nothing": (
        LINKS + JOINT.format("continuous", ENDS + '\n<mimic joint="k"/>'),
        "5: joint 'j' mimics 'k', which is not a joint of the robot"),
    "a word for a number": (
        LINKS + JOINT.format("fixed", ENDS + '\n<origin xyz="0 0 zero"/>'),
        "5: <origin> xyz='0 0 zero' is not 3 numbers"),
    "two numbers for three": (
        LINKS + JOINT.format("fixed", ENDS + '\n<origin rpy="0 0"/>'), "5: <origin> rpy='0 0' is not 3 numbers"),
    "mass not a number": (inertial('<mass value="nan"/>'), "3: <mass> value='nan' is not 1 number"),
    "mass missing": (inertial(""), "3: link 'a': <inertial> needs a <mass> and an <inertia>"),
    "mass negative": (
        inertial('<mass value="-1"/>'), "3: body 'a': mass must be finite and not negative, got -1.0"),
    "inertia missing": (inertial(inertia=""), "3: link 'a': <inertial> needs a <mass> and an <inertia>"),
    "inertia incomplete": (inertial(inertia='<inertia ixx="1"/>'), "3: <inertia> needs the attribute 'ixy'"),
    "missing mesh": (
        visual('<mesh filename="hand.stl"/>'),
        "3: link 'a': mesh 'hand.stl' is not there; looked for {folder}/hand.stl"),
    "missing package": (
        visual('<mesh filename="package://robot/hand.stl"/>'), "3: link 'a': mesh 'package://robot/hand.stl' is not "
        "there; pass package_dirs= or set ROS_PACKAGE_PATH for 'robot'"),
    "unknown shape": (visual("<cone/>"), "3: link 'a': unknown geometry <cone>"),
    "shape of wrong size": (visual('<box size="1 2"/>'), "3: <box> size='1 2' is not 3 numbers"),
    "shape negative": (
        visual('<sphere radius="-1"/>'), "3: link 'a': the sizes of a sphere must be positive, got (-1.0,)"),
    "shape without geometry": (
        '<link name="a">\n<collision/></link>', "3: link 'a': a <collision> has no geometry"),
}  # fmt: skip


@pytest.mark.parametrize("what", FILES)
def test_wrong_urdf_is_refused_in_one_line_with_its_place(what, tmp_path):
    text, message = FILES[what]
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r">\n{text}\n</robot>')
    with pytest.raises(pp.ModelError) as error:
        pp.load(path)
    assert str(error.value) == f"robot.urdf:{message.format(folder=tmp_path) if 'folder' in message else message}"


def test_file_that_is_not_a_description_is_refused_in_one_line(tmp_path):
    def refusal(name, text=""):
        (tmp_path / name).write_text(text)
        with pytest.raises(pp.ModelError) as error:
            pp.load(tmp_path / name)
        return str(error.value)

    assert refusal("a.urdf") == "a.urdf:1: malformed XML: no element found"
    assert refusal("a.urdf", "<mujoco/>") == "a.urdf:1: the root element is <mujoco>; a URDF file begins with <robot>"
    assert refusal("a.sdf") == "a.sdf: the format '.sdf' is not known; known: .urdf, .xml and .mjcf"
    assert refusal("a.urdf.xacro").startswith("a.urdf.xacro is a xacro file; run `xacro a.urdf.xacro > a.urdf`")
    with pytest.raises(pp.ModelError, match=r"^there is no file .*/none.urdf$"):
        pp.load(tmp_path / "none.urdf")
    with pytest.raises(pp.ModelError, match=r" is not a file$"):
        pp.load(tmp_path)


MESHES = {
    "t.stl": ("solid nothing\nendsolid nothing\n", "t.stl"),
    "t.obj": ("v 0 0 0\nv 1 0 0\nv 0 1 0\n", "t.obj"),
    "t.step": ("", "the format '.step' is not known; known: .stl, .obj, .dae, .ply"),
    "t.ply": ("no ply", "t.ply cannot be read: "),
}


@pytest.mark.parametrize("name", MESHES)
def test_wrong_mesh_is_refused_in_one_line(name, tmp_path):
    text, fragment = MESHES[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(pp.ModelError) as error:
        load_mesh(tmp_path / name)
    assert fragment in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_mesh_is_named():
    with pytest.raises(pp.ModelError, match=r"^mesh /nowhere/hand.stl is not there$"):
        load_mesh("/nowhere/hand.stl")


def test_dae_without_its_reader_names_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "collada", None)  # an import of it fails
    (tmp_path / "t.dae").write_text("<COLLADA/>")
    with pytest.raises(pp.ModelError, match=r"t.dae: reading .dae needs the package pycollada: pip install pycollada$"):
        load_mesh(tmp_path / "t.dae")


def test_mjcf_without_mujoco_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    (tmp_path / "t.xml").write_text("<mujoco/>")
    with pytest.raises(pp.ModelError, match=r"^t.xml: reading MJCF needs MuJoCo: pip install 'palpate\[mjcf\]'$"):
        pp.load(tmp_path / "t.xml")
