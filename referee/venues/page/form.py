"""The form as the page shows it: scales with their values and labels, choices, text boxes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from referee.schemas.venue import Aspect, FieldKind
from referee.venues.page.blocks import Block, chosen_type, read_blocks, without_type
from referee.venues.page.items import names_form, short_item
from referee.venues.page.options import OptionGroup, option_groups
from referee.venues.page.page_types import FieldDraft, FormDraft, GuidelinePage, OptionDraft
from referee.venues.page.vocabulary import section_noise

_FORM = re.compile(
    r"\b(?:review(?:er|ing)?|evaluation|assessment|referee) (?:form|template|questionnaire)\b", re.IGNORECASE
)
_BOX = re.compile(
    r"\b(?:summary|strengths?|weaknesses?|questions?|comments?|suggestions?|limitations?|"
    r"justification|reasons? (?:to|for)|"
    r"typos?|missing references|ethic(?:s|al)|core review|main review|feedback|contributions?|"
    r"confidential|additional)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(r"^(?P<lead>[A-Z(][^:.?!]{1,70}):(?:\s+(?P<rest>\S.*))?$")
_RANGE = re.compile(r"\s*[(\[]\s*-?\d{1,2}\s*(?:-|–|—|to)\s*\d{1,2}\s*[)\]]\s*$")
_RANGE_CELL = re.compile(r"^(?P<low>\d{1,2})\s*(?:-|–|—|to)\s*(?P<high>\d{1,2})$")
_NO_BOX = re.compile(
    r"^(?:\d+[.)]?\s+)?(?:(?:review(?:ing|er)?|use of|our|the|on|llm|ai|generative|large|language|models?)\s+)*"
    r"(?:polic(?:y|ies)|(?:ai|llms?|language models?)|rules|guidelines?|confidentiality|what (?:we|to) look for"
    r"|(?:evaluation|review|assessment) criteria|how to (?:write|review)\b.*|review process)\W*$",
    re.IGNORECASE,
)
_OPTIONAL = re.compile(r"^\(optional\)\s*(?P<title>[^.?!:]{3,80})[.?!:]", re.IGNORECASE)
_AFTER_REPLY = re.compile(
    r"\b(?:after|post)[ -](?:the )?(?:rebuttal|author|discussion|response)|author response|"
    r"rebuttal period|review update",
    re.I,
)
_ASPECTS: tuple[tuple[Aspect, str], ...] = (
    ("confidence", r"confidence|how confident"),
    ("expertise", r"expertise|familiarity|knowledge of the (?:area|field|topic)"),
    (
        "overall",
        r"^overall|overall (?:recommendation|assessment|rating|score|evaluation|merit)|^(?:recommendation|"
        r"rating|decision)$",
    ),
    ("soundness", r"soundness|correctness|technical quality|rigou?r"),
    ("presentation", r"presentation|clarity|writing|readability"),
    ("contribution", r"contribution"),
    ("novelty", r"novelty|originality"),
    ("significance", r"significance|impact|importance|excitement"),
    ("reproducibility", r"reproducib|replicab"),
)
_LONGEST_NAME = 60
_LONGEST_LEAD = 7
_FEWEST_SCALES = 2
_LONGEST_RANGE = 11


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading with its own blocks, up to the next heading; ``leaf`` where that one is not deeper."""

    title: str
    path: tuple[str, ...]
    paper_type: str
    start: int
    end: int
    leaf: bool


def form_fields(page: GuidelinePage, paper_type: str | None = None) -> FormDraft:
    """The fields that the page shows, in page order.

    A run of lines with values and labels ("5 = Excellent: ...") is a scale, a run of answers (Yes, No) a choice; both
    are named after their heading, or after the lead of the item above them ("Soundness: please assign ..."). On a page
    that shows a form, a heading with text but without options is a text box, and so is an empty box.

    Args:
        page: What ``read_page`` gave.
        paper_type: As in ``candidates``: fields for other types are left out; without it the first type is kept.

    Returns:
        The fields, possibly none. Names are lower case with underscores and do not repeat.

    Raises:
        VenueError: The page does not name the paper type asked for.
    """
    chosen = chosen_type(page.paper_types, paper_type, page.source)
    blocks = read_blocks(page.text)
    groups = option_groups(blocks)
    shows_form = len(groups) >= _FEWEST_SCALES or bool(_FORM.search(page.title))
    found: list[FieldDraft] = []
    for section in _sections(blocks):
        if section.paper_type in ("", chosen) and not section_noise(section.title):
            found += _fields(section, blocks, groups, page, shows_form=shows_form)
    return FormDraft(tuple(name_fields(field for field in found if not is_no_box(field.title))))


