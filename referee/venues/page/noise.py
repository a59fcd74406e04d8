"""What code can see to be no criterion: dates and places, clicking through software, contacts, link lists, adverts."""

from __future__ import annotations

import re

from referee.venues.page.vocabulary import CRITERION, asks, speaks_of_reviewing

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
