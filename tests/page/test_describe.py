"""What a page is told of a scene: coordinates that can be plotted, and where everything begins."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import trimesh

import palpate as pp
from palpate.control.plans.modes import MODES
from palpate.frame import DEVICE_COUNTERS
from palpate.haptics.devices.simulation.simulated import Simulated
from palpate.haptics.guard import STATES
from palpate.haptics.reach import Reach, Reaching
from palpate.model.description import Body, Joint, MultiBody
from palpate.model.shapes import Shape
from palpate.registry import find
from palpate.runtime.hello import hello_of
from palpate.runtime.world.events import MOST_TIMES
from palpate.runtime.world.meshes import write_meshes
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes import SCENES
from palpate.scenes.arm import arm, arm_line
from palpate.scenes.scene import Scene
from palpate.servo.simulation import Simulation
from palpate.world.world import World

PAGE = Path(__file__).parents[2] / "web" / "src" / "devices.ts"


def hello(scene: Scene | Simulation, *devices: Reaching) -> dict:
    engine = WorldSimulation(scene, devices=devices) if isinstance(scene, Scene) else scene
    try:
        return json.loads(json.dumps(hello_of(engine), allow_nan=False))
    finally:
        engine.close()


def mixed() -> World:
    """Free, spherical, universal, prismatic and revolute joints in one chain, only the last one held."""
    kinds = ["free", "spherical", "universal", "prismatic", "revolute"]
    bodies = tuple(Body(kind, 1.0, inertia=(0.1, 0.1, 0.1)) for kind in kinds)
    joints = tuple(Joint(kind, kind, parent, kind) for parent, kind in zip(["world", *kinds], kinds, strict=False))
    world = World([MultiBody("chain", bodies, joints)], dt=1e-3)
    world.hold(100.0, 1.0, joints=["revolute"])
    return world


def test_only_angles_and_lengths_are_axes_and_their_index_is_that_of_q() -> None:
    world = mixed()
    axes = hello(Scene("mixed", "all kinds", world))["axes"]
    assert [(a["name"], a["unit"]) for a in axes] == [
        ("universal.1", "rad"), ("universal.2", "rad"), ("prismatic", "m"), ("revolute", "rad"),
    ]  # fmt: skip
    assert [a["index"] for a in axes] == [11, 12, 13, 14]
    assert [a["held"] for a in axes] == [False, False, False, True]


def test_an_axis_on_a_plan_is_held_and_the_start_is_that_of_the_plan() -> None:
    scene = arm()
    said = hello(scene)
    assert scene.plan is not None
    assert [a["held"] for a in said["axes"]] == [True] * 6
    X = pp.forward_kinematics(scene.model, scene.plan.q[0])
    start = np.array(said["start"])
    assert start.shape == (scene.model.n_bodies, 7)
    assert np.abs(start[:, :3] - X[:, :3, 3]).max() < 1e-5
    assert np.abs(np.linalg.norm(start[:, 3:], axis=1) - 1.0).max() < 1e-5


def test_devices_are_named_with_their_limits_in_the_order_of_the_frame() -> None:
    scene = Scene("ball", "a ball", World(pp.models.ball()))
    assert hello(scene)["devices"] == []
    made = [Simulated("phantom-premium-1.5"), Simulated("touch")]
    reaching = [Reaching(scene.world, d.spec, d.in_tick, Reach(), real_time=False) for d in made]
    said = hello(scene, *reaching)
    assert said["devices"] == [{"name": d.spec.name, "force_limit_N": d.spec.force_limit_N} for d in made]
    assert said["sizes"]["n_devices"] == 2


@pytest.mark.parametrize(("table", "names"), [("GUARD_STATES", STATES), ("DEVICE_COUNTER_WORDS", DEVICE_COUNTERS)])
def test_the_page_has_words_for_what_a_guard_does_in_its_order(table: str, names: tuple[str, ...]) -> None:
    written = re.search(rf"{table} = {{(.*?)}} as const", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert written is not None
    assert tuple(re.findall(r"^  (\w+):", written[1], re.MULTILINE)) == names


def test_what_can_be_touched_moved_and_added_is_told_apart() -> None:
    said = hello(arm_line())
    bodies = {body["name"]: body for body in said["bodies"]}
    assert said["obstacles"] == ["obstacle", "wall"]
    assert said["tool"] == "tool"
    assert said["edit_modes"] == list(MODES)
    for name in ("obstacle", "obstacle2"):
        assert bodies[name]["movable"]
        assert not bodies[name]["touchable"]
    assert [name for name, body in bodies.items() if body["spare"]] == ["obstacle2", "obstacle3", "obstacle4"]
    assert bodies["link2"]["touchable"]
    assert not bodies["link2"]["movable"]
    assert not bodies["wall"]["movable"]
    assert not bodies["wall"]["touchable"]


def test_the_page_is_told_what_to_plot_to_set_and_to_send_in_a_world() -> None:
    said = hello(arm_line())
    assert [(p["name"], p["title"], p["unit"]) for p in said["plots"]] == [
        ("joints", "Joint angles", "rad"), ("force", "Force of the hand", "N"), ("energy", "Energy", "J"),
        ("contacts", "Contacts", "points"), ("lateness", "Latest tick", "µs, below"),
    ]  # fmt: skip
    joints = said["plots"][0]["series"]
    assert [(s["field"], s["index"], s["wanted"]) for s in joints] == [("q", i, "plan_q") for i in range(6)]
    assert [s["label"] for s in said["plots"][2]["series"]] == ["kinetic", "potential", "work of hands"]
    assert [(s["event"], s["field"], s["value"]) for s in said["settings"]] == [
        ("gravity", "gravity", 1.0), ("friction", "friction", 1.0),
    ]  # fmt: skip
    assert set(said["events"]) == {"play", "pause", "step", "reset", "speed", "mode", "gravity", "friction", "place"}
    assert said["events"]["gravity"]["high"] == said["events"]["friction"]["high"] == MOST_TIMES
    movable = [row for row, body in enumerate(said["bodies"]) if body["movable"]]
    assert said["events"]["place"]["bodies"] == movable
    assert said["panels"] == ["touch", "contacts", "edit", "things", "scenes", "lab"]


def test_a_mixed_tree_is_plotted_in_its_units_and_only_what_is_held_is_wanted_somewhere() -> None:
    said = hello(Scene("mixed", "all kinds", mixed()))["plots"][0]
    assert (said["title"], said["unit"]) == ("Joints", "° or m")
    assert [(s["unit"], "wanted" in s) for s in said["series"]] == [
        ("rad", False), ("rad", False), ("m", False), ("rad", True),
    ]  # fmt: skip


def test_every_scene_can_be_chosen_and_says_what_it_is() -> None:
    said = hello(Scene("ball", "a ball", World(pp.models.ball())))
    assert {card["name"] for card in said["scenes"]} == set(SCENES)
    assert all(card["about"] for card in said["scenes"])
    assert said["edit_modes"] == []
    assert said["tool"] is None


# ---- meshes


def mesh_world(*scales: tuple[float, float, float], folder: Path) -> World:
    file = folder / "corner.stl"
    file.write_bytes(trimesh.creation.box((1.0, 2.0, 3.0)).export(file_type="stl"))
    shapes = tuple(Shape("mesh", scale, mesh=file, role="visual") for scale in scales)
    body = Body("thing", 1.0, inertia=(0.1, 0.1, 0.1), shapes=shapes)
    return World(MultiBody("thing", (body,), (Joint("free", "free", "world", "thing"),)))


def test_shapes_with_one_mesh_at_one_scale_share_a_file(tmp_path: Path) -> None:
    scales = ((1.0, 1.0, 1.0), (0.1, 0.1, 0.1), (1.0, 1.0, 1.0))
    scene = Scene("mesh", "a mesh", mesh_world(*scales, folder=tmp_path))
    shapes = hello(scene)["bodies"][-1]["shapes"]
    assert [shape["mesh"] for shape in shapes] == [0, 1, 0]
    files = write_meshes(scene.model, tmp_path)
    assert len(files) == 2
    for file, size in zip(files, (1.0, 0.1), strict=True):
        vertices, triangles = read_mesh(file)
        assert np.ptp(vertices, axis=0) == pytest.approx((size, 2.0 * size, 3.0 * size), rel=1e-6)
        assert signed_volume(vertices, triangles) == pytest.approx(6.0 * size**3, rel=1e-5)


def test_a_mirrored_mesh_is_not_inside_out(tmp_path: Path) -> None:
    scene = Scene("mesh", "a mesh", mesh_world((1.0, -1.0, 1.0), folder=tmp_path))
    assert signed_volume(*read_mesh(write_meshes(scene.model, tmp_path)[0])) == pytest.approx(6.0, rel=1e-5)


def read_mesh(file: str) -> tuple[np.ndarray, np.ndarray]:
    words = np.frombuffer(Path(file).read_bytes(), dtype="<u4")
    n, m = int(words[0]), int(words[1])
    assert len(words) == 2 + 3 * n + 3 * m
    return words[2 : 2 + 3 * n].view("<f4").reshape(n, 3).astype(float), words[2 + 3 * n :].reshape(m, 3)


def signed_volume(vertices: np.ndarray, triangles: np.ndarray) -> float:
    """[m^3] Positive if the triangles face outwards."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


@pytest.mark.parametrize("name", SCENES)
def test_every_scene_tells_a_page_what_to_draw_and_what_can_be_touched(name: str) -> None:
    said = hello(find(SCENES, "scenes", name)())
    assert said["scene"] == name
    assert said["title"]
    assert any(body["shapes"] for body in said["bodies"])
    assert any(body["touchable"] for body in said["bodies"])
