"""What the arrays of a step say, in words: contacts, the report, and what stopped the world."""

from __future__ import annotations

import numpy as np

from palpate.dynamics.facade import Energy
from palpate.frame import CONTACT_MODES
from palpate.jit import Struct
from palpate.model.model import Floats, Model
from palpate.world.build import Arrays
from palpate.world.mode_entries import modes_entry
from palpate.world.state import FRICTION_FAULT, VELOCITY_FAULT, State
from palpate.world.views import Contact, Ledger, StepReport


def contacts_of(model: Model, arrays: Arrays) -> list[Contact]:
    """Contacts of the last step, with its forces."""
    a, r, names, g = arrays.contacts, arrays.rows, model.body_names, arrays.shapes.geometry
    dt = float(arrays.state.dt)
    modes = np.empty(int(r.n_contacts), dtype=np.int64)
    modes_entry(arrays.block.address, modes)
    found = []
    for i, mode in enumerate(modes):
        normal, t1, t2 = frame_of(a.normal[i])
        friction = r.lam[i, 1] * t1 + r.lam[i, 2] * t2
        size = float(np.linalg.norm(friction))
        found.append(Contact(
            names[g.body[a.shape_a[i]]], names[g.body[a.shape_b[i]]], a.point[i].copy(), normal.copy(),
            friction / size if size > 0.0 else t1.copy(), float(a.gap[i]),
            (r.lam[i, 0] * normal + friction) / dt, CONTACT_MODES[mode],
        ))  # fmt: skip
    return found


def frame_of(n: Floats) -> Floats:
    """(n, t1, t2) of a contact with normal n (3, 3), as `contact.assemble.tangents` has them."""
    x, y, z = n
    sign = 1.0 if z >= 0.0 else -1.0
    a = -1.0 / (sign + z)
    return np.array([n, (1.0 + sign * x * x * a, sign * x * y * a, -sign * x), (x * y * a, sign + y * y * a, -y)])


def report_of(arrays: Arrays) -> StepReport:
    """What the last step took."""
    r, c = arrays.rows, arrays.contacts
    return StepReport(
        int(r.n_contacts), c.candidates, int(r.n_rows), int(r.n_islands),
        int(r.sweeps), int(r.newton), int(r.admm),
        float(r.residual), float(r.speed), float(r.relative),
        int(r.multi_roots), int(r.ran_out),
        c.lost,
    )  # fmt: skip


def remembered(arrays: Arrays) -> dict[str, np.ndarray]:
    """All that the next step depends on, by name: what a snapshot is a copy of."""
    return remembered_awake(arrays) | _named(
        (arrays.state, ("n_asleep", "asleep", "calm", "q_rest", "felt_then", "bears", "seen")),
        (arrays.rows, ("n_kept", "lam", "mu")),
        (arrays.contacts, ("kept", "link_a", "link_b", "shape_a", "shape_b", "feature", "point", "normal", "gap",
                           "still")),
    )  # fmt: skip


def remembered_awake(arrays: Arrays) -> dict[str, np.ndarray]:
    """The same of a world in which nobody sleeps."""
    return _named(
        (arrays.state, ("q", "v", "a", "tau", "wrenches", "kp", "kv", "q_hold", "v_hold", "joined", "joined_kind",
                        "joined_at", "joined_R", "time", "tick", "keeps_ledger", "n_wrenches", "fault", "fault_at",
                        "ledger", "work", "pushed", "known")),
        (arrays.rows, ("warm_key", "warm_impulse", "n_warm", "warm_friction", "warm_restitution")),
    )  # fmt: skip


def _named(*of: tuple[Struct, tuple[str, ...]]) -> dict[str, np.ndarray]:
    return {name: struct.array(name) for struct, names in of for name in names}


def sleepers_of(model: Model, state: State) -> tuple[str, ...]:
    """Names of the bodies that sleep, in the order of the model."""
    return tuple(model.body_names[row] for row in np.flatnonzero(state.asleep[model.arrays.body_link]))


def fault_of(model: Model, arrays: Arrays, laws: tuple[str, str]) -> str:
    """What stopped the world, in one line; laws: names of the friction and the restitution law."""
    s, g = arrays.state, arrays.shapes.geometry
    at, time = int(s.fault_at), float(s.time)
    if s.fault != VELOCITY_FAULT:
        a, b = (model.body_names[g.body[x[at]]] for x in (arrays.contacts.shape_a, arrays.contacts.shape_b))
        kind, law, bounds = ("friction", laws[0], "0 .. 1e6") if s.fault == FRICTION_FAULT else (
            "restitution", laws[1], "0 .. 1")  # fmt: skip
        return (
            f"the {kind} law {law!r} gave no number within {bounds} where {a!r} and {b!r} touch, after {time:.6g} s; "
            "the last good state is kept"
        )
    joint = next((name for name, x in model.v_index.items() if x.start <= at < x.stop), "?")
    body = next((j.child for j in model.description.joints if j.name == joint), "?")
    value = float(s.v_next[at])
    lost = joint in model.q_index and not np.isfinite(s.q[model.q_index[joint]]).all()
    what = f"has grown to {value:.3g}" if np.isfinite(value) and not lost else "is no longer finite"
    quantity = "position" if lost else "velocity"
    return f"the {quantity} of joint {joint!r} (body {body!r}) {what} after {time:.6g} s; the last good state is kept"


def ledger_of(model: Model, state: State, now: Energy) -> Ledger:
    """The account of energy since the first step."""
    start, actuators, hands, contacts, joints = (float(x) for x in state.ledger[:5])
    if state.keeps_ledger == 1:  # no step yet
        start = now.total
    work = {name: float(state.work[where].sum()) for name, where in model.v_index.items()}
    rest = now.total - start - actuators - hands - contacts - joints
    return Ledger(now.kinetic, now.potential, actuators, work, hands, contacts, joints, rest)
