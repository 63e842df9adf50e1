"""A session of a World: devices that reach into it, what became of a plan, trials of a task, hands from Python."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from palpate.frame import HANDS
from palpate.haptics.devices.mailbox import Mailbox, in_tick_of
from palpate.haptics.devices.protocol import Device
from palpate.haptics.spring import PerAxis, spring_fields
from palpate.runtime.session import Options, Session
from palpate.runtime.world.edits import Edits
from palpate.runtime.world.hello import STIFFNESS_N_M, STIFFNESS_NM_RAD
from palpate.runtime.world.meshes import MeshFiles
from palpate.runtime.world.requests import EditAnswers
from palpate.runtime.world.simulation import WorldSimulation
from palpate.runtime.world.trials import Trials
from palpate.scenes.scene import Scene
from palpate.spatial.placement import Rotation

if TYPE_CHECKING:  # rendering loads with the first device
    from palpate.haptics.reach import DeviceReport, Reach, Reaching

SMOOTH_S = 0.02  # the pointer's path between its 60 to 120 samples a second


class WorldSession(Session):
    """Run a scene in real time: `with WorldSession(scene) as session: session.wait(5)`.

    devices  open devices beside the page's pointer, each with how it reaches into the world;  options: of Options
    shared   other processes than page and recorder will read the rings of `simulation`

    A reset goes back to the start, the world as it was when the session began, all of it but for bodies that were
    placed and plans that were put since; it keeps the settings: speed, gravity, friction, what a touch does to the
    plan.  The end of the session gives the world its own gravity and friction back.
    """

    simulation: WorldSimulation

    def __init__(
        self, scene: Scene, devices: Sequence[tuple[Device, Reach]] = (), shared: bool = False, **options: Any
    ) -> None:
        self.scene = scene
        mailboxes: list[Mailbox] = []
        own = [how for _, how in scene.devices]  # who takes the place of a scene's device reaches as that did
        given = [self._reaching(device, own[k] if k < len(own) else reach, mailboxes)
                 for k, (device, reach) in enumerate(devices)]  # fmt: skip
        self.simulation = self._simulation(given, shared or Options(**options).is_shared)
        self.reaching = self.simulation.devices
        super().__init__(self.simulation, **options)
        self.devices = [device for device, _ in (*devices, *scene.devices[len(devices) :])]
        self.mailboxes = mailboxes
        self.edit = Edits(scene, self.simulation, self._event, lambda number: self._is_pending(number))
        self.meshes = MeshFiles(scene.model)  # for page and recorder
        self.trials = Trials()  # of the scene's task
        self._has_world = False  # until it runs in real time

    def _reaching(self, device: Device, reach: Reach, mailboxes: list[Mailbox]) -> Reaching:
        from palpate.haptics.reach import Reaching

        return Reaching(self.scene.world, device.spec, in_tick_of(device, mailboxes), reach, real_time=True)

    def _simulation(self, given: Sequence[Reaching], shared: bool) -> WorldSimulation:
        return WorldSimulation(self.scene, smooth_s=SMOOTH_S, devices=given, shared=shared)

    def mesh_files(self) -> list[str]:
        return self.meshes.paths

    def answers(self) -> dict[str, Callable[[dict[str, Any]], dict[str, Any]]]:
        return EditAnswers(self).answers

    def collect(self) -> None:
        self.edit.collect()
        self.trials.collect(self)

    def faults(self) -> list[str]:
        return [each.fault for each in self.reaching]

    def device_reports(self) -> list[DeviceReport]:
        return [each.report() for each in self.reaching]

    def _check(self) -> None:
        super()._check()
        if self.scene.world.in_session:
            raise ValueError("another session runs on this world: stop it first")
        if not self.simulation.is_current:
            raise ValueError("bodies were added to this world or removed since: make another session")

    def _begin(self, real_time: bool) -> None:
        """Where everything is now is the start, the first time."""
        for each in self.reaching:
            each.arrays.real_time = real_time
        if not self._begun:
            self.simulation.note_start()
        super()._begin(real_time)
        self._has_world = self.scene.world.in_session = real_time

    def _clear_away(self) -> None:
        self.meshes.remove()

    def _end(self) -> None:
        if self._has_world:
            self.scene.world.in_session = False
        super()._end()

    # --- hands

    def hold(
        self,
        body: str,
        at_body: Any,
        target: Any,
        stiffness_N_m: PerAxis = STIFFNESS_N_M,
        orientation: Rotation | None = None,
        stiffness_Nm_rad: float = STIFFNESS_NM_RAD,
        hand: int = 0,
        damping_Ns_m: PerAxis | None = None,
    ) -> None:
        """What the page does while someone drags: repeat at least every 100 ms, or the hand lets go.

        at_body [m] in body axes, target [m] in the world; with an orientation the body is turned to it as well.
        Stiffness and damping are one number, or one for each world axis; damping None: critical.
        hand: 0 or 1, each holds one body
        """
        self._hand(hand, body=self.scene.model.body(body), at_body=at_body, target=target,
                   **spring_fields(stiffness_N_m, damping_Ns_m),
                   orientation=orientation.wxyz if orientation else (0, 0, 0, 0),
                   stiffness_Nm_rad=stiffness_Nm_rad if orientation else 0.0)  # fmt: skip

    def let_go(self, hand: int = 0) -> None:
        """Open a hand."""
        self._hand(hand)

    def _hand(self, hand: int, **fields: Any) -> None:
        if hand not in range(HANDS):
            raise ValueError(f"there are hands 0 .. {HANDS - 1}, no hand {hand!r}")
        with self._writing:
            self._hands_in.write(self.simulation.hand_layout.pack(sent_ns=time.monotonic_ns(), hand=hand, **fields))
