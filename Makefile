# Two commands: `make demo` shows what ibidem does on the bundled example, `make test` checks everything; `make check` is for
# the minutes between; `make docs` builds the documentation as a site.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint kernels check test-versions docs man programs clean fuzz soak

demo: .venv/installed
	$(BIN)/ibidem find examples/newsroom/documents.jsonl -o demo --overwrite --keep-text --format csv --report
	@echo "Open demo/report.html in a browser. The tables are beside it; examples/newsroom/README.md describes the collection."

# Tests run in their own order: those of Spark, few and long, would come last otherwise, with nothing left to run beside them.
# What needs one processor only runs beside other things that do.
test:
	@$(MAKE) --no-print-directory --jobs=2 .venv/installed-dev programs
	@$(MAKE) --no-print-directory --jobs=2 lint kernels
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder --durations 10

lint:
	$(LINT)

# Compiled once before the tests: processes that begin together would each compile the same. So is the bytecode: where
# PYTHONDONTWRITEBYTECODE is set, each of the hundreds of processes that tests start would make all of it, which takes 0.3 s.
kernels:
	$(BIN)/python -m compileall -q src
	$(BIN)/ibidem warmup --quiet

# Linter, types and the tests of what changed since BASE, those nearest to the change first, as many as two minutes allow.
BASE ?= HEAD
check: .venv/installed-dev
	$(LINT)
	HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder --at-most 90 \
		$$($(BIN)/python -m tests.changed --base $(BASE))

define LINT
$(BIN)/ruff check src tests benchmarks studies fuzz
@if $(BIN)/python -c "import sys; sys.exit(sys.version_info < (3, 11))"; then $(BIN)/mypy; \
	else echo "Types are not checked on Python 3.10: the last numpy for it describes its arrays differently."; fi
endef

# The suite on every declared Python that is installed, and once with the oldest dependencies that pyproject.toml allows.
# VERSIONS="3.12 oldest" chooses some, JOBS=2 bounds the processes.
test-versions:
	$(PYTHON) -m tests.versions $(VERSIONS)

# The site needs no network, neither to build nor to read it. With --quiet, broken links would not count as errors.
docs: .venv/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "Open build/site/index.html in a browser. To search as well: python3 -m http.server --directory build/site"

.venv/installed-docs: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

.venv/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[web]'
	touch $@

.venv/installed-dev: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch .venv/installed .venv/installed-docs $@

# The manual page, from the same source as --help: `man build/ibidem.1`.
man: .venv/installed
	mkdir -p build
	$(BIN)/ibidem help --man > build/ibidem.1

# What tests need beyond Python: Java for the Spark engine, strace for power cuts, Chromium for the pages, jq for commands in
# the docs, axe-core to judge how accessible the pages are.
# It is installed where that can be done without asking; if not, the tests that need it are skipped, and say so.
programs:
	@"$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version >/dev/null 2>&1 || $(call install,default-jre-headless,Java for the Spark engine)
	@command -v strace >/dev/null || $(call install,strace,strace to replay power cuts)
	@command -v jq >/dev/null || $(call install,jq,jq for commands in the docs)
	@command -v chromium >/dev/null || $(call install,chromium,Chromium for the pages)
	@command -v npm >/dev/null || test -d $(AXE) || $(call install,npm,npm for axe-core)
	@test -d $(AXE) || ! command -v npm >/dev/null || npm install --silent --no-audit --no-fund --prefix .venv/node axe-core@4 || \
		echo "axe-core cannot be installed: how accessible the pages are will not be tested."

AXE := .venv/node/node_modules/axe-core
install = { if [ "$$(id -u)" = 0 ]; then as_root=; else as_root="sudo -n"; fi; \
	if command -v apt-get >/dev/null && $$as_root true 2>/dev/null; then \
		echo "Installing $(2)."; \
		$$as_root apt-get update -qq && \
		$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(1) >/dev/null; \
	else false; fi || echo "$(1) cannot be installed: the tests that need it will be skipped."; }

# Compiled kernels are beside their sources.
clean:
	find src tests benchmarks studies fuzz -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

# What reads foreign data is given arbitrary bytes, thirty minutes for each target; findings are left in build/fuzz. Atheris has no
# wheels for some systems: then the targets are run by a mutation loop of their own, and that is said.
MINUTES ?= 30
fuzz: .venv/installed-dev
	$(BIN)/python -c "import atheris" 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check atheris || \
		echo "atheris cannot be installed."
	$(BIN)/python -m fuzz --minutes $(MINUTES) --folder build/fuzz

# What `make test` tries briefly, for hours: all examples of every property, environments that change under an open index, power cuts, weak digests, inputs that
# change, texts made to be slow, kills, and a server and a stream under hostile clients. Each part says what it did and fails on
# any loss. DATA names a folder of real collections for the kills of stored runs, which are left out without it.
SOAK_MINUTES ?= 30
soak: .venv/installed-dev programs
	HYPOTHESIS_PROFILE=many $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder
	$(BIN)/python -m tests.environments.machine --steps 50000
	$(BIN)/python -m tests.crash --states 20000
	$(BIN)/python -m tests.weak_digests --runs 500
	$(BIN)/python -m tests.changing_inputs --runs 2000
	$(BIN)/python benchmarks/faults.py --kills 200
	$(if $(DATA),$(BIN)/python benchmarks/kills.py --kills 200 --data $(DATA),@echo "Kills of stored runs are left out: DATA is not set.")
	$(BIN)/python -m fuzz.complexity --minutes $(SOAK_MINUTES)
	$(BIN)/python benchmarks/soak.py --minutes $(SOAK_MINUTES)
