from __future__ import annotations

import pytest

from referee.errors import ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from referee.llm.failures import RequestRefused, classify
from referee.llm.spec import ModelSpec

SPEC = ModelSpec("openai", "gpt-4o")


class Answered(Exception):
    """What an SDK raises over an answer with that status."""

    def __init__(self, status_code: int, said: str) -> None:
        super().__init__(said)
        self.status_code = status_code


@pytest.mark.parametrize(
    ("status", "said", "kind", "message"),
    [
        (429, "You exceeded your current quota: insufficient_quota", ModelRefused, "has no credit left"),
        (429, "Too many requests", ModelUnavailable, "answered with HTTP 429"),
        (500, "The billing service is down", ModelUnavailable, "answered with HTTP 500"),
        (400, "Your credit balance is odd", RequestRefused, "HTTP 400"),
        (400, "Your credit balance is too low to access the API", ModelRefused, "has no credit left"),
        (400, "API key not valid", ModelRefused, "refused the key"),
        (401, "no", ModelRefused, "refused the key"),
        (404, "no such model", ModelRefused, "was not found"),
        (400, "maximum context length is 8192 tokens", ContextTooLong, "does not fit into the context"),
    ],
)
def test_what_a_status_means(status: int, said: str, kind: type[ModelError], message: str) -> None:
    error = classify(Answered(status, said), SPEC)
    assert type(error) is kind
    assert message in str(error)


def test_long_answers_are_shown_cut() -> None:
    assert f"HTTP 500: {'x' * 300}...." in str(classify(Answered(500, "x" * 301), SPEC))
    assert f"HTTP 500: {'x' * 300}. " in f"{classify(Answered(500, 'x' * 300), SPEC)} "
