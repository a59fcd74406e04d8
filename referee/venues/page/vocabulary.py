"""What words alone tell of a page: that it is about reviewing, that it is noise, which language it is in.

Three classes for English: the act (review, referee), criteria (soundness, novelty) and judging (assess, score). A page
about reviewing papers uses all three; a product page or an author's formatting guide uses one of them at most.
"""

from __future__ import annotations

import re
from collections import Counter

ACT = re.compile(r"\b(?:(?:meta-?|peer[ -]?)?review(?:s|er|ers|er['’]s|ed|ing)?|referee(?:s|ing)?)\b", re.IGNORECASE)
CRITERION = re.compile(
    r"\b(?:sound(?:ness)?|novel(?:ty)?|original(?:ity)?|significan(?:ce|t)|clar(?:ity|ify)|clear(?:ly)?|unclear|"
    r"contributions?|strengths?|weakness(?:es)?|reproduc\w+|replica\w+|rigou?r(?:ous)?|evidence|claims?|convincing|"
    r"methodolog\w+|methods?|limitations?|correct(?:ness)?|validity|impact(?:ful)?|technical(?:ly)?|excit\w+|"
    r"interesting|(?:related|previous|prior) work|experiments?|evaluation|baselines?|hypothes[ie]s|analys[ie]s|"
    r"results?|proofs?|arguments?|argumentation|usability|well[ -](?:written|organi[sz]ed)|presentation|quality|"
    r"documentation|relevan(?:ce|t)|ethic(?:s|al)|societal|literature|added value|perspective)\b",
    re.IGNORECASE,
)
JUDGING = re.compile(
    r"\b(?:assess\w*|evaluat(?:e|es|ed|ing)|judg(?:e|es|ed|ing|e?ment)|rat(?:e|es|ed|ing|ings)|scor(?:e|es|ed|ing)|"
    r"recommend(?:s|ed|ation|ations|ing)?|accept(?:s|ed|ance|ing)?|reject(?:s|ed|ion|ing)?|confiden(?:ce|t)|"
    r"justif\w+|critici\w+|critique|feedback|constructive\w*|decisions?|opinions?|concerns?|comments?)\b",
    re.IGNORECASE,
)
OBJECT = re.compile(
    r"\b(?:papers?|manuscripts?|submissions?|authors?|articles?|stud(?:y|ies)|research|scientific|conference|journal|"
    r"workshop|area chairs?|program(?:me)? (?:chairs?|committee)|editors?|venue|rebuttal|blog ?posts?)\b",
    re.IGNORECASE,
)
AUTHOR_SIDE = re.compile(
    r"\b(?:your (?:own )?(?:paper|submission|manuscript|article|abstract|work|contribution|talk|"
    r"poster|figures?|code)s?\b"
    r"|(?:all |the |corresponding )?authors? (?:must|should|shall|may|will|can|need|are|have to|who|is|retain|wish)"
    r"|(?:all |the )?(?:submissions?|papers?|manuscripts?|articles?|abstracts?|submitted \w+) (?:must|shall|may not|"
    r"should (?:be (?:submitted|formatted|written in|prepared|no |at most|between|in )|not exceed|use|"
    r"follow|contain|have)"
    r"|will be|are limited|that exceed)"
    r"|we (?:invite|solicit|welcome) |camera[- ]ready|template|margins?\b|fonts?\b|page limit|\.sty\b|"
    r"\.cls\b|overleaf"
    r"|two[- ]column|single[- ]spaced|submission (?:site|system|deadline|portal))",
    re.IGNORECASE,
)
INSTRUCTION = re.compile(
    r"\b(?:should(?:n['’]t)?|must(?:n['’]t)?|shall|needs? to|ought to|ha(?:ve|s) to|required|"
    r"expect(?:ed)?|supposed to|"
    r"obligat(?:ed|ion)|please|asks? (?:you|that|reviewers|for)|asked to|encouraged?|(?:not|is|"
    r"are) (?:permitted|allowed)|"
    r"cannot|do(?:es)? not|don['’]t|avoid|refrain|make sure|ensure|be sure|never|be (?:aware|careful|mindful)|"
    r"important (?:to|that)|is best|good idea|worth|reasonable|recommend(?:ed)?|advise[ds]?|prohibited|forbidden|"
    r"responsible|your (?:role|task|job|duty)|would like you|look(?:ing)? (?:for|at)|focus(?:es)? on|criteri(?:on|a)|"
    r"judged|counts? as|only valid|valid (?:if|only)|free to|may (?:also )?(?:include|consider|want)|"
    r"can also|could include|"
    r"the goal|applies only|you (?:may|can|are|need|will))\b",
    re.IGNORECASE,
)
_VERBS = (
    "please|check|assess|evaluate|consider|describe|summari[sz]e|provide|explain|justify|judge|rate|read|re-?read|look|"
    "focus|avoid|ensure|make|be|do|don['’]t|never|always|write|list|identify|comment|indicate|flag|report|note|give|point|"
    "state|discuss|suggest|support|treat|respect|keep|use|add|answer|ask|pay|remember|refrain|try|verify|compare|cite|"
    "mention|mark|highlight|include|number|update|adjust|plan|respond|engage|separate|start|begin|select|choose|enter|"
    "contact|distinguish|acknowledge|adhere|follow|take|think|weigh|score|recommend|motivate|substantiate|back|examine|"
    "determine|review|inspect|search|see|put|address|highlight|criti[cq]\\w+|allocate|beware|disclose|declare|decide|"
    "let|help|test|work|set|offer|show|bear|stick|limit|balance|elaborate|praise|prioriti[sz]e|reflect|reward|skim|watch"
)
_LEAD = (
    r"^\W*(?:(?:step|task|rule|tip)?\s*\d{1,2}(?:\.\d{1,2})?[.):]\s*)?(?:(?:also|then|instead|finally|"
    r"next|first|hence|so|and|or|otherwise|rather|additionally|in addition|where possible|"
    r"if (?:possible|needed|so)),?\s+)?(?:please\s+)?"
)
_CLAUSE = (
    r"^(?:if|when|where|for|after|before|as|while|once|in|to|with|unless|"
    r"because)\b[^?!]{2,260}?,\s+(?:then |please |do |and )?"
)
IMPERATIVE = re.compile(rf"{_LEAD}(?:kindly |carefully |briefly )?(?:{_VERBS})\b(?![-'’/])(?!\s*[:=])", re.IGNORECASE)
AFTER_CLAUSE = re.compile(rf"{_CLAUSE}(?:{_VERBS})\b", re.IGNORECASE)

