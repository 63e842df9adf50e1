"""MobileDisplays: displays as a controller of a World (runtime/world/controllers.py), with the devices that they carry.

displays = MobileDisplays([Who(events=explore(3))])
scene = Scene("room", "A room", world, controllers=(displays,), devices=displays.devices(reach))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from palpate.haptics.devices.simulation.simulated import Simulated
from palpate.haptics.reach import Reach
from palpate.jit import Block, Struct
from palpate.mobile.adapters.inbox import Judging, PoseInbox, into
from palpate.mobile.adapters.opening import make_base_driver, make_pose_source
from palpate.mobile.adapters.source import ROBOT
from palpate.mobile.display.choices import FOLLOWERS, bleeds, choices_of, noise_rows, preset_row
from palpate.mobile.display.configuration import MobileConfiguration, Who
from palpate.mobile.display.fields import SETTINGS, At, fields_of
from palpate.mobile.display.person import KEYS, RECORDED, ROW, SCRIPT, Person
from palpate.mobile.display.publish import publish_displays
from palpate.mobile.display.settings import take_displays
from palpate.mobile.display.shown import describe_displays, shown_bodies, yawed
from palpate.mobile.display.tables import Arm, Display, Displays
from palpate.mobile.display.tick import reset_displays, tick_displays
from palpate.mobile.estimate.prediction import METHODS, new_predictor
from palpate.mobile.estimate.survey import Survey, simulated_survey
from palpate.mobile.geometry.chain import Chain
from palpate.mobile.hardware.base import new_drive
from palpate.mobile.hardware.lift import Lift, new_lift
from palpate.mobile.hardware.tracker import new_station
from palpate.mobile.planning.planner import Planner, new_planner
from palpate.mobile.walking.users import Walker, new_user
from palpate.servo.kept import Keeping
from palpate.servo.parts import Part
from palpate.servo.simulation import Event

PATIENCE_S = 0.3  # with keys that fell silent
TEXTURE_S = 0.2  # in which textures come and go


class OneDisplay:
    """A person, a robot and its arms, from Python."""

    def __init__(self, who: Who, chosen: MobileConfiguration, number: int) -> None:
        rig, self.chosen, self.who = chosen.rig, chosen, who
        d, seed, hz = rig.follower.distance_m, chosen.seed + 101 * number, rig.tick_hz
        truth = chosen.truth or chosen.chain
        self.walker = new_walker(who, chosen)
        self.person = new_person(who, chosen, self.walker)
        g = self.walker.g
        start = rig.start or (self.walker.x + d * math.sin(g), self.walker.z + d * math.cos(g), -g)
        self.head = new_station(rig.tracker, 3 * seed + 1, hz, field_seed=chosen.seed)
        self.body = new_station(rig.tracker, 3 * seed + 2, hz, field_seed=chosen.seed)
        self.predictor = new_predictor(rig.prediction, start, hz)
        follower = replace(rig.follower, hip_ahead_m=-chosen.chain.robot_to_device_m[1])
        self.planner: Planner = new_planner(follower, rig.safety, rig.room, head_ahead_m=self.walker.head_ahead)
        self.drive = new_drive(rig.base, start, 3 * seed + 3, hz)
        height = chosen.device_height_m - truth.robot_to_device_m[2]
        self.lift: Lift = new_lift(height, on=chosen.lift, chain=chosen.chain, tick_hz=hz)
        across = chosen.apart_m * (np.arange(chosen.arms) - 0.5 * (chosen.arms - 1))
        self.arms = [new_arm(chosen, truth, float(offset)) for offset in across]
        self._arm_blocks = [Block(arm) for arm in self.arms]
        keep = rig.prediction
        self.display = Display(
            tick_hz=hz, dt=1.0 / hz, height=height, visual_hz=chosen.visual_hz, r_c=rig.safety.contact_m,
            usable=chosen.usable_m, silence=round(keep.lost_s * hz), psi=truth.psi_rad - chosen.chain.psi_rad,
            freeze_m=chosen.freeze_m, freeze_rad=chosen.freeze_m / 0.44, rate_m_s=keep.correction_m_s,
            rate_rad_s=keep.correction_rad_s, texture_m=chosen.texture_sigma_m, texture=1.0,
            texture_step=1.0 / (TEXTURE_S * hz), used=start, least=math.inf,
            eye=(-self.walker.z, -self.walker.x, self.walker.eyes), eye_turn=yawed(g + math.pi),
            arm=np.array([block.address for block in self._arm_blocks], dtype=np.int64),
        )  # fmt: skip
        self.block = Block(
            self.display, self.person, self.walker, self.head, self.body, self.predictor, self.planner, self.drive,
            self.lift,
        )  # fmt: skip

    def device(self, arm: int) -> Simulated:
        """A simulated device on this robot, open, the hand on it where the person's is."""
        chosen = self.chosen
        hand = replace(chosen.hand, intent=((0.0, self._lead(arm)),))
        device = Simulated(chosen.device, hand, compensated=True)
        device.open()
        return device

    def _lead(self, arm: int) -> tuple[float, float, float]:
        """Of its hand at the start, device frame."""
        (x, up, z), g, (_, right, _) = self.walker.hand, self.walker.g, self.arms[arm].beside
        (rx, rz, phi), rp = self.drive.pose, self.arms[arm].rp_true
        c, s = math.cos(phi), math.sin(phi)
        dx = x - right * math.cos(g) - (rx - c * rp[0] - s * rp[1])
        dz = z + right * math.sin(g) - (rz - s * rp[0] + c * rp[1])
        lead = np.array([c * dz - s * dx, c * dx + s * dz, up - self.display.height - rp[2]])
        far = max(float(np.linalg.norm(lead)), 1e-9)
        return tuple((lead * min(1.0, self.arms[arm].farthest / far)).tolist())

    def kept(self) -> list[Struct]:
        """What a reset restores."""
        return [self.display, self.person, self.walker, self.head, self.body, self.predictor, self.planner, self.drive,
                self.lift, *self.arms]  # fmt: skip


