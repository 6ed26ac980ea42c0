# Everything a developer or a newcomer runs. The virtual environment in .venv is made on first use.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
SIMULATOR := simulator/build/libmtml.so.2
DEMO := $(VENV)/.demo
TESTED := $(VENV)/.tested
STAMP := $(VENV)/.installed
TOP_TESTS := test_pymtml.py test_pynvml.py test_sglang_compat.py
SOURCES := pymtml.py pymtml_cli pymtml_dropin hatch_build.py setup.py conftest.py $(TOP_TESTS) tests simulator/tests simulator/python simulator/setup.py benchmarks examples tools noxfile.py
ON_SIMULATOR := env LD_LIBRARY_PATH="$(CURDIR)/simulator/build" MTML_SIM_PROFILE=s5000x8
RUN := $(BIN)/pymtml run

.DEFAULT_GOAL := help
.PHONY: help all sim demo test test-root test-tools test-fleet test-all install-ways test-programs test-aarch64 fuzz release-check sanitize format lint surface generate reference pictures record bench docs build publish clean

help: ## Say what the targets do
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

all: format lint test test-tools build ## Format, lint, test, build

# Each adds to the one before what its targets need: programs to show, tests, all that a developer has.
$(DEMO): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 7))' || \
		{ echo "pymtml needs Python 3.7 or later; PYTHON=... chooses one" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
		{ echo "cannot make a virtual environment with $(PYTHON) (Debian: apt-get install python3-venv)" >&2; exit 1; }
	$(PY) -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(PY) -m pip install --quiet --editable '.[demo]'
	@touch $@

$(TESTED): $(DEMO)
	$(PY) -m pip install --quiet --editable '.[metrics,test,examples]'
	@# The vendor's binding is a module named pymtml as well: it stands aside, for the test that asks for it.
	$(PY) -m pip install --quiet --no-deps --upgrade --target $(VENV)/vendor mthreads-ml-py==2.4.3
	@touch $@

$(STAMP): $(TESTED)
	$(PY) -m pip install --quiet --editable '.[metrics,test,demo,examples,dev]'
	@touch $@

sim: ## Build the simulator: simulator/build/libmtml.so.2
	@$(MAKE) --no-print-directory -C simulator

demo: sim $(DEMO) ## Show eight simulated GPUs: the quick start, gpustat and nvitop
	@echo "== Quick start: examples/quick_start.py"
	@$(ON_SIMULATOR) $(PY) examples/quick_start.py
	@echo
	@echo "== gpustat, unmodified, with pynvml resolved to pymtml"
	@$(ON_SIMULATOR) $(RUN) gpustat --no-color --show-all
	@echo
	@echo "== nvitop -1, unmodified, with pynvml resolved to pymtml"
	@$(ON_SIMULATOR) $(RUN) nvitop -1 --no-unicode
	@echo
	@echo "These GPUs are simulated. To go on by hand (simulator/profiles has other machines):"
	@echo '  export LD_LIBRARY_PATH="$(CURDIR)/simulator/build" MTML_SIM_PROFILE=s5000x8'
	@echo '  $(BIN)/pymtml                # as nvidia-smi; $(BIN)/pymtml --help'
	@echo '  $(PY)                # import pymtml'
	@echo '  $(RUN) nvitop     # any program, with pynvml resolved to pymtml'
	@echo "Without that export the same runs on a machine with the Moore Threads driver."

# Five processes side by side, each with a part of the tests, of which the last one takes all that is left: no process
# collects the tests of another one, nor talks to it. Two cores end with all at about the same time.
WAITING := $(addprefix tests/test_,cost.py energy.py keep_library.py locks.py native_lifecycle.py processes.py \
	shutdown_races.py signals.py) $(addprefix simulator/tests/test_,environment.py lifecycle.py speed.py) \
	$(addprefix tests/cli/test_,endless_looks.py metrics_running.py report.py terminal.py xid.py)
COMMAND := tests/cli
SIMULATED := simulator/tests simulator/python/tests tests/programs
STARTED := $(addprefix tests/test_,documents.py dropin.py dropin_metadata.py examples.py readme.py resident_memory.py)
# Tests call make, to which the jobs of this one say nothing.
PYTEST := env -u MAKEFLAGS $(PY) -m pytest -q -rfEs
TEST := $(PYTEST) -p no:cacheprovider

# What holds our own machinery is run apart.
TOOL_TESTS := tests/tools $(addprefix tests/cli/test_,nvml_mtml.py rooms.py) tests/programs/test_table.py \
	simulator/tests/test_sources.py \
	$(addprefix simulator/python/tests/test_,ci_examples.py package_platforms.py package_wheel.py promise.py)
LEFT := $(addprefix --ignore=,$(TOOL_TESTS) $(WAITING))
# Each takes one file after another; one more than the two cores of a small machine, as tests also wait.
WORKERS ?= 3

