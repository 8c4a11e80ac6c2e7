# Two commands do everything: `make lab` opens the notebooks, `make test` runs the tests.
# Each target first makes .venv from requirements.txt when it is missing or older than its sources; tests add their own.
# With VERSIONS=lowest or VERSIONS=newest it takes the ends of the ranges in pyproject.toml, in an environment of their own.

PYTHON ?= python3
VERSIONS ?= pinned
INSTALL_pinned := -r requirements.txt
INSTALL_newest := -e '.[notebooks]'
INSTALL_lowest := $(INSTALL_newest) -c tests/constraints-lowest.txt
$(if $(INSTALL_$(VERSIONS)),,$(error VERSIONS: expected pinned, lowest or newest, got '$(VERSIONS)'))
VENV := .venv$(if $(filter-out pinned,$(VERSIONS)),-$(VERSIONS))
NODE := .node
SITE := .site
FRONT_END := ../../encoder_lib/course/kit/widget/front_end ../../site/player
RUN := $(VENV)/bin/python -m
STAMP := $(VENV)/.set-up
TESTS := $(VENV)/.tests
NOTEBOOKS := $(sort $(wildcard notebooks/*.ipynb))
WORKERS ?= 2
PARALLEL := pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -p no:cacheprovider
NBVAL := --nbval --nbval-current-env --nbval-cell-timeout 120 --nbval-sanitize-with tests/notebooks/nbval.cfg
# What JupyterLab, a kernel and the notebooks import: compiled at set-up, or the first reader would wait for it.
COMPILED := import jupyterlab.labapp, ipykernel.kernelapp, seaborn, torch._dynamo; from encoder_lib.course import build_your_own, checks, explore
unexport PYTHONDONTWRITEBYTECODE  # where it is set, every kernel would compile again all that it imports
# Where tests are wanted, a new environment gets their packages in the same call of pip.
WANTED_TOO := $(if $(filter test% quick-tests lint notebooks,$(MAKECMDGOALS)),-r tests/requirements.txt)
ROOT_FLAG := $(if $(filter 0,$(shell id -u)),--allow-root)

.PHONY: help lab update fresh address links test quick-tests test-long long rerun test-weekly pages lint lint-front-end notebooks site bench film clean

help:  ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

lab: $(STAMP)  ## set up and open the notebooks in JupyterLab
	$(RUN) jupyterlab --ip=127.0.0.1 $(ROOT_FLAG) $(or $(firstword $(NOTEBOOKS)),notebooks)

update:  ## fetch the newest course; notebooks that you have changed are kept in mine/
	@$(PYTHON) tests/tools/update.py

fresh:  ## set one notebook back to how it came, and keep yours in mine/: make fresh NOTEBOOK=04
	@$(PYTHON) tests/tools/update.py $(or $(NOTEBOOK),$(error NOTEBOOK: expected the number of one, as in make fresh NOTEBOOK=04))

address:  ## write this repository's address everywhere: make address REPOSITORY=https://github.com/you/course
	@GITHUB_REPOSITORY= PYTHONPATH=site $(PYTHON) tests/tools/write_address.py $(REPOSITORY)

links:  ## list the links that lead out of the repository
	@git grep -IohE 'https?://[^][:space:]"`<>)}\*]+' -- '*.md' '*.ipynb' '*.cff' '*.toml' ':!tests/browser/vendor' | sort | uniq -c

# While pip sets up, npm does too, and the front end's style is checked.
test:  ## set up and run the tests: style, library, front end, what 00 claims (minutes)
	@$(MAKE) --no-print-directory -j 2 lint quick-tests
	@echo "make test: all that can run here passed; what was skipped is listed above."

# Three processes at a time, since a browser's tests often wait.
quick-tests: $(TESTS)
	$(RUN) $(PARALLEL) -n 3 -p no:nbval tests

# Three processes here, too: two for what follows on each other, one for the rest.
test-long: $(TESTS)  ## the slow tests: the other claims, the web edition, all notebooks in a browser and in a sandbox
	@$(MAKE) --no-print-directory -j 2 long rerun
	@echo "make test-long: all passed."

# The claims' run of a notebook records its explorers for the web edition.
long: $(TESTS)
	RECORDINGS=build/site/recordings $(RUN) $(PARALLEL) -m "long and not weekly" tests --ignore tests/site
	@$(MAKE) --no-print-directory pages

rerun: $(TESTS)
	PYTHONPATH=tests/tools tests/tools/sandbox $(RUN) $(PARALLEL) -n 1 -p rerun_cells $(NBVAL) --nbval-cell-timeout 600 notebooks

test-weekly: $(TESTS)  ## the claims that depend on a seed, with their other seeds
	$(RUN) $(PARALLEL) -m weekly tests

pages: site
	$(RUN) $(PARALLEL) -n 3 -m long tests/site

lint: $(TESTS) lint-front-end  ## check style, formatting and types, the front end's too where npm is
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(VENV)/bin/rumdl check --no-cache --disable MD013,MD033,MD041,MD046 *.md .github/*.md binder/*.md
	$(RUN) check_jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(RUN) check_jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/*.yml
	$(RUN) check_jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(RUN) check_jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(VENV)/bin/shellcheck .ci/run binder/postBuild binder/start tests/tools/sandbox
	$(if $(filter pinned,$(VERSIONS)),$(RUN) mypy,@echo "Types are checked with the pinned versions alone: other packages declare other types.")

ifneq ($(shell command -v npm),)
lint-front-end: $(NODE)/.set-up
	cd tests/front_end && ../../$(NODE)/node_modules/.bin/biome check --error-on-warnings $(FRONT_END) ../../.devcontainer
	$(NODE)/node_modules/.bin/tsc --project tests/front_end
else
lint-front-end:
	@echo "No 'npm' here: style and types of the front end (JavaScript) were not checked. Install node and npm to check them."
	@test -z "$$CI"
endif

notebooks: $(TESTS)  ## run every notebook and save it in place
	$(VENV)/bin/python tests/tools/run_notebooks.py $(NOTEBOOKS)

site: $(SITE)/.set-up  ## build the web edition, every explorer alive, in build/site/html (wants node and npm)
	$(SITE)/venv/bin/python site/build.py build/site $(SITE)/node_modules

bench: $(TESTS)  ## measure the explorers in a real browser, and the encoder beside its peers
	$(RUN) pytest tests/benchmarks -s

film: $(TESTS)  ## film the picture of the encoder for the README
	PYTHONPATH=tests/helpers:tests/browser $(VENV)/bin/python tests/tools/film.py

clean:  ## remove the environments and caches
	rm -rf .venv .venv-* $(NODE) $(SITE) build *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis .benchmarks

$(STAMP): pyproject.toml requirements.txt tests/constraints-lowest.txt
	@command -v $(PYTHON) >/dev/null || { echo "No '$(PYTHON)' here. Install Python 3.11 to 3.14, or name one: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import sys; (3, 15) > sys.version_info >= (3, 11) or sys.exit("Python 3.11 to 3.14 is needed and this is %d.%d. Name another one: make PYTHON=python3.11" % sys.version_info[:2])'
	@echo "Setting up $(VENV): about two minutes the first time, more on a slow connection."
	@$(PYTHON) -m venv $(VENV)
	@$(RUN) pip install --quiet --no-compile --disable-pip-version-check $(INSTALL_$(VERSIONS)) $(WANTED_TOO)
	@$(VENV)/bin/jupyter labextension disable @jupyterlab/apputils-extension:announcements 2> $(VENV)/news.log
	@$(VENV)/bin/python -c '$(COMPILED)'
	@touch $@ $(if $(WANTED_TOO),$(TESTS))
	@echo "Set-up finished."

# What the tests alone want; what is there already keeps its version.
$(TESTS): $(STAMP) tests/requirements.txt
	@test $@ -nt tests/requirements.txt -a ! $(STAMP) -nt $@ || $(RUN) pip install --quiet --no-compile \
		--disable-pip-version-check $(INSTALL_$(VERSIONS)) -r tests/requirements.txt
	@touch $@

$(NODE)/.set-up: tests/front_end/package.json tests/front_end/package-lock.json
	@mkdir -p $(NODE)
	@cp $^ $(NODE)
	@npm ci --silent --ignore-scripts --no-audit --no-fund --prefix $(NODE)
	@touch $@

# The web edition's packages, in an environment of their own that sees those of .venv, and what sets its formulas.
$(SITE)/.set-up: $(STAMP) site/requirements.txt site/package-lock.json
	@command -v npm >/dev/null || { echo "No 'npm' here. The formulas of the web edition need node and npm."; exit 1; }
	@$(RUN) venv $(SITE)/venv
	@$(VENV)/bin/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
		> $$(echo $(SITE)/venv/lib/python*/site-packages)/course.pth
	@grep -hv '^-' requirements.txt tests/requirements.txt > $(SITE)/constraints.txt
	@$(SITE)/venv/bin/python -m pip install --quiet --disable-pip-version-check -c $(SITE)/constraints.txt -r site/requirements.txt
	@cp site/package.json site/package-lock.json $(SITE)
	@npm ci --silent --ignore-scripts --no-audit --no-fund --prefix $(SITE)
	@touch $@
