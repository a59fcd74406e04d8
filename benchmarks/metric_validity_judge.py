"""The overlap judge: answers every prompt of the metrics by rules on the words it is shown, and by nothing else.

It knows cue words and counts shared content words; it understands nothing. Its rules were written down before the first
run and see what a model would see: the rendered prompt. What comes out with it shows what the machinery around a judge
does (splitting, retrieval, tracing of quotations, arithmetic), and what cue words alone reach. It shows nothing about
how well a language model judges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from referee.agents.review_judges import RESPECTS
from referee.evals.judging import Panel
from referee.evidence import split_sentences
from referee.evidence.stems import stems
from referee.testing import Asked, ScriptedModel
from tests.support.material import spans

NAME = "overlap judge"
STRONG, MODERATE, WEAK = 0.6, 0.35, 0.15
ANSWERED, DECIDED = 0.3, 0.5
_FEWEST_WORDS = 5
_MOST_TOPICS, _TOPIC_CHARS, _QUOTE_CHARS = 20, 400, 320

_REQUEST = re.compile(
    r"\b(?:should|please|could you|can you|would (?:be|have|help|like)|suggest\w*|recommend\w*|consider|add|include"
    r"|provide|clarify|discuss|explain|need(?:s|ed)? to|must)\b",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(
    r"\b(?:not|no|lack\w*|limited|weak\w*|unclear|missing|insufficient\w*|however|but|only|fails?|poor\w*|confus\w*"
    r"|concern\w*|unconvinc\w*|incremental|hard to|difficult to|questionable|without|unfortunately|problem\w*|wrong"
    r"|incorrect)\b",
    re.IGNORECASE,
)
_POSITIVE = re.compile(
    r"\b(?:interesting|novel|well[- ]written|clear(?:ly)?|strong\w*|good|great|impressive|important|nice\w*|thorough"
    r"|convincing\w*|solid|sound|extensive|easy to|elegant|valuable|enjoyed|like)\b",
    re.IGNORECASE,
)
_METHOD = re.compile(
    r"\b(?:experiment\w*|baseline\w*|ablation\w*|dataset\w*|data|evaluat\w*|metric\w*|compar\w*|setting\w*|method\w*"
    r"|approach\w*|train\w*|hyperparameter\w*)\b",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"^(?:this|the|in this)\s+(?:paper|work|article|manuscript|authors?)\b.*\b(?:propos\w+|present\w*|introduc\w+"
    r"|stud(?:y|ies)|address\w*|investigat\w+|consider\w*|describ\w+|explor\w+|develop\w*)\b",
    re.IGNORECASE,
)
_OPINION = re.compile(r"\b(?:accept|reject|novelty|originality|score|rating|I (?:think|feel|believe|am))\b")
_LITERATURE = re.compile(r"\b(?:cite|citation|related work|prior work|literature)\b", re.IGNORECASE)
_PARTICULAR = re.compile(
    r"\d|(?i:\b(?:section|table|figure|fig|equation|eq|lemma|theorem|appendix|algorithm)\b)|\bet al\b|[\"“”]"
    r"|(?<=[a-z,] )[A-Z]\w*[A-Z]\w*"
)
_STEPS = re.compile(r"\b(?:by|using|via|such as|e\.g|for example|for instance|instead of|with)\b", re.IGNORECASE)
_ABSENT = re.compile(
    r"\b(?:no|without|lacks?|lacking|missing|absence of|does not (?:report|mention|include|discuss))\s"
)
_RESPECT_WORDS: Mapping[str, re.Pattern[str]] = {
    "literature": re.compile(
        r"\b(?:related|prior|previous|literature|cite|citation|et al|state[- ]of[- ]the[- ]art)\b"
    ),
    "logic": re.compile(r"\b(?:claim\w*|assum\w*|argu\w*|follow\w*|justif\w*|support\w*|contradict\w*|consisten\w*)\b"),
    "method": re.compile(r"\b(?:method\w*|baseline\w*|ablation\w*|dataset\w*|experiment\w*|design\w*|hyperparam\w*)\b"),
    "results": re.compile(r"\b(?:result\w*|performance|improve\w*|gain\w*|significan\w*|variance|interpret\w*)\b"),
    "theory": re.compile(r"\b(?:theor\w*|proof\w*|prove\w*|lemma|bound\w*|concept\w*|contribution\w*|novel\w*)\b"),
}
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
_NAME = re.compile(r"(?<=[a-z,;%)] )(?=\w*[A-Z])[A-Za-z]\w+")
_NEGATION = re.compile(r"\b(?:not|no|never|neither|nor|cannot)\b|n['’]t\b", re.IGNORECASE)
_QUOTATION = re.compile(r'<quotation id="([^"]+)">\nFrom [^\n]*:\n(.*?)\n</quotation>', re.DOTALL)
_PASSAGE = re.compile(r'<passage id="([^"]+)">\nFrom [^\n]*:\n(.*?)\n</passage>', re.DOTALL)
_RULE = re.compile(r"^\[(c\d+)\] \((judgement|fact)\) (.*)$", re.MULTILINE)


class OverlapJudge(ScriptedModel):
    """The judge with the door's ``ask``, and what the door says of a role's model."""

    def __init__(self) -> None:
        super().__init__(dict(_ANSWERS), model=NAME)
        judge = SimpleNamespace(context_tokens=128_000, count=lambda text: len(text) // 4, temperature=0.0)
        self.models: Any = {"judge": judge}

    async def ask(self, prompt: Any, reply: Any, **how: Any) -> Any:
        answer = await super().ask(prompt, reply, **how)
        self.history.clear()
        return answer


def overlap_panel() -> Panel:
    return Panel(OverlapJudge(), models={"judge": NAME})


def overlap(one: str, other: str) -> float:
    """Shared content stems, as a share of the shorter text's; 0 where a text has none."""
    left, right = set(stems(one)), set(stems(other))
    return len(left & right) / min(len(left), len(right)) if left and right else 0.0


