"""The line of a form that a question is about, in the words printed for it on the form itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from taxkg_assets.records import LineRecord, iter_records
from taxkg_assets.retrieval.answering.stated import (
    Stated,
    find_newest,
    find_row_of_words,
    judge,
    lead_with,
    name_edition,
    read_line,
)
from taxkg_assets.retrieval.answering.units import Piece, Unit
from taxkg_assets.retrieval.index.lines import open_contexts
from taxkg_assets.retrieval.query.router import Route, covers_key, find_kind
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking, Result
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.answers import load_answers

_LINE = "line"


def asks_for_line(question: str, route: Route) -> bool:
    """Return whether a question is about what one line of a form is, or how it is figured.

    Boxes are left out: a booklet explains each of them, and the words printed for them are names.

    Args:
        question: Words of the user.
        route: Its route.
    """
    is_line = len(route.forms) == 1 and len(route.keys) == 1 and find_kind(route.keys[0]) == _LINE
    return is_line and load_answers().line_questions.matches(question)


def quote_printed_line(
    searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result], allowed: Collection[str]
) -> Stated:
    """Quote the words printed for the line of a question.

    Args:
        searcher: Opened search, with the lines of the home.
        question: Words of the user.
        ranking: Ranking of the question.
        results: Passages of the question, best first.
        allowed: Documents that may be quoted.

    Returns:
        The passages with that of the form before them, renumbered, and a unit for the line in each part that has it;
        no unit where the form lacks the line, or where the question is about something else, too.
    """
    route = ranking.route
    if searcher.open_lines is None or not asks_for_line(question, route):
        return Stated(list(results))
    known = searcher.open_lines().filter(pl.col("document_id").is_in(list(allowed)))
    lines = choose_lines(known, route, newest=find_newest(searcher, route.forms))
    rows = [
        find_row_of_words(searcher, own["label"], document_id=own["document_id"], page=own["page"]) for own in lines
    ]
    placed = [(line, row) for line, row in zip(lines, rows, strict=True) if row is not None]
    merged, rank_of = lead_with(searcher, ranking, [row for _, row in placed], results=results)
    units = [_quote(searcher, line, row, rank=rank_of[row]) for line, row in placed]
    return judge(question, route, results, merged, units, is_whole=True)


def choose_lines(lines: pl.DataFrame, route: Route, *, newest: Collection[str]) -> list[LineRecord]:
    """Choose the line of a question in the newest revision of its form, or in that of a requested year.

    Args:
        lines: Table `lines`.
        route: Route of the question.
        newest: Documents of the newest revision of the form.

    Returns:
        Rows of `lines`: one, or one for each part that has a line of this number; none where the revision lacks it.
    """
    forms = [form for form in lines["form"].unique() if set(split_forms(form)) & set(route.forms)]
    rows = lines.filter(pl.col("form").is_in(forms) & (pl.col("label") != ""))
    if route.years:
        years = "|".join(map(str, route.years))
        rows = rows.filter(pl.col("revision").str.contains(years))
    else:
        rows = rows.filter(pl.col("document_id").is_in(list(newest)))
    found = [row for row in iter_records(rows, LineRecord) if covers_key(row["key"], route.keys)]
    kept: dict[tuple[str, str], LineRecord] = {}
    for row in sorted(found, key=lambda own: (own["line_ix"], own["document_id"])):
        kept.setdefault((row["part"], row["label"]), row)
    return list(kept.values())[: load_answers().most_parts]


def _quote(searcher: Searcher, line: LineRecord, row: int, *, rank: int) -> Unit:
    """Quote a line as the form prints it, below its name."""
    form = line["form"] if line["form"].startswith("Schedule") else f"Form {line['form']}"
    part = f", Part {line['part']}" if line["part"] else ""
    label = f"{form}{part}, {line['key'].replace('_', ' ')}"
    context = open_contexts([row], searcher.passages)[row]
    edition = name_edition(searcher, line["document_id"])
    title = Piece(role="label", text=f"{label} ({edition})", chunk_id=searcher.passages.columns["chunk_id"][row])
    printed = read_line(line["label"], context) or Piece(role="sentence", text=line["label"], chunk_id=title.chunk_id)
    return Unit(rank=rank, label=label, pieces=[title, printed])
