"""Fields of an entry by what the printed text says."""

from __future__ import annotations

import pytest

from referee.papers.bibliography import parse_entry


@pytest.mark.parametrize(
    ("text", "title", "year"),
    [
        ("Ada Lo and Bo Li. 2019. Wild models. CoRR, abs/1906.02569.", "Wild models", 2019),
        ("Ada Lo. 2018. The 2016 process. J. Res., 19.", "The 2016 process", 2018),
        ("Ada Lo. 2020. What to do? In Findings of Us.", "What to do?", 2020),
        ("Ada Lo. 2023. Why? a study of it. CoRR.", "Why? a study of it", 2023),
        ("Ada Lo. 2018. Rules vs. models of it. In X.", "Rules vs. models of it", 2018),
        ("Ada Lo. Deep things, volume 1. Press, 2016.", "Deep things", 2016),
        ("Ada Lo. A thing. ArXiv, abs/2006.08656, 2020.", "A thing", 2020),
        ("Nothing here", None, None),
        (
            "A. Lo and B. Li. Jackknives: Another look. *The Annals of It*, 7(1):1–26, 1979.",
            "Jackknives: Another look",
            1979,
        ),
        ("Lo, A. (2001). *Growth of the p53 gene*. Nature Press.", "Growth of the p53 gene", 2001),
        ("Lo, A. (2002). Bread for *Mus musculus* hosts. **Cell**, 3(2).", "Bread for Mus musculus hosts", 2002),
    ],
)
def test_title_and_year(text: str, title: str | None, year: int | None) -> None:
    found = parse_entry(text)
    assert (found.title, found.year) == (title, year)


def test_an_abbreviation_ends_no_title() -> None:
    assert parse_entry("Ada Lo. 2018. Rules vs. models of it. In X.").title == "Rules vs. models of it"


@pytest.mark.parametrize(
    ("text", "first", "title"),
    [
        ("OpenAI. GPT-4 technical report. arXiv preprint arXiv:2303.08774, 2023.", "OpenAI", "GPT-4 technical report"),
        (
            "Planck Collaboration VI. Planck 2018 results. VI. Cosmological parameters. A&A, 641, A6, 2020.",
            "Planck Collaboration VI",
            "Planck 2018 results. VI. Cosmological parameters",
        ),
        (
            "G. Aad et al. (ATLAS Collaboration), Observation of a new particle, Phys. Lett. B 716, 1 (2012).",
            "G. Aad et al. (ATLAS Collaboration)",
            "Observation of a new particle",
        ),
        ("A. B. Lo, C. Li, and D. Wu, Phys. Rev. Lett. 116, 061102 (2016).", "A. B. Lo", None),
        (
            "The ATLAS Collaboration. A new thing seen. Phys. Lett., 2012.",
            "The ATLAS Collaboration",
            "A new thing seen",
        ),
    ],
)
def test_organisations_and_the_manner_of_physics(text: str, first: str, title: str | None) -> None:
    entry = parse_entry(text)
    assert (entry.authors[0], entry.title) == (first, title)
