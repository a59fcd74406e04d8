"""Material never becomes template or delimiter, and a damaged prompt file is refused as one."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from referee.errors import PromptError
from referee.prompts import delimit, load_prompt, prompt_ids
from referee.prompts.loader import parse_prompt
from tests.processor_time import within

from .fuzz_budget import tries

HEADER = '---\nid: a/b\nversion: v1\ninputs: [text]\nreply: r.T\nsource: "us"\nchanged: "x"\n---\n'
GOOD = HEADER + "# system\nBe.\n# user\nRead {{text}}.\n"
PARTS = [
    "{{",
    "}}",
    "{{text}}",
    "{{ text }}",
    "{%",
    "%}",
    "{{'a'*9}}",
    "\\g<0>",
    "\\1",
    "---\n",
    "# user\n",
    "# system\n",
    "$x",
]
TAGS = [
    "<",
    "</",
    ">",
    "/",
    " ",
    "\n",
    "\t",
    "＜",
    "﹤",
    "<|",
    "|>",
    "im_end",
    "submission",
    "<!--",
    "\u200b",
    "\x00",
    "\ud800",
    "‹",
]
OPENS = re.compile(r"<[\s\u200b-\u200f\ufeff]*/?\s*[A-Za-z_|]")
MATERIAL = st.lists(st.sampled_from([*PARTS, *TAGS]) | st.text(max_size=8), max_size=30).map("".join)


@tries(200)
@given(MATERIAL, st.text(max_size=20))
def test_no_material_can_close_or_open_a_delimiter(text: str, name: str) -> None:
    wrapped = delimit("submission", text, name=name)
    wrapped.encode()
    head, _, rest = wrapped.partition("\n")
    inside, _, tail = rest.rpartition("\n")
    assert tail == "</submission>"
    assert re.fullmatch(r'<submission name="[^"<>\n]*">', head)
    assert not OPENS.search(inside)
    assert not {"＜", "﹤", "\x00"} & set(inside)


@tries(20)
@given(MATERIAL)
def test_template_syntax_in_material_is_never_rendered(text: str) -> None:
    for prompt_id in prompt_ids():
        prompt = load_prompt(prompt_id)
        values = {name: f"[{name}]{text}" for name in prompt.inputs}
        rendered = prompt.render(**values)
        for template, made in ((prompt.system, rendered.system), (prompt.user, rendered.user)):
            ours = re.split(r"\{\{\s*([a-z_][a-z0-9_]*)\s*\}\}", template)
            assert made == "".join(values[part] if at % 2 else part for at, part in enumerate(ours))


@tries(300)
@given(st.integers(0, len(GOOD)), st.integers(0, 30), st.sampled_from(PARTS) | st.text(max_size=10))
def test_a_damaged_prompt_is_a_prompt_or_a_prompt_error(at: int, cut: int, put: str) -> None:
    try:
        prompt = parse_prompt(GOOD[:at] + put + GOOD[at + cut :], "a/b", "v1")
    except PromptError:
        return
    assert prompt.places == prompt.inputs


def test_long_material_takes_no_long_time() -> None:
    for unit in ("<", "< ", "</", "{{", "}}", "{{text", "{{ ", "＜", "<\n"):
        with within(10):
            delimit("submission", unit * 200_000)
            parse_prompt(GOOD, "a/b", "v1").render(text=unit * 200_000)
