# Everything runs in a virtual environment of its own; constraints.txt pins what it holds.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check --quiet
INSTALL := $(PIP) install --constraint constraints.txt
DEMO_SERVE ?= 1
# Bytecode is kept whatever the environment says: every worker, and every program that a test starts, would else compile
# all sources again.
export PYTHONDONTWRITEBYTECODE :=
# One more than two cores: tests wait for browsers, servers and other processes a quarter of their time.
WORKERS ?= 3
GPU_TESTS := tests/models/test_precision.py tests/models/test_reference_logits.py tests/train/test_gpu.py tests/models/test_pretrained_gpu.py \
	tests/models/test_scoring.py

.PHONY: demo test pytest test-gpu check docs bench system clean

demo: $(VENV)/core
	$(BIN)/goldlabel demo $(if $(filter 0,$(DEMO_SERVE)),--no-serve,)

# The system's packages come while Python's are installed; types are checked while tests wait.
test:
	$(MAKE) --no-print-directory --jobs 2 $(VENV)/dev system
	$(MAKE) --no-print-directory --jobs 2 check pytest

pytest: $(VENV)/dev
	$(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal

# Where there is a CUDA device: every network and an encoder on it. `make test` hides it.
test-gpu: $(VENV)/dev
	CUDA=1 $(BIN)/pytest $(GPU_TESTS)

check: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/dev
	$(BIN)/sphinx-build -q -W -b html docs docs/_build/html
	@echo "The documentation is at docs/_build/html/index.html"

bench: $(VENV)/dev
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

# Chromium, PostgreSQL and a Chinese font, where this user may install them; the tests that need what is missing are skipped.
system:
	@sh tools/system-packages.sh chromium postgresql fonts-wqy-microhei

clean:
	rm -rf $(VENV) docs/_build demo

$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV)

$(VENV)/core: $(VENV)/bin/pip pyproject.toml constraints.txt
	$(INSTALL) --editable .
	@touch $@

$(VENV)/dev: $(VENV)/bin/pip pyproject.toml constraints.txt
	$(INSTALL) --editable '.[dev]'
	@touch $(VENV)/core $@
