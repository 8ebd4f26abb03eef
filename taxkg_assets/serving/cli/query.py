"""Commands that read the release: search, ask, box, table, explain, diff, show, export."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from taxkg_assets.serving.cli.application import (
    HomeOption,
    JsonOption,
    answering,
    app,
    counted,
    err,
    examples,
    home_of,
    keep_to_one_thread,
    out,
    print_json,
)
from taxkg_assets.settings import Settings

command = partial(app.command, rich_help_panel="Query")

QueriesOption = Annotated[
    Path | None, typer.Option("--queries", help="JSON Lines file of questions, each line with `id` and `query`.")
]
RunOption = Annotated[Path | None, typer.Option("--out", help="File to write the results of --queries to.")]


class Level(StrEnum):
    """Level of the passages."""

    auto = "auto"
    document = "document"
    page = "page"
    section = "section"
    paragraph = "paragraph"


@command(
    epilog=examples(
        'taxkg search "foreign tax credit limit" --year 2024',
        'taxkg search "basis of inherited property" --form "Schedule D" -k 3 --json',
    )
)
def search(
    question: Annotated[str, typer.Argument(help="Question or key words.")] = "",
    k: Annotated[int, typer.Option("-k", min=1, max=50, help="Number of passages.")] = 5,
    form: Annotated[str, typer.Option("--form", help="Only this form, e.g. 1099-DIV.")] = "",
    year: Annotated[int | None, typer.Option("--year", help="Only this tax year or revision year.")] = None,
    level: Annotated[
        Level, typer.Option("--level", help="Size of the passages; auto chooses it from the question.")
    ] = Level.auto,
    document: Annotated[str, typer.Option("--document", help="Only this document.")] = "",
    tag: Annotated[str, typer.Option("--tag", help="Only passages with this tag or entity.")] = "",
    queries: QueriesOption = None,
    output: RunOption = None,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Rank passages of the released documents, each with its page and rectangles."""
    if queries is None:
        keep_to_one_thread()
    from taxkg_assets.serving import render_answers
    from taxkg_assets.serving.batch import SearchFilters, run_batch, search_line
    from taxkg_assets.serving.filters import check_filters
    from taxkg_assets.serving.released import open_release

    check_question(question, queries, output)
    released = open_release(home_of(home))
    check_filters(released, form=form, year=year, document=document, tag=tag)
    filters = SearchFilters(form=form or None, year=year, document=document or None, tag=tag or None, level=level.value)
    if queries is not None and output is not None:
        searcher = released.searcher

        def search_one(query_id: str, text: str) -> dict[str, Any]:
            return search_line(searcher, query_id, text, filters=filters)

        count = run_batch(queries, output, make_line=search_one)
        err.print(f"Wrote the results of {counted(count, 'question')} to {output}.")
        return
    with answering():
        results = released.searcher.search(question, k=k, **filters)
    if as_json:
        print_json([result.model_dump() for result in results])
    else:
        render_answers.print_passages(results, out=out)


