"""`python -m palpate` is the `palpate` command."""

import sys

from palpate.cli import main

sys.exit(main())
