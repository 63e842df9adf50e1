"""Everything a tick reads and writes, as arrays that compiled code finds through one address.

The page, the recorder and the devices never see these: they read frames and write hands and events (frame.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from palpate.control.guide_tables import Editing, Guiding
from palpate.control.plan import Plan
from palpate.dynamics.workspace import Workspace
from palpate.frame import COUNTERS, EVENT, FRAME, HAND, HANDS, LATENESS_EDGES_US, Layout
from palpate.haptics.devices.messages import SURFACE_N_M, Messages
from palpate.haptics.devices.protocol import DeviceSpec
from palpate.haptics.reach import Reach, Reaching
from palpate.haptics.reach_kernels import reach
from palpate.haptics.rendering.surface import Surface
from palpate.haptics.tank import Tank
from palpate.jit import Block, Struct, Vector, block_loader
from palpate.model.model import Floats1, Floats2, Ints1, ModelArrays
from palpate.runtime.ring import Ring
from palpate.runtime.start import Start
from palpate.scenes.task import Task
from palpate.world.build import placeable, pushed_links
from palpate.world.modules import why_not_compiled
from palpate.world.world import World

EVENT_SLOTS, HAND_SLOTS = 64, 256  # the recorder looks every 20 ms, hands may come every millisecond
MOST_CONTACTS = 128  # that a frame has room for
FRAME_SECONDS = 2.0  # how far back a slow reader of frames can reach
LINKED_HAND = 0  # the hand of a device across a link, which energy may limit
SURFACE_NS_M = 20.0  # of a surface of SURFACE_N_M, so that what is pressed does not bounce

# words of Servo.control, which Python shares with the loop
STOP, HEARTBEAT_NS, WATCHDOG, PERIOD_NS, SPIN_NS = range(5)


class Servo(Struct):
    """State of the simulation and of the loop around it."""

    # addresses of blocks
    world: int  # the World's own
    guide: int  # what the planned joints follow (control/guide_tables.py), 0: nothing is planned
    start: int  # the Start, where a reset goes (start.py)
    reach: int  # the routine that a hand's or a device's tick is
    # time
    tick: int
    time: float  # [s]
    dt: float  # [s]
    state: int  # frame.RUNNING, ...
    steps: int  # still to be made while paused
    fault_at: int  # where the world stopped, -1: it has not
    speed: float  # of the simulation beside the clock
    credit: float  # ticks that are due by it
    tick_us: float  # how long the last took
    late_s: float  # how much later than a period after the one before it began
    # messages
    next_event: int  # the number of the event that comes next, and
    hand_seen: int  # of the newest hand
    # settings
    gravity_times: float  # the scene's own
    friction_times: float
    edit_mode: int  # of the guide (control/modes.py), for frames, and
    edit_stage: int
    # the task (score.py)
    task_body: int  # 0: there is no task
    task_target: Vector
    task_radius_m: float
    task_state: int  # scenes/task.py
    task_trial: int
    task_collisions: int
    task_apart: int  # ticks since its body touched an obstacle
    task_last: Vector  # where its body was
    task_time_s: float
    task_path_m: float
    task_peak_N: float
    task_distance_m: float
    # the World's arrays
    q: Floats1  # (nq,) coordinates
    v: Floats1  # (nv,)
    tau: Floats1  # (nv,) the controller's
    q_hold: Floats1  # (nq,) where joints are held
    pushed: Ints1  # (L,) world/state.py
    contact_count: Ints1  # collision/contacts.py
    mu_static: Floats2  # world/state.py: as they are now, and
    mu_sliding: Floats2
    mu_own: Floats2  # (T, 2 T) as the scene has them
    # the servo's own
    # of the Start
    tau_start: Floats1  # (nv,)
    q_start: Floats1  # (nq,)
    v_start: Floats1  # (nv,)
    pushed_start: Ints1  # (L,)
    gravity: Floats1  # (3,) the model's own array: what it is now [m/s^2], and
    gravity_own: Floats1  # (3,) what the scene has
    placeable: Ints1  # (B,) link of each body that can be placed, 0: it cannot (world/build.py), and
    place_around: Floats2  # (B, 14) what gives its coordinates
    pushed_own: Ints1  # (L,) `pushed` of what is not parked
    parked: Ints1  # (B,) 1: the body waits to be added
    counters: Ints1  # frame.COUNTERS
    lateness: Ints1  # histogram over frame.LATENESS_EDGES_US
    edges_ns: Ints1  # its upper edges
    lateness_log: Ints1  # (n,) lateness of the first n periods [ns], for the bench; usually empty
    hand: Ints1  # the newest HAND message of each hand, one after the other
    message: Ints1  # a HAND message being taken
    event: Ints1  # the EVENT being taken, and
    event_f: Floats1  # the same words as floats
    task_obstacle: Ints1  # (n_bodies,) 1: one of the task's obstacles
    devices: Ints1  # (HANDS + n_devices,) the blocks that `reach` is called with: first those of the hands
    control: Ints1  # STOP, HEARTBEAT_NS, ...
    clock: Ints1  # (2,) scratch of the clock
    frames: Ints1  # the frame ring's memory, and
    frames_f: Floats1  # the same words as floats
    hands: Ints1  # the hand ring's memory
    events: Ints1  # the event ring's memory


class Offsets(NamedTuple):
    """Where the fields of FRAME, HAND and EVENT lie, in words."""

    tick: int
    wall_ns: int
    state: int
    counters: int
    lateness: int
    hand_body: int
    hand_kind: int
    edit_mode: int
    edit_stage: int
    contacts: int
    contact_body: int
    parked: int
    contact_mode: int
    task_trial: int
    task_state: int
    task_collisions: int
    device_held: int
    device_state: int
    device_buttons: int
    device_counters: int
    time_s: int
    tick_us: int
    speed: int
    gravity: int
    friction: int
    q: int
    v: int
    tau: int
    plan_q: int
    pose: int
    hand_point: int
    hand_target: int
    hand_force: int
    hand_torque: int
    hand_age_s: int
    granted_J: int
    device_position: int
    device_quaternion: int
    device_point: int
    device_force: int
    device_torque: int
    device_body_force: int
    device_age_s: int
    device_energy: int
    contact_point: int
    contact_force: int
    task_time_s: int
    task_path_m: int
    task_peak_N: int
    task_distance_m: int
    residual: int
    energy: int
    sent_ns: int
    hand: int
    body: int
    hold: int
    session: int
    at_body: int
    target: int
    velocity: int
    stiffness_N_m: int
    damping: int
    orientation: int
    stiffness_Nm_rad: int
    force: int
    normal: int
    energy_J: int
    stiffer_N_m: int
    damping_Ns_m: int
    damping_Nms_rad: int
    radius_m: int
    kind: int
    event_body: int
    value: int
    placement: int


load = block_loader((ModelArrays, True), (Workspace, False), (Servo, False), (Offsets, False))


class Engine:
    """A world, the plan its joints follow, all state of its servo, and the rings that connect it to the outside."""

    def __init__(
        self,
        world: World,
        plan: Plan | None,
        device: DeviceSpec,  # the page's pointer
        smooth_s: float = 0.0,
        lateness_log: int = 0,
        devices: Sequence[Reaching] = (),
        editing: Editing | None = None,
        parked: Sequence[str] = (),
        shared: bool = True,
        task: Task | None = None,
    ) -> None:
        """
        parked  bodies that wait to be added, beside those that the world has parked
        shared  other processes will read frames and write hands and events
        task    what is scored
        """
        self.task = task
        refusal = why_not_compiled(world)
        if refusal is not None:
            raise ValueError(refusal)
        model = world.model
        self.world, self.model, self.rate_hz, self.device = world, model, 1.0 / world.dt, device
        if not 10.0 <= self.rate_hz <= 8000.0:
            raise ValueError(f"the tick rate must be 10 .. 8000 Hz, the world's is {self.rate_hz:g}")
        self.guiding = None if plan is None else Guiding(world, plan, editing or Editing())
        self.devices = tuple(devices)
        sizes = {"nq": model.nq, "nv": model.nv, "n_bodies": model.n_bodies, "n_devices": len(self.devices),
                 "n_contacts": min(MOST_CONTACTS, len(world.arrays.contacts.gap))}  # fmt: skip
        self.frame_layout, self.hand_layout, self.event_layout = Layout(FRAME, **sizes), Layout(HAND), Layout(EVENT)
        self.frames = Ring.create(round(FRAME_SECONDS * self.rate_hz), self.frame_layout.words, shared)
        self.hands = Ring.create(HAND_SLOTS, self.hand_layout.words, shared)
        self.events = Ring.create(EVENT_SLOTS, self.event_layout.words, shared)
        self._start = Block(Start(**world.snapshot().arrays))
        hand = np.zeros((HANDS, self.hand_layout.words), dtype=np.int64)
        self.page_hands = [self._reaching(words, smooth_s) for words in hand]
        self.servo = self._servo(hand.reshape(-1), lateness_log)
        self.servo.parked[[model.body(name) for name in parked]] = 1
        self.note_start()
        self.offsets = Offsets(**self.frame_layout.offset, **self.hand_layout.offset, **self.event_layout.offset)
        arrays = world.arrays
        self._block = Block(model.arrays, arrays.work, self.servo, self.offsets)

    @property
    def address(self) -> int:
        """What loops take.  What ticks call is compiled when this is first asked for: a page is up by then."""
        if not self.servo.reach:
            for each in (*self.page_hands, *self.devices):
                each.connect()
            for each in self.devices:
                each.learn_to_touch()
            self.servo.reach = reach.address
        return self._block.address

    @property
    def is_current(self) -> bool:
        """Whether the world still has the bodies that it had."""
        return self.servo.world == self.world.arrays.block.address

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

    def note_start(self) -> None:
        """The world as it is now, its planned joints at the beginning of their plan, is where a reset goes."""
        start: Start = self._start.parts[0]
        for name, x in self.world.snapshot().arrays.items():
            start.array(name)[...] = x
        if self.guiding is not None:
            plan, at = self.guiding.plan, self.guiding.arrays
            start.q[at.q_at], start.v[at.v_at] = plan.q[0], plan.v[0]

    def _servo(self, hand: Ints1, lateness_log: int) -> Servo:
        zeros, arrays = np.zeros, self.world.arrays
        state = arrays.state
        control = zeros(8, dtype=np.int64)
        control[PERIOD_NS] = round(1e9 / self.rate_hz)
        event = zeros(self.event_layout.words, dtype=np.int64)
        start: Start = self._start.parts[0]
        links, around = placeable(self.model)
        own = pushed_links(self.model)
        waiting = (links > 0) & (own[links] > 0) & (state.pushed[links] == 0)
        return Servo(
            dt=self.world.dt, speed=1.0, gravity_times=1.0, friction_times=1.0, next_event=1, fault_at=-1,
            world=arrays.block.address, q=state.q, v=state.v, tau=state.tau, q_hold=state.q_hold,
            contact_count=arrays.contacts.count, mu_static=state.mu_static, mu_sliding=state.mu_sliding,
            mu_own=np.hstack([state.mu_static, state.mu_sliding]),
            guide=self.guiding.address if self.guiding else 0,
            start=self._start.address, tau_start=start.tau, q_start=start.q, v_start=start.v,
            pushed_start=start.pushed,
            gravity=writable(self.model.arrays.gravity), gravity_own=self.model.arrays.gravity.copy(),
            placeable=links, place_around=around, pushed_own=own, parked=waiting.astype(np.int64),
            counters=zeros(len(COUNTERS), dtype=np.int64), lateness=zeros(len(LATENESS_EDGES_US) + 1, dtype=np.int64),
            edges_ns=np.array(LATENESS_EDGES_US, dtype=np.int64) * 1000,
            lateness_log=zeros(lateness_log, dtype=np.int64),
            pushed=state.pushed, hand=hand, message=zeros(self.hand_layout.words, dtype=np.int64),
            event=event, event_f=event.view(np.float64),
            **self._task(),
            devices=np.array([each.address for each in (*self.page_hands, *self.devices)], dtype=np.int64),
            control=control, clock=zeros(2, dtype=np.int64),
            frames=self.frames.memory, frames_f=self.frames.memory.view(np.float64),
            hands=self.hands.memory, events=self.events.memory,
        )  # fmt: skip

    def _task(self) -> dict[str, Any]:
        task, obstacle = self.task, np.zeros(self.model.n_bodies, dtype=np.int64)
        if task is None:
            return {"task_obstacle": obstacle}
        obstacle[[self.model.body(name) for name in task.obstacles]] = 1
        return {"task_body": self.model.body(task.body), "task_target": task.target_m, "task_radius_m": task.radius_m,
                "task_obstacle": obstacle}  # fmt: skip

    def close(self) -> None:
        """Let go of the shared memory, and give the world its own gravity and friction back, which a page may have
        changed; nothing may run on this engine any more."""
        self.servo.gravity[:] = self.servo.gravity_own
        self.servo.mu_static[:], self.servo.mu_sliding[:] = np.split(self.servo.mu_own, 2, axis=1)
        for ring in (self.frames, self.hands, self.events):
            ring.close()


def writable(array: Floats1) -> Floats1:
    """The same numbers, for the one who may change them: gravity has one home, the model's array."""
    array.setflags(write=True)
    view = array[:]
    array.setflags(write=False)
    return view
