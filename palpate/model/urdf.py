"""URDF -> MultiBody.  Every complaint is one line that begins "file:line:".

Link frames are URDF's own: a link's frame is that of the joint that carries it.  Visual and collision elements become
shapes of these roles; <gazebo>, <transmission>, <sensor> and other extensions are left alone.
"""

from __future__ import annotations

import difflib
import itertools
import math
import re
from collections.abc import Collection, Container, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from palpate.model.description import WORLD_NAME, Body, Joint, Mimic, ModelError, MultiBody, inertia_problem, warn
from palpate.model.meshes import MissingMesh, find_mesh
from palpate.model.shapes import Shape
from palpate.model.xml_tree import Node, read_xml
from palpate.spatial.placement import IDENTITY, LARGEST, Rotation, Transform

# URDF's joint types -> ours
KINDS = {"fixed": "fixed", "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic",
         "planar": "planar", "floating": "free"}  # fmt: skip
LIMITED = ("revolute", "prismatic")  # the types that must state lower and upper
FEW = 3  # names in a warning
X_AXIS = (1.0, 0.0, 0.0)  # URDF's default
# What `float` takes beside this (1_000, NaN, digits of other scripts) is no number in other readers of URDF.
NUMBER = re.compile(r"[-+]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|inf|INF|infinity)")

Color = tuple[float, float, float, float]


def load_urdf(
    path: str | Path,
    free_base: bool = False,
    package_dirs: Sequence[str | Path] = (),
    skip_missing_meshes: bool = False,
    mimic: bool = True,
    among: Path | None = None,
) -> MultiBody:
    """Read a URDF file.

    free_base            the root link floats (free joint "root_joint"); else it is welded to the world.  A root link
                         called "world" without anything in it is the world itself, unless it shall float.
    package_dirs         folders to look for the packages of package:// names, before ROS_PACKAGE_PATH and the folders
                         above the file
    skip_missing_meshes  leave out shapes whose mesh file is not there, with a ModelWarning, instead of refusing
    mimic                False: joints that mimic others move on their own
    among                the folder that holds all its meshes, wherever their names say (find_mesh)

    Links whose inertia no mass distribution has are accepted with one ModelWarning that lists them: robots in daily use
    have some.  `compile` still refuses a negative principal moment in what moves as one.
    """
    reader = _Reader(Path(path), package_dirs, skip_missing_meshes, mimic, among)
    multibody = reader.multibody(free_base)
    if reader.unphysical:
        links, (first, *_) = ", ".join(reader.unphysical), reader.unphysical.values()
        warn(f"{reader.path.name}: no mass distribution has the inertia of {links}; in the first, {first}")
    if reader.missing:
        one = "a mesh that is" if len(reader.missing) == 1 else f"{len(reader.missing)} meshes that are"
        felt = f"; there nothing touches {_some(reader.untouched)}" if reader.untouched else ""
        warn(f"{reader.path.name}: left out {one} not there: {_some(reader.missing)}{felt}")
    return multibody


