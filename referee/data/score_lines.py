"""One line of a review's text that states a score: ``Rating: 8 (Strong accept)``, ``Soundness: 3 good``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from referee.data.decisions import decision_class
from referee.errors import DataError
from referee.schemas.venue import FormField, Option, VenueForm
from referee.venues.registry import load_venue
from referee.venues.values import parse_score

OFF_SCALE = "the number is not on the scale"
NO_OPTION = "the words are no option of the form"
NOT_ASKED = "the form does not ask for it"
DISAGREE = "number and label disagree"
TWO_VALUES = "two different values in one review"
UNCLEAR = "words or further numbers stand behind the number"
ScoreKind = Literal["overall", "confidence", "decision", "other"]

GENERAL = "openreview-default"
"""The form whose scales hold where no form is known: a rating from 1 to 10, a confidence from 1 to 5."""
_GENERAL_MOST = (4, 5, 10)
_OVERALL = (
    *("rating", "overall rating", "score", "overall score", "recommendation", "overall recommendation", "overall"),
    *("overall assessment", "overall evaluation", "paper rating", "review rating", "rating score", "final rating"),
    *("final score", "final recommendation", "recommendation score", "overall recommendation score"),
)
_CONFIDENCE = (
    *("confidence", "confidence score", "confidence level", "confidence rating", "reviewer confidence"),
    *("reviewer's confidence", "review confidence", "reviewer confidence score", "confidence in assessment"),
)
_DECISION = ("decision", "final decision", "overall decision", "recommended decision", "verdict", "final verdict")
_OTHER = (
    *("soundness", "presentation", "contribution", "quality", "clarity", "significance", "originality", "correctness"),
    *("novelty", "reproducibility", "excitement", "technical novelty and significance"),
    "empirical novelty and significance",
)

# The words of venues' labels. Words beside a number that are all among them are a label and no prose.
_DECIDING = r"accept|accepted|acceptance|reject|rejected|rejection|borderline|revision|revisions|threshold|oral|poster"
_IS_DECISION = re.compile(rf"\b(?:{_DECIDING})\b", re.IGNORECASE)
_LABEL_WORD = re.compile(
    rf"{_DECIDING}|weak(?:ly)?|strong(?:ly)?|clear(?:ly)?|very|marginal(?:ly)?|slightly|above|below|the|of|an?|for|to|at"
    r"|on|in|and|or|but|not|is|as|lean(?:ing)?|towards?|minor|major|good|enough|bad|papers?|award|quality|top|seminal"
    r"|conference|main|track|findings|should|be|highlighted|spotlight|trivial|wrong|ok(?:ay)?|poor|fair|excellent|high"
    r"|low|medium|moderate|limited|average|outstanding|exceptional|solid|satisfactory|great|certain|absolutely|fairly"
    r"|quite|confiden(?:t|ce)|sure|expert|knowledgeable|educated|guess|only|score|rating|scale|out|desk"
    r"|recommend(?:ed|ation)?"
)
_VENUE_PHRASE = re.compile(r"(?:you|the reviewer) (?:is|are)\b", re.IGNORECASE)
_HEDGED = re.compile(r"weak|borderline|marginal|lean|slight|threshold|below|above|not|revision", re.IGNORECASE)
_MOST_LABEL_WORDS = 12

_PREFIX = re.compile(
    r"[\s>]*(?P<hashes>#{1,6}\s*)?(?:(?P<item>[-*+•‣▪◦–]\s+)|\(?\d{1,2}[.)]\s+|\(?[a-z][.)]\s+)?(?P<bold>\*{1,3}|__)?"
)
_MARKS = re.compile(r"[*`]|(?<!\w)_+|_+(?!\w)|\s#+\s*$")
_LINE = re.compile(
    r"(?P<label>[A-Za-z][A-Za-z '’/&,-]{2,60}?)\s*(?:[(\[](?P<hint>[^()\[\]]{1,40})[)\]])?\s*"
    r"(?:(?:[:=：]|\s[-–—]\s|[–—])\s*(?P<value>.*)|(?P<bare>[0-9].{0,15}))?"
)
_NUMBER = re.compile(
    r"[(\[]?(?P<number>[+-]?[0-9]{1,3}(?:\.[0-9]{1,3})?)(?![0-9])"
    r"(?:\s*(?:/|\bout of\b|\bof\b)\s*(?P<most>[0-9]{1,3})(?![0-9]))?[)\]]?(?P<tail>.*)",
    re.IGNORECASE | re.DOTALL,
)
_WORDS_FIRST = re.compile(
    r"(?P<words>[A-Za-z][A-Za-z ,'-]*?)\s*(?:[(\[]|\s[-–—]\s|[:–—,])\s*"
    r"(?P<number>[0-9.]{1,5}(?:\s*(?:/|\bout of\b)\s*[0-9]{1,3})?)[)\]]?\.?",
    re.IGNORECASE,
)
_FURTHER = re.compile(r"\s*(?:[-–—~>→/%]+|\bto\b|\bor\b|\band\b|,)\s*(?:>\s*)?[0-9]|\s*%", re.IGNORECASE)
_BRACKETED = re.compile(r"\s*[(\[](?P<words>[^()\[\]]*)[)\]]\s*(?:[.:;,–—-]\s*)?(?P<rest>.*)", re.DOTALL)
_PARTED = re.compile(r"\s*(?:[:=：]|[-–—]|[.,;](?=\s))\s*(?P<words>.*)", re.DOTALL)
_LISTED = re.compile(r"(?:^|\s)2[.)]\s")
_SCALE = re.compile(
    r"(?:(?:on )?(?:a )?scale(?: of)?:?\s*)?"
    r"(?:(?:from )?[0-9]{1,2}\s*(?:-|–|—|to)\s*|out of |/|of )(?P<most>[0-9]{1,3})",
    re.IGNORECASE,
)
_NONE = re.compile(r"\W*(?:n/?a|none|null|not applicable|not given)\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Target:
    """What a label names: the field of the form, or a name alone where no form is known or the form has no such field.

    Attributes:
        kind: What it is for a review.
        name: Under which a review holds it.
        field: The form's field, or the general one; None where numbers are checked by nothing but their size.
        asked: Whether the review's form has it.
        accept_at: The lowest overall value that leans to acceptance, where the form says so.
    """

    kind: ScoreKind
    name: str
    field: FormField | None
    asked: bool = True
    accept_at: float | None = None


@dataclass(frozen=True, slots=True)
class Stated:
    """What a line states.

    Attributes:
        target: What it is the score of.
        value: The form's own value, or the words of a decision; None where nothing can be taken.
        unused: Why not; empty where it is taken, and where the line says that there is none ("N/A").
        prose: What the reviewer wrote behind the score, which stays in the text.
        stays: The line is prose in spite of its label, and stays whole.
    """

    target: Target
    value: int | float | str | None
    unused: str = ""
    prose: str = ""
    stays: bool = False


def bare_label(text: str) -> str:
    """A label as it is looked up: small letters, single blanks, no underscores."""
    return " ".join(text.casefold().replace("_", " ").replace("’", "'").split())


class Labels:
    """The names under which a text may state the scores of a form: the form's own, then the customary ones."""

    def __init__(self, form: VenueForm | None) -> None:
        self._targets: dict[str, Target] = {}
        for target in _general_targets() if form is None else _form_targets(form):
            customary = {"overall": _OVERALL, "confidence": _CONFIDENCE, "decision": _DECISION, "other": ()}
            own = (target.field.name, target.field.title) if target.field is not None else (target.name,)
            for name in (*own, *customary[target.kind]):
                self._targets.setdefault(bare_label(name), target)

    @property
    def names(self) -> Iterable[str]:
        """All of them, as they are looked up."""
        return self._targets

    def target(self, label: str) -> Target | None:
        """What a label names; None for any other words."""
        name = bare_label(label)
        tried = (name, name.removeprefix("my "), name.removesuffix(" score"), name.removesuffix(" rating"))
        return next((self._targets[one] for one in tried if one in self._targets), None)

    def read(self, label: str, value: str, most: int | None = None) -> Stated | None:
        """What stands behind a label, as its score; None where the label names no score or the value is prose.

        A decision with a number, or in the words of one of the form's ratings ("Weak Accept"), is a rating.

        Args:
            label: The label.
            value: What stands behind it.
            most: The highest value of the scale, where the label says so.
        """
        target = self.target(label)
        if target is not None and target.kind == "decision":
            overall = next(one for one in self._targets.values() if one.kind == "overall")
            option = option_of(overall.field, value) if overall.field is not None else None
            says_more = bare_label(value.strip(" .")) not in ("accept", "reject", "accepted", "rejected")
            numbered = _NUMBER.fullmatch(value) or _WORDS_FIRST.fullmatch(value)
            target = overall if numbered or (option is not None and says_more) else target
        return value_of(target, value, most) if target is not None else None


