# make demo: find and repair planted errors, value the table    make test: run the tests
# Both set themselves up in .venv; all they need is Python 3.11 or newer.
PYTHON ?= python3
CONSTRAINT ?=
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
DOCS_READY := $(VENV)/.docs-ready
BASELINES := .venv-baselines
ELSEWHERE := .venv-elsewhere
LOWEST := .venv-lowest
RAY := .venv-ray
BOOSTING := .venv-boosting
BASELINES_READY := $(BASELINES)/.ready

# Python keeps what it has compiled: tests start hundreds of processes
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow campaign test-baselines test-elsewhere test-ray test-boosting test-lowest test-nvrtc dist lock coverage lint format docs figures paper paper-quick paper-pages clean

demo: $(INSTALLED)
	$(BIN)/shapley2d demo

# without the warm-up both workers would compile the same code at the same time
test: $(READY)
	@echo "Compiling what most tests need: seconds, or two minutes the first time. Then come the tests."
	$(BIN)/python tests/warm_up.py
	$(BIN)/python -m pytest -n 2 --dist worksteal

# slow tests: coverage of intervals over many runs, deliberate faults, the paper's published values
test-slow: $(READY)
	$(BIN)/python tests/warm_up.py
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

# deliberate faults, the long form; another SEED makes others
SEED ?= 0
campaign: $(READY)
	$(BIN)/python -m tests.campaign.kills --count 1000 --seed $(SEED)
	$(BIN)/python -m tests.campaign.damage --count 2000 --seed $(SEED)
	$(BIN)/python -m tests.campaign.crafted --count 2000 --seed $(SEED)
	$(BIN)/python -m tests.campaign.hostile --count 2000 --seed $(SEED)
	$(BIN)/python -m tests.campaign.fuzz --count 10000 --seed $(SEED)
	$(BIN)/python -m tests.campaign.options --count 20000 --seed $(SEED)
	$(BIN)/python -m tests.campaign.environments --count 125 --seed $(SEED)

# comparisons with other detectors, in a separate environment: robpy needs an older scikit-learn
test-baselines: $(BASELINES_READY)
	$(BASELINES)/bin/python -m pytest -n 2 --dist worksteal tests/paper/test_paper_deviation.py tests/paper/test_paper_detection.py tests/paper/test_paper_detection_page.py

# the pages for users of other libraries, tested against those libraries, which need older packages
test-elsewhere: $(ELSEWHERE)/.ready
	$(ELSEWHERE)/bin/python -m pytest --noconftest -o addopts="" -W ignore tests/elsewhere.py

# runs on a real Ray cluster and in an MPI pool, both large installations
test-ray: $(RAY)/.ready
	$(RAY)/bin/python -m pytest --noconftest -o addopts="" -W ignore tests/ray_engine.py

# models of XGBoost and CatBoost, both large installations, and of LightGBM
test-boosting: $(BOOSTING)/.ready
	$(BOOSTING)/bin/python -m pytest -n 2 --dist worksteal tests/forest/test_forest_boosters.py

# the oldest versions that pyproject.toml allows
test-lowest: $(LOWEST)/.ready
	$(LOWEST)/bin/python -m pytest -n 2 --dist worksteal -W default tests/theory tests/tables tests/knn tests/forest tests/valuation tests/inspection

# compiles the CUDA sources by NVIDIA's own compiler (90 MB, no GPU or driver needed); skipped with a message if it cannot be installed
test-nvrtc: $(READY)
	@if test -d .nvrtc || $(BIN)/python -m pip install --quiet --target .nvrtc nvidia-cuda-nvrtc-cu12; then \
		PYTHONPATH=.nvrtc SHAPLEY2D_NVRTC=1 $(BIN)/python -m pytest -n 2 tests/knn/cuda/test_device.py -k compiles_for_real; \
	else rm -rf .nvrtc; echo "NVRTC could not be installed: the CUDA sources are compiled by g++ alone"; fi