# Tests start Python a thousand times: without its bytecode each start would compile the module.
test: export PYTHONDONTWRITEBYTECODE :=
test: sim $(TESTED) ## Run the tests of what users have
	@began=$$(date +%s); said=$$(mktemp -d); failed=; \
	$(TEST) $(WAITING) >$$said/waiting 2>&1 & waiting=$$!; \
	$(TEST) $(LEFT) $(COMMAND) >$$said/command 2>&1 & command=$$!; \
	$(TEST) $(LEFT) $(SIMULATED) >$$said/simulated 2>&1 & simulated=$$!; \
	$(TEST) $(STARTED) >$$said/started 2>&1 & started=$$!; \
	$(TEST) $(LEFT) $(addprefix --ignore=,$(COMMAND) $(SIMULATED) $(STARTED)) || failed=" others"; \
	wait $$waiting || failed="$$failed waiting"; \
	wait $$command || failed="$$failed command"; \
	wait $$simulated || failed="$$failed simulated"; \
	wait $$started || failed="$$failed started"; \
	cat $$said/*; rm -r $$said; \
	echo "make test:$${failed:- nothing} failed, $$(( $$(date +%s) - began )) seconds"; \
	test -z "$$failed"

test-root: sim $(TESTED) ## Run the tests that make test skips unless it is root
	@test "$$(id -u)" = 0 || { echo "make test-root is for root" >&2; exit 1; }
	$(TEST) -m root $$(grep -rl --include='test_*.py' 'pytest\.mark\.root' tests simulator)

test-tools: sim $(STAMP) ## Run the tests of our own machinery: generators, recipes, stub, wheels, releases, site, benchmarks
	$(PYTEST) --numprocesses $(WORKERS) --dist loadfile $(TOOL_TESTS)

test-fleet: sim $(STAMP) ## Run the tests of examples/fleet on Prometheus and Alertmanager (in test-programs as well)
	$(PYTEST) --numprocesses $(WORKERS) --dist loadfile -m "programs or not programs" \
		$(addprefix tests/programs/test_,fleet_alerts.py dashboards.py fleet_pages.py fleet_files.py fleet_rules.py)

test-programs: sim $(STAMP) ## Install real programs and run them on the simulator; write docs/programs.md (slow)
	$(PY) -m pytest -q --record -m "programs or not programs" \
		--ignore=tests/programs/test_table.py tests/programs tests/test_torch_hooks.py tests/tools/test_distribution.py tests/tools/test_site.py

release-check: lint test test-tools sanitize build test-programs ## All that a release must pass: as .ci/run, and real programs
	$(PY) tests/programs/write_table.py --check
	$(BIN)/nox --session counted
	$(PY) tools/check_release.py

MINUTES ?= 5
empty :=
PYENV := $(subst $(empty) ,:,$(wildcard $(HOME)/.pyenv/versions/*/bin))

test-all: sim $(STAMP) ## Run the tests under every CPython from 3.7 on, and PyPy, that is found, those of the command under three; PYTHONS="..." (slow)
	PATH="$(PATH):$(PYENV)" $(BIN)/nox --session tests command

install-ways: sim build ## Install and run the wheel in each way of docs/install.md, and write its table (slow)
	PATH="$(PATH):$(PYENV)" tools/install_ways.sh

# The module on another processor; the wheel of the simulator is built, installed and used there.
ELSEWHERE_TESTS := $(TOP_TESTS) tests/abi $(addprefix tests/test_,values.py native_arguments.py native_functions.py \
	function_pointers.py facade_errors.py nvlink_topology.py devices_kinds.py field_values.py all_ones.py)

# Debian's trove-classifiers may be older than the newest Python that the package names, and setuptools refuses the name.
test-aarch64: $(STAMP) ## Run the simulator and tests of the module on an emulated aarch64 (root, debootstrap, qemu; slow)
	tools/elsewhere.sh trixie arm64 "sed -i '/:: Python :: 3\.15/d' simulator/pyproject.toml && make -s sim && make -s -C simulator build/check && simulator/build/check && \
		python3 -m pip wheel -q --no-build-isolation --no-deps -w build/wheel ./simulator && \
		python3 -m venv --system-site-packages build/venv && build/venv/bin/pip install -q --no-deps build/wheel/*.whl && \
		(cd / && PYTHONPATH=/tree /tree/build/venv/bin/python -m mtml_simulator exec s80 -- python3 /tree/examples/quick_start.py) && \
		python3 -m pytest -q -rfE -p no:cacheprovider $(ELSEWHERE_TESTS)"

# Python with AddressSanitizer in it, on libraries that are compiled with it and UBSan. The interpreter's own allocator
# would hide what goes beyond a buffer that ctypes has from it.
SANITIZED := env ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc SIM_TEST_BUILD=build/sanitize \
	LIAR_CFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined" \
	LD_PRELOAD="$$($(CC) -print-file-name=libasan.so)"
# Lies by which C writes, or makes pymtml write; the others only return codes.
LIES := nothing or brim or absurd or changing or null

fuzz: sim $(STAMP) ## Call all functions at random in child processes: MINUTES=5, SEED=... repeats one child, ASAN=1
	@$(if $(ASAN),$(MAKE) --no-print-directory -C simulator sanitized)
	$(if $(ASAN),$(SANITIZED)) $(PY) tests/fuzz.py --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

