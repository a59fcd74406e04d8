"""The planter on Paper F of the specification: eighteen fixtures, the checks, and the same bytes again."""

from __future__ import annotations

import asyncio
import json
import re
from types import SimpleNamespace

import pytest

from referee.agents.error_planter import ReplacementReply
from referee.agents.plant_judge import PlantReply
from referee.data.planted import check_fits, read_keys
from referee.errors import DataError, SettingsError
from referee.evidence.rules.statistics import recomputed_p
from referee.experiments.planting import numbers, removals
from referee.experiments.planting import offers as offering
from referee.experiments.planting.candidate import Candidate, Rejection, Site
from referee.experiments.planting.checks import checked, difficulty_of
from referee.experiments.planting.equations import symbol_site
from referee.experiments.planting.folder import _rejected_lines
from referee.experiments.planting.offers import KINDS, SITES, Wanted, examine, find_offer
from referee.experiments.planting.planter import _key, plant_paper
from referee.experiments.planting.reading import Acceptance, reworded, verified
from referee.experiments.planting.sentences import Insertion, inserted_site, insertions, with_insertion
from referee.experiments.planting.source import Source
from referee.experiments.planting.statistics import t_interval
from referee.llm.door import Answer
from referee.papers import load_paper
from referee.papers.markdown import write_markdown
from referee.runs.stopping import Stop, stoppable
from referee.schemas.usage import Usage

ABSTRACT = (
    "We present TinyRank. On the Harbor benchmark it reaches an accuracy of 74.9, which is 3.7 points above DeepSet, "
    "the strongest baseline. It is trained on 4,800 queries."
)
PAPER_F = rf"""# TinyRank

## Abstract

{ABSTRACT}

## 1 Setup

Training uses 4,800 queries and the test split holds 1,200. Table 1 gives the split. Every model is trained with five
seeds; we report means and standard deviations. The loss is $L = \sum_i \ell(x_i) + \lambda \|w\|^2$, where
$\lambda > 0$ penalises large weights.

Table 1: Queries per split.

| Split | Queries |
| --- | --- |
| train | 4,800 |
| test | 1,200 |

## 2 Results

Table 2 shows that TinyRank improves accuracy from 71.2 to 74.9 (t(8) = 12.9, p < .001; 95% interval of the gain
[3.0, 4.4]).

Table 2: Accuracy on Harbor.

| Model | Accuracy |
| --- | --- |
| Linear | 65.4 ± 0.6 |
| DeepSet | 71.2 ± 0.5 |
| TinyRank | 74.9 ± 0.4 |

At inference TinyRank is slower than DeepSet (3.1 ms against 1.9 ms). Removing the pair loss lowers accuracy to 72.0,
which suggests that pairs carry most of the gain.

## 3 Limitations

We evaluate on Harbor only.
"""


def source_of(text, tmp_path):
    path = tmp_path / "paper.md"
    path.write_text(text)
    return Source(write_markdown(load_paper(path)))


@pytest.fixture
def paper_f(tmp_path):
    return source_of(PAPER_F, tmp_path)


def attempt(source, kind, before, after, near):
    """What becomes of one edit: the candidate, or the reason against it."""
    for site in SITES[kind](source):
        if isinstance(site, Site) and near in site.spans[0].passage.text and site.spans[0].before == before:
            return examine(source, site, (after,))
    reasons = [one.reason for one in SITES[kind](source) if isinstance(one, Rejection) and near in one.excerpt]
    return reasons[0] if reasons else "no site"


