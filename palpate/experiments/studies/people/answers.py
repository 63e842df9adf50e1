"""Answers of one participant: a file of JSON lines, one for each trial, on the disk before the next trial begins.

The first line says whose it is: a number, never a name.  A line that was cut off by a lost power is left out, and the
study goes on at the trial that it was of.
"""

from __future__ import annotations

import json
import os
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from palpate.experiments.studies.people.plan import Study

MOST_PARTICIPANTS = 9999


def answers_path(folder: Path, participant: int) -> Path:
    return folder / f"participant-{participant:03d}.jsonl"


class Answers:
    """Those so far, and the file to which more are added: `with Answers(...) as answers: answers.add(...)`."""

    def __init__(self, folder: Path, study: Study, participant: int) -> None:
        if not 1 <= participant <= MOST_PARTICIPANTS:
            raise ValueError(f"participants are numbers from 1 to {MOST_PARTICIPANTS}, not {participant}")
        self.path, self.study, self.participant = answers_path(folder, participant), study, participant
        self.done: list[dict[str, Any]] = []
        whole = 0
        if self.path.exists():
            header, self.done, whole = read_answers(self.path)
            self._check(header)
        folder.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("r+b" if self.path.exists() else "w+b")
        self._file.truncate(whole)
        self._file.seek(whole)
        if whole == 0:
            self._write({"study": study.name, "fingerprint": study.fingerprint, "participant": participant,
                         "palpate": version("palpate")})  # fmt: skip

    def _check(self, header: dict[str, Any]) -> None:
        """ValueError unless there is something left to do, of the same plan."""
        if header and header.get("fingerprint") != self.study.fingerprint:
            raise ValueError(f"participant {self.participant} has answers to another plan in {self.path}: the study's "
                             "file was changed since; give another number, or another folder by --out")  # fmt: skip
        if self.done and self.done[-1].get("kind") == "end":
            raise ValueError(f"participant {self.participant} has done this study, in {self.path}: give another number")

    def add(self, **answer: Any) -> None:
        """One more line, on the disk when this returns."""
        self.done.append(answer)
        self._write(answer)

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> Answers:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def read_answers(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
    """The first line, the others, and how many bytes of the file are whole lines."""
    header: dict[str, Any] = {}
    lines: list[dict[str, Any]] = []
    whole = 0
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), start=1):
        if not line.endswith(b"\n"):
            break
        try:
            said = json.loads(line)
        except ValueError:
            said = None
        if not isinstance(said, dict) or (number == 1 and "participant" not in said):
            raise ValueError(f"{path}, line {number}: not an answer of a study; move the file away") from None
        whole += len(line)
        if number == 1:
            header = said
        else:
            lines.append(said)
    return header, lines, whole


def now_utc() -> str:
    """For a line: when."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
