"""Builds the page into sdist and wheel, and the kernels of `palpate touch` into the wheel.

An editable installation leaves the page to `make page`, and kernels to the first start.  PALPATE_PREBUILT=0 leaves the
kernels out of a wheel, which then is for every system.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = "palpate/jit/built"  # as palpate/jit/cache/prebuilt.py looks for them


class PageAndKernels(BuildHookInterface):
    """`palpate/page/static` is ignored by git and listed as an artifact in pyproject.toml."""

    scratch = ""

    @property
    def with_kernels(self) -> bool:
        return self.target_name == "wheel" and os.environ.get("PALPATE_PREBUILT") != "0"

    def dependencies(self) -> list[str]:
        builder = _builder(self.root)
        needed = [] if builder.node_on_path() else [builder.NODE_PACKAGE]
        return needed + (self.metadata.core.dependencies if self.with_kernels else [])  # to run what it compiles

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        _builder(self.root).build()
        if self.with_kernels:
            self.scratch = tempfile.mkdtemp(prefix="palpate-wheel-")
            kernels, sources = Path(self.scratch) / "built", Path(self.scratch) / "sources"
            # A copy: pip takes this folder off the path of a build where it is also that of an editable installation.
            ignored = shutil.ignore_patterns("__pycache__", "static")
            shutil.copytree(Path(self.root) / "palpate", sources / "palpate", ignore=ignored)
            path = os.pathsep.join(filter(None, [str(sources), os.environ.get("PYTHONPATH")]))
            command = [sys.executable, "-m", "palpate.runtime.prebuild", str(kernels)]
            subprocess.run(command, check=True, cwd=self.scratch, env=os.environ | {"PYTHONPATH": path})
            if kernels.is_dir():  # not on a machine that cannot run them
                build_data["force_include"][str(kernels)] = KERNELS
                build_data |= {"pure_python": False, "infer_tag": True}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.scratch:
            shutil.rmtree(self.scratch)


def _builder(root: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_page", Path(root) / "web" / "build_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
