"""What the answers say: `palpate study FILE --report`.  report.json, figures, and one tidy table of all trials.

Of each participant in each condition a threshold with its interval (estimate.py), or what the method gives instead; of
each condition the mean over participants.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from palpate.experiments.report import Report
from palpate.experiments.studies.people import estimate
from palpate.experiments.studies.people.answers import read_answers
from palpate.experiments.studies.people.estimate import Estimate
from palpate.experiments.studies.people.order import generator
from palpate.experiments.studies.people.plan import Study, nearest
from palpate.whole_files import write_whole

COLUMNS = ("participant", "trial", "block", "condition", "practice", "level", "odd", "answer", "hit", "again",
           "response_s", "utc")  # fmt: skip
Lines = list[dict[str, Any]]


def collect(folder: Path, study: Study) -> dict[int, Lines]:
    """The lines of each participant; of those who have not finished too."""
    found: dict[int, Lines] = {}
    for path in sorted(folder.glob("participant-*.jsonl")):
        header, lines, _ = read_answers(path)
        if header and header.get("fingerprint") != study.fingerprint:
            raise ValueError(f"{path} has answers to another plan: the file of the study was changed since")
        if header:
            found[int(header["participant"])] = lines
    if not any(found.values()):
        raise ValueError(f"nobody has answered yet: no participant-*.jsonl with answers in {folder}")
    return found


def analyse(study: Study, folder: Path, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Write report.json, answers.csv and figures into the folder; the report as a dict."""
    from palpate.experiments.studies.people.figures import draw

    people, report = collect(folder, study), Report(study.name, folder, say)
    rows = [_row(study, people[number], number, condition.name) for number in people for condition in study.conditions]
    rows = [row for row in rows if row["trials"]]
    document = {
        "study": study.name, "title": study.title, "fingerprint": study.fingerprint, "participants": sorted(people),
        "finished": sorted(n for n, lines in people.items() if lines and lines[-1]["kind"] == "end"),
        "method": study.asking.kind, "task": study.asking.task, "unit": study.stimulus.unit if study.stimulus else "",
        "confidence": estimate.CONFIDENCE, "runs": rows,
        "conditions": {c.name: _over_people(study, c.name, rows) for c in study.conditions},
    }  # fmt: skip
    draw(study, document, people, report)
    write_csv(folder / "answers.csv", people)
    document |= {"figures": report.figures, "table": "answers.csv"}
    write_whole(folder / "report.json", json.dumps(_finite(document), indent=2) + "\n")
    return document


def counted(study: Study, lines: Lines, condition: str) -> tuple[np.ndarray, np.ndarray]:
    """Hits and trials (k,) at each level, practice left out."""
    hits, trials = np.zeros(len(study.levels)), np.zeros(len(study.levels))
    for line in trials_of(lines, condition):
        at = nearest(study.levels, line["level"])
        trials[at] += 1.0
        hits[at] += line["hit"]
    return hits, trials


def trials_of(lines: Lines, condition: str) -> Lines:
    return [x for x in lines if x["kind"] == "trial" and x["condition"] == condition and not x["practice"]]


def _row(study: Study, lines: Lines, participant: int, condition: str) -> dict[str, Any]:
    """One participant in one condition."""
    done, kind = trials_of(lines, condition), study.asking.kind
    random = generator(study.seed, participant, [c.name for c in study.conditions].index(condition), 3000)
    row: dict[str, Any] = {"participant": participant, "condition": condition, "trials": len(done)}
    if not done:
        return row
    row["response_s"] = float(np.median([line["response_s"] for line in done]))
    ratings = [
        x["scales"] for x in lines if x.get("condition") == condition and "scales" in x and not x.get("practice")
    ]
    if ratings:
        row["tlx"] = float(np.mean([np.mean(list(each.values())) for each in ratings]))
        row["scales"] = {name: float(np.mean([each[name] for each in ratings])) for name in ratings[0]}
    if kind == "magnitude":
        levels, numbers = [np.array([x[key] for x in done]) for key in ("level", "answer")]
        row["exponent"], row["factor"] = estimate.exponent(levels, numbers, random)
    elif kind != "rating":
        hits, trials = counted(study, lines, condition)
        found = estimate.threshold(study.function, study.method, hits, trials, study.asking.at, random)
        row |= {"threshold": found.threshold, "at": found.at, "slope": found.slope, "mu": float(found.fitted.mu[0]),
                "s": float(found.fitted.s[0]), "hits": hits.tolist(), "shown": trials.tolist()}  # fmt: skip
        row["jnd"] = found.difference if study.asking.task != "detect" else found.threshold
    return row


def _over_people(study: Study, condition: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Means over participants, with intervals where there are enough of them (estimate.LEAST)."""
    mine = [row for row in rows if row["condition"] == condition]
    random = np.random.default_rng([study.seed, 4000])
    told: dict[str, Any] = {"participants": len(mine)}
    for name in ("threshold", "jnd", "exponent", "tlx", "response_s"):
        values = [x.value if isinstance(x := row[name], Estimate) else x for row in mine if name in row]
        if values:
            told[name] = estimate.mean(np.array(values), random)
    return told


def write_csv(path: Path, people: dict[int, Lines]) -> None:
    """Tidy: a row for each trial, a column for each thing known of it; scales have columns of their own."""
    scales = sorted({name for lines in people.values() for x in lines for name in x.get("scales", ())})
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS + tuple(scales))
    for participant, lines in sorted(people.items()):
        for line in lines:
            if line["kind"] == "end":
                continue
            cells = {"participant": participant} | line
            cells["again"] = sum(line.get("again", ()))
            cells["practice"] = int(line.get("practice", False))
            given = line.get("scales", {})
            table.writerow([cells.get(name, "") for name in COLUMNS] + [given.get(name, "") for name in scales])
    write_whole(path, out.getvalue())


def _finite(value: Any) -> Any:
    """As JSON can hold it: what is not known is null, an estimate a table."""
    if isinstance(value, Estimate):
        return _finite(value._asdict())
    if isinstance(value, dict):
        return {key: _finite(x) for key, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(x) for x in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def say_report(document: dict[str, Any], say: Callable[[str], None]) -> None:
    """The means in a few lines."""
    unit = document["unit"]
    for name, told in document["conditions"].items():
        parts = []
        for key, word, of in (("threshold", "threshold", unit), ("jnd", "just-noticeable difference", unit),
                              ("exponent", "exponent", ""), ("tlx", "workload", "of 100"),
                              ("response_s", "response", "s")):  # fmt: skip
            if key in told:
                x = told[key]
                between = "" if math.isnan(x.low) else f" [{x.low:.4g}, {x.high:.4g}]"
                parts.append(f"{word} {x.value:.4g}{between} {of}".rstrip())
        say(f"{name}: {told['participants']} participants; {', '.join(parts) or 'no answers yet'}")
