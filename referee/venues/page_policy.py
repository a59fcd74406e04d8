"""What a page says to reviewers about language models: its own sentences, and the status a rule reads from them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from referee.evidence.sentences import split_sentences
from referee.schemas.venue import Fact, FactConfidence, LlmPolicy, LlmPolicyStatus
from referee.venues.page import GuidelinePage, trace

_MODELS = re.compile(
    r"\b(?:LLMs?|(?:large )?language models?|chat ?gpt|gpt-?\d|chatbots?|copilot|gen ?AI"
    r"|generative (?:AI|models?|tools?|assistance)|AI-generated"
    r"|(?:AI|automated)(?:-based)? (?:writing )?(?:assistants?|assistance|tools?|systems?|models?))\b",
    re.IGNORECASE,
)
_REVIEWER = re.compile(r"\b(?:review\w*|you|your|referees?|chairs?)\b", re.IGNORECASE)
_AUTHOR = re.compile(r"\bauthors?\b", re.IGNORECASE)
_FORBIDS = re.compile(
    r"\b(?:not (?:be )?(?:use|used|allowed|permitted|acceptable|submit|share|upload|enter|feed|rely|paste|put)"
    r"|not (?:be )?writ(?:e|ten)|must not|may not|cannot|can ?not|should not|do not"
    r"|don['’]t|never|prohibit\w*|forbid\w*|forbidden|neither reviewers"
    r"|banned|refrain)\b",
    re.IGNORECASE,
)
_ALLOWS = re.compile(
    r"\b(?:may (?:be )?(?:use|used)|can (?:be )?(?:use|used)|(?:is|are) (?:allowed|permitted|fine)"
    r"|(?:is|are) acceptable|acceptable to|free to use|(?<!not )(?:allowed|permitted) to use)\b",
    re.IGNORECASE,
)
_DISCLOSES = re.compile(r"\b(?:disclos\w*|declar\w*|acknowledg\w*|state (?:that|whether|how))\b", re.IGNORECASE)
_USE = re.compile(
    r"\b(?:us(?:e|es|ed|ing)|wr(?:ite|itten|iting|ote)|upload\w*|generat\w*|submit\w*|shar\w+|rely\w*|assist\w*)", re.I
)
_PARTLY = re.compile(
    r"\b(?:first draft|non-privacy|unless|except|without|only|solely|entire(?:ly)?|into|public(?:ly)?)\b", re.IGNORECASE
)
_LONGEST = 600
_NEAR = 100


def read_policy(page: GuidelinePage, *, source: str, confidence: FactConfidence) -> LlmPolicy:
    """The rule of the page on language models in reviewing, quoted; ``unknown`` where it has none for reviewers.

    A status needs a sentence about such models that speaks to reviewers and forbids, allows or wants disclosure.
    Forbidding a part of the work, and forbidding and allowing together, are ``restricted``. Sentences that only mention
    such models decide nothing.

    Args:
        page: The page.
        source: The key of the page among the form's sources.
        confidence: How sure it is that the page is the venue's.
    """
    about = [quote for quote in _sentences(page) if trace(quote, page)]
    ruling = [quote for quote in about if _rules_for_reviewers(quote)]
    found = [next((q for q in ruling if _is_near(pattern, q)), "") for pattern in (_FORBIDS, _ALLOWS, _DISCLOSES)]
    forbids, allows, discloses = found
    status = _status(forbids, allows, discloses)
    if status == "unknown":
        said = "The page names language models, but no rule for reviewers could be read from it."
        none = "The page says nothing about language models in reviewing."
        fact = Fact(confidence=confidence, sources=(source,), note=f"searched on the page{_quoted(about[:1])}")
        return LlmPolicy(status=status, sentence=said if about else none, applies_to="reviewers", fact=fact)
    note = "status read by a rule from the quoted sentences: compare them with the page"
    quotes = [quote for quote in about if quote in found]
    sentence = f"The page says: {' '.join(f'“{quote}”' for quote in dict.fromkeys(quotes))}"
    fact = Fact(confidence=confidence, sources=(source,), note=note)
    return LlmPolicy(status=status, sentence=sentence, applies_to="reviewers", fact=fact)


def _sentences(page: GuidelinePage) -> Iterable[str]:
    for line in page.text.splitlines():
        plain = re.sub(r"^\s*(?:#+|[-*•]|\d+[.)])\s+", "", line).strip()
        if not _MODELS.search(plain):
            continue
        for sentence in split_sentences(plain):
            quote = " ".join(sentence.split())
            if _MODELS.search(quote) and len(quote) <= _LONGEST and not quote.endswith("?"):
                yield quote


def _rules_for_reviewers(quote: str) -> bool:
    """Whether it speaks of using such a model, and to reviewers: a rule for authors alone is none for them."""
    speaks_to_them = _REVIEWER.search(quote) and not (_AUTHOR.search(quote) and "review" not in quote.lower())
    return bool(speaks_to_them and _USE.search(quote))


def _is_near(pattern: re.Pattern[str], quote: str) -> bool:
    """Whether what forbids, allows or wants disclosure stands by the word for a model, and not elsewhere in a list."""
    models = [found.span() for found in _MODELS.finditer(quote)]
    rules = [found.span() for found in pattern.finditer(quote)]
    return any(max(a, b) - min(end, stop) <= _NEAR for a, end in models for b, stop in rules)


def _status(forbids: str, allows: str, discloses: str) -> LlmPolicyStatus:
    """The status from the sentences that forbid, allow and want disclosure; empty where there is none."""
    if forbids:
        return "restricted" if allows or _PARTLY.search(forbids) else "forbidden"
    if discloses:
        return "disclose"
    return "allowed" if allows else "unknown"


def _quoted(quotes: list[str]) -> str:
    return f"; it says: “{quotes[0]}”" if quotes else ""
