"""Solids and planes: exact inertias, places, and refusals in one line."""

import math

import numpy as np
import pytest

import palpate as pp


def start_pose(description):
    """(4, 4) pose of its only body."""
    model = pp.compile(description)
    return pp.forward_kinematics(model, model.posture("start"))[1]


def slices(shape, n):
    """Heights z (n,) of thin slices of a solid, their thickness, areas and second moments of area about x and y."""
    size = np.array(shape.size)
    top = {"sphere": lambda r: r, "box": lambda x, y, z: z / 2, "cylinder": lambda r, length: length / 2,
           "capsule": lambda r, length: length / 2 + r}[shape.kind](*size)  # fmt: skip
    z = top * (2.0 * np.arange(n) + 1.0 - n) / n
    if shape.kind == "box":
        x, y, _ = size
        area, about_x, about_y = x * y, x * y**3 / 12, y * x**3 / 12
    else:
        length = 0.0 if shape.kind == "sphere" else size[1]
        cap = np.maximum(np.abs(z) - 0.5 * length, 0.0)  # how far into the round end
        disc = size[0] ** 2 - cap**2  # radius squared
        area, about_x, about_y = math.pi * disc, math.pi * disc**2 / 4, math.pi * disc**2 / 4
    return z, 2.0 * top / n, *(np.broadcast_to(a, z.shape) for a in (area, about_x, about_y))


SOLIDS = [
    pp.models.ball(radius=0.3, density=700.0),
    pp.models.box(size=(0.2, 0.5, 0.3)),
    pp.models.capsule(radius=0.2, length=0.3),
    pp.models.capsule(radius=0.05, length=0.9),
    pp.models.cylinder(radius=0.2, length=0.7),
]


@pytest.mark.parametrize("description", SOLIDS, ids=lambda d: d.name)
def test_mass_and_inertia_of_a_solid_are_the_sums_over_its_slices(description):
    (body,) = description.bodies
    (shape,) = body.shapes
    density = 700.0 if shape.kind == "sphere" else 1000.0
    z, dz, area, about_x, about_y = slices(shape, 20_000)
    across = (z**2 * area).sum()
    expected = density * dz * np.array([about_x.sum() + across, about_y.sum() + across, (about_x + about_y).sum()])
    assert body.mass == pytest.approx(density * dz * area.sum(), rel=1e-7)
    np.testing.assert_allclose(body.inertia, np.diag(expected), rtol=1e-7)


def test_a_capsule_without_length_is_a_ball():
    capsule, ball = pp.models.capsule(0.2, 1e-9, mass=3.0), pp.models.ball(0.2, mass=3.0)
    np.testing.assert_allclose(capsule.bodies[0].inertia, ball.bodies[0].inertia, rtol=1e-7)


def test_two_solids_of_one_name_get_two_names_and_both_start_where_they_were_put():
    model = pp.compile([pp.models.ball(at=(1, 0, 0)), pp.models.ball(at=(2, 0, 0))])
    assert model.body_names == ("world", "ball", "ball.2/ball")
    np.testing.assert_allclose(pp.forward_kinematics(model, model.posture("start"))[1:, 0, 3], (1, 2))


@pytest.mark.parametrize("make", [pp.models.ball, pp.models.box, pp.models.capsule, pp.models.cylinder])
def test_a_free_solid_starts_where_it_is_put_and_a_fixed_one_stays_there(make):
    turn = pp.Rotation.about((1, 2, 3), 0.8)
    X = pp.Transform(turn, (0.44, 0.34, 0.20)).matrix()
    for fixed, nv in ((False, 6), (True, 0)):
        description = make(mass=2.0, at=(0.44, 0.34, 0.20), R=turn, fixed=fixed, name="thing")
        model = pp.compile(description)
        assert model.nv == nv
        assert description.mass == 2.0
        np.testing.assert_allclose(start_pose(description), X, atol=1e-12)
    np.testing.assert_array_equal(pp.compile(make(at=(1, 2, 3))).neutral(), (0, 0, 0, 1, 0, 0, 0))


@pytest.mark.parametrize("normal", [(0, 0, 1), (0, 0, -1), (-1, 0, 0), (1, 2, 3)])
def test_a_plane_is_fixed_and_its_z_is_the_normal(normal):
    description = pp.models.plane(at=(0.88, 0, 0), normal=normal)
    X = start_pose(description)
    np.testing.assert_allclose(X[:3, 2], np.array(normal) / np.linalg.norm(normal), atol=1e-12)
    np.testing.assert_allclose(X[:3, 3], (0.88, 0, 0))
    assert pp.compile(description).nv == 0


def test_material_colour_and_name_reach_the_shape():
    rubber = pp.Material("rubber", friction=0.9)
    body = pp.models.ball(material=rubber, color=(1, 0, 0, 1), name="toy").bodies[0]
    assert (body.name, body.shapes[0].material, body.shapes[0].color) == ("toy", rubber, (1, 0, 0, 1))


MISTAKES = [
    (lambda: pp.models.ball(radius=-1.0), "'ball': radius must be a positive number of m, got -1.0"),
    (lambda: pp.models.ball(radius=math.nan), "radius must be a positive number"),
    (lambda: pp.models.ball(radius="big"), "radius must be a positive number of m, got 'big'"),
    (lambda: pp.models.ball(mass=1.0, density=1.0), "mass or its density, not both"),
    (lambda: pp.models.ball(mass=0.0), "mass must be a positive number of kg"),
    (lambda: pp.models.box(density=math.inf), "density must be a positive number of kg/m"),
    (lambda: pp.models.box(size=0.1), "'box': size must be the three edges of a box in m, got 0.1"),
    (lambda: pp.models.box(size=(0.1, 0.0, 0.1), name="lid"), "'lid': size y must be a positive number"),
    (lambda: pp.models.capsule(length=0.0), "length must be a positive number"),
    (lambda: pp.models.cylinder(radius=math.inf), "radius must be a positive number"),
    (lambda: pp.models.plane(normal=(0, 0, 0)), "'plane': normal must not be zero"),
    (lambda: pp.models.ball(at=(0, 0)), "a position must be three finite numbers"),
    (lambda: pp.models.hrp2(sole="skates"), "a sole is 'box' or 'spheres'"),
]


@pytest.mark.parametrize(("make", "message"), MISTAKES)
def test_a_wrong_size_is_refused_in_one_line(make, message):
    with pytest.raises(ValueError, match=message) as error:
        make()
    assert "\n" not in str(error.value)
