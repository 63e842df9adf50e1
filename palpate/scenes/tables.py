"""An avatar, a table and a box (reference 6.6, with the geometry of the avatars' reference 4.1): it takes
the box by its sides, and whoever drags the box moves it together with the avatar."""

from __future__ import annotations

import math

from palpate.control.avatar import Actor
from palpate.control.balance.balancing import Balancing
from palpate.control.grasp.grasp_tables import HELD, LIFTED
from palpate.control.grasp.grasping import Grasping
from palpate.control.grasp.roles import Sharing
from palpate.control.part import ControlPart
from palpate.model.description import Body, Joint, MultiBody
from palpate.model.library import box, hrp2, human
from palpate.model.shapes import Material, Shape
from palpate.scenes.blocks import BOX_KG, BOX_SIZE_M, FRICTION_BOX_TABLE, TABLE_SIZE_M, TABLE_TOP_M
from palpate.scenes.looks import DARK_WOOD, WOOD, colour, floor, surface
from palpate.scenes.scene import Scene
from palpate.scenes.standing import DAMPING, STIFFNESS, into_posture
from palpate.spatial.placement import IDENTITY, Rotation, Transform, Vector3
from palpate.world.world import World

FRICTION_FOOT_FLOOR, FRICTION_HAND_BOX = 0.7, 0.8
NEARER_M = 0.09  # than the published geometry has it: HRP-2's arm of 0.50 m would have to stretch 0.525 m
BOX_X_M = 0.42
TOP_M = {"hrp2": 0.75, "human": 1.00}  # the human's wrist would be 0.615 m below a shoulder whose arm is 0.55 m


def table_of(top_m: float, at: tuple[float, float] = TABLE_TOP_M[:2], size: Vector3 = TABLE_SIZE_M) -> MultiBody:
    """A table whose top is that high; its legs are only seen."""
    x, y, z = size
    leg = top_m - z
    shapes = [Shape("box", size, IDENTITY, surface(FRICTION_BOX_TABLE, name="table"), color=WOOD)]
    for sx in (-1.0, 1.0):
        for sy in (-1.0, 1.0):
            foot = Transform(p=(sx * (0.5 * x - 0.04), sy * (0.5 * y - 0.04), -0.5 * (z + leg)))
            shapes.append(Shape("box", (0.04, 0.04, leg), foot, role="visual", color=DARK_WOOD))
    place = Transform(p=(at[0], at[1], top_m - 0.5 * z))
    return MultiBody(
        "table", (Body("table", shapes=tuple(shapes)),), (Joint("table", "fixed", "world", "table", place),)
    )


def pairs_of(friction: float) -> dict[tuple[str, str], Material]:
    """Of what is held with hands, of what lies, and of what stands."""
    return {
        ("carton", "table"): Material("carton on table", friction=FRICTION_BOX_TABLE),
        ("carton", "hand"): Material("carton in hands", friction=friction),
        ("sole", "floor"): Material("sole on floor", friction=FRICTION_FOOT_FLOOR),
    }


def table_world(
    kind: str, friction: float = FRICTION_HAND_BOX, box_kg: float = BOX_KG, sole: str = "box", rate_hz: float = 1000.0
) -> World:
    """The avatar in its posture, table and box; joints are held by springs and dampers."""
    top = TOP_M[kind]
    avatar = hrp2(at=(NEARER_M, 0, 0), sole=sole) if kind == "hrp2" else human(at=(NEARER_M, 0, 0), sole=sole)
    carton = Material("carton", friction=friction)
    thing = box(BOX_SIZE_M, mass=box_kg, at=(BOX_X_M, 0.0, top + 0.5 * BOX_SIZE_M[2]), material=carton, color=colour(2))
    ground = floor(surface(FRICTION_FOOT_FLOOR, name="floor"))
    world = World([avatar, ground, table_of(top), thing], dt=1.0 / rate_hz, pairs=pairs_of(friction))
    into_posture(world, kind)
    world.hold(STIFFNESS, DAMPING)
    return world


def taking(world: World, *, wish: int = HELD, balanced: bool = False, **how: object) -> tuple[Actor, Grasping]:
    """The avatar of a table_world, with its hands, on its springs or in balance; how: of Grasping."""
    actor = Actor(world)
    if balanced:  # the waist upright: a chest that is kept so would fight the waist's yaw
        actor.add(Balancing(actor, upright="waist").part)
    grasping = Grasping(actor, wish=wish, balanced=balanced, **how)  # type: ignore[arg-type]
    actor.add(grasping.part)
    return actor, grasping


