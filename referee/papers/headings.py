"""What a heading's words say: its printed number, its level and the role of its section."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from referee.papers.pieces import Piece, caption_label, squeeze
from referee.schemas.paper import SectionRole

_DOTTED = re.compile(
    r"^(?P<number>(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){1,4}|\d{1,2})(?:[.:)]?\s+|[．、]\s*|(?=[\u3040-\u9fff]))(?P<title>\S.*)$"
)
# 'A. G. Hart' is an author, and 'A. G.' and 'A. B.-C.' are initials.
_LETTER = re.compile(r"^(?P<number>[A-Z])(?P<stop>[.:)]?)\s+(?P<title>(?![A-Z]\.(?:[\s-]|$))\S.*)$")
_ROMAN = re.compile(r"^(?P<number>[IVX]{1,5})\.\s+(?P<title>\S.*)$")
_APPENDIX = re.compile(
    r"^(?:(?:appendix|ap[eéê]ndice|anexo|annexe|appendice|anhang)\s+|(?:附录|附錄|付録)\s*)(?P<number>[A-Z])(?:[.:)：\s]|$)",
    re.IGNORECASE,
)

_ROMAN_DIGITS = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)

_CONTENTS = """contents|table of contents|list of figures|list of tables|目录|目錄|目次|índice|índice general
    |índice de figuras|índice de tablas|sumário|lista de figuras|lista de tabelas|table des matières|table des figures
    |liste des figures|liste des tableaux|index des figures|index des tableaux|inhaltsverzeichnis
    |abbildungsverzeichnis|tabellenverzeichnis"""
# By role, in English, Chinese, Japanese, Spanish, Portuguese, French and German.
_WORDS: dict[SectionRole, str] = {
    "abstract": """abstract|summary|executive summary|摘要|内容提要|要旨|概要|要約|抄録|resumen|resumo|résumé
    |résumé exécutif|zusammenfassung|kurzfassung""",
    "acknowledgements": """acknowledgment|acknowledgments|acknowledgement|acknowledgements
    |acknowledgments and disclosure of funding|致谢|致謝|鸣谢|謝辞|agradecimientos|agradecimentos|remerciements
    |danksagung|danksagungen""",
    "references": """references|reference list|list of references|references and notes|notes and references
    |references cited|bibliography|literature cited|works cited|参考文献|參考文獻|引用文献|文献|referencias
    |referencias bibliográficas|bibliografía|referências|referências bibliográficas|bibliografia|références
    |références bibliographiques|bibliographie|literatur|literaturverzeichnis|quellenverzeichnis""",
    "appendix": """appendix|appendices|supplementary material|supplementary materials|supplemental material|supplement
    |附录|附錄|付録|补充材料|補足資料|apéndice|apéndices|anexo|anexos|apêndice|apêndices|material suplementario
    |material suplementar|annexe|annexes|appendice|anhang|anhänge""",
    "front": f"""about the author|about the authors|author biography|author biographies|biography|biographies
    |{_CONTENTS}""",
    "content": """related work|related works|background|preliminaries|motivation|problem setting|method|methods
    |methodology|approach|our approach|model|data|datasets|experiments|experimental setup|experimental results|results
    |evaluation|analysis|discussion|results and discussion|limitations|ethics statement|ethical considerations
    |broader impact|broader impacts|impact statement|reproducibility statement|conclusion|conclusions|future work
    |conclusion and future work|conclusions and future work|materials and methods|data availability|code availability
    |author contributions|competing interests|conflict of interest|conflicts of interest|funding
    |相关工作|方法|实验|實驗|结果|結果|讨论|討論|结论|結論|関連研究|実験|考察|まとめ|おわりに|métodos|metodología|metodologia
    |resultados|discusión|discussão|conclusión|conclusiones|conclusão|conclusões|trabajos relacionados
    |trabalhos relacionados|méthode|méthodes|résultats|travaux connexes|methode|methoden|methodik|ergebnisse|diskussion
    |fazit|schluss|verwandte arbeiten""",
}
_INTRODUCTIONS = (
    """introduction|引言|绪论|緒論|导言|前言|はじめに|序論|緒言|introducción|introdução|einleitung|einführung"""
)
_NAMES = {role: [name.strip() for name in names.split("|")] for role, names in _WORDS.items()}
_CONTENTS_NAMES = frozenset(name.strip() for name in _CONTENTS.split("|"))
_ROLES = {name: role for role, names in _NAMES.items() for name in names}
REFERENCES = re.compile(
    r"(?:\d{1,4}|[ivx]{1,5}|[a-z])?(?:supplementa\w+|additional|appendix)?"
    rf"(?:{'|'.join(map(squeeze, _NAMES['references']))})"
)
_APPENDIX_BEGINS = tuple(f"{name} " for name in (*_NAMES["appendix"], "supplementary", "supplemental"))
_ABSTRACTS = "|".join(_NAMES["abstract"]).replace("摘要", r"摘\s*要")
RUN_IN_ABSTRACT = re.compile(
    rf"[*_\[【]*(?:{_ABSTRACTS})(?:\s*[.:：—–-]+|[*_\]】]+\s*[.:：—–-]*)[*_]*\s*(?=\S)", re.IGNORECASE
)
# Without a mark only where a capital follows, as PDFs have a heading over the text.
BARE_ABSTRACT = re.compile(rf"^(?:{_ABSTRACTS})\s+(?-i:(?=[A-Z]))", re.IGNORECASE)
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
# '一、', '第三章'
_COUNTED = re.compile(
    r"^(?:[一二三四五六七八九十]+\s*[、．.]|第\s*[一二三四五六七八九十\d]+\s*[章节節部]|[\d.．]+[、．.)]?(?=\s*[\u3040-\u9fff]))\s*"
)


@dataclass(frozen=True)
class HeadingName:
    """A heading taken apart: ``number`` as printed, the words after it, and the level the number gives."""

    number: str | None
    title: str
    level: int | None


def plain_name(heading: str) -> str:
    """A heading in lower case with single blanks and without closing punctuation, for comparing names.

    Of a name in Chinese or Japanese that English follows ('摘要 Abstract') only the first is kept.
    """
    name = " ".join(heading.casefold().split()).strip(" .:—–-*_#：．。[]【】")
    name = _COUNTED.sub("", name)
    if not _CJK.match(name):
        return name
    first, _, second = name.partition(" ")
    return first if first in (*_ROLES, *_INTRODUCTIONS.split("|")) and second.isascii() else name.replace(" ", "")


def is_known_name(heading: str) -> bool:
    """Whether the words are a section name that papers use by custom, such as 'Related Work'."""
    return plain_name(heading) in _ROLES or is_introduction(heading) or role_by_name(heading) is not None


def is_introduction(heading: str) -> bool:
    """Whether a heading opens the paper's own text."""
    return plain_name(heading) in _INTRODUCTIONS.split("|")


