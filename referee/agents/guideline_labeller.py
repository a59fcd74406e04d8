"""What the statements of a guideline page are: criteria, parts of the form, or noise. One call a window.

Code cuts the statements and gives them ids; a model labels the ids and says each criterion in other words. It cannot
add a statement, and what it leaves out or answers twice a rule labels, on the record.

Source: *ReviewEval* section 3.6 and appendix A.1.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, create_model

from referee.agents.asking import Asks, list_of, one_of
from referee.agents.point_splitter import negated, why_not
from referee.errors import ReplyInvalid
from referee.evidence.stems import stems
from referee.prompts import Prompt, RenderedPrompt, delimit, load_prompt
from referee.venues.page import Candidate, Window
from referee.venues.page.vocabulary import AUTHOR_SIDE, reviewing_words, speaks_of_reviewing

logger = logging.getLogger(__name__)

PROMPT = "guidelines/label"
LEAN_PROMPT = "guidelines/label-lean"
ROLE = "mapper"

# Small models lose count beyond this many statements a call; larger ones only need bounds for the reply's length.
LEAN_STATEMENTS, FULL_STATEMENTS = 15, 40
LEAN_ROOM_TOKENS, FULL_ROOM_TOKENS = 900, 5_000

_SAYS_CHARS = 240
_TOKENS_A_STATEMENT, _LEAN_TOKENS_A_STATEMENT, _TOKENS_AROUND = 160, 16, 64
_TWO = 2
_CLEAR = "its words are clear"
_CLOSED = ConfigDict(extra="ignore")

Label: TypeAlias = Literal["criterion", "form_scale", "noise"]
Kind: TypeAlias = Literal["subjective", "objective"]
_Lean = Literal["yes", "no"]

_CHECKABLE = re.compile(
    r"\b(?:scores?|scales?|rating|ratings|box(?:es)?|fields?|words|characters|sentences|paragraphs|check ?list|tick"
    r"|fill|summar(?:y|ise|ize)|at least|at most|no more than)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RulePart:
    """One of the two things that a criterion asks for: the page's words, and a paraphrase that can be relied on."""

    words: str
    kind: Kind
    says: str


@dataclass(frozen=True)
class Labelled:
    """One statement with its label. ``says`` is empty where there is no paraphrase that can be relied on.

    ``by`` is the model's id, or ``rule``. ``note`` says why a rule labelled it, why its paraphrase was put aside, or
    why it was not divided. ``parts`` are two, or none.
    """

    id: str
    label: Label
    kind: Kind
    says: str
    by: str
    note: str = ""
    parts: tuple[RulePart, ...] = ()


@dataclass(frozen=True)
class WindowLabels:
    """The labels of one window, every statement of it exactly once and in its order."""

    labels: tuple[Labelled, ...]
    notes: tuple[str, ...] = ()
    call_id: str | None = None


def cut_windows(windows: Iterable[Window], *, lean: bool) -> tuple[Window, ...]:
    """Windows with no more statements than one call takes; the parts of a divided one are named ``w1.1``, ``w1.2``."""
    most = LEAN_STATEMENTS if lean else FULL_STATEMENTS
    cut: list[Window] = []
    for window in windows:
        held = window.candidates
        pieces = [held[start : start + most] for start in range(0, len(held), most)]
        if len(pieces) <= 1:
            cut += [window] if pieces else []
            continue
        for number, piece in enumerate(pieces, start=1):
            cut.append(Window(id=f"{window.id}.{number}", candidates=piece, text=_shown(piece)))
    return tuple(cut)


