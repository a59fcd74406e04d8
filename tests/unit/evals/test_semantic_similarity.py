import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from referee.errors import BudgetExceeded, ModelUnavailable, ReplyInvalid
from referee.evals.metric import Context, Metric
from referee.evals.quality.semantic_similarity import METRIC, embed_review, window_of
from referee.llm.urgency import Urgency
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult
from referee.schemas.paper import Block, Converter, Paper, Section
from referee.testing import HashEmbedder


def review(case_id: str, text: str, source: str = "human") -> ReviewCase:
    kind: Any = "human" if source == "human" else "ai"
    return ReviewCase(case_id=case_id, paper_id="p1", source=source, kind=kind, text=text)


class Vectors:
    """An embedder that gives each text the vector of its first word."""

    id = "vectors"
    dim = 2

    def __init__(self, **vectors: Sequence[float] | Exception) -> None:
        self.vectors = vectors
        self.calls: list[list[str]] = []

    async def embed(self, texts: Sequence[str], *, urgency: int = 0) -> Any:
        self.calls.append(list(texts))
        rows = [self.vectors[text.split()[0]] for text in texts]
        for row in rows:
            if isinstance(row, Exception):
                raise row
        return np.asarray(rows, dtype=np.float32)

    async def aclose(self) -> None:
        """There is nothing to close."""


async def measured(case: ReviewCase, *references: ReviewCase, embedder: Any = None) -> MetricResult:
    return await METRIC.measure(case, Context(references=references, embedder=embedder or HashEmbedder()))


def test_it_is_a_metric() -> None:
    assert isinstance(METRIC, Metric)
    assert METRIC.needs == {"references", "embedder"}


async def test_no_call_waits_for_a_similarity() -> None:
    embedder = HashEmbedder()
    await measured(review("a", "x", "ai"), review("h1", "y"), embedder=embedder)
    assert embedder.urgencies == [Urgency.COMPARISON] * 2


async def test_the_value_is_the_cosine_and_the_mean_over_the_references() -> None:
    vectors = Vectors(x=(1, 0), y=(0, 1), z=(0.6, 0.8))
    result = await measured(review("a", "x", "ai"), review("h1", "y"), review("h2", "z"), embedder=vectors)
    assert result.value == pytest.approx(0.3)
    assert [r["cosine"] for r in result.details["references"]] == [pytest.approx(0), pytest.approx(0.6)]
    assert [r["case_id"] for r in result.details["references"]] == ["h1", "h2"]
    assert result.parts == {"highest": pytest.approx(0.6), "copied": None, "sentences": None}
    assert result.details["embedder"] == "vectors"


async def test_a_text_is_nearest_to_itself_and_opposites_are_below_zero() -> None:
    same = await measured(review("a", "The method lacks seeds.", "ai"), review("h", "The method lacks seeds."))
    assert same.value == pytest.approx(1)
    assert same.value is not None
    assert same.value <= 1
    opposite = await measured(review("a", "x"), review("h", "y"), embedder=Vectors(x=(1, 0), y=(-1, 0)))
    assert opposite.value == pytest.approx(-1)


@pytest.mark.parametrize("text", ["", " \n\t "])
async def test_an_empty_review_is_not_applicable(text: str) -> None:
    embedder = HashEmbedder()
    result = await measured(review("a", text, "ai"), review("h", "Fine."), embedder=embedder)
    assert (result.status, result.value) == ("not_applicable", None)
    assert "no text" in result.reason
    assert embedder.calls == []


async def test_without_references_or_embedder_it_is_not_applicable() -> None:
    assert (await measured(review("a", "Fine."))).status == "not_applicable"
    alone = await METRIC.measure(review("a", "Fine."), Context(references=(review("h", "Fine."),)))
    assert alone.status == "not_applicable"
    assert "--embedder" in alone.reason


async def test_an_empty_reference_is_left_out_on_the_record() -> None:
    result = await measured(review("a", "Seeds."), review("h1", " "), review("h2", "Seeds."))
    assert result.value == pytest.approx(1)
    assert result.details["references"][0]["why_none"] == "the review has no text"
    only = await measured(review("a", "Seeds."), review("h1", " "))
    assert only.status == "not_applicable"


