"""Scenes too large for one datagram across a link, and what controllers publish and take there.

A state crosses in parts; whatever the network does to them, what is shown is one state, whole and not older than what
was shown before.
"""

from __future__ import annotations

import contextlib
import time

import numpy as np
import pytest
from toy_avatar import COMMANDS, ToyAvatar, standing
from waiting import until

import palpate as pp
from palpate import jit
from palpate.bench.avatars import STORIES
from palpate.frame import COUNTERS, Field
from palpate.link import LinkError
from palpate.link.impair import Impairments
from palpate.link.keys import PUBLIC_KEY
from palpate.link.sockets import bind, connect
from palpate.link.wire import HEAD, HELLO, LARGEST_REST, LARGEST_SCENE, PAYLOAD, VERSION, WELCOME, Wire
from palpate.registry import find
from palpate.runtime.hello import hello_of
from palpate.runtime.link.reflected import words_of
from palpate.runtime.link.sessions import Remote, RemoteSession, Serving
from palpate.runtime.link.simulated import SimulatedLink
from palpate.scenes import SCENES
from palpate.scenes.scene import Scene
from palpate.scenes.tables import carry_two

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")
HERE = "127.0.0.1"
SWAYS = [f"{prefix}_capture_point" for prefix in ("avatar", "avatar2")]


