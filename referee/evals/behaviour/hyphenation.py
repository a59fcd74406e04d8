"""Where a word may be hyphenated, by the patterns of the library pyphen, found faster than the library finds them."""

from __future__ import annotations


class Hyphenation:
    """Counts the points of hyphenation of words: Liang's algorithm over the patterns of one language.

    pyphen looks up every substring of a word; here a substring that begins no pattern ends the search from its first
    letter. Nothing is kept of the words.

    Args:
        language: As pyphen names it.

    Source: Liang, "Word Hy-phen-a-tion by Com-put-er", 1983.
    """

    def __init__(self, language: str) -> None:
        import pyphen

        library = pyphen.Pyphen(lang=language)
        self._left, self._right = library.left, library.right
        # The places and weights of a pattern by its letters; none for letters that only begin one.
        self._known: dict[str, tuple[tuple[int, int], ...]] = {}
        for letters, (start, weights) in library.hd.patterns.items():
            self._known[letters] = tuple((place, int(weight)) for place, weight in enumerate(weights, start) if weight)
            for end in range(1, len(letters)):
                self._known.setdefault(letters[:end], ())

    def points(self, word: str) -> int:
        """How many points a word has, as pyphen counts them.

        Args:
            word: In small letters.
        """
        framed = f".{word}."
        length = len(framed)
        weights = [0] * (length + 1)
        look_up = self._known.get
        for begin in range(length - 1):
            for end in range(begin + 1, length + 1):
                found = look_up(framed[begin:end])
                if found is None:
                    break
                for place, weight in found:
                    if weight > weights[begin + place]:
                        weights[begin + place] = weight
        return sum(weight & 1 for weight in weights[self._left + 1 : len(word) - self._right + 2])