def covered(claim: str, words: str) -> float:
    """The share of a claim's content stems that stand in other words."""
    wanted = set(stems(claim))
    return len(wanted & set(stems(words))) / len(wanted) if wanted else 0.0


def disagrees(claim: str, words: str) -> bool:
    """Whether the claim has a number or name that the words lack while they have another, or one side alone a "not"."""
    for pattern in (_NUMBER, _NAME):
        said, shown = set(pattern.findall(claim)), set(pattern.findall(words))
        if said - shown and shown - said:
            return True
    return bool(_NEGATION.search(claim)) != bool(_NEGATION.search(words))


def kind_of(sentence: str) -> str:
    """The kind of a review's sentence, as ``eval/points`` has them."""
    if len(sentence.split()) < _FEWEST_WORDS:
        return "other"
    if sentence.rstrip().endswith("?"):
        return "question"
    if _SUMMARY.search(sentence):
        return "summary"
    if _LITERATURE.search(sentence):
        return "literature"
    if _POSITIVE.search(sentence) and not _NEGATIVE.search(sentence):
        return "praise"
    return "opinion" if _OPINION.search(sentence) else "claim"


def insight_kind(sentence: str) -> str | None:
    """The kind of an insight by its cue words; None where the sentence is none."""
    if len(sentence.split()) < _FEWEST_WORDS:
        return None
    if _REQUEST.search(sentence) or sentence.rstrip().endswith("?"):
        return "suggestion"
    if _NEGATIVE.search(sentence):
        return "methodology" if _METHOD.search(sentence) else "criticism"
    return None


def respect_score(respect: str, sentences: Sequence[str]) -> tuple[int, str]:
    """0 to 3 for one respect: spoken of, with a particular, with a particular and a request; and the sentence."""
    spoken = [one for one in sentences if _RESPECT_WORDS[respect].search(one.lower())]
    scored = [(1 + bool(_PARTICULAR.search(one)) * (1 + bool(_REQUEST.search(one))), one) for one in spoken]
    return max(scored, key=lambda pair: (pair[0], pair[1]), default=(0, ""))


def _sentences(text: str) -> list[str]:
    return [one for line in text.splitlines() if line.strip() for one in split_sentences(line.strip())]


def _shown(asked: Asked, tag: str) -> str:
    return next(iter(spans(asked.user, tag)), "")


def _topics(asked: Asked) -> dict[str, Any]:
    said = [one[:_TOPIC_CHARS] for one in _sentences(_shown(asked, "review")) if len(one.split()) >= _FEWEST_WORDS]
    heaviest = sorted(said, key=lambda one: (-len(set(stems(one))), one))[:_MOST_TOPICS]
    return {"topics": [one for one in said if one in heaviest][:_MOST_TOPICS]}


def _match(asked: Asked) -> dict[str, Any]:
    first, second = (dict(_LISTED.findall(_shown(asked, tag))) for tag in ("first", "second"))
    pairs = sorted(
        ((overlap(a, b), i, j) for i, a in first.items() for j, b in second.items()), key=lambda pair: -pair[0]
    )
    bounds = (("strong", STRONG), ("moderate", MODERATE), ("weak", WEAK))
    most = int(re.findall(r"at most (\d+) pairs", asked.user)[-1])
    named = [
        {"first": i, "second": j, "strength": next(name for name, least in bounds if share >= least)}
        for share, i, j in pairs
        if share >= WEAK
    ]
    return {"pairs": named[:most]}


