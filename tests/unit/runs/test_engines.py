"""What a worker of a cluster is told of the machine that began the run."""

from __future__ import annotations

from referee.runs.engines import settings_said


def test_settings_go_to_other_machines_and_keys_and_places_do_not() -> None:
    environment = {
        "REFEREE_CALLS__CONCURRENCY": "64",
        "REFEREE_EMBEDDER": "local",
        "REFEREE_API_KEY": "secret",
        "REFEREE_CACHE_DIR": "/cache",
        "OPENAI_API_KEY": "secret",
        "HOME": "/root",
    }
    assert settings_said(environment) == {"REFEREE_CALLS__CONCURRENCY": "64", "REFEREE_EMBEDDER": "local"}
