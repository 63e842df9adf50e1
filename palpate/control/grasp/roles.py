"""Roles of two who carry one object: one leads, the other listens to its palms (avatars.md 5).

Who is told where to lead it, leads from then on.  They change roles, too, when the follower is pushed: the mean of what
its palms feel, over MEAN_S, is above SWAP_N for SWAP_S.  A leader that becomes the follower stops where it is.

r Roles;  g Grasp of one of them
"""

from __future__ import annotations

import math

from palpate.control.grasp.grasp_tables import load_grasp
from palpate.control.grasp.grasping import Grasping
from palpate.control.part import ControlPart, Shown
from palpate.frame import Field
from palpate.jit import Block, Struct, Vector, block_loader, kernel
from palpate.jit.routines import routine
from palpate.spatial.vectors import add_scaled, sub

SWAP_N, SWAP_S, MEAN_S = 10.0, 0.5, 0.25


class Roles(Struct):
    first: int  # addresses of both grasps' blocks
    second: int
    dt: float
    leads: int  # 0 or 1, and
    leads_first: int  # after a reset
    told_first: float  # where each was told to lead it last [m]
    told_second: float
    felt: Vector  # what the follower's palms feel, in the mean [N]
    pushed_s: float  # how long that has been more than SWAP_N


load_roles = block_loader((Roles, False))


@kernel
def give_roles(r, leads):
    """Who leads goes by its own; who does not listens, and stops leading where it is."""
    r.leads, r.pushed_s, r.felt = leads, 0.0, (0.0, 0.0, 0.0)
    for k in range(2):
        g = load_grasp(r.second if k else r.first)[5]
        g.listens = 0 if k == leads else 1
        if k != leads:
            g.go_m, g.go_from_m, g.go_to_m = g.gone_m, g.gone_m, g.gone_m
    r.told_first, r.told_second = load_grasp(r.first)[5].go_m, load_grasp(r.second)[5].go_m


@kernel
def is_pushed(r, g):
    """Whether the follower has been pushed for long enough."""
    r.felt = add_scaled(r.felt, r.dt / (MEAN_S + r.dt), sub(g.felt, r.felt))
    push = math.sqrt(r.felt[0] * r.felt[0] + r.felt[1] * r.felt[1])
    r.pushed_s = r.pushed_s + r.dt if push > SWAP_N else 0.0
    return r.pushed_s > SWAP_S


@routine
def share_roles(address):
    r = load_roles(address)[0]
    first, second = load_grasp(r.first)[5], load_grasp(r.second)[5]
    if first.go_m != r.told_first:
        told = first.go_m
        give_roles(r, 0)
        r.told_first = first.go_m = told
    elif second.go_m != r.told_second:
        told = second.go_m
        give_roles(r, 1)
        r.told_second = second.go_m = told
    elif is_pushed(r, first if r.leads else second):
        give_roles(r, 1 - r.leads)
    return 0


@routine
def forget_roles(address):
    r = load_roles(address)[0]
    for address_of in (r.first, r.second):
        load_grasp(address_of)[5].go_m = 0.0
    give_roles(r, r.leads_first)
    return 0


class Sharing:
    """Of two grasps of one object: `actor.add(Sharing(first, second).part)` on the second, after both."""

    def __init__(self, first: Grasping, second: Grasping, leader: int = 0) -> None:
        world = first.actor.avatar.world
        self.roles = Roles(first=first.block.address, second=second.block.address, dt=first.actor.world.dt,
                           leads=leader, leads_first=leader)  # fmt: skip
        self._grasps = (first, second)
        leads = Field("carry_leads", "i", (), "who leads what two carry: 0 the first, 1 the second")
        self.part = ControlPart(
            "roles", share_roles, Block(self.roles), reset=forget_roles, world=world,
            shows=(Shown(leads, self.roles, "leads"),), keeps=self,
        )  # fmt: skip
