# Two commands: `make demo` shows what ibidem does on the bundled example, `make test` checks everything.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test java clean

demo: .venv/installed
	$(BIN)/ibidem find examples/newsroom/documents.jsonl -o demo --overwrite --keep-text --format csv
	@echo "The passages, side by side, are in demo/passages.csv; what the collection holds is told in examples/newsroom/README.md."

test: .venv/installed-dev java
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/python -m pytest

.venv/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

.venv/installed-dev: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch .venv/installed $@

# The tests of the Spark engine need Java. It is installed where that can be done without asking; if not, they are skipped.
java:
	@if "$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version >/dev/null 2>&1; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ]; then as_root=; else as_root="sudo -n"; fi; \
	if command -v apt-get >/dev/null && $$as_root true 2>/dev/null; then \
		echo "Installing a Java runtime for the tests of the Spark engine."; \
		$$as_root apt-get update -qq && \
		$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq default-jre-headless >/dev/null && exit 0; \
	fi; \
	echo "There is no Java: the tests of the Spark engine will be skipped."

# Numba keeps compiled kernels beside their sources and does not notice a change in a kernel of another file that they call.
clean:
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