@pytest.mark.parametrize(
    ("kind", "near", "before", "after", "severity", "difficulty", "anchor_class"),
    [
        pytest.param("number", "On the Harbor", "74.9", "79.4", "H", "far", "A1", id="F1"),
        pytest.param("direction", "At inference", "slower", "faster", "M", "local", "A3", id="F3"),
        pytest.param("equation", "lambda", "+", "-", "M", "local", "A4", id="F4"),
        pytest.param("stats", "Table 2 shows", "12.9", "1.29", "H", "derived", "A3", id="F5"),
        pytest.param("stats", "Table 2 shows", "3.0", "-0.4", "H", "derived", "A3", id="F6"),
        pytest.param("size", "Training uses", "4,800", "48,000", "M", "far", "A1", id="F7"),
        pytest.param("reference", "Table 2 shows", "2", "1", "L", "far", "A4", id="F8"),
        pytest.param(
            "overclaim",
            "On the Harbor",
            "On the Harbor benchmark",
            "Across ranking benchmarks",
            "H",
            "far",
            "A1",
            id="F9",
        ),
        pytest.param("overclaim", "Removing", "most", "all", "M", "derived", "A2", id="F10"),
        pytest.param("contradiction", "On the Harbor", "DeepSet", "Linear", "H", "far", "A2", id="F15"),
    ],
)
def test_planted(paper_f, kind, near, before, after, severity, difficulty, anchor_class):
    made = attempt(paper_f, kind, before, after, near)
    assert isinstance(made, Candidate), made
    assert (made.severity, difficulty_of(made), made.anchor_class) == (severity, difficulty, anchor_class)


@pytest.mark.parametrize(
    ("kind", "near", "before", "after", "reason"),
    [
        pytest.param("number", "At inference", "3.1", "1.3", "the value occurs once", id="F2"),
        pytest.param("size", "Training uses", "4,800", "1,200", "equals another stated count", id="F7"),
        pytest.param("reference", "Table 2 shows", "2", "3", "dangling", id="F8"),
        pytest.param(
            "overclaim", "Removing", "suggests", "shows", "a hedge: nothing contradicts more than 'suggests'", id="F10"
        ),
        pytest.param("citation", "", "1", "2", "no_candidate: no reference has a label and a parsed title", id="F16"),
        pytest.param("number", "On the Harbor", "74.9", "74.95", "V6: other decimals than the value's", id="decimals"),
        pytest.param(
            "number", "On the Harbor", "74.9", "65.4", "the new value equals another value of the paper", id="equal"
        ),
        pytest.param("stats", "Table 2 shows", "12.9", "129", "p is still true", id="p-true"),
        pytest.param(
            "direction", "At inference", "slower", "larger", "both words can be true of the values", id="same-way"
        ),
    ],
)
def test_refused(paper_f, kind, near, before, after, reason):
    assert attempt(paper_f, kind, before, after, near) == reason


def test_what_else_breaks_and_both_anchors(paper_f):
    made = attempt(paper_f, "number", "74.9", "79.4", "On the Harbor")
    assert made.also_breaks == ("3.7 points",)
    assert {anchor.passage.place for anchor in made.anchors} == {"prose", "cell"}
    swaps = next(s for s in SITES["number"](paper_f) if isinstance(s, Site) and "On the Harbor" in s.excerpt).proposals
    assert swaps == (("47.9",), ("79.4",))


def test_computed_numbers_to_the_digit(paper_f):
    def printed(value):
        low, high = recomputed_p("t", value, 8)
        return (low * high) ** 0.5

    assert f"{printed('1.29'):.4f}" == "0.2331"
    assert f"{printed('12.9'):.1e}" == "1.2e-06"
    assert [f"{bound:.2f}" for bound in t_interval(74.9 - 71.2, 12.9, 8)] == ["3.04", "4.36"]
    assert (
        "middle 2 is not 3.7 and 0 lies inside" in attempt(paper_f, "stats", "3.0", "-0.4", "Table 2 shows").statement
    )
    assert "p = 0.233" in attempt(paper_f, "stats", "12.9", "1.29", "Table 2 shows").statement


def test_f11_a_silent_removal_leaves_six_traces(paper_f):
    promise = next(p for p in paper_f.edited if "five seeds" in p.text)
    assert removals.examine_silent(paper_f, removals.sentence_removal(paper_f, promise)) == "residue 6"


