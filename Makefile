# Everything runs in an environment of its own; the first target that needs it makes it.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready

.PHONY: demo test lint unit sklearn-suite thorough clean

demo: $(READY)  ## Cluster the built-in BIRCH data and say what hard assignment loses
	$(RUN) examples/demo.py

test: lint unit sklearn-suite  ## Everything a change must pass

lint: $(READY)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

unit: $(READY)
	$(RUN) -m pytest

sklearn-suite: $(READY)  ## scikit-learn's own k-means tests, on cprime.KMeans
	cd tests/sklearn_suite && SKLEARN_RUN_FLOAT32_TESTS=1 ../../$(RUN) -m pytest \
	    -c pytest.ini -p repoint --pyargs sklearn.cluster.tests.test_k_means

thorough: $(READY)  ## The laws on many more examples, and scikit-learn's tests on all seeds
	CPRIME_EXAMPLES=thorough $(RUN) -m pytest tests/laws
	SKLEARN_TESTS_GLOBAL_RANDOM_SEED=all $(MAKE) sklearn-suite

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --editable '.[dev]' --constraint constraints.txt
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .hypothesis