# wheel and source archive, checked; the wheel is tried in an empty environment and an empty folder, and
# build/sbom.cdx.json lists what was installed with it
dist: $(READY)
	rm -rf dist build/wheel build/empty
	$(BIN)/python -m pip install --quiet --no-compile --group release
	$(BIN)/python -m build --quiet --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/pyroma --min 8 dist/*.tar.gz  # 2 of 10 are for an address to write to
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python -m pip install --quiet dist/*.whl
	mkdir -p build/empty
	cd build/empty && ../wheel/bin/python -I ../../tests/smoke.py && ../wheel/bin/shapley2d demo && ../wheel/bin/python -m shapley2d --version
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --output-file build/sbom.cdx.json build/wheel/bin/python
	@ls -l dist

# the versions that development is known to work with, for every Python and system:
# make test CONSTRAINT="--constraint requirements-dev.txt"
lock: $(READY)
	$(BIN)/python -m pip install --quiet --no-compile --group lock
	$(BIN)/uv pip compile pyproject.toml --group dev --group docs --universal --quiet --upgrade \
	  --no-emit-index-url --no-emit-find-links --no-annotate --custom-compile-command "make lock" --output-file requirements-dev.txt

# share of the package that the tests run
coverage: $(READY)
	$(BIN)/python -m pip install --quiet pytest-cov
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov=shapley2d --cov-report=term:skip-covered

# every number of docs/reproduction.md; finished pieces are kept unless their code has changed
paper: $(BASELINES_READY)
	$(BASELINES)/bin/python -m shapley2d_paper --out docs/reproduction --page docs/reproduction.md

# all experiments once, small tables
paper-quick: $(BASELINES_READY)
	$(BASELINES)/bin/python -m shapley2d_paper --quick --again --out shapley2d-paper

# writes the page and the figures again from the CSV files; computes nothing
paper-pages: $(READY)
	$(BIN)/python -m shapley2d_paper --pages-only --out docs/reproduction --page docs/reproduction.md

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell src shapley2d_paper benchmarks docs/*.md docs/coming-from docs/evidence docs/gallery README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# the documentation, offline, into docs/_build/html; a warning is an error
docs: $(DOCS_READY)
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

figures: $(READY)
	$(BIN)/python docs/make_figures.py

clean:
	rm -rf $(VENV) $(BASELINES) $(ELSEWHERE) $(LOWEST) $(RAY) $(BOOSTING) build dist .import_linter_cache .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/_build docs/auto_examples docs/generated shapley2d-demo shapley2d-paper

.PHONY: python
python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "shapley2d needs Python 3.11 or newer: set PYTHON=, e.g. make test PYTHON=python3.12"; exit 1; }

# --no-compile: compiling all of what is installed takes longer than installing it, and Python compiles what it imports
$(INSTALLED): pyproject.toml | python
	@echo "Setting up $(VENV): a minute or two, once."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --editable . $(CONSTRAINT)
	@touch $@

$(READY): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --no-compile --group dev $(CONSTRAINT)
	@touch $@

$(DOCS_READY): $(READY)
	$(BIN)/python -m pip install --quiet --no-compile --group docs $(CONSTRAINT)
	@touch $@

$(BASELINES_READY): pyproject.toml | python
	$(PYTHON) -m venv $(BASELINES)
	$(BASELINES)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BASELINES)/bin/python -m pip install --quiet --editable . --group test --group baselines
	@touch $@

$(ELSEWHERE)/.ready: pyproject.toml | python
	$(PYTHON) -m venv $(ELSEWHERE)
	$(ELSEWHERE)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(ELSEWHERE)/bin/python -m pip install --quiet --editable . --group elsewhere
	@touch $@

$(RAY)/.ready: pyproject.toml | python
	$(PYTHON) -m venv $(RAY)
	$(RAY)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(RAY)/bin/python -m pip install --quiet --editable . --group ray
	@touch $@

$(BOOSTING)/.ready: pyproject.toml | python
	$(PYTHON) -m venv $(BOOSTING)
	$(BOOSTING)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BOOSTING)/bin/python -m pip install --quiet --editable . --group boosting
	@touch $@

$(LOWEST)/.ready: pyproject.toml | python
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(LOWEST)/bin/python tests/lowest.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --editable . --group test --constraint $(LOWEST)/constraints.txt
	@touch $@
