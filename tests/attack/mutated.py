"""Files of every kind that is read, damaged at random: `python mutated.py FIRST LAST [KIND]`, seeds of the damage.

Runs within the limits that a robot from a page is tried in, and prints what came of each file that was neither read
nor refused as it should be, as a line of JSON; last {"read": n, "refused": n}.
"""

import contextlib
import itertools
import json
import os
import random
import struct
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from runtime.small_robot import stl, urdf

from palpate.model.description import ModelError
from palpate.model.load import load
from palpate.model.meshes import load_mesh
from palpate.runtime.page import first_reading as trial

FACETS = """facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
"""
PLY = """ply
format {} 1.0
comment made by hand
element vertex 3
property float x
property float y
property float z
element face 1
property list uchar int vertex_indices
end_header
"""
DAE = """<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><unit meter="0.01"/></asset>
<library_geometries><geometry id="g"><mesh><source id="v"><float_array id="f" count="9">0 0 0 1 0 0 0 1 0</float_array>
<technique_common><accessor source="#f" count="3" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="w"><input semantic="POSITION" source="#v"/></vertices>
<triangles count="1"><input semantic="VERTEX" source="#w" offset="0"/><p>0 1 2</p></triangles></mesh></geometry>
</library_geometries><library_visual_scenes><visual_scene id="x"><node id="n"><matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1
</matrix><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#x"/></scene></COLLADA>
"""
MJCF = """<mujoco model="m"><compiler angle="radian"/><default><geom density="900"/></default>
<asset><mesh name="m" file="m.stl"/><material name="c" rgba="1 0 0 1"/></asset>
<worldbody><geom type="plane" size="1 1 0.1"/><body name="a" pos="0 0 1"><freejoint/>
<geom type="mesh" mesh="m" material="c"/><body name="b" pos="0 0 0.4"><joint name="j" type="hinge" axis="0 1 0"
range="-1 1"/><joint name="s" type="slide" axis="1 0 0"/><geom type="capsule" size="0.05 0.2"/></body></body>
</worldbody><actuator><motor joint="j"/></actuator>
<keyframe><key name="k" qpos="0 0 1 1 0 0 0 0.1 0.2"/></keyframe></mujoco>
"""
VERTICES = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
WHOLE = {
    "urdf": ("r.urdf", urdf("m.stl").encode()),
    "mjcf": ("r.xml", MJCF.encode()),
    "dae": ("m.dae", DAE.encode()),
    "stl": ("m.stl", stl()),
    "stl text": ("m.stl", f"solid a\n{FACETS * 3}endsolid a\n".encode()),
    "obj": (
        "m.obj",
        b"o a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\ng b\nf 1/1/1 2/1/1 3/1/1\nf 1 2 3\nf -1 -2 -3\n",
    ),
    "ply": (
        "m.ply",
        PLY.format("binary_little_endian").encode() + VERTICES + struct.pack("<B3i", 3, 0, 1, 2),
    ),
    "ply text": ("m.ply", (PLY.format("ascii") + "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n").encode()),
}
WORDS = (
    b"nan", b"inf", b"-1", b"0", b"3", b"4", b"1e999", b"1e-320", b"4294967295", b"-2147483648",
    b"99999999999999999999", b"0x10", b"1_000", b'"', b"'", b"<", b">", b"&", b"&#0;", b"&lt;", b"<!--",
    b"-->", b"<![CDATA[", b"]]>", b"<a>", b"</a>", b"<a/>", b"<?xml?>", b"%s", b"{}", b"\\", b"/", b"//", b"../", b"#g",
    b"#x", b"#f", b"#v", b"#w", b"#n",
    b"robot", b"link", b"joint", b"mesh", b"body", b"vertex", b"face", b"facet", b"loop", b"uchar", b"double", b"float",
    b"list", b"solid", b"end_header", b"element", b"usemtl", b"mtllib", b"f", b"v", b"o", b"g", b"\0", b"\xff\xfe",
    b"\xef\xbb\xbf", b"\n", b"\r\n", b" ", "٣".encode(), b"x" * 5000, b"1 " * 3000,
)  # fmt: skip
ENCODINGS = [f'<?xml version="1.0" encoding="{name}"?>'.encode() for name in ("foo", "utf-32", "cp037", "rot13", "")]


def bomb(root):
    entities = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in itertools.pairwise("abcdefghij"))
    return f'<!DOCTYPE {root} [<!ENTITY a "aaaaaaaaaa">{entities}]>'.encode()


def damaged(whole, rng):
    """The file with a few things wrong."""
    data = bytearray(whole)
    for _ in range(rng.choice((1, 1, 2, 5))):
        a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        short = min(b, a + rng.choice((1, 2, 4, 8, 50)))
        kind = rng.randrange(11)
        if kind == 0 and data:
            data[a % len(data)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[a:short] = rng.randbytes(short - a)
        elif kind == 2:
            del data[a:]
        elif kind == 3:
            del data[a:short]
        elif kind == 4:
            data[a:a] = rng.choice(WORDS)
        elif kind == 5:  # a word in place of another
            words = bytes(data).split(b" ")
            words[rng.randrange(len(words))] = rng.choice(WORDS)
            data = bytearray(b" ".join(words))
        elif kind == 6:
            words = bytes(data).split(b'"')
            words[rng.randrange(len(words))] = rng.choice(WORDS)
            data = bytearray(b'"'.join(words))
        elif kind == 7:  # two lines change places
            lines = bytes(data).split(b"\n")
            i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
            data = bytearray(b"\n".join(lines))
        elif kind == 8:
            data[a:a] = data[a:b] * rng.choice((1, 2, 20))
        elif kind == 9 and b"</" in data:
            depth = rng.choice((10, 499, 501, 100_000))
            data[a:a] = b"<a>" * depth + (b"</a>" * depth if rng.random() < 0.5 else b"")
        elif kind == 10 and b"</" in data:
            data[:0] = rng.choice((bomb("robot"), *ENCODINGS))
    return bytes(data)


def outcome(read):
    """ "read", "refused", or what is wrong with how it was refused."""
    try:
        read()
        return "read"
    except ModelError as error:
        text = str(error)
        return "refused" if "\n" not in text and 0 < len(text) < 20_000 else f"said {text[:200]!r}"
    except MemoryError:
        return "refused"
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}"


def main(first, last, only=None):
    trial.limit(3600)
    warnings.simplefilter("ignore")
    count = dict.fromkeys(("read", "refused"), 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, (file, whole) in WHOLE.items():
            if only not in (None, kind):
                continue
            for seed in range(first, last):
                (folder / "m.stl").write_bytes(stl())
                path = folder / file
                path.write_bytes(damaged(whole, random.Random(f"{kind} {seed}")))
                print(json.dumps({"trying": [kind, seed]}), flush=True)
                with quiet():
                    came = outcome(lambda p=path: load_mesh(p) if p.stem == "m" else load(p, among=folder))
                if came in count:
                    count[came] += 1
                else:
                    print(json.dumps({"wrong": [kind, seed, came]}), flush=True)
    print(json.dumps(count), flush=True)


@contextlib.contextmanager
def quiet():
    """What libraries say on stderr would fill it."""
    kept = os.dup(2)
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
