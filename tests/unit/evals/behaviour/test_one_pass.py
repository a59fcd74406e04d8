import pickle
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.data import read_cases
from referee.errors import EvaluationError
from referee.evals.behaviour import backend, measure_batch, measure_texts, measured_one_by_one, text_metrics
from referee.evals.behaviour.packing import CHARACTERS, pack, unpack
from referee.evals.behaviour.results import TextMetrics
from referee.evals.behaviour.word_table import WordTable
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
MIXED = st.lists(PIECES, max_size=60).map("".join)
ANY = st.text(st.characters(codec="utf-8"), max_size=200)


def sound(found: TextMetrics) -> None:
    assert found.status == ("scored" if found.diversity.tokens else "not_applicable")
    missing = [found.diversity.ttr, found.diversity.ttr_words, found.diversity.mattr, found.raw.fre, found.clean.fkg]
    assert bool(found.reason) == (None in missing)
    assert found.diversity.types <= found.diversity.tokens


@pytest.mark.slow
@given(st.lists(st.one_of(MIXED, ANY), max_size=5))
@settings(derandomize=True, max_examples=500, deadline=None)
def test_any_text_is_measured_and_the_fast_pass_equals_the_slow_functions(texts: list[str]) -> None:
    found = measure_batch(texts)
    assert found == [measured_one_by_one(text) for text in texts]
    assert found == measure_batch(texts)
    for one in found:
        sound(one)


@given(st.text(max_size=60))
@settings(derandomize=True, max_examples=200, deadline=None)
def test_half_characters_are_measured_too(text: str) -> None:
    sound(text_metrics(f"{text}\ud800"))


@pytest.mark.slow
@pytest.mark.shared_data
def test_the_fast_pass_equals_the_slow_functions_on_real_reviews(shared_data: Path) -> None:
    files = ("papers/iclr2026_abstract_reviews_rebuttals.jsonl", "paired/agents4science2025_reviews.jsonl")
    texts = [case.text for name in files for case in read_cases(shared_data / name)][::4]
    assert len(texts) > 150
    for found, text in zip(measure_batch(texts), texts, strict=True):
        assert found == measured_one_by_one(text)


def test_a_long_text_has_the_mattr_of_all_its_windows() -> None:
    text = " ".join(f"w{n * n % 61}" for n in range(500))
    assert measure_batch(["", text, text]) == [measured_one_by_one(one) for one in ("", text, text)]


@pytest.mark.slow
def test_a_text_with_more_words_than_the_table_takes_is_measured() -> None:
    text = " ".join(f"w{n}" for n in range(300_000))
    found = text_metrics(text)
    assert (found.diversity.types, found.raw.words) == (300_000, 300_000)


def test_an_empty_review_has_a_reason_and_no_values() -> None:
    found = text_metrics(" \n ")
    assert (found.status, found.reason) == ("not_applicable", "the text is empty")
    assert found.diversity.ttr is found.raw.fre is found.xref_density is None
    assert text_metrics("?!").reason == "the text holds no word"


def test_backends_are_named_and_all_measured(tmp_path: Path) -> None:
    text = "The authors don't release code. Isn't that strange for a paper?"
    rule = backend("rule")
    assert text_metrics(text, rule) == measured_one_by_one(text, rule)
    assert (text_metrics(text).syllables, text_metrics(text, rule).syllables) == ("pyphen-en_US", "rule")
    path = tmp_path / "d"
    path.write_text("DON'T  D OW1 N T\n", encoding="utf-8")
    cmu = backend("cmu", path)
    assert text_metrics(text, cmu) == measured_one_by_one(text, cmu)
    assert text_metrics(text).mathematics == "heuristic"


def test_results_are_frozen_and_travel() -> None:
    found = text_metrics("See Fig. 3. It works well.")
    with pytest.raises(AttributeError):
        found.characters = 0  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(found)) == found
    assert not hasattr(found, "__dict__")


def test_packing_keeps_each_character_or_refuses() -> None:
    assert len(CHARACTERS) == 256
    assert len({char for char in CHARACTERS if char != "\ufffe"}) == 255
    text = CHARACTERS[1:255]
    packed = pack(text)
    assert packed is not None
    assert unpack(packed) == text
    for refused in ("\x00", "ΑΣ", "\u0663", "ſ", "İ", "\ufb04", "".join(map(chr, range(0x4E00, 0x4E20)))):
        assert pack(refused) is None


def test_a_full_table_is_emptied_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(f"word{n + 7 * shift} x{n}" for n in range(300)) + "." for shift in range(6)]
    expected = [measured_one_by_one(text) for text in texts]
    monkeypatch.setattr("referee.evals.behaviour.word_table.FULL", 700)
    monkeypatch.setattr("referee.evals.behaviour.one_pass._table", lambda chosen: table)
    table = WordTable(backend().count)
    assert [text_metrics(text) for text in texts] == expected


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


def test_a_stream_keeps_its_order_and_is_read_no_further_than_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.evals.behaviour.many._ENOUGH_CHARS", 500)
    drawn = []

    def watched() -> Iterator[ReviewCase]:
        for case in cases(200):
            drawn.append(case.case_id)
            yield case

    stream = measure_texts(watched())
    first, found = next(stream)
    assert first.case_id == "c0"
    assert found.status == "not_applicable"
    assert len(drawn) < 20
    rest = list(stream)
    assert [case.case_id for case, _ in rest] == [f"c{n}" for n in range(1, 200)]
    assert all(one == measured_one_by_one(case.text) for case, one in rest[::20])


@pytest.mark.slow
def test_workers_give_the_same_in_the_same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.evals.behaviour.many._ENOUGH_CHARS", 500)
    here = list(measure_texts(cases(300)))
    assert list(measure_texts(cases(300), 2)) == here


def test_a_stream_needs_a_process_and_a_backend() -> None:
    with pytest.raises(EvaluationError, match="0"):
        measure_texts(cases(1), 0)
    with pytest.raises(EvaluationError, match="needs"):
        measure_texts(cases(1), syllables="cmu")