def _general_targets() -> Iterator[Target]:
    for field in load_venue(GENERAL).fields:
        if field.aspect in ("overall", "confidence"):
            kind: ScoreKind = "overall" if field.aspect == "overall" else "confidence"
            bare = tuple(Option(value=option.value) for option in field.options)
            yield Target(kind, kind if kind == "confidence" else "rating", field.model_copy(update={"options": bare}))
    yield from (Target("other", name.replace(" ", "_"), None) for name in _OTHER)
    yield Target("decision", "decision", None)


def _form_targets(form: VenueForm) -> Iterator[Target]:
    kinds = set[ScoreKind]()
    for field in form.reviewer_fields:
        if field.kind in ("score", "choice") and field.options:
            is_overall, is_sure = field.name == form.overall, field.aspect == "confidence"
            kind: ScoreKind = "overall" if is_overall else "confidence" if is_sure else "other"
            kinds.add(kind)
            yield Target(kind, field.name, field, accept_at=form.accept_at if is_overall else None)
    if "overall" not in kinds:
        yield Target("overall", "rating", None, asked=False)
    if "confidence" not in kinds:
        yield Target("confidence", "confidence", None, asked=False)
    yield Target("decision", "decision", None)
    boxes = {bare_label(name) for field in form.fields for name in (field.name, field.title)}
    yield from (Target("other", name, None, asked=False) for name in _OTHER if name not in boxes)


