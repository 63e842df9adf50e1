"""Both ends of a link in simulated time: the mirror, the hand's forces and the energy, over networks of every kind.

Exact and the same every time.  Losses are given each way: p with 1 - (1 - p)^2 = 5 % makes every twentieth exchange
fail.  A one-way delay of D makes states D old when they are felt, and 2 D since the query.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import palpate as pp
from palpate import jit
from palpate.frame import COUNTERS, DEVICE_COUNTERS, HAND, RESET, RUNNING, Layout
from palpate.haptics.devices.simulation.simulated import Simulated
from palpate.haptics.guard import FADE_S, STATES
from palpate.haptics.reach import Reach
from palpate.haptics.rendering.facade import Proxy
from palpate.jit import entry
from palpate.link.estimate import BLEND_S, CAP_S
from palpate.link.impair import Impairments
from palpate.link.keys import Key
from palpate.link.wire import HOLD, QUERY, QUERY_WORDS, Wire
from palpate.runtime.link.relay_kernels import load as load_relay
from palpate.runtime.link.relay_kernels import take_packet
from palpate.runtime.link.simulated import SimulatedLink
from palpate.scenes.arm import arm, arm_at_rest
from palpate.scenes.scene import Scene

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")
DT = 1e-3
ONE_WAY_LOSS = 1.0 - 0.95**0.5
SILENCE_S = 0.1  # after which an end counts as gone, here and there
MILLIJOULE = 1e-3  # what the reference allows
BLENDS = BLEND_S / DT  # a jump is blended out in so many ticks, so errors of one tick add up to at most so many
FAULT, ON = STATES.index("fault"), STATES.index("on")
HOLDING = pp.Hand(holds=((0.1, 1e3),))
# 5 cm to the left and back, three times: closed cycles of the hand, from 1 s on, when its force has fully risen
CYCLES = pp.Hand(
    intent=((1.0, (0, 0, 0)), *((1.0 + 0.4 * k, (0, 0.05 * (k % 2), 0)) for k in range(1, 7))), holds=((0.1, 1e3),)
)


def block() -> Scene:
    """2 kg that float."""
    world = pp.World([pp.models.box((0.1, 0.1, 0.1), mass=2.0, name="tool")], gravity=(0, 0, 0), dt=DT)
    return Scene("block", "A block", world)


SCENES = {"arm": arm, "arm-rest": arm_at_rest, "block": block}


def tool_of(scene: Scene) -> np.ndarray:
    """(3,) where the tool is at the start [m]."""
    return pp.forward_kinematics(scene.model, scene.world.q)[scene.model.body("tool")][:3, 3].copy()


def above_the_tool(scene: Scene) -> tuple[float, ...]:
    """A point 1 to 2 cm over everything that is there at the start: near enough to take hold, and touching nothing."""
    point = tool_of(scene)
    surroundings = Proxy(scene.model)
    surroundings.move(scene.world.q)
    while surroundings.nearest(point).distance < 0.01:
        point[2] += 0.01
    return tuple(point)


def linked(scene="arm", there=None, back=None, hand=None, passivity="tank", estimate="extrapolate", at=None, **reach):
    """A link, and a hand, if there is one, on a PHANToM whose middle is a little above the tool, or `at` from it."""
    here, mirrored, devices = SCENES[scene](), SCENES[scene](), []
    if hand is not None:
        device = Simulated(hand=hand)
        device.spec = replace(device.spec, continuous_force_N=np.inf)  # warm motors shake less
        device.open()
        place = above_the_tool(here) if at is None else tuple(tool_of(here) + at)
        devices = [(device, Reach(place=pp.Transform(p=place), passivity=passivity, **reach))]
    return SimulatedLink(here, mirrored, devices, there, there if back is None else back, estimate)


@cache
def run(seconds, scene="arm", network=None, hand=None, passivity="tank", estimate="extrapolate"):
    """The same link is not run twice; the network is the same both ways, but for its dice."""
    network = network or Impairments()
    link = linked(scene, network, other_dice(network), hand, passivity, estimate)
    link.run(seconds)
    return link


def other_dice(network: Impairments) -> Impairments:
    return replace(network, seed=network.seed + 1)


def counter(link, name: str) -> np.ndarray:
    """(ticks,) a counter of the hand's end."""
    return link.history("counters", hand=True)[:, COUNTERS.index(name)]


