.PHONY: check hashes nightly quick warm coverage docs proofs preprint bench tables pictures soak-service

check: ## what every change must pass, in a fresh virtual environment; PACKAGE=service: packages/service alone
	bash .ci/run $(if $(PACKAGE),package $(PACKAGE))

nightly: ## the same, with the tests that are too long for every change
	bash .ci/run nightly

quick: ## formatting, lint, types, layers and the fast tests, in .venv; ROOM=planning: one room in full
	bash .ci/run quick $(ROOM)

warm: ## compile now what first commands need, in .venv
	.venv/bin/affinity warm

hashes: ## hashes.txt, after a change of constraints.txt
	.venv/bin/uv pip compile --quiet constraints.txt --no-deps --generate-hashes --no-header --no-annotate --output-file hashes.txt

coverage: ## which lines of each room the fast tests run, in .venv
	bash .ci/run coverage

docs: ## the site, with executed notebooks, in docs/_build/html
	bash .ci/run docs

proofs: ## the theorems, by the proof assistant Coq
	$(MAKE) -C proofs

preprint: ## the studies as one LaTeX document, in research/preprint/_build; with pdflatex, as a PDF
	.venv/bin/python -m research.preprint.build

bench: ## the package against the bare engine
	.venv/bin/python -m checks.bench.steps
	.venv/bin/python -m checks.bench.rounds
	.venv/bin/python -m checks.bench.startup
	.venv/bin/python -m checks.bench.planning
	.venv/bin/python -m research.practice
	.venv/bin/python -m research.intervals
	.venv/bin/python -m checks.bench.sweep

tables: ## the figures of docs/measured, into the pages of the documentation
	.venv/bin/python -m checks.bench.tables

pictures: ## the pictures of the README and the docs
	.venv/bin/python -m checks.pictures.front
	.venv/bin/python -m checks.pictures.model
	PATH=$$PWD/.venv/bin:$$PATH .venv/bin/python -m checks.pictures.plan
	.venv/bin/python -m checks.pictures.cost
	PATH=$$PWD/.venv/bin:$$PATH .venv/bin/python -m checks.pictures.audit
	.venv/bin/python -m checks.pictures.noise
	.venv/bin/python -m checks.pictures.service
	.venv/bin/python -m checks.pictures.app
	PATH=$$PWD/.venv/bin:$$PATH .venv/bin/python -m checks.pictures.gallery

soak-service: ## kill, crash and pause all around the service, a thousand times and more; about 20 minutes
	.venv/bin/python -m checks.soak.service
