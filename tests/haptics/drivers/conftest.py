"""What the tests of drivers share: waiting for another thread, and real C libraries where there is a compiler."""

import shutil
import subprocess

import pytest
from waiting import until


@pytest.fixture
def eventually():
    """eventually(condition): wait until it holds; a condition may also act, to be repeated until it does."""
    return until


@pytest.fixture
def compiled_library(tmp_path):
    """compiled_library(name, text): a shared library made of C text; skips where there is no compiler."""

    def build(name, text):
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("no C compiler here")
        source, library = tmp_path / "fake.c", tmp_path / name
        source.write_text(text)
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-pthread", "-o", library, source], check=True)
        return library

    return build
