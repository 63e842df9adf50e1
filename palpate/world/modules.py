"""The four modules of a step, each of which a class of yours can replace: World(..., dynamics=MyDynamics()).

    dynamics    accelerations from torques and wrenches, and H^-1 times anything
    collision   where bodies touch
    contact     impulses there, with those of joint ends, dry joints and connections
    simulator   uses the three and integrates

A world with a module of yours steps in Python, through the same state: q, v, tau, apply, hold, connect, snapshot.  It
is some hundred times slower than the compiled step, so a real-time session refuses it (`why_not_compiled`).  The
defaults, in world/defaults.py, do what the compiled step does and are meant to be read and subclassed.

Every method gets the World as it is at the beginning of the step, to be read; what it returns is what changes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from palpate.collision.facade import ContactPoint
from palpate.contact.facade import SolveReport
from palpate.model.model import Floats
from palpate.world.build import Options
from palpate.world.views import Contact, StepReport

if TYPE_CHECKING:
    from palpate.world.world import World


class Dynamics(Protocol):
    """H, the inertia, has `armature` (nv,) added to its diagonal: that makes springs and dampers implicit."""

    def acceleration(self, world: World, torque: Floats, armature: Floats, wrenches: Floats) -> Floats:
        """H^-1 (torque + J^T wrenches - C v - G) (nv,); wrenches (n_bodies, 6) as `World.apply` adds them."""

    def solve(self, world: World, rhs: Floats) -> Floats:
        """H^-1 rhs, rhs (nv,) or (nv, k), with the H of the last call of `acceleration`."""


class CollisionDetector(Protocol):
    def contacts(self, world: World) -> Sequence[ContactPoint]:
        """Where bodies touch or are about to.  If one of the two does not move, it is the first."""


class Answer(NamedTuple):
    """What a CollisionHandler answers; only the first is needed."""

    impulses: Floats  # (m, 3) on body_b of each contact, world axes [N s]
    joints: Floats | None = None  # (nv,) generalised impulses besides: joint ends, dry joints, connections
    shift: Floats | None = None  # (nv,) velocities that move positions in this step and are then forgotten
    mu: Floats | None = None  # (m,) coefficients in use, to tell sticking from sliding
    solved: SolveReport | None = None


class CollisionHandler(Protocol):
    def impulses(
        self, world: World, dynamics: Dynamics, contacts: Sequence[ContactPoint], v_free: Floats, dt: float
    ) -> Answer:
        """Impulses for velocities v_free (nv,) that would come about without any."""


class Stepped(NamedTuple):
    """The next state.  If it is not finite the world stops and keeps the last one."""

    q: Floats  # (nq,)
    v: Floats  # (nv,)
    contacts: Sequence[Contact] = ()
    report: StepReport | None = None


class Simulator(Protocol):
    def step(self, world: World, dt: float) -> Stepped:
        """One step of dt; the other three are in world.modules."""


NEEDED = {
    "dynamics": ("acceleration", "solve"),
    "collision": ("contacts",),
    "contact": ("impulses",),
    "simulator": ("step",),
}


@dataclass(frozen=True)
class Modules:
    """All four, yours and defaults; `replaced` names those that are yours."""

    dynamics: Dynamics
    collision: CollisionDetector
    contact: CollisionHandler
    simulator: Simulator
    replaced: tuple[str, ...]

    @staticmethod
    def given(
        options: Options,
        dynamics: Dynamics | None,
        collision: CollisionDetector | None,
        contact: CollisionHandler | None,
        simulator: Simulator | None,
    ) -> Modules | None:
        """Those given with defaults for the others; None if none is."""
        yours: dict[str, Any] = {
            "dynamics": dynamics,
            "collision": collision,
            "contact": contact,
            "simulator": simulator,
        }
        yours = {name: module for name, module in yours.items() if module is not None}
        if not yours:
            return None
        if options.ledger:
            raise ValueError("a world with a module of its own steps in Python, where no energy ledger is kept")
        for name, module in yours.items():
            missing = [m for m in NEEDED[name] if not callable(getattr(module, m, None))]
            if missing or isinstance(module, type):
                what = (
                    f"an object of the class {module.__name__}" if isinstance(module, type) else " and ".join(missing)
                )
                raise ValueError(f"{name}={module!r} must {'be' if isinstance(module, type) else 'have'} {what}")
        from palpate.world.defaults import defaults

        return Modules(**(defaults(options) | yours), replaced=tuple(yours))

    def step(self, world: World) -> tuple[list[Contact], StepReport]:
        """Step a world in Python; its contacts and report."""
        from palpate.world.defaults import step_in_python

        return step_in_python(world, self)


def why_not_compiled(world: World) -> str | None:
    """One line for whoever needs the compiled step and cannot have it; None if it is there."""
    modules = world.modules
    if modules is None:
        return None
    names = ", ".join(f"{name}={type(getattr(modules, name)).__name__}" for name in modules.replaced)
    return (
        f"this world steps in Python ({names}), too slowly for real time; "
        "run it in simulated time, or make the World without that module"
    )
