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
from taxkg_assets.serving.replies import BoxRow, CellRow


def print_passages(results: Sequence[Result], *, out: Console) -> None:
    """Print ranked passages with their document and page.

    Args:
        results: Passages, best first.
        out: Console.
    """
    if not results:
        out.print("No passage matches.")
    for result in results:
        out.print(
            f"[bold cyan]\\[{result.rank}][/] {_place(result)}  [dim]score {result.score:.3f}[/]", highlight=False
        )
        print_cautions(result.quality, out=out)
        out.print(Padding(Text(result.text), (0, 0, 1, 4)))


def print_cautions(flags: Sequence[Flag], *, out: Console) -> None:
    """Print the quality flags of the documents that a result depends on."""
    for flag in flags:
        out.print(f"    [yellow]caution[/] {escape(flag.document)}: {escape(flag.message)}", highlight=False)


def print_answer(question: str, found: Answer, *, out: Console) -> None:
    """Print an answer with its citations, or why the search abstained.

    Args:
        question: Words of the user.
        found: The answer.
        out: Console.
    """
    out.print(Text(question, style="bold"))
    if found.answer is None:
        for word, other in found.corrections.items():
            out.print(escape(f"Searched for “{other}” instead of “{word}”."), highlight=False)
        out.print("[yellow]No answer:[/] no passage answers this question reliably.")
        if found.results:
            out.print(f"[dim]Nearest: {_place(found.results[0])}[/]", highlight=False)
        return
    out.print(Padding(Text(found.answer), (1, 0)))
    worded = f", worded by {escape(found.model)}, each sentence checked against its quotes" if found.model else ""
    out.print(f"[dim]confidence {found.confidence:.2f}{worded}[/]", highlight=False)
    cited = [r for r in found.results if f"[{r.rank}]" in found.answer]
    for result in cited:
        corners = next((box for box in result.bboxes if box.page == result.page), None)
        where = f" at ({corners.x0:.0f}, {corners.y0:.0f})-({corners.x1:.0f}, {corners.y1:.0f}) pt" if corners else ""
        out.print(f"[bold cyan]\\[{result.rank}][/] {_place(result)}[dim]{where}[/]", highlight=False)
    print_cautions(found.quality, out=out)


def _place(result: Result) -> str:
    form = escape(f"{result.form} {result.revision}".strip())
    return f"[bold]{escape(result.document)}[/] p. {result.page} [green]{form}[/] {escape(result.heading_path)}"


def print_boxes(rows: Sequence[BoxRow], *, out: Console) -> None:
    """Print a box in each revision of its form, with the passages about it.

    Args:
        rows: Boxes.
        out: Console.
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
            place = f"{passage.perspective}, {passage.document_id} p. {passage.page}"
            out.print(f"  [cyan]{escape(place)}[/]", highlight=False)
            out.print(Padding(Text(passage.text), (0, 0, 0, 4)))
        print_cautions(row.quality, out=out)
        out.print()


def print_forms(rows: Sequence[BoxRow], *, out: Console) -> None:
    """Print every box of the first revision of each form, with whether its instructions cover it.

    Args:
        rows: Boxes, final revisions before drafts, the newest first.
        out: Console.
    """
    faces: dict[str, list[BoxRow]] = {}
    for document, boxes_of_face in groupby(rows, key=lambda row: row.document_id):
        face = list(boxes_of_face)
        faces.setdefault(face[0].form, []).append(face[0])
        if len(faces[face[0].form]) > 1:
            continue
        title = f"{face[0].form} ({face[0].revision}), {document}"
        shown = Table("box", "label", "filer instructions", "recipient instructions", title=escape(title))
        shown.title_justify = "left"
        for row in face:
            instructions = (escape(covered or "") or "[dim]not covered[/]" for covered in (row.filer, row.recipient))
            shown.add_row(
                escape(row.box_key.removeprefix("box_")), escape(row.label) or "[dim]no label[/]", *instructions
            )
        out.print(shown)
    for form, first_boxes in faces.items():
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
        out: Console.
    """
    out.print(Text(question, style="bold"))
    if not rows:
        out.print("[yellow]No match:[/] no table has a row and a column with the words of the question.")
    for row in rows:
        box = row.bboxes[0]
        where = f"at ({box.x0:.0f}, {box.y0:.0f})-({box.x1:.0f}, {box.y1:.0f}) pt"
        place = f"{escape(row.document)} p. {row.page}"
        out.print(
            f"[bold cyan]\\[{row.rank}][/] [bold]{escape(row.value)}[/]  [dim]score {row.score:.3f}[/]",
            highlight=False,
        )
        for name, headers in (("row", row.row), ("column", row.column)):
            out.print(f"    {name:<7}{escape(headers)}", highlight=False)
        title = escape(row.title or row.heading_path)
        out.print(f"    table  {title}  [cyan]{place}[/] [dim]{where}[/]", highlight=False)
