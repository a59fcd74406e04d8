from __future__ import annotations

from referee.schemas.paper import Block, Section


def test_a_copy_computes_anew_what_depends_on_its_fields() -> None:
    section = Section(id="s1", heading="A", level=1, blocks=(Block(id="b1", kind="paragraph", text="one", page=1),))
    assert (section.text, section.pages) == ("one", (1,))
    other = section.model_copy(update={"blocks": (Block(id="b2", kind="paragraph", text="two", page=2),)})
    assert (other.text, other.pages) == ("two", (2,))
    assert section.text == "one"
