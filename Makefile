# What a newcomer types. Each target sets up what it needs; only `test`, `test-rest`, `studies` and `bench` install Debian packages.
.PHONY: setup demo unit test test-rest lint tables studies site bench clean

bin := .venv/bin

# Where ccache keeps objects, as tests/conftest.py says.
export CCACHE_DIR ?= $(CURDIR)/build/ccache

setup: .venv/setup
.venv/setup: pyproject.toml tools/constraints.txt tools/setup tools/setup-mpi
	tools/setup
	tools/setup-mpi
	touch $@

.venv/setup-unit: pyproject.toml tools/constraints.txt tools/setup
	tools/setup test
	touch $@

# clang-tidy reads mpi.h, and the type checker reads the tests.
.venv/setup-lint: pyproject.toml tools/constraints.txt tools/setup tools/setup-mpi
	tools/setup test lint
	tools/setup-mpi
	touch .venv/setup .venv/setup-unit $@

# pytest compiles the tests as it reads them: once here instead of in each worker.
.venv/setup-tests: pyproject.toml tools/constraints.txt tools/setup tools/setup-mpi tools/install-for-tests
	tools/install-for-tests packages
	tools/setup test notebook pandas
	tools/setup-mpi
	PYTHONDONTWRITEBYTECODE= $(bin)/python -m pytest --collect-only -qq > /dev/null
	touch .venv/setup .venv/setup-unit $@

# The type checker reads the sources without a slice.
.venv/setup-rest: .venv/setup-tests
	tools/setup test notebook pandas lint
	tools/install-for-tests intel-mpi & tools/install-for-tests versions; wait
	touch $@

# --oversubscribe: on a computer with one core the demo runs too, and says that its ranks shared it. On 2 ranks every tree
# is one message, so two broadcasts are drawn on 8.
demo: setup
	$(bin)/timpani run demo -o demo --oversubscribe
	$(bin)/timpani report demo -o demo/report.html --force
	$(bin)/timpani draw bcast/linear --ranks 8 --timeline -o demo/8-ranks-linear.svg --force
	$(bin)/timpani draw bcast/binomial --ranks 8 --timeline -o demo/8-ranks-binomial.svg --force

# What needs nothing from this machine and is not slow: no root, MPI library, compiler or browser.
unit: .venv/setup-unit
	$(bin)/python -m pytest -n auto -q -m 'not needs and not slow and not rest'

# WORKERS=n: processes that run tests at the same time. Programs are built first: in a test others would wait for them.
WORKERS := 4
test: .venv/setup-tests
	$(bin)/python -m tests.builds
	$(bin)/python -m pytest -n $(WORKERS) -m 'not rest'

# Further libraries and versions, messages of 2 GiB, pages of studies, slices deleted.
test-rest: .venv/setup-rest
	$(bin)/python -m tests.builds rest
	$(bin)/python -m pytest -n $(WORKERS) -m rest

lint: .venv/setup-lint
	tools/lint

# The tables of docs/ that come from declarations in the code, and the reference pages, in build/reference.
tables: setup
	$(bin)/python -m tools.tables

# The pages of docs/studies, and full ones for the site: measures or simulates each study that build/studies lacks, for
# about 10 minutes.
studies: .venv/setup-tests
	$(bin)/python -m tools.studies build/studies

# The manual as a site that works offline, in build/site.
.venv/setup-site: pyproject.toml tools/constraints.txt tools/setup
	tools/setup site
	touch $@

site: .venv/setup-site
	$(bin)/python -m tools.site

bench: .venv/setup-tests
	$(bin)/python -m bench

clean:
	rm -rf .venv build dist
