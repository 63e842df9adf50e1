"""XML files as elements that know their line, on the standard library's parser.

Every complaint is one line that begins "file:line:".  An entity may stand for a file of this machine or, a few of them
made of each other, for more than the memory holds: a file that declares one is refused, and so is one so deep that
whoever follows its elements into each other runs out of stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from palpate.model.description import ModelError

DEEPEST = 500  # elements within each other; MuJoCo's parser has the same limit, robots in daily use have less than 50


@dataclass
class Node:
    """One XML element and the line it begins on."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Node] = field(default_factory=list)

    def all(self, tag: str) -> list[Node]:
        return [child for child in self.children if child.tag == tag]

    def find(self, tag: str) -> Node | None:
        return next(iter(self.all(tag)), None)

    def walk(self) -> Iterator[Node]:
        """This element and all within it, in the order of the file."""
        waiting = [self]
        while waiting:
            yield (node := waiting.pop())
            waiting += reversed(node.children)


def read_xml(path: Path) -> Node:
    """The root element of a file; malformed XML is a ModelError with its line."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from None
    top = Node("", {}, 0)
    open_nodes = [top]

    def start(tag: str, attributes: dict[str, str], line: int) -> None:
        node = Node(tag, attributes, line)
        open_nodes[-1].children.append(node)
        open_nodes.append(node)

    _parse(data, path.name, start, open_nodes.pop)
    return top.children[0]


def check_xml(data: bytes, name: str) -> None:
    """Nothing if other parsers may read this XML, or a ModelError as of `read_xml`."""
    _parse(data, name, lambda *_: None, lambda: None)


def _parse(
    data: bytes, name: str, start: Callable[[str, dict[str, str], int], None], end: Callable[[], object]
) -> None:
    """Call `start` (tag, attributes, line) and `end` for each element."""
    depth = 0

    def fail(line: int, why: str) -> ModelError:
        return ModelError(f"{name}:{line}: {why}")

    def started(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        if (depth := depth + 1) > DEEPEST:
            raise fail(parser.CurrentLineNumber, f"more than {DEEPEST} elements are nested in each other")
        start(tag, attributes, parser.CurrentLineNumber)

    def ended(_: str) -> None:
        nonlocal depth
        depth -= 1
        end()

    def entity(entity_name: str, *_: object) -> None:
        raise fail(parser.CurrentLineNumber, f"the entity {entity_name!r} is declared; write what it means")

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = entity
    parser.StartElementHandler = started
    parser.EndElementHandler = ended
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise fail(error.lineno, f"malformed XML: {expat.ErrorString(error.code)}") from None
    except ModelError:
        raise
    except (LookupError, ValueError) as error:  # of an encoding that Python does not know, or not byte by byte
        raise fail(parser.CurrentLineNumber, f"malformed XML: {error}") from None
