"""PlanarSimulation: the planar haptic interface as what a session runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from palpate.frame import HAND_WORDS, HANDS
from palpate.haptics.devices.messages import Messages, sample_message
from palpate.haptics.devices.port import InTick
from palpate.haptics.devices.protocol import Device, DeviceSpec
from palpate.haptics.reach import DeviceReport, Reach
from palpate.jit import Block, Struct
from palpate.model.model import Floats2
from palpate.planar.bodies.description import PlanarBody
from palpate.planar.bodies.world import PlanarWorld
from palpate.planar.configuration import PlanarConfiguration
from palpate.planar.control.channels import MODES, Channels, new_channels
from palpate.planar.control.impedance import Impedance, new_impedance
from palpate.planar.control.observer import OBSERVERS, Observer, new_observer
from palpate.planar.fields import FIELDS, OTHER, PORTS, SETTINGS, At, LaneAt
from palpate.planar.lane import FAULTS, Lane
from palpate.planar.pantograph.drive import new_drive
from palpate.planar.pantograph.mechanism import Mechanism, Pantograph
from palpate.planar.pantograph.plant import HandSpring, Plant
from palpate.planar.port_drive import Attached, rest_port
from palpate.planar.settings import IMPACTS, RATES_HZ, Setting, Settings, all_laws, empty_choices
from palpate.planar.shown import describe_planar
from palpate.planar.stage import BODY, HANDLE, LINKS, Held, Path, Stage
from palpate.planar.tick import reset_planar, take_planar, tick_planar
from palpate.servo.kept import Keeping, words_of
from palpate.servo.simulation import Event, Simulation

MOST_STEPS = 16  # of the servo in a tick


class PlanarLane:
    """A device with its hand, its control and its bodies, from Python."""

    def __init__(self, room: Sequence[PlanarBody], settings: PlanarConfiguration) -> None:
        control, s = settings.control, settings.scale
        self.world = PlanarWorld(room)
        self.body = next((k + 1 for k, body in enumerate(room) if body.mass_kg is not None), 0)
        if not self.body:
            raise ValueError("a planar scene needs a body that can move")
        start = self.world.start.X[self.body]
        X = ((start[0] - settings.offset[0]) / s, (start[1] - settings.offset[1]) / s, start[2])
        if not settings.device.reaches(np.array([X]))[0]:
            raise ValueError(
                f"the device does not reach ({X[0]:.3f}, {X[1]:.3f}) m, where the body starts: scale or offset"
            )
        inertia = 1.0 / self.world.polygons.inverse_mass[self.body]
        ratio = np.array([s * s, s * s, 1.0])  # of an inertia or a gain at the device over the same in the room
        shaped = settings.impedance == "shaped"  # what the device is made to have, its motors give in proportion
        gains = inertia if shaped else np.minimum(inertia, np.array(control.master) / ratio)
        self.inertia = tuple(inertia * ratio + control.master)  # of handle and body, at the device
        damping, device = np.array(control.damping), settings.device
        self.lane = Lane(
            bodies=self.world.block.address, body=self.body, scale=s, offset=(*settings.offset, 0.0),
            drag=tuple(damping / ratio), fence=(device.half_width_m, device.half_height_m, 0.0),
            fence_stiffness=control.fence_N_m, fence_damping=control.fence_Ns_m, pulse_N=control.pulse_N,
            pulse_Nm=control.pulse_Nm, turns=1,
        )  # fmt: skip
        self.mechanism: Mechanism = device.mechanism
        self.plant, self.drive = Plant(X=X), new_drive()
        self.drive.X = X
        self.hand = HandSpring(stiffness=settings.hand.stiffness, damping=settings.hand.damping)
        self.observer: Observer = new_observer(
            "position", control.omega_rad_s, control.zeta, control.momentum_1_s, 1e-4
        )
        self.channels: Channels = new_channels(
            "position-force", tuple(gains), control.coupling_rad_s, control.coupling_zeta
        )
        self.impedance: Impedance = new_impedance("natural", control.damping, tuple(inertia * ratio))

    def make_block(self, at: Any) -> Block:
        """For kernels; at: where its fields lie in a frame."""
        self.at = at
        self.block = Block(
            self.lane, self.mechanism, self.plant, self.hand, self.drive, self.observer, self.channels, self.impedance,
            at,
        )  # fmt: skip
        return self.block

    def kept(self) -> list[Struct]:
        """What a reset restores; the bodies have their own."""
        return [self.lane, self.plant, self.hand, self.drive, self.observer]


class PlanarSimulation(Simulation):
    """The planar interface: a handle, its motors, and a body in a room.

        simulation = PlanarSimulation(enclosure(), scale=2.0, wall="hysteretic")
        run = pp.Run(simulation)

    room      bodies (bodies/rooms.py); the hand moves the first that can move
    path      (n, 4) time [s] and pose of the handle: where a hand leads it, unless somebody else holds it
    configuration, or any of its fields by name
    """

    fields, at = FIELDS, At
    tick, reset, take = tick_planar, reset_planar, take_planar

    def __init__(
        self, room: Sequence[PlanarBody], rate_hz: float = 500.0, *, name: str = "planar", title: str = "",
        path: Any = None, configuration: PlanarConfiguration | None = None, shared: bool = True, lateness_log: int = 0,
        **changed: Any,
    ) -> None:  # fmt: skip
        chosen = replace(configuration or PlanarConfiguration(), **changed)
        self.configuration, self.name, self.title = chosen, name, title or name
        room = spread(room, chosen)
        self.lanes = (PlanarLane(room, chosen), PlanarLane(room, chosen))
        self.walls, self.frictions, self.keepers = all_laws(
            (chosen.wall, chosen.other_wall), (chosen.friction, chosen.other_friction)
        )
        self.rates_hz = tuple(rate for rate in RATES_HZ if commensurate(rate, rate_hz))
        self.choices = empty_choices(self.walls, self.frictions, self.keepers)
        self.adjustable = self._adjustable()
        self.takes = tuple(Event(s.name, *s.bounds, whole=s.whole) for s in self.adjustable)
        self.settings = self._settings()
        words = np.zeros(HANDS * HAND_WORDS, dtype=np.int64)
        self._messages = [Messages(words[k * HAND_WORDS : (k + 1) * HAND_WORDS]) for k in range(HANDS)]
        names = self.lanes[0].world.names
        movable = [k for k, body in enumerate(room, start=1) if body.mass_kg is not None]
        self.first_link = len(names)
        self.first_other = self.first_link + LINKS
        self.n_bodies = self.first_other + len(movable)
        self.held, self.path = self._held(), Path(row=checked_path(path))
        self.stage = self._stage(movable, rate_hz)
        super().__init__(
            self.stage, self.settings, self.choices, self.held, self.path, rate_hz=rate_hz, shared=shared,
            lateness_log=lateness_log, hand=words,
            sizes={"n_bodies": self.n_bodies, "n_contacts": chosen.shown_contacts, "n_devices": 1},
        )  # fmt: skip
        for lane, prefix in zip(self.lanes, ("", OTHER), strict=True):
            offsets = LaneAt(*(self.layout.offset[prefix + field] for field in LaneAt._fields))
            lane.make_block(offsets)
        self.stage.lane, self.stage.other = (lane.block.address for lane in self.lanes)
        self.attached: Attached | None = None
        self._keeping: Keeping | None = None

    # ---- how it is made

    def _adjustable(self) -> tuple[Setting, ...]:
        walls, frictions = self.walls.names, self.frictions.names
        most = self.configuration
        settings = (
            Setting("wall", "Wall", choices=walls, about="what a contact's depth makes of force"),
            Setting("friction", "Friction", choices=frictions, about="what rubs"),
            Setting("keeper", "Keeper", choices=self.keepers.names, about="what keeps a wall passive"),
            Setting("stiffness", "Stiffness", 100.0, max(20000.0, most.stiffness_N_m), "N/m", "of contacts", step=50),
            Setting("damping", "Damping", 0.0, max(100.0, most.damping_Ns_m), "N s/m", "of each contact", step=0.5),
            Setting("restitution", "Restitution", 0.0, 1.0, "", "of impacts; no more than the wall's energy allows"),
            Setting("mu", "Friction coefficient", 0.0, max(1.5, most.mu), "", "of sliding", step=0.01),
            Setting("rate", "Servo rate", choices=tuple(f"{rate} Hz" for rate in self.rates_hz)),
            Setting("coupling", "Coupling", choices=MODES, about="what passes between handle and body"),
            Setting("observer", "Observer", choices=OBSERVERS, about="what estimates the hand's force"),
            Setting("impact", "Impacts", choices=IMPACTS, about="none: the wall alone stops what comes"),
            Setting("exaggeration", "Depth, times", 1.0, 100.0, "", "how much deeper a body is shown", step=1),
            Setting("compare", "Compare", switch=True, about="a second body under the same hand; both start anew"),
            Setting("other_wall", "Its wall", choices=walls),
            Setting("other_friction", "Its friction", choices=frictions),
        )  # fmt: skip
        assert tuple(s.name for s in settings) == SETTINGS
        return settings

    def _settings(self) -> Settings:
        chosen = self.configuration
        wanted: dict[str, Any] = {
            "stiffness": chosen.stiffness_N_m, "damping": chosen.damping_Ns_m, "rate": f"{chosen.servo_hz} Hz",
            "compare": float(chosen.compare),
        }  # fmt: skip
        values = [s.place(wanted.get(s.name, getattr(chosen, s.name, None))) for s in self.adjustable]
        bounds = np.array([s.bounds for s in self.adjustable])
        return Settings(
            value=np.array(values), low=bounds[:, 0].copy(), high=bounds[:, 1].copy(),
            whole=np.array([s.whole for s in self.adjustable], dtype=np.int64),
        )  # fmt: skip

    def _stage(self, movable: list[int], rate_hz: float) -> Stage:
        grips, bodies = np.zeros(self.n_bodies, dtype=np.int64), np.zeros(self.n_bodies, dtype=np.int64)
        bodies[: self.first_link] = np.arange(self.first_link)
        bodies[self.first_other :] = movable
        grips[self.first_other - 1], grips[self.lanes[0].body] = HANDLE, BODY
        control = self.configuration.control
        return Stage(
            hands=np.array([each.in_tick.block.address for each in self._messages], dtype=np.int64),
            kept=np.zeros(self._parts_kept(), dtype=np.int64), rates=np.array(self.rates_hz, dtype=float),
            tick_hz=rate_hz, dt=1.0 / rate_hz, steps=1, every=1, omega=control.omega_rad_s, gain=control.momentum_1_s,
            grips=grips, bodies=bodies, first_link=self.first_link, first_other=self.first_other,
            shown=self.configuration.shown_contacts, shapes=int(self.configuration.impedance == "shaped"),
        )  # fmt: skip

    def _held(self) -> Held:
        hand, control, device = self.configuration.hand, self.configuration.control, self.configuration.device
        sharpest = [m * (hand.sharpest * max(self.rates_hz[0], 0.0)) ** 2 for m in control.master]
        return Held(
            stiffness=hand.stiffness, damping=hand.damping, inertia=self.lanes[0].inertia,
            sharpest=sharpest, most_N=hand.most_N, most_Nm=hand.most_Nm,
            smooth_s=hand.smooth_s,
            border=(device.half_width_m + hand.beyond_m, device.half_height_m + hand.beyond_m, 0.0),
        )  # fmt: skip

    # ---- the start

    def _kept_structs(self) -> list[Struct]:
        return [*(struct for lane in self.lanes for struct in lane.kept()), self.held, self.path]

    def _parts_kept(self) -> int:
        return sum(len(words_of(struct)) for struct in self._kept_structs())

    def note_start(self) -> None:
        """As it is now is the start that a reset goes back to: device, hand and control; the bodies have their own."""
        self._keeping = Keeping(self._kept_structs())
        self.stage.kept[:] = self._keeping.addresses

    @property
    def address(self) -> int:
        if self.beat.tick == 0:
            for laws, addresses in (
                (self.walls, self.choices.wall), (self.frictions, self.choices.friction),
                (self.keepers, self.choices.keeper),
            ):  # fmt: skip
                addresses[:] = laws.addresses()
            self.stage.sample = sample_message.address
            if self.attached is not None:
                self.attached.connect()
                self.stage.rest = rest_port.address
            self.note_start()
        return super().address

    # ---- devices

    def take_device(self, device: Device, in_tick: InTick, reach: Reach) -> None:
        """A device in place of the simulated pantograph; a scale of 1 is made what its workspace needs."""
        if self.attached is not None:
            raise ValueError(f"{self.name!r} has one handle, and {self.attached.spec.name!r} is it already")
        if self.beat.tick != 0:
            raise ValueError("a device is taken before the first tick")
        mine, lane, spec = self.lanes[0], self.lanes[0].lane, device.spec
        self.attached = Attached(device, in_tick, self.head, mine.drive, lane)
        known = getattr(device, "pantograph", None)  # its numbers, if it is one: then an observer can run
        if isinstance(known, Pantograph):
            mine.mechanism = known.mechanism
            self.stage.lane = mine.make_block(mine.at).address
            lane.fence = (known.half_width_m, known.half_height_m, 0.0)
            lane.scale = self.configuration.scale if reach.scale == 1.0 else reach.scale
        else:
            mine.drive.known, lane.fence, lane.turns = 0, (0.0, 0.0, 0.0), self.attached.arrays.turns
            lane.scale = self.scale_for(spec.workspace_radius_m) if reach.scale == 1.0 else reach.scale
            self._couple(spec)

    def device_reports(self) -> list[DeviceReport]:
        return [] if self.attached is None else [self.attached.report()]

    def scale_for(self, radius_m: float) -> float:
        """Metres of the room per metre of a device with such a workspace."""
        chosen = self.configuration
        reach_m = chosen.scale * max(chosen.device.half_width_m, chosen.device.half_height_m)
        return max(1.0, reach_m / radius_m) if 0.0 < radius_m < np.inf else 1.0

    def _couple(self, spec: DeviceSpec) -> None:
        """Gains of a coupling by position alone, to a device whose inertia nobody knows, and how far it stretches."""
        lane, control, s = self.lanes[0], self.configuration.control, self.lanes[0].lane.scale
        mass = 1.0 / lane.world.polygons.inverse_mass[lane.body, 0]
        slowest = min(self.rates_hz[0], self.rate_hz)
        hand = self.configuration.hand
        K = min(control.device_N_m, 0.5 * spec.stiffness_limit_N_m, s * s * mass * (hand.sharpest * slowest) ** 2)
        b = control.device_Ns_m * np.sqrt(K / control.device_N_m)
        turning, drag = lane.channels.stiffness[2], lane.channels.damping[2]
        lane.channels.stiffness = (K / s**2, K / s**2, turning)
        lane.channels.damping = (b / s**2, b / s**2, drag)
        lane.lane.stretch = (
            max(hand.most_N, spec.force_limit_N) * s / max(K, 1e-9)
        )  # at the device s F = K / s times that
        lane.lane.twist = max(hand.most_Nm, spec.torque_limit_Nm) / max(turning, 1e-9)

    # ---- what is told of it

    def hello(self) -> dict[str, Any]:
        return describe_planar(self)

    def why_stopped(self) -> str:
        why = FAULTS[self.stage.fault] if self.stage.fault else ""
        return f"no torque: {why}" if why else super().why_stopped()

    @property
    def energy(self) -> dict[str, float]:
        """The audit so far [J]: into the bodies at each port, kinetic, and the error of the balance."""
        audit = self.lanes[0].world.audit
        works = dict(zip(PORTS, (*audit.work.tolist(), audit.impulses, audit.contacts), strict=True))
        return works | {"kinetic": audit.kinetic, "error": audit.error, "worst": audit.worst}

    def report(self) -> dict[str, Any]:
        """What a run is to be known by: configuration, seed, energy audit."""
        chosen = self.configuration
        return {"scene": self.name, "rate_hz": self.rate_hz, "configuration": chosen.told(), "seed": chosen.seed,
                "settings": dict(zip(SETTINGS, self.settings.value.tolist(), strict=True)),
                "energy": self.energy}  # fmt: skip


def spread(room: Sequence[PlanarBody], chosen: PlanarConfiguration) -> list[PlanarBody]:
    """The room, its first body that can move put off its place by chance."""
    rng, bodies = np.random.default_rng(chosen.seed), list(room)
    off = rng.uniform(-1.0, 1.0, 3) * chosen.spread
    for k, body in enumerate(bodies):
        if body.mass_kg is not None:
            bodies[k] = replace(body, pose=tuple(np.add(body.pose, off).tolist()))
            break
    return bodies


def commensurate(servo_hz: float, tick_hz: float) -> bool:
    """Whether whole steps fit into a tick, or whole ticks into a step."""
    larger = max(servo_hz, tick_hz) / min(servo_hz, tick_hz)
    return bool(abs(larger - round(larger)) < 1e-9 and servo_hz <= MOST_STEPS * tick_hz)


def checked_path(path: Any) -> Floats2:
    """(n, 4), its times rising; ValueError."""
    rows = np.zeros((0, 4)) if path is None else np.ascontiguousarray(path, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 4 or not np.isfinite(rows).all():
        raise ValueError(f"a path has rows of time [s], x, y [m] and angle [rad], all finite; got {rows.shape}")
    if (np.diff(rows[:, 0]) <= 0.0).any():
        raise ValueError("a path's times must rise from row to row")
    return rows