def stated(line: str, labels: Labels) -> Stated | None:
    """What a line states; None for a line without the label of a score, or with prose behind the label."""
    found = labelled(line)
    return labels.read(found.label, found.value, found.most) if found is not None and found.value else None


@dataclass(frozen=True, slots=True)
class Labelled:
    """A line as a label and what stands behind it.

    Attributes:
        label: Its words.
        value: What stands behind it; empty for a label alone.
        most: The highest value of the scale that stands in brackets behind the label, if one does.
        depth: The number of its hashes, where it is a heading in Markdown.
        is_bold: It begins in bold type.
        is_item: It is an item of a list.
        has_mark: A colon, an equals sign or a dash stands behind the label.
    """

    label: str
    value: str
    most: int | None = None
    depth: int = 0
    is_bold: bool = False
    is_item: bool = False
    has_mark: bool = False


def labelled(line: str) -> Labelled | None:
    """The line as a label and a value; None where it does not begin like a label."""
    prefix = _PREFIX.match(line)
    bare = _MARKS.sub("", line[prefix.start("bold") if prefix and prefix["bold"] else prefix.end() if prefix else 0 :])
    found = _LINE.fullmatch(bare.strip())
    if prefix is None or found is None:
        return None
    hint, value = (found["hint"] or "").strip(), (found["value"] or found["bare"] or "").strip()
    scale = _SCALE.fullmatch(hint)
    if hint and scale is None:
        if value or not _NUMBER.fullmatch(hint):
            return None
        value = hint
    return Labelled(
        found["label"],
        value,
        int(scale["most"]) if scale else None,
        depth=len((prefix["hashes"] or "").strip()),
        is_bold=bool(prefix["bold"]),
        is_item=bool(prefix["item"]),
        has_mark=found["value"] is not None,
    )


def value_of(target: Target, value: str, most: int | None = None) -> Stated | None:
    """What stands behind a label, read as its score; None where it is prose.

    Args:
        target: What the label names.
        value: What stands behind it.
        most: The highest value of the scale, where the label says so.
    """
    if _NONE.fullmatch(value):
        return Stated(target, None)
    if (turned := _WORDS_FIRST.fullmatch(value)) and _is_label(turned["words"], target):
        value = f"{turned['number']} ({turned['words'].strip()})"
    found = _NUMBER.fullmatch(value)
    if found is None or (target.field is not None and target.field.kind == "choice"):
        return _by_words(target, value)
    tail = found["tail"].strip()
    if scale := _SCALE.fullmatch(tail.strip("()[] ")):
        tail, most = "", int(scale["most"])
    if _FURTHER.match(tail):
        return Stated(target, None, UNCLEAR)
    words, prose = _behind(tail, target)
    if words is None:
        # "Quality: 3 figures are blurred" is prose; "Rating: 6 if the proof is mended" is no rating, and is counted.
        return Stated(target, None, UNCLEAR, stays=True) if target.kind in ("overall", "confidence") else None
    return _checked(target, float(found["number"]), int(found["most"]) if found["most"] else most, words, prose)