def is_contents(heading: str) -> bool:
    """Whether a heading is that of a table of contents or a list of figures or tables."""
    return plain_name(heading) in _CONTENTS_NAMES


def role_by_name(heading: str) -> SectionRole | None:
    """The role a heading's own words give, or None for ordinary content."""
    name = plain_name(heading)
    if name in _ROLES:
        return None if _ROLES[name] == "content" else _ROLES[name]
    if name.endswith("checklist"):
        return "checklist"
    if re.fullmatch(r"(?:supplementa\w+|additional|appendix) (?:references|bibliography)", name):
        return "references"
    behind = name.startswith((*_APPENDIX_BEGINS, "附录", "附錄", "付録"))
    return "appendix" if behind and not caption_label(name.partition(" ")[2]) else None


def is_reference_heading(line: str) -> bool:
    """Whether a printed line is the heading of a list of references; its number and the blanks in it do not count."""
    return REFERENCES.fullmatch(squeeze(line)) is not None


def opens_paper(heading: str) -> bool:
    """Whether a heading is that of the abstract or of the introduction."""
    return is_introduction(heading) or role_by_name(heading) == "abstract"


def name_headings(headings: Sequence[str]) -> list[HeadingName]:
    """Take the headings of one paper apart, in reading order.

    A bare letter ('A Background') counts as a number only where the sequence proves it: after the references, or
    when its neighbours in the alphabet are there too; otherwise 'A Study of Reviews' would lose its article. Roman
    numerals count where both I and II occur, and then capital letters are the level below.
    """
    romans = {m["number"] for text in headings if (m := _ROMAN.match(text))}
    roman_paper = {"I", "II"} <= romans
    letters = {m["number"] for text in headings if (m := _LETTER.match(text)) or (m := _DOTTED.match(text))}
    names: list[HeadingName] = []
    after_references = False
    for text in headings:
        names.append(_name_one(text.strip(), roman_paper, letters, after_references))
        after_references = after_references or role_by_name(names[-1].title) == "references"
    return names


