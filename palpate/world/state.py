"""Everything a step reads and writes, as arrays that compiled code finds through one address."""

from __future__ import annotations

from palpate.collision.contacts import Contacts
from palpate.collision.tables import Geometry
from palpate.contact.rows import Rows
from palpate.dynamics.workspace import Workspace
from palpate.jit import Struct, block_loader
from palpate.model.model import Floats1, Floats2, Ints1, ModelArrays

# State.way: how a tree goes through a step (flight.py)
AT_START, MIDWAY, FLUNG = range(3)
# State.fault: what stopped the world
VELOCITY_FAULT, FRICTION_FAULT, RESTITUTION_FAULT = range(3)
# rows of State.ledger [J]: energy at the start, and the work of each kind since
START, ACTUATORS, HANDS, CONTACTS, JOINTS = range(5)


class State(Struct):
    """A axes, B bodies, K connections, T materials."""

    dt: float  # [s]
    time: float  # [s]
    tick: int
    full: int  # whether patches keep all their points (collision/reduce.py)
    fourth: int  # whether Runge and Kutta's rule is used wherever it can be
    sleeps: int  # whether what rests falls asleep (sleep.py)
    n_asleep: int
    stale: int  # 1: coordinates and sleepers were restored, and the workspace knows nothing of them
    keeps_ledger: int  # 1: from the next step on, 2: since a step
    n_wrenches: int  # rows of `wrenches` that may not be zero
    fault: int  # VELOCITY_FAULT, ...
    fault_at: int  # of which joint velocity or contact
    collision: int  # address of the block of Geometry and Contacts
    rows: int  # address of the block of Rows
    friction_law: int  # addresses, 0: built in
    restitution_law: int
    q: Floats1  # (nq,)
    v: Floats1  # (nv,)
    a: Floats1  # (nv,) accelerations without contact
    tau: Floats1  # (nv,) torques from outside, kept until changed
    v_begin: Floats1  # (nv,) v in the axes that v_next is in before `advance`
    v_next: Floats1  # (nv,)
    q_next: Floats1  # (nq,)
    shift: Floats1  # (nv,) velocities that only take out penetration and drift
    mean: Floats1  # (nv,) velocities that forces are taken at, then the mean of those before and after
    q_stage: Floats1  # (nq,) coordinates that forces are taken at
    q_rate: Floats1  # (nq,) their rate
    # Runge and Kutta's rule
    q_from: Floats1  # (nq,) where a step of it begins, and
    v_from: Floats1  # (nv,)
    q_sum: Floats1  # (nq,) where it ends
    v_sum: Floats1  # (nv,)
    worked: Floats1  # (nv,) work of each actuator on the way [J]
    handed: Floats1  # (L,) of hands on each tree
    parts: Ints1  # (L,) steps of it in one of the world's, in the rows of roots
    size: Floats1  # (L,) largest velocity of a tree, and
    off: Floats1  # (L,) by how much it is off
    wrenches: Floats2  # (B, 6) from outside, for one step
    torque: Floats1  # (nv,) tau with that of springs and dampers
    armature: Floats1  # (A,) the model's with what springs and dampers add
    # joints, by axis
    tree: Ints1  # (A,) the root of its tree
    chain: Ints1  # (A,) 1 on a CHAIN, 0 if its coordinate is a quaternion's or a free body's
    turns: Ints1  # (A,) 0 for a free body's way straight ahead, that nothing else feels
    kp: Floats1  # (A,) spring towards q_hold [N m/rad, N/m]
    kv: Floats1  # (A,) damper, with the joint's own damping
    q_hold: Floats1  # (nq,)
    v_hold: Floats1  # (nv,) velocity of the target
    lower: Floats1  # (A,) limits, infinite: none
    upper: Floats1  # (A,)
    dry: Floats1  # (A,) dry friction [N m, N]
    dual: Floats2  # (6, 6) scratch: axes of a joint, made orthogonal
    # trees, in the rows of their roots
    way: Ints1  # (L,) AT_START, MIDWAY or FLUNG
    fast: Floats1  # (L,) how far its fastest axis goes in a step, then the part of the mean in its velocity products
    guided: Ints1  # (L,) 1 if a controller computes its torques, for the beginning of the step
    known: Ints1  # (L,) the tick at whose beginning `a` is its acceleration of the step before
    # links that are a tree by themselves, on a free or spherical joint: they spin by the midpoint rule
    lone: Ints1  # (L,) 1 if so
    spin: Floats2  # (L, 6) inertia about what they turn about: the centre of mass, or the joint
    turned: Floats2  # (L, 3) what turns with them adds to the torque of wrenches half a step on
    middle: Floats2  # (L, 3) of the shapes of a link, link axes [m]
    # links that nothing can push
    pushed: Ints1  # (L,) the link that a contact with this one acts on: itself, or the world if it is placed
    # sleep; by links, all of them free and by themselves
    asleep: Ints1  # (L,) the group it sleeps in, 0: it is awake
    calm: Ints1  # (L,) steps for which it has been at rest
    tired: Ints1  # (L,) 1 if that is long enough, or it sleeps
    q_rest: Floats1  # (nq,) where it fell asleep; of what is placed, where it was in the last step
    felt: Floats2  # (L, 6) what those awake do to it: moment about its origin, impulse, world axes [N m s, N s]
    felt_then: Floats2  # (L, 6) when it fell asleep
    bears: Floats1  # (L,) by how much that may change [N s]
    group: Ints1  # (L,) union-find over those who may fall asleep
    verdict: Ints1  # (L,) of a group
    seen: Floats1  # (6 + 3TT,) gravity, dt, margin, full and the materials, as they were in the last step
    # connections
    joined: Ints1  # (2K,) links a, b
    joined_kind: Ints1  # (K,) 0: none, 1: point, 2: weld
    joined_at: Floats2  # (2K, 3) the point in each link's axes [m]
    joined_R: Floats2  # (K, 9) orientation of b in a, to be kept
    # materials
    mu_static: Floats2  # (T, T)
    mu_sliding: Floats2  # (T, T)
    restitution: Floats2  # (T, T)
    ledger: Floats1  # (5,) START, ...
    work: Floats1  # (nv,) of each actuator [J]


load = block_loader(
    (ModelArrays, True), (Workspace, False), (Geometry, True), (Contacts, False), (Rows, False), (State, False)
)