_FOREIGN = {
    "de": r"gutachte\w*|begutacht\w+|rezens\w+|bewert\w+|beurteil\w+|manuskript\w*|artikel\w*|beitr[aä]g\w*|"
    r"einreich\w+|st[aä]rken|"
    r"schw[aä]chen|original\w+|neuheit|klarheit|methodik|qualit[aä]t|kriteri\w+|autor\w*|empfehl\w+|"
    r"ablehn\w+|annahme|relevanz",
    "fr": r"relect\w+|évalu\w+|rapporteur\w*|examinateur\w*|expertise|article\w*|manuscrit\w*|soumission\w*|"
    r"originalit\w+|"
    r"nouveaut\w+|clart\w+|rigueur|méthod\w+|qualité|critère\w*|auteur\w*|recommand\w+|rejet\w*|accept\w+|pertinence|"
    r"forces|faiblesses",
    "es": r"revis\w+|evalua\w+|árbitro\w*|dictam\w+|artículo\w*|manuscrito\w*|originalidad|novedad|claridad|"
    r"rigor|método\w*|"
    r"metodolog\w+|calidad|criterio\w*|autor\w*|recomend\w+|rechaz\w+|acept\w+|relevancia|fortalezas|debilidades",
    "it": r"revisor\w*|revision\w*|valuta\w*|giudi\w+|manoscritt\w+|articol\w+|contribut\w+|originalit\w+|novità|"
    r"chiarezza|metod\w+|rigore|qualità|criteri\w*|autor[ei]\w*|raccomand\w+|accett\w+|rifiut\w+|rilevanza|pertinenza|"
    r"punti di forza|debolezz\w+|limiti",
    "pt": r"revis\w+|avalia\w*|parecer\w*|árbitr\w+|artigo\w*|manuscrito\w*|submiss\w+|originalidade|novidade|clareza|"
    r"rigor|métod\w+|metodolog\w+|qualidade|critério\w*|autor\w*|recomend\w+|rejei\w+|aceit\w+|relevância|"
    r"pontos? fortes?|fraquezas?|limitaç\w+",
    "nl": r"review\w*|beoorde\w+|referent\w*|manuscript\w*|artikel\w*|bijdrage\w*|inzending\w*|origin\w+|nieuwheid|"
    r"helder\w*|duidelijk\w*|method\w+|kwaliteit|criteri\w+|auteur\w*|aanbevel\w+|afwijz\w+|accept\w+|relevan\w+|"
    r"sterke punten|zwak\w+|beperking\w*",
    "ru": r"реценз\w+|оценк\w+|оценива\w+|оценит\w+|рукопис\w+|стат\w+|автор\w*|новизн\w*|оригинальн\w+|"
    r"ясност\w+|метод\w*|качеств\w+|"
    r"критери\w+|рекоменд\w+|отклон\w+|принят\w+|актуальност\w+|достоинств\w+|недостат\w+",
    "zh": r"审稿|评审|评阅|论文|稿件|作者|创新|原创|新颖|清晰|方法|质量|标准|建议|接收|录用|拒稿|优点|缺点|"
    r"意见|评价|评分",
    "ko": r"심사|리뷰|논문|원고|투고|저자|독창|참신|명확|방법|품질|기준|추천|채택|게재|거절|장점|단점|약점|"
    r"의견|평가|타당",
    "ja": r"査読|論文|投稿|著者|新規性|独創|明確|方法|品質|基準|推薦|採択|不採択|長所|短所|意見|評価|妥当|有用性",
}
FOREIGN = {
    code: re.compile(words if code in ("zh", "ja", "ko") else rf"\b(?:{words})\b", re.IGNORECASE)
    for code, words in _FOREIGN.items()
}


