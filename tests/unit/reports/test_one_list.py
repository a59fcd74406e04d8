"""Every output prints the one list of points: the same points in the same order, words and numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from referee.evidence.listing import details, grouped, in_list, listed, opening
from referee.reports.formulas import readable
from referee.reports.showing import dropped_lines
from referee.schemas.review import Review
from referee.venues import load_venue
from tests.unit.reports.one_list import flat, outputs, point, quote, recorded, review_on, scripted, worst

# One box, several boxes, scores alone, ARR, a journal's.
FORMS = ("openreview-default", "iclr-2025", "icml-2025-position", "arr", "acm-transactions")
HERE = Path(__file__).parent
_BOXED = ("form", "review.openreview.json")


REVIEWS = {
    "scripted": scripted,
    "recorded": lambda: recorded("p4-single"),
    "sections": lambda: recorded("p6-core"),
    "points": lambda: recorded("p6-points"),
    "embedded": lambda: recorded("embedded_review", HERE),
}


@pytest.mark.parametrize("venue", FORMS)
@pytest.mark.parametrize("kind", REVIEWS)
def test_all_outputs_print_the_same_points_in_one_order(kind: str, venue: str) -> None:
    form = load_venue(venue)
    points = REVIEWS[kind]()
    review = review_on(form, points, worst(form), fields={f.name: None for f in form.fields})
    numbered = in_list(review)
    assert [p.number for p in numbered] == list(range(1, len(points) + 1))
    boxed = {p.number for p in numbered if p.field}
    assert venue == "icml-2025-position" or len(boxed) == len(points)
    for name, text in outputs(review, form).items():
        wanted = [p for p in numbered if p.heading != "merit"] if name == "fixes.md" else numbered
        wanted = [p for p in wanted if name not in _BOXED or p.number in boxed]
        if name == "review.openreview.json":  # ARR takes 20,000 characters a box
            cut = [p.number for p in wanted if flat(readable(opening(p))) not in text]
            assert not cut or " […]" in text
            wanted = [p for p in wanted if p.number not in cut]
        heads = {p.number: flat(readable(opening(p))) for p in wanted}
        found = {number: text.count(head) for number, head in heads.items()}
        most = 1 if name != "annotated PDF" else 99
        assert all(1 <= count <= most for count in found.values()), (
            name,
            [heads[n] for n, c in found.items() if not 1 <= c <= most][:2],
        )
        said = [
            int(number) for number in re.findall(r"(\d+)\. \[(?:Main reason|Weakness|Correction|Merit|Question)", text)
        ]
        assert set(said) == set(heads), name
        if name not in (*_BOXED, "annotated PDF"):
            assert said == sorted(said), name
    for box in {p.field for p in numbered if p.field}:
        text = flat(str(review.fields[box]))
        places = [text.index(flat(opening(p))) for p in numbered if p.field == box]
        assert places == sorted(places)


def test_main_reasons_come_first_and_the_page_has_no_second_list() -> None:
    form = load_venue("iclr-2025")
    review = review_on(form, scripted(), 3)
    assert [(p.number, p.id, p.heading, p.weight) for p in in_list(review)] == [
        (1, "p-pair", "main reason", "decides"),
        (2, "absent", "weakness", "material"),
        (3, "small", "weakness", "small"),
        (4, "rule", "weakness", "small"),
        (5, "c", "correction", "small"),
        (6, "m", "merit", None),
        (7, "q", "question", "small"),
    ]
    assert [title for title, _ in grouped(review)] == [
        "Main reasons",
        "Weaknesses",
        "Corrections",
        "Merits",
        "Questions",
    ]
    shown = outputs(review, form)
    for name in ("review.md", "report.html", "terminal"):
        assert shown[name].count("The text claims a gain of 3.1 points") == 1, name
        assert "Evidence in the paper" not in shown[name]
        assert "Ours | 70.1 | 68.9" in shown[name], name
    assert {p.field for p in in_list(review) if p.heading != "merit"} == {"weaknesses", "questions"}
    assert [p.id for p in in_list(review) if p.field == "questions"] == ["q"]


def test_details_hold_both_sides_and_what_settles() -> None:
    form = load_venue("iclr-2025")
    known = {p.id: p for p in in_list(review_on(form, scripted(), 3))}
    assert opening(known["p-pair"]) == (
        "1. [Main reason, decides] The text claims a gain of 3.1 points, Table 2 shows 1.2."
    )
    assert list(details(known["p-pair"])) == [
        "The abstract rests on it.",
        "“the gain is 3.1 points” (Results, p. 1)",
        "“Ours | 70.1 | 68.9” (Table 2, p. 1)",
        "Would settle it: Say 1.2 points.",
    ]
    assert "Searched for “standard deviation”, “error bar”: not in the paper." in list(details(known["absent"]))
    assert opening(known["rule"]).startswith("4. [Weakness, small, found by a rule] ")
    assert opening(known["absent"]).startswith("2. [Weakness, material] ")
    assert "checked" not in opening(known["m"])


def test_decides_is_said_only_where_the_rating_follows() -> None:
    form = load_venue("iclr-2025")
    for rating in (8, None):
        review = review_on(form, scripted(), rating)
        assert [p.weight for p in in_list(review) if p.id == "p-pair"] == ["material"]
        assert in_list(review)[0].heading == "main reason"
        for name, text in outputs(review, form).items():
            assert "decides" not in text, name
            assert "atal" not in text, name


def test_scores_name_points_by_number_and_no_merit_carries_a_low_one() -> None:
    form = load_venue("iclr-2025")
    review = review_on(form, scripted(), 3)
    (record,) = review.scores
    assert (record.supported_by, record.opposed_by, record.reason) == (("p-pair",), ("m",), "As point 1 shows.")
    shown = outputs(review, form)
    assert "(rests on point 1; against it: point 6)" in shown["terminal"]
    assert "(rests on point 1; against it: point 6)" in shown["review.md"]
    high = review_on(form, scripted(), 8).scores[0]
    assert high.supported_by == ("p-pair", "m")


def test_fixes_are_must_should_and_could() -> None:
    form = load_venue("iclr-2025")
    text = outputs(review_on(form, scripted(), 3), form)["fixes.md"]
    assert re.findall(r"## (\w+) \((\d+)\)", text) == [("Must", "1"), ("Should", "1"), ("Could", "4")]
    assert text.endswith("Merits ask for nothing and are not in this list: 6.")


def test_an_older_review_of_the_form_becomes_points_and_keeps_every_quotation() -> None:
    form = load_venue("iclr-2025")
    from tests.unit.reports.one_list import RECORDED

    stored = Review.model_validate_json((RECORDED / "p4-single.json").read_text(encoding="utf-8"))
    review = listed(stored, form, stored=True)
    quotes = {e.quote for p in in_list(review) for e in p.evidence}
    assert {e.quote for e in stored.evidence} <= quotes
    assert not review.evidence
    assert review.fields["summary"] == stored.fields["summary"]
    assert listed(review, form) is review
    live = [p.id for p in stored.points if p.outcome in ("printed", "listed")]
    assert {p.id for p in in_list(review)} >= set(live)
    assert json.loads(review.model_dump_json())["points"][0]["number"] == 1


def test_references_to_ids_become_numbers() -> None:
    form = load_venue("iclr-2025")
    one = point("m-W-1", "The first.", severity="fatal")
    other = point("m-W-2", "The second.", argument="See [m-W-1] and m-W-9.")
    review = review_on(form, [one, other], 3)
    assert in_list(review)[1].argument == "See point 1 and m-W-9."


# --- Bad input ---


def test_a_review_without_points_says_so_in_every_output() -> None:
    form = load_venue("arr")
    review = review_on(form, [], worst(form))
    shown = outputs(review, form)
    for name in ("terminal", "review.md", "report.html"):
        assert "No point stands." in shown[name], name
    assert shown["fixes.md"].count("Nothing.") == 3
    assert shown["annotated PDF"] == ""
    assert review.forced  # the boxes that the venue demands hold a sentence in the file to paste


def test_two_hundred_points_are_numbered_through() -> None:
    form = load_venue("openreview-default")
    points = [point(f"p-{n}", f"The {n}th claim is wrong.", severity="minor" if n % 3 else "major") for n in range(200)]
    review = review_on(form, points, worst(form))
    assert [p.number for p in in_list(review)] == list(range(1, 201))
    assert sum(p.heading == "main reason" for p in in_list(review)) == 5
    for name, text in outputs(review, form).items():
        assert "200. [Weakness, small]" in text, name


def test_a_quotation_that_two_points_make_is_one_place_with_both_numbers() -> None:
    form = load_venue("iclr-2025")
    same = quote("the same words here", box={"x0": 1, "y0": 2, "x1": 50, "y1": 12})
    review = review_on(form, [point("a", "First.", evidence=(same, same)), point("b", "Second.", evidence=(same,))], 3)
    notes = outputs(review, form)["annotated PDF"]
    assert notes.count("1. [") == notes.count("2. [") == 1
    assert str(review.fields["weaknesses"]).count("the same words here") == 2


def test_a_form_with_500_characters_takes_whole_points_and_says_that_more_follow() -> None:
    form = load_venue("iclr-2025")
    fields = [f.model_copy(update={"max_chars": 500}) if f.name == "weaknesses" else f for f in form.fields]
    short = form.model_copy(update={"fields": tuple(fields)})
    review = review_on(short, [point(f"p-{n}", f"Claim {n} " + "is long " * 20 + ".") for n in range(9)], 3)
    assert len(str(review.fields["weaknesses"])) > 500
    shown = outputs(review, short)
    boxed = shown["review.openreview.json"]
    assert re.findall(r"(\d+)\. \[Main", boxed) == ["1", "2"]
    assert boxed.rstrip().endswith("[…]")
    assert "(The form takes 500 characters; review.openreview.json holds the beginning.)" in shown["review.md"]
    assert "9. [" in shown["review.md"]


def test_a_claim_of_3000_characters_keeps_its_first_sentence_and_loses_no_word() -> None:
    form = load_venue("iclr-2025")
    claim = "The first sentence says it. " + "Then it goes on. " * 180
    (own,) = in_list(review_on(form, [point("p-1", claim.strip())], 3))
    assert own.claim == "The first sentence says it."
    assert f"{own.claim} {own.argument}".split() == claim.split()


def test_points_in_another_language_are_numbered_alike() -> None:
    form = load_venue("arr")
    review = review_on(
        form, [point("a", "表2的数字与正文不一致。"), point("b", "Die Zahl in Tabelle 2 ist falsch.")], worst(form)
    )
    for name, text in outputs(review, form).items():
        assert "表2的数字与正文不一致。" in text, name
        assert "Die Zahl in Tabelle 2 ist falsch." in text, name


def test_what_was_put_aside_is_counted_in_a_run_and_named_by_show() -> None:
    form = load_venue("iclr-2025")
    points = [
        point(
            "p-1",
            "It stands.",
            evidence=(quote("nowhere", status="not_found", similarity=0.0),),
            reason="not in the paper",
        ),
        point("p-2", "It fell.", outcome="struck", reason="refuted by the check"),
        point("p-3", "It is the same.", outcome="merged_into", merged_into="p-1", reason="says the same as p-1"),
    ]
    review = review_on(form, points, 3)
    said = "Put aside: 1 joined with others; 1 struck by the check; 1 quotation not found in the paper."
    shown = outputs(review, form)
    assert said in shown["terminal"]
    assert "`referee show RUN --dropped`" in shown["review.md"]
    listed_lines = "\n".join(dropped_lines(review))
    for line in (
        "p-2 It fell.",
        "why: refuted by the check",
        "why: says the same as p-1; see point 1",
        "point 1 “nowhere”: not in the paper",
    ):
        assert line in listed_lines
