# The checks that every change passes; `.ci/run` runs them too, and all tests.
.PHONY: check format quick test

check:
	ruff format --check .
	ruff check .
	mypy
	lint-imports

format:
	ruff format .
	ruff check --fix .

# The inner loop: format, lint, and the tests that are over soon.
quick:
	ruff format --check .
	ruff check .
	pytest -n auto -m "not slow"

test:
	pytest -n auto
