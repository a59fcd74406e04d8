"""The rules that compare two printed numbers of one quantity."""

from __future__ import annotations

import pytest

from referee.schemas.paper import Block

from .test_rules_material import caption, hits, paper, table

COVERAGE = table(
    "Interval | G = 5 | G = 10 | G = 20",
    "cluster-t | 93.4 | 93.5 | 92.3",
    "cluster-boot | 82.5 | 89.1 | 92.7",
    "cluster-boot-t | 93.7 | 94.1 | 94.4",
)
NOTE = caption("Table 1: Coverage in percent.", "Table 1", id="c1")


def with_table(sentence: str) -> list[Block | str]:
    return [f"Table 1 shows the coverage. {sentence}", NOTE, COVERAGE]


def test_a_value_in_the_text_against_its_cell() -> None:
    (hit,) = hits("text_vs_table", paper(*with_table("With 20 groups, CLUSTER-T covers 94.8% of the truths.")))
    assert hit.numbers == ("94.8%", "92.3")
    assert (hit.kind, hit.severity) == ("contradiction", "major")
    assert [e.role for e in hit.evidence] == ["shows", "contradicts"]
    assert hit.evidence[1].quote == "cluster-t | 93.4 | 93.5 | 92.3"
    assert hit.evidence[0].page == 3


@pytest.mark.parametrize(
    "sentence",
    [
        "With 20 groups, cluster-t covers 92.3% of the truths.",
        "With 20 groups, cluster-t covers 92% of the truths.",
        "With twenty groups, cluster-t covers 92.3% of the truths.",
        "With 20 groups, cluster-t covers 93.5% of the truths.",
        "With 20 groups, cluster-boot-t covers 94.4% of the truths.",
        "With 20 groups, cluster-t loses by 2.7% of the truths.",
        "With 20 groups, cluster-t covers about 95% of the truths.",
        "With 20 groups, cluster-t covers 97.0% and cluster-boot 96.0%.",
        "With 30 groups, cluster-t covers 97.0% of the truths.",
        "With 20 groups, another one covers 97.0% of the truths.",
        "With 20 groups, cluster-t is 10.2% more than that.",
    ],
)
def test_values_that_agree_or_are_not_comparable_pass(sentence: str) -> None:
    assert hits("text_vs_table", paper(*with_table(sentence))) == []


@pytest.mark.parametrize(("said", "differ"), [("81%", 1), ("82%", 0), ("83%", 0), ("84%", 1)])
def test_a_rounded_value_agrees_up_to_one_unit(said: str, differ: int) -> None:
    assert len(hits("text_vs_table", paper(*with_table(f"With 5 groups, cluster-boot covers {said}.")))) == differ


def test_a_fraction_and_its_percentage_agree() -> None:
    grid = table("Task | Val Acc | Loss", "Permutation | 0.3393 | 5.4", "Sum | 0.9998 | 0.1")
    text = "Table 1 has it. The Permutation task ends at a val acc of {} here."
    assert hits("text_vs_table", paper(text.format("33.93%"), grid)) == []
    assert len(hits("text_vs_table", paper(text.format("43.93%"), grid))) == 1


def test_several_columns_of_one_row_and_shortened_names() -> None:
    grid = table("Task | Val Acc | Loss", "Permutation | 0.3393 | 5.4155", "Sum | 0.9998 | 0.0123")
    text = "On the permutation task the validation accuracy is {} and the loss is {}."
    assert hits("text_vs_table", paper(text.format("33.93%", "5.42"), grid)) == []
    wrong = hits("text_vs_table", paper(text.format("43.93%", "6.42"), grid))
    assert [hit.numbers for hit in wrong] == [("43.93%", "0.3393"), ("6.42", "5.4155")]


def test_a_named_group_with_two_sizes() -> None:
    one, two = "Data came from the Broad Institute (n = 435).", "The set BI (Broad Institute; n = {}) had fewer reads."
    (hit,) = hits("sample_size", paper(one, two.format(436)))
    assert hit.numbers == ("435", "436")
    assert hits("sample_size", paper(one, two.format(435))) == []
    assert hits("sample_size", paper("Study Group (n = 20) was first.", "Study Group (n = 25) was second.")) == []
