"""A robot that was sent opens no file that was not sent, whatever its files name and however they name it.

Linux tells of every opening in a folder, by whatever library: the folder is outside of what was sent, with a file of
each kind in it.
"""

import base64
import contextlib
import ctypes
import os
import struct
import sys
import warnings

import numpy as np
import pytest

from palpate.model.meshes import load_mesh
from palpate.runtime.page import first_reading as trial
from palpate.runtime.page.uploads import unpack_robot
from palpate.scenes.robots import load_robot

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")

IN_OPEN, IN_NONBLOCK = 0x20, 0o4000


class Watched:
    """The names of what is opened in a folder."""

    def __init__(self, folder):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(IN_NONBLOCK)
        if self.fd < 0 or libc.inotify_add_watch(self.fd, os.fsencode(folder), IN_OPEN) < 0:
            pytest.skip("no more inotify watches here")

    def opened(self):
        names = set()
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self.fd, 65536):
                while data:
                    length = struct.unpack_from("iIII", data)[3]
                    names.add(data[16 : 16 + length].rstrip(b"\0").decode())
                    data = data[16 + length :]
        return names - {""}  # the folder itself may be looked at


# ---- what may be named: a file of each kind that would be read if it were opened

OBJ = "mtllib {}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\n"
PLY = (
    "ply\nformat ascii 1.0\ncomment TextureFile {}\nelement vertex 3\nproperty float x\nproperty float y\n"
    "property float z\nproperty float s\nproperty float t\nelement face 1\nproperty list uchar int vertex_indices\n"
    "end_header\n0 0 0 0 0\n1 0 0 1 0\n0 1 0 0 1\n3 0 1 2\n"
)
STL = (
    "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n"
)
DAE = """<?xml version="1.0"?>
{doctype}<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="1"/></asset>
<library_images><image id="i"><init_from>{name}</init_from></image></library_images>
<library_effects><effect id="e"><profile_COMMON>
<newparam sid="s"><surface type="2D"><init_from>i</init_from></surface></newparam>
<newparam sid="p"><sampler2D><source>s</source></sampler2D></newparam>
<technique sid="t"><phong><emission><texture texture="p" texcoord="u"/></emission>
<diffuse><texture texture="p" texcoord="u"/></diffuse></phong></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="{effect}"/></material></library_materials>
<library_geometries><geometry id="g"><mesh><source id="v"><float_array id="f" count="9">0 0 0 1 0 0 0 1 0</float_array>
<technique_common><accessor source="#f" count="3" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="w"><input semantic="POSITION" source="#v"/></vertices>
<triangles count="1" material="m"><input semantic="VERTEX" source="#w" offset="0"/><p>0 1 2</p>
</triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="x"><node><instance_geometry url="{geometry}"><bind_material><technique_common>
<instance_material symbol="m" target="#m"/></technique_common></bind_material></instance_geometry></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#x"/></scene></COLLADA>
"""
ENTITY = '<!DOCTYPE {root} [<!ENTITY x SYSTEM "{name}">]>'
PARAMETER = '<!DOCTYPE {root} [<!ENTITY % x SYSTEM "{name}"> %x;]>'
DTD = '<!DOCTYPE {root} SYSTEM "{name}">'


def dae(name="none.png", doctype="", effect="#e", geometry="#g"):
    return DAE.format(name=name, doctype=doctype, effect=effect, geometry=geometry)


SECRETS = {
    "secret.mtl": "newmtl a\nmap_Kd {outside}/secret.png\n", "secret.png": "x", "secret.stl": STL,
    "secret.obj": OBJ.format("none"), "secret.dae": dae(), "secret.ply": PLY.format("none"),
    "secret.xml": "<mujoco><worldbody><body name='secret'/></worldbody></mujoco>", "secret.dtd": "<!ENTITY y 'y'>",
    "secret.urdf": "<robot name='r'><link name='secret'/></robot>", "secret.bin": "x", "secret.hf": "x",
}  # fmt: skip


