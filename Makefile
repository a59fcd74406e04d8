# The checks that every change passes; `.ci/run` runs them too.
.PHONY: check format test

check:
	ruff format --check .
	ruff check .
	mypy
	lint-imports

format:
	ruff format .
	ruff check --fix .

test:
	pytest -n auto