def new_arm(chosen: MobileConfiguration, truth: Chain, across_m: float) -> Arm:
    """One that is so far to the right of the robot's middle, as the person sees it."""
    p, hz = chosen.protection, chosen.rig.tick_hz

    def offset(chain: Chain) -> tuple[float, float, float]:
        x, y, z = chain.robot_to_device_m
        return x + across_m, y, z

    return Arm(
        rp=offset(chosen.chain), rp_true=offset(truth), beside=(0.0, across_m, 0.0), farthest=chosen.farthest_m,
        trip_m=p.speed_m_s / hz, trip_N=p.force_N, ramp=1.0, ramp_step=1.0 / (p.return_s * hz),
    )  # fmt: skip


def new_walker(who: Who, chosen: MobileConfiguration) -> Walker:
    """Where they begin, the hand ahead of them."""
    start = who.start if who.recorded is None else tuple(who.recorded[0, 1:4].tolist())
    walker = new_user(
        who.events, start, sway=chosen.rig.sway, tick_hz=chosen.rig.tick_hz, hand_height_m=chosen.device_height_m
    )
    (x, z, g), ahead = start, walker.head_ahead
    walker.hand = (x + walker.arm * math.sin(g), walker.height, z + walker.arm * math.cos(g))
    walker.head = (x + ahead * math.sin(g), walker.eyes, z + ahead * math.cos(g))
    if who.recorded is not None:
        walker.hand, walker.head = tuple(who.recorded[0, 4:7].tolist()), tuple(who.recorded[0, 7:10].tolist())
    return walker


def new_person(who: Who, chosen: MobileConfiguration, walker: Walker) -> Person:
    rows = np.zeros((0, len(ROW))) if who.recorded is None else who.recorded
    way = RECORDED if who.recorded is not None else KEYS if who.by_keys or not who.events else SCRIPT
    return Person(
        way=way, speed=chosen.walk_m_s, turning=chosen.turn_rad_s, acceleration=1.5, hand_speed=1.5, nearest=0.25,
        farthest=0.80, lowest=0.4, highest=1.6, patience=round(PATIENCE_S * chosen.rig.tick_hz),
        heard=(-math.inf, -math.inf, -math.inf), hand=(walker.arm, 0.0, walker.height),
        led=(walker.arm, 0.0, walker.height), led_to=(math.inf, math.inf, math.inf),
        time=np.ascontiguousarray(rows[:, 0]), row=np.ascontiguousarray(rows[:, 1:]),
    )  # fmt: skip


def surveyed(chosen: MobileConfiguration) -> Survey | None:
    """What is known of the tracker's bias."""
    if chosen.survey is None or isinstance(chosen.survey, Survey):
        return chosen.survey
    return simulated_survey(chosen.rig.tracker, chosen.seed, chosen.survey)