def reviewing_words(text: str, language: str = "") -> int:
    """How many words of the text are words of reviewing, in English or in the page's language."""
    if language in FOREIGN:
        return len(FOREIGN[language].findall(text))
    return sum(len(pattern.findall(text)) for pattern in (ACT, CRITERION, JUDGING))


def speaks_of_reviewing(text: str, language: str = "") -> bool:
    """Whether a candidate has two different words of reviewing, one of them a criterion or a judgement."""
    if language in FOREIGN:
        return len({word.lower() for word in FOREIGN[language].findall(text)}) >= 2
    kinds = [{word.lower() for word in pattern.findall(text)} for pattern in (ACT, CRITERION, JUDGING)]
    return sum(map(len, kinds)) >= 2 and bool(kinds[1] or kinds[2])


def asks(text: str) -> bool:
    """Whether an English sentence asks for something: a question, an imperative, or a word of obligation."""
    return text.rstrip("\"'”’) ").endswith("?") or is_imperative(text) or bool(INSTRUCTION.search(text))


def is_imperative(text: str) -> bool:
    """Whether an English sentence starts with an imperative, or has one after its opening clause."""
    return bool(IMPERATIVE.match(text) or AFTER_CLAUSE.match(text))


_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DATE = re.compile(
    rf"\b{_MONTH}\.?\s+\d{{1,2}}\b|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b|"
    rf"\b\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}\b|"
    rf"\b(?:19|20)\d\d-\d\d-\d\d\b|\banywhere on earth\b|\b\d{{1,2}}:\d\d\s?(?:am|pm|utc|gmt)\b",
    re.IGNORECASE,
)
_DATED_LINE = re.compile(
    rf"^\W*(?:{_DATE.pattern})|(?:[:–—|-]|\bon|\bby|\bdue)\s*(?:\w+day,?\s+)?(?:{_DATE.pattern})[^a-z]*$", re.I
)
_EVENT = re.compile(
    r"\b(?:deadlines?|(?:is|are) due|takes? place|will be held|registration|venue address|hotels?|"
    r"accommodation|visa|travel|"
    r"airport|period)\b",
    re.IGNORECASE,
)
_SOFTWARE = re.compile(
    r"\b(?:click(?:s|ing|ed)?|log(?:ging|ged)? ?in(?:to)?|sign(?:ing|ed)? in(?:to)?|log ?in page|"
    r"drop-?down|dashboard|"
    r"reviewer console|check ?box|buttons?|tabs?|top (?:left|right) corner|home ?page link|browser|pip install|"
    r"git clone|global profile|user name|username|password|upload(?:ed)? to the (?:site|system)|"
    r"paste it|pull request)\b",
    re.IGNORECASE,
)
_PLATFORM = re.compile(
    r"\b(?:openreview|softconf|easychair|cmt3?|hotcrp|editorial manager|scholarone|manuscript central|github|"
    r"submission (?:page|site|system)|precisionconference)\b",
    re.IGNORECASE,
)
_GOING = re.compile(
    r"\b(?:go to|navigate|open the|visit the|view your|find the|see a|select|follow the link)\b|https?://", re.I
)
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}|\[at\]|\bcontact (?:us|our)\b", re.IGNORECASE)
_ADVERT = re.compile(
    r"\b(?:subscribe|newsletter|sponsored|advertisement|follow us|share (?:on|this)|cookies?|"
    r"privacy policy|terms of (?:use|"
    r"service)|all rights reserved|copyright ©|©|powered by|back to top|skip to (?:main )?content|"
    r"sign[- ]up here|join us)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:https?://|\bwww\.)\S*[^\s?.,;:!)]")