def device_counter(link, name: str) -> np.ndarray:
    return link.history("device_counters", hand=True)[:, 0, DEVICE_COUNTERS.index(name)]


def mirror_error(link, skip=1) -> np.ndarray:
    """(ticks,) largest difference of a coordinate at both ends, at the same moment [rad or m]."""
    return np.abs(link.history("q", hand=True) - link.history("q"))[skip:].max(axis=1)


def force_on_hand(link) -> np.ndarray:
    """(ticks, 3) world [N]."""
    return link.history("device_force", hand=True)[:, 0]


def largest_step(link) -> float:
    """[N] a tick"""
    return float(np.linalg.norm(np.diff(force_on_hand(link), axis=0), axis=1).max())


def turned(quaternion: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(n, 3) vectors turned by (n, 4) quaternions."""
    w, u = quaternion[:, :1], quaternion[:, 1:]
    return v + 2.0 * np.cross(u, np.cross(u, v) + w * v)


def energies(link) -> tuple[np.ndarray, np.ndarray]:
    """(ticks - 1,) what hand and body gave to the link so far [J]: -sum f . dx, in the bodies' units.

    From frames: a force of a tick acts until the next, on the point of the body where it began, held then or not.
    """
    on_hand, hand = link.reaching[0].weight * force_on_hand(link), link.history("device_position", hand=True)[:, 0]
    on_body, point, body = (link.history(name)[:, 0] for name in ("hand_force", "hand_point", "hand_body"))
    ticks, pose = np.arange(len(body) - 1), link.history("pose")
    before, after = pose[ticks, body[:-1]], pose[ticks + 1, body[:-1]]
    in_body = turned(before[:, 3:] * (1, -1, -1, -1), point[:-1] - before[:, :3])
    moved = after[:, :3] + turned(after[:, 3:], in_body) - point[:-1]
    work = np.where(body[:-1] != 0, np.sum(on_body[:-1] * moved, axis=1), 0.0)
    return -np.cumsum(np.sum(on_hand[:-1] * np.diff(hand, axis=0), axis=1)), -np.cumsum(work)


# ---- what is seen


def test_without_impairments_the_mirror_shows_the_servers_state():
    """articulated-haptics.md acceptance 36 and section 4.

    The world's step moves by its last velocity, a prediction by the mean one: they differ by a D^2/2, and by what the
    acceleration changes meanwhile.
    """
    link = run(3.0)
    a = np.abs(np.diff(link.history("v"), axis=0)).max() / DT
    assert np.ptp(link.history("q"), axis=0).max() > 0.2  # it moves [rad]
    assert mirror_error(link).max() <= 1.1 * BLENDS * 0.5 * a * DT**2
    assert counter(link, "link_stale")[-1] < 0.01 * link.ticks
    assert counter(link, "link_silent")[-1] == 0
    assert link.hand.counts()["backlog"] <= 1
    assert (link.history("state", hand=True)[1:] == RUNNING).all()


def test_of_a_twentieth_of_exchanges_lost_a_twentieth_of_ticks_is_stale():
    """articulated-haptics.md acceptance 36: 5 +- 1.5 %."""
    link = run(5.0, network=Impairments(loss=ONE_WAY_LOSS))
    assert 0.035 <= counter(link, "link_stale")[-1] / link.ticks <= 0.065
    assert link.hand.counts()["backlog"] <= 1
    assert counter(link, "link_silent")[-1] == 0


@pytest.mark.parametrize("delay_s", [0.01, 0.02])
def test_behind_a_delay_the_queue_is_never_longer_than_one(delay_s):
    """articulated-haptics.md acceptance 36: there, the round trip is the 20 ms; here also each way."""
    link = run(3.0, network=Impairments(delay_s=delay_s))
    assert link.hand.counts()["backlog"] <= 1
    assert counter(link, "link_stale")[-1] <= 4 * delay_s / DT + 2  # of HELLO and WELCOME, then the first QUERY's
    packets = link.hand.counts()
    assert packets["there_given"] - packets["there_taken"] <= delay_s / DT + 1


@pytest.mark.parametrize("delay_s", [0.01, 0.02])
def test_an_extrapolated_state_is_nearer_to_the_present_than_a_held_one(delay_s):
    """articulated-haptics.md section 4: a held state is v D away, an extrapolated one j D^3/6, up to the cap.

    A blend B shows what comes B late on the average.  Beyond the cap a prediction is held, and v times the rest away.
    """
    network = Impairments(delay_s=delay_s)
    held, foretold = run(3.0, network=network, estimate="hold"), run(3.0, network=network)
    skip = round(4 * delay_s / DT) + 2  # before the first state
    v = foretold.history("v")
    speed, old = np.abs(v).max(), delay_s + BLEND_S
    held_error, error = mirror_error(held, skip).max(), mirror_error(foretold, skip).max()
    assert held_error == pytest.approx(speed * old, rel=0.01)
    a, j = np.abs(np.diff(v, axis=0)).max() / DT, np.abs(np.diff(v, n=2, axis=0)).max() / DT**2
    foretold_badly = j * old**3 / 6 + j * old**2 * DT / 4 + 0.5 * a * old * DT  # the last: as without delay, each tick
    assert error <= foretold_badly + speed * max(old - CAP_S, 0.0)
    assert error < 0.25 * held_error


def test_jitter_reordering_and_doubles_are_no_fault():
    """Of what overtakes only the newest counts, and what comes twice counts once."""
    network = Impairments(delay_s=0.003, jitter_s=0.004, reorder=0.2, duplicate=0.3, loss=0.05)
    link = run(3.0, network=network)
    packets = link.hand.counts()
    assert packets["back_duplicated"] > 0
    assert packets["back_held_back"] > 0
    assert packets["there_overflowed"] == packets["back_overflowed"] == 0
    assert packets["dropped"] <= 3  # the HELLO or its WELCOME came twice, or both; what is old is not counted here
    server = link.relaying.counts()
    assert server["replayed"] > 0
    assert server["malformed"] == server["forged"] == server["silenced"] == 0
    assert server["unknown"] < 50  # before the WELCOME there is no session yet
    assert counter(link, "link_silent")[-1] == 0
    ticks = link.history("tick", hand=True)
    assert (np.diff(ticks) >= 0).all()  # never back in time
    speed = np.abs(link.history("v")).max()
    assert mirror_error(link, 50).max() < 0.5 * speed * (
        network.delay_s + network.jitter_s
    )  # half of what held ones have


def test_the_same_seed_has_the_same_bits():
    network = Impairments(delay_s=0.005, jitter_s=0.003, reorder=0.1, duplicate=0.1, loss=0.1, seed=5)
    fields = ("q", "device_force", "device_energy", "counters", "device_counters")
    ends = []
    for each in (network, network, other_dice(network)):
        link = linked("arm", each, each, CYCLES)
        link.run(1.0)
        ends.append([link.history(name, hand=True).tobytes() for name in fields] + [link.history("q").tobytes()])
    assert ends[0] == ends[1]
    assert ends[0] != ends[2]


# ---- what others send


@entry("intp, intp, intp, intp, int64")
def take_entry(relay, n_bytes, count, strangers, now):
    """The packet in `words`, `count` times; from as many other addresses, or from the hand's own."""
    r, peers, _ = load_relay(relay)
    for k in range(count):
        r.sender[0] = k + 1 if strangers else 0
        take_packet(r, peers, n_bytes, now)
    r.sender[0] = 0


@pytest.mark.parametrize("what", ["noise", "forged", "replayed"])
def test_a_flood_changes_nothing(what):
    """A hundred packets for each of the hand's: both ends do the same to the last bit, and each packet is counted.

    In simulated time a silence is the flood's doing, never the machine's.
    """
    noise = np.random.default_rng(8).bytes(8 * QUERY_WORDS)
    hand = Layout(HAND)
    forged = Wire(Key(bytes(range(16)))).pack(QUERY, wants=HOLD, hands=[hand.pack(body=3), hand.pack()])
    packets = {"noise": np.frombuffer(noise, dtype=np.int64), "forged": np.frombuffer(forged, dtype=np.int64)}
    quiet, flooded = (linked("arm-rest", hand=HOLDING) for _ in range(2))
    quiet.run(0.5)
    relay, count, refused = flooded.relaying, 100, 0
    flooded.run(0.01)  # by then the hand has its session
    while flooded.ticks < quiet.ticks:
        packet = packets.get(what, flooded.hand.mirror.query)[:QUERY_WORDS]  # the last: its own, once more
        relay.arrays.words[:QUERY_WORDS] = packet
        now = round(1e9 * DT * (flooded.ticks - 1))
        take_entry(relay.address, 8 * QUERY_WORDS, count, int(what != "replayed"), now)
        refused += count
        flooded.run(DT)
    assert (quiet.history("hand_body")[-300:, 0] != 0).all()  # there is a hand to take away
    for hand, names in ((False, ("tick", "q", "v", "hand_body", "hand_force")), (True, ("q", "device_force"))):
        for name in names:
            assert (flooded.history(name, hand) == quiet.history(name, hand)).all()
    before, after = quiet.relaying.counts(), flooded.relaying.counts()
    reason = {"noise": "malformed"}.get(what, what)
    assert {name: n - before[name] for name, n in after.items() if n != before[name]} == {reason: refused}


# ---- what is felt


def test_loss_does_not_double_the_largest_step_of_the_force():
    """articulated-haptics.md acceptance 36: 5 % lost, and a hand on a PHANToM that holds a moving arm."""
    without = run(3.0, hand=CYCLES)
    lossy = run(3.0, network=Impairments(loss=ONE_WAY_LOSS), hand=CYCLES)
    assert np.linalg.norm(force_on_hand(without), axis=1).max() > 1.0  # it is felt
    assert (without.history("device_state", hand=True)[-1] == ON).all()
    assert largest_step(lossy) < 2.0 * largest_step(without)


def test_nothing_is_touched_before_it_is_known_where_it_is():
    """Until the first state the mirror stands as the model was built: a hand that is in its way there pushes nobody."""
    here, mirrored = arm_at_rest(), arm_at_rest()
    place = pp.Transform(
        p=tuple(pp.forward_kinematics(here.model, here.model.neutral())[here.model.body("tool")][:3, 3])
    )
    with Simulated() as device:
        network = Impairments(delay_s=0.02)
        link = SimulatedLink(here, mirrored, [(device, Reach(mode="push", place=place))], network, network)
        link.run(0.2)
    assert link.hand.counts()["exchanges"] > 0
    assert not link.history("hand_body")[:, 0].any()
    assert not link.history("device_body_force", hand=True).any()


@pytest.mark.parametrize("length_s", [0.5, 2.0])  # the server forgets after 1 s
def test_silence_takes_the_force_away_gives_the_arm_back_and_engages_again_from_nothing(length_s):
    """articulated-haptics.md section 4: 100 ms without a state are the end of a link, and 20 ms more of the force."""
    begin_s, delay_s = 1.2, 0.005
    network = Impairments(delay_s=delay_s, outage=(begin_s, length_s))
    link = linked("arm-rest", network, network, CYCLES)
    link.run(begin_s + length_s + 1.5)
    force, state = np.linalg.norm(force_on_hand(link), axis=1), link.history("device_state", hand=True)[:, 0]
    held = link.history("hand_body")[:, 0] != 0
    last_heard = round((begin_s + delay_s) / DT)
    cut, zero = last_heard + round(SILENCE_S / DT), last_heard + round((SILENCE_S + FADE_S) / DT) + 1
    back = round((begin_s + length_s) / DT)
    assert force[last_heard] > 0.5  # there was something to take away
    assert held[last_heard]
    assert (state[cut + 2 : back] == FAULT).all()
    assert device_counter(link, "link_lost")[-1] == counter(link, "link_silent")[-1] == 1
    assert (np.diff(force[cut + 1 : zero + 1]) <= 0.0).all()
    assert not force[zero:back].any()
    assert not held[cut + 1 : back].any()  # the server counts its own 100 ms
    again = int(np.flatnonzero(state[back:] != FAULT)[0]) + back
    assert again - back <= (SILENCE_S + 4 * delay_s) / DT + 2  # HELLO is said every 100 ms
    assert force[again] == 0.0
    assert np.diff(force[again:]).max() < 1.5 * np.diff(force[:last_heard]).max()
    assert (state[-200:] == ON).all()
    assert held[-200:].all()
    assert link.reaching[0].fault == ""


# ---- events


def resets(link) -> int:
    return int(np.count_nonzero(np.diff(link.history("tick")) < 0))


@pytest.mark.parametrize("network", [Impairments(loss=0.2), Impairments(loss=0.2, duplicate=0.5, reorder=0.2)])
def test_every_event_arrives_once(network):
    link = linked("arm-rest", network, other_dice(network))
    link.run(0.1)
    for k in range(1, 8):
        link.hand.events.write(link.hand.event_layout.pack(kind=RESET))
        link.run(0.1)
        assert resets(link) == k


@pytest.mark.parametrize("length_s", [0.3, 1.5])
def test_events_arrive_once_also_after_a_silence_and_those_said_in_it(length_s):
    """The server knows the hand again, by its address: what was counted before counts on."""
    link = linked("arm-rest", Impairments(outage=(0.4, length_s)))
    link.run(0.1)
    for k in (1, 2):
        link.hand.events.write(link.hand.event_layout.pack(kind=RESET))
        link.run(0.1)
        assert resets(link) == k
    link.run(0.25)  # into the silence
    link.hand.events.write(link.hand.event_layout.pack(kind=RESET))
    link.run(length_s)
    assert resets(link) == 3
    link.hand.events.write(link.hand.event_layout.pack(kind=RESET))
    link.run(0.1)
    assert resets(link) == 4


def test_what_the_servers_program_says_comes_by_the_link_which_alone_writes():
    """Beside what comes from the other end, and in order."""
    link = linked("arm-rest", Impairments(loss=0.2))
    link.run(0.1)
    for k in range(1, 4):
        heads = link.server.events.head, link.server.hands.head
        link.relaying.own_events.write(link.server.event_layout.pack(kind=RESET))
        body = link.server.model.body("tool")
        link.relaying.own_hands.write(link.server.hand_layout.pack(body=body, sent_ns=round(1e9 * DT * link.ticks)))
        assert (link.server.events.head, link.server.hands.head) == heads
        link.run(0.05)
        assert link.history("hand_body")[-1, 0] == body
        link.hand.events.write(link.hand.event_layout.pack(kind=RESET))
        link.run(0.05)
        assert resets(link) == 2 * k


# ---- energy

FAR = Impairments(delay_s=0.02, loss=ONE_WAY_LOSS)
# A soft hand and a hard spring: what it feels of the far side comes back too late to be damped by it.
SOFT = pp.Hand(intent=CYCLES.intent, holds=CYCLES.holds, stiffness_N_m=50.0, damping_Ns_m=0.5)
HARD = {"block": (3000.0, 60.0), "arm-rest": (3000.0, 8.5)}  # stiffness [N/m], strength [N]


@cache
def far(scene: str, hand: pp.Hand, passivity: str, hard: bool = False) -> SimulatedLink:
    """4 s over 20 ms and 2.5 % of losses each way."""
    stiffness_N_m, strength_N = HARD[scene] if hard else (800.0, 60.0)
    link = linked(scene, FAR, other_dice(FAR), hand, passivity, stiffness_N_m=stiffness_N_m, strength_N=strength_N)
    link.run(4.0)
    assert (link.history("hand_body")[:, 0][200:] != 0).all()  # it is held all the time
    return link


@pytest.mark.parametrize("scene", ["block", "arm-rest", "arm"])
@pytest.mark.parametrize("hand", [HOLDING, CYCLES, SOFT], ids=["holding", "cycles", "soft"])
def test_with_tanks_a_delayed_link_makes_no_energy(scene, hand):
    """haptics/tank.py: at no moment is the sum below a millijoule."""
    link = far(scene, hand, "tank")
    at_hand, at_body = energies(link)
    assert (at_hand + at_body).min() >= -MILLIJOULE
    tanks = link.reaching[0].tank, link.server.tank
    assert tanks[0].absorbed + tanks[1].absorbed >= -MILLIJOULE
    assert at_hand[-1] == pytest.approx(tanks[0].absorbed, abs=1e-6)  # the frames tell what the tanks count
    assert at_body[-1] == pytest.approx(tanks[1].absorbed, abs=1e-6)


@pytest.mark.parametrize("scene", HARD)
def test_tanks_hold_where_the_link_makes_energy_without_them(scene):
    """A soft hand and a hard spring, across the delay: without tanks they shake each other, with them they do not."""
    at_hand, at_body = energies(far(scene, SOFT, "observer", hard=True))
    assert (at_hand + at_body).min() < -100 * MILLIJOULE
    at_hand, at_body = energies(far(scene, SOFT, "tank", hard=True))
    assert (at_hand + at_body).min() >= -MILLIJOULE


@pytest.mark.parametrize("passivity", ["observer", "tank"])
def test_pushing_across_a_delay_makes_energy_and_with_tanks_none(passivity):
    """The hand pushes the tool from the left, five times: what it feels to be there has gone away already."""
    pushing = pp.Hand(intent=tuple((0.5 + 0.4 * k, (0, 0.09 - 0.06 * (k % 2), 0)) for k in range(10)))
    link = linked("arm-rest", FAR, other_dice(FAR), pushing, passivity, mode="push", radius_m=0.01, at=(-0.02, 0, 0))
    link.run(4.5)
    at_hand, at_body = energies(link)
    assert (link.history("hand_body")[:, 0] != 0).sum() > 500
    if passivity == "observer":
        assert (at_hand + at_body).min() < -100 * MILLIJOULE
    else:
        assert at_body[-1] < -100 * MILLIJOULE  # the arm was pushed, and
        assert (at_hand + at_body).min() >= -MILLIJOULE  # the hand paid for it


@pytest.mark.parametrize("scene", ["block", "arm-rest"])
def test_a_hand_that_lets_go_and_takes_hold_again_gains_nothing(scene):
    """Four times a second, moving, over a network that loses a third."""
    way = tuple((0.6 + 0.2 * k, (0, 0.03 * (k % 2), 0)) for k in range(18))
    grasps = tuple((0.65 + 0.25 * k, 0.85 + 0.25 * k) for k in range(13))
    network = Impairments(delay_s=0.02, jitter_s=0.03, loss=0.3, reorder=0.2, duplicate=0.3)
    link = linked(scene, network, other_dice(network), pp.Hand(intent=way, holds=grasps))
    link.run(4.0)
    assert np.count_nonzero(np.diff(link.history("hand_body")[:, 0]) > 0) > 5
    assert np.add(*energies(link)).min() >= -MILLIJOULE


@pytest.mark.parametrize("scene", ["block", "arm-rest"])
@pytest.mark.parametrize("hard", [False, True], ids=["usual", "hard"])
def test_with_tanks_what_is_held_stays_bounded(scene, hard):
    """The hand moves by 5 cm, and rests at the end: what it holds goes nowhere else, and slows down."""
    link = far(scene, SOFT if hard else CYCLES, "tank", hard)
    point = link.history("hand_point")[:, 0][200:]  # of the body, where it is held
    assert np.abs(point - point[0]).max() < 0.1
    speed = np.linalg.norm(np.diff(point, axis=0), axis=1) / DT
    assert speed[-200:].max() < 0.5 * speed.max()


@pytest.mark.parametrize("scene", ["block", "arm-rest"])
def test_a_closed_cycle_of_the_hand_gains_nothing(scene):
    """articulated-haptics.md section 4: the work of the coupling over a cycle is not negative beyond 1e-3 J."""
    at_hand, at_body = energies(far(scene, CYCLES, "tank"))
    total = at_hand + at_body
    turns = [round((1.0 + 0.8 * k) / DT) for k in range(4)]
    for begin, end in pairwise(turns):
        assert total[end] - total[begin] >= -MILLIJOULE
