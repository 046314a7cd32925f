# make demo: find planted errors in a bundled table     make test: run the tests
# Both set themselves up in .venv; all they need is Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
RIVALS := .venv-rivals
RIVALS_READY := $(RIVALS)/.ready

.PHONY: demo test test-rivals lint format figures paper paper-quick clean

demo: $(READY)
	$(BIN)/shapley2d demo

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal

# the comparisons with other detectors, in an environment of their own: robpy wants an older scikit-learn
test-rivals: $(RIVALS_READY)
	$(RIVALS)/bin/python -m pytest tests/paper/test_paper_deviation.py tests/paper/test_paper_detection.py tests/paper/test_paper_detection_page.py

# every number of docs/reproduction.md; what is there is not computed again
paper: $(RIVALS_READY)
	$(RIVALS)/bin/shapley2d paper --out docs/reproduction --page docs/reproduction.md

# all experiments once, small
paper-quick: $(RIVALS_READY)
	$(RIVALS)/bin/shapley2d paper --quick --again --out shapley2d-paper

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
	rm -rf $(VENV) $(RIVALS) .pytest_cache .mypy_cache .ruff_cache .hypothesis shapley2d-demo shapley2d-paper

.PHONY: python
python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "shapley2d needs Python 3.11 or newer: set PYTHON=, e.g. make test PYTHON=python3.12"; exit 1; }

$(READY): pyproject.toml | python
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

$(RIVALS_READY): pyproject.toml | python
	$(PYTHON) -m venv $(RIVALS)
	$(RIVALS)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(RIVALS)/bin/python -m pip install --quiet --editable '.[rivals]' --group test
	@touch $@
