r"""LaTeX sources and Word files with text that a reader cannot see, a technique each; ``@`` stands for the sentence."""

from __future__ import annotations

import io
import re
import zipfile

import docx

TEX = {
    "white": r"\textcolor{white}{@}",
    "white switch": r"{\color{white} @}",
    "phantom": r"\phantom{@}",
    "tiny": r"{\fontsize{0.1pt}{0.1pt}\selectfont @}",
    "setbox": r"\setbox0=\hbox{@}",
    "setbox, named": r"\newbox\mybox \setbox\mybox\hbox{@}",
    "setbox, vbox": r"\setbox1\vbox{@}",
    "savebox": r"\newsavebox{\mine}\sbox{\mine}{@}",
    "ifnum": r"\ifnum1>2 @ \fi",
    "ifnum with else": r"\ifnum 1=1 Seen. \else @ \fi",
    "ifdim": r"\ifdim 1pt>2pt @\fi",
    "ifodd": r"\ifodd 2 @\fi",
    "ifx": r"\ifx ab @\fi",
    "if": r"\if ab @\fi",
    "gobble": r"\makeatletter\let\foo\@gobble\makeatother\foo{@}",
    "gobble itself": r"\makeatletter\@gobble{@}\makeatother",
    "gobbletwo": r"\makeatletter\let\foo=\@gobbletwo\makeatother\foo{x}{@}",
    "secondoftwo": r"\makeatletter\@firstoftwo{Seen.}{@}\makeatother",
    "raisebox": r"\raisebox{100cm}{@}",
    "raised out of sight, no height": r"\raisebox{-90cm}[0pt][0pt]{@}",
    "hspace": r"\noindent\hspace*{60cm}\mbox{@}",
    "hskip": r"\noindent\hskip 60cm \mbox{@}",
    "llap": r"\noindent\hspace*{-40cm}\mbox{@}",
    "moved right": r"\moveright 50cm\hbox{@}",
    "vbox to 0pt": r"\vbox to 0pt{\vskip 100cm @\vss}",
    "invisible": r"\invisible{@}",
    "invisible, environment": r"\begin{invisibleenv}@\end{invisibleenv}",
    "onslide": r"\only<0>{@}",
    "transparent": r"\texttransparent{0}{@}",
    "opacity": r"\tikz\node[opacity=0]{@};",
    "clipped": r"\clipbox{0pt 0pt 100cm 0pt}{@}",
    "zero scale": r"\scalebox{0.001}{@}",
    "sout of nothing": r"\discretionary{}{@}{}",
    "mathchoice": r"$\mathchoice{@}{x}{x}{x}$",
    "savebox, environment": r"\newsavebox{\mine}\begin{lrbox}{\mine}@\end{lrbox}",
    "render mode": r"\pdfliteral direct{3 Tr}@\pdfliteral direct{0 Tr}",
}
_SLIDES = frozenset({"invisible", "invisible, environment", "onslide"})
_PACKAGES = {
    "transparent": ",transparent",
    "opacity": ",tikz",
    "clipped": ",trimclip",
    "comment environment": ",comment",
}
TEX_UNPRINTED = {
    "comment": "% @",
    "iffalse": r"\iffalse @ \fi",
    "comment environment": "\\begin{comment}\n@\n\\end{comment}",
    "hypersetup": r"\hypersetup{pdfsubject={@}}",
    "pdfinfo": r"\pdfinfo{/Subject (@)}",
    "after the end": "\\end{document}\n@",
    "own command": r"\newcommand{\drop}[1]{}\drop{@}",
    "index": r"\index{@}",
    "label": r"\label{@}",
    "pdftooltip": r"\pdftooltip{Seen.}{@}",
}
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_BOX = (
    '<w:p><w:r><w:pict xmlns:v="urn:schemas-microsoft-com:vml"><v:shape style="{}">'
    "<v:textbox><w:txbxContent><w:p><w:r><w:t>@</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>"
)
_CELL = '<w:tc><w:p><w:r><w:t xml:space="preserve">{}</w:t></w:r></w:p></w:tc>'


def _run(properties: str) -> str:
    return f"<w:p><w:r><w:rPr>{properties}</w:rPr><w:t>@</w:t></w:r></w:p>"


def _paragraph(properties: str) -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>@</w:t></w:r></w:p>"


def _rows(properties: str) -> str:
    shown, hidden = (_CELL.format(text) for text in ("Seen", "@"))
    return f"<w:tbl><w:tr>{shown}</w:tr><w:tr><w:trPr>{properties}</w:trPr>{hidden}</w:tr></w:tbl>"


