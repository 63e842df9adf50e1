"""What experiments left in a folder: their reports, checked, and the files that these name, piece by piece.

A report.json may be of another version, half written or edited by hand: what cannot be read is said in one line, and
numbers that are none (a claim about a run that came to nothing) become None, for JSON that a browser reads has no NaN.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from palpate.runtime.page.json_numbers import finite_number

REPORT = "report.json"
LARGEST_REPORT = 4 * 2**20  # bytes; those of the experiments here have a few thousand
LARGEST_FILE = 64 * 2**20
SEPARATORS = set('/\\:*?"<>|')  # of folders, and what some system does not take in a name
LONGEST_NAME = 80  # characters: in any script below the 255 bytes of a file system
# Bytes in one answer: few, for frames go through the same socket; of three, so that base64 has no padding between.
PIECE = 3 * 2**16


class Results:
    """The newest results of every experiment below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def brief(self, name: str) -> dict[str, Any] | None:
        """Whether its claims hold, in numbers; None: there are no results that can be read."""
        try:
            report = self.report(name)
        except ValueError:
            return None
        claims = report["claims"]
        return {"met": sum(c["passed"] for c in claims), "of": len(claims), "when": report["when"]}

    def report(self, name: str) -> dict[str, Any]:
        """What a page shows of a report; a ValueError says why there is none."""
        document, when = self._document(name)
        try:
            claims = [_claim(claim) for claim in document["claims"]]
            figures = _figures([str(file) for file in document["figures"]])
            recordings = [str(file) for file in document.get("recordings", [])]
            options = {str(key): str(value) for key, value in document.get("options", {}).items()}
        except (KeyError, TypeError, AttributeError):
            raise ValueError(f"{self._at(name, REPORT)} is not a report of an experiment") from None
        return {
            "name": name, "claims": claims, "figures": figures, "recordings": recordings, "options": options,
            "seconds": finite_number(document.get("seconds")), "when": when, "folder": f"{self._folder.name}/{name}",
        }  # fmt: skip

    def piece(self, name: str, file: str, start: int) -> tuple[bytes, int, str]:
        """Some bytes of a file that the report names, or of the report itself; how many there are, and when made."""
        if file != REPORT and file not in [f"{f['name']}.{s}" for f in self.report(name)["figures"] for s in f["as"]]:
            raise ValueError(f"the experiment {name!r} has no figure {file!r}")
        try:
            with open(self._folder / name / file, "rb") as opened:
                size = opened.seek(0, 2)
                if size > LARGEST_FILE:
                    raise ValueError(f"{file} is too large for a page; it is {self._at(name, file)}")
                opened.seek(start)
                made = (self._folder / name / file).stat().st_mtime_ns
                return opened.read(PIECE), size, str(made)  # as text: it has more digits than a browser's numbers
        except OSError:
            raise ValueError(f"{self._at(name, file)} cannot be read") from None

    def _at(self, name: str, file: str) -> str:
        """Where a file lies, for people: pages need not see more of this machine's folders."""
        return f"{self._folder.name}/{name}/{file}"

    def _document(self, name: str) -> tuple[dict[str, Any], float]:
        path = self._folder / name / REPORT
        try:
            if path.stat().st_size > LARGEST_REPORT:
                raise ValueError
            document, when = json.loads(path.read_text(encoding="utf-8")), path.stat().st_mtime
        except FileNotFoundError:
            raise ValueError(f"{name} has not run yet") from None
        except (OSError, ValueError, RecursionError):
            raise ValueError(f"{self._at(name, REPORT)} cannot be read") from None
        if not isinstance(document, dict):
            raise ValueError(f"{self._at(name, REPORT)} is not a report of an experiment")
        return document, when


def _claim(claim: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": str(claim["name"]), "value": finite_number(claim["value"]), "low": finite_number(claim.get("low")),
        "high": finite_number(claim.get("high")), "unit": str(claim.get("unit", "")), "passed": claim["passed"] is True,
    }  # fmt: skip


def file_name(text: str) -> str:
    """A text as the name of a file that a page offers to save: letters of any script, digits and - . ( ), no more."""
    return re.sub(r"[^\w .()-]", "_", text)[:LONGEST_NAME].strip(" .") or "_"


def _figures(files: list[str]) -> list[dict[str, Any]]:
    """By name, as what each is there; only names of files beside the report."""
    found: dict[str, list[str]] = {}
    for file in files:
        stem, _, suffix = file.rpartition(".")
        named = stem and file.isprintable() and not stem.startswith(".") and not SEPARATORS & set(file)
        if named and suffix in ("png", "svg"):
            found.setdefault(stem, []).append(suffix)
    return [{"name": stem, "as": suffixes} for stem, suffixes in found.items()]