def test_f12_spreads_go_and_the_promise_stays(paper_f):
    promised, silent = SITES["missing-variance"](paper_f)
    made = examine(paper_f, promised, promised.proposals[0])
    assert (made.subtype, difficulty_of(made), len(made.edits), made.silent) == ("promised", "absence", 3, False)
    assert "standard deviations" in made.anchors[0].passage.text
    alone = examine(paper_f, silent, silent.proposals[0])
    assert alone.silent
    assert alone.anchor_class == "none"


def test_f13_a_neutral_change_keeps_the_facts(paper_f, tmp_path):
    offer = find_offer(paper_f.paper, Wanted(n=1, neutral=True))
    assert ("reaches", "attains") in [(c.edits[0].before, c.edits[0].after) for c in offer.candidates["neutral"]]


def test_f14_an_error_that_is_there_already(tmp_path):
    source = source_of(PAPER_F.replace("accuracy of 74.9", "accuracy of 79.4"), tmp_path)
    made = attempt(source, "number", "74.9", "79.4", "Table 2 shows")
    assert str(made).startswith("V3"), made


def test_f16_a_symbol_that_is_bound_nowhere(paper_f):
    site = symbol_site(paper_f, r"\lambda")
    assert examine(paper_f, site, (r"\mu",)) == "unbound symbol"


def test_f17_the_clean_twin_has_the_true_sentence(paper_f):
    false = "DeepSet scores higher than TinyRank on Harbor."
    one = next(one for one in insertions(paper_f) if isinstance(one, Insertion) and one.false == false)
    assert one.true == "TinyRank scores higher than DeepSet on Harbor."
    grown = Source(with_insertion(paper_f.paper, one))
    made = examine(grown, inserted_site(grown, one), (one.false,))
    assert difficulty_of(made) == "table"
    assert made.edits[0].before == one.true


def test_f18_no_promise_names_the_row(paper_f):
    site = next(s for s in SITES["missing-baseline"](paper_f) if isinstance(s, Site) and "Linear" in s.excerpt)
    assert examine(paper_f, site, site.proposals[0]) == "no promise names Linear: silent only"
    assert site.silent


def planted_f(tmp_path, **wanted):
    path = tmp_path / "f.md"
    path.write_text(PAPER_F)
    return plant_paper(load_paper(path), Wanted(**{"n": 3, "seed": 1, **wanted}))


@pytest.mark.parametrize("seed", range(4))
def test_a_copy_is_the_clean_twin_but_for_its_edits(tmp_path, seed):
    done = planted_f(tmp_path, seed=seed, neutral=True)
    check_fits(done.key, done.clean, "clean")
    check_fits(done.key, done.planted)
    undone = done.clean
    edits = [edit for record in done.key.records if record.kind != "neutral" for edit in record.edits]
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        undone = undone[: edit.start] + edit.after + undone[edit.end :]
    assert undone == done.planted != done.clean
    for record in done.key.records:
        if record.edits[0].place != "cell" and record.kind != "neutral":
            assert done.planted.count(record.sentence_after) == 1
            assert record.sentence_after not in done.clean
    assert "planted" not in done.planted.casefold()


def test_same_seed_same_bytes_and_another_seed_others(tmp_path):
    a, b, c = planted_f(tmp_path), planted_f(tmp_path), planted_f(tmp_path, seed=2)
    assert (a.key, a.clean, a.planted, a.rejected) == (b.key, b.clean, b.planted, b.rejected)
    assert a.key.copy_id != c.key.copy_id


def test_three_kinds_and_spacing(tmp_path):
    records = planted_f(tmp_path).key.records
    assert len({record.kind for record in records}) == 3
    sections = [record.edits[0].section for record in records]
    assert max(map(sections.count, sections)) <= 2


