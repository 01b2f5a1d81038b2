# Every target installs what it needs into .venv, from the locks in requirements/, and is quick the second time.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV ?= .venv
BIN := $(VENV)/bin
# The first of these that is 3.11 or later and can make a virtual environment.
PYTHONS := python3.11 python3.12 python3.13 python3
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := $(PIP_INSTALL) --require-hashes --only-binary :all:

# Arguments that a caller may replace: make run RUN="run -f /my/manifests --output-dir /tmp/out"; make test TEST="-k queue"
RUN ?= demo run
TEST ?=
BENCH ?=

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9.-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

# ------------------------------------------------------------------------------------------------------- install
RUN_READY := $(VENV)/.ready-run
DEV_READY := $(VENV)/.ready-dev

.PHONY: install
install: $(DEV_READY) ## Make .venv with the locked libraries, the tools and the project itself

$(BIN)/python:
	@python="$(PYTHON)"; \
	for candidate in $(PYTHONS); do \
	  [ -n "$$python" ] && break; \
	  if "$$candidate" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python="$$candidate"; fi; \
	done; \
	[ -n "$$python" ] || { echo "Python 3.11 or later with the venv module is needed (Debian: apt-get install python3-venv)" >&2; exit 1; }; \
	echo "making $(VENV) with $$("$$python" --version)"; \
	"$$python" -m venv $(VENV)

# What `syncret` needs to run, and the project as an editable install: the folders themselves are the package.
# For a package-dir map setuptools installs an import hook that adds 10 ms to every start of the interpreter; the links
# in src/ do the same without it, so the hook's .pth is pointed to them.
EDITABLE := import pathlib, sysconfig; \
  (hook,) = pathlib.Path(sysconfig.get_path("purelib")).glob("__editable__.syncret-*.pth"); \
  hook.write_text("$(CURDIR)/src\n")
$(RUN_READY): requirements/build.txt requirements/runtime.txt pyproject.toml setup.py | $(BIN)/python
	@echo "installing the locked libraries"
	@$(LOCKED) -r requirements/build.txt -r requirements/runtime.txt
	@$(PIP_INSTALL) --quiet --no-deps --no-build-isolation --editable .
	@$(BIN)/python -c '$(EDITABLE)'
	@touch $@

$(DEV_READY): requirements/dev.txt $(RUN_READY)
	@echo "installing the locked tools"
	@$(LOCKED) -r requirements/dev.txt
	@touch $@

.PHONY: lock
lock: $(DEV_READY) ## Resolve requirements/*.txt anew (minutes; needs a package index)
	@.ci/lock $(BIN)

# Equal sources give equal bytes: SOURCE_DATE_EPOCH is the time of the last commit, unless it is set.
.PHONY: dist
dist: $(DEV_READY) ## Build wheel and source distribution into dist/; the image too, if buildah is here (BASE=IMAGE, root)
	@.ci/dist $(BIN) dist
	@$(BIN)/python -m tests.support.image dist $(BASE)

# ----------------------------------------------------------------------------------------------------------- run
.PHONY: run
run: $(RUN_READY) ## Run the demo in the folder run/: the daemon on the quickstart manifests
	@exec $(BIN)/syncret $(RUN)

# --------------------------------------------------------------------------------------------------------- tests
.PHONY: test
test: $(DEV_READY) ## The fast tests, in random order
	$(BIN)/python -m pytest -q $(TEST)

.PHONY: test-3.13
test-3.13: ## The fast tests, and the slow ones of sync, plan and simulate, on Python 3.13, where there is one
	@for python in "$$HOME"/.pyenv/versions/3.13*/bin/python3.13 python3.13; do \
	  if "$$python" -c 'import ensurepip' 2>/dev/null; then \
	    $(MAKE) test VENV=.venv-3.13 PYTHON="$$python"; \
	    exec .venv-3.13/bin/python -m pytest -q -m slow tests/real/e2e/test_passes.py tests/suites/corpus/test_simulate.py; \
	  fi; \
	done; echo "no Python 3.13 here: skipped"

# The provider suite is run by `make conformance`.
.PHONY: test-slow
test-slow: $(DEV_READY) ## The slower tests: kill -9 in the middle of writing, real servers, walkthroughs, load (needs Go)
	$(BIN)/python -m pytest -q -m "slow and not e2e and not faults and not conformance and not differential" --ignore=tests/suites/providers -o faulthandler_timeout=300 $(TEST)

.PHONY: plugin
plugin: $(DEV_READY) ## The package in examples/ as a wheel, installed beside ours, passes the public suite; part of test-slow
	$(BIN)/python -m pytest -q -m slow tests/real/packaging/test_third_party.py $(TEST)

.PHONY: conformance
conformance: $(DEV_READY) ## The corpus of expected behaviour (SYNCRET_CORPUS=DIR for another one), also on a real API server, and the provider suite (needs Go)
	$(BIN)/python -m pytest -q -m "not e2e" -o faulthandler_timeout=600 tests/suites/corpus tests/suites/providers $(TEST)

# The oracle is built once, in minutes, into the user's cache.
.PHONY: oracle
oracle: $(DEV_READY) ## The engine against the operator's own Go packages (ORACLE_CASES=200000 for a long run; needs Go)
	$(BIN)/python -m pytest -q -m oracle -o faulthandler_timeout=1200 tests/suites/oracle $(TEST)

