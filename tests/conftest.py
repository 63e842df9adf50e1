"""How examples are drawn: the same ones every time in `make test`, new ones in `make test-search`.

A run that fails by chance says nothing about the change that was made.  So the profile "same" draws each test's examples
from the test itself, and a failure comes back.  "search" draws anew, keeps what fails in .hypothesis/examples, where the
next search begins, and prints the line (`@reproduce_failure`) that repeats it anywhere.  What it finds becomes an
`@example` of its test.
"""

from hypothesis import settings

# Nothing is said about how fast: machines are shared.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", derandomize=False, deadline=None, print_blob=True)
settings.load_profile("same")  # `pytest --hypothesis-profile=search` for the other
