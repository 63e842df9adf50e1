"""Warm start: every row begins with the impulse it had in the last step, and what laws keep of a contact.

Rows are known again by a key: contacts by their shapes and features, others by their joint or connection.  Impulses of
contacts are kept in world axes, others as they are.  (Moving them on by their last change was tried and made it worse:
points of a patch share a load in many ways, and the share wanders.)
"""

from palpate.contact.rows import CONTACT
from palpate.jit import kernel
from palpate.spatial.vectors import add_scaled, dot, get3, put3, scale


@kernel
def contact_key(shape_a, shape_b, feature):
    """Of a pair of shapes and their features.  Two may share one, if ever, at the cost of a bad start."""
    return feature ^ (shape_a << 46) ^ (shape_b << 30)


@kernel
def joint_key(axis, what):
    """Of the lower end (0), the upper end (1) or the dry friction (2) of an axis."""
    return -1 - (4 * axis + what)


@kernel
def connection_key(k, what):
    """Of the point (0) or the orientation (1) of a connection."""
    return -1 - (1 << 40) - (2 * k + what)


@kernel
def place_of(r, key):
    """Where the hash table has the key, or the empty place where it would go; `hashed` is how large it is."""
    mask = r.hashed - 1
    at = (key ^ (key >> 7) ^ (key >> 13) ^ (key >> 27) ^ (key >> 38)) & mask  # shapes and features in the lowest digits
    while r.hash[at] >= 0 and r.warm_key[r.hash[at]] != key:
        at = (at + 1) & mask
    return at


@kernel
def last_row(r, key, likely):
    """Row of the last step with this key, or -1; `likely` is where it would be if nothing had changed."""
    n = r.n_warm
    if likely < n and r.warm_key[likely] == key:
        return likely
    if n == 0:
        return -1
    if r.hashed == 0:  # the first surprise of this step: now it pays to sort them
        r.hashed = 1
        while r.hashed < min(4 * n, r.hash.shape[0]):  # no larger than it must be: it has to be cleared
            r.hashed *= 2
        r.hash[: r.hashed] = -1
        for k in range(n):
            r.hash[place_of(r, r.warm_key[k])] = k
    return r.hash[place_of(r, key)]


@kernel
def along(r, i, row):
    """Direction of a row of a contact, read from the side of b, or of a if b is placed or sleeps."""
    if r.slot[2 * i + 1]:
        at, sign = 21 + 6 * row, 1.0
    else:
        at, sign = 3 + 6 * row, -1.0
    return (sign * r.J[i, at], sign * r.J[i, at + 1], sign * r.J[i, at + 2])


@kernel
def carry_states(friction, restitution, i, last_friction, last_restitution, k):
    """What the laws keep of a contact, in row i, from row k of others; -1: zero, as for a new contact."""
    for j in range(friction.shape[1]):
        friction[i, j] = last_friction[k, j] if k >= 0 else 0.0
    for j in range(restitution.shape[1]):
        restitution[i, j] = last_restitution[k, j] if k >= 0 else 0.0


@kernel
def recall(r, i, key):
    """lam of row i from the last step, and its laws' states, if it was there."""
    r.key[i] = key
    k = last_row(r, key, i)
    carry_states(r.friction_state, r.restitution_state, i, r.warm_friction, r.warm_restitution, k)
    r.stepped[i], r.fresh[i] = 0, k < 0
    if k < 0:
        return
    r.stepped[i] = r.warm_impulse[k, 3] != 0.0
    x = get3(r.warm_impulse, k)
    if r.kind[i] == CONTACT:
        x = (dot(along(r, i, 0), x), dot(along(r, i, 1), x), dot(along(r, i, 2), x))
    put3(r.lam, i, x)


@kernel
def remember(r):
    """The impulses and the laws' states, for the next step."""
    for i in range(r.n_kept, r.n_rows):
        x = get3(r.lam, i)
        if r.kind[i] == CONTACT:
            n, t1, t2 = along(r, i, 0), along(r, i, 1), along(r, i, 2)
            x = add_scaled(add_scaled(scale(x[0], n), x[1], t1), x[2], t2)
        put3(r.warm_impulse, i, x)
        r.warm_impulse[i, 3] = r.stepped[i]
        r.warm_key[i] = r.key[i]
        carry_states(r.warm_friction, r.warm_restitution, i, r.friction_state, r.restitution_state, i)
    r.n_warm = r.n_rows
