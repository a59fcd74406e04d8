from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from referee.data.prose import canonical_text
from referee.errors import EvaluationError
from referee.evals.detection.anchor import IS_ANCHOR
from referee.evals.detection.calibration import calibrate, calibrate_features
from referee.evals.detection.classifiers import CLASSIFIERS
from referee.evals.detection.columns import rows_of, scored_review
from referee.evals.detection.costs import cost_estimates
from referee.evals.detection.detectors.base import Detector
from referee.evals.detection.services import DetectionServices
from referee.evals.detection.token_statistics import FEATURE_NAMES
from referee.evals.metric import Context, Metric
from referee.evals.registry import BUILT_IN, PRESETS
from referee.evals.shared import Shared
from referee.prompts import active, chosen_prompts
from referee.schemas.case import ReviewCase
from referee.schemas.estimate import PartEstimate
from referee.schemas.metric import MetricResult
from referee.settings import PromptText
from referee.venues import load_venue
from tests.unit.evals.detection.fakes import A, BigramLogits, Filler, Generator, Labels, TableLogits, WordEmbedder
from tests.unit.evals.runs_of import case
from tests.unit.prompts.test_own import own_text

CORPUS = (
    "the authors show that the method works well on all of the data and that the results are sound and that the "
    "experiments support every claim of the paper which is clearly written and easy to follow for most readers zebra "
)
DETECTORS = {name: BUILT_IN[name] for name in PRESETS["detection"]}
KNOWN = CORPUS.removesuffix("zebra ").strip()
SHUFFLED = " ".join(np.random.default_rng(1).permutation(KNOWN.split()))
STRANGE = " ".join(f"word{at}" if at % 3 else word for at, word in enumerate(KNOWN.split()))


def detectors() -> dict[str, Detector]:
    found = {}
    for name, module in DETECTORS.items():
        found[name] = next(metric for metric in import_module(module).METRICS if metric.name == name)
    return found


ALL = detectors()


def services(**more: object) -> DetectionServices:
    model = BigramLogits(CORPUS * 4 + "the method the method ", name="small")
    given = DetectionServices(
        provider=model,
        pair=(BigramLogits(CORPUS * 4, name="observer", smooth=0.2), BigramLogits(CORPUS * 4, name="performer")),
        generator=Generator([KNOWN.partition(" claim ")[2]]),
        filler=Filler(),
        classifiers={
            name: Labels({entry.ai_index: entry.ai_label, 1 - entry.ai_index: "human"}, [1.0, 4.0])
            for name, entry in CLASSIFIERS.items()
        },
        anchors={"p1": {"gpt": CLAIMS, "claude": KNOWN}},
        anchor_models=("gpt", "claude", "gemini"),
        embedder=WordEmbedder(),  # type: ignore[arg-type]
    )
    return replace(given, **more)  # type: ignore[arg-type]


CLAIMS = (
    "The baseline was not tuned as the proposed method was, which is unfair.\n\n"
    "The proofs of theorem two assume bounded noise, which is never stated.\n\n"
    "The evaluation is limited to one dataset, so nothing follows for others."
)


async def measured(
    name: str, one: ReviewCase, given: DetectionServices | None, shared: Shared | None = None
) -> MetricResult:
    return await ALL[name].measure(one, Context(detection=given, shared=shared or Shared()))


def review(text: str = KNOWN, name: str = "r", **more: object) -> ReviewCase:
    return case(name, "p1", text=text, **more)


def test_the_registry_names_every_detector_once_and_each_is_a_metric() -> None:
    held = [metric.name for module in set(DETECTORS.values()) for metric in import_module(module).METRICS]
    assert sorted(held) == sorted(DETECTORS)
    for metric in ALL.values():
        assert isinstance(metric, Metric)
        assert metric.better is None
        assert metric.about
        assert metric.needs == frozenset()


