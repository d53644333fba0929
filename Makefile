# Every target makes .venv if it is not there, installs what it needs into it and reuses it.
# Needed beforehand: Python 3.11 or later with pip, make, and a C++20 compiler. Nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(wildcard core/*.cpp core/*.hpp) CMakeLists.txt pyproject.toml
WORKERS ?= auto

.DEFAULT_GOAL := help
.PHONY: help demo test check docs bench soak sanitize stub clean

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
	$(BIN)/python -m pytest -n $(WORKERS) -q

check: $(VENV)/.installed ## style, types, layers, spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

docs: $(VENV)/.installed ## the documentation as HTML, in build/docs
	$(BIN)/sphinx-build -W --keep-going --quiet -d build/doctrees docs build/docs
	@echo build/docs/index.html

bench: $(VENV)/.installed ## our speed beside the peers', as ratios
	$(BIN)/python -m benchmarks

soak: $(VENV)/.installed ## the laws, with many more examples
	NAIVELY_SOAK=1 $(BIN)/python -m pytest -n $(WORKERS) -q

SANITIZED := $(CURDIR)/build/sanitized

$(SANITIZED)/.built: $(VENV)/.installed $(CORE) $(wildcard src/naively/*.py src/naively/*/*.py src/naively/*/*/*.py)
	rm -rf $(SANITIZED)
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --target $(SANITIZED) \
		-C cmake.define.NAIVELY_SANITIZE=ON -C build-dir=build/sanitizing .
	@touch $@

sanitize: $(SANITIZED)/.built ## the kernel tests on a core with AddressSanitizer and UBSan
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
		$(BIN)/python tools/sanitized.py $(SANITIZED) tests/kernels -q -p no:cacheprovider

stub: $(VENV)/.installed ## write the types of the compiled core
	$(BIN)/python tools/core_stub.py

clean: ## remove what the targets made
	rm -rf $(VENV) build dist