def urdf(mesh, doctype="", within=""):
    return (
        f'{doctype}<robot name="r">{within}<link name="a">'
        f'<visual><geometry><mesh filename="{mesh}"/></geometry></visual>'
        f'<collision><geometry><mesh filename="{mesh}"/></geometry></collision></link></robot>'
    )


def mjcf(within, doctype=""):
    return f"{doctype}<mujoco>{within}<worldbody><body name='b'><joint/><geom size='1'/></body></worldbody></mujoco>"


def asset(what):
    return mjcf(f"<asset>{what}</asset>")


# what -> the files that are sent; {} is the name of the file outside without its end
SENT = {
    "obj material": {"a.urdf": urdf("m.obj"), "m.obj": OBJ.format("{}.mtl")},
    "obj picture": {"a.urdf": urdf("m.obj"), "m.obj": OBJ.format("m.mtl"), "m.mtl": "newmtl a\nmap_Kd {}.png\n"},
    "ply picture": {"a.urdf": urdf("m.ply"), "m.ply": PLY.format("{}.png")},
    "dae picture": {"a.urdf": urdf("m.dae"), "m.dae": dae("{}.png")},
    "dae effect": {"a.urdf": urdf("m.dae"), "m.dae": dae(effect="{}.dae#e")},
    "dae geometry": {"a.urdf": urdf("m.dae"), "m.dae": dae(geometry="{}.dae#g")},
    "dae entity": {"a.urdf": urdf("m.dae"), "m.dae": dae("&x;", ENTITY.format(root="COLLADA", name="{}.dtd"))},
    "dae parameter": {"a.urdf": urdf("m.dae"), "m.dae": dae("x", PARAMETER.format(root="COLLADA", name="{}.dtd"))},
    "dae dtd": {"a.urdf": urdf("m.dae"), "m.dae": dae("x", DTD.format(root="COLLADA", name="{}.dtd"))},
    "gltf": {"a.urdf": urdf("m.gltf"), "m.gltf": '{{"buffers": [{{"uri": "{}.bin", "byteLength": 1}}]}}'},
    "stl": {"a.urdf": urdf("m.stl"), "m.stl": STL.replace("solid a", "solid {}.stl")},
    **{f"urdf {end}": {"a.urdf": urdf(f"{{}}.{end}")} for end in ("stl", "obj", "dae", "ply")},
    "urdf entity": {"a.urdf": urdf("m.stl", ENTITY.format(root="robot", name="{}.urdf"), "&x;"), "m.stl": STL},
    "urdf parameter": {"a.urdf": urdf("m.stl", PARAMETER.format(root="robot", name="{}.dtd")), "m.stl": STL},
    "urdf dtd": {"a.urdf": urdf("m.stl", DTD.format(root="robot", name="{}.dtd")), "m.stl": STL},
    "xinclude": {"a.urdf": urdf("m.stl", "", '<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="{}.urdf"/>')},
    "mjcf include": {"a.xml": mjcf('<include file="{}.xml"/>')},
    "mjcf include of include": {"a.xml": mjcf('<include file="b.xml"/>'), "b.xml": mjcf('<include file="{}.xml"/>')},
    "mjcf entity": {"a.xml": mjcf("&x;", ENTITY.format(root="mujoco", name="{}.xml"))},
    "mjcf mesh": {"a.xml": asset('<mesh name="m" file="{}.stl"/>')},
    "mjcf obj": {"a.xml": asset('<mesh name="m" file="m.obj"/>'), "m.obj": OBJ.format("{}.mtl")},
    **{f"mjcf {folder}": {"a.xml": mjcf(f'<compiler {folder}="{{folder}}"/><asset><mesh file="secret.stl"/></asset>')}
       for folder in ("meshdir", "assetdir")},
    "mjcf texture": {"a.xml": asset('<texture type="2d" file="{}.png"/>')},
    "mjcf skybox": {"a.xml": asset('<texture type="skybox" fileup="{}.png"/>')},
    "mjcf hfield": {"a.xml": asset('<hfield name="h" file="{}.hf" size="1 1 1 1"/>')},
    "mjcf skin": {"a.xml": mjcf('<deformable><skin file="{}.bin"/></deformable>')},
    "mjcf model": {"a.xml": asset('<model name="m" file="{}.xml"/>')},
    "mjcf flex": {"a.xml": mjcf('<worldbody><flexcomp name="f" type="gmsh" file="{}.bin"/></worldbody>')},
    "mjcf composite": {"a.xml": mjcf('<default><mesh file="{}.stl"/></default>')},
}  # fmt: skip
WAYS = {
    "above": lambda outside: f"../{outside.name}/secret",
    "absolute": lambda outside: f"{outside}/secret",
    "file": lambda outside: f"file://{outside}/secret",
    "package": lambda outside: f"package://../{outside.name}/secret",
    "package of that name": lambda outside: f"package://{outside.name}/secret",
    "Windows": lambda outside: f"..\\{outside.name}\\secret",
    "from within": lambda outside: f"within/../../{outside.name}/secret",
}


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside"
    folder.mkdir()
    for name, text in SECRETS.items():
        (folder / name).write_text(text.replace("{outside}", str(folder)))
    return folder