PLANK_SIZE_M, PLANK_KG = (1.20, 0.30, 0.08), 3.0
PLANK_AT_M = 0.45  # of the palms from its middle, along it
STAND_X_M, STAND_SIZE_M = 0.15, (0.10, 0.40, 0.03)
APART_M = PLANK_AT_M + BOX_X_M - NEARER_M  # of each avatar from the middle
PLANK_SQUEEZE_N, PLANK_DAMPING_NS_M = 40.0, 30.0


def carry_world(
    kind: str = "human", plank_kg: float = PLANK_KG, friction: float = FRICTION_HAND_BOX, rate_hz: float = 1000.0
) -> World:
    """Two avatars face each other, a plank on two stands between them."""
    make = hrp2 if kind == "hrp2" else human
    back = Rotation.about((0, 0, 1), math.pi)
    first, second = make(at=(-APART_M, 0, 0)), make(at=(APART_M, 0, 0), R=back)
    middle = TOP_M[kind] + 0.5 * BOX_SIZE_M[2]
    wood = Material("carton", friction=friction)
    plank = box(PLANK_SIZE_M, mass=plank_kg, at=(0, 0, middle), material=wood, name="plank", color=colour(5))
    stands = [table_of(middle - 0.5 * PLANK_SIZE_M[2], (x, 0.0), STAND_SIZE_M) for x in (-STAND_X_M, STAND_X_M)]
    ground = floor(surface(FRICTION_FOOT_FLOOR, name="floor"))
    world = World([first, second, ground, *stands, plank], dt=1.0 / rate_hz, pairs=pairs_of(friction))
    for prefix in ("", f"{kind}.2/"):
        into_posture(world, kind, prefix)
    world.hold(STIFFNESS, DAMPING)
    return world


def carrying(
    world: World, *, leader: int = 0, wish: int = LIFTED, balanced: bool = False,
    damping_Ns_m: float = PLANK_DAMPING_NS_M, squeeze_N: float = PLANK_SQUEEZE_N, shares: bool = True,
) -> tuple[list[Actor], list[Grasping]]:  # fmt: skip
    """Both avatars of a carry_world, at the ends of the plank; the one that does not lead listens to its palms.

    shares  they change roles when the other is told to lead, or pushes
    """
    second = next(name for name in world.parts if name.endswith(".2"))
    actors = [Actor(world, prefix, number=k) for k, prefix in enumerate(("", f"{second}/"))]
    hands = []
    for k, actor in enumerate(actors):
        if balanced:
            actor.add(Balancing(actor, upright="waist").part)
        at = (PLANK_AT_M * (1.0 if k else -1.0), 0.0, 0.0)
        hands.append(Grasping(
            actor, "plank", at=at, share=0.5, listens=k != leader, wish=wish, squeeze_N=squeeze_N,
            damping_Ns_m=damping_Ns_m, balanced=balanced,
        ))  # fmt: skip
        actor.add(hands[-1].part)
    if shares:
        actors[1].add(Sharing(hands[0], hands[1], leader).part)
    return actors, hands


def carry_two(rate_hz: float = 1000.0) -> Scene:
    """Two persons carry a plank: lead it, or tell one of them to."""

    def act(world: World) -> list[ControlPart]:
        actors, _ = carrying(world, balanced=True)
        return [part for actor in actors for part in actor.parts]

    return Scene("carry-two", "two persons carry a plank", carry_world(rate_hz=rate_hz), controllers=(act,))


def table_hrp2(sole: str = "spheres", rate_hz: float = 1000.0) -> Scene:
    """HRP-2 takes a box of 2 kg by its sides; drag it, and it comes along.  It needs 40 N (reference 4.3)."""
    world = table_world("hrp2", sole=sole, rate_hz=rate_hz)
    return Scene("table-hrp2", "HRP-2, a table and a box", world,
                 controllers=(lambda world: taking(world, squeeze_N=40.0, balanced=True)[0].parts,))  # fmt: skip


def table_human(sole: str = "spheres", rate_hz: float = 1000.0) -> Scene:
    """A person takes a box of 2 kg by its sides; drag it, and it comes along."""
    world = table_world("human", sole=sole, rate_hz=rate_hz)
    return Scene("table-human", "a person, a table and a box", world,
                 controllers=(lambda world: taking(world, balanced=True)[0].parts,))  # fmt: skip
