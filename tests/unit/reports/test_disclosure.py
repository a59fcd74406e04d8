from __future__ import annotations

from referee.evidence.listing import listed
from referee.reports import disclosure, render_review

from .example import form, review


def test_the_block_says_who_wrote_it_and_the_venues_rule() -> None:
    text = disclosure(listed(review(), form()), form(), embedded=False)
    first, checked, ratings, rule = text.split("\n\n")
    assert first == "This review was written by a program with the language model local:small, not by a person."
    assert checked.startswith("Of its quotations, 3 were found in the paper and 1 was not.")
    assert ratings == "Ratings are not calibrated."
    assert rule.startswith("Rule of TestConf 2025 on language models in reviewing (disclose): Use of language models")
    assert rule.endswith("It binds: reviewers.")


def test_of_answers_in_files_nobody_knows_who_wrote_them() -> None:
    first = disclosure(review(source="answers:box"), form(), embedded=False).split("\n\n")[0]
    assert first.endswith("by a program from what a person or a language model answered (answers:box).")


def test_the_embedded_models_review_is_a_trial_and_says_so_at_the_top() -> None:
    text = disclosure(review(), form(), embedded=True)
    assert "this is a trial of the pipeline" in text.split("\n\n")[0]
    page = render_review(review(disclosure=text), form())
    assert page.index("this is a trial of the pipeline") < page.index("## Summary")


def test_a_mark_and_quotations_that_were_believed_are_said() -> None:
    first, checked, *_ = disclosure(review(), form(), embedded=False, mark="it is no review", looked_up=False).split(
        "\n\n"
    )
    assert first.endswith("not by a person. It is no review.")
    assert checked == "Its quotations were not looked up in the paper: they stand as the model wrote them."
