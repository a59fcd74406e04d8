"""A judge that goes by what it is shown, for runs over whole review sets: replies follow from a prompt's words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from referee.evidence import split_sentences
from referee.evidence.stems import stems
from tests.support import ChatRequest, Script

MOST_TOPICS = 20
TOPIC_CHARS = 300
# Two topics of which half of the shorter one's words agree are one; a third of them make a weak match.
STRONG, WEAK = 0.5, 0.34
FEWEST_WORDS = 3

_ASKS = re.compile(
    r"\b(?:should|could|would|please|add|compare|report|clarify|why|how|missing|lacks?)\b", re.IGNORECASE
)
_EXACT = re.compile(r"\b(?:table|figure|fig|section|sec|eq|equation|lemma|theorem|line|page|[A-Z]{3,})\b|\d")
_LISTED = re.compile(r"^([ab]\d+): (.*)$", re.MULTILINE)
_RULES = re.compile(r"^\[(c\d+)\] \((\w+)\) (.*)$", re.MULTILINE)
_NUMBERED = re.compile(r"^\[(s\d+)\] (.*)$", re.MULTILINE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def shown(tag: str, user: str) -> str:
    """What stands inside the first ``<tag>``."""
    found = re.search(rf"<{tag}>\n(.*?)\n?</{tag}>", user, re.DOTALL)
    assert found is not None, f"the prompt shows no <{tag}>"
    return found[1]


def every(tag: str, user: str) -> dict[str, str]:
    """All delimited texts of a tag by their ids."""
    return dict(re.findall(rf'<{tag} id="([^"]*)">\n(.*?)\n</{tag}>', user, re.DOTALL))


def sentences(text: str) -> list[str]:
    """The sentences of a text, line by line."""
    return [
        one for line in text.splitlines() for one in split_sentences(line.strip()) if len(one.split()) >= FEWEST_WORDS
    ]


@lru_cache(maxsize=100_000)
def words_of(text: str) -> frozenset[str]:
    """The stems of a text."""
    return frozenset(stems(text))


def topics(user: str) -> dict[str, Any]:
    """The review's sentences themselves, the longest first, in the review's order."""
    found = sentences(shown("review", user))
    kept = sorted(sorted(range(len(found)), key=lambda n: -len(found[n]))[:MOST_TOPICS])
    return {"topics": [found[n][:TOPIC_CHARS] for n in kept]}


def match(user: str) -> dict[str, Any]:
    """Strengths by words in common, each pair once; no more than the prompt allows."""
    first = {name: words_of(text) for name, text in _LISTED.findall(shown("first", user))}
    second = {name: words_of(text) for name, text in _LISTED.findall(shown("second", user))}
    most = int(re.findall(r"Give at most (\d+) pairs", user)[0])
    shares = {
        (a, b): len(own & other) / max(1, min(len(own), len(other)))
        for a, own in first.items()
        for b, other in second.items()
    }
    named = sorted((share, pair) for pair, share in shares.items() if share >= WEAK)[-most:]
    return {
        "pairs": [
            {"first": a, "second": b, "strength": "strong" if share >= STRONG else "weak"} for share, (a, b) in named
        ]
    }


def insights(user: str) -> dict[str, Any]:
    """Each sentence that asks for something; it is specific where it names a place or a number."""
    most = int(re.findall(r"List its insights, (\d+) at most", user)[0])
    asking = [one for one in sentences(shown("review", user)) if _ASKS.search(one)]
    return {
        "insights": [
            {
                "quote": one[:400],
                "kind": "suggestion",
                "reason": "it asks",
                "specific": bool(_EXACT.search(one)),
                "feasible": "report" in one.lower() or "add" in one.lower(),
                "steps": False,
            }
            for one in asking[:most]
        ]
    }


def depth(user: str) -> dict[str, Any]:
    """By how often a respect's words occur, with the first sentence that holds one."""
    review = shown("review", user)
    said = [one for line in review.splitlines() for one in split_sentences(line.strip())]
    text = review.lower()
    about = {
        "literature": ("related work", "prior", "previous", "et al", "literature"),
        "logic": ("because", "however", "therefore", "contradict", "unclear"),
        "method": ("experiment", "baseline", "ablation", "seed", "hyperparameter"),
        "results": ("result", "table", "figure", "significant", "improvement"),
        "theory": ("theorem", "proof", "lemma", "assumption", "bound"),
    }
    return {
        respect: {
            "finding": "by its words",
            "quote": next(
                (f"{one} "[:320].rpartition(" ")[0] for one in said if any(word in one.lower() for word in words)), ""
            ),
            "score": min(3, sum(text.count(word) for word in words)),
        }
        for respect, words in about.items()
    }


