"""The guide of planned joints (control/plans/guide.py) as a part of the tick: torques, events, reset, what frames show.

h Head, o offsets of the frame's fields, m model, w workspace, s TickState: what `state.load` gives
"""

from palpate.control.plans.guide import begin_plan, change_mode, guide, restart_guide
from palpate.control.plans.guide_tables import load_guide, load_plan
from palpate.frame import EVENT_AT, FAULT, FOLLOW, MODE
from palpate.jit import Block, kernel
from palpate.jit.routines import routine
from palpate.runtime.world.state import load
from palpate.runtime.world.tick import reset_world
from palpate.servo.parts import Part


@routine
def tick_guide(address):
    """The torques of the planned joints; tells their guide what hands do."""
    h, _, _, _, s = load(address)
    g = load_guide(s.guide)[2]
    g.push_N, g.touching, g.moving = s.push_N, s.touching, h.moving
    guide(s.guide)
    s.edit_mode, s.edit_stage = g.mode, g.stage
    return 0


@routine
def take_guide(address):
    """MODE and FOLLOW."""
    h, _, _, _, s = load(address)
    kind = h.event[EVENT_AT.kind]
    if h.state == FAULT or kind not in (MODE, FOLLOW):
        return 0
    if kind == MODE:
        change_mode(load_guide(s.guide)[2], int(h.event_f[EVENT_AT.value]))
    elif h.event[EVENT_AT.event_body] != 0:
        follow(h, s, h.event[EVENT_AT.event_body])
    return 1


@kernel
def follow(h, s, plan):
    """Another plan under the guide, from its beginning; a reset finds it there.  Before the first tick that is now."""
    g = load_guide(s.guide)[2]
    begin_plan(g, plan)
    p = load_plan(plan)[0]
    for n in range(g.q_at.shape[0]):
        s.q_start[g.q_at[n]] = p.q[0, n]
    for k in range(g.v_at.shape[0]):
        s.v_start[g.v_at[k]] = p.v[0, k]
    if h.tick == 0:
        reset_world(s)


@routine
def reset_guide(address):
    restart_guide(load_guide(load(address)[4].guide)[2])
    return 0


@routine
def publish_guide(address):
    """Where the planned joints should be."""
    h, o, _, _, s = load(address)
    g = load_guide(s.guide)[2]
    for k in range(g.q_at.shape[0]):
        h.frames_f[h.frame_at + o.plan_q + g.q_at[k]] = g.q_shown[k]
    return 0


def guide_part(block: Block) -> Part:
    """Of a World whose block that is."""
    return Part(tick_guide, block, take=take_guide, reset=reset_guide, publish=publish_guide)
