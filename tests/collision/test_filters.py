"""Who is left out, what does not fit, and what is said about wrong calls."""

import numpy as np
import pytest
from scenes import SOLIDS, body, pose, two

import palpate as pp
from palpate.collision.contacts import contacts
from palpate.collision.facade import Collider
from palpate.collision.geometry import geometry

pytestmark = pytest.mark.nojit

BALL = pp.Shape("sphere", (0.1,))


def chain(n: int, step: float, base: str = "fixed") -> pp.MultiBody:
    """Balls one after the other along x, on hinges."""
    bodies = [pp.Body(f"b{k}", mass=1.0, inertia=(0.01,) * 3, shapes=(BALL,)) for k in range(n)]
    joints = [pp.Joint("j0", base, "world", "b0")]
    joints += [
        pp.Joint(f"j{k}", "revolute", f"b{k - 1}", f"b{k}", placement=pp.Transform(p=(step, 0, 0))) for k in range(1, n)
    ]
    return pp.MultiBody("chain", tuple(bodies), tuple(joints))


def touching(collider: Collider, q) -> set[tuple[str, str]]:
    return {(c.body_a, c.body_b) for c in collider.contacts(q)}


def test_neighbours_never_touch_and_others_do():
    model = pp.compile(chain(4, 0.21, "free"))
    q = model.neutral()
    q[model.q_index["j1"]] = 2.3  # turns b1, so that b2 folds back onto b0
    pairs = touching(Collider(model), q)
    assert ("b0", "b2") in pairs
    assert not pairs & {("b0", "b1"), ("b1", "b2"), ("b2", "b3")}


def test_first_link_ignores_its_own_base_but_not_other_static_bodies():
    wall = pp.models.ball(0.1, at=(0.15, 0.1, 0.0), fixed=True, name="wall")
    model = pp.compile([chain(2, 0.1), wall])
    assert touching(Collider(model), model.neutral()) == {("wall", "b1")}


def test_what_overlaps_within_a_tree_at_the_start_never_touches():
    model = pp.compile(chain(3, 0.08, "free"))
    assert not Collider(model).contacts(model.neutral())


def test_free_bodies_that_overlap_at_the_start_do_touch():
    model = pp.compile([body("a", BALL), body("b", BALL)])
    assert touching(Collider(model), model.neutral()) == {("a", "b")}


def test_ignored_names_never_touch():
    model = pp.compile([body("a", BALL), body("b", BALL), body("c", BALL)])
    q = model.neutral()
    assert touching(Collider(model, ignore=[("a", "b")]), q) == {("a", "c"), ("b", "c")}
    assert touching(Collider(model, ignore=[("both", "c")], parts={"both": ["a", "b"]}), q) == {("a", "b")}
    plane = pp.compile([pp.models.plane(), body("a", BALL)])
    assert not Collider(plane, ignore=[("plane", "a")]).contacts(plane.neutral())


def test_copies_are_ignored_by_their_prefix():
    model = pp.compile([body("a", BALL), body("a", BALL)])
    assert Collider(model).contacts(model.neutral())
    assert not Collider(model, ignore=[("a", "a.2")]).contacts(model.neutral())


def test_static_bodies_do_not_touch_each_other_and_visual_shapes_nobody():
    seen = pp.Shape("sphere", (0.1,), role="visual")
    model = pp.compile([body("a", BALL, fixed=True), body("b", BALL, fixed=True), body("c", seen)])
    assert not Collider(model).contacts(model.neutral())


def test_a_moving_plane_touches_too():
    model = pp.compile([body("a", BALL), body("b", pp.Shape("plane"))])
    (c,) = Collider(model).contacts(np.r_[pose(pp.Rotation(), np.array([0, 0, 0.099])), model.neutral()[7:]])
    assert (c.body_a, c.body_b) == ("a", "b")
    assert c.normal == pytest.approx([0, 0, -1])
    assert c.gap == pytest.approx(-0.001)


def test_what_does_not_fit_is_counted():
    model = pp.compile([pp.models.plane(), *(body(f"b{k}", SOLIDS["box"]) for k in range(3))])
    q = np.concatenate([pose(pp.Rotation(), np.array([k, 0, 0.04])) for k in range(3)])
    collider = Collider(model, capacity=5)
    assert len(collider.contacts(q)) == 5
    assert collider.lost == 7
    collider.contacts(q)
    assert collider.lost == 14


def test_wrong_calls_say_what_is_wrong():
    model = pp.compile([body("a", BALL), body("b", BALL)])
    with pytest.raises(ValueError, match=r"no body 'c'"):
        Collider(model, ignore=[("a", "c")])
    with pytest.raises(ValueError, match="pairs of names"):
        Collider(model, ignore=["ab"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="margin"):
        Collider(model, margin=-1.0)
    with pytest.raises(ValueError, match="capacity"):
        Collider(model, capacity=0)
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        Collider(model).contacts([0, 0, 0])
    with pytest.raises(ValueError, match="quaternion"):
        Collider(model).contacts(np.zeros(14))
    with pytest.raises(ValueError, match="link_R"):
        contacts(geometry(model), model.n_links, 4, link_R=np.zeros((2, 9)))
    with pytest.raises(ValueError, match="from itself"):
        Collider(model).distance(model.neutral(), "a", "a")
    with pytest.raises(ValueError, match="no shape"):
        Collider(pp.compile([body("a", BALL), body("b")])).distance(model.neutral(), "a", "b")


def test_nothing_to_touch_is_no_contact():
    assert Collider(pp.compile(body("a"))).contacts([0, 0, 0, 1, 0, 0, 0]) == []


def test_distance_reaches_any_distance():
    collider = two(SOLIDS["sphere"], SOLIDS["box"])
    q = np.r_[pose(pp.Rotation(), np.array([0, 0, 5.0])), pose(pp.Rotation(), np.zeros(3))]
    gap, a, b, normal = collider.distance(q, "a", "b")
    assert gap == pytest.approx(5.0 - 0.05 - 0.04)
    assert a == pytest.approx([0, 0, 4.95])
    assert b == pytest.approx([0, 0, 0.04])
    assert normal == pytest.approx([0, 0, -1])
    assert collider.distance(q, "b", "a").normal == pytest.approx([0, 0, 1])