@command(
    epilog=examples(
        'taxkg ask "Which box shows qualified dividends?"',
        'taxkg ask "Who must file?" --form 8283 --year 2024',
        "taxkg ask --queries questions.jsonl --out run.jsonl",
    )
)
def ask(
    question: Annotated[str, typer.Argument(help="The question.")] = "",
    k: Annotated[int, typer.Option("-k", min=1, max=50, help="Number of passages to show.")] = 5,
    form: Annotated[str, typer.Option("--form", help="Only this form, e.g. 1099-DIV.")] = "",
    year: Annotated[int | None, typer.Option("--year", help="Only this tax year or revision year.")] = None,
    document: Annotated[str, typer.Option("--document", help="Only this document.")] = "",
    queries: QueriesOption = None,
    output: RunOption = None,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Answer a question with citations or general guidance, or abstain."""
    if queries is None:
        keep_to_one_thread()
    from taxkg_assets.serving import render_answers
    from taxkg_assets.serving.batch import run_batch, run_line
    from taxkg_assets.serving.filters import check_filters
    from taxkg_assets.serving.quotes import answer_with_places
    from taxkg_assets.serving.released import open_release

    check_question(question, queries, output)
    if queries is not None and (form or year is not None or document):
        raise typer.BadParameter("--form, --year and --document cannot be combined with --queries.")
    released, settings = open_release(home_of(home)), Settings()
    filters: dict[str, Any] = {"form": form or None, "year": year, "document": document or None}
    check_filters(released, **filters)
    if queries is not None and output is not None:
        count = run_batch(
            queries, output, make_line=lambda query_id, text: run_line(released, query_id, text, settings=settings)
        )
        err.print(f"Wrote the answers to {counted(count, 'question')} to {output}.")
        return
    with answering():
        answer = answer_with_places(released, question, settings=settings, k=k, **filters)
    if as_json:
        print_json(answer.model_dump())
    else:
        render_answers.print_answer(question, answer, out=out)


@command(epilog=examples("taxkg box 1099-DIV 1a", "taxkg box W-2"))
def box(
    words: Annotated[list[str], typer.Argument(help="Form and box (1099-DIV 1a), form (1099-DIV), or name of a box.")],
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Look up boxes by form and key or by name, with their instructions.

    For a form alone, list the boxes of its newest final revision, or of all revisions with --json.
    """
    from taxkg_assets.serving import render_answers
    from taxkg_assets.serving.boxes import list_boxes_of_forms, list_named_boxes
    from taxkg_assets.serving.released import open_release

    released = open_release(home_of(home))
    box_lists = list_boxes_of_forms(released, words)
    rows = box_lists or list_named_boxes(released, words)
    if as_json:
        print_json(rows)
    elif box_lists:
        render_answers.print_forms(box_lists, out=out)
    else:
        render_answers.print_boxes(rows, out=out)


@command(epilog=examples('taxkg table "standard deduction, single, 65 or older" --document p501--2025'))
def table(
    question: Annotated[str, typer.Argument(help="Question that a cell of a table answers.")],
    k: Annotated[int, typer.Option("-k", min=1, max=50, help="Number of cells to show.")] = 3,
    document: Annotated[str, typer.Option("--document", help="Only this document.")] = "",
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Look up a table cell by its row and column headers, or report that none fits."""
    keep_to_one_thread()
    from taxkg_assets.serving import render_answers
    from taxkg_assets.serving.released import open_release
    from taxkg_assets.serving.tables import TableLookup

    if not question.strip():
        raise typer.BadParameter("The question is empty.")
    rows = TableLookup(open_release(home_of(home))).find(question, k=k, document=document or None)
    if as_json:
        print_json([row.model_dump() for row in rows])
    else:
        render_answers.print_cells(question, rows, out=out)


@command(epilog=examples("taxkg explain 1099-DIV 2e", "taxkg explain 1099-DIV 2e --html neighborhood.html"))
def explain(
    words: Annotated[list[str], typer.Argument(help="Node id, or form and box: 1099-DIV 2e.")],
    html: Annotated[Path | None, typer.Option("--html", help="Write the node's neighborhood as HTML.")] = None,
    picture: Annotated[Path | None, typer.Option("--picture", help="Write the node's neighborhood as PNG.")] = None,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Explain a node of the graph: its level, document, page and text, and its edges with their evidence."""
    from taxkg_assets.defs.home.store import atomic_write
    from taxkg_assets.graph.neighborhood_page import render_graph_page
    from taxkg_assets.graph.picture import render_graph_picture
    from taxkg_assets.serving import explain as explaining
    from taxkg_assets.serving.released import open_release

    explained = explaining.explain(open_release(home_of(home)), words)
    if html is not None:
        atomic_write(html, render_graph_page(explained.around).encode())
    if picture is not None:
        atomic_write(picture, render_graph_picture(explained.around))
    if as_json:
        print_json(explained.row())
    else:
        explaining.show(explained, out=out)


@command(
    epilog=examples(
        "taxkg diff 1099-NEC",
        "taxkg diff f1099nec 2020 2024-01 --html changes.html",
        "taxkg diff f1040 2023 new-f1040.pdf",
    )
)
def diff(
    name: Annotated[str, typer.Argument(help="Form or IRS file name, e.g. 1099-NEC or f1099nec.")],
    older: Annotated[str, typer.Argument(help="Older revision, document id or PDF, e.g. 2020.")] = "",
    newer: Annotated[
        str,
        typer.Argument(
            help="Newer revision, document id or PDF. Without OLDER and NEWER, the two newest revisions are compared."
        ),
    ] = "",
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write the report as Markdown.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write the report as an HTML page.")] = None,
    has_routine: Annotated[bool, typer.Option("--all", help="Show routine changes too.")] = False,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Report what changed between two revisions: boxes, lines and codes, amounts, instructions, routine changes."""
    from taxkg_assets.defs.home.store import Store, atomic_write
    from taxkg_assets.graph.change_page import render_change_page
    from taxkg_assets.graph.change_report import render_change_markdown
    from taxkg_assets.serving.diff import compare
    from taxkg_assets.serving.diff import show as show_report
    from taxkg_assets.serving.diff_files import admit_files
    from taxkg_assets.settings import Settings

    tables, (before, after) = admit_files(Store(home_of(home)), (older, newer), product=name, settings=Settings())
    rows, report = compare(tables, name, before, after)
    for path, render in ((markdown, render_change_markdown), (html, render_change_page)):
        if path is not None:
            atomic_write(path, render(report).encode())
    if as_json:
        print_json(rows)
    else:
        show_report(report, has_routine=has_routine, out=out)


@command(epilog=examples("taxkg show i1099div--2024-01 3", "taxkg show f1040--2023 1 --out page.png --open"))
def show(
    document: Annotated[str, typer.Argument(help="Document id, e.g. i1099div--2024-01.")],
    page: Annotated[int, typer.Argument(help="Page of the PDF, from 1.")],
    output: Annotated[
        Path | None, typer.Option("--out", help="PNG file to write (default: <home>/reports/pages).")
    ] = None,
    is_opened: Annotated[bool, typer.Option("--open", help="Open the PNG file afterwards.")] = False,
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Draw a page as it was read: roles, columns, reading order, table cells and owning headings."""
    from taxkg_assets.defs.home.store import Store, atomic_write
    from taxkg_assets.serving.show import draw_page, find_page

    store = Store(home_of(home))
    content = find_page(store, document, page)
    picture = draw_page(store, content)
    path = output or store.folder("reports", "pages") / f"{document}-p{page:04d}.png"
    atomic_write(path, picture.png)
    if as_json:
        size = {"width_px": picture.width_px, "height_px": picture.height_px}
        print_json({"picture": str(path), **size, "elements": content.elements, "owners": content.owners})
    else:
        for line in content.describe_elements():
            out.print(line, markup=False, highlight=False)
        out.print(f"Written to {path}.", markup=False, highlight=False)
    if is_opened:
        typer.launch(str(path))


@command(epilog=examples("taxkg export graph/"))
def export(
    folder: Annotated[Path, typer.Argument(help="Folder to write nodes, edges and the registry into.")],
    home: HomeOption = "",
    as_json: JsonOption = False,
) -> None:
    """Export the released graph as GraphML and as Parquet."""
    from taxkg_assets.serving.explain import export_graph
    from taxkg_assets.serving.released import open_release

    row_counts = export_graph(open_release(home_of(home)), folder)
    if as_json:
        print_json(row_counts)
    else:
        for path, rows in row_counts.items():
            out.print(f"{path}: {rows} rows", markup=False, highlight=False)


def check_question(question: str, queries: Path | None, output: Path | None) -> None:
    """Check that the arguments give either a question, or a file of questions with an output file.

    Args:
        question: Question of the command line.
        queries: File of questions.
        output: Run file to write.

    Raises:
        typer.BadParameter: The arguments are neither, or the file does not exist.
    """
    if bool(question.strip()) == (queries is not None):
        raise typer.BadParameter("Give a question, or --queries FILE with --out RUN.")
    if (queries is None) != (output is None):
        raise typer.BadParameter("Give --queries and --out together.")
    if queries is not None and not queries.is_file():
        raise typer.BadParameter(f"{queries} is not a file.")
