"""What calls cost, with and without tokens that a provider's cache serves."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.llm.limits import Limits
from referee.llm.models import Model
from referee.llm.prices import BATCH_SHARE, cost_usd
from referee.llm.spec import ModelSpec
from referee.llm.wire import Wire
from referee.schemas.usage import Usage
from referee.settings import load_settings

OWN = ModelSpec("server", "own", "http://127.0.0.1:1/v1")


def model(spec: ModelSpec = OWN, prices: Any = None) -> Model:
    return Model(spec, Wire(spec, key=None, timeout_s=1), Limits(1, None, None), 1000, prices or {}, len, 0.0)


def test_a_third_price_of_ones_own_is_that_of_cached_tokens() -> None:
    assert cost_usd(OWN, 1_000_000, 0, {"own": (2.0, 8.0, 0.5)}, cached_tokens=400_000) == pytest.approx(1.4)
    assert cost_usd(OWN, 1_000_000, 0, {"own": (2.0, 8.0)}, cached_tokens=400_000) == pytest.approx(2.0)
    assert cost_usd(OWN, 1_000_000, 0, {}, cached_tokens=400_000) is None


def test_prices_in_the_settings_have_two_numbers_or_three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "referee.toml").write_text("[models.prices]\nnarrow = [1.0, 2.0]\nwide = [1.0, 2.0, 0.1]\n")
    assert load_settings(env={}).models.prices == {"narrow": (1.0, 2.0), "wide": (1.0, 2.0, 0.1)}


def test_calls_that_begin_alike_cost_the_beginning_once_in_full() -> None:
    own = model(prices={"own": (10.0, 20.0, 1.0)})
    # 10,000 in full, twice 10,000 for a tenth, tails of 600 together, 300 out
    expected = (10_000 * 10 + 20_000 * 1 + 600 * 10 + 300 * 20) / 1e6
    assert own.shared_cost(10_000, [100, 200, 300], 300) == pytest.approx(expected)


def test_writing_to_anthropics_cache_costs_a_quarter_more() -> None:
    claude = model(ModelSpec("anthropic", "claude-opus-4-6"))
    gpt = model(ModelSpec("openai", "gpt-5"))
    for one, writing in ((claude, 1.25), (gpt, 1.0)):
        price = (one.cost(1_000, 0) or 0) / 1_000
        assert one.shared_cost(10_000, [0, 0, 0], 0) == pytest.approx(price * 10_000 * (writing + 0.2))


def test_a_short_beginning_is_paid_each_time_and_an_unknown_price_stays_unknown() -> None:
    own = model(prices={"own": (10.0, 20.0, 1.0)})
    assert own.shared_cost(1_000, [24, 24], 0) == pytest.approx(own.cost(2_048, 0))
    assert model().shared_cost(10_000, [1, 2], 5) is None
    assert own.shared_cost(10_000, [], 0) == 0
    assert replace(own, spec=ModelSpec("local", "local")).shared_cost(10_000, [1], 5) == 0


def test_usage_adds_up_and_reads_records_from_before() -> None:
    cached = Usage(calls=1, input_tokens=10, cached_tokens=4, cache_write_tokens=3)
    assert cached + cached == Usage(calls=2, input_tokens=20, cached_tokens=8, cache_write_tokens=6)
    old = '{"calls": 1, "reused_calls": 0, "input_tokens": 5, "output_tokens": 2, "cost_usd": null}'
    assert Usage.model_validate_json(old).cached_tokens == 0


@pytest.mark.parametrize(
    ("provider", "name"),
    [("openai", "gpt-5"), ("openai", "gpt-4o-mini"), ("anthropic", "claude-sonnet-4-5"), ("google", "gemini-2.5-pro")],
)
def test_a_batch_costs_the_share_that_the_price_list_has_for_it(provider: str, name: str) -> None:
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    tokens = Tokens(input_tokens=100_000, output_tokens=10_000)
    at_once = calc_price(tokens, name, provider_id=provider).total_price
    listed = calc_price(tokens, name, provider_id=provider, price_context={"processing": "batch"}).total_price
    assert float(listed) == pytest.approx(float(at_once) * BATCH_SHARE)
    spec = ModelSpec({"google": "google_genai"}.get(provider, provider), name)
    assert replace(model(spec), batched=True).cost(100_000, 10_000) == pytest.approx(float(listed))


def test_calls_of_a_batch_count_on_no_cache() -> None:
    own = replace(model(prices={"own": (10.0, 20.0, 1.0)}), batched=True)
    expected = (30_000 * 10 + 600 * 10 + 300 * 20) / 2e6
    assert own.shared_cost(10_000, [100, 200, 300], 300) == pytest.approx(expected)
