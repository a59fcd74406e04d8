"""Whether a range of a paper can be quoted as it stands: it cuts no word, no number, and no sign off a number."""

from __future__ import annotations

from referee.evidence.passages import Passage

_SIGNS_BEFORE = "+-−–±∓<>≤≥≈~∼≠×÷/^*"
_SIGNS_AFTER = ".,:/×*+-–−"


def cuts_nothing(passage: Passage, start: int, end: int) -> bool:
    """Whether a range begins and ends where a reader would begin and end.

    Words are judged on the normalised text, where a line-break hyphen is gone; numbers and signs on the source, where
    ``<0.05`` is one token and ``< 0.05`` two.

    Args:
        passage: The passage that holds the range.
        start: First character, counted in the text of all passages.
        end: One past the last character; greater than ``start``.
    """
    text = passage.normalised.text
    first, last = start - passage.start, end - passage.start
    if first and text[first].isalnum() and text[first - 1].isalnum():
        return False
    if text[last - 1].isalnum() and text[last : last + 1].isalnum():
        return False
    low, high = passage.source_span(start, end)
    source = passage.normalised.source
    before, after = source[max(0, low - 2) : low], source[high : high + 2]
    return _starts_clean(text[first : first + 2], before) and _ends_clean(text[last - 1], after)


def _starts_clean(first: str, before: str) -> bool:
    """Whether nothing that belongs to the first word or number was left outside.

    Args:
        first: The first two characters of the range.
        before: The two characters of the source in front of it.
    """
    previous = before[-1:]
    if first[0] in "+-":
        return not previous.isalnum()
    number = first[0].isdigit() or (first[0] == "." and first[1:].isdigit())
    lone = first[0].isalpha() and not first[1:].isalnum()
    if (number or lone) and previous and previous in _SIGNS_BEFORE:
        return False
    return not (number and (previous.isalnum() or (previous in (".", ",") and before[:1].isdigit())))


def _ends_clean(last: str, after: str) -> bool:
    """Whether nothing that belongs to the last number was left outside; letters are checked by the caller."""
    if not last.isdigit() or not after:
        return True
    if after[0].isalnum() or after[0] in "%‰°^_":
        return False
    return not (after[0] in _SIGNS_AFTER and after[1:].isdigit())