class MobileDisplays:
    """One display for each person; configuration, or any of its fields by name.

    pose_source   where poses of heads and robots come from, "udp:127.0.0.1:9000" or a PoseSource; None: simulated
    base_driver   who drives the first robot, "ros-twist:tcp:127.0.0.1:9090" or a BaseDriver; None: simulated

    Stations are 0 and 1 for the first robot and head, 3 and 4 for the next, and so on.
    """

    def __init__(
        self, people: Sequence[Who] = (Who(),), configuration: MobileConfiguration | None = None, *,
        pose_source: Any = None, base_driver: Any = None, **changed: Any,
    ) -> None:  # fmt: skip
        chosen = replace(configuration or MobileConfiguration(), **changed)
        if not 1 <= len(people) <= 4:
            raise ValueError(f"there are one to four people in a room, not {len(people)}")
        self.configuration = chosen
        self.each = [OneDisplay(who, chosen, number) for number, who in enumerate(people)]
        if (floor := surveyed(chosen)) is not None:
            self._marks = Block(floor.marks)
            for each in self.each:
                each.display.marks = self._marks.address
        self.fields = fields_of(len(people), chosen.arms)
        self.settings = choices_of(chosen, self.each[0].person)
        self.takes = tuple(Event(name, c.low, c.high, whole=c.whole) for name, c in self.settings.items())
        self.shown = shown_bodies(self)
        self._carried: list[Simulated] = []
        self.source = make_pose_source(pose_source) if isinstance(pose_source, str) else pose_source
        self.driver = make_base_driver(base_driver) if isinstance(base_driver, str) else base_driver
        self._real: list[Block] = []

    def devices(self, reach: Reach) -> tuple[tuple[Simulated, Reach], ...]:
        """Of all arms of all displays, in their order: what a Scene takes."""
        self._carried = [display.device(arm) for display in self.each for arm in range(self.configuration.arms)]
        return tuple((device, reach) for device in self._carried)

    def part(self, engine: Any) -> Part:
        """For a World's tick; engine: its WorldSimulation."""
        if round(engine.rate_hz) != self.configuration.rig.tick_hz:
            raise ValueError(
                f"the displays tick at {self.configuration.rig.tick_hz} Hz, their world at {engine.rate_hz:g} Hz"
            )
        arms = [arm for display in self.each for arm in display.arms]
        if len(engine.devices) < len(arms):
            raise ValueError(f"the displays carry {len(arms)} devices, and the scene has {len(engine.devices)}")
        kept = [struct for display in self.each for struct in display.kept()]
        for arm, reaching in zip(arms, engine.devices, strict=False):
            simulated = reaching.in_tick.owner in self._carried
            arm.reach, arm.device = reaching.address, reaching.in_tick.block.address if simulated else 0
            if simulated:
                kept += [reaching.in_tick.port, *reaching.in_tick.owner.state]
        self._hear(engine)
        self._connect()
        self._keeping = Keeping(kept)
        rig = self.configuration.rig
        self.arrays = Displays(
            display=np.array([each.block.address for each in self.each], dtype=np.int64), kept=self._keeping.addresses,
            preset=np.array([preset_row(each, self.configuration) for each in (rig.follower, *FOLLOWERS.values())]),
            noise=noise_rows(rig), bleed=np.array([bleeds(method, rig.prediction) for method in METHODS]),
            setting=np.array([(*choice[:3], choice.value) for choice in self.settings.values()]),
            first_event=engine.kind_of(SETTINGS[0]),
            first_body=engine.model.n_bodies + engine.shown.index(self.shown[0]),
        )  # fmt: skip
        self._block = Block(engine.head, self.arrays, At(*(engine.layout.offset[name] for name in At._fields)))
        return Part(
            tick_displays, self._block, take=take_displays, reset=reset_displays, publish=publish_displays
        )  # fmt: skip

    def _hear(self, engine: Any) -> None:
        """The first person's hand and head are a page's."""
        person, first = self.each[0].person, engine.model.n_bodies + engine.shown.index(self.shown[0])
        hand, head = (each.in_tick.block.address for each in engine.page_hands)
        person.hand_messages, person.head_messages = hand, head
        names = [body["name"] for body in self.shown]
        person.hand_body, person.head_body = first + names.index("hand"), first + names.index("head")

    def _connect(self) -> None:
        """Real things in the place of simulated ones."""
        hz, inboxes = self.configuration.rig.tick_hz, dict[int, PoseInbox]()
        for number, each in enumerate(self.each if self.source is not None else ()):
            robot = ROBOT if number == 0 else 2 * number + 1
            inboxes[robot] = PoseInbox(tick_hz=hz)
            inboxes[robot + 1] = PoseInbox(Judging(gaze=True), tick_hz=hz)
            each.display.body_inbox = self._keep(inboxes[robot].inbox, self.configuration.chain.linkage)
            each.display.head_inbox = self._keep(inboxes[robot + 1].inbox)
        self.inboxes = inboxes
        if self.source is not None:
            self.source.open(into(inboxes))
        if self.driver is not None:
            self.each[0].display.orders = self._keep(self.driver.book.orders)
            self.driver.open()

    def _keep(self, *parts: Struct) -> int:
        self._real.append(Block(*parts))
        return self._real[-1].address

    def close(self) -> None:
        """Let go of what is real; the base stands."""
        for each in (self.source, self.driver):
            if each is not None:
                each.close()

    def hello(self) -> dict[str, Any]:
        return describe_displays(self)
