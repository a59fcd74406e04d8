"""How sentences that tell a model how to review are worded: orders to set instructions aside, addresses, demands."""

from __future__ import annotations

import re

_MODEL = r"(?:A\.?I\.?|L\.?L\.?M|(?:large )?language model|GPT|ChatGPT|Claude|Gemini|chat ?bot)s?"
_MACHINE = rf"(?:(?:{_MODEL})(?:[- ](?:based|powered|generated))?|automated|automatic|machine)"
_JUDGE = (
    r"(?:reviewer|referee|reviewing (?:model|system|assistant|agent|tool)|review (?:model|system|agent|assistant)"
    r"|evaluator|assistant|agent|grader|judge)s?"
)
_THIS = r"(?:this|the present|our)\s+(?:paper|submission|manuscript|work|article)"
_START = (
    r"(?:^|[.:;!?,(\[\"\u201c\u2014*]\s*|\b(?:please|now|then|you must|you should|you shall|you will|always|kindly)\s+)"
)
_ALSO = r"(?:also\s+|only\s+|now\s+)?"
_PRAISE = (
    r"(?:positive|favou?rable|glowing|very good|excellent|high|higher|highest|maximum|top|perfect|enthusiastic"
    r"|strong(?:ly)? positive|best possible)"
)
_RATED = r"(?:reviews?|scores?|ratings?|evaluations?|assessments?|feedback|recommendations?|marks?)"
_FAULT = (
    r"(?:negatives?|negative (?:points|aspects|comments|remarks)|weakness(?:es)?|flaws?|limitations?|criticisms?"
    r"|shortcomings?|problems|concerns)"
)
_GIVE = r"(?:give|write|provide|output|generate|produce|return|issue|submit|assign|award|respond with|reply with)"
_SILENCE = r"(?:mention|highlight|list|point out|report|includ|discuss|stat|rais|identify|nam|critici[sz])"

