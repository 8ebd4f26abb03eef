.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
HOME_FOLDER ?= data/store
QUESTION ?= How do the amounts in box 1b and box 2e relate to the total ordinary dividends in box 1a?

# Compiled modules are kept, whatever the shell says: a run of the tests starts some hundred processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test quick check golden bench ui serve docs site api status clean

help: ## list the commands
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## (.*)/  make \1\t\2/' | expand -t 20

.venv/installed: pyproject.toml requirements.lock
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

run: .venv/installed ## build the bundled sample corpus end to end, train on it, and answer a question
	$(BIN)/taxkg build --home $(HOME_FOLDER)
	$(BIN)/taxkg train --home $(HOME_FOLDER)
	$(BIN)/taxkg build --home $(HOME_FOLDER)
	$(BIN)/taxkg ask --home $(HOME_FOLDER) "$(QUESTION)"
	@echo
	@echo "Inspect lineage, gates and tables in the Dagster UI:  make ui"

# Three workers on two cores: tests that wait for a daemon, a bucket or a browser leave a third of two cores idle.
test: .venv/installed ## run the tests
	$(BIN)/python -m pytest -n 3 --dist worksteal

quick: .venv/installed ## run the quick tests only, for the inner loop
	$(BIN)/python -m pytest -n 2 --dist worksteal --quick

check: .venv/installed ## format, lint, types, import contracts, spelling, terms, vulnerable packages
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/typos
	$(BIN)/python -m tools.code_figures --check
	$(BIN)/python deploy/audit.py

golden: .venv/installed ## rewrite the golden files from today's output
	TAXKG_REWRITE_GOLDEN=1 $(BIN)/python -m pytest taxkg_assets_tests/golden taxkg_assets_tests/architecture/test_snapshot.py \
		taxkg_assets_tests/llm/providers/test_transcripts.py

bench: .venv/installed ## run the benchmarks
	$(BIN)/python -m benchmarks

ui: .venv/installed ## open the Dagster UI on the home
	$(BIN)/taxkg ui --home $(HOME_FOLDER)

serve: .venv/installed ## serve the API, the explorer and the tools for agents
	$(BIN)/taxkg serve --home $(HOME_FOLDER)

docs: .venv/installed ## write the pages of tables, commands and settings again
	$(BIN)/python docs/generate.py

site: .venv/installed ## build the documentation site into build/site, without a network
	$(BIN)/mkdocs build --quiet

api: .venv/installed ## render the API reference to build/api
	$(BIN)/python docs/api_reference.py

status: .venv/installed ## show what is built, stale, failed
	$(BIN)/taxkg status --home $(HOME_FOLDER)

clean: ## remove the environment and the built home
	rm -rf .venv data/store