def test_a_nearly_equal_sentence_is_edited_alike(tmp_path):
    source = source_of(PAPER_F + f"\n## 4 Summary\n\n{ABSTRACT}\n", tmp_path)
    made = attempt(source, "number", "74.9", "79.4", "On the Harbor")
    assert [edit.after for edit in made.edits] == ["79.4", "79.4"]


def test_an_edit_that_nothing_contradicts_is_refused(paper_f):
    made = attempt(paper_f, "number", "74.9", "79.4", "On the Harbor")
    blind = type(made)(**{**made.__dict__, "conflict": lambda *_: False})
    assert checked(paper_f, blind) == "V2: nothing in the planted copy contradicts the edit"


def test_a_key_that_does_not_fit(tmp_path):
    done = planted_f(tmp_path)
    with pytest.raises(DataError, match="edited afterwards or belongs to another paper"):
        check_fits(done.key, done.planted + " ")
    with pytest.raises(DataError, match="holds no key"):
        read_keys(tmp_path)


def test_a_paper_too_short_and_kinds_without_a_place(tmp_path):
    with pytest.raises(DataError, match="too short to plant in: it has"):
        planted_f(tmp_path, n=None)
    with pytest.raises(DataError, match="citation: no_candidate"):
        planted_f(tmp_path, kinds=("citation",))


async def test_the_command_writes_copies_and_keys_apart(tmp_path):
    import referee

    path = tmp_path / "f.md"
    path.write_text(PAPER_F)
    out = tmp_path / "out"
    done = await referee.plant(path, n=2, seed=5, neutral=True, options=referee.RunOptions(out=out))
    name = done.keys[0].copy_id
    assert (
        {p.name for p in (out / "planted").iterdir()} == {f"{name}.md"} == {p.name for p in (out / "clean").iterdir()}
    )
    assert read_keys(out) == done.keys
    assert all(
        set(json.loads(line)) == {"copy_id", "kind", "reason", "excerpt"}
        for line in (out / "rejected.jsonl").read_text().splitlines()
    )
    (out / "planted" / f"{name}.md").write_text("another text")
    with pytest.raises(DataError, match="edited afterwards"):
        read_keys(out)
    with pytest.raises(SettingsError, match="unknown"):
        await referee.plant(path, kinds=["typo"])


def test_every_kind_has_its_sites_or_reasons(paper_f):
    offer = find_offer(paper_f.paper, Wanted(n=1))
    assert set(offer.yields) == set(KINDS)
    for one in offer.yields.values():
        assert one.candidates == one.accepted + one.rejected.total()


class SaidDoor:
    """Answers by reply model, from a function of the rendered prompt."""

    def __init__(self, replacement, judged):
        self.replacement, self.judged, self.asked = replacement, judged, []

    async def ask(self, prompt, reply, *, role, max_output_tokens, sample=0):
        self.asked.append((role, prompt.user))
        value = (
            ReplacementReply(reason="", replacement=self.replacement, anchor=1)
            if reply is ReplacementReply
            else PlantReply(reason="", **self.judged)
        )
        return Answer(value, Usage(), "c1", "said")


GOOD = {"well_formed": "yes", "stated": "yes", "matters": "yes", "cosmetic": "no"}


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        ({}, "substantive"),
        ({"cosmetic": "yes"}, "typo-like"),
        ({"well_formed": "no", "stated": "no"}, "typo-like"),
        ({"stated": "no"}, "no error"),
        ({"matters": "no"}, "no error"),
    ],
)
async def test_a_blind_reader_keeps_substantive_errors_alone(paper_f, answers, verdict):
    wanted, acceptance, door = Wanted(n=3, seed=1), Acceptance(), SaidDoor("", {**GOOD, **answers})
    choice = await verified(find_offer(paper_f.paper, wanted), wanted, paper_f.paper, door, acceptance)
    assert {name for counts in acceptance.verdicts.values() for name in counts} == {verdict}
    read = [one for one in choice.candidates if not one.kind.startswith("missing")]
    assert bool(read) == (verdict == "substantive")
    for role, shown in door.asked:
        assert role == "checker"
        assert "<first>" in shown
        assert "statement" not in shown


