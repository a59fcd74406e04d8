"""A report from its sections: as Markdown, and as one self-contained HTML page.

The page has light and dark, fetches nothing, and holds the data that its plots show.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from referee.reports.html import render
from referee.reports.markdown_text import inline
from referee.reports.plots.plot import Cell, Plot
from referee.reports.tables import Table, aligned

HOW = "How these numbers came about"
_OF_NUMBERS = frozenset("0123456789.,%+-−–[]<()=n ")
_DATA = '<script type="application/json" data-plot="{name}">{data}</script>'


PLOTS = "plots"
"""The folder of a report's plots, beside it."""


@dataclass(frozen=True)
class Section:
    """A part of a report.

    Attributes:
        heading: Its heading.
        body: Paragraphs and tables in their order. Paragraphs are plain text on a page, and Markdown in Markdown.
        plots: Drawn above the tables of a page.
    """

    heading: str
    body: tuple[str | Table, ...] = ()
    plots: tuple[Plot, ...] = ()


def render_markdown(
    title: str,
    lead: Iterable[str],
    sections: Iterable[Section],
    *,
    table: Callable[[Table], str] = lambda table: "\n".join(aligned(table)),
) -> str:
    """The report as Markdown, without its plots.

    Args:
        title: Its title, as Markdown.
        lead: Paragraphs before the first section.
        sections: Its parts.
        table: How a table is written.
    """
    parts = [f"# {title}", *lead]
    for section in sections:
        parts.append(f"## {section.heading}")
        parts += [table(part) if isinstance(part, Table) else part for part in section.body]
    return "\n\n".join(part for part in parts if part) + "\n"


def bullets(lines: Iterable[str]) -> str:
    """A list in Markdown, of text that nobody here wrote."""
    return "\n".join(f"- {inline(line)}" for line in lines)


def about(facts: Mapping[str, str]) -> Section:
    """How the numbers came about, by name."""
    return Section(HOW, ("\n".join(f"- {inline(name)}: {inline(value)}" for name, value in facts.items()),))


def plots_section(plots: Iterable[Plot]) -> Section:
    """The pictures that lie beside the report, each with its caption."""
    shown = (f"![{inline(plot.title)}]({PLOTS}/{plot.name}.svg)\n\n{inline(plot.caption)}" for plot in plots)
    return Section("Plots", tuple(text.strip() for text in shown))


def render_page(title: str, lead: str, sections: Iterable[Section], facts: Mapping[str, str] | None = None) -> str:
    """The page as one HTML document.

    Args:
        title: The page's title.
        lead: One paragraph on what the page shows.
        sections: Its parts.
        facts: Names and values that say how the numbers came about; listed at the end.
    """
    parts = list(sections)
    return render(
        "measured.html",
        title=title,
        lead=lead,
        headings=[part.heading for part in parts],
        body="".join(_section(number, part) for number, part in enumerate(parts, start=1)),
        how=HOW,
        facts=dict(facts or {}),
    )


def summary_page(title: str, markdown: str, plots: Iterable[Plot] = ()) -> str:
    """A summary as a page: its Markdown, and the plots with the data behind them.

    Args:
        title: The page's title.
        markdown: As it stands in ``summary.md``, without plots; HTML in it is shown and not obeyed.
        plots: Drawn below it.
    """
    from markdown_it import MarkdownIt

    read = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "link", "autolink"])
    body = (
        read.render(markdown)
        .replace("<table>", "<div class=wide tabindex=0><table>")
        .replace("</table>", "</table></div>")
    )
    return render("summary.html", title=title, body=body, figures="".join(map(_figure, plots)))


def plotted_data(page: str) -> dict[str, list[dict[str, Cell]]]:
    """The data of every plot of a page, read back out of it: name to rows, each a mapping of column to cell."""
    found: dict[str, list[dict[str, Cell]]] = {}
    head = _DATA.split("{name}", maxsplit=1)[0]
    for piece in page.split(head)[1:]:
        name, _, rest = piece.partition('">')
        data = json.loads(rest[: rest.index("</script>")])
        found[name] = [dict(zip(data["columns"], row, strict=True)) for row in data["rows"]]
    return found


def _section(number: int, part: Section) -> str:
    text = "".join(f"<p>{_text(one)}</p>\n" for one in part.body if not isinstance(one, Table))
    tables = "".join(_table(*one) for one in part.body if isinstance(one, Table))
    plots = "".join(_figure(plot) for plot in part.plots)
    plots = f"<div class=figures>{plots}</div>\n" if plots else ""
    return f'<section id="s{number}">\n<h2>{_text(part.heading)}</h2>\n{text}{plots}{tables}</section>\n'


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    numeric = [at > 0 and _holds_numbers([row[at] for row in rows]) for at in range(len(columns))]
    head = "".join(
        f"<th scope=col{' class=n' if right else ''}>{_text(column)}</th>"
        for column, right in zip(columns, numeric, strict=True)
    )
    body = "".join("<tr>" + "".join(_cell(at, cell) for at, cell in enumerate(row)) + "</tr>\n" for row in rows)
    caption = f"<caption>{_text(title)}</caption>" if title else ""
    return f"<div class=wide><table>{caption}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"


def _cell(at: int, cell: str) -> str:
    if at == 0:
        return f"<th scope=row>{_text(cell)}</th>"
    return f"<td{' class=n' if _is_number(cell) else ''}>{_text(cell)}</td>"


def _is_number(cell: str) -> bool:
    """Whether a cell holds a number, with or without its interval; what stands for none is set as a number is."""
    return cell.startswith("none") or (bool(cell) and not set(cell) - _OF_NUMBERS)


def _holds_numbers(cells: Sequence[str]) -> bool:
    """Whether a column's cells are numbers, empty ones aside: its head is set as they are."""
    said = [cell for cell in cells if cell]
    return bool(said) and sum(map(_is_number, said)) > len(said) / 2


def _figure(plot: Plot) -> str:
    data = json.dumps({"columns": plot.columns, "rows": plot.rows}, ensure_ascii=False).replace("<", "\\u003c")
    caption = f"<b>{_text(plot.title)}.</b> {_text(plot.caption)}".strip()
    rows = [["" if cell is None else _shown(cell) for cell in row] for row in plot.rows]
    return (
        f'<figure id="{_text(plot.name)}">\n{plot.svg(themed=True)}\n<figcaption>{caption}</figcaption>\n'
        f"<details><summary>Data ({len(rows)} rows)</summary>{_table('', plot.columns, rows)}</details>\n"
        f"{_DATA.format(name=_text(plot.name), data=data)}\n</figure>\n"
    )


def _shown(cell: str | int | float) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _text(text: str) -> str:
    return html.escape(text, quote=True)