def unpacked(files, folder):
    encoded = {name: base64.b64encode(text.encode()).decode() for name, text in files.items()}
    return unpack_robot({**encoded, "within/x.stl": ""}, folder)


def named(files, outside, way):
    """The files that name `secret` outside in that way."""
    name = way(outside)
    put = {"{}": name, "{folder}": name.removesuffix("secret"), "{{": "{", "}}": "}"}
    for old, new in put.items():
        files = {file: text.replace(old, new) for file, text in files.items()}
    return files


@pytest.mark.parametrize("what", SENT)
def test_no_file_outside_of_those_that_were_sent_is_opened(what, outside, tmp_path, capfd):
    if what.startswith("mjcf"):
        pytest.importorskip("mujoco")
    for k, way in enumerate(WAYS.values()):
        sent = tmp_path / f"sent{k}"
        sent.mkdir()
        robot = unpacked(named(SENT[what], outside, way), sent)
        watched = Watched(outside)
        for read in (lambda: trial.read(robot, sent), lambda: load_robot(str(robot))):  # noqa: B023
            with contextlib.suppress(ValueError), warnings.catch_warnings():  # refused, or read without it
                warnings.simplefilter("ignore")
                read()
        assert watched.opened() == set(), f"{what}, {list(WAYS)[k]}"
        os.close(watched.fd)
    said = capfd.readouterr()
    assert "Traceback" not in said.out + said.err


def test_openings_are_seen_whoever_opens(outside, tmp_path):
    """Else the test above would say nothing: a user's own robot may read what it names, and is seen to."""
    pytest.importorskip("mujoco")
    watched = Watched(outside)
    (tmp_path / "a.urdf").write_text(urdf(f"{outside}/secret.stl"))
    load_robot(str(tmp_path / "a.urdf"))
    assert watched.opened() == {"secret.stl"}
    (tmp_path / "b.xml").write_text(mjcf(f'<include file="{outside}/secret.xml"/>'))
    with contextlib.suppress(ValueError):
        load_robot(str(tmp_path / "b.xml"))
    assert watched.opened() == {"secret.xml"}
    os.close(watched.fd)


def test_a_mesh_is_read_from_its_own_file_alone(tmp_path):
    """Not even what lies beside it: pictures and materials are not wanted."""
    (tmp_path / "secret.mtl").write_text("newmtl a\nmap_Kd secret.png\n")
    (tmp_path / "secret.png").write_text("x")
    (tmp_path / "m.obj").write_text(OBJ.format("secret.mtl"))
    (tmp_path / "m.ply").write_text(PLY.format("secret.png"))
    (tmp_path / "m.dae").write_text(dae("secret.png"))
    for name in ("m.obj", "m.ply", "m.dae"):
        watched = Watched(tmp_path)
        vertices, triangles = load_mesh(tmp_path / name)
        assert watched.opened() == {name}
        assert np.array_equal(np.sort(vertices[triangles[0]], axis=0), [[0, 0, 0], [0, 0, 0], [1, 1, 0]])
        os.close(watched.fd)
