from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from referee.evidence import QuotationIndex
from referee.schemas.point import PointCheck, PointEvidence, ReviewPoint

from .scene_paper import paper

INDEX = QuotationIndex(paper())
LABELS = "Training does not require any labels"
GAIN = "improves by 2.5% over GPT-4"
ACCURACY = "Our model reaches an accuracy of 0.78 on the test set"
INVENTED = "The authors sold the network to a bank in Basel"
QUOTES = (
    LABELS,
    GAIN,
    ACCURACY,
    INVENTED,
    "accuracy of 0.78 on the test set, which is higher",
    "accuracy of 0.87 on the test set",
)


def quoted(quote: str, *, role: str = "shows", section_id: str = "s4", status: str = "not_found") -> PointEvidence:
    return PointEvidence.model_validate(
        {"section_id": section_id, "section": section_id, "quote": quote, "role": role, "status": status}
    )


def point(point_id: str = "p1", *quotes: str, **changes: Any) -> ReviewPoint:
    values: dict[str, Any] = {
        "id": point_id,
        "claim": "The gain rests on one test set",
        "polarity": "weakness",
        "kind": "unsupported",
        "severity": "major",
        "threatens": "C1",
        "source": "section",
        "evidence": tuple(quoted(quote) for quote in quotes),
        **changes,
    }
    return ReviewPoint.model_validate({"raised_severity": values["severity"], **values})


def check(verdict: str, *passages: PointEvidence, **changes: Any) -> PointCheck:
    return PointCheck.model_validate({"verdict": verdict, "by": "m1", "passages": passages, **changes})


def same_words(a: str, b: str) -> float:
    first, second = set(a.split()), set(b.split())
    return len(first & second) / max(1, len(first | second))


@st.composite
def raised_points(draw: st.DrawFn, max_size: int = 9) -> list[ReviewPoint]:
    ids = draw(st.lists(st.integers(1, 40).map("p{}".format), unique=True, min_size=1, max_size=max_size))
    absence = {"what": "a seed study", "terms": ("random seed",)}
    return [
        point(
            point_id,
            *draw(st.lists(st.sampled_from(QUOTES), max_size=3, unique=True)),
            claim=draw(st.sampled_from(("one test set", "one test set only", "no labels are needed"))),
            polarity=draw(st.sampled_from(("weakness", "weakness", "strength", "question"))),
            kind=draw(st.sampled_from(("error", "contradiction", "missing", "novelty", "clarity"))),
            severity=draw(st.sampled_from(("fatal", "major", "minor", "note"))),
            threatens=draw(st.sampled_from((None, "C1", "C2", "C9"))),
            criterion=draw(st.sampled_from(((), ("g1",), ("g2",)))),
            fix={"kind": draw(st.sampled_from(("none", "text")))},
            checkable=draw(st.sampled_from(("paper", "literature"))),
            absence=draw(st.sampled_from((None, absence))),
        )
        for point_id in ids
    ]


@st.composite
def checks(draw: st.DrawFn) -> PointCheck:
    passages = draw(
        st.lists(
            st.builds(
                quoted,
                st.sampled_from(QUOTES),
                role=st.sampled_from(("shows", "contradicts")),
                status=st.sampled_from(("exact", "not_found")),
            ),
            max_size=2,
        )
    )
    verdict = draw(st.sampled_from(("stands", "weakened", "refuted", "undecidable", "unchecked")))
    return check(verdict, *passages, conceded=draw(st.booleans()), out_of_scope=draw(st.booleans()))
