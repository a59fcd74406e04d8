"""A small paper for the tests of this folder."""

from referee.schemas.paper import Block, Converter, Finding, Paper, Section


def section(number: int, heading: str, text: str, role: str = "content", paragraphs: int = 1) -> Section:
    blocks = tuple(
        Block(id=f"b{number}.{i}", kind="paragraph", text=f"{text} ({i})", page=number) for i in range(paragraphs)
    )
    return Section.model_validate(
        {"id": f"s{number}", "heading": heading, "level": 1, "number": str(number), "role": role, "blocks": blocks}
    )


def small_paper(*sections: Section, findings: tuple[Finding, ...] = ()) -> Paper:
    return Paper(
        paper_id="a" * 64,
        title="On Tests",
        format="markdown",
        sections=sections
        or (
            section(1, "Abstract", "We test tests.", "abstract"),
            section(2, "Method", "Each test is run twice on the same data."),
        ),
        findings=findings,
        converter=Converter(name="hand", version="1"),
    )


def words(text: str) -> int:
    """A token counter that anyone can follow."""
    return len(text.split())
