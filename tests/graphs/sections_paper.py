"""A made-up paper of as many sections as a test wants, each long enough to be read by a call of its own."""

from __future__ import annotations

import random

HEADINGS = (
    "Introduction",
    "Method",
    "Results",
    "Related Work",
    "Discussion",
    "Limitations",
    "Experiments",
    "Theory",
    "Ablation",
    "Implementation",
    "Analysis",
    "Conclusion",
)

CLAIM = "We show that the lantern method improves recall on the harbour corpus by a wide margin over all rivals."
SEEDED = "Every encoder was trained on the harbour corpus with one fixed seed throughout all of our trials."
DROPOUT = "A dropout layer follows each attention block of the encoder and is switched off while it is read out."
TIED = "On the harbour corpus the lantern method and the strongest rival are tied in recall within their spread."
PROMISE = "The lantern method is the only one that we tune, and its rivals keep the values of their authors."
TUNED = "All rivals were tuned on the same grid as the lantern method before they were compared with it."
CONCEDED = "The harbour corpus covers a single port only, so that nothing is known about any other port."

FACTS = {
    "Introduction": (PROMISE,),
    "Method": (SEEDED, DROPOUT),
    "Results": (TIED, TUNED),
    "Discussion": (CONCEDED,),
}

_WORDS = {
    "who": (
        "clerks",
        "pilots",
        "sailors",
        "readers",
        "keepers",
        "judges",
        "porters",
        "singers",
        "weavers",
        "gardeners",
    ),
    "does": ("carry", "follow", "notice", "answer", "gather", "settle", "borrow", "remember", "polish", "count"),
    "what": ("letters", "baskets", "lamps", "stones", "ropes", "ledgers", "bottles", "feathers", "candles", "maps"),
    "where": ("yard", "attic", "orchard", "kitchen", "meadow", "station", "tower", "valley", "library", "stable"),
    "when": ("morning", "evening", "winter", "summer", "market", "harvest", "concert", "holiday", "journey", "storm"),
}
_SENTENCES = 14


def paper_text(sections: int = 3) -> str:
    """Markdown with that many sections of some 190 words; those named in ``FACTS`` hold their sentences."""
    dice = random.Random(7)
    body = [
        f"## {number} {heading}\n\n{_prose(heading, dice)}" for number, heading in enumerate(HEADINGS[:sections], 1)
    ]
    return "\n\n".join(["# Lanterns at the Harbour", f"## Abstract\n\n{CLAIM}", *body]) + "\n"


def _prose(heading: str, dice: random.Random) -> str:
    filler = [_sentence(dice) for _ in range(_SENTENCES)]
    facts = FACTS.get(heading, ())
    return " ".join([*filler[:4], *facts, *filler[4:]])


def _sentence(dice: random.Random) -> str:
    who, does, what, where, when = (dice.choice(words) for words in _WORDS.values())
    other, there = dice.choice(_WORDS["what"]), dice.choice(_WORDS["where"])
    return f"The {who} {does} {what} and {other} in the {where} near the {there} after the {when}."
