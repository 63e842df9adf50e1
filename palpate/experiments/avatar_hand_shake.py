"""A person shakes an avatar's hand: how soon it is in step, and what that saves the person; avatars.md 6, 10.28, 10.30.

The person's hand goes up and down by 0.04 m at 1 to 3 Hz and holds the palm through 400 N/m and 10 N s/m; the avatar
stands on its own balance, offers its right hand, and is as soft as its behaviour makes it.  Passive: the same softness
without the oscillator.

    phi_hand = atan2(w (z - mean), z')         of the avatar's palm, w that of the person
    lock     after which |phi - phi_hand| stays below 15 degrees
    power    of the person: mean of f z'_person over whole swings after 1.5 s
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from palpate.control.behaviours.machine import Acting
from palpate.experiments.report import Report
from palpate.frame import PULL
from palpate.haptics.devices.protocol import DeviceSpec
from palpate.haptics.spring import spring_fields
from palpate.runtime.world.simulation import WorldSimulation, running
from palpate.scenes.acting import hand_shake
from palpate.scenes.scene import Scene

KINDS = ("hrp2", "human")
RATES_HZ = (1.0, 1.5, 2.0, 2.5, 3.0)
PERSON = DeviceSpec("person", force_limit_N=500.0, force_rise_N_s=1e9)
STIFFNESS_N_M, DAMPING_NS_M, SWING_M = 400.0, 10.0, 0.04
OFFERED_S, SHAKEN_S, LATE_S = 3.0, 5.0, 1.5
BEGIN_S = 0.1  # in which the person's swing grows to its size
PHASES = (0.0, 2.0, 4.0)  # of the person's swing when it begins [rad]: the worst of them counts for the lock
LOCK_DEG = 15.0
COLOURS = {"hrp2": "#1f5fa8", "human": "#d9534f"}


class Shaken(NamedTuple):
    """Of one run: (n,) each, from when the hand is taken."""

    hz: float
    time_s: np.ndarray
    person_m: np.ndarray  # where the person's hand is, up from the middle
    hand_m: np.ndarray  # and the avatar's palm
    force_N: np.ndarray  # on it, up
    phase_off: np.ndarray  # of the oscillator [rad]
    target_m_s: float  # fastest of the palm's own target
    states: set[str]
    margin_m: float  # least, of the capture point within the soles

    @property
    def late(self) -> np.ndarray:
        """Whole swings after LATE_S."""
        swings = np.floor((self.time_s[-1] - LATE_S) * self.hz)
        return (self.time_s >= LATE_S) & (self.time_s < LATE_S + swings / self.hz)

    @property
    def lock_s(self) -> float:
        off = np.flatnonzero(np.abs(self.phase_off) > np.radians(LOCK_DEG))
        return 0.0 if len(off) == 0 else float(self.time_s[off[-1]])

    @property
    def off_deg(self) -> float:
        return float(np.degrees(np.abs(self.phase_off[self.late]).mean()))

    @property
    def rms_N(self) -> float:
        return float(np.sqrt(np.mean(self.force_N[self.late] ** 2)))

    @property
    def power_W(self) -> float:
        rate = np.gradient(self.person_m, self.time_s)
        return float(np.mean((self.force_N * rate)[self.late]))

    @property
    def size_m(self) -> float:
        return float(np.ptp(self.hand_m[self.late]) / 2.0)


def acting_of(simulation: WorldSimulation) -> Acting:
    """The behaviours of its avatar."""
    for controller in simulation.controllers:
        told = getattr(getattr(controller, "control", None), "hello", None)
        owner = getattr(told, "__self__", None)
        if isinstance(owner, Acting):
            return owner
    raise ValueError("nobody behaves in this scene")


def shake(scene: Scene, hz: float, along: bool, seconds: float = SHAKEN_S, phase: float = 0.0) -> Shaken:
    """A person shakes for so long, from a phase [rad] on; without `along` the avatar's hand is only soft."""
    with running(scene, device=PERSON) as run:
        simulation = run.simulation
        acting = acting_of(simulation)
        for event, value in (("shakes_along", float(along)), ("shake_s", 2.0 * seconds)):
            simulation.events.write(simulation.event_layout.pack(kind=simulation.kind_of(event), value=value))
        run.seconds(OFFERED_S)
        a = acting.actor.avatar
        middle, body, at = a.palm[0].copy(), int(a.hand[0]), a.palm_at[0].copy()
        n = round(seconds * simulation.rate_hz)
        time_s = np.arange(n) / simulation.rate_hz
        path = SWING_M * np.sin(2.0 * np.pi * hz * time_s + phase) * np.minimum(time_s / BEGIN_S, 1.0)
        spring = spring_fields(STIFFNESS_N_M, DAMPING_NS_M)
        rows = [
            simulation.hand_layout.pack(body=body, hold=PULL, at_body=at, target=middle + [0.0, 0.0, z], **spring)
            for z in path
        ]
        run.ticks(n, np.array(rows))
        h = {name: run.history(name)[-n:] for name in (
            "hand_point", "hand_force", "avatar_shake_phase", "avatar_hand_rate", "avatar_behaviour", "avatar_margin_m",
        )}  # fmt: skip
    z, w = h["hand_point"][:, 0, 2], 2.0 * np.pi * hz
    phase = np.arctan2(w * (z - z.mean()), np.gradient(z, time_s))
    return Shaken(
        hz, time_s, path, z - middle[2], h["hand_force"][:, 0, 2],
        np.angle(np.exp(1j * (h["avatar_shake_phase"] - phase))),
        float(np.linalg.norm(h["avatar_hand_rate"][:, 0], axis=1).max()),
        {acting.names[k] for k in np.unique(h["avatar_behaviour"])}, float(h["avatar_margin_m"].min()),
    )  # fmt: skip


