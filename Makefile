# Two commands: `make demo` shows what ibidem does on the bundled example, `make test` checks everything.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test clean

demo: .venv/installed
	$(BIN)/ibidem find examples/newsroom/documents.jsonl -o demo --overwrite --keep-text --format csv
	@echo "The passages, side by side, are in demo/passages.csv; what the collection holds is told in examples/newsroom/README.md."

test: .venv/installed-dev
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

# Numba keeps compiled kernels beside their sources and does not notice a change in a kernel of another file that they call.
clean:
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
