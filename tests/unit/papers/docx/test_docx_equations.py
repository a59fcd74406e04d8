"""Word's formulas as linear text."""

from __future__ import annotations

import pytest

from referee.papers.docx.equations import tex_of

from .conftest import xml


def r(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def e(text: str) -> str:
    return f"<m:e>{r(text)}</m:e>"


SUM = '<m:naryPr><m:chr m:val="∑"/></m:naryPr>'
SQUARE = '<m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/><m:sepChr m:val=","/></m:dPr>'
LOG = '<m:r><m:rPr><m:sty m:val="p"/></m:rPr><m:t>log</m:t></m:r>'
CASES = {
    f"<m:f><m:num>{r('a')}</m:num><m:den>{r('b')}</m:den></m:f>": "\\frac{a}{b}",
    f'<m:f><m:fPr><m:type m:val="lin"/></m:fPr><m:num>{r("a")}</m:num><m:den>{r("b")}</m:den></m:f>': "a/b",
    f"<m:rad><m:deg/>{e('x')}</m:rad>": "\\sqrt{x}",
    f"<m:rad><m:deg>{r('3')}</m:deg>{e('x')}</m:rad>": "\\sqrt[3]{x}",
    f"<m:sSub>{e('x')}<m:sub>{r('gi')}</m:sub></m:sSub>": "x_{gi}",
    f"<m:sSubSup>{e('x')}<m:sub>{r('i')}</m:sub><m:sup>{r('2')}</m:sup></m:sSubSup>": "x_i^2",
    f"<m:nary>{SUM}<m:sub>{r('i=1')}</m:sub><m:sup>{r('n')}</m:sup>{e('x')}</m:nary>": "\\sum_{i=1}^n x",
    f"<m:nary><m:sub/><m:sup/>{e('x')}</m:nary>": "\\int x",
    f"<m:d>{SQUARE}{e('a')}{e('b')}</m:d>": "[a,b]",
    f"<m:d>{e('a')}</m:d>": "(a)",
    f"<m:acc>{e('θ')}</m:acc>": "\\hat{\\theta}",
    f'<m:bar><m:barPr><m:pos m:val="top"/></m:barPr>{e("x")}</m:bar>': "\\overline{x}",
    f"<m:eqArr>{e('a=b')}{e('c=d')}</m:eqArr>": "a=b \\\\ c=d",
    f"<m:m><m:mr>{e('1')}{e('0')}</m:mr><m:mr>{e('0')}{e('1')}</m:mr></m:m>": (
        "\\begin{matrix}1 & 0 \\\\ 0 & 1\\end{matrix}"
    ),
    f"<m:func><m:fName>{LOG}</m:fName>{e('x')}</m:func>": "\\log x",
    f"<m:limLow>{e('min')}<m:lim>{r('x')}</m:lim></m:limLow>": "min_x",
    f'<m:phant><m:phantPr><m:show m:val="0"/></m:phantPr>{e("secret")}</m:phant>': "",
    "<m:r><m:rPr><m:nor/></m:rPr><m:t>if even</m:t></m:r>": "\\text{if even}",
    r("α≤𝛽x"): "\\alpha\\leq\\beta x",
    r("{1}"): "\\{1\\}",
    f"<w:del><m:r><m:t>old</m:t></m:r></w:del>{r('new')}": "new",
    "<m:r><w:rPr><w:vanish/></w:rPr><m:t>unseen</m:t></m:r>": "",
    f"<m:unknown>{r('kept')}</m:unknown>": "kept",
}


@pytest.mark.parametrize("source", CASES)
def test_formula(source: str) -> None:
    assert tex_of(xml(f"<m:oMath {{ns}}>{source}</m:oMath>")) == CASES[source]
