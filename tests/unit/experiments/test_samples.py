"""``review(sample=...)``: samples of one review do not share replies, neither in the cache nor in a resumed run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee import api
from referee.errors import RunError
from tests.options import with_options
from tests.support import FakeServer


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(tmp_path / "cache"))
    return {"venue": "iclr-2020", "strategy": "single", "model": "fake"}


@pytest.mark.slow
async def test_each_sample_has_replies_of_its_own(tmp_path: Path, examples: Path, given: dict[str, Any]) -> None:
    with FakeServer(context_tokens=32_000) as server:
        same = {**given, "base_url": server.base_url}
        paper = examples / "short.md"
        for number, (sample, calls) in enumerate([(0, 1), (1, 2), (0, 2), (1, 2), (2, 3)]):
            await api.review(paper, **with_options(**same, sample=sample, out=tmp_path / str(number)))
            assert len(server.log.calls(endpoint="chat")) == calls
        await api.review(paper, **with_options(**same, sample=1, resume=tmp_path / "1"))
        with pytest.raises(RunError, match="another sample"):
            await api.review(paper, **with_options(**same, sample=2, resume=tmp_path / "1"))
        with pytest.raises(RunError, match="another sample"):
            await api.review(paper, **with_options(**same, resume=tmp_path / "1"))
        assert len(server.log.calls(endpoint="chat")) == 3
