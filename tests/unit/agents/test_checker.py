import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from referee.agents.asking import Excerpt
from referee.agents.checker import CheckAnswers, batches, check_model, check_points, verdict_of
from referee.errors import BudgetExceeded, ReplyInvalid
from referee.llm.dialects import reply_schema
from referee.schemas.point import Absence, Fix, PointCheck, PointEvidence, ReviewPoint
from referee.testing import ScriptedModel
from tests.support import instance

from .paper_on_tests import words

SOUND: dict[str, Any] = {
    "finding": "The words show it.",
    "coherent": True,
    "shown": "yes",
    "refuted": "none",
    "conceded": "none",
    "in_scope": True,
    "matters": True,
}


def quotation(quote: str = "Each test is run twice.", status: str = "exact") -> PointEvidence:
    return PointEvidence.model_validate(
        {"section_id": "s2", "section": "Method", "quote": quote, "role": "promises", "status": status, "page": 2}
    )


def point(number: int = 1, section_id: str = "s2", **changes: Any) -> ReviewPoint:
    fields: dict[str, Any] = {
        "id": f"p-{section_id}-{number}",
        "claim": f"Claim number {number} of {section_id}.",
        "polarity": "weakness",
        "kind": "design",
        "severity": "fatal",
        "raised_severity": "fatal",
        "evidence": (quotation(),),
        "refuted_by": f"a run number {number}",
        "source": "section",
        "section_id": section_id,
    }
    return ReviewPoint.model_validate(fields | changes)


FOUND = (Excerpt("s3", "Results", "The third run is in the appendix.", 7), Excerpt("s4", "End", "We are done."))


def answer(statement: str = "c1", **changes: Any) -> dict[str, Any]:
    return SOUND | {"statement": statement} | changes


async def checked(points: Any, *replies: Any, found: Any = None, context: int = 8000, **more: Any) -> Any:
    model = ScriptedModel(list(replies))
    by_point = {p.id: FOUND for p in points} if found is None else found
    checks = await check_points(
        points, by_point, door=model, context_tokens=context, count=words, how_read="it was read by hand", **more
    )
    return checks, model.history


async def one(reply: dict[str, Any], **changes: Any) -> PointCheck:
    checks, _ = await checked([point(**changes)], {"answers": [reply]})
    (check,) = checks.values()
    assert isinstance(check, PointCheck)
    return check


@pytest.mark.parametrize(
    ("changes", "kind", "verdict"),
    [
        ({}, {}, "stands"),
        ({"coherent": False}, {}, "undecidable"),
        ({"coherent": False, "refuted": True}, {}, "undecidable"),
        ({"refuted": True}, {}, "refuted"),
        ({"refuted": True, "shown": "no"}, {}, "refuted"),
        ({"refuted": True, "conceded": True}, {}, "refuted"),
        ({"shown": "no"}, {}, "undecidable"),
        ({"shown": "nothing_quoted"}, {}, "undecidable"),
        ({"shown": "no"}, {"absence": True}, "stands"),
        ({"shown": "nothing_quoted"}, {"absence": True}, "stands"),
        ({"shown": "partly"}, {"absence": True}, "stands"),
        ({"refuted": True}, {"absence": True}, "refuted"),
        ({"shown": "partly"}, {}, "weakened"),
        ({"conceded": True}, {}, "weakened"),
        ({"conceded": True}, {"absence": True}, "weakened"),
        ({"matters": False}, {}, "weakened"),
        ({"in_scope": False}, {}, "stands"),
        ({"conceded": True}, {"strength": True}, "stands"),
        ({"matters": False}, {"strength": True}, "stands"),
        ({"shown": "partly"}, {"strength": True}, "weakened"),
        ({"refuted": True}, {"strength": True}, "refuted"),
    ],
)
def test_the_tests_map_to_a_verdict(changes: dict[str, Any], kind: dict[str, bool], verdict: str) -> None:
    answers: dict[str, Any] = {
        "coherent": True,
        "shown": "yes",
        "refuted": False,
        "conceded": False,
        "in_scope": True,
        "matters": True,
    }
    assert verdict_of(CheckAnswers(**(answers | changes)), **kind) == verdict


async def test_the_checker_sees_claim_refutation_quotations_and_passages_with_ids() -> None:
    _, (call,) = await checked([point()], {"answers": [answer()]})
    assert '<statement id="c1">\nClaim number 1 of s2.\nWould be refuted by: a run number 1\n</statement>' in call.user
    assert '<quotation id="c1q1">\nFrom Method:\nEach test is run twice.\n</quotation>' in call.user
    assert '<passage id="p1">\nFrom Results:\nThe third run is in the appendix.\n</passage>' in call.user
    assert call.role == "checker"
    assert "many are wrong" in call.system


