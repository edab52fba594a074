# What a newcomer types. Each target sets up what it needs.
.PHONY: setup demo test lint tables bench clean

bin := .venv/bin

setup: .venv/setup
.venv/setup: pyproject.toml tools/setup
	tools/setup
	touch $@

# pytest compiles the tests as it reads them: once here, while wheels come, instead of in each worker.
.venv/setup-tests: pyproject.toml tools/setup tools/install-for-tests
	tools/install-for-tests packages
	tools/setup test
	tools/install-for-tests intel-mpi & PYTHONDONTWRITEBYTECODE= $(bin)/python -m pytest --collect-only -qq > /dev/null; wait
	touch .venv/setup $@

# The type checker reads the tests too, and so needs what they import.
.venv/setup-lint: .venv/setup-tests
	tools/setup test lint
	touch $@

demo: setup
	$(bin)/timpani run demo -o demo
	$(bin)/timpani report demo -o demo/report.html --force

# FAST=1: only what needs nothing of this machine, such as an MPI library or a browser. WORKERS=n: side by side.
WORKERS := 3
test: .venv/setup-tests
	$(bin)/python -m pytest -n $(WORKERS) $(if $(FAST),-m 'not needs')

lint: .venv/setup-lint
	tools/lint

# The tables of docs/ that come from declarations in the code.
tables: setup
	$(bin)/python tools/tables.py

bench: .venv/setup-tests
	$(bin)/python -m bench

clean:
	rm -rf .venv build dist
