"""Speed, side by side with the engines that are installed, in one run and as ratios: `palpate bench`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple


class Bench(NamedTuple):
    """Where a bench is, as "module:function" here: what measures it, what prints it; and the options that it takes."""

    run: str
    table: str
    takes: tuple[str, ...]

    def measure(self, progress: Callable[[str], None], **given: Any) -> dict[str, Any]:
        """Run it with those of the given options that it takes; None is its own default."""
        options = {name: given[name] for name in self.takes if given.get(name) is not None}
        result: dict[str, Any] = _named(self.run)(progress=progress, **options)
        return result

    def show(self, console: Any, result: dict[str, Any]) -> None:
        """Print what it measured."""
        _named(self.table)(console, result)


BENCHES = {
    "dynamics": Bench("dynamics:run", "tables:dynamics_table", ("rounds",)),
    "contact": Bench("contact:run", "tables:contact_table", ("rounds", "quick")),
    "servo": Bench("servo:run", "tables:servo_table", ("seconds",)),
    "link": Bench("link:run", "tables:link_table", ("seconds",)),
    "page": Bench("page:run", "page_tables:page_table", ("seconds",)),
    "avatars": Bench("avatars:run", "tables:avatars_table", ("seconds",)),
    "mobile": Bench("mobile:run", "mobile_table:mobile_table", ("seconds", "quick")),
    "planar": Bench("planar:run", "planar_table:planar_table", ("rounds", "seconds", "quick")),
    "batch": Bench("batch:run", "batch_table:batch_table", ("rounds", "quick")),
    "sweep": Bench("sweep:run", "sweep_table:sweep_table", ("seconds", "quick")),
    "record": Bench("recording:run", "recording_table:record_table", ("seconds",)),
}


def _named(where: str) -> Any:
    module, _, function = where.partition(":")
    return getattr(importlib.import_module(f"{__name__}.{module}"), function)
