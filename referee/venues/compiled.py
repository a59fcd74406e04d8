"""What a compiled venue takes from its page beside the criteria: the boxes, and the rule on language models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from referee.evidence.sentences import split_sentences
from referee.schemas.venue import (
    Aspect,
    Fact,
    FactConfidence,
    FormField,
    LlmPolicy,
    LlmPolicyStatus,
    Option,
    Source,
    VenueForm,
)
from referee.venues.page import GuidelinePage, trace
from referee.venues.page.page_types import FieldDraft, FormDraft

_ATTESTED = re.compile(
    r"\b(?:code of conduct|acknowledge(?:ment)?|certif(?:y|ication)|attest\w*|declaration|i (?:have|agree|confirm|will)"
    r"|author identity|conflicts? of interest)\b",
    re.IGNORECASE,
)
_LONGEST_ASKS = 600
_FEWEST = {"score": 2, "choice": 2, "flag": 1}
_BOXES = {
    "summary": ("Summary", "Summarise what the submission does and claims."),
    "strengths": ("Strengths", "Say what is good about the submission, with reasons."),
    "weaknesses": ("Weaknesses", "Say what is wrong with the submission, where, and what would settle it."),
    "questions": ("Questions", "Ask the authors what could change your judgement."),
}


@dataclass(frozen=True)
class FormBoxes:
    """Fields with the sources they cite; ``origin`` says in a sentence where they come from."""

    fields: tuple[FormField, ...]
    overall: str | None
    accept_at: float | None
    origin: str
    sources: Mapping[str, Source]
    unknown: tuple[str, ...] = ()


def drafted_fields(draft: FormDraft, paper_type: str = "") -> tuple[FieldDraft, ...]:
    """The boxes of the page for one type of paper, each name once."""
    taken: dict[str, FieldDraft] = {}
    for field in draft.fields:
        if field.paper_type in ("", paper_type):
            taken.setdefault(field.name, field)
    return tuple(taken.values())


def page_boxes(drafts: Sequence[FieldDraft], aspects: Mapping[str, Aspect], fact: Fact) -> FormBoxes:
    """The boxes the page shows. A form without a box for text gets four, and says so.

    Args:
        drafts: What code read from the page; at least one.
        aspects: What unclear scores measure, by field name.
        fact: How sure the page is.
    """
    fields = [_field(draft, aspects.get(draft.name, draft.aspect), fact) for draft in drafts]
    unknown = ["which fields the form requires, and the platform's own names for them"]
    if not any(field.kind == "text" and not field.attestation for field in fields):
        fields = [*_text_boxes(tuple(field.name for field in fields)), *fields]
        unknown.append("the text fields: the page shows none, so four usual ones were added")
    overall = [field for field in fields if field.kind == "score" and field.aspect == "overall"]
    if not any(field.kind == "score" for field in fields):
        unknown.append("scores and their scales: the page shows none, and none is invented")
    elif len(overall) != 1:
        several = f"; it calls {len(overall)} of them overall" if overall else ""
        unknown.append(f"which score is the overall rating: the page does not say{several}")
    if len(overall) == 1:
        unknown.append("which value of the overall rating leans to acceptance")
    name = overall[0].name if len(overall) == 1 else None
    origin = f"The form was read from the page: {len(drafts)} fields."
    return FormBoxes(tuple(fields), name, None, origin, {}, tuple(unknown))


def borrowed_boxes(lender: VenueForm) -> FormBoxes:
    """The boxes of a venue that the user named, marked as borrowed."""
    note = f"borrowed from the form of {lender.id}, as the user asked"
    keys = {key: f"{lender.id}: {key}" for field in lender.fields for key in field.fact.sources}
    fields = tuple(
        field.model_copy(
            update={
                "fact": Fact(confidence="memory", sources=tuple(keys[key] for key in field.fact.sources), note=note)
            }
        )
        for field in lender.fields
    )
    sources = {keys[key]: lender.sources[key] for key in keys}
    origin = f"The form is borrowed from {lender.id} ({lender.name}): whether the venue uses it is not known."
    return FormBoxes(fields, lender.overall, lender.accept_at, origin, sources, ("the form: it is borrowed",))


def plain_boxes() -> FormBoxes:
    """Four boxes for text and no score: what is left where the page shows no form and none is borrowed."""
    unknown = (
        "the form: the page shows none, so there are four usual boxes for text",
        "scores and their scales: none is invented",
    )
    origin = "The page shows no form: four text boxes, no score."
    return FormBoxes(_text_boxes(()), None, None, origin, {}, unknown)


def _text_boxes(taken: Sequence[str]) -> tuple[FormField, ...]:
    fact = Fact(confidence="memory", note="added by referee: the page shows no box for text")
    return tuple(
        FormField(name=name, title=title, kind="text", asks=asks, fact=fact)
        for name, (title, asks) in _BOXES.items()
        if name not in taken
    )


def _field(draft: FieldDraft, aspect: Aspect, fact: Fact) -> FormField:
    """One box. A scale with fewer than two values is none: the box takes text."""
    options = tuple({option.value: Option(value=option.value, label=option.label) for option in draft.options}.values())
    shown = {(option.value, option.label) for option in draft.options}
    twice, few = len(shown) - len(options), len(options) < _FEWEST.get(draft.kind, 0)
    notes = [
        f"{twice} option(s) of the page have the value of another one and are left out" if twice else "",
        f"the page shows a {draft.kind} with {len(options)} option(s): the box takes text" if few else "",
    ]
    if told := "; ".join(filter(None, (fact.note, *notes))):
        fact = fact.model_copy(update={"note": told})
    kind = draft.kind if len(options) >= _FEWEST.get(draft.kind, 0) else "text"
    if kind == "score" and any(isinstance(option.value, str) for option in options):
        kind = "choice"
    return FormField(
        name=draft.name,
        title=draft.title,
        kind=kind,
        asks=_asks(draft),
        options=options if kind != "text" else (),
        aspect=aspect if kind == "score" or (kind == "choice" and aspect != "other") else None,
        attestation=bool(_ATTESTED.search(draft.title)),
        stage=draft.stage,
        fact=fact,
    )


def _asks(draft: FieldDraft) -> str:
    """The page's own words on the box, whole sentences as far as they go."""
    words = " ".join(draft.words.split()) or draft.title or draft.name
    if len(words) <= _LONGEST_ASKS:
        return words
    cut = words[:_LONGEST_ASKS]
    return f"{cut[: cut.rfind('. ') + 1] or cut.rpartition(' ')[0]} ..."


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
    quotes = list(_sentences(page))
    about = [quote for quote in quotes if len(quote) <= _LONGEST and trace(quote, page)]
    long = sum(len(quote) > _LONGEST for quote in quotes)
    unread = f"; {long} sentence(s) of more than {_LONGEST} characters on language models are not read" if long else ""
    ruling = [quote for quote in about if _rules_for_reviewers(quote)]
    found = [next((q for q in ruling if _is_near(pattern, q)), "") for pattern in (_FORBIDS, _ALLOWS, _DISCLOSES)]
    forbids, allows, discloses = found
    status = _status(forbids, allows, discloses)
    if status == "unknown":
        said = "The page names language models, but no rule for reviewers could be read from it."
        none = "The page says nothing about language models in reviewing."
        fact = Fact(confidence=confidence, sources=(source,), note=f"searched on the page{_quoted(about[:1])}{unread}")
        return LlmPolicy(status=status, sentence=said if quotes else none, applies_to="reviewers", fact=fact)
    note = f"status read by a rule from the quoted sentences: compare them with the page{unread}"
    ruled = [quote for quote in about if quote in found]
    fact = Fact(confidence=confidence, sources=(source,), note=note)
    return LlmPolicy(status=status, sentence=policy_sentence(ruled), applies_to="reviewers", fact=fact)


def policy_sentence(quotes: Iterable[str]) -> str:
    """The page's sentences on language models, each once."""
    return f"The page says: {' '.join(f'“{quote}”' for quote in dict.fromkeys(quotes))}"


def _sentences(page: GuidelinePage) -> Iterable[str]:
    for line in page.text.splitlines():
        plain = re.sub(r"^\s*(?:#+|[-*•]|\d+[.)])\s+", "", line).strip()
        if not _MODELS.search(plain):
            continue
        for sentence in split_sentences(plain):
            quote = " ".join(sentence.split())
            if _MODELS.search(quote) and not quote.endswith("?"):
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
