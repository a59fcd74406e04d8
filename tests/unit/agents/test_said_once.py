from __future__ import annotations

from referee.agents.prose import Paragraph, each_once, without_repeats


def test_what_is_said_again_goes_and_what_is_new_beside_it_stays() -> None:
    kept, notes = each_once(
        {
            "summary": (Paragraph("About."), Paragraph("About.")),
            "weaknesses": (
                Paragraph("One.", ("a",)),
                Paragraph("One again.", ("a",)),
                Paragraph("Two.", ("a", "b", "b"), "decides"),
            ),
            "questions": (Paragraph("One?", ("a",)), Paragraph("Three?", ("c",))),
        }
    )
    assert kept["summary"] == (Paragraph("About."), Paragraph("About."))
    assert kept["weaknesses"] == (Paragraph("One.", ("a",)), Paragraph("Two.", ("b",), "decides"))
    assert kept["questions"] == (Paragraph("Three?", ("c",)),)
    assert len(notes) == 2
    assert "a paragraph of weaknesses said again" in notes[0]


def test_a_sentence_that_its_writer_calls_a_repetition_goes_where_it_was_said_last() -> None:
    paragraphs = {
        "weaknesses": (
            Paragraph("The gain is a tie in Table 2.", ("a",)),
            Paragraph("One seed was used.  The gain is a\ntie in Table 2.", ("b",)),
        ),
        "questions": (Paragraph("How many seeds?", ("c",)),),
    }
    kept, notes = without_repeats(paragraphs, ["The gain is a tie in Table 2.", "Never said in this review."])
    assert [p.text for p in kept["weaknesses"]] == ["The gain is a tie in Table 2.", "One seed was used."]
    assert kept["questions"] == paragraphs["questions"]
    assert notes == [
        "a sentence of weaknesses that says again what is said elsewhere was left out: The gain is a tie in Table 2."
    ]


def test_a_point_is_never_left_without_words() -> None:
    paragraphs = {"weaknesses": (Paragraph("The gain is a tie in Table 2.", ("a",)),)}
    kept, notes = without_repeats(paragraphs, ["The gain is a tie in Table 2."])
    assert kept == paragraphs
    assert notes == []


def test_a_word_is_no_sentence() -> None:
    paragraphs = {"weaknesses": (Paragraph("It is a tie. One seed was used.", ("a",)),)}
    assert without_repeats(paragraphs, ["", "It"]) == (paragraphs, [])
