"""The canary set: that it is what it says, and that its rule tells a good checker from a bad one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest

from referee.papers import load_paper
from referee.testing import HashEmbedder, ScriptedModel

SOUND = {
    "finding": "The words show it.",
    "coherent": True,
    "shown": "yes",
    "refuted": "none",
    "conceded": "none",
    "in_scope": True,
    "matters": True,
}
_STATEMENT = re.compile(r'<statement id="(c\d+)">\n(.*?)\nWould be refuted by:', re.DOTALL)
_WORDS = re.compile(r'<(?:quotation|passage) id="((?:c\d+q|p)\d+)">\n(.*?)</(?:quotation|passage)>', re.DOTALL)
Reply = Callable[[Any], dict[str, Any]]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(tmp_path))


@pytest.fixture
def canary(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("canary")


class Scripted(ScriptedModel):
    """A scripted model that also says, as the door does, how long its context is."""

    models: ClassVar = {"checker": SimpleNamespace(context_tokens=128_000, count=lambda text: len(text) // 4)}


async def run(canary: ModuleType, reply: Reply) -> tuple[list[Any], ScriptedModel]:
    canaries, model = canary.load_canaries(), Scripted({"review/check": reply})
    async with canary.canary_context(canaries, model, HashEmbedder(dim=512)) as context:
        points = canary.raised_points(canaries, context)
        return canary.ruled(canaries, await canary.checked_points(points, context)), model


def counted(canary: ModuleType, results: list[Any]) -> tuple[int, int]:
    shares = canary.totals(results)
    return shares["false"].count, shares["true"].count


def everything(asked: Any, **changes: Any) -> dict[str, Any]:
    """The same answer to every statement."""
    return {"answers": [SOUND | {"statement": alias} | changes for alias, _ in _STATEMENT.findall(asked.user)]}


def correctly(canaries: Any) -> Reply:
    """Names the refuting words of a false point where it is shown them."""
    by_claim = {one.reply["claim"]: one for one in canaries.points}

    def squeezed(text: str) -> str:
        return "".join(text.split())

    def answered(asked: Any) -> dict[str, Any]:
        answers = []
        for alias, claim in _STATEMENT.findall(asked.user):
            shown = [
                (name, text) for name, text in _WORDS.findall(asked.user) if re.fullmatch(rf"({alias}q|p)\d+", name)
            ]
            refuting = [squeezed(words) for words in by_claim[claim].refuting]
            named = [name for name, text in shown if any(words in squeezed(text) for words in refuting)]
            answers.append(SOUND | {"statement": alias, "refuted": named[0] if named else "none"})
        return {"answers": answers}

    return answered


def strikes_all(asked: Any) -> dict[str, Any]:
    """Names the first words of every statement as its refutation."""
    reply = everything(asked)
    ids = [name for name, _ in _WORDS.findall(asked.user)]
    for answer in reply["answers"]:
        answer["refuted"] = next(name for name in ids if re.fullmatch(rf"({answer['statement']}q|p)\d+", name))
    return reply


def test_there_are_ten_true_and_ten_false_points_of_like_severity(canary: ModuleType) -> None:
    points = canary.load_canaries().points
    assert [point.true for point in points] == [True] * 10 + [False] * 10
    assert len({point.id for point in points}) == 20
    severities = [{p.reply["severity"] for p in points if p.true is kind} for kind in (True, False)]
    assert severities == [{"fatal", "major", "minor"}] * 2


@pytest.mark.slow
async def test_every_quotation_and_every_refutation_is_in_the_paper(canary: ModuleType) -> None:
    canaries = canary.load_canaries()
    async with canary.canary_context(canaries, Scripted(), HashEmbedder()) as context:
        points = canary.raised_points(canaries, context)
    assert {e.status for point in points for e in point.evidence} == {"exact"}
    assert all(point.verified_quotes and not point.reason for point in points), "a rule changed a point"
    text = "".join("".join(block.text.split()) for _, block in load_paper(canaries.paper).blocks())
    for one in canaries.points:
        assert one.true is not bool(one.refuting), one.id
        assert all("".join(words.split()) in text for words in one.refuting), one.id


def test_every_planted_flaw_is_quoted_by_a_true_point(canary: ModuleType, examples: Path) -> None:
    told = json.loads((examples / "flaws.json").read_text(encoding="utf-8"))["flaws"]
    flaws = {flaw["id"]: "".join(flaw["text"].casefold().split()) for flaw in told if flaw["document"] == "paper"}
    true = [point for point in canary.load_canaries().points if point.true]
    for point, (name, words) in zip(true, flaws.items(), strict=False):
        quoted = ["".join(evidence["quote"].casefold().split()) for evidence in point.reply["evidence"]]
        assert any(words in quote or quote in words for quote in quoted), f"{name}: {point.id}"
    assert len(flaws) == 8


async def test_a_correct_checker_passes(canary: ModuleType) -> None:
    results, model = await run(canary, correctly(canary.load_canaries()))
    assert counted(canary, results) == (10, 0)
    assert canary.passes(10, 0)
    assert all(result.verdict == ("stands" if result.true else "refuted") for result in results)
    assert {asked.prompt_id for asked in model.history} == {"review/check"}


async def test_a_checker_that_lets_everything_stand_fails(canary: ModuleType) -> None:
    results, _ = await run(canary, everything)
    assert counted(canary, results) == (0, 0)
    assert not canary.passes(0, 0)


async def test_a_checker_that_strikes_everything_fails(canary: ModuleType) -> None:
    results, _ = await run(canary, strikes_all)
    struck_false, struck_true = counted(canary, results)
    assert struck_false == 10
    assert struck_true >= 9
    assert not canary.passes(struck_false, struck_true)


async def test_a_refutation_without_words_of_the_paper_strikes_nothing(canary: ModuleType) -> None:
    results, _ = await run(canary, lambda asked: everything(asked, finding="It is false.", shown="no"))
    assert counted(canary, results) == (0, 0)
    assert {result.verdict for result in results} == {"undecidable", "stands"}


async def test_code_alone_strikes_nothing_and_settles_no_absence(canary: ModuleType) -> None:
    canaries = canary.load_canaries()
    model = Scripted()
    async with canary.canary_context(canaries, model, HashEmbedder()) as context:
        points = canary.raised_points(canaries, context)
        without = canary.ruled(
            canaries, await canary.checked_points(points, replace(context, lean=True, retriever=None))
        )
        told = await canary.known(canaries, points, replace(context, retriever=None))
    assert not [result.id for result in without if result.verdict == "stands"], "a search for words settles no absence"
    assert not any(result.struck for result in without)
    assert not model.history
    assert {name for name, known in told.items() if "rule" in known.code} == {
        "coverage-at-twenty",
        "relative-reduction",
        "mean-of-fifty-nine",
    }


@pytest.mark.parametrize(
    ("false_struck", "true_struck", "passed"),
    [(8, 1, True), (10, 0, True), (7, 0, False), (8, 2, False), (10, 10, False), (0, 0, False)],
)
def test_the_rule(canary: ModuleType, false_struck: int, true_struck: int, passed: bool) -> None:
    assert canary.passes(false_struck, true_struck) is passed


@pytest.mark.parametrize(
    # 8 of 10 and 0 of 10 by hand: (p + z2/2n -+ z sqrt(p(1-p)/n + z2/4n2)) / (1 + z2/n), z2 = 3.841
    ("count", "total", "low", "high"),
    [(8, 10, 0.4902, 0.9433), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (0, 0, 0.0, 1.0)],
)
def test_intervals_are_wilsons(canary: ModuleType, count: int, total: int, low: float, high: float) -> None:
    assert canary.Share(count, total).interval == pytest.approx((low, high), abs=5e-5)


def test_a_heading_that_the_paper_does_not_have_is_an_error(canary: ModuleType) -> None:
    canaries = canary.load_canaries()
    wrong = replace(canaries.points[0], part="4 Experimants")
    with pytest.raises(ValueError, match="'coverage-at-twenty' names '4 Experimants'"):
        canary.as_raised([wrong], load_paper(canaries.paper), (), ("C1", "C2"))
