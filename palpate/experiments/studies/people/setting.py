"""What a study sets of a running session, by the names that its page would show: numbers, and choices by their name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from palpate.experiments.studies.people.plan import Condition, Study
from palpate.registry import guess
from palpate.runtime.hello import hello_of
from palpate.runtime.session import Session
from palpate.servo.simulation import Event, Simulation


class Settable(NamedTuple):
    """What a simulation can be set to: bounds of its own events, and the names of those that are choices."""

    scene: str
    bounds: dict[str, tuple[float, float]]
    choices: dict[str, list[str]]


def settable(simulation: Simulation, *more: Event) -> Settable:
    """more: events that its session adds."""
    settings = hello_of(simulation)["settings"]
    return Settable(
        simulation.name, {event.name: (event.low, event.high) for event in (*simulation.takes, *more)},
        {s["event"]: s["choices"] for s in settings if "choices" in s},
    )  # fmt: skip


def values_of(can: Settable, settings: Mapping[str, Any], where: str) -> dict[str, float]:
    """Events and their values; ValueError if a simulation has no such setting, or not such a value."""
    events = can.bounds
    found: dict[str, float] = {}
    for name, value in settings.items():
        if name not in events:
            raise ValueError(f"{where}: the scene {can.scene!r} has no setting {name!r}; {guess(name, events)}")
        if isinstance(value, str):
            known = can.choices.get(name, [])
            if value not in known:
                raise ValueError(f"{where}: {name} is {'one of ' + ', '.join(known) if known else 'a number'}, "
                                 f"not {value!r:.60}")  # fmt: skip
            value = known.index(value)
        low, high = events[name]
        if not low <= value <= high:
            raise ValueError(f"{where}: {name} goes from {low:g} to {high:g}, not {value:g}")
        found[name] = float(value)
    return found


def check_settings(study: Study, condition: Condition, can: Settable) -> None:
    """ValueError unless this scene can be set to all that the study wants of it."""
    where = f"{study.name}, [conditions.{condition.name}]"
    values_of(can, condition.settings, where)
    if study.stimulus is not None:
        levels = [*study.stimulus.levels, *(() if study.stimulus.standard is None else (study.stimulus.standard,))]
        for level in levels:
            values_of(can, {study.stimulus.setting: level}, f"{study.name}, [stimulus]")


def apply(session: Session, can: Settable, study: Study, condition: Condition, value: float | None) -> None:
    """The simulation at its start, set as a condition and a stimulus have it."""
    wanted = dict(condition.settings)
    if value is not None and study.stimulus is not None:
        wanted[study.stimulus.setting] = value
    session.pause()
    session.reset()
    for name, number in values_of(can, wanted, study.name).items():
        session.send(name, number)
    session.play()