@pytest.mark.parametrize("name", DETECTORS)
async def test_without_its_model_a_detector_says_what_to_install(name: str) -> None:
    for given in (None, DetectionServices()):
        found = await measured(name, review(), given)
        assert (found.status, found.value) == ("not_applicable", None)
        assert "need" in found.reason
        assert found.details == {"status": "unavailable"}


async def test_scores_by_a_prompt_of_ones_own_are_told_apart() -> None:
    case, given = review(CLAIMS + " " + KNOWN + "."), services()
    shipped = await measured("dna_gpt", case, given)
    with active(chosen_prompts({"detect/continue": PromptText(file="m.md", text=own_text("detect/continue"))})):
        own = await measured("dna_gpt", case, given)
    assert own.details["made_by"] != shipped.details["made_by"]
    assert (list(own.prompts), shipped.prompts) == (["detect/continue"], {})


@pytest.mark.parametrize("name", DETECTORS)
async def test_every_score_stands_beside_what_made_it(name: str) -> None:
    found = await measured(name, review(CLAIMS + " " + KNOWN + "."), services())
    assert found.details["canonical_rule"] == "free-text/1"
    assert found.details["made_by"].startswith(f"{name} 1 free-text/1 ")
    assert len(found.details["text_digest"]) == 64
    assert found.details["models"]
    json.loads(found.model_dump_json())
    if name in FEATURE_NAMES:
        assert found.status == "not_applicable"
        assert "not fitted" in found.reason
        assert len(found.details["features"]) == len(FEATURE_NAMES[name])
    else:
        assert found.status == "scored", found.reason


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize("text", ["", "Good.", "Summary:\n\nRating: 3"])
async def test_a_review_of_a_word_has_no_score_but_a_reason(name: str, text: str) -> None:
    found = await measured(name, review(text), services(embedder=WordEmbedder()))
    if (name in CLASSIFIERS and text == "Good.") or (name == "anchor" and text == "Good."):
        assert found.status == "scored"
    else:
        assert (found.status, found.value) == ("not_applicable", None)
        assert found.details["status"] in ("too_short", "undefined")


@pytest.mark.parametrize(
    "name",
    [
        *("loglik", "rank", "logrank", "llmdev", "fast_detect_gpt", "binoculars", "binoculars_paper"),
        *("fast_detect_gpt_sampled", "dna_gpt", "dna_gpt_white", "npr"),
    ],
)
async def test_a_text_that_the_model_knows_scores_higher_than_one_it_does_not(name: str) -> None:
    known, other = [await measured(name, review(text), services()) for text in (KNOWN, SHUFFLED)]
    assert known.value > other.value  # type: ignore[operator]


async def test_a_text_of_words_unknown_to_the_model_has_the_higher_entropy() -> None:
    known, other = [await measured("entropy", review(text), services()) for text in (KNOWN, STRANGE)]
    assert known.value > other.value  # type: ignore[operator]


async def test_no_layout_reaches_a_detector() -> None:
    fields = {"summary": KNOWN, "strengths": ["It is a clear paper.", "It is sound."], "rating": 8}
    plain = review(canonical_text(fields, None), fields=fields)
    as_json = review(json.dumps(fields), source="gpt")
    for name in ("loglik", "fast_detect_gpt", "anchor"):
        one, other = [await measured(name, layout, services()) for layout in (plain, as_json)]
        assert one.value == other.value
        assert one.details["made_by"] == other.details["made_by"]


async def test_detectors_of_one_review_share_the_pass_of_a_model() -> None:
    given, shared = services(), Shared()
    for name in ("loglik", "rank", "logrank", "entropy", "llmdev", "llr", "gltr", "mfd", "s5"):
        await measured(name, review(), given, shared)
    assert given.provider.passes == 1  # type: ignore[union-attr]
    for name in ("fast_detect_gpt", "binoculars", "binoculars_paper"):
        await measured(name, review(), given, shared)
    assert [model.passes for model in given.pair] == [1, 1]  # type: ignore[union-attr]
    for name in ("detect_gpt", "npr"):
        await measured(name, review(), given, shared)
    assert given.provider.passes == 1 + 10  # type: ignore[union-attr]


