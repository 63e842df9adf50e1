"""Builds the page into sdist and wheel.  An editable installation leaves it to `make page`."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface):
    """`palpate/page/static` is ignored by git and listed as an artifact in pyproject.toml."""

    def dependencies(self) -> list[str]:
        builder = _builder(self.root)
        return [] if builder.node_on_path() else [builder.NODE_PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            _builder(self.root).build()


def _builder(root: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_page", Path(root) / "web" / "build_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
