"""What each number of a frame is called: columns of CSV and Parquet, and names in a viewer's plots."""

from __future__ import annotations

from bisect import bisect
from typing import Any, NamedTuple

from palpate.frame import DEVICE_COUNTERS, DEVICE_PORTS, Field, Layout

FIRST = ("time_s", "tick", "wall_ns", "state")  # columns that come first
DERIVED = (
    "pose",
    "lateness",
    "parked",
    "contact_body",
    "contact_mode",
    "contact_point",
    "contact_force",
)  # long, or follow from the rest
AXES = ("x", "y", "z")
ENERGIES = ("kinetic", "potential", "hand")
POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")
# whose fields have a row for each, and a field that says how many there are
OWNERS = {"hand": "hand_body", "device": "device_held", "contact": "contact_body"}
PARTS = {"counters": DEVICE_COUNTERS, "energy": DEVICE_PORTS, "quaternion": tuple("wxyz"), "contact_body": ("a", "b")}


class Column(NamedTuple):
    """One number: which word of a frame, and what it is called and is."""

    name: str
    word: int
    kind: str  # "i" int64, "f" float64


class Axis(NamedTuple):
    """A coordinate that is one angle or one length: its name, and where it is in q and in v."""

    name: str
    q: int
    v: int


def axes_of(layout: Layout, hello: dict[str, Any]) -> list[Axis]:
    """The axes of a scene's joints; free bodies and spherical joints have none.  Empty if the description has none."""
    nq, nv, joints = layout.length.get("q", 0), layout.length.get("v", 0), hello.get("joints", [])
    told = hello.get("axes")
    if told is None:  # before there were free bodies in a scene
        return [Axis(name, i, i) for i, name in enumerate(joints)] if len(joints) == nq == nv else []
    if any("v_index" not in axis for axis in told):  # between axes are free bodies, of 7 coordinates and 6 velocities
        others = sorted(set(range(nq)) - {axis["index"] for axis in told})
        if len(others) != 7 * (nq - nv):
            return []
        told = [axis | {"v_index": axis["index"] - bisect(others, axis["index"]) // 7} for axis in told]
    axes = [Axis(axis["name"], axis["index"], axis["v_index"]) for axis in told]
    return axes if all(axis.q < nq and 0 <= axis.v < nv for axis in axes) else []


def columns(layout: Layout, hello: dict[str, Any], everything: bool = False) -> list[Column]:
    """The columns of a frame: FIRST, then its fields in their order; DERIVED only if everything is asked for."""
    fields = {field.name: field for field in layout.fields}
    names = [*FIRST, *(n for n in fields if n not in FIRST and (everything or not is_derived(layout, n)))]
    return [
        Column(label, layout.offset[name] + i, fields[name].kind)
        for name in names
        for i, label in enumerate(labels(layout, hello, fields[name]))
    ]


def is_derived(layout: Layout, name: str) -> bool:
    """Whether it is left out unless everything is asked for: DERIVED, and what else has a row for each contact."""
    of_contacts = name.startswith(("contact_", "other_contact_"))  # of a second world that is compared, too
    contacts = layout.shape.get("contact_body", (0,))[:1]
    return name in DERIVED or (of_contacts and layout.shape[name][:1] == contacts)


def labels(layout: Layout, hello: dict[str, Any], field: Field) -> list[str]:
    """What the numbers of one field are called: q.shoulder, counter.late, hand0.force_x, device1.held, ..."""
    name, n = field.name, layout.length[field.name]
    if not field.shape:
        return [name]
    if name in ("q", "plan_q", "v", "tau"):
        axes = {axis.q if name in ("q", "plan_q") else axis.v: axis.name for axis in axes_of(layout, hello)}
        return [f"{name}.{axes.get(i, i)}" for i in range(n)]
    if name == "counters" and len(hello.get("counters", ())) == n:
        return [f"counter.{counter}" for counter in hello["counters"]]
    if name == "pose" and 7 * len(hello.get("bodies", ())) == n:
        return [f"pose.{body['name']}.{part}" for body in hello["bodies"] for part in POSE]
    if name == "parked" and len(hello.get("bodies", ())) == n:
        return [f"parked.{body['name']}" for body in hello["bodies"]]
    if name == "energy" and n == len(ENERGIES):
        return [f"energy_{part}" for part in ENERGIES]
    owner = next((owner for owner in OWNERS if name.startswith(f"{owner}_")), None)
    if owner is not None and layout.shape[name][0] == layout.shape.get(OWNERS[owner], layout.shape[name])[0]:
        return [f"{owner}{k}.{part}" for k in range(layout.shape[name][0]) for part in _of_one(layout, name, owner)]
    return [f"{name}.{i}" for i in range(n)]


def _of_one(layout: Layout, name: str, owner: str) -> list[str]:
    """What the numbers of one hand, device or contact are called, in a field that has a row for each."""
    what, shape = name.removeprefix(f"{owner}_"), layout.shape[name]
    if len(shape) == 1:
        return [what]
    parts = PARTS.get(name, PARTS.get(what, AXES))
    return [f"{what}_{part}" for part in (parts if len(parts) == shape[1] else range(shape[1]))]
