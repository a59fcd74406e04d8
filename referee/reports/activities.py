"""What a call to a model is for, in a user's words."""

from __future__ import annotations

_BY_PROMPT = {
    "detect/anchor": "writing an anchor review",
    "detect/bullets": "condensing a review",
    "detect/continue": "writing a review's second half",
    "detect/edit": "editing a review",
    "detect/expand": "writing a review from notes",
    "detect/extend": "extending a review",
    "eval/adherence": "comparing a review with the guidelines",
    "eval/answers": "answering a question from the paper",
    "eval/atomic": "taking a review apart",
    "eval/covers": "comparing the points of reviews",
    "eval/depth": "judging a review's depth",
    "eval/generic": "judging how generic a review is",
    "eval/insights": "judging a review's advice",
    "eval/match": "matching the topics of reviews",
    "eval/mathematics": "reading a review's mathematics",
    "eval/points": "listing a review's points",
    "eval/questions": "asking about a point",
    "eval/rebuttal": "judging a point",
    "eval/topics": "listing a review's topics",
    "eval/usefulness": "judging a review's points",
    "eval/assertions": "judging a review's assertions",
    "guidelines/form": "reading the page's form",
    "guidelines/label": "reading the page's guidelines",
    "guidelines/read": "reading the page's guidelines",
    "literature/queries": "picking what the paper claims",
    "literature/read": "reading abstracts of earlier works",
    "literature/support": "reading abstracts of cited works",
    "figures/read": "looking at figures",
    "models/sees": "asking whether it takes pictures",
    "plant/judge": "reading a planted error",
    "plant/replace": "wording an error",
    "refinement/criticise": "criticising the venue's prompts",
    "refinement/revise": "revising the venue's prompts",
    "refinement/write": "writing the venue's prompts",
    "review/audit": "testing the points",
    "review/chair": "summing up the reviewers",
    "review/check": "checking the points",
    "review/compose": "writing the review",
    "review/consolidate": "merging the points",
    "review/cross": "reading across the sections",
    "review/expert": "asking an expert",
    "review/final": "reading the finished review",
    "review/map": "mapping the guidelines to the form",
    "review/passage": "reading a passage",
    "review/reflect": "thinking the review over",
    "review/section": "reading a section",
    "review/team": "working on an expert's questions",
}
_BY_ROOM = {
    "detect": "writing a text",
    "eval": "judging a review",
    "guidelines": "reading the page",
    "literature": "searching the literature",
    "models": "trying the model",
    "plant": "planting errors",
    "refinement": "refining the venue's prompts",
    "review": "reviewing the paper",
}


def activity(prompt: str) -> str:
    """What is done with a prompt, by its id; the variants of a prompt share their words."""
    room, _, name = prompt.partition("/")
    family = name.partition("-")[0]
    return _BY_PROMPT.get(f"{room}/{family}") or _BY_ROOM.get(room, "asking the model")