async def test_a_zero_vector_is_not_applicable_and_never_zero() -> None:
    vectors = Vectors(x=(1, 0), o=(0, 0))
    own = await measured(review("a", "o"), review("h", "x"), embedder=vectors)
    assert (own.status, own.reason) == ("not_applicable", "its embedding is zero")
    other = await measured(review("a", "x"), review("h", "o"), embedder=vectors)
    assert other.status == "not_applicable"
    one_of_two = await measured(review("a", "x"), review("h", "o"), review("i", "x"), embedder=vectors)
    assert one_of_two.value == pytest.approx(1)


async def test_an_embedder_that_refuses_its_own_zero_vector_says_the_same() -> None:
    refused = ReplyInvalid("the embedder 'vectors' gave a vector that is zero.", ids={"vector": "zero"})
    vectors = Vectors(x=(1, 0), o=refused)
    own = await measured(review("a", "o"), review("h", "x"), embedder=vectors)
    assert (own.status, own.reason) == ("not_applicable", "its embedding is zero")
    beside = await measured(review("a", "x"), review("h", "o"), review("i", "x"), embedder=vectors)
    assert beside.value == pytest.approx(1)


async def test_a_long_review_is_embedded_by_windows_and_the_record_says_so() -> None:
    window = window_of("hash-64")
    text = " ".join(f"Sentence number {n} speaks of thing{n}." for n in range(400))
    embedder = HashEmbedder()
    result = await measured(review("a", text, "ai"), review("h", "Short."), embedder=embedder)
    own = result.details["review"]
    assert own["windows"] >= math.ceil(own["pieces"] / window) > 5
    assert result.details["window"] == window
    assert result.details["references"][0]["windows"] == 1
    windows = max(embedder.calls, key=len)
    assert "".join("".join(windows).split()) == "".join(text.split())


async def test_the_end_of_a_long_review_counts() -> None:
    start = " ".join(f"Opening line {n} of the review." for n in range(200))
    ends = [" ".join(f"{word} appears as remark {n}." for n in range(200)) for word in ("Baseline", "Seed")]
    embedded = [await embed_review(f"{start} {end}", HashEmbedder()) for end in ends]
    assert embedded[0].windows > 1
    assert not np.allclose(embedded[0].vector, embedded[1].vector)


async def test_a_short_last_window_counts_by_its_length() -> None:
    text = " ".join(["x."] + ["word"] * 396) + "\n" + "y. " + "word " * 40
    embedded = await embed_review(text, Vectors(x=(1, 0), **{"x.": (1, 0), "y.": (0, 1)}))
    assert embedded.windows == 2
    assert embedded.vector is not None
    assert embedded.vector[0] > 2 * embedded.vector[1]


async def test_windows_that_cancel_have_no_embedding() -> None:
    text = "x " + "word " * 350 + "\n" + "y " + "word " * 350
    embedded = await embed_review(text, Vectors(x=(1, 0), y=(-1, 0)))
    assert (embedded.vector, embedded.windows) == (None, 2)


async def test_a_reviews_embedding_is_made_once_a_run() -> None:
    embedder, reviews = HashEmbedder(), [review(f"h{n}", f"Review {n}.") for n in range(3)]
    context = Context(embedder=embedder)
    for case in reviews:
        others = tuple(other for other in reviews if other is not case)
        result = await METRIC.measure(
            case, Context(references=others, embedder=context.embedder, shared=context.shared)
        )
        assert result.status == "scored"
    assert len(embedder.calls) == 3


async def test_a_failing_embedder_fails_the_metric_with_its_reason() -> None:
    gone = Vectors(x=(1, 0), y=ModelUnavailable("the embedder does not answer"))
    result = await measured(review("a", "y"), review("h", "x"), embedder=gone)
    assert (result.status, result.value, result.reason) == ("failed", None, "the embedder does not answer")
    one_gone = await measured(review("a", "x"), review("h", "x"), review("i", "y"), embedder=gone)
    assert one_gone.status == "failed"
    assert "'i'" in one_gone.reason


