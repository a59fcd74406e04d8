import pickle
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.data import read_cases
from referee.errors import EvaluationError
from referee.evals.behaviour import backend, clean, measure_texts, readability, text_metrics, tokens
from referee.evals.behaviour.cross_references import CORE, EXT, CrossReferences, core_target, extra_target
from referee.evals.behaviour.readability import Hyphenation
from referee.evals.behaviour.results import Diversity, TextMetrics
from referee.schemas.case import ReviewCase

PIECES = st.sampled_from(
    [
        "Fig",
        "fig.",
        "Eq",
        "Sec",
        "section",
        "sub",
        "data",
        "set",
        "sets",
        "no.",
        "no",
        "appendix",
        "claim",
        "lg",
        "2s",
        "App",
        "A",
        "B.2",
        "p.",
        "s",
        "3",
        "12",
        "(",
        ")",
        "2a",
        "0",
        "2017",
        "1.5",
        "%",
        "~",
        "#",
        "§",
        ".",
        "!",
        "?",
        ",",
        "-",
        "'",
        "’",
        "_",
        "\n",
        "\n\n",
        " ",
        " ",
        " ",
        "\t",
        "**",
        "$",
        "\\(",
        "\\)",
        "`",
        "```",
        "[",
        "](",
        "https://x.y",
        "www.a",
        "- ",
        "1. ",
        "# ",
        "\n- ",
        "\n1) ",
        "model",
        "The",
        "state-of-the-art",
        "Vaswani",
        "et al.",
        "arXiv:1706.03762",
        "10.1000/x",
        "é",
        "“",
        "”",
        "Σ",
        "ſec",
        "lıne",
        "\x00",
        "\x1c",
        "\u2028",
        "\u200b",
        "internationalizations",
        "‣ ",
        "\n◦ ",
        "\n> (2) ",
        "\n## ",
        '."',
        "**end.**",
        "( 2019",
        ",2019).",
        "Σας",
        "¸",
        "__",
        "Müller, K. (2019). A title for us. ",
    ]
)
HYPHENATION = Hyphenation("en_US")
MIXED = st.lists(PIECES, max_size=60).map("".join)
ANY = st.text(st.characters(codec="utf-8"), max_size=200)


def sound(found: TextMetrics) -> None:
    assert found.status == ("scored" if found.diversity.tokens else "not_applicable")
    missing = [found.diversity.ttr, found.diversity.ttr_words, found.diversity.mattr, found.raw.fre, found.clean.fkg]
    assert bool(found.reason) == (None in missing)
    assert found.diversity.types <= found.diversity.tokens


def by_definition(text: str) -> tuple[Diversity, int, int, int, CrossReferences]:
    """Diversity, and words, sentences and syllables of readability, and cross-references, with no thought of time."""
    items, words = tokens(text), tokens(text, "words")
    windows = [items[start : start + 100] for start in range(max(1, len(items) - 99))]
    mean = sum(len(set(window)) for window in windows) / sum(map(len, windows)) if items else None
    spoken = [chunk for chunk in text.split() if re.search(r"\w", chunk)]
    runs = [len(re.sub(r"[^\w\s]", "", run).split()) for run in re.findall(r"\b[^.!?]+[.!?]*", text)]
    return (
        Diversity(len(items), len(set(items)), len(words), len(set(words)), mean),
        len(spoken),
        max(1, sum(count > 2 for count in runs)) if runs else 0,
        sum(HYPHENATION.points(re.sub(r"[^\w\s]", "", word.lower())) + 1 for word in spoken),
        CrossReferences(
            tuple(core_target(found) for found in CORE.finditer(text)),
            tuple(extra_target(found) for found in EXT.finditer(text)),
        ),
    )


def matches_its_definition(text: str) -> TextMetrics:
    found = text_metrics(text)
    diversity, words, sentences, syllables, references = by_definition(text)
    assert found.diversity[:4] == diversity[:4]
    assert found.diversity.mattr == pytest.approx(diversity.mattr, abs=1e-12)
    assert found.raw[:3] == (words, sentences, syllables)
    assert found.clean == readability(clean(text))
    assert found.references == references
    return found


@pytest.mark.slow
@given(st.one_of(MIXED, ANY))
@settings(derandomize=True, max_examples=500, deadline=None)
def test_any_text_is_measured_as_defined(text: str) -> None:
    sound(matches_its_definition(text))
    assert text_metrics(text) == text_metrics(text)