async def test_a_model_that_gives_no_numbers_gives_no_score() -> None:
    broken = A.copy()
    broken[1] = np.nan
    for name in ("loglik", "rank", "llr", "gltr"):
        found = await measured(name, review(), services(provider=TableLogits(broken)))
        assert (found.status, found.details["status"]) == ("not_applicable", "nonfinite")
        assert "finite" in found.reason


async def test_another_model_is_another_maker_and_its_scores_do_not_mix() -> None:
    rows = []
    for at, name in enumerate(("small", "large")):
        one = review(name=f"r{at}")
        found = await measured("loglik", one, services(provider=BigramLogits(CORPUS, name=name)))
        rows.append(scored_review(one, found))
    assert rows[0].made_by != rows[1].made_by
    with pytest.raises(EvaluationError, match="2 different set-ups"):
        calibrate("loglik", rows_of(rows))


async def test_a_review_that_is_an_anchor_is_not_compared_with_itself() -> None:
    for name in ("anchor", "claim_match"):
        found = await measured(name, review(f"## Weaknesses\n\n{CLAIMS}"), services())
        assert found.value is None
        assert "itself" in found.reason


async def test_absent_anchors_are_named_and_their_number_tells_scores_apart() -> None:
    both = await measured("anchor", review(SHUFFLED), services())
    assert both.details["absent"] == ["gemini"]
    assert both.parts["anchors"] == 2
    assert both.value == pytest.approx(max(both.details["cosines"].values()))
    one = await measured("anchor", review(SHUFFLED), services(anchors={"p1": {"gpt": CLAIMS}}))
    assert one.details["made_by"] != both.details["made_by"]


async def test_a_review_of_an_ai_s_claims_matches_them() -> None:
    same = await measured("claim_match", review(CLAIMS + "\n\nThat is all I have to say about it."), services())
    other = await measured(
        "claim_match",
        review("\n\n".join(f"My student could not run script {at} of the release from March." for at in range(4))),
        services(),
    )
    assert same.value == pytest.approx(1, abs=1e-6)
    assert other.value < 0.8  # type: ignore[operator]
    assert same.details["nearest"][0]["cosine"] == pytest.approx(1, abs=1e-6)


async def test_fitted_weights_make_features_a_score() -> None:
    rng, rows, given = np.random.default_rng(0), [], services()
    for at in range(24):
        words = KNOWN.split()
        kind = "ai" if at % 2 else "human"
        text = " ".join(words if kind == "ai" else rng.permutation(words)) + f" extra{at}"
        one = review(text, f"r{at}", kind=kind).model_copy(update={"paper_id": f"q{at // 2}"})
        rows.append(scored_review(one, await measured("s5", one, given)))
    made = calibrate_features("s5", rows_of(rows), FEATURE_NAMES["s5"], targets=(0.25,))
    assert made.features is not None
    assert (made.features.humans, made.features.ais) == (12, 12)
    assert len(made.papers) == 12
    fitted = services(features={"s5": made.features})
    known, other = [await measured("s5", review(text), fitted) for text in (KNOWN, SHUFFLED)]
    assert known.details["made_by"] == made.made_by
    assert made.thresholds[0].flags(known.value)
    assert not made.thresholds[0].flags(other.value)
    with pytest.raises(EvaluationError, match="both classes"):
        calibrate_features("s5", rows_of(row for row in rows if row.kind == "human"), FEATURE_NAMES["s5"])


@pytest.mark.parametrize("name", ["anchor", "claim_match"])
async def test_an_anchor_is_never_tested_with_itself_whatever_the_order_of_its_boxes(name: str) -> None:
    form = load_venue("neurips-2025")
    boxes = {"questions": "Why is the learning rate fixed?", "summary": "The paper fits a model. It works well."}
    own = review("\n\n".join(boxes.values()), fields=boxes)
    given = services(anchors={"p1": {"gpt": own.text}})
    for shown in (None, form):
        found = await ALL[name].measure(own, Context(detection=given, shared=Shared(), form=shown))
        assert (found.value, found.reason) == (None, IS_ANCHOR)