async def test_the_checker_is_blind_to_who_raised_a_point_how_gravely_and_why() -> None:
    accused = point(
        severity="fatal",
        raised_severity="major",
        confidence="high",
        kind="reproducibility",
        checkable="judgement",
        threatens="C77",
        criterion=("SECRETCRITERION",),
        fix=Fix(kind="experiment", what="SECRETFIX"),
        absence=Absence(what="SECRETWHAT", terms=("SECRETTERM", "other"), expected_in="s9"),
        call_id="SECRETCALL",
        model="SECRETMODEL",
        prompt="SECRETDIGEST",
        reason="SECRETREASON",
        merged_from=("SECRETMERGED",),
        check=PointCheck(verdict="stands", by="SECRETCHECKER", reason="SECRETOPINION"),
    )
    _, (call,) = await checked([accused], {"answers": [answer()]})
    seen = call.system + call.user + str(reply_schema(call.reply))
    hidden = ("SECRET", "C77", "fatal", "major", "severity", "high", "confidence", "p-s2-1", "reproducib", "promises")
    for word in (*hidden, "weakness", "reviewer said", "author"):
        assert word not in seen, word


async def test_quotations_that_are_not_in_the_paper_are_not_shown_and_show_nothing() -> None:
    invented = point(evidence=(quotation("Invented words.", "not_found"),))
    checks, (call,) = await checked([invented], {"answers": [answer(shown="yes")]})
    assert "Invented words" not in call.user
    assert checks[invented.id].verdict == "undecidable"


async def test_a_refutation_rests_on_the_papers_own_passage() -> None:
    check = await one(answer(refuted="p1"))
    assert (check.verdict, check.by, check.reason) == ("refuted", "scripted", "The words show it.")
    (passage,) = check.passages
    assert (passage.quote, passage.role, passage.status, passage.page) == (FOUND[0].text, "contradicts", "exact", 7)


async def test_a_concession_and_the_scope_are_kept_beside_the_verdict() -> None:
    check = await one(answer(conceded="c1q1", in_scope=False))
    assert (check.verdict, check.conceded, check.out_of_scope) == ("weakened", True, True)
    assert check.passages[0].quote == "Each test is run twice."


async def test_a_claim_of_absence_stands_without_a_quotation_until_a_passage_refutes_it() -> None:
    absent = {"evidence": (), "absence": Absence(what="seeds", terms=("seed", "random"))}
    assert (await one(answer(shown="nothing_quoted"), **absent)).verdict == "stands"
    assert (await one(answer(shown="nothing_quoted", refuted="p2"), **absent)).verdict == "refuted"


async def test_a_passage_of_another_statement_refutes_nothing() -> None:
    reply = {"answers": [answer("c1", refuted="c2q1"), answer("c2")]}
    checks, _ = await checked([point(1), point(2)], reply)
    assert checks["p-s2-1"].verdict == "stands"
    assert "belongs to another statement" in checks["p-s2-1"].reason


async def test_what_the_reply_leaves_out_or_says_twice_is_unchecked() -> None:
    reply = {"answers": [answer("c2"), answer("c3"), answer("c3", coherent=False)]}
    checks, _ = await checked([point(1), point(2), point(3)], reply)
    assert {p: c.verdict for p, c in checks.items()} == {
        "p-s2-1": "unchecked",
        "p-s2-2": "stands",
        "p-s2-3": "unchecked",
    }
    assert "left it out" in checks["p-s2-1"].reason
    assert "twice" in checks["p-s2-3"].reason


async def test_an_empty_reply_leaves_everything_unchecked_and_no_points_need_no_call() -> None:
    checks, _ = await checked([point(1), point(2)], {"answers": []})
    assert {check.verdict for check in checks.values()} == {"unchecked"}
    assert await checked([]) == ({}, [])


async def test_a_batch_that_fails_leaves_the_others_alone() -> None:
    points = [point(n) for n in range(1, 8)]
    checks, _ = await checked(points, ReplyInvalid("SECRET no valid reply"), {"answers": [answer()]})
    assert [checks[p.id].verdict for p in points] == ["unchecked"] * 6 + ["stands"]
    assert "SECRET" not in checks["p-s2-1"].reason


async def test_an_exhausted_budget_is_raised_after_the_other_batches_ended() -> None:
    points = [point(n) for n in range(1, 8)]
    model = ScriptedModel([BudgetExceeded("all spent"), {"answers": [answer()]}])
    with pytest.raises(BudgetExceeded):
        await check_points(points, {}, door=model, context_tokens=8000, count=words, how_read="by hand")
    assert model.left() == {}