_SECTION = re.compile(
    r"^\W*(?:(?P<log>change ?log|version history|revision history|updates?|history)|"
    r"(?P<event>(?:important |key |review(?:ing)? )?(?:dates|deadlines|timeline|"
    r"schedule)(?: and deadlines)?|registration|"
    r"travel(?: information)?|visas?(?: information)?|venue|location|accommodation|hotels?)|"
    r"(?P<contact>contacts?(?: us| information)?|(?:program|organi[sz]ing) committee|organi[sz]ers?|sponsors?)|"
    r"(?P<links>(?:extra|additional|further|other|useful|external)? ?(?:resources?|readings?|links?|references?)|"
    r"see also|related (?:links|pages|posts)|examples of (?:past |previous )?[\w ]{0,20}reviews?)|"
    r"(?P<advert>share(?: on| this)?|comments|leave a (?:reply|comment)|tags|categories|follow us|newsletter))\W*$",
    re.IGNORECASE,
)
_SECTION_REASONS = {
    "log": "change log", "event": "event details", "contact": "contact", "links": "link list", "advert": "advert",
}  # fmt: skip


def noise_reason(text: str, path: tuple[str, ...] = ()) -> str:
    """Why a piece of the page is no criterion, or an empty string where it may be one.

    A piece that names a criterion, or that asks for something about reviewing, stays for the model, except in a change
    log: what is dropped here is never seen again.
    """
    section = next((reason for title in path if (reason := section_noise(title))), "")
    if section == "change log":
        return section
    if _spares(text):
        return ""
    if section and not (section == "event details" and asks(text) and not _DATE.search(text)):
        return section
    if _DATED_LINE.search(text) or (_DATE.search(text) and _EVENT.search(text)):
        return "event details"
    if _SOFTWARE.search(text) or (_PLATFORM.search(text) and _GOING.search(text)):
        return "software how-to"
    if _MAIL.search(text):
        return "contact"
    if _ADVERT.search(text):
        return "advert"
    return "link list" if _is_link(text) else ""