def _behind(tail: str, target: Target) -> tuple[str | None, str]:
    """The label and the prose behind a number; no label at all where prose follows without a mark between them."""
    if not tail.strip(" ."):
        return "", ""
    if found := _BRACKETED.fullmatch(tail):
        inside = found["words"].strip()
        if _is_label(inside, target):
            return inside, found["rest"].strip()
        return "", f"{inside} {found['rest']}".strip()
    parted = _PARTED.fullmatch(tail)
    words = (parted["words"] if parted else tail).strip()
    if _is_label(words, target):
        return words, ""
    head, _, rest = words.partition(". ")
    if rest and _is_label(head, target):
        return head, rest.strip()
    return (None, "") if parted is None or _LISTED.search(words) else ("", words)


def _is_label(words: str, target: Target) -> bool:
    """Whether words are a label of the field or look like one of a venue's."""
    if target.field is not None and option_of(target.field, words) is not None:
        return True
    if target.kind == "confidence" and _VENUE_PHRASE.match(words):
        return True
    plain = re.findall(r"[a-z]+", words.casefold())
    return 0 < len(plain) <= _MOST_LABEL_WORDS and all(map(_LABEL_WORD.fullmatch, plain))


def _checked(target: Target, number: float, most: int | None, words: str, prose: str) -> Stated:
    if not target.asked:
        return Stated(target, None, NOT_ASKED, prose)
    value = _on_scale(target.field, number, most)
    if value is None:
        return Stated(target, None, OFF_SCALE, prose)
    if words and _contradicts(target, number, words):
        return Stated(target, None, DISAGREE, prose)
    return Stated(target, value, prose=prose)


def _on_scale(field: FormField | None, number: float, most: int | None) -> int | float | None:
    if field is None:
        fits = 0 <= number <= max(_GENERAL_MOST) and (most is None or (most in _GENERAL_MOST and number <= most))
        return (int(number) if number.is_integer() else number) if fits else None
    offered = [option.value for option in field.options if not isinstance(option.value, str)]
    if not offered or (most is not None and most != max(offered)):
        return None
    try:
        return parse_score(field, number)
    except DataError:
        return None


def _contradicts(target: Target, number: float, words: str) -> bool:
    """Whether the words are another option's label, or plainly accept what the number rejects."""
    if target.field is not None and (option := option_of(target.field, words)) is not None:
        return option.value != number
    if target.accept_at is None or _HEDGED.search(words):
        return False
    means = decision_class(words)
    return means in ("accept", "reject") and (means == "accept") != (number >= target.accept_at)


def _by_words(target: Target, words: str) -> Stated | None:
    words = words.strip(" .")
    if target.kind == "decision":
        return Stated(target, words) if _is_label(words, target) and _IS_DECISION.search(words) else None
    option = option_of(target.field, words, whole=True) if target.field is not None else None
    if option is not None:
        return Stated(target, option.value)
    if not _is_label(words, target) or (target.kind == "overall" and not _IS_DECISION.search(words)):
        return None
    if not target.asked:
        return Stated(target, None, NOT_ASKED) if target.kind != "other" else None
    return Stated(target, None, NO_OPTION) if target.field is not None else None


def option_of(field: FormField, words: str, *, whole: bool = False) -> Option | None:
    """The option whose label the words are, or whose label alone begins with them.

    Args:
        field: The field.
        words: As printed; case, blanks, articles and a full stop do not matter.
        whole: One word that only begins a label is not enough.
    """
    said = _bare(words)
    if not said:
        return None
    labels = [(_bare(option.label or str(option.value)), option) for option in field.options]
    equal = [option for label, option in labels if label == said]
    if len(equal) == 1:
        return equal[0]
    begun = [option for label, option in labels if label.startswith(f"{said} ")]
    return begun[0] if len(begun) == 1 and (not whole or " " in said) else None


def _bare(words: str) -> str:
    return " ".join(word for word in re.findall(r"[^\W_]+", words.casefold()) if word not in ("the", "a", "an"))
