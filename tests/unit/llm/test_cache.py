from __future__ import annotations

from itertools import product
from pathlib import Path

from referee.llm.cache import ReplyCache
from referee.schemas.usage import Usage


def test_requests_that_are_nearly_alike_are_kept_apart(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path)
    requests = ["".join(letters) + "f" * 60 for letters in product("01", repeat=4)]
    for number, request in enumerate(requests):
        cache.put(request, request, Usage(input_tokens=number, output_tokens=1))
    for request in requests:
        assert cache.get(request) == request
    assert cache.get("2" + "f" * 63) is None
