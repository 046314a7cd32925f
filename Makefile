# make demo: find planted errors in a bundled table     make test: run the tests
# Both set themselves up in .venv; all they need is Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint format figures benchmarks clean

demo: $(READY)
	$(BIN)/shapley2d demo

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

figures: $(READY)
	$(BIN)/python docs/make_figures.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis shapley2d-demo

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "shapley2d needs Python 3.11 or newer: set PYTHON=, e.g. make test PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@