def adherence(user: str) -> dict[str, Any]:
    """A rule is met as far as its words occur in the review."""
    text = words_of(shown("review", user))
    said: dict[str, Any] = {}
    for name, mark, rule in _RULES.findall(shown("rules", user)):
        share = len(words_of(rule) & text) / max(1, len(words_of(rule)))
        met: dict[str, Any] = (
            {"score": str(round(3 * share))} if mark == "judgement" else {"met": "yes" if share > 0.3 else "no"}
        )
        said[name] = {"finding": f"{share:.2f} of its words", **met}
    return said


def points(user: str) -> dict[str, Any]:
    """Each sentence is a point; those with a number or a place are claims, the others opinions."""
    found = _NUMBERED.findall(shown("review", user))
    return {
        "points": [
            {"sentences": [name], "statement": words[:250], "kind": "claim" if _EXACT.search(words) else "opinion"}
            for name, words in found
        ]
    }


def questions(user: str) -> dict[str, Any]:
    """The point is the question, and its halves the sub-questions."""
    point = shown("point", user)
    half = point.split()
    halves = [" ".join(half[: len(half) // 2]), " ".join(half[len(half) // 2 :])]
    return {"question": f"Is it so: {point}"[:300], "sub_questions": [h for h in halves if h] or [point], "absent": []}


def answers(user: str) -> dict[str, Any]:
    """The shown sentence with most words of the question; nothing where it has fewer than two."""
    wanted = words_of(shown("question", user))
    best = max(
        (
            (len(wanted & words_of(one)), name, one)
            for name, text in every("passage", user).items()
            for one in sentences(text.partition("\n")[2])
            if len(one) <= TOPIC_CHARS
        ),
        default=(0, "", ""),
    )
    if best[0] < 2:
        return {"quotes": [], "found": False, "answer": ""}
    return {"quotes": [{"passage": best[1], "quote": best[2]}], "found": True, "answer": f"It says: {best[2]}"[:300]}


def rebuttal(user: str) -> dict[str, Any]:
    """Valid where a quotation shares a number with the point, invalid where it has others; else undecided."""
    numbers, quotations = set(_NUMBER.findall(shown("point", user))), every("quotation", user)
    for name, quote in quotations.items():
        if found := set(_NUMBER.findall(quote)):
            said = "valid" if numbers & found else "invalid"
            return {"rebuttal": "by its numbers", "quotation": name, "verdict": said, "reason": "its numbers"}
    return {"rebuttal": "no number", "quotation": "none", "verdict": "undecided", "reason": "no number"}


SAYS: Mapping[str, Any] = {
    "eval/topics": topics,
    "eval/match": match,
    "eval/insights": insights,
    "eval/depth": depth,
    "eval/adherence": adherence,
    "eval/points": points,
    "eval/questions": questions,
    "eval/answers": answers,
    "eval/rebuttal": rebuttal,
}


def script() -> Script:
    """The judge behind the server."""

    def answering(said: Any) -> Any:
        return lambda request: said(_user(request))

    return Script({name: answering(said) for name, said in SAYS.items()}, otherwise="fail")


def _user(request: ChatRequest) -> str:
    return next(message.text for message in request.messages if message.role == "user")
