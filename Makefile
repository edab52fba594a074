# What a newcomer types. Each target sets up what it needs.
.PHONY: setup demo test lint bench clean

bin := .venv/bin

setup: .venv/setup
.venv/setup: pyproject.toml tools/setup
	tools/setup
	touch $@

.venv/setup-tests: pyproject.toml tools/setup tools/install-for-tests
	tools/install-for-tests packages
	tools/setup test lint
	tools/install-for-tests intel-mpi
	touch .venv/setup $@

demo: setup
	$(bin)/timpani run demo -o demo
	$(bin)/timpani report demo -o demo/report.html --force

# FAST=1: only what needs nothing of this machine, such as an MPI library or a browser. WORKERS=n: side by side.
WORKERS := 3
test: .venv/setup-tests
	$(bin)/python -m pytest -n $(WORKERS) $(if $(FAST),-m 'not needs')

lint: .venv/setup-tests
	tools/lint

bench: .venv/setup-tests
	$(bin)/python -m bench

clean:
	rm -rf .venv build dist
