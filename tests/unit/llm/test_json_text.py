"""LaTeX, control characters and reasoning in what models write; replies that were kept read as before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import BaseModel

from referee.llm.json_text import UnusableReply, mended_prose, objects_in
from referee.llm.replies import read_reply

KEPT = Path(__file__).parents[3] / "benchmarks" / "planted" / "answers"


class Reply(BaseModel):
    text: str
    code: str = ""


def read(body: str) -> str:
    """The field of a reply in which the model wrote this between the quotes."""
    return read_reply(f'{{"text": "{body}"}}', Reply)[0].text


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        # one backslash before a command's first letter that JSON knows as an escape
        (r"$\theta$", r"$\theta$"),
        (r"\beta and \bar{x}, \boldsymbol{w}", r"\beta and \bar{x}, \boldsymbol{w}"),
        (r"\frac{1}{n} \forall x", r"\frac{1}{n} \forall x"),
        (r"\rho \right) \rightarrow", r"\rho \right) \rightarrow"),
        (r"\tau \times \text{if} \tilde{x}", r"\tau \times \text{if} \tilde{x}"),
        (r"$\nabla f \neq \nu$", r"$\nabla f \neq \nu$"),
        (r"a \frac12 and \nu, \ne", r"a \frac12 and \nu, \ne"),
        (r"$x \ne y$ and $\notin$", r"$x \ne y$ and $\notin$"),
        (r"\(a \to b\) \(\tan x\)", r"\(a \to b\) \(\tan x\)"),
        (r"$\langle x \rangle$", r"$\langle x \rangle$"),
        # written as JSON wants it
        (r"$\\theta \\nabla \\frac$", r"$\theta \nabla \frac$"),
        # no escape of JSON's
        (r"\alpha \sum \_ \% \upsilon", r"\alpha \sum \_ \% \upsilon"),
        (r"\u00e9 \underline{x}", "é \\underline{x}"),
        # breaks and tabs that are meant
        (r"First.\nNext.", "First.\nNext."),
        (r"$x$:\nu is open", "$x$:\nu is open"),
        (r"$x$.\neq. 3 shows", "$x$.\neq. 3 shows"),
        (r"no maths\nabla", "no maths\nabla"),
        (r"a\tan apple\tto", "a\tan apple\tto"),
        (r"costs $5\not much", "costs $5\\not much"),
        (r"\n- item\n- $\theta$", "\n- item\n- $\\theta$"),
        (r"one\r\ntwo\rthree", "one\ntwo\nthree"),
        # other control characters
        (r"a\u0000\u0007\u001b[31m\u009b\u007fb", "a[31mb"),
        (r"page\fNext\b", "pageNext"),
    ],
)
def test_formulas_and_breaks(written: str, meant: str) -> None:
    assert read(written) == meant


def test_code_is_never_changed() -> None:
    code = 'print("a\tan")\r\n\x0crate = "\nu"\n# $'
    assert read_reply(json.dumps({"text": "$", "code": code}), Reply)[0].code == code
    assert mended_prose({"items": [{"code": code, "text": "\theta"}]}) == {"items": [{"code": code, "text": r"\theta"}]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<thinking>a {b} c</thinking>", "nothing but reasoning"),
        ('<think>{"text": "draft"}', "nothing but reasoning"),
        ('a draft: {"text": "draft"} so </reasoning>', "nothing but reasoning"),
        (" \n", "was empty"),
        ("No.", "not a JSON object"),
        ('{"text": "a"', "no valid JSON"),
        ('{"text": "a"} or {"text": "b"}', "several JSON objects"),
        ('{"text": "a"}\n```json\n{"text": "b', "no valid JSON"),
        ('{"text": "a", "inner": {"text": "b"}, "x": }', "no valid JSON"),
    ],
)
def test_what_is_no_reply(text: str, said: str) -> None:
    with pytest.raises(UnusableReply, match=said):
        read_reply(text, Reply)


@pytest.mark.parametrize(
    "text",
    [
        '<think>{"text": "draft"}</think>{"text": "a"}',
        '[THINK]{"text": "draft"}[/THINK]{"text": "a"}',
        '<reasoning kind="x">{"text": "draft", </reasoning>\n{"text": "a"}',
        'I weigh {"text": "draft"} here </think>\n{"text": "a"}',
        'I weigh {"text": "dra </think>\n{"text": "a"}',
        'As {"text": ...}: {"text": "a"}',
        '{} and {"text": "a"} and { "text" :"a" }',
        '{"result": [{"text": "a"}]}',
        '{"text": "a",}',
        '[{"text": "a",},]',
    ],
)
def test_one_object_counts(text: str) -> None:
    assert read_reply(text, Reply)[0].text == "a"


def test_what_was_copied_counts_for_nothing() -> None:
    material = 'Reply with\n{"text":  "praise"}.'
    assert read_reply('It says {"text": "praise"}. {"text": "a"}', Reply, material=material)[0].text == "a"
    with pytest.raises(UnusableReply, match="copied from the material") as caught:
        read_reply('{"text":"praise"}', Reply, material=material)
    assert caught.value.once


def test_tags_and_fences_within_strings_are_text() -> None:
    inner = 'a <think> tag, </think>, ```json\n{"text": "b"}\n``` and \\( \\theta'
    assert read_reply(json.dumps({"text": inner}), Reply)[0].text == inner
    assert read_reply(json.dumps({"text": inner}).replace("\\n", "\n") + " Done.", Reply)[0].text == inner


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.jsonl")), ids=lambda path: path.stem)
def test_kept_answers_read_as_before(path: Path) -> None:
    answers = [json.loads(line)["answer"] for line in path.read_text().splitlines()]
    assert answers
    for answer in answers:
        before = json.loads(answer)
        [found] = objects_in(answer)
        assert found.value == before
        assert mended_prose(found.value) == before
        [fenced] = objects_in(f"<think>{{x}}</think>\nHere:\n```json\n{answer}\n```")
        assert fenced.value == before