def is_no_box(title: str) -> bool:
    """Whether a title is that of a policy or of a part of the page, which nobody fills in."""
    return bool(_NO_BOX.match(title.strip()))


def _sections(blocks: Sequence[Block]) -> Iterator[_Section]:
    heads = [at for at, block in enumerate(blocks) if block.kind == "heading"]
    if not heads or heads[0] > 0:
        yield _Section("", (), "", 0, heads[0] if heads else len(blocks), leaf=False)
    for at, following in zip(heads, [*heads, len(blocks)][1:], strict=True):
        head = blocks[at]
        leaf = following == len(blocks) or blocks[following].level <= head.level
        yield _Section(head.text, head.path, head.paper_type, at + 1, following, leaf)


def _fields(
    section: _Section, blocks: Sequence[Block], groups: Sequence[OptionGroup], page: GuidelinePage, *, shows_form: bool
) -> Iterator[FieldDraft]:
    """The section's fields: each scale, each box, and the section itself where it only asks for text."""
    own = [group for group in groups if section.start <= group.start < section.end]
    scales = {group.start: group for group in own}
    inside = {at for group in own for at in range(group.start, group.end)}
    is_form = shows_form or bool(_FORM.search(section.title))
    titled = False
    at = section.start
    while at < section.end:
        if at in scales:
            yield _scale(section, blocks, scales[at], lead_first=titled or len(own) > 1)
            titled = True
            at = scales[at].end
            continue
        if blocks[at].kind == "row" and (field := _row_scale(section, blocks[at])) is not None:
            yield field
        elif names_form(section.title) and (item := short_item(blocks[at].text, section.path, section.paper_type)):
            titled = True
            yield item
        elif is_form and at not in inside:
            field = _box(
                section, blocks, at, titled=titled, leads=not section.leaf or bool(own) or _is_list(section, blocks)
            )
            if field is not None:
                yield field
                titled = titled or field.title == without_type(section.title)
        at += 1
    if not titled and is_form and section.leaf and section.title not in ("", page.title):
        words = _paragraphs(blocks, section.start, section.end)
        if words and not own and not _is_list(section, blocks):
            yield FieldDraft("", without_type(section.title), "text", (), words, section.path, section.paper_type)


def _scale(section: _Section, blocks: Sequence[Block], group: OptionGroup, *, lead_first: bool) -> FieldDraft:
    """A scale's field, named after the lead above it where there is one, else after the heading."""
    title = without_type(section.title)
    own = _own_lead(blocks[group.start], group) or _lead_above(section, blocks, group, wanted=lead_first or not title)
    words = own[1] if own else _paragraphs(blocks, section.start, group.start)
    title = own[0] if own else title or words.split("?")[0][:_LONGEST_NAME] or "Rating"
    kind: FieldKind = "score" if group.is_score else "choice"
    return FieldDraft("", title, kind, group.options, words, section.path, section.paper_type)


def _row_scale(section: _Section, block: Block) -> FieldDraft | None:
    """The score that a table's row names, asks for and gives a range: "Soundness | Is it rigorous? | 1-5"."""
    title, *asked, last = (cell.strip() for cell in block.text.split(" | "))
    values = _RANGE_CELL.match(last)
    if values is None or not title or len(title.split()) > _LONGEST_LEAD:
        return None
    numbers = range(int(values["low"]), int(values["high"]) + 1)
    if not 2 <= len(numbers) <= _LONGEST_RANGE:
        return None
    options = tuple(OptionDraft(number, "", last) for number in numbers)
    return FieldDraft("", title, "score", options, " ".join(asked), section.path, section.paper_type)


def _own_lead(block: Block, group: OptionGroup) -> tuple[str, str] | None:
    """Title and words of a scale that stands in one line with what it is for."""
    if group.end > group.start + 1:
        return None
    before = block.text.partition(group.options[0].words)[0].strip(" :(")
    lead = re.split(r"[:(]", before)[0].strip()
    return (" ".join(lead.split()[:_LONGEST_LEAD]), before) if lead else None


def _lead_above(
    section: _Section, blocks: Sequence[Block], group: OptionGroup, *, wanted: bool
) -> tuple[str, str] | None:
    """Title and words from "Soundness: please assign ..." above a scale: an item's always, a paragraph's if wanted.

    A line that is nothing but a title ("Soundness (1-4)") names its scale wherever it stands.
    """
    above = blocks[group.start - 1] if group.start > section.start else None
    if above is None or above.kind not in ("bullet", "paragraph"):
        return None
    if title := _title_line(above.text, section):
        return title, ""
    if above.kind == "paragraph" and not wanted:
        return None
    match = _LEAD.match(above.text)
    if match is None or len(match["lead"].split()) > _LONGEST_LEAD:
        return None
    return match["lead"].strip(), match["rest"] or ""


