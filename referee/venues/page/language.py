"""Which language a page is in, from its script and its most common words."""

from __future__ import annotations

import re
from collections import Counter

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
