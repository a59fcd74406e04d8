"""Sentences of a paper that speak to a reviewing model. They stay in the text: they are data like all the rest."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from referee.evidence.sentences import split_sentences
from referee.schemas.paper import Box, Certainty, Finding, Paper

_MODEL = r"(?:A\.?I\.?|L\.?L\.?M|(?:large )?language model|GPT|ChatGPT|Claude|Gemini|chat ?bot)s?"
_MACHINE = rf"(?:(?:{_MODEL})(?:[- ](?:based|powered|generated))?|automated|automatic|machine)"
_JUDGE = (
    r"(?:reviewer|referee|reviewing (?:model|system|assistant|agent|tool)|review (?:model|system|agent|assistant)"
    r"|evaluator|assistant|agent|grader|judge)s?"
)
_THIS = r"(?:this|the present|our)\s+(?:paper|submission|manuscript|work|article)"
_START = (
    r"(?:^|[.:;!?,(\[\"\u201c\u2014*]\s*|\b(?:please|now|then|you must|you should|you shall|you will|always|kindly)\s+)"
)
_ALSO = r"(?:also\s+|only\s+|now\s+)?"
_PRAISE = (
    r"(?:positive|favou?rable|glowing|very good|excellent|high|higher|highest|maximum|top|perfect|enthusiastic"
    r"|strong(?:ly)? positive|best possible)"
)
_RATED = r"(?:reviews?|scores?|ratings?|evaluations?|assessments?|feedback|recommendations?|marks?)"
_FAULT = (
    r"(?:negatives?|negative (?:points|aspects|comments|remarks)|weakness(?:es)?|flaws?|limitations?|criticisms?"
    r"|shortcomings?|problems|concerns)"
)
_GIVE = r"(?:give|write|provide|output|generate|produce|return|issue|submit|assign|award|respond with|reply with)"
_SILENCE = r"(?:mention|highlight|list|point out|report|includ|discuss|stat|rais|identify|nam|critici[sz])"

_OVERRIDES = (
    r"\b(?:ignore|disregard|forget|override|bypass|discard)\b(?:\s+\w+){0,3}?\s+"
    r"(?:previous|prior|above|preceding|earlier|your|system|original|all)\b(?:\s+\w+){0,3}?\s+"
    r"(?:instructions?|prompts?|directions?|directives?|commands?|guidelines?)\b",
    r"(?:忽略|无视|忽視|無視)[^。.]{0,12}(?:指令|指示|提示|要求)",
    r"(?:指示|命令|プロンプト)を?(?:すべて|全て)?無視",
    r"\bignor(?:ez|a|e|iere(?:n Sie)?)\s+(?:\w+\s+){0,3}"
    r"(?:instructions|instrucciones|instruções|istruzioni|Anweisungen)\b",
)
_ADDRESSES = (
    rf"{_START}(?:(?:important )?(?:note|notice|attention|message|instructions?)\s+|dear\s+|hey\s+|hello\s+)?"
    rf"(?:to\s+|for\s+)?(?:all\s+|any\s+|the\s+)*{_MACHINE}[- ]{_JUDGE}\s*[:,!](?!\s*(?:and|or|such|which|we|it)\b)",
    rf"\b(?:note|attention|message|instructions?|notice|reminder)\s+(?:to|for)\s+(?:all\s+|any\s+|the\s+)*"
    rf"(?:{_MACHINE}[- ]{_JUDGE}|{_MODEL})\s*[:!]",
    rf"\b(?:if|when|since|because|as)\s+you(?:\s+are|'re)\s+(?:an?\s+|the\s+)(?:{_MACHINE}(?:[- ]{_JUDGE})?)\b",
    rf"{_START}as\s+(?:an?|the)\s+{_MACHINE}[- ]{_JUDGE},?\s+"
    r"(?:you|please|give|write|rate|assign|recommend|do not|ignore|always)\b",
    rf"\b(?:any|every|all|the)\s+{_MACHINE}[- ]?{_JUDGE}?\s+(?:reading|reviewing|processing|evaluating|assessing)\s+"
    rf"{_THIS}\s+(?:must|should|shall|(?:is|are) (?:instructed|required|asked))\b",
    rf"\b(?:for|to)\s+{_MODEL}(?:\s+reviewers?)?\s*:\s*(?:ignore|give|write|please|this|rate|recommend|do)\b",
)
_STRICT, _LOOSE = rf"{_START}{_ALSO}", r"\b"
_DEMANDS = (
    rf"{_GIVE}\s+(?:\w+\s+){{0,5}}?{_PRAISE}\s+(?:\w+\s+){{0,2}}?{_RATED}\b",
    rf"(?:do not|don't|never|avoid|refrain from)\s+(?:\w+\s+){{0,2}}?{_SILENCE}\w*\s+(?:\w+\s+){{0,3}}?{_FAULT}\b",
    r"(?:recommend|vote for|suggest|advise|endorse|argue for|conclude with)\s+(?:an?\s+|its\s+|the\s+|immediate\s+"
    r"|strong\s+|clear\s+|\"|')*(?:accept|acceptance)\b(?!\s+(?:rate|criteri|test|prob|ratio|region))",
    rf"(?:accept|strongly accept|praise|champion)\s+{_THIS}\b",
    rf"(?:rate|score|grade)\s+(?:{_THIS}|it|this)\b[^.]{{0,60}}?"
    r"(?:\b(?:10|9|8)\s*(?:/|out of)\s*10\b"
    r"|\b(?:highest|maximum|strong accept|excellent|highly|favou?rably|positively)\b)",
    rf"(?:emphasi[sz]e|stress|highlight|praise|mention only|focus only on|list only|report only)\s+(?:\w+\s+){{0,3}}?"
    rf"(?:exceptional|strengths|outstanding|novelty)\b[^.]{{0,80}}"
    rf"\b(?:{_THIS}|review\b|score\b|accept\w*)",
)
_COMMANDS = (
    rf"\b(?:you|{_MACHINE}[- ]{_JUDGE}|{_MODEL})\s+"
    r"(?:must|should|shall|have to|are (?:required|instructed|asked) to)\s+"
    rf"(?:\w+\s+){{0,2}}?(?:accept|recommend accept\w*|praise|give\s+(?:\w+\s+){{0,3}}?{_PRAISE})\b",
)


def _any(patterns: tuple[str, ...], before: str = "") -> re.Pattern[str]:
    return re.compile("|".join(f"{before}(?:{pattern})" for pattern in patterns), re.IGNORECASE)


OVERRIDE = _any(_OVERRIDES)
"""An order to set instructions aside."""

ADDRESS = _any(_ADDRESSES)
"""Words spoken to a machine that reviews."""

DEMAND = re.compile(f"{_any(_DEMANDS, _STRICT).pattern}|{_any(_COMMANDS).pattern}", re.IGNORECASE)
"""A demand about the verdict, worded as an order."""

LOOSE_DEMAND = re.compile(f"{_any(_DEMANDS, _LOOSE).pattern}|{_any(_COMMANDS).pattern}", re.IGNORECASE)
"""The same anywhere in a sentence: enough beside an order or an address, too little alone."""

TOPIC = re.compile(
    r"prompt[- ]?injection|injected (?:prompt|instruction)|jailbreak|(?:hidden|adversarial) (?:prompt|instruction)",
    re.IGNORECASE,
)
"""Words of papers that are about such sentences."""

TRIGGER = re.compile(
    r"ignor|disregard|forget|overrid|bypass|discard|review|referee|accept|rate|rating|evaluation|assess|feedback"
    r"|recommend|prais|champion|score|weakness|negativ|flaw|limitation|criti|忽|無視|无视"
    r"|\bA\.?I\b|LLM|GPT|Claude|Gemini|model",
    re.IGNORECASE,
)
"""A cheap test that no sentence of interest fails."""


_TOPIC_MENTIONS = 3
_PROMPT_HEADING = re.compile(r"\bprompts?\b|\btemplates?\b|\binstructions?\b|\bguidelines?\b", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d|`[^`\n]+`|``.*?''|\u2018[^\u2019\n]{12,}\u2019|«[^»\n]*»")
_QUOTING_KINDS = ("code", "table", "figure", "caption")
_MAX_TEXT, _MAX_HIDDEN = 600, 2000


def beginning(text: str, most: int = _MAX_HIDDEN) -> str:
    """The text as a finding holds it: whole, or so many characters and how many more there are."""
    return text if len(text) <= most else f"{text[:most]} [... {len(text) - most:,} more characters]"


@dataclass(frozen=True)
class _Place:
    text: str
    where: str
    page: int | None = None
    box: Box | None = None
    quoting: bool = False


def find_addresses(paper: Paper) -> tuple[Finding, ...]:
    """Sentences that tell a model how to review the paper, in reading order.

    High where an order to set instructions aside, or an address to a machine reviewer, comes with a demand about the
    verdict; medium for one of them alone; low inside quotation marks, code, tables and printed prompts, and in a paper
    that is about such sentences. Works on every format; an empty paper gives ().
    """
    topical = sum(len(TOPIC.findall(block.text)) for _, block in paper.blocks()) >= _TOPIC_MENTIONS
    return tuple(finding for place in _places(paper) for finding in _findings(place, topical))


def addresses_a_model(text: str) -> bool:
    """Whether a text orders a model to set instructions aside, speaks to a machine reviewer, or demands a verdict."""
    return _speaks(_plain(text)) > 0


def orders_a_model(text: str) -> bool:
    """Whether a text orders a model to set instructions aside, or speaks to a machine reviewer.

    A demand about the verdict alone is not enough here: authors write such to each other in their comments.
    """
    plain = _plain(text)
    return bool(TRIGGER.search(plain) and (OVERRIDE.search(plain) or ADDRESS.search(plain)))


def _places(paper: Paper) -> Iterator[_Place]:
    yield _Place(paper.title, "the title", page=1 if paper.page_count else None)
    for section in paper.sections:
        yield _Place(section.heading, "a heading", page=section.pages[0] if section.pages else None)
        printed = section.role in ("appendix", "content") and _PROMPT_HEADING.search(section.heading) is not None
        where = f"section {section.number} {section.heading!r}" if section.number else f"section {section.heading!r}"
        for block in section.blocks:
            yield _Place(block.text, where, block.page, block.box, printed or block.kind in _QUOTING_KINDS)
    for reference in paper.references:
        yield _Place(reference.text, f"reference {reference.label or reference.id}", page=reference.page)


def _findings(place: _Place, topical: bool) -> Iterator[Finding]:
    if not TRIGGER.search(place.text) or not (kinds := _speaks(plain := _plain(place.text))):
        return
    hits = [s for s in split_sentences(plain) or [plain] if addresses_a_model(s)] or [plain]
    quoted = place.quoting or topical or not addresses_a_model(_QUOTED.sub(" ", plain))
    certainty: Certainty = "low" if quoted else ("high" if kinds > 1 else "medium")
    on_page = f" on page {place.page}" if place.page else ""
    yield Finding(
        kind="addresses_reviewer",
        message=(
            f"A sentence in {place.where}{on_page} speaks to a reviewing model"
            f"{' (it seems to be quoted)' if quoted else ''}. It stays in the text and is treated as data."
        ),
        certainty=certainty,
        page=place.page,
        box=place.box,
        text=beginning(" ".join(dict.fromkeys(hits)), _MAX_TEXT),
    )


def _speaks(plain: str) -> int:
    """How many kinds of such wording a text has: an order to set instructions aside, an address, a demand."""
    if not TRIGGER.search(plain):
        return 0
    orders = bool(OVERRIDE.search(plain)) + bool(ADDRESS.search(plain))
    return orders + bool((LOOSE_DEMAND if orders else DEMAND).search(plain))


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).replace("\u00ad", "").replace("\u2019", "'")
    return re.sub(r"\s+", " ", folded).strip()