def draw_one(shaken: Shaken) -> Figure:
    """Person, hand and force, and by how much the oscillator is off."""
    figure = Figure(figsize=(9.0, 6.0), layout="constrained")
    way, force, off = figure.subplots(3, 1, sharex=True)
    way.plot(shaken.time_s, 1e3 * shaken.person_m, color="0.5", label="the person's hand")
    way.plot(shaken.time_s, 1e3 * shaken.hand_m, color=COLOURS["human"], label="the avatar's palm")
    way.set(ylabel="up [mm]", title=f"a hand shake at {shaken.hz:g} Hz")
    way.legend(fontsize=8, loc="upper right")
    force.plot(shaken.time_s, shaken.force_N, color="k")
    force.set(ylabel="force on the palm, up [N]")
    off.plot(shaken.time_s, np.degrees(shaken.phase_off), color=COLOURS["hrp2"])
    off.axhspan(-LOCK_DEG, LOCK_DEG, color="0.9")
    off.set(ylabel="oscillator off by [deg]", xlabel="since the hand is taken [s]", ylim=(-100.0, 100.0))
    for axes in (way, force, off):
        axes.grid(alpha=0.25)
    return figure


def draw_all(runs: dict[tuple[str, float, bool], Shaken]) -> Figure:
    """Force and power over the frequency, with the oscillator and without; how soon it is in step."""
    figure = Figure(figsize=(12.0, 3.8), layout="constrained")
    force, power, lock = figure.subplots(1, 3)
    for kind in KINDS:
        for along, style in ((True, "o-"), (False, "s--")):
            label = f"{kind}, {'shakes along' if along else 'passive'}"
            some = [runs[kind, hz, along] for hz in RATES_HZ]
            force.plot(RATES_HZ, [x.rms_N for x in some], style, color=COLOURS[kind], label=label)
            power.plot(RATES_HZ, [x.power_W for x in some], style, color=COLOURS[kind])
        lock.plot(RATES_HZ, [runs[kind, hz, True].lock_s for hz in RATES_HZ], "o-", color=COLOURS[kind])
    lock.axhline(1.5, color="0.5", lw=1.0, ls=":")
    force.set(ylabel="rms force of the person [N]", ylim=(0, None))
    power.set(ylabel="power of the person [W]", ylim=(0, None))
    lock.set(ylabel=f"in step within {LOCK_DEG:g} degrees after [s]", ylim=(0, 1.7))
    for axes in (force, power, lock):
        axes.set(xlabel="shaken at [Hz]")
        axes.grid(alpha=0.25)
    force.legend(fontsize=8)
    return figure


def run(report: Report) -> None:
    runs: dict[tuple[str, float, bool], Shaken] = {}
    table = []
    for kind in KINDS:
        scene = hand_shake(kind)
        for hz in RATES_HZ:
            starts = [shake(scene, hz, True, phase=phase) for phase in PHASES]
            along, passive = max(starts, key=lambda x: x.lock_s), shake(scene, hz, False)
            runs[kind, hz, True], runs[kind, hz, False] = along, passive
            name = f"{kind}, {hz:g} Hz"
            report.say(
                f"{name}: in step after {along.lock_s:.2f} s, {along.off_deg:.1f} deg off; {along.rms_N:.2f} of "
                f"{passive.rms_N:.2f} N, {along.power_W:.2f} of {passive.power_W:.2f} W; {1e3 * along.size_m:.0f} mm"
            )
            table.append({
                "avatar": kind, "hz": hz, "lock_s": along.lock_s, "off_deg": along.off_deg, "rms_N": along.rms_N,
                "passive_N": passive.rms_N, "power_W": along.power_W, "passive_W": passive.power_W,
                "size_m": along.size_m, "margin_m": along.margin_m,
            })  # fmt: skip
            report.claim(f"{name}: in step after", along.lock_s, high=1.5, unit="s")
            report.claim(f"{name}: force, of the passive hand's", along.rms_N / passive.rms_N, high=0.5)
            report.claim(
                f"{name}: power of the person, of the passive hand's", along.power_W / passive.power_W, high=0.7
            )
            report.claim(f"{name}: fastest own motion of the hand", along.target_m_s, high=0.5 + 1e-9, unit="m/s")
            report.claim(f"{name}: swing of the hand, of the person's", along.size_m / SWING_M, high=1.7)
            report.claim(f"{name}: shaken throughout", float(along.states == {"shake"}), low=1.0)
            report.claim(f"{name}: least margin of the capture point", along.margin_m, low=0.02, unit="m")
    report.values["table"] = table
    report.figure("avatar-hand-shake", draw_all(runs))
    report.figure("avatar-hand-shake-2-hz", draw_one(runs["human", 2.0, True]))
