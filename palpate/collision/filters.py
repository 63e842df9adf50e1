"""Who never touches whom, and why: the pairs of proxies that detection leaves out.

- what moves as one (one link), and what never moves (static against static): detection sees that by itself
- what nothing can push: a placed body against static and other placed ones
- a link and the one it hangs on; a first moving link and its own fixed base, but not the rest of the static world
- pairs of names the user gives
- links of one tree whose shapes overlap where the model starts: they were drawn so (geometry.py finds these)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from palpate.model.description import WORLD_NAME
from palpate.model.model import Model

Pair = tuple[int, int]
Ignore = Iterable[tuple[str, str]]


def roots(model: Model) -> list[int]:
    """For each body row, the row of its ancestor that hangs on the world: bodies with the same one are one tree."""
    found = [0]
    for row in range(1, model.n_bodies):
        parent = _parent(model, row)
        found.append(found[parent] if parent else row)
    return found


def welds(model: Model) -> list[int]:
    """For each body row, the first row of what it is welded to; the world itself welds nothing together."""
    found = [0]
    for row in range(1, model.n_bodies):
        parent, joint = _parent(model, row), model.parent_joint(row)
        found.append(found[parent] if parent and joint is not None and joint.kind == "fixed" else row)
    return found


def _parent(model: Model, row: int) -> int:
    joint = model.parent_joint(row)
    return model.body(joint.parent) if joint is not None and joint.parent != WORLD_NAME else 0


def neighbours(model: Model) -> set[Pair]:
    """Pairs of welds, as `welds` numbers them, that a joint connects."""
    weld = welds(model)
    pairs = set()
    for row in range(1, model.n_bodies):
        parent = _parent(model, row)
        if parent and weld[parent] != weld[row]:
            pairs.add(_ordered(weld[parent], weld[row]))
    return pairs


def placed(model: Model) -> set[int]:
    """Body rows that are placed, and what is welded to them: they move only when they are put somewhere."""
    found, root = set(), roots(model)
    for row in range(1, model.n_bodies):
        joint = model.parent_joint(root[row])
        if joint is not None and joint.placed:
            found.add(row)
    return found


def named(model: Model, ignore: Ignore, parts: Mapping[str, Sequence[str]]) -> set[Pair]:
    """Pairs of body rows that `ignore` names."""
    pairs = set()
    for pair in ignore:
        if isinstance(pair, str) or len(tuple(pair)) != 2:
            raise ValueError(f"ignore takes pairs of names, got {pair!r}")
        first, second = (_rows(model, name, parts) for name in pair)
        pairs |= {_ordered(a, b) for a in first for b in second if a != b}
    return pairs


def _rows(model: Model, name: str, parts: Mapping[str, Sequence[str]]) -> list[int]:
    """Rows of the bodies a name means: a part of the world, a copy's prefix, the whole model, or one body."""
    if name in parts:
        return [model.body(body) for body in parts[name]]
    inside = [row for row, body in enumerate(model.body_names) if body.startswith(name + "/")]
    if inside:
        return inside
    if name == model.name and name not in model.body_names:
        return list(range(1, model.n_bodies))
    return [model.body(name)]


def _ordered(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)
