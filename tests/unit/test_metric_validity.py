"""The checks of the metrics' validity: their arithmetic, their edits, and that the overlap judge knows no answer."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from referee.evals.metric import Context
from referee.evals.registry import find_metrics
from referee.schemas.case import ReviewCase
from referee.schemas.paper import Block, Converter, Paper, Section
from referee.testing import HashEmbedder
from referee.venues import load_venue
from tests.reading import read_once

Load = Callable[[str], ModuleType]

TEXT = (
    "We train the parser on 4500 sentences of legal German. The parser is evaluated with the Smatch score on both "
    "corpora. Our parser was trained by Adam for 12 epochs on one machine. The baseline of Miller uses the same data "
    "and the BLEU score. Earlier work of Miller reports the BLEU score, and so does later work with the Smatch score."
)
REVIEW = (
    "This paper proposes a parser for legal German. The writing is clear and the idea is interesting.\n"
    "However, the comparison in Table 2 lacks the strongest baseline. Please add it with five seeds.\n"
    "Why was the learning rate not tuned?"
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(tmp_path))


def case(text: str, name: str = "r1", paper: str = "p1") -> ReviewCase:
    return ReviewCase(case_id=name, paper_id=paper, source="human", kind="human", text=text)


def paper(text: str = TEXT) -> Paper:
    block = Block(id="b1", kind="paragraph", text=text)
    return Paper(
        paper_id="0" * 64,
        title="A parser",
        format="text",
        sections=(Section(id="s1", heading="Method", level=1, blocks=(block,)),),
        converter=Converter(name="none", version="0"),
    )


@pytest.mark.parametrize(
    ("sign", "slack", "left", "right", "holds"),
    [
        (">", 0.0, 0.6, 0.5, True),
        (">", 0.0, 0.5, 0.5, False),
        (">=", 0.1, 0.45, 0.5, True),
        (">=", 0.1, 0.39, 0.5, False),
        ("~", 0.1, 0.41, 0.5, True),
        ("~", 0.1, 0.61, 0.5, False),
        (">", 0.0, None, 0.5, None),
    ],
)
def test_a_relation_holds_or_fails_or_was_not_measured(
    load: Load, sign: str, slack: float, left: float | None, right: float, holds: bool | None
) -> None:
    relation = load("metric_validity_order").Relation("self", sign, "generic", slack)
    assert relation.holds({"self": left, "generic": right}) is holds
    assert relation.holds({"self": left}) is None


def test_the_reviews_are_chosen_in_order_from_papers_with_three(load: Load) -> None:
    module = load("metric_validity_order")
    cases = [case("x", f"{name}{n}", name) for name, number in (("a", 3), ("b", 2), ("c", 4)) for n in range(number)]
    assert [own[0].case_id for own in module.chosen_reviews(cases, 5)] == ["a0", "c0"]
    assert [own[0].case_id for own in module.chosen_reviews(cases, 1)] == ["a0"]


def test_the_variants_differ_in_their_texts_alone(load: Load) -> None:
    module = load("metric_validity_order")
    chosen = [[case(f"{REVIEW} {name}.", f"{name}1", name), case("Another one.", f"{name}2", name)] for name in "ab"]
    variants = module.variants_of(chosen, 0, "We count things.")
    assert (variants["self"].text, variants["same_paper"].text) == (f"{REVIEW} a.", "Another one.")
    assert variants["other_paper"].text == f"{REVIEW} b."
    assert {one.paper_id for one in variants.values()} == {"a"}
    assert sorted(variants["shuffled"].text.split()) == sorted(variants["self"].text.split())
    assert variants["shuffled"].text != variants["self"].text
    assert module.variants_of(chosen, 0, "We count things.") == variants
    assert variants["copied"].text == f"{module.GENERIC}\nWe count things."
    assert variants["padded"].text == f"{REVIEW} a.\n{module.GENERIC}"


def test_a_ranking_names_ties_and_leaves_out_what_was_not_measured(load: Load) -> None:
    values = {"self": 0.5, "shuffled": 0.5, "generic": 0.75, "other_paper": None}
    ranked = load("metric_validity_order").Ranked("depth", "p1", values, {}, {})
    assert ranked.ranking == "generic 0.75 > self 0.50 = shuffled 0.50"


async def test_every_metric_can_be_measured_with_the_overlap_judge(load: Load) -> None:
    module, panel = load("metric_validity_order"), load("metric_validity_judge").overlap_panel()
    context = Context(
        references=(case(REVIEW, "r0"),), form=load_venue("iclr-2026"), panel=panel, embedder=HashEmbedder()
    )
    for name in module.EXPECTED:
        result = await find_metrics([name.partition(":")[0]])[0].measure(case(REVIEW), context)
        assert result.status == "scored", (name, result.reason)


async def test_a_copied_abstract_earns_no_similarity(load: Load) -> None:
    module = load("metric_validity_order")
    chosen = [[case(f"{REVIEW} {name}.", f"{name}1", name), case("Another one.", f"{name}2", name)] for name in "ab"]
    cases = module.variants_of(chosen, 0, TEXT)
    context = Context(references=(cases["self"],), paper=module.paper_of("A parser", TEXT), embedder=HashEmbedder(512))
    ranked = await module._ranked("semantic_similarity", cases, context)
    assert ranked.values["copied"] == pytest.approx(ranked.values["generic"])
    assert ranked.holds["generic >= copied (0.1)"]


async def test_absences_raise_no_wrong_review(load: Load) -> None:
    planted, facts = load("metric_validity_planted"), load("metric_validity_facts")
    means = SimpleNamespace(panel=load("metric_validity_judge").overlap_panel(), embedder=HashEmbedder(dim=512))
    ranked = await facts.ranked(planted._source("p", paper(), [], 3), means)
    assert ranked.values["true"] == 1
    assert ranked.values["wrong"] == ranked.values["absences"] == 0
    assert list(ranked.holds.values()) == [True, True]


def test_scores_are_micro_scores_with_intervals_over_reviews(load: Load) -> None:
    module = load("metric_validity_mapping")
    # By hand: 3 both, 1 found only, 2 labelled only: P 3/4, R 3/5, F1 6/9; all positive: 2 * 5 / (5 + 10).
    counts = {"a": module.Counts(2, 1, 0, 2), "b": module.Counts(1, 0, 2, 2)}
    scores = module.scores(counts)
    assert [scores.precision.mean, scores.recall.mean, scores.f1.mean] == pytest.approx([3 / 4, 3 / 5, 6 / 9])
    assert (scores.labelled, scores.sentences, scores.f1.clusters) == (5, 10, 2)
    assert scores.all_f1 == pytest.approx(10 / 15)
    # Drawn twice each review alone gives its own F1: 4/5 and 2/4 bound the interval.
    assert (scores.f1.low, scores.f1.high) == pytest.approx((0.5, 0.8))


def test_without_anything_found_or_labelled_there_is_no_score(load: Load) -> None:
    scores = load("metric_validity_mapping").scores({"a": load("metric_validity_mapping").Counts(0, 0, 0, 4)})
    assert (scores.precision.mean, scores.recall.mean, scores.f1.mean, scores.all_f1) == (None, None, None, 0.0)


def test_a_row_counts_within_its_label_only(load: Load) -> None:
    module = load("metric_validity_mapping")
    found, gold = {"specific": {0, 3}, "criticism": {0, 1, 3}}, {"substantiated": {0, 2}, "negative claim": {0, 1, 2}}
    plain = module.Row("x", "insights", ("specific",), ("substantiated",), "")
    assert module.row_counts(plain, found, gold, 5) == module.Counts(1, 1, 1, 2)
    within = module.Row("x", "insights", ("specific",), ("substantiated",), "", within="negative claim")
    assert module.row_counts(within, found, gold, 5) == module.Counts(1, 0, 0, 1)


def test_pieces_are_located_whatever_their_white_space(load: Load) -> None:
    module = load("metric_validity_mapping")
    text = "One  two.\nThree. One two."
    assert list(module.located(text, ["One two.", "Three.", "One two.", "Four."])) == [
        (0, 9),
        (10, 16),
        (17, 25),
        None,
    ]
    assert module.touched([(0, 10), (10, 20)], (8, 20)) == {1}
    assert module.touched([(0, 10), (10, 20)], (2, 5)) == {0}
    assert module.touched([(0, 10)], None) == set()


@pytest.mark.parametrize(
    ("statement", "rule", "was"),
    [
        ("The authors train the parser on 4500 sentences of German.", "number", "4500"),
        ("It is said that the parser gets the Smatch score on both corpora.", "name", "Smatch"),
        ("In short the parser is evaluated with a score on both corpora.", "negation", "is"),
    ],
)
def test_an_edit_keeps_the_sentence_that_proves_it_wrong(load: Load, statement: str, rule: str, was: str) -> None:
    module = load("metric_validity_edits")
    edit = module.edit_of(statement, module.PaperSentences(paper()), random.Random(0))
    assert (edit.rule, edit.was, edit.true) == (rule, was, statement)
    assert edit.proof in TEXT
    assert was in edit.proof
    assert edit.false == statement.replace(was, edit.now, 1)
    assert edit.now not in edit.proof


@pytest.mark.parametrize(
    "statement",
    [
        "Was the parser trained on 4500 sentences of legal German?",
        "The parser should be trained on 4500 sentences of legal German.",
        "A neural model of proteins was trained on 4500 molecules.",
        "Too short for 4500.",
    ],
)
def test_what_asks_or_is_not_borne_out_is_not_edited(load: Load, statement: str) -> None:
    module = load("metric_validity_edits")
    assert module.edit_of(statement, module.PaperSentences(paper()), random.Random(0)) is None


def test_years_figures_and_citations_are_no_numbers_to_change(load: Load) -> None:
    text = "1) In 2014 Table 3 and Figure 2 of Miller (Miller, 1977, 12) show 7.5% and 3D."
    assert [match.group() for match in load("metric_validity_edits").numbers_in(text)] == ["7.5"]


def test_a_sentence_is_retold_without_brackets_and_in_the_third_person(load: Load) -> None:
    told = load("metric_validity_edits").retold("We train our parser (see below) with us.")
    assert told == "The authors report that they train their parser with them."


@pytest.mark.parametrize(
    ("claim", "words", "disagrees"),
    [
        ("It uses 12 epochs.", "It uses 12 epochs on 4 machines.", False),
        ("It uses 25 epochs.", "It uses 12 epochs.", True),
        ("It is not trained.", "It is trained.", True),
        ("They use the BLEU score.", "They use the Smatch score.", True),
        ("They use a score.", "They use the Smatch score.", False),
    ],
)
def test_the_judge_compares_numbers_names_and_negations(load: Load, claim: str, words: str, disagrees: bool) -> None:
    assert load("metric_validity_judge").disagrees(claim, words) is disagrees


async def test_what_no_shown_words_prove_is_undecided(load: Load) -> None:
    """The judge sees a contradiction only where the passage with the proof is shown to it."""
    planted, panel = load("metric_validity_planted"), load("metric_validity_judge").overlap_panel()
    ours, hidden = paper(), paper("The weather in Rome was fine. Nobody there had seen a parser of any kind so far.")
    false = "The authors report that the parser is trained on 9001 sentences of legal German."
    outcomes = {}
    for name, shown in (("proof", ours), ("nothing", hidden)):
        async with await planted.open_index(shown, HashEmbedder(dim=512)) as retriever:
            context = Context(paper=shown, retriever=retriever, panel=panel)
            metric = planted.FactualCorrectness(planted.LEAN)
            result = await metric.measure(case(false), context)
            outcomes[name] = next(planted.judged([false], [TEXT[:40]], result, planted.texts_of(retriever)))
    assert outcomes == {"proof": ("invalid", True), "nothing": ("undecided", False)}


def test_the_gravest_outcome_counts_and_a_lost_statement_is_said_to_be_lost(load: Load) -> None:
    points: list[dict[str, Any]] = [
        {"id": "p1", "words": "A is b.", "examined": None},
        {"id": "p2", "words": "A is b.", "examined": {"answers": [{"shown": ["c1"]}]}},
    ]
    details = {"points": points, "outcomes": {"p1": "not_checkable", "p2": "valid"}}
    result = SimpleNamespace(details=details, status="scored")
    judged = load("metric_validity_planted").judged
    assert list(judged(["A is b.", "C is d."], ["the  proof", "x"], result, {"c1": "Here is the proof."})) == [
        ("valid", True),
        ("lost", False),
    ]
    failed = SimpleNamespace(details={}, status="failed")
    assert list(judged(["A is b."], ["the proof"], failed, {})) == [("failed", False)]


async def test_random_passages_are_of_the_paper_and_the_same_for_a_question(load: Load, examples: Path) -> None:
    planted = load("metric_validity_planted")
    example = read_once(examples / "paper.md")
    async with await planted.open_index(example, HashEmbedder()) as retriever:
        search = planted.RandomPassages(retriever)
        first, second = await search.search_many(["What is measured?", "And why?"], top_k=3)
        assert [first] == await search.search_many(["What is measured?"], top_k=3)
        assert [one.id for one in first] != [one.id for one in second]
        assert {one.paper_id for one in first} == {example.paper_id}
        assert search.parent(first[0]).id == first[0].parent_id


def test_shares_carry_wilsons_interval(load: Load) -> None:
    share = load("metric_validity_table").share
    assert (share(8, 10), share(0, 10), share(0, 0)) == (
        "8 of 10 (49% to 94%)",
        "0 of 10 (0% to 28%)",
        "0 of 0",
    )


@pytest.mark.parametrize(
    ("found", "drawn", "said"),
    [
        (["invalid", "invalid"], ["valid", "undecided"], "+1.00 (+1.00 to +1.00 over papers): worse, as it must"),
        (["invalid", "valid"], ["valid", "invalid"], "+0.00 (-1.00 to +1.00 over papers): NOT shown to be worse"),
    ],
)
def test_the_loss_is_paired_by_statement(load: Load, found: list[str], drawn: list[str], said: str) -> None:
    records = [
        {
            "paper": f"p{n}",
            "origin": "retold",
            "shown": "lean",
            "passages": passages,
            "rule": "number",
            "false": "x",
            "outcome_true": "valid",
            "outcome_false": outcome,
            "proof_shown": True,
        }
        for passages, outcomes in (("found", found), ("random", drawn))
        for n, outcome in enumerate(outcomes)
    ]
    assert list(load("metric_validity_table").planted_lines(records))[-1].endswith(said)


@pytest.mark.shared_data
@pytest.mark.usefixtures("shared_data")
def test_the_labelled_reviews_are_read_with_their_labels(load: Load) -> None:
    labels = load("metric_validity_labels")
    first = next(labels.disapere(labels.LABELLED / labels.DISAPERE))
    start, end = first.units[0]
    assert first.text[start:end].startswith("The paper explores")
    assert 0 in first.gold["summary"]
    first = next(labels.substan(labels.LABELLED / labels.SUBSTAN))
    (place,) = first.gold["positive evidence"]
    start, end = first.units[place]
    assert "showing large improvements" in first.text[start:end]


@pytest.mark.shared_data
@pytest.mark.usefixtures("shared_data")
async def test_labels_are_measured_on_real_reviews(load: Load) -> None:
    means = load("metric_validity_means")
    async with means.opened_means("scripted", embedder="hash") as opened:
        figures = await load("metric_validity_labels").measure_labels(opened, 3)
    assert {row["reviews"] for row in figures["rows"]} == {3}
    assert all(row["unread"] == 0 and row["labelled"] > 0 for row in figures["rows"])
    assert "RevUtil" in "\n".join(load("metric_validity_table").label_lines(figures))