@pytest.mark.parametrize(("text", "accepted"), [("1.3", True), ("a million", False)])
async def test_a_model_words_half_of_the_errors_at_most(paper_f, text, accepted):
    wanted = Wanted(kinds=("stats", "direction"), n=2, seed=0)
    offer, refused = await reworded(
        find_offer(paper_f.paper, wanted), wanted, paper_f.paper, SaidDoor("faster" if accepted else text, GOOD)
    )
    made = [one for own in offer.candidates.values() for one in own if one.planter == "model:said"]
    assert len(made) + len(refused) == 1
    assert all(one.reason.startswith("model: ") for one in refused)


def test_a_cut_text_of_a_key_is_marked_and_every_defect_of_the_clean_paper_is_kept(paper_f):
    for before, end in (("w" * 300, "w"), ("w" * 301, "w ...")):
        edits = (SimpleNamespace(before=before),)
        made = removals._missing("stats", "x", edits, (), said=re.compile("x"), gone=re.compile("x"), statement="x")
        assert made.expected == "w" * 299 + end
    made = attempt(paper_f, "number", "74.9", "79.4", "On the Harbor")
    offer = SimpleNamespace(source=SimpleNamespace(hits=[SimpleNamespace(claim=f"defect {n}") for n in range(25)]))
    key = _key(paper_f.paper, Wanted(), offer, [made], [], ("a", "b", None), "rule")
    assert len(key.records[0].native) == 25


def test_a_cut_excerpt_of_a_rejected_passage_is_marked():
    rejected = (Rejection("number", "V1", "w" * 201), Rejection("number", "V1", "w" * 200))
    planting = SimpleNamespace(key=SimpleNamespace(copy_id="c"), rejected=rejected)
    cut, whole = (json.loads(line)["excerpt"] for line in _rejected_lines([planting]))
    assert (cut, whole) == ("w" * 200 + " ...", "w" * 200)


def long_paper(sentences, tmp_path):
    """A paper that gives two values over and over, in sentences that are all nearly the same."""
    lines = ["# A paper about groups", "", "## Results", ""]
    said = "In setting {} we take 600 groups and reach 72.7 points of {}.4."
    lines += [said.format(number, number % 97) for number in range(sentences)]
    path = tmp_path / "long.md"
    path.write_text("\n\n".join(lines))
    return load_paper(path)


def test_a_paper_of_one_value_is_looked_at_in_a_bounded_number_of_places(tmp_path):
    """Each value was compared with all others, and each sentence with all others, in a Python loop."""
    offers, compared = [], []
    for sentences in (200, 400):
        with pytest.MonkeyPatch.context() as patch:
            count = 0
            for module in (numbers, offering):
                patch.setattr(module, "MOST_PLACES", 40)

            def counted(*values, work=numbers._is_equal):
                nonlocal count
                count += 1
                return work(*values)

            patch.setattr(numbers, "_is_equal", counted)
            offers.append(find_offer(long_paper(sentences, tmp_path), Wanted(("number", "size"), 1)))
            compared.append(count)
    assert compared[1] < 1.2 * compared[0] < 8_000
    assert all(offer.yields[kind].candidates == 41 for offer in offers for kind in ("number", "size"))
    assert [one.reason for one in offers[1].rejected if one.reason.startswith("more than")] == [
        "more than 40 places; no other one is looked at"
    ] * 2


def test_a_stop_ends_the_search_for_places(tmp_path):
    paper, stop = long_paper(300, tmp_path), Stop()
    stop.requested = True
    with stoppable(stop), pytest.raises(asyncio.CancelledError):
        find_offer(paper, Wanted(("number",), 1))