# In parts, for make --jobs.
SANITIZE_PARTS := sanitize-simulator sanitize-python sanitize-drivers sanitize-fuzz

sanitize: $(SANITIZE_PARTS) ## Run the tests of simulator, hostile Python and drivers, a short fuzz, under sanitizers

.PHONY: sanitized $(SANITIZE_PARTS)
sanitized: sim
	@$(MAKE) --no-print-directory -C simulator sanitized

$(SANITIZE_PARTS): sanitized $(STAMP)

sanitize-simulator:
	@$(MAKE) --no-print-directory -C simulator sanitize PYTHON="$(abspath $(PY))"

sanitize-python:
	$(SANITIZED) $(PY) -m pytest -q -p no:cacheprovider tests/hostile/test_python.py tests/hostile/test_sanitized.py

sanitize-drivers:
	$(SANITIZED) $(PY) -m pytest -q -p no:cacheprovider tests/hostile/test_drivers.py -k "each_function and ($(LIES))"

sanitize-fuzz:
	$(SANITIZED) $(PY) tests/fuzz.py --seed 1 --children 10

format: $(STAMP) ## Sort imports and format Python with isort and black
	$(BIN)/isort -q $(SOURCES)
	$(BIN)/black -q $(SOURCES)

lint: $(STAMP) ## Check that generated files are current, then Python with flake8, isort, black and mypy, and C
	@# Quick checks first. What a new function of MTML lacks: the others only see that a name is missing.
	$(PY) tools/generate.py --check
	$(PY) tests/programs/write_table.py --check
	$(PY) tools/record.py --check --quick
	$(BIN)/flake8 $(SOURCES)
	$(BIN)/isort -q --check $(SOURCES)
	$(BIN)/black -q --check $(SOURCES)
	@$(MAKE) --no-print-directory lint-c
	$(BIN)/mypy

# A user's compiler may know warnings that ours do not, so they are errors here only: by each compiler that is there.
C_LINT := -std=c11 -O2 -Wall -Wextra -Werror
C_FILES := $(wildcard benchmarks/stubs/*.c examples/ci/*/*.c tests/cli/*.c tests/clients/[ft]*.c tests/standin/*.c)

.PHONY: lint-c
lint-c:
	@for compiler in "$(CC)" clang; do \
		command -v $$compiler >/dev/null || continue; \
		echo "$$compiler $(C_LINT)"; \
		$(MAKE) -s -C simulator CC=$$compiler BUILD=build/lint-$$compiler WERROR=-Werror || exit 1; \
		$$compiler $(C_LINT) -pedantic -fsyntax-only -x c mtml_2.2.0.h || exit 1; \
		for file in $(C_FILES); do \
			$$compiler $(C_LINT) -D_POSIX_C_SOURCE=200809L -I. -Isimulator -Ibenchmarks -c -o /dev/null $$file || exit 1; \
		done; \
	done

surface: $(STAMP) ## Record the names of an nvidia-ml-py in facts/: NVIDIA_ML_PY=VERSION, or the path of a pynvml.py and VERSION=
	@test -n "$(NVIDIA_ML_PY)" || \
		{ echo "make surface NVIDIA_ML_PY=VERSION, or NVIDIA_ML_PY=PATH of a pynvml.py VERSION=ITS_VERSION" >&2; exit 1; }
	$(PY) tools/record_surface.py "$(NVIDIA_ML_PY)" $(if $(VERSION),--version "$(VERSION)")

reference: $(DEMO) ## Write docs/reference: every function, struct and error, by task
	$(PY) tools/generate_reference.py

generate: $(STAMP) ## Write everything that is generated: Part III of pymtml.py, docs/coverage.md, the manual page
	$(PY) tools/generate.py

pictures: sim $(STAMP) ## Draw the pictures of the documents: the command and gpustat on eight simulated GPUs
	$(PY) tools/pictures.py

record: sim $(STAMP) ## Write anew what is recorded: outcomes of lies, tables, screens and counts in documents
	$(PY) tools/record.py

bench: ## Time pymtml against nvidia-ml-py and mthreads-ml-py
	@$(MAKE) --no-print-directory -C benchmarks bench

docs: reference ## Build the documents as a site in build/site; takes a minute, and 180 MB in .venv
	@$(PY) -c 'import material' 2>/dev/null || $(PY) -m pip install --quiet --disable-pip-version-check --editable '.[site]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --config-file tools/mkdocs.yml --strict --quiet
	@echo 'python3 -m http.server --directory build/site shows it, with its search'

build: ## Build wheel and source archive in dist/; needs hatchling alone, not the development environment
	@VENV="$(abspath $(VENV))" $(PYTHON) tools/build.py

publish: build $(STAMP) ## Upload dist/ to the package index, if the name is ours there
	$(BIN)/twine check --strict dist/*
	$(PY) tools/check_release.py --source
	$(BIN)/twine upload dist/*

clean: ## Remove whatever the other targets made
	@$(MAKE) --no-print-directory -C simulator clean
	@$(MAKE) --no-print-directory -C benchmarks clean
	rm -rf $(VENV) .venv-build build dist *.egg-info .pytest_cache tests/programs/build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
