"""Vendors' C libraries: where they are looked for, how they are loaded, and what is said when they are missing.

Nothing here is shipped with palpate: the person who has the device has the library.  This file loads no compiler, so
`available` may be asked by anything that lists devices.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palpate.haptics.devices.protocol import DeviceError

SYSTEM_FOLDERS = (
    "~/.local/lib", "/usr/local/lib", "/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
)  # fmt: skip
Prototypes = Mapping[str, tuple[Any, tuple[Any, ...]]]  # name: (result type, argument types)


@dataclass(frozen=True)
class VendorLibrary:
    """One vendor's library: its file names (newest is taken), and the variable that says where its kit is."""

    product: str
    patterns: tuple[str, ...]  # file names, as shell patterns
    variable: str  # of the environment: the folder of the vendor's kit
    kit_folders: tuple[str, ...]  # below it, as shell patterns
    advice: str  # what to do when it is missing

    def folders(self) -> list[Path]:
        """Where it is looked for, in order."""
        kit = os.environ.get(self.variable)
        found = [*(f for below in self.kit_folders for f in sorted(Path(kit).glob(below))), Path(kit)] if kit else []
        given = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
        return found + [Path(folder).expanduser() for folder in (*given, *SYSTEM_FOLDERS)]

    def find(self) -> Path | None:
        """The first file that has its name; the longest name (the fullest version number) within a folder."""
        for folder in self.folders():
            files = [file for pattern in self.patterns for file in folder.glob(pattern) if file.is_file()]
            if files:
                return max(files, key=lambda file: (len(file.name), file.name))
        return None

    def looked(self) -> str:
        return f"${self.variable}, $LD_LIBRARY_PATH and {', '.join(SYSTEM_FOLDERS[1:4])}"

    def available(self) -> str:
        """One line: what was found, or why not; loads nothing."""
        file = self.find()
        return f"found {file}" if file else f"not found: {self.patterns[0]} in {self.looked()}"

    def load(self, library: Any = None) -> Any:
        """The loaded library: the one found, one at a path, or an object that stands for it."""
        if sys.platform == "win32":
            raise DeviceError(f"{self.product}: this driver is written for Linux")
        if library is not None and not isinstance(library, str | os.PathLike):
            return library
        file = Path(library) if library is not None else self.find()
        if file is None:
            raise DeviceError(f"{self.product}: no {self.patterns[0]} in {self.looked()}; {self.advice}")
        try:
            return ctypes.CDLL(str(file))
        except OSError as error:
            raise DeviceError(f"{self.product}: {file} cannot be loaded ({error}); {self.advice}") from None


def bind(product: str, library: Any, prototypes: Prototypes) -> None:
    """Give each function its types; a function that is not there is an error that names it."""
    for name, (result, arguments) in prototypes.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise DeviceError(f"{product}: its library has no {name}; install a newer one") from None
        function.restype, function.argtypes = result, list(arguments)


def symbol_address(library: Any, name: str) -> int:
    """Where a function of a loaded library lies, for compiled code."""
    return int(ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0)


FORCE_DIMENSION = VendorLibrary(
    "Force Dimension",
    ("libdrd.so*",),
    "FDSDK",
    ("lib/release/*", "lib"),
    "install the Force Dimension SDK (3.16 or newer) and set FDSDK to its folder",
)
OPENHAPTICS = VendorLibrary(
    "OpenHaptics",
    ("libHD.so*",),
    "OH_SDK_BASE",
    ("usr/lib", "lib", "lib64"),
    "install the OpenHaptics runtime and the Touch device driver, or set OH_SDK_BASE to its folder",
)
