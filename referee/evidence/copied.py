"""Sentences of a review that only repeat what it was asked with: its instructions, or their worked examples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rapidfuzz import fuzz

from referee.evidence.sentences import split_sentences

_WORD = re.compile(r"\w+")
_MIN_WORDS = 6
_QUESTION_WORDS = 4
_SAME = 92.0
_QUOTED = re.compile(r"[“\"]([^“”\"]{20,600})[”\"]")
_BEFORE_ITEM = re.compile(r"""(?:(?<=[.!?])|(?<=[.!?]["”’)]))\s+(?=(?:[-*•]|\([ivx\d]{1,4}\)|\d{1,2}[.)])\s)""")
_EXAMPLE_WORDS = 5
_LIKE = 85.0
_NUMBERS = "one two three four five six seven eight nine ten eleven twelve twenty hundred thousand half"
_NUMBER_WORDS = frozenset(_NUMBERS.split(" "))


def without_copied(text: str, instructions: str, examples: Sequence[str] = ()) -> tuple[str, int]:
    """Take out what a model copied from its own instructions.

    A sentence of six words or more goes when the instructions hold it, near to the letter (similarity of at least 92
    of 100 to its best place there), or when it repeats an example; a question of four or five words goes when they
    hold its words one after the other. Shorter ones are too common to tell. Every other sentence stays letter by
    letter, with the line breaks and list numbers around it.

    Args:
        text: One field of a review.
        instructions: The form and the guidelines as they stood in the prompt.
        examples: Worked examples of the prompt.

    Returns:
        The text without the copied sentences, and how many there were.
    """
    source = _plain(instructions)
    kept: list[str] = []
    copied = 0
    for line in text.splitlines(keepends=True):
        own = [(sentence, gap) for sentence, gap in _with_gaps(line) if not _is_copied(sentence, source, examples)]
        taken = len(_sentences(line)) - len(own)
        copied += taken
        if not taken:
            kept.append(line)
        elif own:
            end = line[len(line.rstrip()) :]
            kept.append(line[: len(line) - len(line.lstrip())] + "".join(s + g for s, g in own).rstrip() + end)
    return ("".join(kept).strip(), copied) if copied else (text, 0)


def worked_examples(prompt: str) -> tuple[str, ...]:
    """The worked examples of a prompt: what stands in it between quotation marks, from five words on."""
    quoted = (" ".join(found.split()) for found in _QUOTED.findall(prompt))
    return tuple(dict.fromkeys(one for one in quoted if len(one.split()) >= _EXAMPLE_WORDS))


def repeats_example(claim: str, examples: Sequence[str]) -> bool:
    """Whether a claim is a worked example of the prompt over again, in similar words (85 of 100), whatever its numbers.

    Numerals and number words are left out of both, and the order of words does not count. A claim that goes on behind
    the example repeats it as well.
    """
    said = _without_numbers(claim)
    if len(said.split()) < _EXAMPLE_WORDS:
        return False
    for example in map(_without_numbers, examples):
        if len(example.split()) < _EXAMPLE_WORDS:
            continue
        if max(fuzz.ratio(said, example), fuzz.token_sort_ratio(said, example)) >= _LIKE:
            return True
        if len(said) > len(example) and fuzz.partial_ratio(example, said) >= _SAME:
            return True
    return False


def _is_copied(sentence: str, source: str, examples: Sequence[str]) -> bool:
    plain = _plain(sentence)
    words = len(plain.split())
    if words < _MIN_WORDS:
        return sentence.rstrip().endswith("?") and words >= _QUESTION_WORDS and f" {plain} " in f" {source} "
    return fuzz.partial_ratio(plain, source, score_cutoff=_SAME) >= _SAME or repeats_example(sentence, examples)


def _with_gaps(line: str) -> Iterator[tuple[str, str]]:
    """The sentences of a line, each with the blanks that follow it."""
    at = 0
    for sentence in _sentences(line):
        start = line.index(sentence, at)
        at = start + len(sentence)
        rest = line[at:]
        yield sentence, rest[: len(rest) - len(rest.lstrip())]


def _sentences(line: str) -> list[str]:
    """The sentences of a line; an end before the mark of a list item is one too."""
    return [piece for sentence in split_sentences(line) for piece in _BEFORE_ITEM.split(sentence) if piece]


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _without_numbers(text: str) -> str:
    words = _WORD.findall(text.casefold())
    return " ".join(word for word in words if not any(map(str.isdigit, word)) and word not in _NUMBER_WORDS)
