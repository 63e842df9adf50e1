"""What a participant's page is told of the simulation: nothing that gives the answer away, unless the study shows it.

A page gets frames whole; what it can draw of them, and what it may send, is in the hello.
"""

from __future__ import annotations

from typing import Any

from palpate.experiments.studies.people.plan import Study

# What a page of a study has none of: sliders, arrows, who acts, maps, and all that could be set or asked.
HIDDEN: dict[str, Any] = {
    "settings": [], "plots": [], "drawings": [], "actors": [], "maps": [], "keys": [], "walk": {}, "events": {},
    "panels": ["touch"], "scenes": [], "path": [], "task": None, "edit_modes": [], "obstacles": [],
    "loose": {}, "configuration": {},
}  # fmt: skip
SHOWN = {"forces": ("drawings",), "plots": ("plots",), "settings": ("settings",)}  # by design


def screened(study: Study, hello: dict[str, Any]) -> dict[str, Any]:
    """The hello of a session, as the page of this study gets it."""
    shown = {key for what in study.shows for key in SHOWN.get(what, ())}
    hidden = {key: nothing for key, nothing in HIDDEN.items() if key not in shown and key in hello}
    own = {"study": {"title": study.title, "shows": list(study.shows)}, "title": study.title, "scene": study.name}
    return hello | hidden | own
