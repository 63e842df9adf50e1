# Every job of the project as one command: `make help` lists them.
# Needs GNU make and Python 3.11 or newer; the rest is installed into .venv.

PYTHON ?= python3
# How pytest spreads over cores. By file, so that one worker compiles what one file needs. `make test XDIST=` for one process.
XDIST ?= -n 2 --dist loadfile
# More arguments for pytest, e.g. `make test-suite ARGS="-k energy"`.
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
# An editable installation needs no compiler to build it: kernels are of wheels.
PIP_INSTALL := PALPATE_PREBUILT=0 $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# Some hundred programs start in a run of the tests: their bytecode is kept, whatever the environment says, out of the way.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/bytecode

.DEFAULT_GOAL := help
.NOTPARALLEL: # two installations at once in one .venv would break it
.DELETE_ON_ERROR:
.PHONY: help run page test test-all test-more test-suite test-drag test-web test-slow test-browser test-bounds \
  test-nojit test-search lint types docs bench doctor clean distclean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.installed page ## opens the page: drag a robot arm in the browser (Ctrl-C ends)
	$(BIN)/palpate touch

page: | $(VENV)/.made ## the page, from web/ into palpate/page/static; nothing to do unless web/ changed
	@$(BIN)/python web/build_page.py

# Files that have this in them. Most of the tests are not meant here, and to import them all takes as long as a few of them.
having = $(sort $(shell grep -rlE --include='test_*.py' '$(1)' tests))

# Each part is run, whatever became of those before it; the exit code, and the last line, tell which failed.
run_parts = @failed=; for part in $(1); do printf '\n=== make %s\n' $$part; \
  $(MAKE) --no-print-directory $$part || failed="$$failed $$part"; done; \
  if [ -n "$$failed" ]; then printf '\nfailed:%s\n' "$$failed" >&2; exit 1; fi; printf '\npassed: %s\n' "$(1)"

TEST_PARTS := test-suite test-drag test-web
MORE_PARTS := test-slow test-browser test-bounds test-nojit

test: $(VENV)/.installed-dev page ## the tests, the same in every run: suite, a drag in a real browser, the page's own
	$(call run_parts,$(TEST_PARTS))

test-all: $(VENV)/.installed-dev page ## all of it, for half an hour: also what test-more has, and a search
	$(call run_parts,$(TEST_PARTS) $(MORE_PARTS) test-search)

test-more: $(VENV)/.installed-dev page ## what .ci/run adds to test: slow ones, browser, bounds checks, plain Python
	$(call run_parts,$(MORE_PARTS))

# By both cores, before the workers of pytest wait for each other. Nothing to do if it is cached.
FIRST_KERNELS = $(BIN)/python tests/first_kernels.py

test-suite: $(VENV)/.installed-dev page ## tests without a browser, compiled; the slow ones left out
	$(FIRST_KERNELS)
	$(BIN)/python -m pytest $(XDIST) -m "not browser and not slow" $(ARGS)

# The whole way, nothing played: pointer, page, session, servo, recording.
DRAG := tests/page/test_touch.py::test_a_drag_in_the_browser_moves_the_arm_and_is_in_the_recording
test-drag: $(VENV)/.installed-dev page ## one scene dragged in a real Chromium; PALPATE_REQUIRE_BROWSER=1: not skipped
	$(BIN)/python -m pytest $(DRAG) $(ARGS)

test-web: page ## the page's TypeScript: types and unit tests
	$(BIN)/python web/build_page.py --check

# All is compiled by now, and a few files have most of the minutes: tests are shared one by one.
test-slow: $(VENV)/.installed-dev page ## more cases of the same laws, a soak, network namespaces, every bench once
	$(BIN)/python -m pytest $(subst loadfile,worksteal,$(XDIST)) -m "slow and not browser" $(call having,mark\.slow) $(ARGS)

test-browser: $(VENV)/.installed-dev page ## the page in a real Chromium; PALPATE_SCREENSHOTS=FOLDER keeps the pictures
	$(BIN)/python -m pytest $(XDIST) -m browser --deselect $(DRAG) $(call having,mark\.browser) $(ARGS)

