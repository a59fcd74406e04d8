"""The table of providers, and OpenRouter as one that was added by a file."""

from __future__ import annotations

from typing import Any

import pytest

from referee.api.doctor import check_installation
from referee.errors import SettingsError
from referee.llm.door import Door
from referee.llm.models import open_models
from referee.llm.prices import cost_usd
from referee.llm.providers import PROVIDERS, parse_model, require_key
from referee.llm.providers.protocol import WireRequest
from referee.llm.spec import MODEL_FORMS, ModelSpec
from referee.llm.wire import Wire
from referee.runs.progress import silent
from referee.settings import load_settings
from tests.support import FakeServer

from .shared import GOOD, Verdict
from .test_odd_servers import prompt

ROUTED = "anthropic/claude-sonnet-4"


def test_help_texts_name_every_form_of_a_model() -> None:
    """They are a constant, so that help imports no provider."""
    forms = [form for provider in PROVIDERS.values() for form in provider.forms]
    named = [form.partition(":")[0] for form in MODEL_FORMS.split(", ")[:-1]]
    assert sorted(named) == sorted(forms)
    assert MODEL_FORMS.endswith("a server's name")


def test_an_unknown_provider_is_told_all_forms() -> None:
    with pytest.raises(SettingsError, match="no known provider") as caught:
        parse_model("openruter:a/b")
    assert "openrouter:a/b" in caught.value.hint
    assert MODEL_FORMS in caught.value.hint


def test_each_provider_is_in_the_doctors_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-something")
    checks = {check.name: check for check in check_installation()}
    assert checks["key: openrouter"].found == "OPENROUTER_API_KEY is set"
    assert checks["key: openai"].fix.startswith("export OPENAI_API_KEY")
    assert not checks["key: a server's key"].ok


def test_openrouter_has_a_key_an_address_and_prices_of_its_own() -> None:
    spec = parse_model(f"openrouter:{ROUTED}")
    assert (spec, spec.id) == (ModelSpec("openrouter", ROUTED), f"openrouter:{ROUTED}")
    assert require_key(spec, {"OPENROUTER_API_KEY": "k", "OPENAI_API_KEY": "other"}) == "k"
    with pytest.raises(SettingsError, match="OPENROUTER_API_KEY is not set"):
        require_key(spec, {"OPENAI_API_KEY": "other"})
    assert PROVIDERS["openrouter"].address == "https://openrouter.ai/api/v1"
    assert (cost_usd(spec, 1_000_000, 0, {}) or 0) > 0
    assert cost_usd(ModelSpec("openrouter", "nobody/nothing"), 1, 1, {}) is None


async def test_openrouter_is_asked_in_openais_format_with_its_own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "right")
    with FakeServer({"*": GOOD}, models=(ROUTED,), context_tokens=123_456, expected_key="right") as server:
        monkeypatch.setattr(PROVIDERS["openrouter"], "address", server.base_url)
        settings = load_settings({"models.default": f"openrouter:{ROUTED}", "calls.cache": False}, env={})
        models = await open_models(settings, silent)
        try:
            assert models["writer"].context_tokens == 123_456, "its public list is asked where no price list knows"
            answer = await Door(models, calls=settings.calls).ask(
                prompt(), Verdict, role="writer", max_output_tokens=300
            )
        finally:
            await models.aclose()
    assert answer.value.score == 2
    assert answer.model == f"openrouter:{ROUTED}"
    (call,) = server.log.calls(endpoint="chat")
    assert call.request is not None
    assert call.request.params["max_tokens"] == 300


def test_a_provider_without_batches_is_named_before_any_call(monkeypatch: pytest.MonkeyPatch) -> None:
    from referee.llm.models import check_models

    monkeypatch.setenv("OPENROUTER_API_KEY", "k")
    settings = load_settings({"models.default": f"openrouter:{ROUTED}", "calls.batch": True}, env={})
    with pytest.raises(SettingsError, match="its provider has none"):
        check_models(settings)


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_system_text_without_a_role_stands_before_what_calls_share(name: str) -> None:
    request = WireRequest(
        messages=(("system", "You judge."), ("user", "The paper. The task.")),
        schema={"type": "object"},
        max_output_tokens=9,
        temperature=None,
        native=True,
        role="writer",
        prompt="p@v1",
        prefix_chars=10,
        system_role=False,
    )
    ((role, content),) = PROVIDERS[name].messages(request)
    parts: Any = content if isinstance(content, list) else [{"text": content}]
    assert role == "user"
    assert parts[0]["text"].startswith("You judge.\n\nThe paper.")
    if len(parts) > 1:
        assert parts[0]["text"] == "You judge.\n\nThe paper."


def test_a_wire_is_opened_for_every_provider() -> None:
    for name, provider in PROVIDERS.items():
        Wire(ModelSpec(name, "m"), key="k", timeout_s=1)
        assert all(issubclass(kind, Exception) for kind in provider.errors())
