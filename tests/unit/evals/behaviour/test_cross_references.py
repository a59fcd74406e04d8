import pytest

from referee.evals.behaviour import Target, cross_references, xref_bin, xref_density
from referee.evals.behaviour.cross_references import distinct

CORE = [
    "Figure 3",
    "Fig. 3",
    "fig 3a",
    "Figs. 2-4",
    "Fig.3",
    "Figure #3",
    "(Fig. 3)",
    "Eq. (2)",
    "Eq.(2)",
    "Eq (12a)",
    "eqn 7",
    "equations (3)-(5)",
    "Table 2a",
    "Tab. 1",
    "Tables 1, 2",
    "Sec. 4.1",
    "Section 4.1.2",
    "subsection 3.2",
    "sub-section 3",
    "§4.1",
    "Section~3",
    "Theorem 1",
    "Thm. 2.3",
    "Lemma 3",
    "Corollary 1",
    "Definition 4",
    "line 123",
    "lines 12-15",
    "l. 45",
    "p. 4",
    "pp. 4-5",
    "page 7.",
    "dataset 2",
    "data set 12",
]
EXT = [
    "Algorithm 1",
    "Alg. 2",
    "Appendix B",
    "App. C.2",
    "Appendix A.3",
    "Proposition 2",
    "Assumption 3",
    "Remark 1",
]
NONE = [
    "Figure out",
    "config 3",
    "deadline 12",
    "timeline 2020",
    "baseline 3",
    "stable 3",
    "ICLR 2024",
    "dataset 2020",
    "top 5",
    "p = 0.05",
    "p < 0.01",
    "S1:",
    "W2",
    "P1",
    "S 3",
    "P 3",
    "2 tables",
    "3 figures",
    "in table form",
    "section on related work",
    "5x5 matrix",
    "line search 3",
    "cor 0.9",
    "figure 10% better",
    "page limit of 9",
    "the app a user",
    "App store",
    "application B",
    "happen A",
]
SENTENCE = (
    "In Fig. 3 and Table 2a the gain over Eq. (2) is unclear (Section 4.1, lines 12-15); see also Appendix B and "
    "Theorem 1. S1: strong. We use ICLR 2024 rules, p < 0.05."
)


@pytest.mark.parametrize("text", CORE)
def test_a_reference(text: str) -> None:
    found = cross_references(text)
    assert (found.xref, found.xref_ext) == (1, 0)


@pytest.mark.parametrize("text", EXT)
def test_a_reference_that_is_reported_apart(text: str) -> None:
    found = cross_references(text)
    assert (found.xref, found.xref_ext) == (0, 1)


@pytest.mark.parametrize("text", NONE)
def test_no_reference(text: str) -> None:
    found = cross_references(text)
    assert (found.xref, found.xref_ext) == (0, 0)


def test_the_sentence_of_the_specification() -> None:
    found = cross_references(SENTENCE)
    assert (found.xref, found.xref_ext) == (6, 1)
    kinds = [target.kind for target in found.core]
    assert kinds == ["figure", "table", "equation", "section", "line", "theorem"]
    assert found.extra == (Target("appendix", "b"),)


def test_a_known_false_positive_counts() -> None:
    assert cross_references("on line 3 figures are blurry").core == (Target("line", "3"),)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("Eq. ( 12A )", Target("equation", "12a")),
        ("SUB-SECTION 3.2", Target("section", "3.2")),
        ("§§ 4", Target("section", "4")),
        ("pp. 4", Target("page", "4")),
        ("s. 3", Target("section", "3")),
        ("thms 2", Target("theorem", "2")),
        ("corollaries 1", Target("corollary", "1")),
        ("databases 3", Target("database", "3")),
        ("data sets 3", Target("dataset", "3")),
        ("Fig. no. 7", Target("figure", "7")),
        ("\u017fection 3", Target("section", "3")),
        ("l\u0131ne 3", Target("line", "3")),
    ],
)
def test_what_is_pointed_at(text: str, target: Target) -> None:
    assert cross_references(text).core == (target,)


def test_the_same_part_twice_is_two_mentions_of_one_target() -> None:
    found = cross_references("Fig. 2, figure (2), Figure 2b")
    assert (found.xref, distinct(found.core)) == (3, 2)


def test_density_and_bins() -> None:
    assert xref_density(6, 31) == pytest.approx(600 / 31)
    assert xref_density(0, 0) is None
    assert [xref_bin(n) for n in (0, 1, 2, 5, 6, 60)] == ["0", "1", "2-5", "2-5", ">5", ">5"]
