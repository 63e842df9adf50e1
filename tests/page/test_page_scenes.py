"""The scene picker and a robot of one's own, by `palpate touch`: each appears, moves, and nothing complains."""

from pathlib import Path

import numpy as np
import pytest
import trimesh
from browsing import Open, Tab, Watcher, wait

from palpate.scenes import SCENES

pytestmark = pytest.mark.browser
SCENE = "arm-rest"  # that is served
# The first scene of each file of scenes, and a person; what a page is told of every one: test_describe.py.
FIRST = {found.split(":")[0]: name for name, (found, _) in reversed(SCENES.items())}
PICKED = sorted({*FIRST.values(), "human"})

# Two joints and a foot; `{shape}` is that of the upper link.
ROBOT = """<robot name="{name}">
  <link name="foot">
    <visual><geometry><box size="0.2 0.2 0.1"/></geometry></visual>
  </link>
  <link name="upper">
    <inertial><mass value="2"/><origin xyz="0 0 0.2"/>
      <inertia ixx="0.03" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.2"/><geometry>{shape}</geometry></visual>
  </link>
  <joint name="turn" type="revolute">
    <parent link="foot"/><child link="upper"/><origin xyz="0 0 0.05"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="50" velocity="3"/>
  </joint>
</robot>"""


@pytest.fixture(scope="module")
def tab(served: tuple[str, Watcher], open_once: Open) -> Tab:
    return open_once(served[0])


def appears(tab: Tab, watcher: Watcher, name: str) -> None:
    """The scene is there, in the picture, and goes on; nothing complained on the way."""
    wait(lambda: watcher.hello["scene"] == name, "the session has it")
    wait(lambda: tab.page.title().startswith(watcher.hello["title"]), "the page has it")
    tab.until("connected()")
    tick = tab.ask("frame().tick")
    wait(lambda: (tab.ask("frame()") or {}).get("tick", 0) > tick, "frames flow")
    wait(lambda: tab.ask("inView()")["bodies"] > 0, "it is in the picture")
    wait(lambda: not tab.shows(".banner"), "no banner")
    wait(lambda: not tab.shows("dialog[open]"), "no dialog")
    tab.forgive_absence()  # between two scenes there is no server for a moment
    assert tab.complaints == []


def drawn(tab: Tab) -> bool:
    """There is more in the middle of the picture than a background."""
    box = tab.page.locator(".stage").bounding_box()
    middle = tab.pixels((box["x"] + 0.3 * box["width"], box["y"] + 0.2 * box["height"], 300, 250))
    return bool(np.ptp(middle.sum(axis=2)) > 60)


def test_every_file_that_the_page_names_is_there(tab: Tab) -> None:
    named = tab.page.evaluate("""() => [...document.querySelectorAll('link[href], script[src], img[src]')]
        .map((x) => x.href || x.src).filter((x) => x.startsWith('http'))""")
    assert any("favicon" in address for address in named)
    assert {address: tab.page.request.get(address).status for address in named} == dict.fromkeys(named, 200)


def test_every_scene_has_a_card_with_a_picture_and_a_sentence(tab: Tab) -> None:
    tab.page.click("[data-action=scenes]")
    cards = tab.page.locator("[data-scene]")
    assert sorted(card.get_attribute("data-scene") for card in cards.all()) == sorted(SCENES)
    assert all(SCENES[card.get_attribute("data-scene")][1] in card.inner_text() for card in cards.all())
    cards.last.scroll_into_view_if_needed()  # those far below are loaded when they come near
    loaded = "[...document.querySelectorAll('[data-scene] img')].filter((x) => x.complete && x.naturalWidth > 0).length"
    wait(lambda: tab.page.evaluate(loaded) == len(SCENES), "the pictures")
    tab.keep("scene-picker")
    tab.page.keyboard.press("Escape")
    wait(lambda: not tab.shows("dialog[open]"), "closed")


@pytest.mark.parametrize("name", PICKED)
def test_a_scene_that_is_picked_appears(tab: Tab, watcher: Watcher, name: str) -> None:
    before = watcher.hello
    tab.page.click("[data-action=scenes]")
    tab.page.click(f"[data-scene={name}]")
    wait(lambda: watcher.hello is not before, "another session")
    appears(tab, watcher, name)
    wait(lambda: drawn(tab), "it is drawn")
    tab.keep(f"scene-{name}")


def upload(tab: Tab, watcher: Watcher, field: str, files: Path | list[Path]) -> None:
    before = watcher.hello
    tab.page.click("[data-action=scenes]")
    tab.page.set_input_files(f"input[aria-label='{field} of a robot']", files)
    wait(lambda: watcher.hello is not before, "another session")


def test_a_urdf_file_of_ones_own_appears(tab: Tab, watcher: Watcher, tmp_path: Path) -> None:
    file = tmp_path / "plain.urdf"
    file.write_text(ROBOT.format(name="plain", shape='<cylinder radius="0.05" length="0.4"/>'))
    upload(tab, watcher, "files", [file])
    appears(tab, watcher, "plain")
    assert {"foot", "upper"} <= {body["name"] for body in watcher.hello["bodies"]}
    tab.keep("own-robot")


@pytest.mark.parametrize("field", ["files", "folder"])
def test_a_urdf_file_brings_its_meshes(tab: Tab, watcher: Watcher, tmp_path: Path, field: str) -> None:
    folder = tmp_path / f"meshed-{field}"
    folder.mkdir()
    trimesh.creation.cone(radius=0.1, height=0.4).export(folder / "cone.stl")
    robot = folder / f"meshed-{field}.urdf"
    robot.write_text(ROBOT.format(name="meshed", shape='<mesh filename="cone.stl"/>'))
    with tab.page.expect_response("**/mesh/0") as answer:
        upload(tab, watcher, field, folder if field == "folder" else sorted(folder.iterdir()))
    assert answer.value.ok
    appears(tab, watcher, robot.stem)
    tab.keep(f"own-robot-mesh-{field}")


def test_a_file_that_is_no_robot_is_refused_in_one_line_and_the_scene_goes_on(
    tab: Tab, watcher: Watcher, tmp_path: Path
) -> None:
    before = watcher.hello
    file = tmp_path / "broken.urdf"
    file.write_text("<robot><link")
    tab.page.click("[data-action=scenes]")
    tab.page.set_input_files("input[aria-label='files of a robot']", [file])
    wait(lambda: tab.text(".scene-line.wrong").startswith("broken.urdf: "), "told")
    assert "\n" not in tab.text(".scene-line.wrong")
    assert str(tmp_path) not in tab.text(".scene-line.wrong")
    line, dialog = (tab.page.locator(part).bounding_box() for part in (".scene-line.wrong", "dialog[open]"))
    assert dialog["y"] <= line["y"] < dialog["y"] + dialog["height"]  # where it is seen, not scrolled away
    tab.keep("own-robot-refused")
    tab.page.keyboard.press("Escape")
    assert watcher.hello is before
    appears(tab, watcher, before["scene"])
