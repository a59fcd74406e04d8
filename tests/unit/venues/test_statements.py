"""What becomes of statements, the form and the rule on language models: code alone, no model."""

from __future__ import annotations

from typing import Any

import pytest

from referee.schemas.venue import Fact
from referee.venues import load_venue
from referee.venues.compiled import borrowed_boxes, drafted_fields, page_boxes, plain_boxes, read_policy
from referee.venues.page import FieldDraft, GuidelinePage, OptionDraft
from referee.venues.prompts import known_guidelines
from referee.venues.statements import (
    Statement,
    StatementPart,
    StatementsLost,
    check_conserved,
    guidelines_of,
    settle_statements,
)

FACT = Fact(confidence="official", sources=("page",))


def page(text: str) -> GuidelinePage:
    return GuidelinePage("page.md", "Guidelines", text, "markdown", "en")


def fate(number: int, words: str, **more: Any) -> Statement:
    given = {"statement": "bullet", "label": "criterion", "criterion_kind": "subjective", "text": words, "by": "m"}
    return Statement(id=f"g{number:03d}", words=words, **{**given, **more})


SOUND = "Is every claim supported by evidence?"
STYLE = "Do not use writing style as a proxy for quality."


def test_every_statement_has_one_fate_and_a_reason_where_it_is_not_kept() -> None:
    given = [
        fate(1, SOUND),
        fate(2, "Is every claim supported by the evidence?"),
        fate(3, "Reviews are due in May.", label="noise"),
        fate(4, "4: strong accept", label="form_scale"),
        fate(5, "Papers on cats are always welcome here."),
    ]
    settled = settle_statements(
        given, page(f"- {SOUND}\n- Is every claim supported by the evidence?\n- Reviews are due.")
    )
    assert [item.fate for item in settled] == ["kept", "merged", "dropped", "dropped", "dropped"]
    assert settled[1].merged_into == "g001"
    assert [item.reason for item in settled[2:]] == [
        "not about reviewing",
        "part of the form: a box or a value of its scale",
        "its words cannot be found on the page",
    ]
    assert check_conserved([item.id for item in given], settled) == {"kept": 1, "merged": 1, "dropped": 3}
    (guideline,) = guidelines_of(settled, FACT)
    assert (guideline.words, guideline.fact.note) == (SOUND, "in the page's words")


def test_a_statement_with_two_parts_is_one_statement_and_two_guidelines() -> None:
    words = "Summarise the paper and name its main strengths."
    parts = (
        StatementPart(words="Summarise the paper", criterion_kind="subjective", text="Sum the paper up."),
        StatementPart(words="name its main strengths", criterion_kind="objective", text="Name main strengths."),
    )
    settled = settle_statements(
        [fate(1, words, parts=parts), fate(2, "Name main strengths.")], page(f"{words} Name main strengths.")
    )
    assert check_conserved(["g001", "g002"], settled) == {"kept": 2}
    rules = guidelines_of(settled, FACT)
    assert [(rule.id, rule.kind, rule.words) for rule in rules] == [
        ("sum-paper", "subjective", "Summarise the paper"),
        ("name-main-strengths", "objective", "name its main strengths"),
        ("name-main-strengths-2", "subjective", "Name main strengths."),
    ]
    assert rules[0].fact.note == f"paraphrased by m; one of the two things that its statement asks for: “{words}”"
    (elsewhere,) = settle_statements(
        [fate(1, words, parts=(parts[0], parts[1].model_copy(update={"words": "xyz"})))], page(words)
    )
    assert elsewhere.parts == ()
    assert [rule.words for rule in guidelines_of([elsewhere], FACT)] == [words]


def test_statements_that_differ_in_a_number_or_a_not_are_two() -> None:
    words = [
        "Compare the paper with at least 3 strong baselines from the literature.",
        "Compare the paper with at least 5 strong baselines from the literature.",
        "Never compare the paper with at least 3 strong baselines from the literature.",
    ]
    settled = settle_statements([fate(n, w) for n, w in enumerate(words, start=1)], page("\n".join(words)))
    assert [item.fate for item in settled] == ["kept"] * 3


def test_a_lost_or_doubled_statement_is_our_mistake() -> None:
    kept = settle_statements([fate(1, SOUND)], page(SOUND))
    for ids, fates in ((["g001", "g002"], kept), (["g001"], (*kept, *kept))):
        with pytest.raises(StatementsLost):
            check_conserved(ids, fates)
    silent = fate(1, SOUND, fate="dropped")
    astray = fate(2, SOUND, fate="merged", reason="same", merged_into="g001")
    for fates in ([silent], [astray]):
        with pytest.raises(StatementsLost):
            check_conserved([item.id for item in fates], fates)


def test_ids_are_short_unique_and_none_that_has_steps_for_another_wording() -> None:
    known = sorted(known_guidelines())[0].replace("-", " ")
    words = [SOUND, "Évaluez la clarté du texte, s'il vous plaît!", "检查论文", STYLE, f"{known}"]
    settled = settle_statements([fate(n, w) for n, w in enumerate(words, start=1)], page("\n".join(words)))
    ids = [item.guideline or "" for item in settled]
    assert ids[0] == "every-claim-supported-evidence"
    assert ids[2] == "criterion-g003"
    assert len(set(ids)) == len(ids)
    assert not set(ids) & known_guidelines()
    assert all(len(name.split("-")) <= 6 for name in ids)
    both = [fate(1, SOUND, text="Check claims."), fate(2, STYLE, text="Check claims.")]
    assert [item.guideline for item in settle_statements(both, page(f"{SOUND}\n{STYLE}"))] == ["claims", "claims-2"]