def number_headings(pieces: Sequence[Piece], *, mixed: bool = False) -> list[Piece]:
    """The pieces with the numbers that stand in their headings' words, and levels from 1.

    A number gives its level: converted pages often have the wrong one. A heading of level 0 is one that the source only
    implies, and stands at the top. Where headings come with numbers already, those in words count only if ``mixed``.
    """
    pieces = list(pieces)
    places = [index for index, piece in enumerate(pieces) if piece.kind == "heading"]
    lowest = min((pieces[index].level for index in places if pieces[index].level), default=1)
    counted = any(pieces[index].number for index in places)
    for index, name in zip(places, name_headings([pieces[i].text for i in places]), strict=True):
        piece = replace(pieces[index], level=max(1, pieces[index].level - lowest + 1))
        if not counted or (mixed and piece.number is None):
            piece = replace(piece, text=name.title, number=name.number, level=name.level or piece.level)
        pieces[index] = piece
    return pieces


def title_of_headings(title: str, pieces: list[Piece]) -> tuple[str, list[Piece]]:
    """The title, and the pieces without its heading: the first one, where no other is as high and no role is its own.

    It has no number and stands in front of all but one piece. A title that is known is only parted from its heading. So
    is one with its translation as the next heading, where an abstract or introduction comes next, a level below.
    """
    headings = [piece for piece in pieces if piece.kind == "heading"]
    first = headings[0] if headings and (not title or headings[0].text == title) else None
    if first is None or first.number or role_by_name(first.text) or pieces.index(first) > 1:
        return title, pieces
    start = pieces.index(first)
    levels = [piece.level - first.level for piece in pieces[start : start + 3] if piece.kind == "heading"]
    if levels[:2] == [0, 0] and levels[2:] == [1] and opens_paper(pieces[start + 2].text):
        return first.text, [*pieces[:start], replace(pieces[start + 1], kind="paragraph"), *pieces[start + 2 :]]
    if any(piece.level <= first.level for piece in headings[1:]):
        return title, pieces
    return first.text, [piece for piece in pieces if piece is not first]


def _name_one(text: str, roman_paper: bool, starts: set[str], after_references: bool) -> HeadingName:
    if roman_paper and (match := _ROMAN.match(text)):
        return HeadingName(match["number"], match["title"], 1)
    if match := _APPENDIX.match(text):
        return HeadingName(match["number"].upper(), text, 1)
    if match := _DOTTED.match(text):
        return HeadingName(match["number"], match["title"], match["number"].count(".") + 1)
    if (match := _LETTER.match(text)) and _letter_counts(match, starts, roman_paper, after_references):
        return HeadingName(match["number"], match["title"], 2 if roman_paper else 1)
    return HeadingName(None, text, None)


def _letter_counts(match: re.Match[str], starts: set[str], roman_paper: bool, after_references: bool) -> bool:
    letter = match["number"]
    neighbours = {chr(ord(letter) - 1), chr(ord(letter) + 1), f"{letter}.1"}
    return after_references or bool(neighbours & starts) or (roman_paper and match["stop"] == ".")


def number_key(number: str) -> tuple[int, ...]:
    """A printed number as a tuple that sorts: '3.1' is (3, 1), 'B.2' is (1002, 2): appendices after sections."""
    head, *rest = number.split(".")
    first = int(head) if head.isdigit() else 1000 + ord(head[0]) - ord("A") + 1
    return (first, *(int(part) for part in rest))


def numeral(count: int, form: str) -> str:
    """A count as Word names its forms: 'decimal', 'decimalZero', 'lowerRoman', 'upperLetter'; others as decimal."""
    text = f"{count:02d}" if form == "decimalZero" else str(count)
    if form in ("lowerRoman", "upperRoman") and 0 < count < 4000:
        text = ""
        for worth, letters in _ROMAN_DIGITS:
            text, count = text + letters * (count // worth), count % worth
    elif form in ("lowerLetter", "upperLetter") and 0 < count <= 26 * 20:
        text = chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)
    return text.upper() if form.startswith("upper") else text


def follows(before: tuple[int, ...], number: tuple[int, ...]) -> bool:
    """Whether ``number`` is a legal next number after ``before``: 3.1 after 3; 3.2, 4 after 3.1; A after any.

    ``()`` stands for 'no number yet', after which 1 and A are legal.
    """
    if not before:
        return number in ((1,), (0,), (1001,))
    later = ((*before[:depth], before[depth] + 1) for depth in range(len(before)))
    return before[0] < 1000 if number == (1001,) else number in ((*before, 1), *later)