# Compiled code does not check indices by itself. palpate/jit keeps these kernels in a cache folder of their own.
WITH_KERNELS := $(addprefix tests/,spatial dynamics collision contact world control haptics servo planar mobile link contracts test_blocks.py test_six.py)
test-bounds: $(VENV)/.installed-dev ## folders with kernels, the ends of each family of cases, every array index checked
	NUMBA_BOUNDSCHECK=1 $(FIRST_KERNELS)
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest $(XDIST) \
	  -m "not slow and not oracle_heavy and not repeated and not real_time" $(WITH_KERNELS) $(ARGS)

# Coverage cannot see compiled lines: the kernels run as plain Python, on the small tests meant for it; others are not traced.
KERNELS := palpate/dynamics/*,palpate/spatial/*,palpate/collision/*,palpate/contact/*,palpate/world/[acjrs]*.py,palpate/world/many/turns.py
TRACED := palpate/dynamics,palpate/spatial,palpate/collision,palpate/contact,palpate/world
test-nojit: $(VENV)/.installed-dev ## kernels as plain Python, at least 90 % of their lines covered
	$(BIN)/python -m coverage erase
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run --source=$(TRACED) -m pytest $(XDIST) -m "nojit and not slow" \
	  $(call having,mark\.nojit) $(ARGS)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --include='$(KERNELS)' --fail-under=90

# Not in .ci/run, which says the same of the same code whenever it is asked.
# What it finds is kept in .hypothesis/examples, tried first in the next search, and becomes an @example of its test.
test-search: $(VENV)/.installed-dev page ## new examples for the tests that draw theirs: looks for counterexamples
	$(BIN)/python -m pytest $(XDIST) -m "hypothesis and not browser" --hypothesis-profile=search \
	  $(call having,@given) $(ARGS)

lint: $(VENV)/.installed-dev ## ruff: rules and format
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .

types: $(VENV)/.installed-dev ## mypy
	$(BIN)/python -m mypy palpate

docs: $(VENV)/.installed-dev ## the manual, in docs/_build/html; a warning is an error
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/.installed-dev ## dynamics, side by side with other engines
	$(BIN)/palpate bench dynamics

doctor: $(VENV)/.installed ## what this machine can do
	$(BIN)/palpate doctor

clean: ## remove caches and what was built; keeps .venv and out
	rm -rf build dist docs/_build palpate/page/static web/node_modules htmlcov .coverage .coverage.* *.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -path ./$(VENV) -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

distclean: clean ## also remove .venv and out
	rm -rf $(VENV) out

# Stamp files in .venv: a second call does nothing unless the two files that say what is installed have changed.

# A sound .venv is kept; one that is half made, or of an older Python, is made anew.
$(VENV)/.made:
	@command -v $(PYTHON) >/dev/null || \
	  { echo "palpate: '$(PYTHON)' not found; install Python 3.11 or newer, or name it: make PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "palpate: needs Python 3.11 or newer, '$(PYTHON)' is older; name another: make PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "palpate: '$(PYTHON)' has no venv module; install it (Debian, Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@$(BIN)/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "making $(VENV) …"; $(PYTHON) -m venv --clear $(VENV); }
	@touch $@

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/.made
	@if [ -e $@ ]; then echo "pyproject.toml or constraints.txt changed: updating palpate …"; \
	  else echo "installing palpate (first time: a minute or two) …"; fi
	@$(PIP_INSTALL) -e .
	@touch $@

# Whoever has this has the other as well, hence both stamps.
$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/.made
	@if [ -e $@ ]; then echo "pyproject.toml or constraints.txt changed: updating palpate and its tools …"; \
	  else echo "installing palpate and its tools (first time: a few minutes) …"; fi
	@$(PIP_INSTALL) --no-compile -e '.[dev]' # of ten thousand files few are imported
	@touch $(VENV)/.installed $@
