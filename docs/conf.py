"""Sphinx settings; `make docs` builds into docs/_build/html."""

import re
import tomllib
from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

import palpate.haptics.reach
import palpate.runtime.session

# Known to type checkers alone, for it loads late; without it no type of that signature would be found.
palpate.runtime.session.Reach = palpate.haptics.reach.Reach

# From the file, not from the installed metadata: an editable installation may be older.
pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))

project = "Palpate"
author = "the Palpate authors"
copyright = author
release = version = pyproject["project"]["version"]

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Floats", "Inertia", "Matrix", "Vector3")}
autodoc_member_order = "bysource"
maximum_signature_line_length = 80
exclude_patterns = ["_build"]
nitpicky = False  # numpy and numba types are not documented here

html_theme = "furo"
html_title = f"{project} {release}"
html_static_path = ["_static"]
html_css_files = ["mathml.css"]
html_math_renderer = "mathml"  # below: formulas that every browser shows, also without a network

# Docstrings are plain text.  Their legends, "name   what it is" with further lines indented, become definition lists.
LEGEND = re.compile(r"([\w(),/ -]*[\w)])  +(\S.*)")


def plain_text(app, what, name, obj, options, lines: list[str]) -> None:
    out: list[str] = []
    in_legend = False
    for line in lines:
        found = LEGEND.fullmatch(line)
        if found:
            out += ["", found[1], f"   {found[2]}"]
            in_legend = True
        elif in_legend and line.startswith(" "):
            out.append(f"   {line.strip()}")
        else:
            out += ["", line] if in_legend and line else [line]
            in_legend = False
    lines[:] = out


def short_types(app, what, name, obj, options, signature: str | None, returns: str | None):
    """Names of our array types, which sphinx wraps where they stand in a union, and defaults it can parse."""
    if name == "palpate.Model":  # nobody makes one by hand
        return "", None
    signature = signature and signature.replace("<factory>", "{}")
    return tuple(
        re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) if text else text for text in (signature, returns)
    )


def mathml(translator, node: nodes.math | nodes.math_block) -> None:
    try:
        translator.body.append(latex2mathml.tex2mathml(node.astext(), as_block=isinstance(node, nodes.math_block)))
    except MathError as error:
        logging.getLogger(__name__).warning("formula: %s", error, location=node)
    raise nodes.SkipNode


def setup(app) -> None:
    app.add_html_math_renderer("mathml", (mathml, None), (mathml, None))
    app.connect("autodoc-process-docstring", plain_text)
    app.connect("autodoc-process-signature", short_types)
