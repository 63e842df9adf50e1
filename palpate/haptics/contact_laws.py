"""Laws of one contact of a hand: walls, frictions and keepers, by name; compiled functions that ticks call by address.

    wall      Fn [N] = law(depth, approach, dt, mass, setting, state)             pushes out; below 0 counts as 0
    friction  Ff [N] = law(travel, slide, normal, dt, mass, setting, state)       against the sliding: -Ff t on the body
    keeper    Fn [N] = law(wall, wall_setting, wall_state, depth, approach, dt, mass, setting, state)
                       a wall around another, which it calls with `call_wall`: so that it stays passive

depth     of penetration [m], > 0: a law is called only while there is contact
approach  how fast it grows, C0 [m/s]
travel    way along the surface since the contact began [m];  slide: its speed, S0 [m/s]
normal    the wall's force now [N]
dt        the sample period T [s];  mass: what the contact feels of the bodies along this direction, m_eff [kg]
setting   the law's own numbers, by `setting[i]` in the order in which the decorator names them
state     STATE numbers that the law keeps for this contact: zero when the contact begins, and once it has ended

The first two settings of a wall are its stiffness [N/m] and its damping [N s/m], those of a friction its coefficient mu
and its stiction a, so that F_C = mu Fn and F_S = (1 + a) F_C: whoever knows nothing else of a law can set these.  The
first number of a friction's state is 1 while it slips.

What is not a number ends in a fault.  A new law is one file in planar/walls, planar/frictions or planar/keepers and one
line below, or an entry point of the group "palpate.walls", "palpate.frictions" or "palpate.keepers" of another package.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from palpate.jit import kernel
from palpate.jit.decorators import DISABLED
from palpate.jit.laws import NUMBER, Law, number_at
from palpate.registry import Registry, find

SETTINGS, STATE = 16, 16  # numbers in a law's rows
SLIPS = 0  # place in a friction's state: 1 while it slips

WALLS: Registry = {
    "zoh": ("palpate.planar.walls.zoh:zoh", "spring and damper, sampled and held: active, as its hold is late"),
    "seh": ("palpate.planar.walls.seh:seh", "sample, estimate, hold: almost lossless, never more"),
    "pi": ("palpate.planar.walls.pi:pi", "with an integral: no depth at rest, active where it is strong"),
    "hysteretic": ("palpate.planar.walls.hysteretic:hysteretic", "springs on sliding blocks: loses energy, rests deep"),
    "pulse": ("palpate.planar.walls.pulse:pulse", "a braking pulse at the first touch, then a spring: settles at once"),
}
FRICTIONS: Registry = {
    "classical": ("palpate.planar.frictions.classical:classical", "switches on velocity: creeps below break-away"),
    "karnopp": ("palpate.planar.frictions.karnopp:karnopp", "sticks on a stiff spring to an anchor; no drift"),
    "dahl": ("palpate.planar.frictions.dahl:dahl", "Dahl's as stick and slip: soft, no drift"),
    "dahl-original": ("palpate.planar.frictions.dahl_original:dahl_original", "Dahl's as it was: drifts"),
    "finger-pad": ("palpate.planar.frictions.finger_pad:finger_pad", "sticks as a fingertip does in shear: soft"),
    "reset-integrator": ("palpate.planar.frictions.reset_integrator:reset_integrator", "crisp, no drift, damped stick"),
    "lugre": ("palpate.planar.frictions.lugre:lugre", "bristles and Stribeck's curve: drifts, can be active"),
    "elasto-plastic": ("palpate.planar.frictions.elasto_plastic:elasto_plastic", "LuGre's bristles without drift"),
}
KEEPERS: Registry = {
    "virtual-coupling": (
        "palpate.planar.keepers.virtual_coupling:virtual_coupling", "a tool on a spring between device and wall"
    ),
    "passivity-controller": (
        "palpate.planar.keepers.passivity_controller:passivity_controller", "damps where the wall gave too much"
    ),
    "energy-bounding": (
        "palpate.planar.keepers.energy_bounding:energy_bounding", "no more than the device's own damping pays for"
    ),
}  # fmt: skip

ADDRESS, ROW = "intp", "CPointer(float64)"


class ContactLaw(Law):
    """A wall, friction or keeper; `defaults` are its settings by name, in their order.

    passive   whether it claims never to give more energy than it took (the contract tests hold it to its word)
    """

    kind: ClassVar[str]
    group: ClassVar[tuple[Registry, str]]
    numbers: ClassVar[tuple[str, ...]]  # that it takes, before setting and state
    addresses: ClassVar[int] = 0  # of law and rows that it is around

    def __init__(self, function: Callable[..., Any], passive: bool, defaults: dict[str, float]) -> None:
        self.passive, self.defaults = passive, defaults
        if len(defaults) > SETTINGS:
            raise TypeError(f"a {self.kind} law has {SETTINGS} settings at most, {function.__name__!r} {len(defaults)}")
        around = (ADDRESS, ROW, ROW) if self.addresses else ()
        super().__init__(function, (*around, *(NUMBER,) * len(self.numbers), ROW, ROW))

    def row(self, **settings: float) -> np.ndarray:
        """(SETTINGS,) its settings, those not given as they are by default; ValueError for one that it has not."""
        if unknown := sorted(set(settings) - set(self.defaults)):
            known = ", ".join(self.defaults) or "none"
            raise ValueError(f"the {self.kind} {self.name!r} has no setting {unknown[0]!r}; it has: {known}")
        row = np.zeros(SETTINGS)
        row[: len(self.defaults)] = list((self.defaults | settings).values())
        if not np.isfinite(row).all():
            raise ValueError(f"the settings of the {self.kind} {self.name!r} must be finite, got {settings}")
        return row

    @cached_property
    def _call(self) -> Callable[..., float]:
        if DISABLED:
            return self.function
        kinds: dict[str, Any] = {NUMBER: ctypes.c_double, ADDRESS: ctypes.c_ssize_t, ROW: ctypes.c_void_p}
        return ctypes.CFUNCTYPE(ctypes.c_double, *(kinds[taken] for taken in self.takes))(self.address)

    def __call__(self, *arguments: Any) -> float:
        """As compiled code calls it; rows are arrays (SETTINGS,) and (STATE,), and may be left out."""
        missing = len(self.takes) - len(arguments)
        rows = [self.row(), np.zeros(STATE)][2 - missing :] if missing else []
        given = [*arguments, *rows]
        return float(self._call(*given if DISABLED else (getattr(x, "ctypes", x) for x in given)))


class WallLaw(ContactLaw):
    """Made by `wall_law`."""

    kind, group = "wall", (WALLS, "walls")
    numbers = ("depth", "approach", "dt", "mass")


class FrictionLaw(ContactLaw):
    """Made by `contact_friction`."""

    kind, group = "friction", (FRICTIONS, "frictions")
    numbers = ("travel", "slide", "normal", "dt", "mass")


class KeeperLaw(ContactLaw):
    """Made by `keeper_law`."""

    kind, group = "keeper", (KEEPERS, "keepers")
    numbers, addresses = WallLaw.numbers, 1


def wall_law(passive: bool = False, **defaults: float) -> Callable[[Callable[..., float]], WallLaw]:
    """Decorator: a function of (depth, approach, dt, mass, setting, state) as a wall; `defaults`: its settings::

        @pp.wall_law(stiffness_N_m=2500.0, damping_Ns_m=0.0)
        def my_wall(depth, approach, dt, mass, setting, state):
            return setting[0] * depth + setting[1] * approach

    It is compiled: it may use `math` and kernels, but not allocate or raise; what is not a number is a fault.
    """
    return lambda function: WallLaw(function, passive, defaults)


def contact_friction(passive: bool = False, **defaults: float) -> Callable[[Callable[..., float]], FrictionLaw]:
    """Decorator: a function of (travel, slide, normal, dt, mass, setting, state) as a friction; see `wall_law`."""
    return lambda function: FrictionLaw(function, passive, defaults)


def keeper_law(passive: bool = True, **defaults: float) -> Callable[[Callable[..., float]], KeeperLaw]:
    """Decorator: a function of (wall, wall_setting, wall_state, depth, approach, dt, mass, setting, state)."""
    return lambda function: KeeperLaw(function, passive, defaults)


def find_contact_law(kind: type[ContactLaw], which: str | ContactLaw) -> Any:
    """A law of a kind, by its name or as it is."""
    registry, group = kind.group
    found = find(registry, group, which) if isinstance(which, str) else which
    if not isinstance(found, kind):
        raise ValueError(f"a {kind.kind} must be a name or made with its decorator, got {which!r:.80}")
    return found


@kernel
def pushing(force):
    """A wall only pushes: what is below 0 counts as 0.  What is not a number stays so."""
    return 0.0 if force < 0.0 else force


@kernel
def call_wall(address, depth, approach, dt, mass, setting, state):
    """The wall at an address; rows as arrays, or as pointers where a keeper has them."""
    return number_at(address, (depth, approach, dt, mass, setting, state))


@kernel
def call_friction(address, travel, slide, normal, dt, mass, setting, state):
    """The friction at an address."""
    return number_at(address, (travel, slide, normal, dt, mass, setting, state))


@kernel
def call_keeper(address, wall, wall_setting, wall_state, depth, approach, dt, mass, setting, state):
    """The keeper at an address, around the wall at another."""
    return number_at(address, (wall, wall_setting, wall_state, depth, approach, dt, mass, setting, state))
