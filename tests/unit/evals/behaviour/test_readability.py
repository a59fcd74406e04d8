import random
from pathlib import Path

import pyphen
import pytest

from referee.errors import DataError, EvaluationError
from referee.evals.behaviour import backend, clean, readability
from referee.evals.behaviour.readability import Hyphenation

ENGLISH = ("hyphenation", "algorithm", "representative", "state-of-the-art", "i.i.d.", "naïve", "3d", "reviewers'", "a")


@pytest.mark.parametrize("language", ["en_US", "nl_NL"])
def test_points_are_those_of_the_library(language: str) -> None:
    mine, library = Hyphenation(language), pyphen.Pyphen(lang=language)
    drawn = random.Random(0)
    made = ["".join(drawn.choices("abcdefghilmnoprstuvy.é0'", k=drawn.randrange(25))) for _ in range(3000)]
    for word in ["", ".", *ENGLISH, *made]:
        assert mine.points(word) == len(library.positions(word)), word


def test_some_words_have_points() -> None:
    mine = Hyphenation("en_US")
    assert [mine.points(word) for word in ("hyphenation", "paper", "cat")] == [2, 1, 0]


LIST = (
    "Strengths:\n- The paper is clear\n- The experiments are strong\n- The code is released\n"
    "Weaknesses:\n- No ablation study"
)
STOPPED = "\n".join(f"{line}." if line.startswith("-") else line for line in LIST.split("\n"))
CATS = "The cat sat on the mat. The dog ran away from the house."
DOTS = "See Fig. 3 and Sec. 4.1 for details, e.g. the ablation. It works."
PERCENT = "We get 95.3% accuracy on 10 tasks."
COMPOUND = "A state-of-the-art model-based method works well."
# Stress digits as in a pronouncing dictionary, for the words in which it differs from hyphenation, and some others.
DICTIONARY = """;;; a few words
AWAY  AH0 W EY1
THE  DH AH0
THE(1)  DH IY0
EXPERIMENTS  IH0 K S P EH1 R AH0 M AH0 N T S
IDEA AY0 D IY1 AH0 # a comment
RELEASED  R IY0 L IY1 S T
STUDY  S T AH1 D IY0
ABLATION  AH0 B L EY1 SH AH0 N
PAPER  P EY1 P ER0
METHOD  M EH1 TH AH0 D
DON'T  D OW1 N T
"""


@pytest.mark.parametrize(
    ("text", "words", "sentences", "syllables", "fre", "fkg"),
    [
        (CATS, 13, 2, 13, 115.6375, -1.255),
        (LIST, 17, 1, 26, 60.191765, 9.087059),
        (STOPPED, 17, 4, 26, 73.133015, 4.114559),
        (DOTS, 13, 2, 16, 96.114423, 1.468077),
        (PERCENT, 7, 2, 10, 82.425357, 2.632143),
        (COMPOUND, 6, 1, 11, 45.645, 8.383333),
    ],
)
def test_the_table_of_the_specification(
    text: str, words: int, sentences: int, syllables: int, fre: float, fkg: float
) -> None:
    found = readability(text)
    assert (found.words, found.sentences, found.syllables) == (words, sentences, syllables)
    assert found.fre == pytest.approx(fre, abs=1e-6)
    assert found.fkg == pytest.approx(fkg, abs=1e-6)


@pytest.fixture
def dictionary(tmp_path: Path) -> Path:
    path = tmp_path / "words.dict"
    path.write_text(DICTIONARY, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "syllables", "fre", "fkg"),
    [
        (CATS, 14, 109.1298, -0.3473),
        (PERCENT, 10, 82.4254, 2.6321),
        (DOTS, 16, 96.1144, 1.4681),
        (LIST, 27, 55.2153, 9.7812),
        (STOPPED, 27, 68.1565, 4.8087),
        (COMPOUND, 12, 31.545, 10.35),
    ],
)
def test_a_dictionary_counts_vowels(dictionary: Path, text: str, syllables: int, fre: float, fkg: float) -> None:
    found = readability(text, backend("cmu", dictionary))
    assert found.syllables == syllables
    assert found.fre == pytest.approx(fre, abs=1e-4)
    assert found.fkg == pytest.approx(fkg, abs=1e-4)


def test_the_first_pronunciation_counts_and_unknown_words_are_hyphenated(dictionary: Path) -> None:
    cmu = backend("cmu", dictionary)
    assert cmu.id.startswith("cmu-")
    assert [cmu.count(word) for word in ("The", "idea", "Don't", "don’t", "hyphenation")] == [1, 3, 1, 1, 3]


@pytest.mark.parametrize(
    ("word", "syllables"), [("the", 1), ("made", 1), ("idea", 2), ("queue", 1), ("rhythm", 1), ("95", 1), ("model", 2)]
)
def test_the_rule_counts_groups_of_vowels(word: str, syllables: int) -> None:
    assert backend("rule").count(word) == syllables


def test_backends_have_ids_and_refuse_nonsense(dictionary: Path, tmp_path: Path) -> None:
    assert (backend().id, backend("rule").id) == ("pyphen-en_US", "rule")
    with pytest.raises(EvaluationError, match="needs"):
        backend("cmu")
    with pytest.raises(EvaluationError, match="takes no"):
        backend("rule", dictionary)
    with pytest.raises(EvaluationError, match="'other'"):
        backend("other")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="cannot be read"):
        backend("cmu", tmp_path / "none")
    empty = tmp_path / "empty"
    empty.write_text(";;; nothing\n", encoding="utf-8")
    with pytest.raises(DataError, match="no pronunciation"):
        backend("cmu", empty)


def test_without_markup_a_list_reads_as_if_its_items_had_full_stops() -> None:
    assert readability(clean(LIST)) == readability(STOPPED)
    assert readability(clean(STOPPED)) == readability(STOPPED)


@pytest.mark.parametrize("text", ["", "  \n", "...!", "-- ()"])
def test_a_text_without_words_has_no_score(text: str) -> None:
    found = readability(text)
    assert (found.words, found.sentences, found.fre, found.fkg) == (0, 0, None, None)


def test_scores_are_not_clipped() -> None:
    assert (readability("Go on now.").fre or 0) > 100
    assert (readability("Incomprehensibilities internationalization overgeneralization").fre or 0) < 0
