"""A table of a TOML file that is asked for its keys one by one; what cannot be, and what nobody asked for, is a
ValueError with one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from palpate.registry import guess

REQUIRED: Any = object()


class Table:
    """A table of a TOML file: each key is asked for, and what nobody asked for is a mistake."""

    def __init__(self, said: Mapping[str, Any], where: str) -> None:
        self.said, self.where, self.used = said, where, set[str]()

    def _get(self, key: str, usual: Any) -> Any:
        self.used.add(key)
        if key not in self.said and usual is REQUIRED:
            raise ValueError(f"{self.where} has no {key!r}")
        return self.said.get(key, usual)

    def text(self, key: str, usual: Any = REQUIRED) -> str:
        value = self._get(key, usual)
        if not isinstance(value, str):
            raise ValueError(f"{self.where}: {key} is a text, not {value!r:.60}")
        return value.strip()

    def number(self, key: str, usual: Any = REQUIRED, low: float = -1e12, high: float = 1e12) -> Any:
        value = self._get(key, usual)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise ValueError(f"{self.where}: {key} is a number from {low:g} to {high:g}, not {value!r:.60}")
        return float(value)

    def whole(self, key: str, usual: Any = REQUIRED, low: int = 0, high: int = 2**31) -> int:
        value = self.number(key, usual, low, high)
        if value != int(value):
            raise ValueError(f"{self.where}: {key} is a whole number, not {value:g}")
        return int(value)

    def yes(self, key: str, usual: bool) -> bool:
        value = self._get(key, usual)
        if not isinstance(value, bool):
            raise ValueError(f"{self.where}: {key} is true or false, not {value!r:.60}")
        return value

    def numbers(self, key: str, usual: Any = REQUIRED) -> list[float]:
        value = self._get(key, usual)
        if not isinstance(value, (list, tuple)) or any(type(x) not in (int, float) for x in value):
            raise ValueError(f"{self.where}: {key} is a list of numbers, not {value!r:.60}")
        return [float(x) for x in value]

    def one_of(self, key: str, known: Iterable[str], usual: Any = REQUIRED) -> str:
        value = self.text(key, usual)
        if value not in known:
            raise ValueError(f"{self.where}: {key} is one of {', '.join(known)}, not {value!r:.60}")
        return value

    def some_of(self, key: str, known: Iterable[str], usual: tuple[str, ...]) -> tuple[str, ...]:
        value = self._get(key, list(usual))
        if not isinstance(value, list) or any(x not in known for x in value):
            raise ValueError(f"{self.where}: {key} is a list of {', '.join(known)}, not {value!r:.60}")
        return tuple(value)

    def free(self, key: str) -> dict[str, Any]:
        """A table whose names somebody else knows."""
        value = self._get(key, {})
        if not isinstance(value, dict):
            raise ValueError(f"{self.where}: {key} is a table, not {value!r:.60}")
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

    def done(self) -> None:
        """Nothing may be left that nobody asked for."""
        for key in self.said:
            if key not in self.used:
                raise ValueError(f"{self.where}: there is no {key!r}; {guess(key, self.used)}")