# Two API servers and the operator itself, which is built once, in minutes, into the user's cache.
.PHONY: differential
differential: $(DEV_READY) ## The same manifests to the operator and to us: what comes of them is equal; a takeover changes nothing (needs Go)
	$(BIN)/python -m pytest -q -m differential -o faulthandler_timeout=1200 tests/real/differential $(TEST)

# One store each, on the servers that our providers are tested on; its program is built as above.
.PHONY: peer-providers
peer-providers: $(DEV_READY) ## The operator's own providers, with the vendors' clients, find on our servers what ours find; so do the operator and Syncret on two API servers (needs Go)
	$(BIN)/python -m pytest -q -m differential -o faulthandler_timeout=1200 tests/real/peers $(TEST)

SECONDS ?= 600
.PHONY: fuzz
fuzz: $(DEV_READY) ## Damaged manifests, paths, templates and answers, for SECONDS=600 (SEED=N repeats a run; cases that fail go to build/fuzz)
	$(BIN)/python -m tests.suites.fuzz $(SECONDS) $(SEED)

.PHONY: replicas
replicas: $(DEV_READY) ## Three replicas in a cluster under kill -9, SIGSTOP and API server restarts, for SECONDS=600 (SEED=N repeats the choice; logs of a run that failed go to build/replicas; needs Go)
	$(BIN)/python -m tests.real.replicas $(SECONDS) $(SEED)

.PHONY: operator
operator: $(DEV_READY) ## The operator through 100 configurations, and its figures: what it asks, its memory, at rest for SECONDS=600, how fast it repairs each kind (needs Go)
	SYNCRET_CONFIGURATIONS=100 $(BIN)/python -m pytest -q -m slow -o faulthandler_timeout=600 tests/real/operator/test_random.py
	$(BIN)/python -m tests.real.operator $(SECONDS)

.PHONY: faults
faults: $(DEV_READY) ## Full disks, kills, few descriptors, hostile manifests under a real daemon (SYNCRET_SEED=N repeats the moments of a run)
	$(BIN)/python -m pytest -q -m slow -o faulthandler_timeout=300 tests/faults $(TEST)

KILLS ?= 500
.PHONY: kills
kills: $(DEV_READY) ## kill -9 at KILLS=500 random moments of writing and of delivering (SYNCRET_SEED=N repeats them)
	SYNCRET_KILLS=$(KILLS) $(BIN)/python -m pytest -q -m slow -o faulthandler_timeout=300 tests/real/crash $(TEST)

# -------------------------------------------------------------------------------------------------------- checks
.PHONY: lint
lint: $(DEV_READY) ## Format, lint rules, import rules, the Dockerfile
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports
	$(BIN)/hadolint Dockerfile

.PHONY: format
format: $(DEV_READY) ## Let ruff format and repair what it can
	$(BIN)/ruff check --fix-only --exit-zero
	$(BIN)/ruff format

.PHONY: types
types: $(DEV_READY) ## mypy and pyright, both strict
	$(BIN)/mypy
	.ci/pyright $(BIN)/pyright

.PHONY: check
check: lint types test docs ## Everything that must hold before a commit

.PHONY: bench
bench: $(DEV_READY) ## Measure, and print the table of docs/performance.md (BENCH=NAME one measure, SMOKE=1 all of them tiny; needs Go)
	$(BIN)/python -m bench $(if $(SMOKE),--smoke) $(BENCH)

# --------------------------------------------------------------------------------------------- artifacts and homes
# Making a root or an image takes longer than a test may hang.
E2E := $(BIN)/python -m pytest -q -s -m e2e -o faulthandler_timeout=900

# Not --quiet: then mkdocs counts no warnings, and nothing could fail.
.PHONY: chart
chart: $(DEV_READY) ## Write the Helm chart, charts/syncret, from the code that renders an installation
	$(BIN)/python docs/hooks/chart.py

.PHONY: docs
docs: $(DEV_READY) ## Build the site into site/, links checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site

.PHONY: image
image: $(DEV_READY) ## Build the container image on a base made here, run it read-only as non-root (root, buildah)
	$(E2E) tests/real/image $(TEST)

.PHONY: e2e-systemd
e2e-systemd: $(DEV_READY) ## Boot a real systemd with the service in it (root, mmdebstrap, systemd-container)
	$(E2E) tests/real/systemd $(TEST)

.PHONY: e2e-systemd-next
e2e-systemd-next: $(DEV_READY) ## The same for credentials with the systemd of the next Debian
	$(E2E) tests/real/next_systemd $(TEST)

.PHONY: e2e-prometheus
e2e-prometheus: $(DEV_READY) ## Let a real Prometheus scrape the daemon and load the alert rules (Debian's prometheus)
	$(E2E) tests/real/prometheus $(TEST)

.PHONY: clean
clean: ## Remove what was built, cached and synced; .venv stays
	rm -rf build dist site run syncret.egg-info .coverage .coverage.* \
	  .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find config providers daemon tests -name __pycache__ -type d -prune -exec rm -rf {} +
