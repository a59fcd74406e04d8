from __future__ import annotations

from itertools import product
from pathlib import Path

from referee.llm.cache import CachedReply, ReplyCache


def test_requests_that_are_nearly_alike_are_kept_apart(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path)
    requests = ["".join(letters) + "f" * 60 for letters in product("01", repeat=4)]
    for number, request in enumerate(requests):
        cache.put(request, CachedReply(reply=request, input_tokens=number, output_tokens=1))
    for number, request in enumerate(requests):
        assert cache.get(request) == CachedReply(reply=request, input_tokens=number, output_tokens=1)
    assert cache.get("2" + "f" * 63) is None