class _Reader:
    """One file being read: where to look, the colours it names, and the doubts it raises."""

    def __init__(
        self, path: Path, package_dirs: Sequence[str | Path], skip_missing_meshes: bool, mimic: bool, among: Path | None
    ) -> None:
        self.path, self.package_dirs, self.among = path, package_dirs, among
        self.skip_missing_meshes, self.mimic = skip_missing_meshes, mimic
        self.robot = read_xml(path)
        self.unphysical: dict[str, str] = {}  # link -> what is wrong with its inertia
        self.missing: dict[str, None] = {}  # mesh files
        self.untouched: dict[str, None] = {}  # links that such a file was the collision shape of
        self.meshes: dict[str, Path] = {}  # found already

    def fail(self, node: Node, message: str) -> ModelError:
        return ModelError(f"{self.path.name}:{node.line}: {message}")

    # ---- attributes

    def text(self, node: Node, attribute: str) -> str:
        value = node.attributes.get(attribute, "").strip()
        if not value:
            raise self.fail(node, f"<{node.tag}> needs the attribute {attribute!r}")
        return value

    def numbers(self, node: Node, attribute: str, count: int, default: Sequence[float] | None = None) -> list[float]:
        if default is not None and attribute not in node.attributes:
            return list(default)
        text = self.text(node, attribute)
        if "${" in text or "$(" in text:
            raise self.fail(node, f"{attribute}={text!r} is a xacro expression; run xacro on the file first")
        words = text.split()
        if len(words) != count or not all(map(NUMBER.fullmatch, words)):
            raise self.fail(node, f"<{node.tag}> {attribute}={text!r} is not {count} number{'s' * (count > 1)}")
        values = [float(word) for word in words]
        if max(map(abs, values)) > LARGEST**3:
            raise self.fail(node, f"<{node.tag}> {attribute}={text!r} is beyond {LARGEST**3:g}")
        return values

    def number(self, node: Node, attribute: str, default: float | None = None) -> float:
        return self.numbers(node, attribute, 1, None if default is None else [default])[0]

    def limit(self, node: Node, attribute: str, default: float) -> float:
        """A number that may be infinite: some files write the largest that there is for a joint without limits."""
        word = node.attributes.get(attribute, "").strip()
        if NUMBER.fullmatch(word) and abs(float(word)) > LARGEST**3:
            return math.copysign(math.inf, float(word))
        return self.number(node, attribute, default)

    def origin(self, node: Node) -> Transform:
        origin = node.find("origin")
        if origin is None:
            return IDENTITY
        x, y, z = self.numbers(origin, "xyz", 3, (0, 0, 0))
        roll, pitch, yaw = self.numbers(origin, "rpy", 3, (0, 0, 0))
        try:
            return Transform(Rotation.rpy(roll, pitch, yaw), (x, y, z))
        except ValueError as error:
            raise self.fail(origin, str(error)) from None

    # ---- the tree

    def multibody(self, free_base: bool) -> MultiBody:
        robot = self.robot
        for node in robot.walk():
            if node.tag.startswith("xacro:"):
                raise self.fail(node, f"<{node.tag}> is a xacro macro; run xacro on the file first")
        if robot.tag != "robot":
            raise self.fail(robot, f"the root element is <{robot.tag}>; a URDF file begins with <robot>")
        links: dict[str, Node] = {}
        for link in robot.all("link"):
            name = self.text(link, "name")
            if name in links:
                raise self.fail(link, f"a second link is called {name!r}; the first is in line {links[name].line}")
            links[name] = link
        if not links:
            raise self.fail(robot, "the robot has no links")
        joints = [self.joint(node, links) for node in robot.all("joint")]
        children = {joint.child for joint in joints}
        roots = [name for name in links if name not in children]
        if len(roots) != 1:
            found = f"{len(roots)} root links: {', '.join(roots[:4])}" if roots else "no root: its joints form a cycle"
            raise self.fail(robot, f"a robot is one tree, but this one has {found}")
        colors = self.colors()
        bodies = {name: self.body(name, link, colors) for name, link in links.items()}
        joints = self.rooted(roots[0], bodies, joints, free_base)
        name = robot.attributes.get("name", "").strip() or self.path.stem
        try:
            return MultiBody(name, tuple(bodies.values()), tuple(joints))
        except ModelError as error:
            raise ModelError(f"{self.path.name}: {error}") from None

    def rooted(self, root: str, bodies: dict[str, Body], joints: list[Joint], free_base: bool) -> list[Joint]:
        """Hang the root link on the world; `bodies` loses the root if that link is the world itself."""
        if root == WORLD_NAME:
            body = bodies.pop(root)
            already_free = all(j.kind == "free" for j in joints if j.parent == WORLD_NAME)
            if (not free_base or already_free) and not body.shapes:
                return joints
            root = unused("world_link", bodies)
            bodies[root] = Body(root, body.mass, body.com, body.inertia, body.shapes, body.check)
            joints = [Joint(**{**vars(j), "parent": root}) if j.parent == WORLD_NAME else j for j in joints]
        name = unused("root_joint", {j.name for j in joints})
        return [Joint(name, "free" if free_base else "fixed", WORLD_NAME, root), *joints]

    def joint(self, node: Node, links: dict[str, Node]) -> Joint:
        name, kind = self.text(node, "name"), self.text(node, "type")
        if kind not in KINDS:
            raise self.fail(node, f"joint {name!r} has the type {kind!r}; known: {', '.join(KINDS)}")
        ends = {}
        for role in ("parent", "child"):
            end = node.find(role)
            if end is None:
                raise self.fail(node, f"joint {name!r} has no <{role}>")
            ends[role] = self.text(end, "link")
            if ends[role] not in links:
                close = difflib.get_close_matches(ends[role], links, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                raise self.fail(end, f"joint {name!r}: its {role} {ends[role]!r} is not a link of the robot{hint}")
        options = {} if kind == "fixed" else self.motion(node, name, kind)
        try:
            return Joint(name, KINDS[kind], ends["parent"], ends["child"], self.origin(node), **options)
        except ModelError as error:
            if str(error).startswith(self.path.name):
                raise
            raise self.fail(node, str(error)) from None

    def motion(self, node: Node, name: str, kind: str) -> dict[str, Any]:
        """Axis, limits, losses and mimic of a joint that moves."""
        options: dict[str, Any] = {}
        axis, limit, losses, mimic = (node.find(tag) for tag in ("axis", "limit", "dynamics", "mimic"))
        if kind != "floating":
            options["axis"] = tuple(self.numbers(axis, "xyz", 3, X_AXIS)) if axis else X_AXIS
        if kind in LIMITED and limit is None:
            hint = '; type="continuous" has none' if kind == "revolute" else ""
            raise self.fail(node, f"joint {name!r} is {kind} and needs a <limit>{hint}")
        if limit:
            options["velocity_limit"] = self.limit(limit, "velocity", math.inf)
            options["effort_limit"] = self.limit(limit, "effort", math.inf)
            if kind in LIMITED:
                options |= {"lower": self.limit(limit, "lower", 0.0), "upper": self.limit(limit, "upper", 0.0)}
        if losses:
            options["damping"] = self.number(losses, "damping", 0.0)
            options["friction"] = self.number(losses, "friction", 0.0)
        if mimic and self.mimic:
            ratio, offset = self.number(mimic, "multiplier", 1.0), self.number(mimic, "offset", 0.0)
            leader = self.text(mimic, "joint")
            if all(leader != other.attributes.get("name") for other in self.robot.all("joint")):
                raise self.fail(mimic, f"joint {name!r} mimics {leader!r}, which is not a joint of the robot")
            options["mimic"] = Mimic(leader, ratio, offset)
        return options

    # ---- links

    def body(self, name: str, link: Node, colors: dict[str, Color]) -> Body:
        mass, com, I = 0.0, (0.0, 0.0, 0.0), np.zeros((3, 3))
        if inertial := link.find("inertial"):
            X = self.origin(inertial)
            weight, moments = inertial.find("mass"), inertial.find("inertia")
            if weight is None or moments is None:
                raise self.fail(inertial, f"link {name!r}: <inertial> needs a <mass> and an <inertia>")
            mass, com = self.number(weight, "value"), X.p
            xx, xy, xz, yy, yz, zz = (self.number(moments, key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
            I = X.R.apply(X.R.apply([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).T)  # R I R^T
        problem = inertia_problem(I, mass) if np.isfinite(I).all() else None  # Body refuses what is not finite
        if problem:
            self.unphysical[name] = problem
        shapes = [self.shape(name, n, role, colors) for role in ("visual", "collision") for n in link.all(role)]
        try:
            return Body(name, mass, com, I, tuple(s for s in shapes if s), check=not problem)
        except ValueError as error:
            raise self.fail(link.find("inertial") or link, str(error)) from None

    def shape(self, link: str, node: Node, role: str, colors: dict[str, Color]) -> Shape | None:
        geometry = node.find("geometry")
        if geometry is None or not geometry.children:
            raise self.fail(node, f"link {link!r}: a <{role}> has no geometry")
        form = geometry.children[0]
        mesh = None
        match form.tag:
            case "box":
                size = self.numbers(form, "size", 3)
            case "sphere":
                size = [self.number(form, "radius")]
            case "cylinder" | "capsule":
                size = [self.number(form, "radius"), self.number(form, "length")]
            case "mesh":
                size = self.numbers(form, "scale", 3, (1, 1, 1))
                mesh = self.mesh(link, form)
                if mesh is None:
                    if role == "collision":
                        self.untouched[link] = None
                    return None
            case _:
                raise self.fail(form, f"link {link!r}: unknown geometry <{form.tag}>")
        material = node.find("material")
        color = (self.color(material) or colors.get(material.attributes.get("name", ""))) if material else None
        try:
            return Shape(form.tag, tuple(size), self.origin(node), role=role, color=color, mesh=mesh)
        except ModelError:
            raise
        except ValueError as error:
            raise self.fail(form, f"link {link!r}: {error}") from None

    def mesh(self, link: str, node: Node) -> Path | None:
        filename = self.text(node, "filename")
        if filename not in self.meshes:
            try:
                self.meshes[filename] = find_mesh(filename, self.path.parent, self.package_dirs, self.among)
            except ModelError as error:
                if not (self.skip_missing_meshes and isinstance(error, MissingMesh)):
                    raise self.fail(node, f"link {link!r}: {error}") from None
                self.missing[filename] = None
                return None
            except OSError as error:  # a name that no file system takes
                raise self.fail(node, f"link {link!r}: mesh {filename[:80]!r}: {error.strerror}") from None
        return self.meshes[filename]

    def colors(self) -> dict[str, Color]:
        """Colours by material name; a material defined in a link serves the others too, as ROS has it."""
        colors: dict[str, Color] = {}
        inside = [m for link in self.robot.all("link") for v in link.all("visual") for m in v.all("material")]
        for material in (*self.robot.all("material"), *inside):
            if color := self.color(material):
                colors.setdefault(material.attributes.get("name", ""), color)
        return colors

    def color(self, material: Node) -> Color | None:
        node = material.find("color")
        if node is None:
            return None
        red, green, blue, opacity = self.numbers(node, "rgba", 4)
        return (red, green, blue, opacity)


def _some(names: Collection[str]) -> str:
    """The first few of many names."""
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(itertools.islice(names, FEW)) + more


def unused(name: str, taken: Container[str]) -> str:
    """`name`, with underscores behind until it is not `taken`."""
    while name in taken:
        name += "_"
    return name
