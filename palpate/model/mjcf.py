"""MJCF -> MultiBody, through MuJoCo's own parser and compiler (extra `mjcf`).

Our q is MuJoCo's qpos, joint by joint.  Velocities agree too, except for a free joint: MuJoCo's qvel is (linear in
world axes, angular in body axes), ours (angular, linear), both in body axes.  Reference positions (`ref`) go into the
placements.  Contact parameters differ in kind: a geom's sliding friction becomes its Material, the rest stays behind.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from palpate.conventions import GRAVITY
from palpate.model.description import WORLD_NAME, Body, Joint, ModelError, MultiBody, Step, warn
from palpate.model.shapes import Material, Shape
from palpate.model.urdf import unused
from palpate.model.xml_tree import read_xml
from palpate.spatial.placement import IDENTITY, LARGEST, Rotation, Transform

DEFAULT_RGBA = (0.5, 0.5, 0.5, 1.0)  # MuJoCo's colour of a geom that states none; its material's counts then


def load_mjcf(source: str | Path, among: Path | None = None) -> MultiBody:
    """Read an MJCF file, or MJCF text (a string with a "<" in it).

    among  a folder beyond which no file is read, whatever the file names

    Postures: "qpos0", the file's reference configuration, and its named keyframes.
    What has no counterpart here (equality constraints, tendons, actuators, springs ...) is left out, and one
    ModelWarning lists it.
    """
    try:
        import mujoco
    except ImportError:
        raise ModelError("reading MJCF needs MuJoCo: pip install 'palpate[mjcf]'") from None
    is_text = isinstance(source, str) and "<" in source
    where = "MJCF text" if is_text else Path(source).name
    if not is_text and not Path(source).is_file():
        raise ModelError(f"{source} is not a file")
    if among is not None:
        _check_named_files(Path(source).resolve(), among.resolve())
    doubts: list[str] = []  # which MuJoCo would write to a file in the current folder
    listener = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(doubts.append)
    try:
        m = mujoco.MjModel.from_xml_string(source) if is_text else mujoco.MjModel.from_xml_path(str(source))
    except ValueError as error:
        raise ModelError(f"{where}: {' '.join(str(error).split())}") from None
    finally:
        mujoco.set_mju_user_warning(listener)
    try:
        reader = _Reader(m, mujoco)
        multibody = reader.multibody()
    except ValueError as error:
        raise ModelError(f"{where}: {error}") from None
    if doubts:
        warn(f"{where}: MuJoCo says: {' '.join(doubts[0].split())}")
    if reader.left_out:
        warn(f"{where}: left out {', '.join(reader.left_out)}")
    return multibody


def _check_named_files(source: Path, among: Path) -> None:
    """A ModelError if MuJoCo would look outside `among` for a file that the MJCF, or what it includes, names."""
    waiting, seen, folders, names = [source], set[Path](), {""}, set[str]()
    while waiting:
        seen.add(file := waiting.pop())
        for node in read_xml(file).walk():
            if node.tag == "compiler":
                folders |= {value for key, value in node.attributes.items() if key.endswith("dir")}
            elif node.tag == "model":  # which has folders of its own
                raise ModelError(f"{file.name}:{node.line}: files that were sent are one model, not several")
            elif node.tag == "include":
                included = {
                    _inside(among, base, node.attributes.get("file", "")) for base in (source.parent, file.parent)
                }
                waiting += [path for path in included - seen if path.is_file()]
            else:
                names |= {value for key, value in node.attributes.items() if key.startswith("file")}
    for folder, name in itertools.product(folders, names):
        _inside(among, _inside(among, source.parent, folder), name)


def _inside(among: Path, folder: Path, name: str) -> Path:
    """The file or folder of this name, which MuJoCo too takes from Windows."""
    path = (folder / name.replace("\\", "/")).resolve()
    if not path.is_relative_to(among):
        raise ModelError(f"{name!r} is not among the files")
    return path


class _Reader:
    """One compiled MuJoCo model `m` being read."""

    def __init__(self, m: Any, mujoco: Any) -> None:
        self.m, self.mujoco = m, mujoco
        lengths = ("body_pos", "body_ipos", "jnt_pos", "geom_pos", "mesh_pos", "qpos0", "key_qpos")
        for what, most in {**dict.fromkeys(lengths, LARGEST), "body_inertia": LARGEST**3}.items():
            if not (np.abs(getattr(m, what)) <= most).all():  # before it is calculated with; no NaN is
                raise ModelError(f"{what} of the compiled model must be finite, and not beyond {most:g}")
        self.left_out = list(_counted(m))
        taken: dict[str, None] = {WORLD_NAME: None}
        for i in range(1, m.nbody):
            taken[unused(self.name("BODY", i) or f"body{i}", taken)] = None
        self.body_names = list(taken)  # by MuJoCo's row

    def name(self, what: str, i: int) -> str:
        return self.mujoco.mj_id2name(self.m, getattr(self.mujoco.mjtObj, f"mjOBJ_{what}"), i) or ""

    def multibody(self) -> MultiBody:
        m = self.m
        shapes: list[list[Shape]] = [[] for _ in range(m.nbody)]
        for g in range(m.ngeom):
            if shape := self.shape(g):
                shapes[m.geom_bodyid[g]].append(shape)
        bodies, joints = [], []
        joint_names: set[str] = {self.name("JOINT", j) for j in range(m.njnt)}
        q_of_joint: dict[str, slice] = {}
        for i in range(1, m.nbody):
            R = Rotation(tuple(m.body_iquat[i])).matrix()
            I = R @ np.diag(m.body_inertia[i]) @ R.T
            bodies.append(Body(self.body_names[i], m.body_mass[i], tuple(m.body_ipos[i]), I, tuple(shapes[i])))
            joint = self.joint(i, joint_names)
            joint_names.add(joint.name)
            joints.append(joint)
            if joint.nq:
                first = m.jnt_qposadr[m.body_jntadr[i]]
                q_of_joint[joint.name] = slice(first, first + joint.nq)
        if shapes[0]:
            static = unused("static", self.body_names)
            bodies.insert(0, Body(static, shapes=tuple(shapes[0])))
            joints.insert(0, Joint(unused("static_weld", joint_names), "fixed", WORLD_NAME, static))
        keys = {self.name("KEY", k): m.key_qpos[k] for k in range(m.nkey) if self.name("KEY", k)}
        postures = {name: {joint: tuple(q[part].tolist()) for joint, part in q_of_joint.items()}
                    for name, q in {"qpos0": m.qpos0, **keys}.items()}  # fmt: skip
        return MultiBody(m.names.split(b"\0", 1)[0].decode() or "mjcf", tuple(bodies), tuple(joints), postures)

    # ---- joints

    def joint(self, i: int, taken: Container[str]) -> Joint:
        """The joint that carries body i: all of MuJoCo's joints of that body in one."""
        m, types = self.m, self.mujoco.mjtJoint
        X = Transform(Rotation(tuple(m.body_quat[i])), tuple(m.body_pos[i]))
        parent, child = self.body_names[m.body_parentid[i]], self.body_names[i]
        rows = range(m.body_jntadr[i], m.body_jntadr[i] + m.body_jntnum[i])
        if not rows:
            return Joint(unused(f"{child}_weld", taken), "fixed", parent, child, X)
        name = "+".join(self.name("JOINT", j) for j in rows if self.name("JOINT", j)) or unused(f"{child}_joint", taken)
        kinds = [int(m.jnt_type[j]) for j in rows]
        losses = self.losses(i, name, is_free=kinds[0] == types.mjJNT_FREE)
        if kinds == [types.mjJNT_FREE]:
            return Joint(name, "free", parent, child, **losses)  # qpos is the pose in the world: no placement
        if kinds == [types.mjJNT_BALL]:
            at = Transform(p=tuple(m.jnt_pos[rows[0]]))
            if m.jnt_limited[rows[0]]:
                self.left_out.append(f"the range of ball joint {name!r}")
            return Joint(name, "spherical", parent, child, X @ at, at, **losses)
        if types.mjJNT_BALL in kinds or types.mjJNT_FREE in kinds:
            raise ModelError(f"body {child!r} combines a ball joint with other joints; put a body between them")

        # MuJoCo moves by q - ref:  X J1(q1) J1(-ref1) J2(q2) J2(-ref2) ...  The turns by -ref are collected behind the
        # last motion (`tail`), which carries the axes of the motions they pass.
        steps, tail = [], IDENTITY
        for j, their_kind in zip(rows, kinds):
            kind = "revolute" if their_kind == types.mjJNT_HINGE else "prismatic"
            axis, anchor, ref = tuple(m.jnt_axis[j]), tuple(m.jnt_pos[j]), float(m.qpos0[m.jnt_qposadr[j]])
            steps.append(Step(kind, tuple(tail.R.apply(axis)), tuple(tail.apply(anchor))))
            at = Transform(p=anchor)
            if kind == "revolute":
                back = Transform(Rotation.about(axis, -ref))
            else:
                back = Transform(p=tuple(np.multiply(axis, -ref)))
            tail = tail @ at @ back @ at.inv()
        limited = [bool(m.jnt_limited[j]) for j in rows]
        limits: dict[str, Any] = {
            "lower": tuple(m.jnt_range[j][0] if on else -math.inf for j, on in zip(rows, limited)),
            "upper": tuple(m.jnt_range[j][1] if on else math.inf for j, on in zip(rows, limited)),
        }
        if all(m.jnt_actfrclimited[j] for j in rows):
            limits["effort_limit"] = float(max(np.abs(m.jnt_actfrcrange[j]).max() for j in rows))
        if len(steps) > 1:
            return Joint(name, "composite", parent, child, X, tail.inv(), steps=tuple(steps), **limits, **losses)
        at = Transform(p=steps[0].anchor)
        return Joint(name, steps[0].kind, parent, child, X @ at, tail.inv() @ at, steps[0].axis, **limits, **losses)

    def losses(self, i: int, name: str, is_free: bool) -> dict[str, Any]:
        """Armature, damping and dry friction of the joint of body i, one number per velocity; all alike if free."""
        m, first = self.m, self.m.body_dofadr[i]
        dofs = np.arange(first, first + m.body_dofnum[i])
        if is_free and m.dof_armature[dofs].any():  # there it acts on world-axis velocities, which no joint of ours has
            self.left_out.append(f"the armature of free joint {name!r}")
        armature = np.zeros(6) if is_free else m.dof_armature[dofs]
        return {
            "armature": tuple(armature.tolist()),
            "damping": tuple(m.dof_damping[dofs].tolist()),
            "friction": tuple(m.dof_frictionloss[dofs].tolist()),
        }

    # ---- shapes

    def shape(self, g: int) -> Shape | None:
        """Geom g as a shape of its body; None, noted, if there is no such shape here."""
        m, types = self.m, self.mujoco.mjtGeom
        X = Transform(Rotation(tuple(m.geom_quat[g])), tuple(m.geom_pos[g]))
        a, b, c = m.geom_size[g].tolist()
        kind = types(m.geom_type[g])
        mesh: Path | None = None
        size: tuple[float, ...]
        match kind:
            case types.mjGEOM_PLANE:
                size = ()
            case types.mjGEOM_SPHERE:
                size = (a,)
            case types.mjGEOM_CAPSULE | types.mjGEOM_CYLINDER:
                size = (a, 2.0 * b)  # MuJoCo's sizes are halves
            case types.mjGEOM_BOX:
                size = (2.0 * a, 2.0 * b, 2.0 * c)
            case types.mjGEOM_MESH:
                k = int(m.geom_dataid[g])
                mesh = self.mesh_file(k)
                size = tuple(m.mesh_scale[k].tolist())
                # the compiler moved the vertices to the mesh's own centre and axes; the file's are not moved
                X = X @ Transform(Rotation(tuple(m.mesh_quat[k])), tuple(m.mesh_pos[k])).inv()
            case _:
                size = ()
        word = kind.name.removeprefix("mjGEOM_").lower()
        if (word == "mesh" and mesh is None) or word in ("ellipsoid", "hfield", "sdf"):
            self.left_out.append(f"{word} geom {self.name('GEOM', g) or g}")
            return None
        rgba = tuple(m.geom_rgba[g].tolist())
        if rgba == DEFAULT_RGBA and m.geom_matid[g] >= 0:
            rgba = tuple(m.mat_rgba[m.geom_matid[g]].tolist())
        touches = bool(m.geom_contype[g] or m.geom_conaffinity[g])
        friction = float(m.geom_friction[g][0]) if m.geom_condim[g] > 1 else 0.0
        material = Material(f"friction {friction:g}", friction)
        return Shape(word, size, X, material, "both" if touches else "visual", rgba, mesh)

    def mesh_file(self, k: int) -> Path | None:
        start = int(self.m.mesh_pathadr[k])
        if start < 0:
            return None
        path = Path(self.m.paths[start:].split(b"\0", 1)[0].decode())
        return path if path.is_file() else None


def _counted(m: Any) -> Iterator[str]:
    """What MuJoCo simulates and a MultiBody cannot say, with counts."""
    counts = {
        "equality constraints": m.neq,
        "tendons": m.ntendon,
        "actuators": m.nu,
        "contact pairs": m.npair,
        "contact exclusions": m.nexclude,
        "flexible bodies": m.nflex,
        "skins": m.nskin,
        "plugins": m.nplugin,
        "joint springs": int(np.count_nonzero(m.jnt_stiffness)),
        "gravity compensations": int(np.count_nonzero(m.body_gravcomp)),
    }
    yield from (f"{what} ({count})" for what, count in counts.items() if count)
    if m.nmocap:
        yield f"the motion of mocap bodies ({m.nmocap}, now fixed)"
    if m.opt.density or m.opt.viscosity:
        yield "the fluid"
    if np.abs(m.opt.gravity - GRAVITY).max() > 1e-9:
        yield f"gravity {tuple(m.opt.gravity.tolist())} (pass gravity= to compile)"
