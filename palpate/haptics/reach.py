"""Reach: how a device reaches into a world: where it is, what it can do there, how strong it is, what it feels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from palpate.conventions import WORLD
from palpate.frame import DEVICE_PORTS
from palpate.haptics.devices.port import InTick
from palpate.haptics.devices.protocol import DeviceSpec
from palpate.haptics.devices.want import BUTTON, Want
from palpate.haptics.guard import COUNTS, WHY, new_guard
from palpate.haptics.passivity import open_accounts
from palpate.haptics.reach_tables import (
    MODES,
    PASSIVITIES,
    ReachArrays,
)  # fmt: skip
from palpate.haptics.rendering.effects import Effect, Effects
from palpate.haptics.rendering.surface import Surface
from palpate.haptics.spring import PerAxis, per_axis
from palpate.haptics.tank import open_tank
from palpate.jit import Block
from palpate.spatial.placement import Transform
from palpate.world.world import World

if TYPE_CHECKING:  # it loads with what touches
    from palpate.haptics.rendering.facade import Rendering

STIFF_TURN_NM_RAD = 20.0  # of a grasp by a device that senses orientation (reference on articulated bodies 3.2)


@dataclass(frozen=True)
class Reach:
    """How a device reaches into a world.

    mode      "push": touch with a point or ball; "pull": the same, and button 0 takes hold of what is touched;
              "tool": the body `tool` follows the device, and its contacts are the world's
    place     where the device's origin and axes are in the world; scale: metres of the world per metre of the device
    strength_N      the largest force on a body.  The hand feels it divided by the weight strength_N / (the device's
                    limit), at least 1: what hand and body get is equal and opposite but for this one factor
    stiffness_N_m   of the spring that holds a body, on the body: one number, or one for each world axis.  Light bodies
                    are held more softly, as the step allows
    damping_Ns_m    beside it, likewise; None: critical.  stiffness_Nm_rad: of the spring that turns the body, None: 20
                    for devices that sense orientation
    radius_m  of the ball that touches; surface, surfaces: how bodies feel, on the hand; None lets it pass through
    effects   forces in free space; grab_m: how far from a surface the button still takes hold
    rise_N_s  how fast the force on a body may rise; none, unless the hand's readings come so rarely that it matters
    passivity "observer" only counts energy; "controller" and "bounding" act (haptics/passivity.py), for a device that
              shows device_mass_kg and has device_damping_Ns_m, and to a turn device_inertia_kg_m2 and
              device_damping_Nms; "tank" is for a world at the other end of a link
    edge_m    so far from the middle of its workspace a spring of edge_N_m begins, which tells the hand with at most
              edge_N that it is at the edge; inf: none
    """

    mode: str = "pull"
    place: Transform = field(default_factory=Transform)
    scale: float = 1.0
    strength_N: float = 60.0
    stiffness_N_m: PerAxis = 800.0
    damping_Ns_m: PerAxis | None = None
    stiffness_Nm_rad: float | None = None
    radius_m: float = 0.0
    surface: Surface = field(default_factory=Surface)
    surfaces: Mapping[str, Surface | None] = field(default_factory=dict)
    tool: str | None = None
    effects: Sequence[Effect] = ()
    grab_m: float = 0.03
    rise_N_s: float = np.inf
    passivity: str = "observer"
    device_mass_kg: float = 0.1
    device_damping_Ns_m: float = 0.5
    device_inertia_kg_m2: float = 1e-4
    device_damping_Nms: float = 1e-3
    edge_m: float = np.inf
    edge_N_m: float = 50.0
    edge_N: float = 1.5

    def __post_init__(self) -> None:
        for name, known in (("mode", MODES), ("passivity", PASSIVITIES)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}; got {getattr(self, name)!r}")
        per_axis(self.stiffness_N_m, "stiffness_N_m", "positive")
        if self.damping_Ns_m is not None:
            per_axis(self.damping_Ns_m, "damping_Ns_m", "positive")
        for name in ("scale", "strength_N", "device_mass_kg", "device_damping_Ns_m", "device_inertia_kg_m2",
                     "device_damping_Nms", "edge_N_m", "edge_N"):  # fmt: skip
            if not 0.0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be positive and finite, got {getattr(self, name)!r}")
        if not self.edge_m > 0.0:
            raise ValueError(f"edge_m must be positive, inf for no edge; got {self.edge_m!r}")
        if not 0.0 <= self.radius_m < np.inf:
            raise ValueError(f"the radius of a proxy must be finite and not negative, got {self.radius_m} m")
        if (self.mode == "tool") != (self.tool is not None):
            raise ValueError('mode "tool" needs the name of the body that is the tool, and only this mode has one')


class Reaching:
    """One device in one world, ready for the tick: `address`; and what became of it."""

    def __init__(
        self, world: World, spec: DeviceSpec, in_tick: InTick, reach: Reach, real_time: bool, smooth_s: float = 0.0
    ) -> None:
        model = world.model
        self.world, self.spec, self.reach, self.in_tick = world, spec, reach, in_tick
        self.rendering: Rendering | None = None
        self.effects = Effects(reach.effects, 1.0 / world.dt)
        self.guard, self.energy = new_guard(spec), open_accounts(len(DEVICE_PORTS))
        turning = reach.stiffness_Nm_rad
        if turning is None:
            turning = STIFF_TURN_NM_RAD if spec.senses >= 6 or spec.senses_turn else 0.0
        weight = max(1.0, reach.strength_N / spec.force_limit_N) if spec.force_limit_N > 0.0 else 1.0
        self.want = in_tick.want or Want(
            does=BUTTON, radius_m=reach.radius_m, times=1.0, stiffness=per_axis(reach.stiffness_N_m, "stiffness_N_m"),
            damping=0.0 if reach.damping_Ns_m is None else reach.damping_Ns_m, ratio=1.0, stiffness_Nm_rad=turning,
            tells_motion=1,
        )  # fmt: skip
        inertia = reach.device_inertia_kg_m2 if spec.torque_limit_Nm > 0.0 else np.inf  # no torque moves it
        for name in reach.surfaces:
            model.body(name)  # or a ModelError
        tool = 0 if reach.tool is None else model.body(reach.tool)
        if tool and model.arrays.body_link[tool] == WORLD:
            raise ValueError(f"the tool {reach.tool!r} cannot move; give it a free joint")
        R = np.array(reach.place.R.matrix())
        self.arrays = ReachArrays(
            port=in_tick.block.address, world=world.arrays.block.address, frame=R.reshape(1, 9).copy(),
            frame_origin=np.array(reach.place.p, dtype=float).reshape(1, 3),
            frame_turn=np.array(reach.place.R.wxyz, dtype=float), turn=np.tile([1.0, 0.0, 0.0, 0.0], 3),
            clock=np.zeros(2, dtype=np.int64), absorbed=self.energy.absorbed,
            mode=MODES.index(reach.mode), passivity=PASSIVITIES.index(reach.passivity), tool_body=tool,
            real_time=real_time, scale=reach.scale, weight=weight, body_force_N=reach.strength_N,
            rise_N_s=reach.rise_N_s, smooth_s=smooth_s, grab_m=reach.grab_m, device_mass=reach.device_mass_kg,
            damping=reach.device_damping_Ns_m, device_inertia=inertia, turn_damping=reach.device_damping_Nms,
            edge_m=reach.edge_m, edge_N_m=reach.edge_N_m, edge_N=reach.edge_N, share=1.0,
            dt=world.dt, old_R=np.zeros((model.n_links, 9)), old_p=np.zeros((model.n_links, 3)),
        )  # fmt: skip
        self.tank = open_tank(world.dt)
        self._block = Block(self.arrays, self.guard, self.energy, self.effects.table, self.tank, self.want)
        self.address: int = self._block.address

    def connect(self) -> None:
        """Compile or load the device's routines: from now on ticks may reach it."""
        self.arrays.sample, self.arrays.send = self.in_tick.sample.address, self.in_tick.send.address

    def learn_to_touch(self) -> None:
        """Make its proxy, and compile or load what touches; until then it holds only what it is told to hold."""
        from palpate.haptics.rendering.facade import Rendering
        from palpate.haptics.touch_kernels import touch

        world, reach, a = self.world, self.reach, self.arrays
        passed = dict(reach.surfaces) | ({reach.tool: None} if reach.tool else {})
        self.rendering = Rendering(
            world.model, world.arrays.shapes.geometry, reach.surface, passed, reach.radius_m,
            link_R=world.arrays.contacts.link_R, link_p=world.arrays.contacts.link_p, old_R=a.old_R, old_p=a.old_p,
            mass_kg=reach.device_mass_kg,
        )  # fmt: skip
        a.proxy = self.rendering.address
        a.touch = touch.address  # last: from now on it is called

    @property
    def weight(self) -> float:
        """Force on bodies over force on the hand."""
        return self.arrays.weight

    @property
    def fault(self) -> str:
        """Why there is no force, empty if nothing is wrong."""
        cause = WHY[self.guard.cause]
        surface = self.rendering.failed if self.rendering is not None and self.arrays.lawless else ""
        whose = self.effects.failed or surface
        return f"{cause}: {whose}" if cause and whose else cause

    def report(self) -> DeviceReport:
        """How it went so far."""
        e = self.energy
        return DeviceReport(
            name=self.spec.name,
            counts=dict(zip(COUNTS, self.guard.counts.tolist(), strict=True)),
            absorbed_J=dict(zip(DEVICE_PORTS, e.absorbed.tolist(), strict=True)),
            lowest_J=dict(zip(DEVICE_PORTS, e.lowest.tolist(), strict=True)),
            guard_work_J=self.guard.work_J,
            force_age_s=self.arrays.age_s,
            oldest_force_s=self.arrays.oldest_s,
            weight=self.weight,
            fault=self.fault,
        )


@dataclass(frozen=True)
class DeviceReport:
    """What a session says of a device: interventions of the guard, energy by port, the age of its forces."""

    name: str
    counts: dict[str, int]
    absorbed_J: dict[str, float]  # by the virtual side, per port; negative: it gave more than it took
    lowest_J: dict[str, float]
    guard_work_J: float  # on the hand, by what the guard altered
    force_age_s: float  # of the last force, from its sample to its write
    oldest_force_s: float
    weight: float
    fault: str

    def __str__(self) -> str:
        told = ", ".join(f"{name} {n}" for name, n in self.counts.items() if n)
        return (f"{self.name}: forces at most {1e6 * self.oldest_force_s:.0f} us old, "
                f"hand {self.absorbed_J['hand']:+.3f} J{', ' + told if told else ''}"
                f"{'; no force: ' + self.fault if self.fault else ''}")  # fmt: skip
