"""A run over a review set: what lacks something, what breaks, what is resumed, how much goes on at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from referee.errors import BudgetExceeded, DataError, EvaluationError, ModelUnavailable, ReplyInvalid
from referee.evals import runner as runner_module
from referee.evals.case_store import CaseStore
from referee.evals.forms import Forms
from referee.evals.metric import Context, Need, Quantity, scored
from referee.evals.paper_context import PaperContext
from referee.evals.results import RESULTS, read_results
from referee.evals.unit import EvalServices
from referee.runs import Event
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult
from referee.testing import HashEmbedder, ScriptedModel
from referee.venues import load_venue

from .runs_of import Judged, Words, _no_index, case, panel_of, run, store_of


def results_in(folder: Path) -> dict[tuple[str, str], MetricResult]:
    return {(one.case_id, one.metric): one for one in read_results(folder / RESULTS)}


async def test_each_review_is_measured_once_by_each_metric(tmp_path: Path) -> None:
    store = store_of(case("a"), case("b", text="One two three."), case("c", "p2", source="gpt"))
    more = Words(name="more")
    tally = await run(tmp_path, store, [Words(), more])
    assert (tally.total, tally.scored, tally.done) == (6, 6, 6)
    assert {key: one.value for key, one in results_in(tmp_path).items()} == {
        ("a", "words"): 3,
        ("b", "words"): 3,
        ("c", "words"): 3,
        ("a", "more"): 3,
        ("b", "more"): 3,
        ("c", "more"): 3,
    }


async def test_a_review_that_breaks_a_metric_touches_no_other(tmp_path: Path) -> None:
    store = store_of(*(case(name) for name in "abcd"))
    words = Words(breaks={"b": ReplyInvalid("no valid reply"), "c": ZeroDivisionError("division by zero")})
    tally = await run(tmp_path, store, [words, Words(name="more")])
    found = results_in(tmp_path)
    assert (tally.scored, tally.failed) == (6, 2)
    assert (found["b", "words"].status, found["b", "words"].reason) == ("failed", "no valid reply")
    assert found["c", "words"].reason == "the metric broke down: ZeroDivisionError: division by zero"
    assert found["c", "words"].value is None


async def test_a_second_start_does_what_failed_and_what_was_never_begun(tmp_path: Path) -> None:
    first = Words(breaks={"b": ReplyInvalid("no")})
    await run(tmp_path, store_of(case("a"), case("b")), [first])
    second = Words()
    tally = await run(tmp_path, store_of(case("a"), case("b"), case("c")), [second])
    assert [name for name, _ in second.seen] == ["b", "c"]
    assert (tally.before, tally.scored, tally.done, tally.total) == (1, 2, 3, 3)
    assert results_in(tmp_path)["b", "words"].status == "scored"
    assert len((tmp_path / RESULTS).read_text().splitlines()) == 4, "the failure still stands in the file"


async def test_references_are_the_other_human_reviews_of_the_paper(tmp_path: Path) -> None:
    words = Words(needs=frozenset({"references"}))
    store = store_of(case("a"), case("b"), case("c", source="gpt"), case("d", "p2"), case("e", "p3", source="gpt"))
    await run(tmp_path, store, [words])
    seen = {name: [other.case_id for other in context.references] for name, context in words.seen}
    assert seen == {"a": ["b"], "b": ["a"], "c": ["a", "b"]}
    found = results_in(tmp_path)
    assert found["d", "words"].reason == "the review set holds no other human review of paper 'p2'"
    assert found["e", "words"].reason == "the review set holds no human review of paper 'p3'"


@pytest.mark.parametrize(
    ("need", "means", "said"),
    [
        ("paper", EvalServices(), "give the papers with --papers"),
        ("paper", EvalServices(papers="papers/"), "no paper in 'papers/' has the id 'p1'"),
        ("venue", EvalServices(), "names no venue; give its form with --venue"),
        ("judge", EvalServices(), "name one with --judge"),
        ("embedder", EvalServices(), "name one with --embedder"),
    ],
)
async def test_what_is_missing_is_said_with_the_flag_that_helps(
    tmp_path: Path, need: Any, means: EvalServices, said: str
) -> None:
    words = Words(needs=frozenset({need}))
    tally = await run(tmp_path, store_of(case("a")), [words], means)
    assert (tally.not_applicable, words.seen) == (1, [])
    assert said in results_in(tmp_path)["a", "words"].reason


async def test_each_review_meets_the_form_of_its_own_venue(tmp_path: Path) -> None:
    words = Words(needs=frozenset({"venue"}))
    reviews = [
        case("a", venue="iclr-2020"),
        case("b"),
        case("c", venue="no such place"),
        case("d", venue="../venues/mine.toml"),
    ]
    await run(tmp_path, store_of(*reviews), [words], EvalServices(forms=Forms(load_venue("arr"))))
    forms = {name: context.form.id for name, context in words.seen if context.form}
    assert forms == {"a": "iclr-2020", "b": "arr", "c": "arr", "d": "arr"}


class Shelf:
    def __init__(self, papers: dict[str, Any]) -> None:
        self.papers = papers
        self.asked: Counter[str] = Counter()

    def get(self, paper_id: str) -> Any:
        self.asked[paper_id] += 1
        found = self.papers.get(paper_id)
        if isinstance(found, Exception):
            raise found
        return found


class Index:
    def __init__(self, paper: object) -> None:
        self.paper = paper
        self.closed = False

    async def close(self) -> None:
        self.closed = True


async def test_a_paper_has_one_index_of_its_own_that_is_closed_in_the_end(tmp_path: Path) -> None:
    store = store_of(*(case(f"{paper}{n}", paper) for n in range(3) for paper in ("p1", "p2", "p3")))
    shelf, embedder, opened = Shelf({"p1": "one", "p2": "two", "p3": DataError("broken file")}), HashEmbedder(), []

    async def opener(paper: Any, given: Any) -> Any:
        await asyncio.sleep(0)
        assert given is embedder
        opened.append(Index(paper))
        return opened[-1]

    words = Words(needs=frozenset({"paper", "embedder"}))
    means = EvalServices(papers="papers/", embedder=embedder)
    rooms: dict[str, PaperContext] = {}

    def room(paper_id: str) -> PaperContext:
        return rooms.setdefault(paper_id, PaperContext(paper_id, store, shelf, embedder, opener))

    await run(tmp_path, store, [words], means, room=room)
    assert {name: context.retriever.paper for name, context in words.seen if context.retriever} == {  # type: ignore[attr-defined]
        "p10": "one",
        "p11": "one",
        "p12": "one",
        "p20": "two",
        "p21": "two",
        "p22": "two",
    }
    assert sorted(index.paper for index in opened) == ["one", "two"]
    assert all(index.closed for index in opened)
    assert shelf.asked["p3"] == 1, "a paper that cannot be read is not read again for each review"
    assert results_in(tmp_path)["p30", "words"].reason == "broken file"


class Purse(Quantity):
    """A metric whose units pay from a purse; what is under way holds room in it."""

    name, version, prompts = "purse", "1", ()
    needs: frozenset[Any] = frozenset()

    def __init__(self, money: int) -> None:
        self.money = money
        self.held = 0

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        if self.held + 3 > self.money:
            raise BudgetExceeded("the next call may take up to 3", hint="Resume with more.")
        self.held += 3
        await asyncio.sleep(0)
        self.held -= 3
        self.money -= 1
        return scored(self, case, 1.0)

    def rescore(self, stored: MetricResult) -> MetricResult:
        return stored


async def test_the_budget_is_used_up_before_the_run_stops(tmp_path: Path) -> None:
    store = store_of(*(case(f"c{n}") for n in range(20)))
    with pytest.raises(BudgetExceeded):
        await run(tmp_path, store, [Purse(12)])
    kept = [one.case_id for one in read_results(tmp_path / RESULTS)]
    assert len(kept) == 10, "only 2 are left, and a call may take 3"
    tally = await run(tmp_path, store, [Purse(100)])
    assert (tally.before, tally.scored) == (10, 10)
    assert len(results_in(tmp_path)) == 20


class JudgedPurse(Purse):
    """One that asks a judge, and so has a window of its own."""

    name, needs = "judged_purse", frozenset({"judge"})


async def test_the_budget_is_used_up_by_metrics_of_both_windows(tmp_path: Path) -> None:
    one, other = Purse(12), JudgedPurse(0)
    other.__dict__ = one.__dict__
    judged = EvalServices(panel=panel_of(ScriptedModel({"judge": {}})))
    with pytest.raises(BudgetExceeded):
        await run(tmp_path, store_of(*(case(f"c{n}") for n in range(20))), [one, other], judged)
    kept = list(read_results(tmp_path / RESULTS))
    assert len(kept) == 10, "only 2 are left, and a call may take 3"


async def test_a_full_disk_ends_the_run(tmp_path: Path) -> None:
    words = Words(breaks={"a": OSError(28, "No space left on device")})
    with pytest.raises(OSError, match="No space left"):
        await run(tmp_path, store_of(case("a"), case("b")), [words])


async def test_a_judge_that_never_answers_fails_units_and_soon_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_module, "HOPELESS", 5)
    dead = EvalServices(panel=panel_of(ScriptedModel({"judge": ModelUnavailable("connection refused")})))
    tally = await run(tmp_path / "few", _few(tmp_path), [Judged()], dead)
    assert (tally.failed, tally.scored) == (4, 0)
    assert all("connection refused" in one.reason for one in read_results(tmp_path / "few" / RESULTS))
    many = store_of(*(case(f"c{n}") for n in range(200)))
    (tmp_path / "many").mkdir()
    with pytest.raises(EvaluationError, match="no judge has answered yet"):
        await run(tmp_path / "many", many, [Judged()], dead)
    assert len(results_in(tmp_path / "many")) < 20


def _few(tmp_path: Path) -> CaseStore:
    (tmp_path / "few").mkdir()
    return store_of(*(case(f"c{n}") for n in range(4)))


async def test_replies_that_never_fit_do_not_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_module, "HOPELESS", 5)
    invalid = ReplyInvalid("no valid reply", usage={"calls": 3})
    means = EvalServices(panel=panel_of(ScriptedModel({"judge": invalid})))
    tally = await run(tmp_path, store_of(*(case(f"c{n}") for n in range(20))), [Judged()], means)
    assert tally.failed == 20


class Busy(Words):
    """Notes how many of its units are under way at once."""

    most = now = 0

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(3):
            await asyncio.sleep(0)
        self.now -= 1
        return scored(self, case, 1.0)


@pytest.mark.parametrize(("needs", "units"), [({"judge"}, 4 * runner_module.UNITS_A_CALL), (set(), 4)])
async def test_the_window_is_full_and_bounded(tmp_path: Path, needs: set[Any], units: int) -> None:
    busy = Busy(needs=frozenset(needs))
    means = EvalServices(panel=panel_of(ScriptedModel({})))
    await run(tmp_path, store_of(*(case(f"c{n}") for n in range(100))), [busy], means, concurrency=4)
    assert busy.most == units


async def test_units_that_wait_for_the_embedder_hold_up_no_call(tmp_path: Path) -> None:
    all_judged = asyncio.Event()

    class Judging(Words):
        async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
            result = await super().measure(case, context)
            if len(self.seen) == 20:
                all_judged.set()
            return result

    class Waiting(Words):
        async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
            await all_judged.wait()
            return await super().measure(case, context)

    waiting, judging = Waiting(name="computed"), Judging(name="judged", needs=frozenset({"judge"}))
    means = EvalServices(panel=panel_of(ScriptedModel({})))
    async with asyncio.timeout(120):
        tally = await run(
            tmp_path, store_of(*(case(f"c{n}") for n in range(20))), [waiting, judging], means, concurrency=2
        )
    assert tally.scored == 40


async def test_of_one_review_the_longest_chain_begins_first(tmp_path: Path) -> None:
    begun: list[tuple[str, str]] = []

    class Noting(Words):
        async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
            begun.append((case.case_id, self.name))
            return scored(self, case, 1.0)

    metrics = [Noting(name="one", prompts=("a",)), Noting(name="three", prompts=("a", "b", "c")), Noting(name="none")]
    await run(tmp_path, store_of(case("x"), case("y")), metrics)
    assert begun == [(name, metric) for name in "xy" for metric in ("three", "one", "none")]


async def test_progress_says_how_much_is_done(tmp_path: Path) -> None:
    events: list[Event] = []
    await run(tmp_path, store_of(case("a"), case("b")), [Words()], EvalServices(progress=events.append))
    assert (events[-1].done, events[-1].total, events[-1].text) == (2, 2, "2 of 2 units")


async def test_an_interrupted_run_leaves_nothing_running(tmp_path: Path) -> None:
    begun = asyncio.Event()

    class Endless(Words):
        async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
            begun.set()
            await asyncio.Event().wait()
            raise AssertionError

    task = asyncio.create_task(run(tmp_path, store_of(*(case(f"c{n}") for n in range(9))), [Endless()]))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == {asyncio.current_task()}


@dataclass
class Using(Words):
    """Takes the paper where it is there."""

    uses: frozenset[Need] = frozenset({"paper"})


async def test_a_metric_gets_the_paper_it_uses_where_the_run_has_it(tmp_path: Path) -> None:
    store, shelf = store_of(case("a", "p1"), case("b", "p2")), Shelf({"p1": "one", "p2": None})
    plain, using = Words(), Using(name="using")

    def room(paper_id: str) -> PaperContext:
        return PaperContext(paper_id, store, shelf, None, _no_index)

    tally = await run(tmp_path, store, (plain, using), EvalServices(papers="the shelf"), room=room)
    assert tally.scored == 4
    assert [context.paper for _, context in using.seen] == ["one", None]
    assert [context.paper for _, context in plain.seen] == [None, None]


async def test_the_boxes_that_both_sides_fill_are_known_by_venue(tmp_path: Path) -> None:
    human = {"fields": {"summary": "It counts.", "soundness": 3, "questions": "N/A"}, "rating": 4, "venue": "iclr-2020"}
    ai = {"fields": {"summary": "It counts.", "soundness": 0, "questions": "Why?"}, "rating": 5, "venue": "iclr-2020"}
    store = store_of(case("a", **human), case("b", source="gpt", **ai), case("c", venue="arr", rating=3))
    words = Words()
    await run(tmp_path, store, [words])
    boxes = {name: context.boxes for name, context in words.seen}
    assert boxes == {"a": {"summary", "rating"}, "b": {"summary", "rating"}, "c": None}
