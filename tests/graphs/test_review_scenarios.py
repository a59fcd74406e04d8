"""One scripted run per fate that a point can have: what review.json says of it afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.schemas.review import Review
from tests.support import FakeServer

from .sections_paper import CLAIM, CONCEDED, DROPOUT, PROMISE, SEEDED, TIED, TUNED
from .sections_run import by_claim, run_sections
from .sections_script import Answers, Raised, Scene

# The reviewer part by part.
pytestmark = pytest.mark.slow

ONE_SEED = "Variation between seeds is unknown because a single seed was used."
INVENTED = "The corpus was cleaned by hand without any protocol."
NOT_THERE = "We removed every third document by hand because its author had annoyed us in the past."


async def reviewed(scene: Scene, folder: Path, **more: object) -> Review:
    with FakeServer(scene.script(), context_tokens=32_000) as server:
        return await run_sections(server, folder, **more)


async def test_a_verified_quotation_is_printed_with_the_papers_wording(folder: Path) -> None:
    near = SEEDED.replace("throughout all of our", "throughout all our")
    scene = Scene({"Method": [Raised(ONE_SEED, (("Method", near, "shows"),))]})
    review = await reviewed(scene, folder)
    point = by_claim(review, ONE_SEED)
    (quote,) = point.evidence
    assert quote.status == "fuzzy"
    assert "throughout all of our trials" in quote.quote
    assert (point.outcome, point.field, point.severity) == ("printed", "strengths_and_weaknesses", "major")
    assert point.check is not None
    assert (point.check.verdict, point.check.by.startswith("m")) == ("stands", True)
    assert quote.quote in str(review.fields["strengths_and_weaknesses"])


async def test_a_false_quotation_is_said_and_not_printed(folder: Path) -> None:
    scene = Scene({"Method": [Raised(INVENTED, (("Method", NOT_THERE, "shows"),))]})
    review = await reviewed(scene, folder)
    point = by_claim(review, INVENTED)
    assert [e.status for e in point.evidence] == ["not_found"]
    assert point.unverified
    assert (point.raised_severity, point.severity, point.outcome) == ("major", "major", "printed")
    assert "none of its quotations is in the paper" in point.reason
    assert NOT_THERE not in str(review.fields)
    assert "No quotation was found for this." in str(review.fields[str(point.field)])


async def test_a_merit_is_not_tested_and_needs_no_quotation(folder: Path) -> None:
    claim = "The writing shows great care."
    scene = Scene({"Method": [Raised(claim, (("Method", NOT_THERE, "shows"),), polarity="strength")]})
    with FakeServer(scene.script(), context_tokens=32_000) as server:
        review = await run_sections(server, folder)
        assert server.log.calls(role="checker") == []
    point = by_claim(review, claim)
    assert (point.outcome, point.field, point.check) == ("printed", "strengths_and_weaknesses", None)
    assert NOT_THERE not in str(review.fields)


async def test_duplicates_become_one_and_keep_their_evidence(folder: Path) -> None:
    other = "One seed only: the spread across seeds stays in the dark."
    scene = Scene(
        {
            "Method": [Raised(ONE_SEED, (("Method", SEEDED, "shows"),))],
            "Results": [Raised(other, (("Results", TIED, "shows"),), severity="minor", fix="analysis")],
        },
        duplicates=[(ONE_SEED, other)],
    )
    review = await reviewed(scene, folder)
    kept, gone = by_claim(review, ONE_SEED), by_claim(review, other)
    assert gone.outcome == "merged_into"
    assert (gone.merged_into, kept.merged_from) == (kept.id, (gone.id,))
    assert {f"{e.quote}." for e in kept.evidence} == {SEEDED, TIED}
    assert other not in str(review.fields)
    assert kept.outcome == "printed"


async def test_similar_claims_of_two_readers_merge_without_a_model(folder: Path) -> None:
    again = ONE_SEED.replace("because", "as")
    quoted = (("Method", SEEDED, "shows"),)
    scene = Scene({"Method": [Raised(ONE_SEED, quoted)], "Results": [Raised(again, quoted)]})
    review = await reviewed(scene, folder)
    assert sorted(point.outcome for point in review.points) == ["merged_into", "printed"]


async def test_two_points_of_one_reader_are_two_whatever_they_quote(folder: Path) -> None:
    again = ONE_SEED.replace("because", "as")
    quoted = (("Method", SEEDED, "shows"),)
    scene = Scene({"Method": [Raised(ONE_SEED, quoted), Raised(again, quoted)]}, duplicates=[(ONE_SEED, again)])
    assert [point.outcome for point in (await reviewed(scene, folder)).points] == ["printed", "printed"]


async def test_a_point_that_a_passage_refutes_is_struck_with_the_passage(folder: Path) -> None:
    claim = "The rivals were left untuned while the lantern method was tuned."
    raised = Raised(claim, (("Introduction", PROMISE, "shows"),), refuted_by=TUNED)
    scene = Scene({"Introduction": [raised]}, tests={claim: Answers(refuted=TUNED)})
    review = await reviewed(scene, folder)
    point = by_claim(review, claim)
    assert (point.outcome, point.field) == ("struck", None)
    assert point.check is not None
    assert point.check.verdict == "refuted"
    assert any(TUNED in passage.quote for passage in point.check.passages)
    assert TUNED in point.reason
    assert claim not in str(review.fields)


async def test_a_refutation_without_a_passage_asks_instead_of_striking(folder: Path) -> None:
    scene = Scene(
        {"Method": [Raised(ONE_SEED, (("Method", SEEDED, "shows"),))]},
        tests={ONE_SEED: Answers(shown="no", refuted="words that no passage holds")},
    )
    point = by_claim(await reviewed(scene, folder), ONE_SEED)
    assert (point.polarity, point.outcome, point.field) == ("question", "printed", "questions")
    assert point.check is not None
    assert point.check.verdict == "undecidable"


async def test_a_conceded_point_keeps_its_severity_and_says_so(folder: Path) -> None:
    harmless, grave = "Only one port was visited by the authors.", "The margin may not exist at any other port."
    quoted = (("Discussion", CONCEDED, "shows"),)
    scene = Scene(
        {
            "Discussion": [
                Raised(harmless, quoted, kind="design", threatens=None),
                Raised(grave, quoted, kind="unsupported", threatens="C1", severity="fatal"),
            ]
        },
        tests={claim: Answers(conceded=CONCEDED) for claim in (harmless, grave)},
    )
    review = await reviewed(scene, folder, sections=5)
    for claim, severity in ((harmless, "major"), (grave, "fatal")):
        point = by_claim(review, claim)
        assert point.check is not None
        assert (point.severity, point.check.verdict, point.check.conceded) == (severity, "weakened", True)
        assert "the authors concede it" in point.reason
    assert str(review.fields["strengths_and_weaknesses"]).count("the authors concede it]") == 2


async def test_what_is_out_of_scope_is_struck(folder: Path) -> None:
    scene = Scene(
        {"Method": [Raised(ONE_SEED, (("Method", SEEDED, "shows"),))]}, tests={ONE_SEED: Answers(in_scope=False)}
    )
    point = by_claim(await reviewed(scene, folder), ONE_SEED)
    assert (point.outcome, point.reason) == ("struck", "outside the scope of the paper")


async def test_an_absence_that_the_text_refutes_is_struck(folder: Path) -> None:
    claim = "The paper never says whether dropout was used."
    raised = Raised(
        claim,
        kind="missing",
        terms=("dropout", "dropout layer"),
        refuted_by="A dropout layer follows each attention block",
    )
    scene = Scene({"Results": [raised]}, tests={claim: Answers(shown="nothing_quoted", refuted=DROPOUT)})
    review = await reviewed(scene, folder)
    point = by_claim(review, claim)
    assert point.absence is not None
    assert point.absence.hits
    assert point.outcome == "struck"
    assert DROPOUT in point.reason


async def test_an_absence_that_no_search_finds_is_tested_all_the_same(folder: Path) -> None:
    claim = "The paper never states its licence."
    raised = Raised(claim, kind="missing", terms=("licence", "copyright"), refuted_by="zq", severity="minor")
    with FakeServer(Scene({"Results": [raised]}).script(), context_tokens=32_000) as server:
        point = by_claim(await run_sections(server, folder), claim)
        assert len(server.log.calls(role="checker")) == 1
    assert point.check is not None
    assert (point.check.verdict, point.check.by.startswith("m"), point.outcome) == ("stands", True, "printed")
    assert "not found by these words: licence, copyright" in point.reason


GERMAN = "Die Netze wurden mit fünf verschiedenen Startwerten trainiert, und der Fehler ist in der Tabelle genannt."


async def test_a_paper_in_another_language_is_said(folder: Path) -> None:
    body = "\n\n".join(f"## {heading}\n\n{' '.join([GERMAN] * 12)}" for heading in ("Method", "Results"))
    review = await reviewed(Scene(), folder, text=f"# Netze\n\n{body}\n")
    assert review.provenance is not None
    assert [note for note in review.provenance.notes if "seems to be in German" in note]


async def test_a_contradiction_across_sections_is_found_and_rests_on_two_places(folder: Path) -> None:
    claim = "The abstract claims a wide margin, the results report a tie."
    both = (("Abstract", CLAIM, "shows"), ("Results", TIED, "contradicts"))
    scene = Scene(cross=[Raised(claim, both, kind="contradiction", severity="fatal")])
    point = by_claim(await reviewed(scene, folder), claim)
    assert (point.source, point.kind, point.severity, point.outcome) == ("cross", "contradiction", "fatal", "printed")
    assert len({e.section_id for e in point.evidence}) == 2


async def test_a_contradiction_with_one_place_is_only_unsupported(folder: Path) -> None:
    claim = "The abstract and the results differ."
    one = (("Abstract", CLAIM, "shows"), ("Results", NOT_THERE, "contradicts"))
    point = by_claim(await reviewed(Scene(cross=[Raised(claim, one, kind="contradiction")]), folder), claim)
    assert point.kind == "unsupported"


async def test_what_only_other_works_decide_is_a_question_unless_the_paper_carries_it(folder: Path) -> None:
    asked, carried = "The lantern idea was known before.", "The harbour idea is that of the cited work."
    about = {"kind": "novelty", "checkable": "literature"}
    raised = [Raised(asked, **about), Raised(carried, (("Method", SEEDED, "shows"),), **about)]
    review = await reviewed(Scene({"Method": raised}), folder)
    assert by_claim(review, asked).polarity == "question"
    assert by_claim(review, carried).polarity == "weakness"


async def test_a_field_and_the_composer_get_the_gravest_point_first_whoever_raised_it(folder: Path) -> None:
    small, grave = "The seed is never varied.", "The tie contradicts the wide margin of the abstract."
    sections = {
        "Method": [Raised(small, (("Method", SEEDED, "shows"),), severity="minor", fix="experiment")],
        "Results": [Raised(grave, (("Results", TIED, "shows"),), severity="fatal")],
    }
    with FakeServer(Scene(sections).script(), context_tokens=32_000) as server:
        review = await run_sections(server, folder)
        (asked,) = server.log.calls(role="composer")
    first, second = by_claim(review, grave), by_claim(review, small)
    assert first.id > second.id
    assert first.field == second.field
    text = str(review.fields[str(first.field)])
    assert text.index(grave) < text.index(small)
    assert asked.request is not None
    assert asked.request.user.index(grave) < asked.request.user.index(small)


async def test_a_score_needs_a_point_that_stands(folder: Path) -> None:
    scene = Scene(
        {"Method": [Raised(ONE_SEED, (("Method", SEEDED, "shows"),))]},
        scores={
            "quality": (2, lambda ids: ids[:1]),
            "significance": (3, lambda ids: []),
            "clarity": (3, lambda ids: ids),
            "rating": (6, lambda ids: ids),
        },
    )
    review = await reviewed(scene, folder)
    assert review.fields["quality"] == 2
    assert review.fields["significance"] is None
    assert "no point that stands" in review.nulls["significance"]
    record = {record.field: record for record in review.scores}
    assert record["significance"].stated == 3
    assert record["quality"].supported_by == (by_claim(review, ONE_SEED).id,)
    assert {forced.field for forced in review.forced} >= {"significance"}
    assert review.nulls["rating"].startswith("left open: its best option stands against p-")
    assert "left open" in review.nulls["originality"]


async def test_all_fates_in_one_run_add_up(folder: Path) -> None:
    refuted, praise = "The rivals were left untuned.", "The idea of the lantern is new."
    again = ONE_SEED.replace("because", "as")
    quoted = (("Method", SEEDED, "shows"),)
    scene = Scene(
        {
            "Introduction": [Raised(refuted, (("Introduction", PROMISE, "shows"),), refuted_by=TUNED)],
            "Method": [
                Raised(ONE_SEED, quoted),
                Raised(praise, (("Method", NOT_THERE, "shows"),), polarity="strength", kind="novelty"),
                Raised("A word is spelt oddly.", quoted, kind="clarity", severity="note", threatens=None),
            ],
            "Results": [Raised(again, quoted)],
        },
        tests={refuted: Answers(refuted=TUNED)},
    )
    review = await reviewed(scene, folder)
    outcomes = sorted(point.outcome for point in review.points)
    assert outcomes == ["dropped", "merged_into", "printed", "printed", "struck"]