@given(st.text(max_size=60))
@settings(derandomize=True, max_examples=200, deadline=None)
def test_half_characters_are_measured_too(text: str) -> None:
    sound(text_metrics(f"{text}\ud800"))


@pytest.mark.slow
@pytest.mark.shared_data
def test_real_reviews_are_measured_as_defined(shared_data: Path) -> None:
    files = ("papers/iclr2026_abstract_reviews_rebuttals.jsonl", "paired/agents4science2025_reviews.jsonl")
    texts = [case.text for name in files for case in read_cases(shared_data / name)][::4]
    assert len(texts) > 150
    for text in texts:
        matches_its_definition(text)


def test_a_long_text_has_the_mattr_of_all_its_windows() -> None:
    for count in (99, 100, 101, 150, 199, 200, 500):
        matches_its_definition(" ".join(f"w{n * n % 61}" for n in range(count)))


def test_an_empty_review_has_a_reason_and_no_values() -> None:
    found = text_metrics(" \n ")
    assert (found.status, found.reason) == ("not_applicable", "the text is empty")
    assert found.diversity.ttr is found.raw.fre is found.xref_density is None
    assert text_metrics("?!").reason == "the text holds no word"


def test_backends_are_named_and_all_measured(tmp_path: Path) -> None:
    text = "The authors don't release code. Isn't that strange for a paper?"
    rule = backend("rule")
    assert text_metrics(text, rule).raw.syllables == 14
    assert (text_metrics(text).syllables, text_metrics(text, rule).syllables) == ("pyphen-en_US", "rule")
    path = tmp_path / "d"
    path.write_text("DON'T  D OW1 N T\n", encoding="utf-8")
    cmu = backend("cmu", path)
    assert text_metrics(text, cmu).raw == readability(text, cmu)
    assert text_metrics("Don't", cmu).raw.syllables == 1
    assert text_metrics(text).mathematics == "heuristic"


def test_results_are_frozen_and_travel() -> None:
    found = text_metrics("See Fig. 3. It works well.")
    with pytest.raises(AttributeError):
        found.characters = 0  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(found)) == found
    assert not hasattr(found, "__dict__")


@pytest.mark.parametrize(
    "text",
    [
        "A. " * 3000,
        " ".join(["Word"] * 4000),
        "fig " * 5000,
        "Fig. 3" * 3000,
        "\n- " * 5000,
        "1" * 20000,
        "\\(" * 5000,
        "fig 1" + ".1" * 5000,
        "www." * 4000,
        "http://" * 2000,
        "10.1234/" * 2000,
        "$" * 9001,
        "~" * 9000,
        "_" * 9000,
        "a" + "$," * 9000 + "a",
        "app " * 9000,
        "Fig" + " " * 9000 + "1" * 9000,
        "Fig. no. " * 9000 + "1",
    ],
)
def test_pathological_texts_finish(text: str) -> None:
    start = time.process_time()
    found = text_metrics(text)
    assert time.process_time() - start < 2
    sound(found)


def cases(count: int) -> Iterator[ReviewCase]:
    for n in range(count):
        text = f"Review {n}. See Fig. {n % 9 + 1} of the paper. " * (n % 5)
        yield ReviewCase(case_id=f"c{n}", paper_id="p", source="human", kind="human", text=text)


def test_a_stream_keeps_its_order_and_is_read_no_further_than_needed() -> None:
    drawn = []

    def watched() -> Iterator[ReviewCase]:
        for case in cases(200):
            drawn.append(case.case_id)
            yield case

    stream = measure_texts(watched())
    first, found = next(stream)
    assert first.case_id == "c0"
    assert found.status == "not_applicable"
    assert len(drawn) == 1
    rest = list(stream)
    assert [case.case_id for case, _ in rest] == [f"c{n}" for n in range(1, 200)]
    assert all(one == text_metrics(case.text) for case, one in rest[::20])


@pytest.mark.slow
def test_workers_give_the_same_in_the_same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.evals.behaviour.results._TOGETHER", 7)
    here = list(measure_texts(cases(300)))
    assert list(measure_texts(cases(300), 2)) == here


def test_a_stream_needs_a_process_and_a_backend() -> None:
    with pytest.raises(EvaluationError, match="0"):
        measure_texts(cases(1), 0)
    with pytest.raises(EvaluationError, match="needs"):
        measure_texts(cases(1), syllables="cmu")