def test_whose_words_a_guideline_is_in_is_said() -> None:
    given = [fate(1, SOUND, text="Check claims for evidence."), fate(2, STYLE, by="rule", note="the model left it out")]
    notes = [g.fact.note for g in guidelines_of(settle_statements(given, page(f"{SOUND}\n{STYLE}")), FACT)]
    assert notes == [
        "paraphrased by m",
        "in the page's words; taken for a criterion by a rule: the model left it out",
    ]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Reviewers must not use ChatGPT or other language models to write reviews.", "forbidden"),
        ("It is not permitted to use generative assistance to create the first draft of your review.", "restricted"),
        ("You may use LLMs to polish the language of your review.", "allowed"),
        ("You may use LLMs to polish your review. You must not upload the paper to ChatGPT.", "restricted"),
        ("Reviewers have to disclose any use of generative AI.", "disclose"),
        ("Authors must not use LLMs to write papers.", "unknown"),
        ("One can always say that ChatGPT would be interesting.", "unknown"),
        ("Can you use LLMs in your review?", "unknown"),
        ("Be specific in your review.", "unknown"),
    ],
)
def test_the_rule_on_language_models_is_quoted_or_unknown(text: str, status: str) -> None:
    policy = read_policy(page(f"# Guide\n\n{text}"), source="page", confidence="official")
    assert policy.status == status
    if status != "unknown":
        assert policy.sentence.removeprefix("The page says: “").removesuffix("”").replace("” “", " ") == text


def test_a_rule_that_is_too_long_to_be_read_is_counted() -> None:
    long = f"Reviewers must not use LLMs in their reviews{', whatever the reason' * 40}."
    policy = read_policy(page(f"# Guide\n\n{long}"), source="page", confidence="official")
    assert policy.status == "unknown"
    assert policy.sentence.startswith("The page names language models")
    assert "1 sentence(s) of more than 600 characters on language models are not read" in policy.fact.note


def test_options_that_are_left_out_scales_that_are_none_and_cut_words_are_marked() -> None:
    scale = (OptionDraft(1, "bad", "1 bad"), OptionDraft(2, "good", "2 good"), OptionDraft(2, "fine", "2 fine"))
    drafts = [
        FieldDraft("rating", "Rating", "score", scale, words="Please rate the paper. " * 40),
        FieldDraft("lone", "Lone", "score", scale[:1]),
    ]
    by_name = {field.name: field for field in page_boxes(drafts, {}, FACT).fields}
    assert by_name["rating"].fact.note == "1 option(s) of the page have the value of another one and are left out"
    assert by_name["rating"].asks.endswith("paper. ...")
    assert by_name["lone"].fact.note == "the page shows a score with 1 option(s): the box takes text"


SCALE = (OptionDraft(1, "bad", "1 bad"), OptionDraft(2, "good", "2 good"), OptionDraft(2, "good", "2 good"))


def test_boxes_of_the_page_become_fields() -> None:
    drafts = [
        FieldDraft("summary", "Summary", "text", words="Please summarise the paper. " * 40),
        FieldDraft("rating", "Rating", "score", SCALE, aspect="overall"),
        FieldDraft("merit", "Merit", "score", SCALE),
        FieldDraft("lone", "Lone", "score", SCALE[:1]),
        FieldDraft("award", "Award", "choice", (OptionDraft("Yes", "", "Yes"), OptionDraft("No", "", "No"))),
        FieldDraft(
            "verdict", "Verdict", "choice", (OptionDraft("A", "", "A"), OptionDraft("B", "", "B")), aspect="overall"
        ),
        FieldDraft("conduct", "Code of conduct", "flag", (OptionDraft("I agree", "", "I agree"),)),
    ]
    boxes = page_boxes(drafts, {"merit": "significance"}, FACT)
    by_name = {field.name: field for field in boxes.fields}
    assert boxes.overall == "rating"
    assert [o.value for o in by_name["rating"].options] == [1, 2]
    assert by_name["merit"].aspect == "significance"
    assert (by_name["verdict"].aspect, by_name["award"].aspect) == ("overall", None)
    assert by_name["lone"].kind == "text"
    assert by_name["conduct"].attestation
    assert len(by_name["summary"].asks) <= 600
    assert "which value of the overall rating leans to acceptance" in boxes.unknown


def test_a_form_of_scales_alone_gets_boxes_for_text_and_says_so() -> None:
    boxes = page_boxes([FieldDraft("merit", "Merit", "score", SCALE)], {}, FACT)
    assert [field.kind for field in boxes.fields] == ["text"] * 4 + ["score"]
    assert boxes.overall is None
    assert any("four usual ones were added" in item for item in boxes.unknown)


def test_boxes_of_other_paper_types_are_left_out() -> None:
    drafts = tuple(FieldDraft("fit", "Fit", "text", paper_type=kind) for kind in ("short", "long"))

    class Draft:
        fields = drafts

    assert drafted_fields(Draft, "long") == drafts[1:]  # type: ignore[arg-type]


def test_a_borrowed_form_says_whose_it_is_and_keeps_its_sources() -> None:
    boxes = borrowed_boxes(load_venue("neurips-2025"))
    assert boxes.overall == "rating"
    assert {field.fact.confidence for field in boxes.fields} == {"memory"}
    assert {key for field in boxes.fields for key in field.fact.sources} == set(boxes.sources)
    assert "neurips-2025" in boxes.origin
    assert plain_boxes().overall is None