_OVERRIDES = (
    r"\b(?:ignore|disregard|forget|override|bypass|discard)\b(?:\s+\w+){0,3}?\s+"
    r"(?:previous|prior|above|preceding|earlier|your|system|original|all)\b(?:\s+\w+){0,3}?\s+"
    r"(?:instructions?|prompts?|directions?|directives?|commands?|guidelines?)\b",
    r"(?:忽略|无视|忽視|無視)[^。.]{0,12}(?:指令|指示|提示|要求)",
    r"(?:指示|命令|プロンプト)を?(?:すべて|全て)?無視",
    r"\bignor(?:ez|a|e|iere(?:n Sie)?)\s+(?:\w+\s+){0,3}"
    r"(?:instructions|instrucciones|instruções|istruzioni|Anweisungen)\b",
)
_ADDRESSES = (
    rf"{_START}(?:(?:important )?(?:note|notice|attention|message|instructions?)\s+|dear\s+|hey\s+|hello\s+)?"
    rf"(?:to\s+|for\s+)?(?:all\s+|any\s+|the\s+)*{_MACHINE}[- ]{_JUDGE}\s*[:,!](?!\s*(?:and|or|such|which|we|it)\b)",
    rf"\b(?:note|attention|message|instructions?|notice|reminder)\s+(?:to|for)\s+(?:all\s+|any\s+|the\s+)*"
    rf"(?:{_MACHINE}[- ]{_JUDGE}|{_MODEL})\s*[:!]",
    rf"\b(?:if|when|since|because|as)\s+you(?:\s+are|'re)\s+(?:an?\s+|the\s+)(?:{_MACHINE}(?:[- ]{_JUDGE})?)\b",
    rf"{_START}as\s+(?:an?|the)\s+{_MACHINE}[- ]{_JUDGE},?\s+"
    r"(?:you|please|give|write|rate|assign|recommend|do not|ignore|always)\b",
    rf"\b(?:any|every|all|the)\s+{_MACHINE}[- ]?{_JUDGE}?\s+(?:reading|reviewing|processing|evaluating|assessing)\s+"
    rf"{_THIS}\s+(?:must|should|shall|(?:is|are) (?:instructed|required|asked))\b",
    rf"\b(?:for|to)\s+{_MODEL}(?:\s+reviewers?)?\s*:\s*(?:ignore|give|write|please|this|rate|recommend|do)\b",
)
_STRICT, _LOOSE = rf"{_START}{_ALSO}", r"\b"
_DEMANDS = (
    rf"{_GIVE}\s+(?:\w+\s+){{0,5}}?{_PRAISE}\s+(?:\w+\s+){{0,2}}?{_RATED}\b",
    rf"(?:do not|don't|never|avoid|refrain from)\s+(?:\w+\s+){{0,2}}?{_SILENCE}\w*\s+(?:\w+\s+){{0,3}}?{_FAULT}\b",
    r"(?:recommend|vote for|suggest|advise|endorse|argue for|conclude with)\s+(?:an?\s+|its\s+|the\s+|immediate\s+"
    r"|strong\s+|clear\s+|\"|')*(?:accept|acceptance)\b(?!\s+(?:rate|criteri|test|prob|ratio|region))",
    rf"(?:accept|strongly accept|praise|champion)\s+{_THIS}\b",
    rf"(?:rate|score|grade)\s+(?:{_THIS}|it|this)\b[^.]{{0,60}}?"
    r"(?:\b(?:10|9|8)\s*(?:/|out of)\s*10\b"
    r"|\b(?:highest|maximum|strong accept|excellent|highly|favou?rably|positively)\b)",
    rf"(?:emphasi[sz]e|stress|highlight|praise|mention only|focus only on|list only|report only)\s+(?:\w+\s+){{0,3}}?"
    rf"(?:exceptional|strengths|outstanding|novelty)\b[^.]{{0,80}}"
    rf"\b(?:{_THIS}|review\b|score\b|accept\w*)",
)
_COMMANDS = (
    rf"\b(?:you|{_MACHINE}[- ]{_JUDGE}|{_MODEL})\s+"
    r"(?:must|should|shall|have to|are (?:required|instructed|asked) to)\s+"
    rf"(?:\w+\s+){{0,2}}?(?:accept|recommend accept\w*|praise|give\s+(?:\w+\s+){{0,3}}?{_PRAISE})\b",
)


def _any(patterns: tuple[str, ...], before: str = "") -> re.Pattern[str]:
    return re.compile("|".join(f"{before}(?:{pattern})" for pattern in patterns), re.IGNORECASE)


OVERRIDE = _any(_OVERRIDES)
"""An order to set instructions aside."""

ADDRESS = _any(_ADDRESSES)
"""Words spoken to a machine that reviews."""

DEMAND = re.compile(f"{_any(_DEMANDS, _STRICT).pattern}|{_any(_COMMANDS).pattern}", re.IGNORECASE)
"""A demand about the verdict, worded as an order."""

LOOSE_DEMAND = re.compile(f"{_any(_DEMANDS, _LOOSE).pattern}|{_any(_COMMANDS).pattern}", re.IGNORECASE)
"""The same anywhere in a sentence: enough beside an order or an address, too little alone."""

TOPIC = re.compile(
    r"prompt[- ]?injection|injected (?:prompt|instruction)|jailbreak|(?:hidden|adversarial) (?:prompt|instruction)",
    re.IGNORECASE,
)
"""Words of papers that are about such sentences."""

TRIGGER = re.compile(
    r"ignor|disregard|forget|overrid|bypass|discard|review|referee|accept|rate|score|weakness|negativ|flaw|limitation|criti|忽|無視|无视"
    r"|\bA\.?I\b|LLM|GPT|Claude|Gemini|model",
    re.IGNORECASE,
)
"""A cheap test that no sentence of interest fails."""