WORD = {
    "vanish": _run("<w:vanish/>"),
    "web hidden": _run("<w:webHidden/><w:vanish/>"),
    "white": _run('<w:color w:val="FFFFFF"/>'),
    "shaded alike": _run('<w:color w:val="FF0000"/><w:shd w:val="clear" w:fill="FF0000"/>'),
    "tiny": _run('<w:sz w:val="2"/>'),
    "theme colour, auto": _run('<w:color w:val="auto" w:themeColor="background1"/>'),
    "theme colour, a lie beside it": _run('<w:color w:val="000000" w:themeColor="background1"/>'),
    "theme colour, tinted": _run('<w:color w:val="auto" w:themeColor="text1" w:themeTint="05"/>'),
    "theme colour, shaded": _run('<w:color w:val="auto" w:themeColor="background1" w:themeShade="FA"/>'),
    "exact line height": _paragraph('<w:spacing w:line="2" w:lineRule="exact"/>'),
    "frame left of the page": _paragraph(
        '<w:framePr w:w="4000" w:h="400" w:hAnchor="page" w:vAnchor="page" w:x="-9000" w:y="200"/>'
    ),
    "frame above the page": _paragraph(
        '<w:framePr w:w="4000" w:hAnchor="page" w:vAnchor="page" w:x="100" w:y="-9000"/>'
    ),
    "indent off the page": _paragraph('<w:ind w:left="-20000" w:right="20000"/>'),
    "hanging off the page": _paragraph('<w:ind w:left="0" w:firstLine="20000"/>'),
    "hidden row": _rows("<w:hidden/>"),
    "row of no height": _rows('<w:trHeight w:val="1" w:hRule="exact"/>'),
    "VML box, hidden": _BOX.format("width:300pt;height:50pt;visibility:hidden"),
    "VML box, no size": _BOX.format("width:0;height:0"),
    "VML box off the page": _BOX.format("position:absolute;margin-left:-2000pt;width:300pt;height:50pt"),
    "spacing": _run('<w:spacing w:val="-1500"/>'),
    "narrow letters": _run('<w:w w:val="1"/>'),
    "lowered": _run('<w:position w:val="-3000"/>'),
    "paragraph mark hidden": _paragraph("<w:rPr><w:vanish/></w:rPr>"),
    "style": "<w:p><w:pPr><w:pStyle w:val='Quiet'/></w:pPr><w:r><w:t>@</w:t></w:r></w:p>",
    "text fill": _run(
        '<w14:textFill xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"><w14:noFill/></w14:textFill>'
    ),
    "text fill, white": _run(
        '<w14:textFill xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"><w14:solidFill>'
        '<w14:srgbClr w14:val="FFFFFF"/></w14:solidFill></w14:textFill>'
    ),
    "own font size in its style": _run('<w:szCs w:val="2"/><w:sz w:val="1"/>'),
}
WORD_UNPRINTED = {
    "deleted": '<w:p><w:del w:id="1" w:author="a"><w:r><w:delText>@</w:delText></w:r></w:del>'
    "<w:r><w:t>Seen.</w:t></w:r></w:p>",
    "field code": "<w:p><w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText> QUOTE @ </w:instrText></w:r>"
    "<w:r><w:fldChar w:fldCharType='end'/></w:r></w:p>",
    "core title": "",
    "core subject": "",
    "core keywords": "",
    "core comments": "",
    "comment": "",
    "header": "",
    "alternative text": '<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/'
    'wordprocessingDrawing"><wp:docPr id="1" name="x" descr="@"/></wp:inline></w:drawing></w:r></w:p>',
}
# Where LibreOffice does otherwise than Word is documented to: ECMA-376 (part 1), its VML (part 4), and [MS-DOCX].
WORD_RULES = {
    "shaded alike": "its colours",
    "theme colour, auto": "ECMA-376 17.3.2.6",
    "theme colour, a lie beside it": "ECMA-376 17.3.2.6",
    "theme colour, tinted": "ECMA-376 17.3.2.6",
    "theme colour, shaded": "ECMA-376 17.3.2.6",
    "exact line height": "ECMA-376 17.3.1.33",
    "frame left of the page": "ECMA-376 17.3.1.11",
    "frame above the page": "ECMA-376 17.3.1.11",
    "hidden row": _rows("<w:hidden/>"),
    "VML box, hidden": "ECMA-376 part 4, 19.1.2.19",
    "spacing": "ECMA-376 17.3.2.35",
    "text fill": "[MS-DOCX] 2.6.1",
    "text fill, white": "[MS-DOCX] 2.6.1",
}
_WORDS = "Plain words about samples stand here and go on for a line or two, as they do in papers."


def latex(technique: str, sentence: str) -> bytes:
    """A small paper's source with one technique."""
    body = {**TEX, **TEX_UNPRINTED}[technique].replace("@", "\0")
    # ``@`` is also a letter of TeX's own command names: those keep it.
    body = re.sub(r"\0(?=gobble|firstof)", "@", body).replace("\0", sentence)
    slides = technique in _SLIDES
    start, end = ("\\begin{frame}\n", "\\end{frame}\n") if slides else ("\\maketitle\n", "")
    return (
        f"\\documentclass{{{'beamer' if slides else 'article'}}}\n"
        f"\\usepackage{{xcolor,graphicx,hyperref{_PACKAGES.get(technique, '')}}}\n"
        f"\\title{{A Paper}}\\begin{{document}}\n\\section{{Introduction}}\n{start}"
        f"{_WORDS}\n\n{body}\n\n{_WORDS}\n{end}\\end{{document}}\n"
    ).encode()


def word(technique: str, sentence: str) -> bytes:
    """A small Word file with one technique."""
    document = docx.Document()
    document.add_heading("Introduction", 1)
    document.add_paragraph(_WORDS)
    style = document.styles.add_style("Quiet", 1)
    style.font.hidden = True
    body = {**WORD, **WORD_UNPRINTED}[technique].replace("@", sentence)
    properties = document.core_properties
    if technique.startswith("core "):
        setattr(properties, technique.removeprefix("core "), sentence)
    elif technique == "header":
        document.sections[0].header.paragraphs[0].text = sentence
    elif technique == "comment":
        document.add_comment(document.add_paragraph("Seen.").runs, text=sentence, author="a")
    document.add_paragraph("@HERE@")
    document.add_paragraph(_WORDS)
    stream = io.BytesIO()
    document.save(stream)
    return _with_body(stream.getvalue(), body)


def _with_body(data: bytes, body: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for item in old.namelist():
            part = old.read(item)
            if item == "word/document.xml":
                text = part.decode()
                text = re.sub(r"<w:p>(?:(?!</w:p>).)*@HERE@.*?</w:p>", lambda _: body, text, flags=re.DOTALL)
                part = text.encode()
            new.writestr(item, part)
    return target.getvalue()
