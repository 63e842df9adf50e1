"""Newton's restitution: a pair of materials bounces with the same coefficient at every speed.

    e = -(speed after) / (speed before)

I. Newton, Principia, 1687, scholium to the laws of motion.
"""

from palpate.contact.laws import restitution_law


@restitution_law
def constant(e, approach_m_s):
    """The pair's own coefficient."""
    return e