def _title_line(text: str, section: _Section) -> str:
    """The title that a whole line is: by the range of its scale, or as the only name of an aspect; else empty."""
    title = _RANGE.sub("", text)
    if len(title.split()) > _LONGEST_LEAD or not title[:1].isupper() or re.search(r"[:.?!,;]", title):
        return ""
    named = aspect_of(title) != "other" and aspect_of(section.title) == "other"
    return title if named or title != text else ""


def _box(section: _Section, blocks: Sequence[Block], at: int, *, titled: bool, leads: bool) -> FieldDraft | None:
    """A text field that one block shows: an empty box, an optional remark, or an item with a box's name as its lead."""
    block = blocks[at]
    if block.kind == "code":
        return _empty_box(section, blocks, at, titled=titled)
    if optional := _OPTIONAL.match(block.text):
        return FieldDraft("", optional["title"].strip(), "text", (), block.text, section.path, section.paper_type)
    lead = _LEAD.match(block.text)
    if leads and block.kind in ("bullet", "paragraph") and lead and lead["rest"] and _BOX.search(lead["lead"]):
        following = blocks[at + 1] if at + 1 < section.end else None
        boxed = block.kind == "bullet" or (following is not None and following.kind == "code")
        if boxed and len(lead["lead"].split()) <= _LONGEST_LEAD:
            return FieldDraft("", lead["lead"].strip(), "text", (), lead["rest"], section.path, section.paper_type)
    return None


def _empty_box(section: _Section, blocks: Sequence[Block], at: int, *, titled: bool) -> FieldDraft | None:
    """The box below a heading, or a second one below a scale; none where the paragraph above already made one."""
    above = blocks[at - 1]
    lead = _LEAD.match(above.text)
    if at > section.start and lead and lead["rest"] and _BOX.search(lead["lead"]):
        return None
    title = without_type(section.title)
    if not title or (blocks[at].text.strip() and not _ends_in_colons(blocks[at].text)):
        return None
    if titled:
        return FieldDraft("", f"{title}: text", "text", (), above.text, section.path, section.paper_type)
    words = _paragraphs(blocks, section.start, at)
    return FieldDraft("", title, "text", (), words, section.path, section.paper_type)


def _ends_in_colons(text: str) -> bool:
    """Whether a box holds only labels to fill in ("Question A:")."""
    return all(line.rstrip().endswith(":") for line in text.splitlines() if line.strip())


def _paragraphs(blocks: Sequence[Block], start: int, end: int) -> str:
    """The first run of paragraphs: the page's words on a field, without a repetition of its heading."""
    run: list[str] = []
    for at in range(start, end):
        block = blocks[at]
        if block.kind != "paragraph":
            if run:
                break
            continue
        if not (at and blocks[at - 1].kind == "heading" and block.text == blocks[at - 1].text):
            run.append(block.text)
    return " ".join(run)


def _is_list(section: _Section, blocks: Sequence[Block]) -> bool:
    """Whether a section's items each name a box, so that the section is the form and no box itself."""
    leads = [_LEAD.match(block.text) for block in blocks[section.start : section.end] if block.kind == "bullet"]
    return sum(1 for lead in leads if lead and _BOX.search(lead["lead"])) >= 2


def name_fields(fields: Iterable[FieldDraft]) -> Iterator[FieldDraft]:
    """The fields with names that do not repeat, an aspect and a stage where they have none yet."""
    used: set[str] = set()
    for field in fields:
        base = _slug(field.title)
        name, number = base, 2
        while name in used:
            name, number = f"{base}_{number}", number + 1
        used.add(name)
        late = field.stage == "discussion" or any(_AFTER_REPLY.search(title) for title in (*field.heading, field.title))
        rated = field.kind in ("score", "choice")
        aspect = (field.aspect if field.aspect != "other" else aspect_of(field.title)) if rated else "other"
        yield replace(field, name=name, aspect=aspect, stage="discussion" if late else "review")


def _slug(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower().replace("'", "")
    plain = re.sub(r"\((s)\)", r"\1", re.sub(r"^\W*\d{1,2}(?:\.\d{1,2})?[.)]\s*", "", plain))
    words = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")
    return words[:_LONGEST_NAME].rstrip("_") or "field"


def aspect_of(title: str) -> Aspect:
    """What a score of that title measures; ``other`` where the title does not tell."""
    return next((aspect for aspect, words in _ASPECTS if re.search(words, title, re.IGNORECASE)), "other")
