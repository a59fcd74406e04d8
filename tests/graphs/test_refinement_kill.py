"""``kill -9`` in the middle of a refinement, and a budget that ends: resumed, and nothing that was answered is paid."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.api import refine_prompts
from referee.errors import BudgetExceeded, RunError
from referee.schemas.run import RunRecord
from referee.venues.refined import list_refined
from tests.cli.processes import command, finished, wait_for
from tests.held import Held
from tests.options import with_options
from tests.support import FakeServer

from .refining_script import Refining, small_venue
from .sections_run import quick_settings

VENUE = "corl-2024"


@pytest.mark.slow
@pytest.mark.parametrize("replies", [3])
def test_killed_as_soon_as_a_reply_is_written_down(folder: Path, replies: int) -> None:
    """One call at a time, so that the kill loses one at most."""
    (folder / "referee.toml").write_text("[calls]\nconcurrency = 1\n")
    trace = folder / "run" / "trace.jsonl"
    held = Held(first=replies)
    with FakeServer(held, context_tokens=32_000) as server:
        asked = ("venue", "refine", VENUE, "--model", "fake", "--no-cache", "--rounds", 2)
        more = ("--base-url", server.base_url)
        with command(folder, *asked, *more, "--out", "run") as process:
            wait_for(lambda: trace.exists() and trace.read_bytes().count(b"\n") >= replies)
            process.kill()
        held.go.set()
        kept = trace.read_bytes().count(b"\n")
        before = [call.digest for call in server.log]
        assert list_refined(VENUE) == []
        done = finished(folder, *asked, *more, "--resume", "run")
        assert done.returncode == 0, done.stderr
        calls = [call.digest for call in server.log]
    assert kept == replies
    assert len(calls) - len(set(calls)) <= 1, "a kill loses the one call under way at most"
    assert not set(calls[len(before) :]) & set(before[:kept])
    (stored,) = list_refined(VENUE)
    assert len(stored.guidelines) == 3
    assert all(guideline.rounds == 2 for guideline in stored.guidelines)
    assert len({json.loads(line)["request"] for line in trace.read_text().splitlines()}) == len(set(calls))


async def test_a_budget_stops_it_and_a_higher_one_pays_nothing_twice(folder: Path) -> None:
    form = small_venue("lanterns", "bridges")
    with FakeServer(Refining().script(), context_tokens=32_000) as server:

        async def refined(**more: object) -> object:
            base = {"model": "m", "base_url": server.base_url, "settings": quick_settings(), "rounds": 2}
            return await refine_prompts(form, **with_options(**{**base, **more}))

        with pytest.raises(BudgetExceeded):
            await refined(out=folder / "run", max_tokens=3_500)
        paid = len(server.log)
        assert 0 < paid < 12
        assert RunRecord.model_validate_json((folder / "run" / "run.json").read_text()).status == "stopped"
        await refined(resume=folder / "run", max_tokens=1_000_000)
        assert server.log.repeated() == []
        assert len(server.log) == 12
        with pytest.raises(RunError, match="number of rounds"):
            await refined(resume=folder / "run", rounds=3)
        before = len(server.log)
        await refined(resume=folder / "run")
        assert len(server.log) == before, "a finished run is not run again"
