"""What tells reviewers apart who read the same paper with the same prompt: a number, a place to begin, a persona.

Source: members of an ensemble follow The AI Scientist (Lu et al. 2024, 2408.06292), which tells them apart by sampling
alone; where a model is asked at temperature 0, ours differ in where they begin. The four personas are those that the
benchmark of machine-written reviews names; the words are ours.
"""

from __future__ import annotations

from typing import Literal, get_args

Persona = Literal["balanced", "conservative", "innovative", "nitpicky"]
PERSONAS: tuple[Persona, ...] = get_args(Persona)

_BEGINNINGS = (
    "Begin with the claims: take them one by one and look for what shows each of them.",
    "Begin with the method and the design: would it show a difference if there were none, and find it if there is one?",
    "Begin with the results: numbers, tables, spreads and baselines, and whether the text says what they say.",
    "Begin with what somebody else would need to repeat the work, and with what the authors concede or leave out.",
    "Begin with the question itself: for whom the answer matters, how far it reaches, how clearly it is told.",
)
_SAME = "Write as if yours were the only review."

_MANNERS: dict[Persona, str] = {
    "balanced": "You weigh merits against defects, give both the same care, and let neither stand without the passage "
    "it rests on. Small slips stay small, and a good idea does not excuse a missing control.",
    "conservative": "You trust established methods, strict controls and full comparisons. A claim is not accepted "
    "before the evidence leaves no other reading; what departs from common practice has to be justified.",
    "innovative": "You look for the new idea and for what could grow from it. You forgive gaps in execution where the "
    "direction is promising, and you are hard on work that is solid but adds little.",
    "nitpicky": "You check details: notation, definitions, captions, units, rounding, wording, references between "
    "parts. You list every slip you can show, also where it changes no conclusion.",
}


def member_stance(number: int, size: int, *, sampled: bool) -> str:
    """What a member of an ensemble is told about itself.

    Args:
        number: From 1.
        size: How many members there are.
        sampled: Whether the model samples; members then share their prompt, and differ by sampling alone.
    """
    if sampled:
        return _SAME
    beginning = _BEGINNINGS[(number - 1) % len(_BEGINNINGS)]
    return f"You are reviewer {number} of {size}. {beginning} Then read all the rest with the same care. {_SAME}"


def persona_text(persona: Persona) -> str:
    """The manner of a persona, for a prompt."""
    return f"A {persona} reviewer. {_MANNERS[persona]}"