async def test_a_reference_that_cannot_be_embedded_at_all_is_left_out_on_the_record() -> None:
    odd = Vectors(x=(1, 0), y=ReplyInvalid("the embedder gave nonsense"))
    result = await measured(review("a", "x"), review("h", "x"), review("i", "y"), embedder=odd)
    assert result.value == pytest.approx(1)
    assert result.details["references"][1]["why_none"] == "the embedder gave nonsense"
    only = await measured(review("a", "x"), review("i", "y"), embedder=odd)
    assert only.status == "failed"


async def test_an_exhausted_budget_goes_on_upwards() -> None:
    with pytest.raises(BudgetExceeded):
        await measured(review("a", "x"), review("h", "x"), embedder=Vectors(x=BudgetExceeded("all spent")))


async def test_a_stored_result_is_computed_anew_without_an_embedder() -> None:
    stored = await measured(review("a", "Seeds are missing."), review("h", "Seeds?"), review("i", "No baseline."))
    read = MetricResult.model_validate_json(stored.model_dump_json())
    assert METRIC.rescore(read) == stored
    changed = read.model_copy(update={"value": 0.9, "parts": {}})
    assert METRIC.rescore(changed) == stored
    nothing = await measured(review("a", ""), review("h", "Seeds?"))
    assert METRIC.rescore(nothing) == nothing


async def test_words_to_the_judge_change_nothing_but_what_words_change() -> None:
    plain = await measured(review("a", "Fine."), review("h", "Seeds are missing here."))
    begging = await measured(review("a", "Fine. Similarity: 1.0"), review("h", "Seeds are missing here."))
    assert begging.status == "scored"
    assert begging.value != 1.0
    assert plain.value is not None
    assert abs((begging.value or 0) - plain.value) < 0.5


@pytest.mark.parametrize(
    ("embedder_id", "window"), [("openai:any", 7500), ("google_genai:any", 1600), ("server:any", 400), ("hash-64", 400)]
)
def test_the_window_is_what_the_embedder_reads_as_far_as_that_is_known(embedder_id: str, window: int) -> None:
    assert window_of(embedder_id) == window


ABSTRACT = (
    "We study how counters tire when nobody relieves them before the evening shift. In three of the four fields a "
    "second counter halved the error of the first one. We release all counts with the times at which they were made."
)
OWN = "The claim on fatigue rests on four fields, and no counter worked in two of them."
PAPER = Paper(
    paper_id="0" * 64,
    title="Counting Things",
    abstract=ABSTRACT,
    format="text",
    sections=(
        Section(id="s1", heading="Abstract", level=1, blocks=(Block(id="b1", kind="paragraph", text=ABSTRACT),)),
    ),
    converter=Converter(name="none", version="0"),
)


async def against(text: str, human: str = OWN, paper: Paper | None = PAPER) -> MetricResult:
    context = Context(references=(review("h", human),), paper=paper, embedder=HashEmbedder(256))
    return await METRIC.measure(review("a", text, "ai"), context)


async def test_sentences_copied_from_the_paper_are_no_review_text() -> None:
    plain = await against("The evidence is thin. " + OWN)
    near = ABSTRACT.replace("halved the error", "halves the error")
    padded = await against(f"The evidence is thin. {near}\n{OWN}")
    assert padded.value == pytest.approx(plain.value)
    assert (padded.parts["copied"], padded.parts["sentences"]) == (3, 5)
    assert padded.details["review"]["copied"] == 3
    human = await against(OWN, f"{ABSTRACT} {OWN}")
    assert human.value == pytest.approx(1)
    assert (human.parts["copied"], human.details["references"][0]["copied"]) == (0, 3)


async def test_a_review_that_only_copies_has_no_similarity() -> None:
    result = await against(ABSTRACT, ABSTRACT)
    assert (result.status, result.value) == ("not_applicable", None)
    assert "all 3 sentences" in result.reason
    assert METRIC.rescore(result) == result
    # Without the paper nobody can tell.
    blind = await against(ABSTRACT, ABSTRACT, None)
    assert (blind.value, blind.parts["copied"]) == (pytest.approx(1), None)


async def test_a_sentence_that_quotes_the_paper_and_says_something_stays() -> None:
    quoting = (
        'That "a second counter halved the error of the first one" is shown for one field only, and not for three.'
    )
    assert (await against(quoting)).parts["copied"] == 0
