"""A form's values in its order, and the reason for each that is empty."""

from __future__ import annotations

from referee.graphs.form_values import form_values
from referee.schemas.review import ScoreRecord
from referee.venues import load_venue

FORM = load_venue("neurips-2025")


def test_every_field_has_a_value_or_its_reason_in_the_forms_order() -> None:
    scores = (
        ScoreRecord(field="quality", stated=3, value=3, reason="r"),
        ScoreRecord(field="clarity", stated=2, value=None, reason="r", null_reason="nothing backs it"),
    )
    ticked = {"ethical_concerns": ["NO or VERY MINOR ethics concerns only"]}
    texts = {"summary": " About lamps. ", "questions": "  "}
    fields, nulls = form_values(FORM, texts, ticked, scores, no_text="no text")
    assert list(fields) == [field.name for field in FORM.fields]
    assert (fields["summary"], fields["quality"]) == ("About lamps.", 3)
    assert fields["ethical_concerns"] == ticked["ethical_concerns"]
    assert set(nulls) == {name for name, value in fields.items() if value is None}
    assert nulls["clarity"] == "nothing backs it"
    assert nulls["questions"] == "no text"
    assert nulls["significance"] == "no score was composed"


def test_what_is_left_to_people_is_never_filled() -> None:
    declared = [field.name for field in FORM.attestations]
    assert declared
    given = dict.fromkeys(declared, "yes")
    fields, nulls = form_values(FORM, given, given, (), no_text="no text")
    assert {fields[name] for name in declared} == {None}
    assert {nulls[name] for name in declared} == {"only a person can declare this"}


def test_an_empty_tick_has_a_reason_of_its_own() -> None:
    _, nulls = form_values(FORM, {}, {"ethical_concerns": []}, (), no_text="no text", no_tick="no tick")
    assert nulls["ethical_concerns"] == "no tick"
