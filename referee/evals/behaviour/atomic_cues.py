"""Whether a sentence praises or criticises, by its words: for reviews without boxes or headings that say so.

The lists are ours. A sentence that does both is cut at its "but"; what stays ambiguous is a weakness.
"""

from __future__ import annotations

import re

from referee.evals.behaviour.atomic_names import Polarity

_GOOD_WORDS = (
    r"(?:well[- ](?:written|motivated|organi[sz]ed|structured|presented|executed|designed|explained|supported|done)"
    r"|clear(?:ly)?|novel|interesting|original|elegant|impressive|convincing(?:ly)?|compelling|thorough(?:ly)?"
    r"|comprehensive|extensive|solid|sound|strong|excellent|good|great|nice(?:ly)?|important|significant(?:ly)?"
    r"|valuable|useful|promising|innovative|rigorous|insightful|timely|effective(?:ly)?"
    r"|easy to (?:read|follow|understand)|enjoyed|i like|i liked|appreciate[ds]?|commendable|makes sense"
    r"|state[- ]of[- ]the[- ]art results?|outperforms?|strengths?|merits?|intuitive|simple (?:and|yet|but)"
    r"|reproducible|meaningful|competitive|reasonable|pleasure)"
)
_BAD_WORDS = (
    r"(?:unfortunately|lack(?:s|ed|ing)?|missing|unclear|unconvinc\w+|weak(?:ly|ness(?:es)?)?|limited|limits"
    r"|concern(?:s|ed)?|fail(?:s|ed)?|insufficient(?:ly)?|inadequate(?:ly)?|confus(?:ing|ed|es)"
    r"|(?:hard|difficult|impossible) to (?:\w+)|questionable|doubt(?:s|ful)?|incremental|marginal(?:ly)?|trivial"
    r"|vague(?:ly)?|wrong|incorrect|flaw(?:s|ed)?|misleading|overclaim\w*|problematic|unfair|outdated|poor(?:ly)?|superficial(?:ly)?"
    r"|inconsisten(?:t|cy|cies)|ambigu\w+|omit(?:s|ted)?|ignor(?:es|ed|ing)|neglect\w*|drawbacks?|shortcomings?"
    r"|(?:would|could|should|might|must|needs? to|ought to) (?:\w+ ){0,3}(?:better|help(?:ful)?|nice|interesting|useful"
    r"|good|great|beneficial|improved?|added?|includ(?:e|ed)|provid(?:e|ed)|compared?|discuss(?:ed)?|clarif(?:y|ied)|explain(?:ed)?"
    r"|shown?|report(?:ed)?|strengthen(?:ed)?|consider(?:ed)?|address(?:ed)?|cite[ds]?|be)"
    r"|please|it is not|is not|are not|does not|do not|did not|cannot|can not|has not|have not|was not|were not"
    r"|(?:is|are|does|do|did|has|have|was|were|ca|could|would|should)n['’]t"
    r"|no (?:\w+ )?(?:comparison|ablation|baselines?|evidence|experiments?|discussion|analysis|details?|explanation"
    r"|justification|theor\w+|code|results?|error bars|mention|guarantees?|proof)"
    r"|only (?:\w+ ){0,2}(?:one|two|small|toy|simple|a few|few|limited|marginal)|not (?:\w+ ){0,2}" + _GOOD_WORDS + r"|"
    r"(?:too|overly) \w+|without (?:\w+ ){0,2}(?:any|comparison|justification|explanation|evidence)|typos?"
    r"|reject(?:ed|ion)?|worse|suspicious|unsupported|unsubstantiated|unjustified|unrealistic|not)"
)
_GOOD = re.compile(rf"\b{_GOOD_WORDS}\b")
_BAD = re.compile(rf"\b{_BAD_WORDS}(?!\w)")
_CONTRAST = re.compile(r"(?:[,;]\s+|\s+[-–—]+\s+|\s+)(?:but|however|although|though|yet|nevertheless|while)\b,?\s+")


def polarity_of(sentence: str) -> Polarity | None:
    """Praise, criticism (also where there is both), or neither."""
    lower = sentence.lower()
    if _BAD.search(lower):
        return "weaknesses"
    return "strengths" if _GOOD.search(lower) else None


def by_cues(sentence: str) -> list[tuple[Polarity, str]]:
    """A sentence under its polarity; in two parts where it praises on one side of a "but" and criticises on the other.

    Nothing for a sentence that does neither.
    """
    found = polarity_of(sentence)
    if found is None:
        return []
    contrast = _CONTRAST.search(sentence)
    if contrast is not None:
        before, behind = sentence[: contrast.start()].strip(), sentence[contrast.end() :].strip()
        first, second = polarity_of(before), polarity_of(behind)
        if first is not None and second is not None and first != second:
            return [(first, before), (second, behind)]
    return [(found, sentence)]
