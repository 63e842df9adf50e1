"""A table of a TOML file that is asked for its keys one by one; what cannot be, and what nobody asked for, is a
ValueError with one line.

A study says of a mistake in which file and table it is, a sweep with which name: SAID and SWEPT.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from palpate.registry import guess

REQUIRED: Any = object()
SAID = "{where}: {key} is {what}, not {value!r:.60}"
SWEPT = "{where}{key} must be {what}, got {value!r}"
MOST = 10**12


class Table:
    """A table of a TOML file: each key is asked for, and what nobody asked for is a mistake.

    sentence  of a mistake: which key, what it is to be, and what it is
    """

    def __init__(self, said: Mapping[str, Any], where: str, sentence: str = SAID) -> None:
        self.said, self.where, self.used, self.sentence = said, where, set[str](), sentence

    def wrong(self, key: str, what: str, value: Any) -> ValueError:
        """A mistake, to be raised."""
        return ValueError(self.sentence.format(where=self.where, key=key, what=what, value=value))

    def _get(self, key: str, usual: Any) -> Any:
        self.used.add(key)
        if key not in self.said and usual is REQUIRED:
            raise ValueError(f"{self.where} has no {key!r}")
        return self.said.get(key, usual)

    def written(self, key: str, usual: Any = REQUIRED) -> str:
        """A text as it is, spaces around it too."""
        value = self._get(key, usual)
        if not isinstance(value, str):
            raise self.wrong(key, "a text", value)
        return value

    def text(self, key: str, usual: Any = REQUIRED) -> str:
        return self.written(key, usual).strip()

    def number(self, key: str, usual: Any = REQUIRED, low: float = -1e12, high: float = 1e12) -> Any:
        value = self._get(key, usual)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise self.wrong(key, f"a number from {low:g} to {high:g}", value)
        return float(value)

    def whole(self, key: str, usual: Any = REQUIRED, low: int = 0, high: int = 2**31) -> int:
        value = self.number(key, usual, low, high)
        if value != int(value):
            raise ValueError(f"{self.where}: {key} is a whole number, not {value:g}")
        return int(value)

    def count(self, key: str, usual: Any, least: int) -> int:
        """A whole number as TOML writes it: 2, not 2.0."""
        value = self._get(key, usual)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST:
            raise self.wrong(key, f"a whole number from {least} on", value)
        return value

    def yes(self, key: str, usual: bool) -> bool:
        value = self._get(key, usual)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false", value)
        return value

    def numbers(self, key: str, usual: Any = REQUIRED) -> list[float]:
        value = self._get(key, usual)
        if not isinstance(value, (list, tuple)) or any(type(x) not in (int, float) for x in value):
            raise self.wrong(key, "a list of numbers", value)
        return [float(x) for x in value]

    def one_of(self, key: str, known: Iterable[str], usual: Any = REQUIRED) -> str:
        value = self.text(key, usual)
        if value not in known:
            raise self.wrong(key, f"one of {', '.join(known)}", value)
        return value

    def some_of(self, key: str, known: Iterable[str], usual: tuple[str, ...]) -> tuple[str, ...]:
        value = self._get(key, list(usual))
        if not isinstance(value, list) or any(x not in known for x in value):
            raise self.wrong(key, f"a list of {', '.join(known)}", value)
        return tuple(value)

    def names(self, key: str) -> dict[str, Any]:
        """A table whose names somebody else knows, with whatever is in it."""
        value = self._get(key, {})
        if not isinstance(value, Mapping):
            raise self.wrong(key, "a table", value)
        return dict(value)

    def free(self, key: str) -> dict[str, Any]:
        """The same, of numbers and names."""
        value = self.names(key)
        if odd := [name for name, x in value.items() if not isinstance(x, (int, float, str))]:
            raise ValueError(f"{self.where}: {key} holds numbers and names, unlike {', '.join(odd)}")
        return value

    def table(self, key: str) -> Table:
        value = self._get(key, REQUIRED)
        if not isinstance(value, dict):
            raise ValueError(f"{self.where}: {key} is a table, [{key}]")
        return Table(value, f"{self.where}, [{key}]")

    def tables(self, key: str) -> dict[str, Table]:
        value = self._get(key, {})
        if not isinstance(value, dict) or not all(isinstance(x, dict) for x in value.values()):
            raise ValueError(f"{self.where}: {key} are tables, [{key}.NAME]")
        return {name: Table(x, f"{self.where}, [{key}.{name}]") for name, x in value.items()}

    def only(self, keys: Collection[str], of: str) -> None:
        """The same as `done`, before any is asked for."""
        for key in self.said:
            if key not in keys:
                hint = guess(key, keys, f"it takes {', '.join(keys)}")
                raise ValueError(f"{of} has no {key!r}; {hint}")

    def done(self) -> None:
        """Nothing may be left that nobody asked for."""
        for key in self.said:
            if key not in self.used:
                raise ValueError(f"{self.where}: there is no {key!r}; {guess(key, self.used)}")
