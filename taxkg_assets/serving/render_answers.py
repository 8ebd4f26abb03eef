"""Passages, answers, boxes and cells for the terminal. Document text is escaped: it can never style the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from taxkg_assets.retrieval.answering.answer import Answer
from taxkg_assets.retrieval.results import Flag, Result
from taxkg_assets.serving.quotes import find_regions
from taxkg_assets.serving.replies import BoxRow, CellRow


def print_passages(results: Sequence[Result], *, out: Console) -> None:
    """Print ranked passages with their document and page.

    Args:
        results: Passages, best first.
        out: Console to print to.
    """
    if not results:
        out.print("No passage matches.")
    for result in results:
        out.print(
            f"[bold cyan]\\[{result.rank}][/] {_format_source(result)}  [dim]score {result.score:.3f}[/]",
            highlight=False,
        )
        print_cautions(result.quality, out=out)
        out.print(Padding(Text(result.text), (0, 0, 1, 4)))


def print_cautions(flags: Sequence[Flag], *, out: Console) -> None:
    """Print the quality flags of the documents that a result depends on.

    Args:
        flags: Quality flags of these documents.
        out: Console to print to.
    """
    for flag in flags:
        out.print(f"    [yellow]caution[/] {escape(flag.document)}: {escape(flag.message)}", highlight=False)


def print_answer(question: str, answer: Answer, *, out: Console) -> None:
    """Print an answer with its citations, or why the search abstained.

    Args:
        question: Words of the user.
        answer: The answer.
        out: Console to print to.
    """
    out.print(Text(question, style="bold"))
    if answer.answer is None:
        for word, searched_word in answer.corrections.items():
            out.print(escape(f"Searched for “{searched_word}” instead of “{word}”."), highlight=False)
        out.print("[yellow]No answer:[/] no passage answers this question reliably.")
        if answer.results:
            out.print(f"[dim]Nearest: {_format_source(answer.results[0])}[/]", highlight=False)
        return
    out.print(Padding(Text(answer.answer), (1, 0)))
    model_note = f", worded by {escape(answer.model)}, each sentence checked against its quotes" if answer.model else ""
    out.print(f"[dim]confidence {answer.confidence:.2f}{model_note}[/]", highlight=False)
    cited_results = [r for r in answer.results if f"[{r.rank}]" in answer.answer]
    for result in cited_results:
        regions = find_regions(answer, result.rank)
        pages = sorted({box.page for box in regions}) or [result.page]
        out.print(f"[bold cyan]\\[{result.rank}][/] {_format_source(result, pages)}", highlight=False)
        for page, boxes in groupby(regions, key=lambda box: box.page):
            places = ", ".join(f"({box.x0:.0f}, {box.y0:.0f})-({box.x1:.0f}, {box.y1:.0f})" for box in boxes)
            out.print(Padding(Text(f"quoted from p. {page} at {places} pt", style="dim"), (0, 0, 0, 4)))
    print_cautions(answer.quality, out=out)


def _format_source(result: Result, pages: Sequence[int] = ()) -> str:
    form = escape(f"{result.form} {result.revision}".strip())
    printed_pages = ", ".join(str(page) for page in pages or (result.page,))
    return f"[bold]{escape(result.document)}[/] p. {printed_pages} [green]{form}[/] {escape(result.heading_path)}"


def print_boxes(rows: Sequence[BoxRow], *, out: Console) -> None:
    """Print a box in each revision of its form, with the passages about it.

    Args:
        rows: Boxes.
        out: Console to print to.
    """
    for row in rows:
        key = escape(row.box_key.replace("_", " "))
        out.print(f"[bold]{escape(row.form)} ({escape(row.revision)}) {key}[/]  {escape(row.label)}")
        aliases = ", ".join(row.aliases)
        out.print(f"  [dim]{escape(row.canonical_id)}, printed in {escape(row.source)}[/]", highlight=False)
        if aliases:
            out.print(f"  also called: {escape(aliases)}", highlight=False)
        if row.history:
            out.print(f"  in older revisions: {escape(', '.join(row.history))}", highlight=False)
        for passage in row.passages:
            source = f"{passage.perspective}, {passage.document_id} p. {passage.page}"
            out.print(f"  [cyan]{escape(source)}[/]", highlight=False)
            out.print(Padding(Text(passage.text), (0, 0, 0, 4)))
        print_cautions(row.quality, out=out)
        out.print()


def print_forms(rows: Sequence[BoxRow], *, out: Console) -> None:
    """Print the boxes of one revision of each form, the first in `rows`, and whether instructions explain them.

    Args:
        rows: Boxes of all revisions, final revisions before drafts, the newest first.
        out: Console to print to.
    """
    first_boxes_by_form: dict[str, list[BoxRow]] = {}
    for document, boxes_of_face in groupby(rows, key=lambda row: row.document_id):
        boxes = list(boxes_of_face)
        first_boxes_by_form.setdefault(boxes[0].form, []).append(boxes[0])
        if len(first_boxes_by_form[boxes[0].form]) > 1:
            continue
        title = f"{boxes[0].form} ({boxes[0].revision}), {document}"
        table = Table("box", "label", "filer instructions", "recipient instructions", title=escape(title))
        table.title_justify = "left"
        for row in boxes:
            instructions = (escape(coverage or "") or "[dim]not covered[/]" for coverage in (row.filer, row.recipient))
            table.add_row(
                escape(row.box_key.removeprefix("box_")), escape(row.label) or "[dim]no label[/]", *instructions
            )
        out.print(table)
    for form, first_boxes in first_boxes_by_form.items():
        counts = Counter(row.revision for row in first_boxes)
        names = [
            row.revision if row.revision and counts[row.revision] == 1 else row.document_id for row in first_boxes[1:]
        ]
        if names:
            hint = f'Other revisions: {", ".join(names)}. `taxkg form "{form}" --revision {names[0]}` lists one.'
            out.print(hint, markup=False, highlight=False)


def print_cells(question: str, rows: Sequence[CellRow], *, out: Console) -> None:
    """Print the table cells that match a question, with row, column, value and page.

    Args:
        question: Words of the user.
        rows: Cells, best first.
        out: Console to print to.
    """
    out.print(Text(question, style="bold"))
    if not rows:
        out.print("[yellow]No match:[/] no table has a row and a column with the words of the question.")
    for row in rows:
        box = row.bboxes[0]
        position = f"at ({box.x0:.0f}, {box.y0:.0f})-({box.x1:.0f}, {box.y1:.0f}) pt"
        source = f"{escape(row.document)} p. {row.page}"
        out.print(
            f"[bold cyan]\\[{row.rank}][/] [bold]{escape(row.value)}[/]  [dim]score {row.score:.3f}[/]",
            highlight=False,
        )
        for name, headers in (("row", row.row), ("column", row.column)):
            out.print(f"    {name:<7}{escape(headers)}", highlight=False)
        title = escape(row.title or row.heading_path)
        out.print(f"    table  {title}  [cyan]{source}[/] [dim]{position}[/]", highlight=False)
