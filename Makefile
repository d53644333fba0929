# Every target makes .venv if it is not there, installs what it needs into it and reuses it.
# Needed beforehand: Python 3.11 or later with pip, make, and a C++20 compiler. Nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(wildcard core/*/*.cpp core/*/*.hpp) CMakeLists.txt pyproject.toml
WORKERS ?= auto

.DEFAULT_GOAL := help
.PHONY: help demo test browser mail engines check docs pictures dist bench soak sanitize races portable stub clean

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(VENV)/.installed: $(CORE)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet scikit-build-core nanobind cmake ninja
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable . --group check --group bench --group docs
	@touch $@

demo: $(VENV)/.installed ## run the worked example on real data
	$(BIN)/naively demo federalist

test: $(VENV)/.installed ## run the tests
	$(BIN)/python -m pytest -n $(WORKERS) -q --cov=naively --cov-report=
	@echo "coverage of src/naively, without Hypothesis tests: $$($(BIN)/coverage report --format=total) %"

browser: $(VENV)/.installed ## the pages of the server in a real browser; skipped if chromium cannot be had
	@command -v chromium > /dev/null || { echo "installing chromium"; apt-get install --yes --quiet --no-install-recommends \
		chromium > build/chromium.log 2>&1; } || true
	@if command -v chromium > /dev/null; then $(BIN)/python -m pip install --quiet --group browser && \
		$(BIN)/python -m pytest -q tests/browser; \
	else echo "browser tests are skipped: chromium is not installed, and apt-get could not install it"; fi

# The engine tests run with a server that tools/with_postgres.py starts, and with what else is installed here.
ENGINE_TESTS := tests/data/test_postgresql.py tests/laws/test_sources.py tests/export/test_sql.py

engines: $(VENV)/.installed ## the tests of databases and Spark, on servers that this starts; skipped where they cannot be had
	@mkdir -p build
	@ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || command -v initdb > /dev/null || \
		{ echo "installing postgresql"; apt-get install --yes --quiet --no-install-recommends \
		postgresql > build/postgresql.log 2>&1; } || true
	$(BIN)/python tools/with_postgres.py $(BIN)/python -m pytest -n $(WORKERS) -q -k "not spark" $(ENGINE_TESTS)
	@command -v java > /dev/null || { echo "installing Java"; apt-get install --yes --quiet --no-install-recommends \
		openjdk-17-jre-headless > build/java.log 2>&1; } || true
	@if ! command -v java > /dev/null; then echo "tests of Spark are skipped: apt-get could not install Java"; \
	elif ! $(BIN)/python -m pip install --quiet --group spark > build/spark.log 2>&1; then \
		echo "tests of Spark are skipped: pip could not install pyspark (build/spark.log)"; \
	else $(BIN)/python -m pytest -q tests/engines && \
		$(BIN)/python -m pytest -q tests/export/test_sql.py -k spark; fi

mail: $(VENV)/.installed ## the mail server with Debian's spamc; skipped if it cannot be had
	@command -v spamc > /dev/null || { echo "installing spamc"; mkdir -p build; apt-get install --yes --quiet \
		--no-install-recommends spamc > build/spamc.log 2>&1; } || true
	@if command -v spamc > /dev/null; then $(BIN)/python -m pytest -q tests/mail/test_spamd.py; \
	else echo "tests with spamc are skipped: it is not installed, and apt-get could not install it"; fi

check: $(VENV)/.installed ## style of Python and C++, types, layers, spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --num-workers 2
	$(BIN)/lint-imports
	$(BIN)/codespell
	$(BIN)/clang-format --dry-run --Werror $(filter core/%,$(CORE))

docs: $(VENV)/.installed ## the documentation as HTML, in build/docs
	$(BIN)/sphinx-build -W --keep-going --quiet -d build/doctrees docs build/docs
	@echo build/docs/index.html

pictures: $(VENV)/.installed ## draw the pictures of the documentation again
	$(BIN)/python tools/pictures.py

dist: $(VENV)/.installed ## source distribution and wheel, checked and each tried in a new environment
	rm -rf dist
	$(BIN)/python -c "from scikit_build_core.build import build_sdist; build_sdist('dist')" > /dev/null
	$(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist .
	$(BIN)/python tools/check_dist.py dist/*
	$(BIN)/python tools/try_dist.py dist/*

bench: $(VENV)/.installed ## our speed compared with the peers', as ratios
	$(BIN)/python -m benchmarks

soak: $(VENV)/.installed ## the laws, with many more examples
	NAIVELY_SOAK=1 $(BIN)/python -m pytest -n $(WORKERS) -q

comma := ,
THREADED := tests/_kernels/test_text_counts.py tests/_kernels/test_ngrams.py tests/_kernels/test_token_logs.py
SANITIZED := $(CURDIR)/build/sanitized
RACED := $(CURDIR)/build/raced
PORTABLE := $(CURDIR)/build/portable
SOURCES := $(CORE) $(wildcard src/naively/*.py src/naively/*/*.py src/naively/*/*/*.py)
# A package of its own with such a core: $(call built,CMake option=value,folder)
built = rm -rf $(2) && $(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --target $(2) \
	-C cmake.define.$(1) -C build-dir=$(2)-objects . && touch $(2)/.built
runtime = $$($(CXX) -print-file-name=$(1).so) $$($(CXX) -print-file-name=libstdc++.so)
# Tests on the core of such a package, with the plugin tools/built_core.py: $(call tested,folder,arguments)
tested = PYTHONPATH=tools NAIVELY_BUILD=$(1) $(BIN)/python -m pytest -p built_core -p no:cacheprovider -q $(2)

$(SANITIZED)/.built: $(VENV)/.installed $(SOURCES)
	$(call built,NAIVELY_SANITIZE=address$(comma)undefined,$(SANITIZED))

$(RACED)/.built: $(VENV)/.installed $(SOURCES)
	$(call built,NAIVELY_SANITIZE=thread,$(RACED))

$(PORTABLE)/.built: $(VENV)/.installed $(SOURCES)
	$(call built,NAIVELY_PORTABLE=ON,$(PORTABLE))

sanitize: $(SANITIZED)/.built ## the kernel tests on a core with AddressSanitizer and UBSan
	LD_PRELOAD="$(call runtime,libasan)" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
		$(call tested,$(SANITIZED),-n $(WORKERS) tests/_kernels)

races: $(RACED)/.built ## the tests of threads on a core with ThreadSanitizer
	LD_PRELOAD="$(call runtime,libtsan)" TSAN_OPTIONS="halt_on_error=1 exitcode=66" OPENBLAS_NUM_THREADS=1 \
		$(call tested,$(RACED),$(THREADED))

portable: $(PORTABLE)/.built ## the kernel tests on a core in ISO C++ only, as MSVC compiles it
	$(call tested,$(PORTABLE),-n $(WORKERS) tests/_kernels)

stub: $(VENV)/.installed ## write the types of the compiled core
	$(BIN)/python tools/core_stub.py

clean: ## remove what the targets made
	rm -rf $(VENV) build dist
