"""Any number of a robot's file may be anything: it is refused in one line with the file's name, or can be calculated.

Files are drawn from whole ones by putting seeded extremes in the place of their numbers, one or two at a time.
"""

import random
import re
import warnings

import numpy as np
import pytest
from runtime.small_robot import stl, urdf

import palpate as pp
from palpate import jit
from palpate.scenes.robots import load_robot, start_of

EXTREMES = (
    "nan", "inf", "-inf", "0", "-0.0", "-1", "", "1e999", "-1e999", "0x10", "1_000", "١٢", "1,5", "1e308", "-1e308",
    "1e-320", "-1e-320", "1e-308", "1e71", "1e73", "1e24", "1e25", "1e-24", "1e-25", "1e15", "-1e15", "1e-15", "1e12",
    "1e9", "1e-9", "1e6", "1e-6",
)  # fmt: skip
URDF = urdf().replace("<axis", '<dynamics damping="0.5" friction="0.1"/><axis')
URDF = URDF.replace('arm.stl"/>', 'arm.stl" scale="1 1 1"/>').replace(
    "</visual>", '<origin xyz="0 0 0.1" rpy="0 0.1 0"/><material name="m"><color rgba="1 0 0 1"/></material></visual>'
)
MJCF = """<mujoco><compiler angle="radian"/><worldbody><geom type="plane" size="1 1 0.1"/>
<body name="a" pos="0 0 1" quat="1 0 0 0"><freejoint/><inertial pos="0 0 0.1" mass="2" diaginertia="0.1 0.2 0.15"/>
<geom type="box" size="0.1 0.2 0.3" rgba="1 0 0 1" friction="1 0.1 0.1" pos="0 0 0.1"/>
<body name="b" pos="0 0 0.4" euler="0 0.1 0"><joint name="j" type="hinge" axis="0 1 0" pos="0 0 0.05" range="-1 1"
 limited="true" damping="0.1" armature="0.01" frictionloss="0.2" ref="0.1"/><joint name="s" type="slide" axis="1 0 0"
 range="-1 1" ref="0.1" pos="0 0 0.1"/><geom type="capsule" size="0.05 0.2" density="900"/>
<body name="c" pos="0 0 0.3"><joint type="ball" damping="0.3" pos="0 0 0.05"/>
<geom type="sphere" size="0.1" mass="0.5"/></body></body></body></worldbody>
<keyframe><key name="start" qpos="0 0 1 1 0 0 0 0.1 0.2 1 0 0 0"/></keyframe></mujoco>"""
NUMBER = re.compile(r'(?<=[" ])-?[0-9][0-9.e-]*(?=[" ])')


def drawn(text, seed):
    """The text with one or two of its numbers replaced."""
    rng = random.Random(seed)
    places = rng.sample(list(NUMBER.finditer(text)), 1 + (seed % 4 == 0))
    for place in sorted(places, key=lambda place: -place.start()):
        text = text[: place.start()] + rng.choice(EXTREMES) + text[place.end() :]
    return text


def complaint(make, name=""):
    """What `make` gives; or the complaint, one line with that name."""
    try:
        return make(), None
    except ValueError as error:
        refused = str(error)
    assert "\n" not in refused
    assert name in refused
    return None, refused