def crowd(boxes: int = 30) -> Scene:
    """Boxes that drift apart, and two avatars of which a toy tells, each of its own."""
    at = [(0.5 * (k % 6), 0.5 * (k // 6), 0.5) for k in range(boxes)]
    bodies = [pp.models.box((0.1, 0.1, 0.1), at=p, name=f"box{k}") for k, p in enumerate(at)]
    world = pp.World(bodies, gravity=(0, 0, 0), dt=1e-3)
    world.v = 0.01 * np.random.default_rng(7).normal(size=world.model.nv)
    toys = (ToyAvatar(standing(), sway_m=0.05), ToyAvatar(standing((1.0, 0.0)), 2, sway_m=0.02))
    return Scene("crowd", "A crowd", world, controllers=toys)


def linked(back: Impairments | None = None, seconds: float = 1.0, **options) -> SimulatedLink:
    link = SimulatedLink(crowd(), crowd(), back=back, **options)
    link.run(seconds)
    return link


def is_of_one_tick(link: SimulatedLink) -> np.ndarray:
    """The ticks whose states the hand's end showed: every field of an avatar is that of the tick that it tells of."""
    known = {tick: k for k, tick in enumerate(link.history("tick").tolist())}
    begin = int(
        np.argmax(link.history("avatar_support_count", hand=True) > 0)
    )  # before the first state nothing is known
    assert begin < 20
    ticks = link.history("tick", hand=True)[begin:]
    rows = [known[tick] for tick in ticks.tolist()]
    names = [field.name for toy in crowd().controllers for field in toy.fields]
    for name in names:
        assert np.array_equal(link.history(name, hand=True)[begin:], link.history(name)[rows]), name
    return ticks


# ---- parts


def test_a_scene_of_several_parts_is_mirrored_to_the_last_bit():
    """403 coordinates and velocities, and what two avatars publish."""
    link = linked()
    mirror, scene = link.hand.mirror, crowd()
    assert mirror.parts == -(-(scene.model.nq + scene.model.nv + words_of(scene)) // LARGEST_REST) >= 4
    assert np.array_equal(mirror.q, link.history("q")[-1])
    assert np.array_equal(mirror.v, link.history("v")[-1])
    ticks = is_of_one_tick(link)
    assert np.ptp(link.history(SWAYS[0], hand=True)[1:, 0]) > 0.04  # it was not always the same
    assert np.array_equal(ticks, link.history("tick")[-len(ticks) :])
    assert link.history("counters", hand=True)[-1, COUNTERS.index("link_stale")] <= 1


@pytest.mark.parametrize("loss", [0.02, 0.1])
def test_a_state_of_which_a_part_is_lost_is_lost_and_no_other(loss):
    link = linked(Impairments(loss=loss, seed=3), 2.0)
    is_of_one_tick(link)
    stale = link.history("counters", hand=True)[-1, COUNTERS.index("link_stale")]
    n, p = link.ticks, 1.0 - (1.0 - loss) ** link.hand.mirror.parts
    assert abs(stale - n * p) <= 4.0 * np.sqrt(n * p * (1.0 - p)) + 1


@pytest.mark.parametrize(
    "network",
    [
        Impairments(duplicate=0.5, seed=1),
        Impairments(reorder=0.2, hold_back_s=0.003, seed=2),
        Impairments(delay_s=0.004, jitter_s=0.002, reorder=0.1, duplicate=0.2, loss=0.05, seed=4),
    ],
)
def test_parts_that_come_twice_late_or_in_another_order_never_make_a_state_that_was_not(network):
    link = linked(network)
    ticks = is_of_one_tick(link)
    assert (np.diff(ticks) >= 0).all()
    assert ticks[-1] > 0.9 * link.ticks - 10


def test_a_scene_of_avatars_is_mirrored_with_all_that_they_show():
    """Two who carry a plank, the largest of the avatars' scenes; every other fits with it."""
    link = SimulatedLink(carry_two(), carry_two())
    link.run(0.3)
    assert np.array_equal(link.hand.mirror.q, link.history("q")[-1])
    for name in ("avatar_com", "avatar2_com", "avatar_support_polygon", "avatar2_grasp_state"):
        assert np.array_equal(link.history(name, hand=True)[-1], link.history(name)[-1]), name
    for story in STORIES:
        scene = find(SCENES, "scenes", story.scene)()
        assert scene.model.nq + scene.model.nv + words_of(scene) <= LARGEST_SCENE


# ---- what controllers publish and take


def send(link: SimulatedLink, name: str, value: float) -> None:
    """From the hand's end, as its page would."""
    kind = link.server.kind_of(name)
    assert kind == link.hand.kind_of(name)
    link.hand.events.write(link.hand.event_layout.pack(kind=kind, value=value))


def test_a_command_from_the_hands_end_reaches_its_avatar_and_comes_back():
    link = linked(seconds=0.05)
    send(link, "behave2", COMMANDS.index("release"))
    send(link, "stiffness", 1234.5)
    link.run(0.05)
    assert link.history("avatar2_behaviour")[-1] == link.history("avatar2_behaviour", hand=True)[-1] == 3
    assert link.history("avatar_stiffness", hand=True)[-1] == 1234.5
    assert link.history("avatar_behaviour")[-1] == 2  # the other one


@pytest.mark.parametrize(("name", "value"), [("behave", 99.0), ("behave", -1.0), ("behave", 0.5), ("stiffness", np.nan),
                                             ("stiffness", np.inf), ("balance", 2.0)])  # fmt: skip
def test_a_value_beyond_its_bounds_does_nothing_at_the_server(name, value):
    link = linked(seconds=0.02)
    field = {"behave": "avatar_behaviour"}.get(name, f"avatar_{name}")
    before = link.history(field)[-1]
    send(link, name, value)
    link.run(0.02)
    assert link.history(field)[-1] == before


def test_gravity_is_not_the_hands_to_set():
    link = linked(seconds=0.02)
    send(link, "gravity", 3.0)
    link.run(0.02)
    assert link.history("gravity")[-1] == 1.0


def test_the_page_at_the_hands_end_is_told_what_the_other_is():
    link = linked(seconds=0.01)
    here, there = hello_of(link.hand), hello_of(link.server)
    for key in ("avatars", "drawings", "actors", "settings", "plots"):
        assert here[key] == there[key], key
    assert {name: e["kind"] for name, e in here["events"].items()} == {n: e["kind"] for n, e in there["events"].items()}


def test_a_field_as_long_as_there_are_devices_cannot_cross():
    class Wrong(ToyAvatar):
        def __init__(self):
            super().__init__(standing())
            self.fields = (*self.fields, Field("of_each_device", "f", ("n_devices",), ""))

    scene = Scene("wrong", "Wrong", pp.World(pp.models.box((0.1, 0.1, 0.1))), controllers=(Wrong(),))
    with pytest.raises(ValueError, match="'of_each_device' is as long as there are n_devices: it cannot cross a link"):
        Serving(scene, port=0)


# ---- over sockets


@pytest.fixture
def server():
    with Serving(crowd(), port=0, fifo=False) as serving:
        yield serving


def test_over_sockets_it_crosses_too_and_is_told(server):
    with RemoteSession(Remote(HERE, server.port), crowd(), fifo=False) as session:
        until(lambda: session.frame()["avatar2_support_count"] == 4)
        assert np.array_equal(session.frame()["avatar_support_polygon"], standing()["support_polygon"])
        session.send("behave", COMMANDS.index("take"))
        until(lambda: server.frame()["avatar_behaviour"] == 1)
        until(lambda: session.frame()["avatar_behaviour"] == 1)


def test_a_scene_whose_controllers_publish_something_else_is_refused(server):
    remote, bare = Remote(HERE, server.port), crowd()
    bare = Scene(bare.name, bare.title, bare.world, controllers=bare.controllers[:1])
    with contextlib.closing(remote.socket), pytest.raises(LinkError, match="is not the same here"):
        RemoteSession(remote, bare)


def of_version(packet: bytes, version: int) -> bytes:
    """The same packet, of another version, sealed rightly."""
    from palpate.link.siphash import siphash_entry

    words = np.frombuffer(packet, dtype="<i8").astype(np.int64)
    words[HEAD] = int(words[HEAD]) & ~(0xFFFF << 32) | version << 32
    words[-1] = siphash_entry(words[:-1].copy(), PUBLIC_KEY.words)
    return words.astype("<i8").tobytes()


def test_a_greeting_of_an_old_version_is_counted_and_answered_with_ours(server):
    wire = Wire()
    with connect(HERE, server.port) as socket:
        socket.send(of_version(wire.pack(HELLO, nonce=77), VERSION - 1))
        until(lambda: server.relaying.counts()["other_version"] == 1)
        until(lambda: (heard := received(socket)) is not None and wire.unpack(heard).kind == WELCOME)
        assert server.relaying.counts()["malformed"] == 0


def received(socket) -> bytes | None:
    try:
        return bytes(socket.recv(2048))
    except BlockingIOError:
        return None


def test_a_server_of_another_version_is_refused_in_one_line_that_says_so():
    """Somebody answers, with WELCOMEs of the version before."""
    import threading

    over = threading.Event()
    with bind(HERE, 0) as old:
        port = old.getsockname()[1]

        def answer() -> None:
            while not over.is_set():
                try:
                    data, sender = old.recvfrom(2048)
                except BlockingIOError:
                    time.sleep(1e-3)
                    continue
                nonce = int(np.frombuffer(data, dtype="<i8")[PAYLOAD])
                old.sendto(of_version(Wire().pack(WELCOME, nonce=nonce, name="arm"), VERSION - 1), sender)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        both = f"version {VERSION - 1} of the link's packets, this palpate version {VERSION}"
        said = rf"^127\.0\.0\.1:{port} speaks {both}: .*$"
        try:
            with pytest.raises(LinkError, match=said):
                Remote(HERE, port)
        finally:
            over.set()
            thread.join()
