"""The stages of the step one by one, for a world that steps in Python."""

from palpate.contact.warm import remember
from palpate.jit import entry
from palpate.world.advance import accelerations_of_vectors, advance, free_velocities, from_start
from palpate.world.blows import choose_blows
from palpate.world.bounce import part_that_keeps_energy
from palpate.world.joints import joint_torques
from palpate.world.state import AT_START, load
from palpate.world.step import begin_step, place, put_rows


@entry("intp")
def torques_entry(address):
    """torque and armature."""
    m, _, _, _, _, s = load(address)
    joint_torques(m, s, s.q, s.v, s.dt)


@entry("intp")
def free_velocities_entry(address):
    """v_next from a at the beginning of the step."""
    m, w, _, _, _, s = load(address)
    place(address)
    s.way[:] = AT_START
    from_start(m, s)
    accelerations_of_vectors(m, s.v, s.a)
    free_velocities(m, w, s, s.dt)


@entry("intp")
def rows_entry(address):
    """Rows of the contacts that are there, and of joints and connections; False if a law failed."""
    begin_step(address)
    return put_rows(address) != 0


@entry("intp")
def choose_blows_entry(address):
    """A round of blows at the velocities in r.u: see `choose_blows`."""
    m, _, g, c, r, s = load(address)
    return choose_blows(m, g, c, r, s)


@entry("float64, float64, float64")
def part_entry(at_rest, slope, bend):
    """See `part_that_keeps_energy`."""
    return part_that_keeps_energy(at_rest, slope, bend)


@entry("intp")
def remember_entry(address):
    """Impulses of the contacts, for the next step."""
    _, _, _, _, r, _ = load(address)
    remember(r)


@entry("intp")
def advance_entry(address):
    """q_next along shift, v_next in the new axes; link_slot says which links are touched."""
    m, _, _, _, r, s = load(address)
    advance(m, s, r.link_slot, s.shift, s.dt)
