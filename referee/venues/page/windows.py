"""Candidates in windows that fit a prompt's room."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from referee.venues.page.page_types import Candidate, Window


def windows(candidates: Sequence[Candidate], room_tokens: int, count: Callable[[str], int]) -> tuple[Window, ...]:
    """Cut the candidates into windows, in order; no candidate is in two of them, headings may be.

    Args:
        candidates: What ``candidates`` gave.
        room_tokens: The most tokens that a window's text may have. A candidate that is longer with its headings makes
            a window of its own, which is then over the room.
        count: Tokens of a text. It is called once for each line, so joins are counted as one token more.

    Returns:
        Windows ``w01``, ``w02``, ...; none for no candidates.

    Raises:
        ValueError: ``room_tokens`` is below one.
    """
    if room_tokens < 1:
        raise ValueError(f"room_tokens must be at least 1, not {room_tokens}")
    groups: list[list[Candidate]] = []
    used = 0
    for candidate in candidates:
        previous = groups[-1][-1].heading if groups else ()
        same = bool(groups) and candidate.heading == previous
        more = sum(count(line) + 1 for line in _lines(candidate, headed=not same))
        if groups and used + more <= room_tokens:
            groups[-1].append(candidate)
            used += more
        else:
            groups.append([candidate])
            used = sum(count(line) + 1 for line in _lines(candidate, headed=True))
    return tuple(Window(f"w{at:02d}", tuple(group), _text(group)) for at, group in enumerate(groups, start=1))


def _text(group: Sequence[Candidate]) -> str:
    lines: list[str] = []
    previous: tuple[str, ...] | None = None
    for candidate in group:
        lines += _lines(candidate, headed=candidate.heading != previous)
        previous = candidate.heading
    return "\n".join(lines)


def _lines(candidate: Candidate, *, headed: bool) -> list[str]:
    heading = [f"# {' > '.join(candidate.heading)}"] if headed and candidate.heading else []
    return [*heading, f"{candidate.id} {candidate.words}"]
