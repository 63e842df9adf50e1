"""An arm of six joints as files: a URDF, and a mesh that one of its links is drawn with."""

import numpy as np
from numpy.typing import NDArray

# name, axis, origin in the link before [m], length along z of the link [m], radius [m]
JOINTS = (
    ("pan", "0 0 1", "0 0 0.09", 0.0, 0.05),
    ("lift", "0 1 0", "0 0.12 0", 0.42, 0.045),
    ("elbow", "0 1 0", "0 -0.11 0.42", 0.39, 0.04),
    ("wrist1", "0 1 0", "0 0 0.39", 0.0, 0.035),
    ("wrist2", "0 0 1", "0 0.09 0", 0.0, 0.035),
    ("wrist3", "0 1 0", "0 0 0.09", 0.0, 0.03),
)
MESH_NAME = "meshes/upper arm.stl"
TETRAHEDRON = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.4]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


def stl(vertices: NDArray[np.float64] = TETRAHEDRON) -> bytes:
    """A tetrahedron, as binary STL."""
    facets = np.zeros(len(FACES), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    facets["corners"] = vertices[FACES]
    return b"\0" * 80 + np.uint32(len(FACES)).tobytes() + facets.tobytes()


def urdf(mesh: str = f"package://small/{MESH_NAME}") -> str:
    """The robot's description."""
    links, joints = [link("base", 4.0, 0.08, 0.06, "")], []
    for k, (name, axis, origin, length, radius) in enumerate(JOINTS):
        visual = f'<visual><geometry><mesh filename="{mesh}"/></geometry></visual>' if name == "lift" else ""
        links.append(link(name, 3.0 - 0.4 * k, length, radius, visual))
        before = JOINTS[k - 1][0] if k else "base"
        joints.append(f"""
  <joint name="{name}" type="revolute"><parent link="{before}"/><child link="{name}"/>
    <origin xyz="{origin}"/><axis xyz="{axis}"/><limit lower="-3.1" upper="3.1" effort="150" velocity="3"/></joint>""")
    joints.append("""
  <joint name="flange" type="fixed"><parent link="wrist3"/><child link="tool"/><origin xyz="0 0.12 0"/></joint>""")
    links.append(link("tool", 0.3, 0.0, 0.03, ""))
    return f'<robot name="small">{"".join(links)}{"".join(joints)}\n</robot>\n'


def link(name: str, mass: float, length: float, radius: float, visual: str) -> str:
    shape = f'<cylinder radius="{radius}" length="{length}"/>' if length else f'<sphere radius="{radius}"/>'
    middle, inertia = f'<origin xyz="0 0 {0.5 * length}"/>', 0.02 * mass
    return f"""
  <link name="{name}">
    <inertial>{middle}<mass value="{mass}"/>
      <inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision>{middle}<geometry>{shape}</geometry></collision>{visual}
  </link>"""
