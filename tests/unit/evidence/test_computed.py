"""What computations do to the points of a review, and what a review may not say of computing."""

import pytest

from referee.evidence.computed import computations_told, uncovered_numbers, with_computations, without_boasts
from referee.evidence.listing import details, tag
from referee.schemas.computation import Computation, Program, ProgramOutcome
from tests.unit.reports.one_list import point, quote


def program(id: str = "p", **changes: str) -> Program:
    return Program(**{"id": id, "code": "11.8 - 0", "expects": "11.8", "otherwise": "", **changes})


def outcome(status: str, id: str = "p", value: str | None = "10.7", **changes: object) -> ProgramOutcome:
    return ProgramOutcome(id=id, status=status, value=value, reason="It gives 10.7.", seconds=0.0, **changes)


STAYS = [
    "The authors should rerun the experiment with five seeds.",
    "I would rerun the ablation without the second stage.",
    "I could not recompute Table 2, because the counts are not given.",
    "I cannot reproduce the figure of 12% from the text.",
    "I recommend that the authors recompute the intervals.",
    "We do not learn which runs were simulated.",
    "The authors simulated 1,000 data sets and report the mean.",
    "It should be recomputed from the raw counts.",
    "Recomputing the gradients takes most of the time, which Section 5 does not say.",
    "The simulation in Section 4 uses one seed only.",
    "If the authors reran the baseline, the gap might vanish.",
    "Was the model retrained after the threshold was chosen?",
    "Table 2 implies a mean of 0.71, not 0.78.",
    "I find the proof of Lemma 2 hard to follow.",
    "We see in Figure 3 that the loss rises.",
    "I ask the authors to run a t test.",
    "Running the code needs 8 GPUs, and nobody is told so.",
    "To count as a replication it would have to use new data.",
    "A reader who recomputes the sum finds 96, not 100.",
    "My main concern is that the estimates are biased.",
    "The computed intervals are too narrow.",
]


@pytest.mark.parametrize("sentence", STAYS)
def test_a_sentence_about_what_others_compute_or_should_compute_stays(sentence: str) -> None:
    assert without_boasts(sentence) == sentence


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("I recomputed the mean of Table 2.", ""),
        ("I reran the code, and it crashed.", ""),
        (
            "I recomputed the t test from Table 2 and find that the gain is not significant.",
            "The gain is not significant.",
        ),
        ("When I recompute it from Table 2, the mean is 0.71.", "The mean is 0.71."),
        ("Recomputing from Table 2, the mean is 0.71, not 0.78.", "The mean is 0.71, not 0.78."),
        ("By my own calculation, the total is 96.", "The total is 96."),
        ("In my simulation with 1,000 draws, the interval covers 90%.", "The interval covers 90%."),
        ("My recount shows that 7 of 40 cells differ.", "7 of 40 cells differ."),
        ("The total is 96 (I recomputed it twice).", "The total is 96."),
        ("The total is 96, as I verified by simulation.", "The total is 96."),
        ("The bound fails for n = 2, which I have checked numerically.", "The bound fails for n = 2."),
        ("The sum is wrong. I simulated it. It is 96.", "The sum is wrong. It is 96."),
        ("My simulation confirms it.", ""),
    ],
)
def test_what_the_reviewer_says_to_have_computed_goes_and_the_statement_stays(said: str, left: str) -> None:
    assert without_boasts(said) == left


def test_a_point_whose_program_agrees_stands_and_may_say_that_it_computed() -> None:
    [kept] = with_computations(
        [point("p", "I recomputed the gain: it is 11.8.")], [program()], [outcome("agrees", value="11.8")]
    )
    assert kept.claim.startswith("I recomputed")
    assert (kept.check.verdict, kept.check.by) == ("stands", "a computation")
    assert tag(kept.model_copy(update={"heading": "weakness", "weight": "material"})) == "Weakness, material, computed"
    assert "Computed by a program: 11.8." in list(details(kept))


def test_one_whose_program_differs_says_what_its_author_wanted_then_or_is_struck() -> None:
    narrowed, struck = with_computations(
        [point("p", "The gain is 11.8."), point("q", "The gain is 11.8.")],
        [program(otherwise="The gain is not the 11.8 that the text says."), program("q")],
        [outcome("differs"), outcome("differs", "q")],
    )
    assert narrowed.statement == "The gain is not the 11.8 that the text says."
    assert narrowed.claim == "The gain is 11.8."
    assert narrowed.check.verdict == "weakened"
    assert (struck.outcome, struck.reason) == ("struck", "It gives 10.7.")


@pytest.mark.parametrize("status", ["failed", "refused", "not_run"])
def test_a_program_that_gave_no_value_changes_nothing_but_is_kept(status: str) -> None:
    [kept] = with_computations([point("p", "The gain is 11.8.")], [program()], [outcome(status, value=None)])
    assert (kept.statement, kept.outcome, kept.check) == ("The gain is 11.8.", "listed", None)
    assert not list(details(kept)), "the list says nothing of it; `show` does"


def test_a_table_that_may_be_read_wrongly_strikes_nothing() -> None:
    [kept] = with_computations([point("p", "It is 11.8.")], [program()], [outcome("differs", doubtful=("2",))])
    assert (kept.outcome, kept.check) == ("listed", None)
    assert any("Table 2 may have been read wrongly" in line for line in details(kept))


def test_a_point_that_only_says_it_computed_is_dropped_with_the_reason() -> None:
    said, argued = with_computations(
        [point("p", "I reran the code."), point("q", "The sum is 96.", argument="I recomputed it. It is 4 too low.")],
        [],
        [],
    )
    assert (said.outcome, said.reason) == (
        "dropped",
        "it says that something was computed, and no computation shows it",
    )
    assert argued.argument == "It is 4 too low."


def test_numbers_without_a_quotation_or_a_computation_are_counted() -> None:
    shown = point("a", "Table 2 gives 70.1 for the model of Section 4, the text 71.", evidence=(quote("Ours | 70.1"),))
    computed = point(
        "b",
        "The mean is 11.8.",
        computations=(Computation(program=program("b"), outcome=outcome("agrees", "b", "11.8")),),
    )
    assert uncovered_numbers([shown]) == 1
    assert uncovered_numbers([computed]) == 0
    assert uncovered_numbers([shown, computed]) == 1


def test_how_many_ran_is_told_once() -> None:
    points = with_computations(
        [point("p", "A."), point("q", "B."), point("r", "C.")],
        [program("p"), program("q"), program("r")],
        [outcome("agrees"), outcome("differs", "q"), outcome("failed", "r")],
    )
    assert computations_told(points) == ("Computations: 2 of 3 ran; 1 gave what the point expects, 1 did not.")
    assert computations_told([point("p", "A.")]) == ""
