"""Behaviours: what an avatar does, one per file.  `machine.py` decides which; a user's own needs no line here.

Names as "module:attribute" of a Behaviour (rows.py), or entry points of the group "palpate.behaviours".
"""

from palpate.registry import Registry

PLACE = "palpate.control.behaviours"
BEHAVIOURS: Registry = {  # the first is where an avatar begins
    "stand": (f"{PLACE}.stand:stand", "hands at rest, gaze ahead"),
    "acknowledge": (f"{PLACE}.acknowledge:acknowledge", "nods when it is tapped"),
    "look": (f"{PLACE}.look:look", "looks at what touched it, and then at the person"),
    "soften": (f"{PLACE}.soften:soften", "its arms give in to a stroke"),
    "follow": (f"{PLACE}.follow:follow", "goes where its hand is led"),
    "yield": (f"{PLACE}.yielding:yielding", "leans away from a push at the trunk"),
    "shake": (f"{PLACE}.shake:shake", "offers a hand, and shakes the one that takes it"),
    "take": (f"{PLACE}.carry:take", "takes what is in front of it"),
    "carry": (f"{PLACE}.carry:carry", "carries it, and goes along with who leads it"),
    "put down": (f"{PLACE}.carry:put_down", "puts it where something bears it, and lets go"),
    "hand over": (f"{PLACE}.carry:hand_over", "holds it out until it is taken"),
    "let go": (f"{PLACE}.carry:let_go", "opens its hands"),
    "brace": (f"{PLACE}.brace:brace", "drops all else when it is about to tip"),
    "safe": (f"{PLACE}.safe:safe", "stays as it is until a person says reset"),
}
