"""A World as a Simulation: what a session runs, and what runs the same ticks in simulated time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from palpate.control.plans.guide_tables import Guiding
from palpate.control.plans.modes import MODES
from palpate.frame import HAND_WORDS, HANDS, WORLD_FIELDS, Field
from palpate.haptics.devices.messages import SURFACE_N_M, Messages
from palpate.haptics.devices.pointer import Pointer
from palpate.haptics.devices.protocol import DeviceSpec
from palpate.haptics.reach import Reach, Reaching
from palpate.haptics.reach_kernels import reach
from palpate.haptics.rendering.surface import Surface
from palpate.haptics.tank import Tank
from palpate.jit import Block
from palpate.model.model import Floats1, Ints1
from palpate.runtime.world.controllers import controllers_of
from palpate.runtime.world.events import MOST_TIMES, take_world
from palpate.runtime.world.guide import guide_part
from palpate.runtime.world.hello import describe_world
from palpate.runtime.world.start import Start
from palpate.runtime.world.state import LINKED_HAND, Offsets, TickState
from palpate.runtime.world.tick import restart_world, tick_world
from palpate.scenes.scene import Scene
from palpate.servo.parts import COLUMNS, part_table
from palpate.servo.run import Run
from palpate.servo.simulation import Event, Simulation
from palpate.world.build import placeable, pushed_links
from palpate.world.modules import why_not_compiled

MOST_CONTACTS = 128  # that a frame has room for
SURFACE_NS_M = 20.0  # of a surface of SURFACE_N_M, so that what is pressed does not bounce


class WorldSimulation(Simulation):
    """A World as a Simulation: the plan its joints follow, hands and devices in it, the task that is scored."""

    fields: tuple[Field, ...] = WORLD_FIELDS
    at = Offsets
    takes: tuple[Event, ...] = (
        Event("mode", 0, len(MODES) - 1, whole=True), Event("follow", inside=True), Event("place", 0, 1, whole=True),
        Event("gravity", 0, MOST_TIMES), Event("friction", 0, MOST_TIMES),
    )  # fmt: skip
    tick, reset, take = tick_world, restart_world, take_world

    def __init__(
        self,
        scene: Scene,
        device: DeviceSpec | None = None,
        *,
        smooth_s: float = 0.0,
        devices: Sequence[Reaching] = (),
        shared: bool = False,
        lateness_log: int = 0,
        more: Sequence[Any] = (),
    ) -> None:
        """
        device    limits of the hands in messages; those of the page's pointer unless given
        smooth_s  time constant of their way between two messages;  more: parts of the Block beyond a World's
        """
        world = scene.world
        refusal = why_not_compiled(world)
        if refusal is not None:
            raise ValueError(refusal)
        if scene.plan is not None and scene.controllers:
            raise ValueError(f"the joints of {scene.name!r} follow a plan: controllers are for scenes without one")
        self.scene, self.world, self.model = scene, world, world.model
        own = [Reaching(world, d.spec, d.in_tick, how, real_time=False) for d, how in scene.devices[len(devices) :]]
        self.devices: tuple[Reaching, ...] = (*devices, *own)
        self.name, self.title, self.device = scene.name, scene.title, device or Pointer().spec
        self.guiding = None if scene.plan is None else Guiding(world, scene.plan, scene.editing)
        self.controllers = controllers_of(scene)
        self.shown: list[dict[str, Any]] = []  # bodies that controllers show beside those of the World
        for each in self.controllers:
            self.fields, self.takes = self.fields + each.fields, self.takes + each.takes
            self.shown += getattr(each, "shown", ())
        self._start = Block(Start(**world.snapshot().arrays))
        hand = np.zeros((HANDS, HAND_WORDS), dtype=np.int64)
        self.page_hands = [self._reaching(words, smooth_s) for words in hand]
        self.arrays = self._arrays()
        self.arrays.parked[[self.model.body(name) for name in scene.spares]] = 1
        self.note_start()
        super().__init__(
            self.model.arrays, world.arrays.work, self.arrays, *more, rate_hz=1.0 / world.dt, sizes=self._sizes(),
            hand=hand.reshape(-1), shared=shared, lateness_log=lateness_log,
        )  # fmt: skip

    def _sizes(self) -> dict[str, int]:
        model, contacts = self.model, len(self.world.arrays.contacts.gap)
        return {"nq": model.nq, "nv": model.nv, "n_bodies": model.n_bodies + len(self.shown),
                "n_devices": len(self.devices), "n_contacts": min(MOST_CONTACTS, contacts)}  # fmt: skip

    @property
    def address(self) -> int:
        if self.beat.tick == 0:
            parts = [] if self.guiding is None else [guide_part(self.block)]
            self.arrays.parts[:] = part_table(parts + [each.part(self) for each in self.controllers])
            for each in (*self.page_hands, *self.devices):
                each.connect()
            for each in self.devices:
                each.learn_to_touch()
            self.arrays.reach = reach.address
        return super().address

    @property
    def tank(self) -> Tank:
        """The energy of a hand across a link."""
        return self.page_hands[LINKED_HAND].tank

    def _reaching(self, words: Ints1, smooth_s: float) -> Reaching:
        """A hand that speaks in messages, as strong as the page's pointer; nothing of what it does is felt."""
        surface = Surface(stiffness_N_m=SURFACE_N_M, damping_Ns_m=SURFACE_NS_M)
        how = Reach(strength_N=self.device.force_limit_N, rise_N_s=self.device.force_rise_N_s, surface=surface)
        unfelt = replace(self.device, force_limit_N=0.0)
        return Reaching(self.world, unfelt, Messages(words).in_tick, how, real_time=False, smooth_s=smooth_s)

    def learn_to_touch(self) -> None:
        """So that hands can press.  It takes long the first time, and so a session does it when it runs already."""
        for each in self.page_hands:
            each.learn_to_touch()

    def warm_later(self) -> None:
        self.learn_to_touch()

    def hello(self) -> dict[str, Any]:
        return describe_world(self)

    def why_stopped(self) -> str:
        return f"the world stopped: {self.world.fault}"

    @property
    def is_current(self) -> bool:
        """Whether the world still has the bodies that it had."""
        return self.arrays.world == self.world.arrays.block.address

    def note_start(self) -> None:
        """The world as it is now, its planned joints at the beginning of their plan, is where a reset goes."""
        start: Start = self._start.parts[0]
        for name, x in self.world.snapshot().arrays.items():
            start.array(name)[...] = x
        if self.guiding is not None:
            plan, at = self.guiding.plan, self.guiding.arrays
            start.q[at.q_at], start.v[at.v_at] = plan.q[0], plan.v[0]

    def _arrays(self) -> TickState:
        arrays = self.world.arrays
        state = arrays.state
        start: Start = self._start.parts[0]
        links, around = placeable(self.model)
        own = pushed_links(self.model)
        waiting = (links > 0) & (own[links] > 0) & (state.pushed[links] == 0)
        n_parts = len(self.controllers) + (self.guiding is not None)
        return TickState(
            gravity_times=1.0, friction_times=1.0, world=arrays.block.address, q=state.q, v=state.v, tau=state.tau,
            q_hold=state.q_hold, pushed=state.pushed, mu_static=state.mu_static, mu_sliding=state.mu_sliding,
            mu_own=np.hstack([state.mu_static, state.mu_sliding]), guide=self.guiding.address if self.guiding else 0,
            start=self._start.address, tau_start=start.tau, q_start=start.q, v_start=start.v,
            pushed_start=start.pushed, gravity=writable(self.model.arrays.gravity),
            gravity_own=self.model.arrays.gravity.copy(), placeable=links, place_around=around, pushed_own=own,
            parked=waiting.astype(np.int64),
            **self._task(),
            devices=np.array([each.address for each in (*self.page_hands, *self.devices)], dtype=np.int64),
            parts=np.zeros(n_parts * COLUMNS, dtype=np.int64),
        )  # fmt: skip

    def _task(self) -> dict[str, Any]:
        task, obstacle = self.scene.task, np.zeros(self.model.n_bodies, dtype=np.int64)
        if task is None:
            return {"task_obstacle": obstacle}
        obstacle[[self.model.body(name) for name in task.obstacles]] = 1
        return {"task_body": self.model.body(task.body), "task_target": task.target_m, "task_radius_m": task.radius_m,
                "task_obstacle": obstacle}  # fmt: skip

    def close(self) -> None:
        """Let go of the shared memory, and give the world its own gravity and friction back, which a page may have
        changed; nothing may run on this engine any more."""
        for each in self.controllers:
            if hasattr(each, "close"):
                each.close()
        self.arrays.gravity[:] = self.arrays.gravity_own
        self.arrays.mu_static[:], self.arrays.mu_sliding[:] = np.split(self.arrays.mu_own, 2, axis=1)
        super().close()


@contextmanager
def running(scene: Scene, **options: Any) -> Iterator[Run[WorldSimulation]]:
    """A scene in simulated time, from its start (servo/run.py); afterwards it is as it was.

    options  of WorldSimulation
    """
    before, engine = scene.world.snapshot(), WorldSimulation(scene, **options)
    try:
        yield Run(engine)
    finally:
        engine.close()
        scene.world.restore(before)


def writable(array: Floats1) -> Floats1:
    """The same numbers, for the one who may change them: gravity has one home, the model's array."""
    array.setflags(write=True)
    view = array[:]
    array.setflags(write=False)
    return view
