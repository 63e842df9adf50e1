"""Grasping: the hands of an avatar, and one object that they may take (control/grasp/grasp.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from palpate.control.avatar import Actor
from palpate.control.grasp.grasp import forget_grasp, grasp
from palpate.control.grasp.grasp_forces import MOST_N
from palpate.control.grasp.grasp_tables import FREE, LIFTED, OBJECT_FORM, REASONS, STATES, Grasp
from palpate.control.grasp.object_form import joint_form, object_form
from palpate.control.grasp.palms import two_palms
from palpate.control.part import ControlPart, Setting, Shown
from palpate.dynamics.workspace import workspace
from palpate.frame import Field
from palpate.jit import Block
from palpate.model.description import MultiBody

WISHES = ("let go", "hold", "lift")  # FREE, HELD and LIFTED, as buttons
SQUEEZE_N, LIFT_M, FRICTION, PULL_LIMIT_N = 20.0, 0.05, 0.8, 60.0
HAND_M_S = 0.4  # that the object form may lead the palms at
MARGIN = 1.25  # of the squeeze over the least that holds the weight by friction (reference 4.3)


class Grasping:
    """What two palms may take, and how; `arrays.wish` says what is wanted: FREE, HELD or LIFTED.

    body           the object: a box that moves freely
    squeeze_N      of each palm; None: enough for its weight, and at least 20 N
    friction       between palm and object, as far as it is known
    damping_Ns_m   of the object form: what a hand that leads it feels
    trunk          joints of the trunk that take part (palms.two_palms)
    at, share      where on it the palms go, in its axes [m], and the part of its weight that they bear
    listens        what the object does to the palms leads them, too: a follower's
    balanced       another part bears the weight of arms and trunk
    wish           at the start, and after a reset
    """

    def __init__(
        self,
        actor: Actor,
        body: str = "box",
        *,
        squeeze_N: float | None = None,
        lift_m: float = LIFT_M,
        friction: float = FRICTION,
        damping_Ns_m: float = 30.0,
        pull_limit_N: float = PULL_LIMIT_N,
        trunk: tuple[str, ...] | None = None,
        elbow_m: float | None = None,
        form: int = OBJECT_FORM,
        share: float = 1.0,
        at: tuple[float, float, float] = (0.0, 0.0, 0.0),
        listens: bool = False,
        balanced: bool = False,
        wish: int = FREE,
    ) -> None:
        world, model = actor.world, actor.world.model
        half, mass = box_of(model.description, body)
        weight = mass * float(np.linalg.norm(model.arrays.gravity)) * share
        least = max(SQUEEZE_N, MARGIN * weight / (2.0 * friction))
        if squeeze_N is not None and not 0.0 < squeeze_N <= MOST_N:
            raise ValueError(f"squeeze_N must be above 0 and at most {MOST_N:g} N, got {squeeze_N!r}")
        self.actor, self.body = actor, body
        self.palms = two_palms(actor, trunk, elbow_m)
        self.compliance = object_form(world.dt, HAND_M_S)
        self.compliance.damping_Ns_m = damping_Ns_m
        self.joints = joint_form(self.palms)
        nq, nv = model.nq, model.nv
        self.arrays = Grasp(
            wish=wish, wish_start=wish, squeeze_N=least if squeeze_N is None else squeeze_N, lift_m=lift_m, form=form,
            loops=1, answers=1, watches=1, bears=not balanced, listens=listens, turns=share == 1.0,
            at=at, go_way=(0.0, 1.0, 0.0), friction=friction, pull_limit_N=pull_limit_N,
            body=model.body(body), half=half, weight_N=weight, leg_s=1.0, sign=1.0,
            touched=np.zeros(2, dtype=np.int64), taken_at=np.zeros((2, 3)), from_p=np.zeros((2, 3)),
            from_turn=np.zeros((2, 4)), to_p=np.zeros((2, 3)), to_turn=np.zeros((2, 4)), home_p=np.zeros((2, 3)),
            home_turn=np.zeros((2, 4)),
            q_rest=world.arrays.state.q_hold.copy(), q_from=np.zeros(nq), way=np.zeros(nv),
            load=np.zeros((model.n_links, 6)),
        )  # fmt: skip
        self._work = workspace(model)
        self.block = Block(actor.avatar, self._work, self.palms, self.compliance, self.joints, self.arrays)

    @property
    def state(self) -> str:
        """By name."""
        return STATES[self.arrays.state]

    @property
    def why(self) -> str:
        """Why it let go last, in words; "" while it holds, or never did."""
        return REASONS[self.arrays.why]

    @property
    def part(self) -> ControlPart:
        """For Actor.add."""
        actor, g, o = self.actor, self.arrays, self.compliance
        name = actor.field_prefix
        shows = tuple(
            Shown(each._replace(name=name + each.name), struct, of)
            for struct, fields in ((g, SHOWN), (o, FELT)) for of, each in fields.items()
        )  # fmt: skip
        settings = (
            Setting(f"{name}grasp", FREE, LIFTED, g, "wish", whole=True),
            Setting(f"{name}squeeze", 5.0, MOST_N, g, "squeeze_N", label="Squeeze", unit="N", step=1.0,
                    about="of each palm", field=f"{name}grasp_squeeze_N"),
            Setting(f"{name}damping", 1.0, 500.0, o, "damping_Ns_m", label="Damping of what is held", unit="N s/m",
                    step=1.0, about="what a hand that leads it feels", field=f"{name}led_damping_Ns_m"),
            Setting(f"{name}stiffness", 0.0, 1000.0, o, "stiffness_N_m", label="Stiffness of what is held", unit="N/m",
                    step=10.0, about="0: it stays where it is led", field=f"{name}led_stiffness_N_m"),
            Setting(f"{name}lead", -0.15, 0.15, g, "go_m", label="Lead what is carried", unit="m", step=0.05,
                    about="along y, from where it was taken", field=f"{name}lead_m"),
        )  # fmt: skip
        return ControlPart(
            "grasp", grasp, self.block, reset=forget_grasp, world=actor.avatar.world, shows=shows, settings=settings,
            hello=self.hello,
        )  # fmt: skip

    def hello(self) -> dict[str, Any]:
        """Buttons for its wish, unless behaviours have it."""
        if any(part.name.startswith("behaviours") for part in self.actor.parts):
            return {}
        prefix = self.actor.field_prefix
        return {"avatars": [{"prefix": prefix, "event": f"{prefix}grasp", "commands": list(WISHES)}]}


# a frame's fields, by the number of Grasp and of ObjectForm that they are
SHOWN = {
    "state": Field("grasp_state", "i", (), "what the hands do: " + ", ".join(f"{k} {x}" for k, x in enumerate(STATES))),
    "why": Field("grasp_why", "i", (), "why they let go last: " + ", ".join(f"{k} {x}" for k, x in enumerate(REASONS))),
    "wish": Field("grasp_wish", "f", (), "what is wanted of them: 0 free, 1 hold, 2 lift"),
    "squeeze_N": Field("grasp_squeeze_N", "f", (), "wanted of each palm [N]"),
    "squeeze_now_N": Field("grasp_now_N", "f", (), "fed forward to each palm [N]"),
    "go_m": Field("lead_m", "f", (), "where it leads what it carries, along y [m]"),
    "felt": Field("grasp_felt", "f", (3,), "of what is held on the palms, beyond its weight [N]"),
    "slip_m": Field("grasp_slip_m", "f", (), "of the palms against what they hold, since they took it [m]"),
}
FELT = {
    "force": Field("led_force", "f", (3,), "of hands on what is held [N]"),
    "damping_Ns_m": Field("led_damping_Ns_m", "f", (), "of what is held"),
    "stiffness_N_m": Field("led_stiffness_N_m", "f", (), "of what is held"),
}


def box_of(description: MultiBody, body: str) -> tuple[tuple[float, float, float], float]:
    """(half edges [m], mass [kg]) of a body with one box that is touched."""
    found = next((b for b in description.bodies if b.name == body), None)
    if found is None:
        raise ValueError(f"there is no body {body!r} to take")
    shapes = [shape for shape in found.shapes if shape.role != "visual"]
    if len(shapes) != 1 or shapes[0].kind != "box":
        raise ValueError(f"palms are found on the sides of a box; {body!r} is none")
    x, y, z = shapes[0].size
    return (0.5 * x, 0.5 * y, 0.5 * z), found.mass