def _insights(asked: Asked) -> dict[str, Any]:
    most = int(re.findall(r"(\d+) at most", asked.user)[-1])
    found = [
        {
            "quote": sentence[:_QUOTE_CHARS],
            "kind": kind,
            "reason": "by cue words",
            "specific": bool(_PARTICULAR.search(sentence)),
            "feasible": bool(_REQUEST.search(sentence)),
            "steps": bool(_REQUEST.search(sentence) and _STEPS.search(sentence)),
        }
        for sentence in _sentences(_shown(asked, "review"))
        if (kind := insight_kind(sentence))
    ]
    return {"insights": found[:most]}


def _depth(asked: Asked) -> dict[str, Any]:
    sentences = _sentences(_shown(asked, "review"))
    scored = {respect: respect_score(respect, sentences) for respect in RESPECTS}
    return {r: {"finding": "by cue words", "quote": _cut(w), "score": s} for r, (s, w) in scored.items()}


def _cut(words: str) -> str:
    return f"{words} "[:_QUOTE_CHARS].rpartition(" ")[0]


def _adherence(asked: Asked) -> dict[str, Any]:
    review, answers = _shown(asked, "review"), {}
    for rule, mark, text in _RULE.findall(_shown(asked, "rules")):
        share = covered(text, review)
        given = (
            {"score": str(min(3, int(4 * share)))} if mark == "judgement" else {"met": "yes" if share >= 0.5 else "no"}
        )
        answers[rule] = {"finding": "by shared words", **given}
    return answers


def _points(asked: Asked) -> dict[str, Any]:
    numbered = _NUMBERED.findall(_shown(asked, "review"))
    if "points" not in asked.reply.model_fields:
        return {name: {"begins": sentence[:40], "kind": kind_of(sentence)} for name, sentence in numbered}
    return {
        "points": [{"sentences": [name], "statement": text[:260], "kind": kind_of(text)} for name, text in numbered]
    }


def _questions(asked: Asked) -> dict[str, Any]:
    point = _shown(asked, "point").strip()
    missing = _ABSENT.search(point)
    absent = [" ".join(point[missing.end() :].split()[:3]).strip(" .,;:")] if missing else []
    return {"question": f"Does the paper say: {point}"[:300], "sub_questions": [point[:300]], "absent": absent}


def _answers(asked: Asked) -> dict[str, Any]:
    question = _shown(asked, "question")
    found = [
        (covered(question, sentence), name, sentence)
        for name, text in _PASSAGE.findall(asked.user)
        for sentence in _sentences(text)
        if len(sentence) <= _QUOTE_CHARS and len(sentence.split()) >= _FEWEST_WORDS
    ]
    best = [one for one in sorted(found, key=lambda one: -one[0])[:3] if one[0] >= ANSWERED]
    quotes = [{"passage": name, "quote": sentence} for _, name, sentence in best]
    return {"quotes": quotes, "found": bool(best), "answer": best[0][2][:400] if best else ""}


def _rebuttal(asked: Asked) -> dict[str, Any]:
    point, searched = _shown(asked, "point"), _shown(asked, "search")
    shares = [(covered(point, text), name, text) for name, text in _QUOTATION.findall(asked.user)]
    share, name, text = max(shares, default=(0.0, "none", ""))
    if "They stand nowhere in it." in searched:
        return _verdict("none", "valid", "the search found nothing")
    if share < DECIDED:
        return _verdict("none", "undecided", "no quotation shares enough with the point")
    return _verdict(name, "invalid" if disagrees(point, text) else "valid", f"{share:.2f} of the point's words")


def _verdict(name: str, verdict: str, reason: str) -> dict[str, Any]:
    return {"rebuttal": reason, "quotation": name, "verdict": verdict, "reason": reason}


_LISTED = re.compile(r"^([ab]\d+): (.*)$", re.MULTILINE)
_NUMBERED = re.compile(r"^\[(s\d+)\] (.*)$", re.MULTILINE)
_ANSWERS: Mapping[str, Callable[[Asked], dict[str, Any]]] = {
    "eval/topics": _topics,
    "eval/match": _match,
    "eval/insights": _insights,
    "eval/depth": _depth,
    "eval/adherence": _adherence,
    "eval/points": _points,
    "eval/points-lean": _points,
    "eval/questions": _questions,
    "eval/answers": _answers,
    "eval/rebuttal": _rebuttal,
}