async def label_window(
    window: Window,
    *,
    venue_name: str,
    door: Asks,
    lean: bool = False,
    language: str = "",
) -> WindowLabels:
    """Label the statements of one window.

    Args:
        window: The statements.
        venue_name: As the prompt calls the venue.
        door: Answers the prompt.
        lean: Use the short prompt, and ask for labels alone.
        language: The page's, for the rule.

    Returns:
        A label for each statement; a lean window of clear ones alone needs no call. A reply that stays invalid leaves
        to the rule what was asked about.

    Raises:
        ModelError: The model cannot be reached, or refuses.
    """
    clear = {c.id: by_rule(c, _CLEAR, language) for c in window.candidates if lean and is_clear(c, language)}
    ids = tuple(candidate.id for candidate in window.candidates if candidate.id not in clear)
    if not ids:
        return WindowLabels(tuple(clear.values()))
    rendered = render_window(window, venue_name=venue_name, lean=lean, language=language)
    reply = lean_labels_model(ids) if lean else labels_model(ids)
    try:
        answer = await door.ask(rendered, reply, role=ROLE, max_output_tokens=reply_tokens(window, lean=lean))
    except ReplyInvalid as error:
        logger.warning("a rule labels window %s: %s", window.id, error.message)
        why = "the model gave no valid reply"
        labels = tuple(clear.get(c.id) or by_rule(c, why, language) for c in window.candidates)
        return WindowLabels(labels, (f"window {window.id}: {why}; a rule labelled its {len(ids)} statements",))
    data = answer.value.model_dump()
    if lean:
        labels = tuple(clear.get(c.id) or _leanly(c, data[c.id] == "yes", answer.model) for c in window.candidates)
    else:
        given = _given(data)
        labels = tuple(_labelled(c, given.get(c.id, []), answer.model, language) for c in window.candidates)
    return WindowLabels(labels, tuple(answer.notes), answer.call_id)


def is_clear(candidate: Candidate, language: str = "") -> bool:
    """Whether a small model need not be asked: something that asks, in two words of reviewing, and not of authors.

    Half a billion parameters answer runs of statements alike, and lose plain questions about the paper that way.
    """
    asks = candidate.kind in ("question", "imperative", "bullet")
    words = candidate.words
    return asks and speaks_of_reviewing(words, language) and not AUTHOR_SIDE.search(words)


def needs_call(window: Window, *, lean: bool, language: str) -> bool:
    """Whether ``label_window`` would ask a model: what the estimate counts."""
    return not lean or not all(is_clear(candidate, language) for candidate in window.candidates)


def render_window(
    window: Window,
    *,
    venue_name: str,
    lean: bool,
    language: str = "",
) -> RenderedPrompt:
    """The prompt for one window, as it is sent. A lean one shows what is not clear."""
    shown = [candidate for candidate in window.candidates if not (lean and is_clear(candidate, language))]
    prompt = label_prompt(lean=lean)
    # A page's title is page text: what could open a delimiter in it goes.
    name = " ".join(re.sub(r"[<>]", "", venue_name).split())
    return prompt.render(venue_name=name, statements=delimit("statements", _shown(shown)))


def label_prompt(*, lean: bool) -> Prompt:
    """The prompt that suits the model."""
    prompt_id = LEAN_PROMPT if lean else PROMPT
    return load_prompt(prompt_id)


def reply_tokens(window: Window, *, lean: bool) -> int:
    """The longest reply to one window."""
    each = _LEAN_TOKENS_A_STATEMENT if lean else _TOKENS_A_STATEMENT
    return _TOKENS_AROUND + each * len(window.candidates)


def by_rule(candidate: Candidate, why: str, language: str = "") -> Labelled:
    """The label of a statement that no model has labelled.

    A question, an imperative or a bullet that holds a word of reviewing is a criterion; anything else is noise. In a
    language other than English, whose imperatives nobody can tell, a sentence is enough. What speaks of scores, boxes
    or lengths is objective.
    """
    asks = candidate.kind in ("question", "imperative", "bullet") or (
        candidate.kind == "sentence" and language not in ("", "en")
    )
    is_criterion = asks and reviewing_words(candidate.words, language) > 0
    return Labelled(candidate.id, "criterion" if is_criterion else "noise", _kind(candidate), "", "rule", why)


def labels_model(ids: Sequence[str]) -> type[BaseModel]:
    """The full reply: a list of labels, each for one of the ids there are."""
    part = create_model(
        "RulePart",
        __config__=_CLOSED,
        words=(str, Field(max_length=_SAYS_CHARS, description="the part's own words, copied from the statement")),
        kind=(Kind, ...),
        says=(str, Field(max_length=_SAYS_CHARS, description="this part in your own words")),
    )
    item = create_model(
        "StatementLabel",
        __config__=_CLOSED,
        id=(one_of(tuple(ids)), Field(description="the statement's id")),
        label=(Label, ...),
        kind=(Kind, ...),
        says=(str, Field(max_length=_SAYS_CHARS, description="a criterion in your own words; else empty")),
        parts=(list_of(part), Field(max_length=2, description="the two things that it asks for; else empty")),
    )
    # Room for a repeated id: the reply is read with it, and the rule labels that statement.
    return create_model("StatementLabels", __config__=_CLOSED, labels=(list_of(item), Field(max_length=2 * len(ids))))