@pytest.mark.parametrize("name", DETECTORS)
def test_each_says_what_it_costs(name: str) -> None:
    costs = ALL[name].cost(services(), 300)
    assert costs
    for cost in costs:
        assert cost.passes >= 1
        assert cost.tokens > 0
        assert cost.flops is None, "no fake says its size"
        sized = replace(cost, parameters=1_000)
        assert sized.flops == 2 * 1_000 * (cost.tokens + cost.generated)
        assert sized.times(3).flops == 3 * sized.flops


@pytest.mark.parametrize(
    ("name", "passes", "tokens", "written", "calls"),
    [
        ("loglik", [1], [400], [0], [0]),
        ("binoculars", [1, 1], [400, 400], [0, 0], [0, 0]),
        ("npr", [10, 10, 1], [4_000, 4_000, 400], [10 * 4 * 22, 0, 0], [0, 0, 0]),
        ("dna_gpt", [10], [4_200], [3_000], [10]),
        ("dna_gpt_white", [10, 11], [4_200, 4_400], [3_000, 0], [10, 0]),
        ("mage_d", [1], [400], [0], [0]),
    ],
)
def test_costs_are_the_specification_s(
    name: str, passes: list[int], tokens: list[int], written: list[int], calls: list[int]
) -> None:
    costs = ALL[name].cost(services(), 300)
    assert [cost.passes for cost in costs] == passes
    assert [cost.tokens for cost in costs] == tokens
    assert [cost.generated for cost in costs] == written
    assert [cost.calls for cost in costs] == calls


def test_what_detectors_share_is_counted_once_and_calls_are_priced() -> None:
    names = ["loglik", "rank", "fast_detect_gpt", "binoculars", "dna_gpt", "dna_gpt_white", "radar_d"]
    planned = [PartEstimate(name=name, units=20) for name in names]
    given = services(classifiers={}, absent={"radar_d": "torch is not installed."})
    parts = {
        part.name: part
        for part in cost_estimates([ALL[name] for name in names], planned, [review(), review()], given, None)
    }
    assert parts["loglik"].runs.startswith("small: 20 passes, about ")
    assert parts["rank"].runs == "shares the token pass of loglik"
    assert "observer: 20 passes" in parts["fast_detect_gpt"].runs
    assert parts["binoculars"].runs == "shares the pair pass of fast_detect_gpt"
    assert (parts["dna_gpt"].calls, parts["dna_gpt_white"].calls) == (200, 0)
    assert parts["radar_d"].units == 0
    assert "not for commercial use" in parts["radar_d"].runs
    assert "torch is not installed." in parts["radar_d"].runs


async def test_the_sampled_form_is_another_detector_with_another_maker() -> None:
    analytic, sampled, again = [
        await measured(name, review(), services()) for name in ("fast_detect_gpt", *["fast_detect_gpt_sampled"] * 2)
    ]
    assert sampled.value == again.value == pytest.approx(analytic.value, abs=0.3)
    assert sampled.details["models"]["samples"] == 10_000
    assert "published_probability" not in analytic.details
    assert sampled.details["made_by"] != analytic.details["made_by"]


async def test_the_falcon_pair_has_its_probability_beside_the_score() -> None:
    pair = [BigramLogits(CORPUS, name=name) for name in ("tiiuae/falcon-7b", "tiiuae/falcon-7b-instruct")]
    found = await measured("fast_detect_gpt", review(), services(pair=tuple(pair)))
    assert 0 < found.details["published_probability"] < 1
    assert "published_probability" not in (await measured("binoculars", review(), services(pair=tuple(pair)))).details
