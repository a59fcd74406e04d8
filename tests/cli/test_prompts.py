"""``referee prompts``: what ships, and files of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.prompts import load_prompt, prompt_ids
from referee.prompts.uses import USES
from tests.unit.prompts.test_own import own_text

from .command import Referee


def test_the_list_has_every_prompt_with_its_role_and_place(referee: Referee) -> None:
    done = referee("prompts", "list")
    assert done.code == 0
    assert [line.split("  ")[0] for line in done.out.splitlines() if not line.startswith(" ")] == list(prompt_ids())
    assert sorted(USES) == list(prompt_ids())
    (row, more) = referee("prompts", "list", "metric depth").out.splitlines()
    assert row == "eval/depth  v2  judge: eval, metric depth"
    assert more == f"    inputs: review; reply: {load_prompt('eval/depth').reply}"
    assert "No prompt's id" in referee("prompts", "list", "nothing like it").out


def test_a_prompt_is_shown_with_the_paper_it_follows(referee: Referee) -> None:
    shown = referee("prompts", "show", "eval/depth")
    assert "Follows: ReviewEval, section 3.4 and Eq. 5" in shown.out
    assert "{{review}}" in shown.out
    assert "review/single v1 (versions: v1, v2, v3)" in referee("prompts", "show", "review/single@v1").out
    assert referee("prompts", "show", "review/singel").code == 2


def test_a_copy_is_checked_and_compared(referee: Referee, workplace: Path) -> None:
    assert referee("prompts", "copy", "review/single", "mine.md").code == 0
    again = referee("prompts", "copy", "review/single", "mine.md")
    assert again.code == 2
    assert "is there already" in again.err
    assert "are the same" in referee("prompts", "diff", "review/single", "mine.md").out
    (workplace / "mine.md").write_text(own_text("review/single"), encoding="utf-8")
    assert "+Weigh the lanterns." in referee("prompts", "diff", "review/single@v3", "mine.md").out
    checked = referee("prompts", "check", "mine.md")
    assert "can take the place of review/single; its version is mine.md-" in checked.out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("id: review/single", "id: mine/own"), "line 2: there is no prompt 'mine/own'"),
        (("{{form}}", "{{forn}}"), "{{forn}}"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    referee: Referee, workplace: Path, change: tuple[str, str], said: str
) -> None:
    (workplace / "mine.md").write_text(own_text("review/single").replace(*change), encoding="utf-8")
    done = referee("prompts", "check", "mine.md")
    assert done.code == 2
    assert "'mine.md', line " in done.err
    assert said in done.err
