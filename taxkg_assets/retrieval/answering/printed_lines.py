"""Lines of forms, in the words that the forms print for them: those that a question names, or describes."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import polars as pl

from taxkg_assets.records import LineRecord, iter_records
from taxkg_assets.retrieval.answering.stated import (
    UNRANKED,
    Findings,
    find_newest,
    find_plain_words,
    find_row_of_words,
    name_edition,
    name_line,
    read_line,
)
from taxkg_assets.retrieval.answering.units import Piece, Unit
from taxkg_assets.retrieval.index.passage_context import open_contexts
from taxkg_assets.retrieval.query.router import Route, covers_key, find_kind
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.answers import load_answers

_LINE = "line"
_END_OF_NAME = re.compile(r"[.:(](?:\s|\w)")


def asks_for_line(question: str, route: Route) -> bool:
    """Return whether a question asks what a line of a form is or how it is computed.

    Boxes are excluded: a booklet explains each of them, while the form prints only their names.

    Args:
        question: Words of the user.
        route: Its route.
    """
    is_line = len(route.forms) == 1 and len(route.keys) == 1 and find_kind(route.keys[0]) == _LINE
    return is_line and load_answers().line_questions.matches(question)


def asks_where(question: str, route: Route) -> bool:
    """Return whether a question asks on which line to report something, without naming a line.

    Args:
        question: Words of the user.
        route: Its route.
    """
    return not route.keys and load_answers().destination_questions.matches(question)


def find_printed_lines(searcher: Searcher, question: str, ranking: Ranking, *, allowed: Collection[str]) -> Findings:
    """Find the printed text of the line that a question names by number or by label.

    Args:
        searcher: Opened search, with the lines of the home.
        question: Words of the user.
        ranking: Its ranking.
        allowed: Documents that may be quoted.

    Returns:
        The line, or one for each part of the form that has this number; empty where the question asks for no line, or
        where the line is unknown.
    """
    route = ranking.route
    is_named = asks_for_line(question, route)
    if searcher.open_lines is None or not (is_named or asks_where(question, route)):
        return Findings()
    known = searcher.open_lines().filter(pl.col("document_id").is_in(list(allowed)))
    newest = find_newest(searcher, route.forms or known["form"].unique().to_list())
    selected = select_lines(known, route, newest=newest)
    units: list[tuple[int, Unit]] = []
    for line in choose_lines(selected, route) if is_named else match_lines(selected, question, route):
        row = find_row_of_words(searcher, line["label"], document_id=line["document_id"], page=line["page"])
        if row is not None:
            units.append((row, _quote(searcher, line, row)))
    return Findings(units, is_whole=True)


def select_lines(lines: pl.DataFrame, route: Route, *, newest: Collection[str]) -> list[LineRecord]:
    """Select the lines of the forms in a question, from the newest revisions or from the requested year.

    Args:
        lines: Table `lines`.
        route: Route of the question; without a form, lines of all forms are selected.
        newest: Documents of the newest revisions of these forms.

    Returns:
        Rows of `lines` with a label, in the order of their forms; a line that two files print counts once.
    """
    rows = lines.filter(pl.col("label") != "")
    if route.forms:
        forms = [form for form in lines["form"].unique() if set(split_forms(form)) & set(route.forms)]
        rows = rows.filter(pl.col("form").is_in(forms))
    if route.years:
        rows = rows.filter(pl.col("revision").str.contains("|".join(map(str, route.years))))
    else:
        rows = rows.filter(pl.col("document_id").is_in(list(newest)))
    kept: dict[tuple[str, ...], LineRecord] = {}
    for row in iter_records(rows.sort("form", "line_ix", "document_id"), LineRecord):
        kept.setdefault((row["form"], row["part"], row["key"], row["label"]), row)
    return list(kept.values())


def choose_lines(lines: Sequence[LineRecord], route: Route) -> list[LineRecord]:
    """Select the lines whose number a question names.

    Args:
        lines: Lines of `select_lines`.
        route: Route of the question.

    Returns:
        The line, or one for each part that has a line of this number; none where the revision lacks it.
    """
    return [row for row in lines if covers_key(row["key"], route.keys)][: load_answers().most_parts]


def match_lines(lines: Sequence[LineRecord], question: str, route: Route) -> list[LineRecord]:
    """Find the line whose label a question quotes or paraphrases: "where do I report alimony received".

    Args:
        lines: Lines of `select_lines`.
        question: Words of the user.
        route: Its route.

    Returns:
        The line with the most similar name; none where the names are less similar than `label_share`, or where more
        lines than an answer quotes have it.
    """
    frame = find_plain_words(" ".join([load_answers().line_frame, *route.forms]))
    wanted = find_plain_words(question) - frame
    scored: list[tuple[float, LineRecord]] = []
    for row in (row for row in lines if row["kind"] == _LINE):  # in a box an amount is received, not reported
        name = find_plain_words(_END_OF_NAME.split(row["label"])[0]) - frame
        scored.append((len(name & wanted) / max(1, len(name | wanted)), row))
    best = max((score for score, _ in scored), default=0.0)
    found = [row for score, row in scored if score == best]
    limits = load_answers()
    return found if best >= limits.label_share and len(found) <= limits.most_parts else []


def _quote(searcher: Searcher, line: LineRecord, row: int) -> Unit:
    """Quote a line as the form prints it, below its name."""
    label = name_line(line["form"], part=line["part"], key=line["key"])
    context = open_contexts([row], searcher.passages)[row]
    edition = name_edition(searcher, line["document_id"])
    title = Piece(role="label", text=f"{label} ({edition})", chunk_id=searcher.passages.columns["chunk_id"][row])
    printed = read_line(line["label"], context) or Piece(role="sentence", text=line["label"], chunk_id=title.chunk_id)
    return Unit(rank=UNRANKED, label=label, pieces=[title, printed])