def check(path, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # no number is lost on the way either
        warnings.simplefilter("ignore", pp.ModelWarning)
        description, refused = complaint(lambda: pp.load(path, **options), path.name)
        if refused is None:
            model, refused = complaint(lambda: pp.compile(description))
        if refused is None:
            assert np.isfinite(pp.mass_matrix(model, model.neutral())).all()
        robot, refused = complaint(lambda: load_robot(str(path)), path.name)
        if refused is not None:
            return False
        model = pp.compile(robot)
        q, still = start_of(model), np.zeros(model.nv)
        H = pp.mass_matrix(model, q)
        size = np.sqrt(np.diag(H))
        assert np.linalg.eigvalsh(H / np.outer(size, size))[0] > -1e-12  # positive, as far as rounding lets it be
        assert np.isfinite(pp.forward_dynamics(model, q, still, still)).all()
    return True


def search(folder, name, text, seeds, options):
    (folder / "upper arm.stl").write_bytes(stl())
    path = folder / name
    whole = 0
    for seed in seeds:
        path.write_text(drawn(text, seed), encoding="utf-8")
        try:
            whole += check(path, options(seed))
        except Exception:
            print(f"seed {seed}\n{path.read_text(encoding='utf-8')}")
            raise
    assert 0.2 * len(seeds) < whole < 0.8 * len(seeds)  # both are tried


pytestmark = pytest.mark.skipif(jit.DISABLED, reason="thousands of models")


def search_urdf(folder, seeds):
    text = URDF.replace("package://small/meshes/", "")
    search(folder, "small.urdf", text, seeds, lambda seed: {"free_base": seed % 2 == 0})


def search_mjcf(folder, seeds):
    pytest.importorskip("mujoco")
    search(folder, "small.xml", MJCF, seeds, lambda _: {})


def test_any_number_of_a_urdf_may_be_anything(tmp_path):
    search_urdf(tmp_path, range(100))


def test_any_number_of_an_mjcf_may_be_anything(tmp_path):
    search_mjcf(tmp_path, range(120))


@pytest.mark.slow
def test_any_number_of_any_robot_may_be_anything(tmp_path):
    search_urdf(tmp_path, range(1000, 1200))
    search_mjcf(tmp_path, range(1000, 1300))


PYTHON = {
    "mass": lambda x: pp.Body("b", x, inertia=(1, 1, 1)),
    "inertia": lambda x: pp.Body("b", 1.0, inertia=(x, x, x)),
    "centre of mass": lambda x: pp.Body("b", 1.0, (x, 0, 0), (1, 1, 1)),
    "placement": lambda x: pp.Transform(p=(0, x, 0)),
    "axis": lambda x: pp.Joint("j", "revolute", "world", "b", axis=(0, x, x)),
    "damping": lambda x: pp.Joint("j", "revolute", "world", "b", damping=x),
    "armature": lambda x: pp.Joint("j", "revolute", "world", "b", armature=x),
    "friction": lambda x: pp.Joint("j", "revolute", "world", "b", friction=x),
    "lower": lambda x: pp.Joint("j", "revolute", "world", "b", lower=x),
    "upper": lambda x: pp.Joint("j", "revolute", "world", "b", upper=x),
    "both limits": lambda x: pp.Joint("j", "prismatic", "world", "b", lower=x, upper=x),
    "ratio": lambda x: pp.Joint("j", "revolute", "world", "b", mimic=pp.Mimic("j", x)),
    "DH length": lambda x: pp.from_dh([(0.0, x, 0.1, 0.0), (0.0, 0.1, x, 0.0)]),
    "DH angle": lambda x: pp.from_dh([(x, 0.1, 0.1, x)]),
    "radius": lambda x: pp.Body("b", 1.0, inertia=(1, 1, 1), shapes=(pp.Shape("sphere", (x,)),)),
    "friction of a material": lambda x: pp.Material("m", x),
}  # fmt: skip


@pytest.mark.parametrize("what", PYTHON)
def test_any_number_of_a_description_may_be_anything(what):
    numbers = [float(x) for x in EXTREMES if complaint(lambda x=x: float(x))[1] is None]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for number in numbers:
            part, refused = complaint(lambda number=number: PYTHON[what](number))
            if refused is None and isinstance(part, pp.Body):
                part = pp.MultiBody("m", (part,), (pp.Joint("j", "free", "world", "b"),))
            if refused is None and isinstance(part, pp.Joint) and part.mimic is None:
                part = pp.MultiBody("m", (pp.Body("b", 1.0, inertia=(1, 1, 1)),), (part,))
            if refused is not None or not isinstance(part, pp.MultiBody):
                continue
            model, refused = complaint(lambda part=part: pp.compile(part))
            if refused is None:
                q = start_of(model)
                still = np.zeros(model.nv)
                assert np.isfinite(pp.mass_matrix(model, q)).all()
                assert np.isfinite(pp.forward_dynamics(model, q, still, still)).all()


def test_numbers_are_those_of_other_readers(tmp_path):
    """Python's own `float` also takes 1_000 and digits of other scripts; 1e999 for a limit is none."""
    path = tmp_path / "a.urdf"
    for word in ("1_000", "١٢", "nan", "0x10", "1e", "--1", "1.2.3", "1d3"):
        path.write_text(urdf("x.stl").replace('mass value="4.0"', f'mass value="{word}"'), encoding="utf-8")
        with pytest.raises(pp.ModelError, match=r"^a.urdf:\d+: <mass> value='.*' is not 1 number$"):
            pp.load(path)
    path.write_text(urdf("x.stl").replace('upper="3.1"', 'upper="1.79769e+308"'))
    with pytest.warns(pp.ModelWarning, match="x.stl"):
        assert np.isinf(pp.compile(pp.load(path, skip_missing_meshes=True)).upper).all()
