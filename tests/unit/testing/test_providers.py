"""The fake server against the providers' real clients."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import FakeServer, Fault

from .fake_clients import PAPER, PROMPT, PROVIDERS, Weakness, provider_chat

MESSAGES = [("system", "You review."), ("user", PROMPT)]
METHODS = [
    ("openai", "json_schema"),
    ("openai", "function_calling"),
    ("anthropic", "json_schema"),
    ("anthropic", "function_calling"),
    ("google", "json_schema"),
]


@pytest.mark.parametrize(("provider", "method"), METHODS)
def test_structured_replies_parse_and_quote_the_prompt(provider: str, method: str) -> None:
    with FakeServer() as server, provider_chat(provider, server.url) as chat:
        asked = chat.with_structured_output(Weakness, method=method, include_raw=True)
        first, second = asked.invoke(MESSAGES), asked.invoke(MESSAGES)
    weakness = first["parsed"]
    assert isinstance(weakness, Weakness)
    assert weakness.quote in PAPER
    assert second["parsed"] == weakness
    usage = first["raw"].usage_metadata
    assert usage["input_tokens"] == len(f"You review. {PROMPT}".split())
    assert usage["output_tokens"] > 0
    assert [entry.outcome for entry in server.log] == ["ok", "ok"]
    assert server.log.repeated() == [server.log.entries[0].digest]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_free_text(provider: str) -> None:
    with FakeServer() as server, provider_chat(provider, server.url) as chat:
        said = chat.invoke(MESSAGES).text
    assert said.startswith("Remark on the material: ")
    assert said.removeprefix("Remark on the material: ") in PAPER


@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")  # google-genai's own
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_async_calls(provider: str) -> None:
    async with FakeServer() as server:
        with provider_chat(provider, server.url) as chat:
            said = await chat.ainvoke(MESSAGES)
            if provider == "openai":
                await chat.root_async_client.close()
            elif provider == "anthropic":
                await chat._async_client.close()
            else:
                await chat.async_client.aclose()
    assert said.usage_metadata["output_tokens"] > 0


def test_google_function_declarations() -> None:
    from google.genai import Client, types

    declared = {
        "name": "Mark",
        "parameters": {
            "type": "OBJECT",
            "properties": {
                "kind": {"type": "STRING", "format": "enum", "enum": ["a", "b"]},
                "count": {"type": "INTEGER", "nullable": True},
            },
            "required": ["kind"],
        },
    }
    with FakeServer() as server:
        client = Client(api_key="k", http_options=types.HttpOptions(base_url=server.url))
        config = types.GenerateContentConfig(tools=[types.Tool.model_validate({"function_declarations": [declared]})])
        answer = client.models.generate_content(model="gemini-2.5-flash", contents="Mark it.", config=config)
        client.close()
    [call] = answer.function_calls or []
    assert call.name == "Mark"
    assert (call.args or {})["kind"] in ("a", "b")
    assert server.log.entries[0].model == "gemini-2.5-flash"


def test_openai_client_lists_models_embeds_and_streams() -> None:
    from openai import OpenAI

    with (
        FakeServer(models=["one", "two"], context_tokens=8192) as server,
        OpenAI(api_key="k", base_url=server.base_url, max_retries=0) as client,
    ):
        assert [model.id for model in client.models.list()] == ["one", "two"]
        default = client.embeddings.create(model="e", input=["a red fox", "the red fox", "stock prices"], dimensions=64)
        plain = client.embeddings.create(model="e", input="a red fox", dimensions=64, encoding_format="float")
        tokens = client.embeddings.create(model="e", input=[[1, 2], [3]])
        events = list(
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": PROMPT}], stream=True)
        )
    fox, other_fox, prices = (item.embedding for item in default.data)
    assert len(fox) == 64
    assert fox == pytest.approx(plain.data[0].embedding, abs=1e-6)
    assert _dot(fox, other_fox) > _dot(fox, prices)
    assert [len(item.embedding) for item in tokens.data] == [256, 256]
    said = "".join(event.choices[0].delta.content or "" for event in events if event.choices)
    assert said.removeprefix("Remark on the material: ") in PAPER
    assert events[-1].usage is not None


def _dot(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _caught(provider: str, fault: Fault | None, **server_options: Any) -> Exception:
    faults = [] if fault is None else [fault]
    with FakeServer(faults=faults, **server_options) as server, provider_chat(provider, server.url) as chat:
        with pytest.raises(Exception) as caught:
            chat.invoke(MESSAGES)
        return caught.value


def _status(error: BaseException | None) -> int | None:
    while error is not None:
        for name in ("status_code", "code"):
            if isinstance(getattr(error, name, None), int):
                status: int = getattr(error, name)
                return status
        error = error.__cause__ or error.__context__
    return None


@pytest.mark.parametrize(
    ("provider", "kind", "status"),
    [
        ("openai", "429", 429),
        ("openai", "500", 500),
        ("openai", "503", 503),
        ("openai", "context", 400),
        ("anthropic", "429", 429),
        ("anthropic", "500", 500),
        ("anthropic", "503", 529),
        ("anthropic", "context", 400),
        ("google", "429", 429),
        ("google", "500", 500),
        ("google", "503", 503),
        ("google", "context", 400),
    ],
)
def test_each_provider_reads_its_own_error(provider: str, kind: Any, status: int) -> None:
    assert _status(_caught(provider, Fault(kind))) == status


@pytest.mark.parametrize(("provider", "status"), [("openai", 401), ("anthropic", 401), ("google", 400)])
def test_a_wrong_key_is_rejected_in_the_provider_s_words(provider: str, status: int) -> None:
    error = _caught(provider, None, expected_key="right")
    assert _status(error) == status
    assert "key" in str(error).lower()
    with FakeServer(expected_key="right") as server, provider_chat(provider, server.url, key="right") as chat:
        chat.invoke(MESSAGES)
    assert server.log.outcomes() == {"ok": 1}
