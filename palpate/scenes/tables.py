"""An avatar, a table and a box (reference: articulated-haptics.md 6.6 with the geometry of avatars.md 4.1): it takes
the box by its sides, and whoever drags the box moves it together with the avatar."""

from __future__ import annotations

from palpate.control.avatar import Actor
from palpate.control.grasp_tables import HELD
from palpate.control.grasping import Grasping
from palpate.model.description import Body, Joint, MultiBody
from palpate.model.library import box, hrp2, human
from palpate.model.shapes import Material, Shape
from palpate.scenes.blocks import BOX_KG, BOX_SIZE_M, FRICTION_BOX_TABLE, TABLE_SIZE_M, TABLE_TOP_M
from palpate.scenes.looks import DARK_WOOD, WOOD, colour, floor, surface
from palpate.scenes.scene import Scene
from palpate.scenes.standing import DAMPING, STIFFNESS
from palpate.spatial.placement import IDENTITY, Transform, Vector3
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


def table_world(
    kind: str, friction: float = FRICTION_HAND_BOX, box_kg: float = BOX_KG, sole: str = "box", rate_hz: float = 1000.0
) -> World:
    """The avatar in its posture, table and box; joints are held by springs and dampers."""
    top = TOP_M[kind]
    avatar = hrp2(at=(NEARER_M, 0, 0), sole=sole) if kind == "hrp2" else human(at=(NEARER_M, 0, 0), sole=sole)
    carton = Material("carton", friction=friction)
    thing = box(BOX_SIZE_M, mass=box_kg, at=(BOX_X_M, 0.0, top + 0.5 * BOX_SIZE_M[2]), material=carton, color=colour(1))
    pairs = {
        ("carton", "table"): Material("carton on table", friction=FRICTION_BOX_TABLE),
        ("carton", "hand"): Material("carton in hands", friction=friction),
        ("sole", "floor"): Material("sole on floor", friction=FRICTION_FOOT_FLOOR),
    }
    ground = floor(surface(FRICTION_FOOT_FLOOR, name="floor"))
    world = World([avatar, ground, table_of(top), thing], dt=1.0 / rate_hz, pairs=pairs)
    into_posture(world, kind)
    world.hold(STIFFNESS, DAMPING)
    return world


def into_posture(world: World, kind: str, prefix: str = "") -> None:
    """Knees bent; HRP-2's grippers shut, else their tips would be the first to touch."""
    model = world.model
    posture = "half_sitting" if kind == "hrp2" else "ready"
    for joint, value in model.description.postures[posture].items():
        if joint.startswith(prefix):
            world.q[model.q_index[joint]] = value
    if kind == "hrp2":
        for joint in ("RHAND_JOINT0", "LHAND_JOINT0"):
            world.q[model.q_index[prefix + joint]] = 0.0


def taking(world: World, *, wish: int = HELD, **how: object) -> tuple[Actor, Grasping]:
    """The avatar of a table_world, with its hands."""
    actor = Actor(world)
    grasping = Grasping(actor, wish=wish, **how)  # type: ignore[arg-type]
    actor.add(grasping.part)
    return actor, grasping


def table_hrp2(sole: str = "spheres", rate_hz: float = 1000.0) -> Scene:
    """HRP-2 takes a box of 2 kg by its sides; drag it, and it comes along.  It needs 40 N (reference 4.3)."""
    world = table_world("hrp2", sole=sole, rate_hz=rate_hz)
    actor, _ = taking(world, squeeze_N=40.0)
    return Scene("table-hrp2", "HRP-2, a table and a box", world, controllers=tuple(actor.parts))


def table_human(sole: str = "spheres", rate_hz: float = 1000.0) -> Scene:
    """A person takes a box of 2 kg by its sides; drag it, and it comes along."""
    world = table_world("human", sole=sole, rate_hz=rate_hz)
    actor, _ = taking(world)
    return Scene("table-human", "a person, a table and a box", world, controllers=tuple(actor.parts))