async def test_calls_are_bounded_and_the_first_points_go_first() -> None:
    points = [point(n) for n in range(1, 8)]
    reply = {"answers": [answer(f"c{n}") for n in range(1, 7)]}
    checks, history = await checked(points, reply, max_calls=1)
    assert len(history) == 1
    assert checks["p-s2-7"].verdict == "unchecked"
    assert "no call left" in checks["p-s2-7"].reason


async def test_a_passage_is_shown_once_however_many_points_need_it_and_the_nearest_come_first() -> None:
    near, far = (Excerpt("s3", "Results", text) for text in ("The nearest of all.", "The farther one."))
    own = Excerpt("s4", "End", "Only the second needs it.")
    reply = {"answers": [answer("c1", refuted="p2"), answer("c2", refuted="p1")]}
    checks, (call,) = await checked([point(1), point(2)], reply, found={"p-s2-1": [far, near], "p-s2-2": [own, near]})
    assert [line for line in call.user.splitlines() if line in (near.text, far.text, own.text)] == [
        far.text,
        own.text,
        near.text,
    ]
    assert [checks[p].passages[0].quote for p in ("p-s2-1", "p-s2-2")] == [own.text, far.text]


async def test_passages_take_no_more_than_their_share_of_a_long_context() -> None:
    long = [Excerpt(f"s{n}", "Results", f"passage{n} " + "word " * 3_000) for n in range(1, 6)]
    checks, (call,) = await checked([point()], {"answers": [answer()]}, found={"p-s2-1": long}, context=100_000)
    assert "passage2" in call.user
    assert "passage3" not in call.user
    assert "3 found passages did not fit" in checks["p-s2-1"].reason


async def test_a_small_context_gets_smaller_batches_then_fewer_passages_and_says_so() -> None:
    long = [Excerpt("s3", "Results", "near " + "word " * 300), Excerpt("s3", "Results", "far " + "word " * 300)]
    points = [point(n) for n in range(1, 5)]
    found = {p.id: long for p in points}

    def all_of(call: Any) -> dict[str, Any]:
        return {"answers": [answer(f"c{n}") for n in range(1, 5) if f'id="c{n}"' in call.user]}

    _, whole = await checked(points, all_of, found=found, context=20_000)
    assert len(whole) == 1
    halves, asked = await checked(points, *[all_of] * 4, found=found, context=1900)
    assert 1 < len(asked) <= 4
    assert {check.verdict for check in halves.values()} == {"stands"}
    cut, asked = await checked(points, *[all_of] * 4, found=found, context=1320)
    assert len(asked) == 4
    assert all("near" in call.user and "far word" not in call.user for call in asked)
    assert "1 found passages did not fit" in cut["p-s2-1"].reason
    never, asked = await checked(points, found=found, context=300)
    assert asked == []
    assert "does not fit" in never["p-s2-1"].reason


@pytest.mark.parametrize(
    "reply",
    [
        {"statement": "c9"},
        {"shown": "maybe"},
        {"refuted": "p9"},
        {"refuted": None},
        {"coherent": "perhaps"},
        {"finding": "x" * 241},
    ],
)
def test_nonsense_is_refused(reply: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        check_model(("c1",), ("c1q1",)).model_validate({"answers": [answer() | reply]})


@pytest.mark.slow
@given(st.lists(st.sampled_from("abcdefgh"), max_size=40), st.integers(1, 7))
def test_batches_are_the_fewest_and_lose_nobody(sections: list[str], size: int) -> None:
    points = [point(n, section_id) for n, section_id in enumerate(sections)]
    cut = batches(points, size)
    assert sorted(p.id for batch in cut for p in batch) == sorted(p.id for p in points)
    assert len(cut) == -(-len(points) // size)
    assert all(0 < len(batch) <= size for batch in cut)
    firsts = [points.index(batch[0]) for batch in cut]
    assert firsts == sorted(firsts)


def test_batches_keep_sections_together_where_that_costs_nothing() -> None:
    points = [point(n, section_id) for n, section_id in enumerate("ababab" + "ab")]
    assert [{p.section_id for p in batch} for batch in batches(points, 4)] == [{"a"}, {"b"}]


@pytest.mark.parametrize("seed", range(10))
async def test_every_generated_reply_gives_every_point_a_check(seed: int) -> None:
    def made(call: Any) -> dict[str, Any]:
        reply: dict[str, Any] = instance(reply_schema(call.reply), call.user, random.Random(seed))
        return reply

    points = [point(n) for n in range(1, 5)]
    checks, _ = await checked(points, made)
    assert set(checks) == {p.id for p in points}
    for check in checks.values():
        assert (check.verdict == "refuted") <= any(p.role == "contradicts" for p in check.passages)
