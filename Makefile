.PHONY: check hashes nightly quick coverage docs proofs preprint bench tables pictures soak-service

check: ## what every change must pass, in a fresh virtual environment; PACKAGE=client: packages/client alone
	bash .ci/run $(if $(PACKAGE),package $(PACKAGE))

nightly: ## the same, with the tests that are too long for every change
	bash .ci/run nightly

quick: ## formatting, lint, types, layers and the fast tests, in .venv; ROOM=planning: one room in full
	bash .ci/run quick $(ROOM)

hashes: ## hashes.txt, after a change of constraints.txt
	.venv/bin/uv pip compile --quiet constraints.txt --no-deps --generate-hashes --no-header --no-annotate --output-file hashes.txt

coverage: ## which lines of each room the fast tests run, in .venv
	bash .ci/run coverage

docs: ## the site, with executed notebooks, in docs/_build/html
	bash .ci/run docs

proofs: ## the theorems, by the proof assistant Coq
	$(MAKE) -C proofs

preprint: ## the studies as one LaTeX document, in docs/preprint/_build; with pdflatex, as a PDF
	.venv/bin/python docs/preprint/build.py

bench: ## the package against the bare engine
	.venv/bin/python -m bench.steps
	.venv/bin/python -m bench.rounds
	.venv/bin/python -m bench.startup
	.venv/bin/python -m bench.planning
	.venv/bin/python -m bench.practice
	.venv/bin/python -m bench.intervals
	.venv/bin/python -m bench.sweep

tables: ## the figures of docs/measured, into the pages of the documentation
	.venv/bin/python -m bench.tables

pictures: ## the pictures of the README and the docs
	.venv/bin/python docs/pictures.py
	PATH=$$PWD/.venv/bin:$$PATH PYTHONPATH=. .venv/bin/python docs/plan_pictures.py
	PYTHONPATH=. .venv/bin/python docs/cost_picture.py
	PATH=$$PWD/.venv/bin:$$PATH PYTHONPATH=. .venv/bin/python docs/audit_picture.py
	.venv/bin/python docs/noise_picture.py
	PYTHONPATH=. .venv/bin/python docs/service_pictures.py
	PYTHONPATH=. .venv/bin/python docs/app_pictures.py
	PATH=$$PWD/.venv/bin:$$PATH PYTHONPATH=. .venv/bin/python docs/gallery_pictures.py

soak-service: ## kill, crash and pause all around the service, a thousand times and more; about 20 minutes
	.venv/bin/python -m soak.service
