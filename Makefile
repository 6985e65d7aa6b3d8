# Every target sets up .venv by itself, and only again when pyproject.toml or native code changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
NATIVE := $(shell find native -type f \( -name '*.cc' -o -name '*.hh' \) 2>/dev/null)
PACKAGES := $(shell find src packages -name __init__.py -o -path "packages/*/pyproject.toml" 2>/dev/null)
BUILD := build/native
BUILD_NEEDS := "scikit-build-core>=0.11,<2" "nanobind>=2.9,<4" "cmake>=3.25" "ninja>=1.11" "setuptools>=77" "wheel>=0.43"

.PHONY: demo test lint format bench asan tsan browser clean help

help:  ## what each target does
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml CMakeLists.txt $(NATIVE) $(PACKAGES)
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "dragoman needs Python 3.11 or newer; say make PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(BUILD_NEEDS)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --config-settings build-dir=$(BUILD) --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation $(addprefix --editable ,$(wildcard packages/*))
	@touch $(STAMP)

demo: $(STAMP)  ## run recipes/quickstart.toml on embedded data, leave build/demo/report.html
	@rm -rf build/demo
	$(BIN)/dragoman demo --out build/demo

test: $(STAMP)  ## all tests, native ones first
	$(BIN)/cmake --build $(BUILD) --target native_tests
	./$(BUILD)/native_tests
	$(BIN)/python -m pytest

lint: $(STAMP)  ## ruff, mypy strict, clang-format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(NATIVE)

format: $(STAMP)  ## rewrite the sources in the house format
	-$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE)

bench: $(STAMP)  ## measure; JSON under build/bench, the table in docs/benchmarks.md
	$(BIN)/python -m bench

asan: $(STAMP)  ## native tests under address and undefined-behaviour sanitizers
	$(BIN)/cmake -S . -B build/asan -G Ninja -DCMAKE_MAKE_PROGRAM="$(CURDIR)/$(BIN)/ninja" -DDRAGOMAN_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=Debug
	$(BIN)/cmake --build build/asan --target native_tests
	./build/asan/native_tests

tsan: $(STAMP)  ## native tests under the thread sanitizer
	$(BIN)/cmake -S . -B build/tsan -G Ninja -DCMAKE_MAKE_PROGRAM="$(CURDIR)/$(BIN)/ninja" -DDRAGOMAN_SANITIZE=thread -DCMAKE_BUILD_TYPE=Debug
	$(BIN)/cmake --build build/tsan --target native_tests
	TSAN_OPTIONS=halt_on_error=1 ./build/tsan/native_tests

browser:  ## a Chromium for the tests of pages, where this machine can install one; they skip without
	@if command -v chromium || command -v chromium-browser || command -v google-chrome; then echo "is there"; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  { timeout 120 apt-get -qq update && DEBIAN_FRONTEND=noninteractive timeout 600 apt-get -qq install --yes --no-install-recommends chromium; } \
	  || echo "no Chromium could be installed; the tests of pages will be skipped"; \
	else echo "install Chromium yourself, or the tests of pages will be skipped"; fi

clean:  ## remove everything that was built, the environment included
	rm -rf build $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
