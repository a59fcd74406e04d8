# The checks that every change passes; `.ci/run` runs them too, and all tests.
.PHONY: check format quick test newest

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

# All tests with the newest versions of every library that the ranges in pyproject.toml allow.
newest:
	python3 -m venv --clear build/newest
	build/newest/bin/pip install '.[local,dev]'
	build/newest/bin/referee models fetch minilm qwen-0.5b smollm2-135m
	PATH="$(CURDIR)/build/newest/bin:$$PATH" build/newest/bin/pytest -n auto
