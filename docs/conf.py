"""Sphinx settings; `make docs` builds into docs/_build/html."""

import tomllib
from pathlib import Path

# From the file, not from the installed metadata: an editable installation may be older.
pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))

project = "Palpate"
author = "the Palpate authors"
copyright = author
release = version = pyproject["project"]["version"]

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
autodoc_typehints = "description"
autodoc_member_order = "bysource"
exclude_patterns = ["_build"]
nitpicky = False  # numpy and numba types are not documented here

html_theme = "furo"
html_title = f"{project} {release}"