def section_noise(heading: str) -> str:
    """The reason why all below a heading is noise, from its words; empty for other headings."""
    match = _SECTION.match(heading)
    return _SECTION_REASONS[str(match.lastgroup)] if match and match.lastgroup else ""


def _spares(text: str) -> bool:
    """Whether the text may be a criterion whatever else it speaks of."""
    without_links = _ADDRESS.sub("", text)
    if _SOFTWARE.search(text) or _MAIL.search(text):
        return asks(without_links) and len({word.lower() for word in CRITERION.findall(without_links)}) >= 2
    if _DATE.search(text) and _EVENT.search(text):
        return bool(asks(without_links) and CRITERION.search(without_links))
    return asks(without_links) and speaks_of_reviewing(without_links)


def _is_link(text: str) -> bool:
    """Whether an address is most of what a short piece says."""
    links = _ADDRESS.findall(text)
    return bool(links) and not asks(_ADDRESS.sub("", text))


_WORD = re.compile(r"[^\W\d_]+")
_STOP_WORDS = {
    "en": "the of and to is that for are be this with not you it or as on by from will have",
    "de": "der die das und ist nicht von zu den mit ein eine für auf sie werden im dem des sich",
    "fr": "le la les et est des une un du pour que dans qui ne pas sur par avec vous ce",
    "es": "el la los las y es de del que en una por con para no se su al lo como",
    "it": "il la che di e è un una per non con sono del della dei le si da nel gli",
    "pt": "o a os as e é de do da que em um uma para não com se por dos ao",
    "nl": "de het een en van is dat niet op te voor met zijn aan door er bij ook als naar",
}
_PROFILES = {code: frozenset(words.split()) for code, words in _STOP_WORDS.items()}
_NAMES = {
    "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "pt": "Portuguese", "nl": "Dutch",
    "zh": "Chinese", "ja": "Japanese", "ru": "Russian", "ko": "Korean",
}  # fmt: skip
_SAMPLE = 40_000
_FEWEST_WORDS = 8
_SCRIPT_SHARE = 0.3


def guess_language(text: str) -> str:
    """An ISO 639-1 code, or an empty string for a text too short or too mixed to tell.

    Kana tell Japanese, Han alone Chinese, Hangul Korean, Cyrillic Russian; Latin text goes to the profile of common
    words with the most hits.
    """
    sample = text[:_SAMPLE]
    letters = sum(1 for char in sample if char.isalpha()) or 1
    kana = len(re.findall(r"[\u3040-\u30ff]", sample))
    han = len(re.findall(r"[\u4e00-\u9fff]", sample))
    if (kana + han) / letters > _SCRIPT_SHARE:
        return "ja" if kana > han * 0.1 else "zh"
    if len(re.findall(r"[\uac00-\ud7af]", sample)) / letters > _SCRIPT_SHARE:
        return "ko"
    if len(re.findall(r"[\u0400-\u04ff]", sample)) / letters > _SCRIPT_SHARE:
        return "ru"
    words = Counter(word.lower() for word in _WORD.findall(sample))
    if words.total() < _FEWEST_WORDS:
        return ""
    hits = {code: sum(words[word] for word in profile) for code, profile in _PROFILES.items()}
    best = max(hits, key=lambda code: hits[code])
    return best if hits[best] >= max(3, words.total() * 0.05) else ""


def language_name(code: str) -> str:
    """The English name of a language code."""
    return _NAMES.get(code, code)
