"""How examples are drawn: the same ones every time in `make test`, new ones in `make test-search`.

A run that fails by chance says nothing about the change that was made.  So the profile "same" derives the examples
from the test's own text, and a failure comes back.  "search" draws anew and keeps what fails in .hypothesis/examples,
where the next search begins; it prints the line (`@reproduce_failure`) that repeats it anywhere.  What it finds becomes
an `@example` of its test.
"""

import os

from hypothesis import settings

# Nothing is said about how fast: machines are shared.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", derandomize=False, deadline=None, print_blob=True)
settings.load_profile("same")  # `pytest --hypothesis-profile=search` for the other

# What compiles when depends on the cache and on which test came first: nobody should find it in what a test prints.
os.environ["PALPATE_QUIET"] = "1"