def lean_labels_model(ids: Sequence[str]) -> type[BaseModel]:
    """The short reply: one property for each id, so that a small model cannot lose or repeat one.

    It holds answers to one question alone. Half a billion parameters copy a statement where a paraphrase is asked for,
    at three times the time; of more labels than two they choose at random. The kind is left to a rule.
    """
    shape: dict[str, Any] = dict.fromkeys(ids, (_Lean, ...))
    return create_model("LeanLabels", __config__=_CLOSED, **shape)


def _shown(candidates: Sequence[Candidate]) -> str:
    """The statements after their ids, under the headings they stand below."""
    lines: list[str] = []
    heading: tuple[str, ...] = ()
    for candidate in candidates:
        if candidate.heading != heading and candidate.heading:
            lines.append(f"(under: {' / '.join(candidate.heading[-2:])})")
        heading = candidate.heading
        lines.append(f"{candidate.id}: {candidate.words}")
    return "\n".join(lines)


def _given(data: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """What a full reply says of each id."""
    given: dict[str, list[dict[str, Any]]] = {}
    for item in data["labels"]:
        given.setdefault(item["id"], []).append(item)
    return given


def _labelled(candidate: Candidate, given: Sequence[Mapping[str, Any]], model: str, language: str) -> Labelled:
    """One label; of two that differ neither is believed."""
    labels = {item["label"] for item in given}
    if len(labels) != 1:
        return by_rule(candidate, "the model contradicted itself" if labels else "the model left it out", language)
    label, kind = given[0]["label"], given[0]["kind"]
    if label != "criterion":
        return Labelled(candidate.id, label, kind, "", model)
    problem = unreliable(given[0]["says"], candidate.words)
    says = " ".join(given[0]["says"].split())
    parts = _divided(candidate.words, given[0]["parts"])
    whole = f"it stays whole: {parts}" if isinstance(parts, str) and parts else ""
    note = "; ".join(filter(None, [problem, whole]))
    divided = () if isinstance(parts, str) else parts
    return Labelled(candidate.id, label, kind, "" if problem else says, model, note, divided)


def _divided(words: str, given: Sequence[Mapping[str, Any]]) -> tuple[RulePart, ...] | str:
    """The two parts of a criterion, or why it stays whole; empty where no two were named.

    Both must stand in the page's words, one after the other. What stands outside of them must stand in both
    paraphrases, or it would be lost; a "not" of the first part must not be lost to the second, for it may reach there.
    """
    if len(given) != _TWO:
        return ""
    spans = [span for part in given if (span := _span(part["words"], words)) is not None]
    if len(spans) != len(given):
        return "a part's words are not in it"
    (start, end), (second, last) = spans
    if end > second:
        return "its parts are not one after the other"
    own = [words[start:end], words[second:last]]
    around = " ".join([words[:start], words[end:second], words[last:]])
    parts = tuple(
        RulePart(text, part["kind"], " ".join(part["says"].split())) for text, part in zip(own, given, strict=True)
    )
    problems = [unreliable(part["says"], f"{text} {around}") for text, part in zip(own, given, strict=True)]
    if any(problems):
        return next(filter(None, problems))
    if any(set(stems(around)) - set(stems(f"please {part.says}")) for part in parts):
        return "its parts leave some of its words out"
    return "a 'not' of its first part may hold for the second" if _reaches_on(*own) else parts


def _span(part: str, words: str) -> tuple[int, int] | None:
    """Where a part stands in a statement, whole words alone; case and white space do not count."""
    pattern = r"\s+".join(map(re.escape, part.split()))
    found = re.search(rf"(?<!\w){pattern}(?!\w)", words, re.IGNORECASE) if pattern else None
    return found.span() if found else None


def _reaches_on(first: str, second: str) -> bool:
    return negated(first) and not negated(second)


def unreliable(says: str, words: str) -> str:
    """Why a paraphrase cannot be relied on; empty where it can."""
    return "its paraphrase was cut off" if len(says) >= _SAYS_CHARS else why_not(says, words)


def _leanly(candidate: Candidate, is_criterion: bool, model: str) -> Labelled:
    label: Label = "criterion" if is_criterion else "noise"
    return Labelled(candidate.id, label, _kind(candidate), "", model, "the model was asked for no paraphrase")


def _kind(candidate: Candidate) -> Kind:
    return "objective" if _CHECKABLE.search(candidate.words) else "subjective"
