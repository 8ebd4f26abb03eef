"""Find the lines of forms that a question names or describes, and quote the text that the form prints for them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import polars as pl

from taxkg_assets.records import LineRecord, iter_records
from taxkg_assets.retrieval.answering.openings import (
    UNRANKED,
    Findings,
    find_newest,
    find_plain_words,
    find_row_of_words,
    name_edition,
    name_line,
    quote_line,
)
from taxkg_assets.retrieval.answering.units import Piece, Unit
from taxkg_assets.retrieval.index.passage_context import open_contexts
from taxkg_assets.retrieval.query.router import Route, covers_key, find_kind
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.answers import load_answers

_LINE = "line"
_NAME_END = re.compile(r"[.:(](?:\s|\w)")
_RESULT = re.compile(r"\b(?:This is|These are) (?:your|the) ([^.;(]+)")


def asks_for_line(question: str, route: Route) -> bool:
    """Return whether a question asks what a line of a form is, or how the line is computed.

    False for boxes: a form prints only the name of a box, so its booklet answers such a question.

    Args:
        question: Words of the user.
        route: Route of the question.
    """
    is_line = len(route.forms) == 1 and len(route.keys) == 1 and find_kind(route.keys[0]) == _LINE
    return is_line and load_answers().line_questions.matches(question)


def asks_for_line_to_use(question: str, route: Route) -> bool:
    """Return whether a question asks on which line to report something, without naming a line.

    Args:
        question: Words of the user.
        route: Route of the question.
    """
    return not route.keys and load_answers().destination_questions.matches(question)


def find_printed_lines(
    searcher: Searcher, question: str, ranking: Ranking, *, allowed_documents: Collection[str]
) -> Findings:
    """Find the printed text of the line that a question names by number or describes by its label.

    Args:
        searcher: Opened search; `open_lines` reads the lines of the home.
        question: Words of the user.
        ranking: Ranking of the question.
        allowed_documents: Ids of the documents that may be quoted.

    Returns:
        The line, or one for each part of the form that has a line of this number; empty where the question asks for no
        line, or where the line is unknown.
    """
    route = ranking.route
    names_line = asks_for_line(question, route)
    if searcher.open_lines is None or not (names_line or asks_for_line_to_use(question, route)):
        return Findings()
    lines = searcher.open_lines().filter(pl.col("document_id").is_in(list(allowed_documents)))
    newest_documents = find_newest(searcher, route.forms or lines["form"].unique().to_list())
    selected = select_lines(lines, route, newest_documents=newest_documents)
    units: list[tuple[int, Unit]] = []
    for line in choose_lines(selected, route) if names_line else match_lines(selected, question, route):
        row = find_row_of_words(searcher, line["label"], document_id=line["document_id"], page=line["page"])
        if row is not None:
            units.append((row, _quote(searcher, line, row)))
    return Findings(units, covers_question=True, settles_question=not names_line)


def select_lines(lines: pl.DataFrame, route: Route, *, newest_documents: Collection[str]) -> list[LineRecord]:
    """Select the lines of the forms in a question, from the newest revisions or from the requested year.

    Args:
        lines: Table `lines`.
        route: Route of the question; without a form, lines of all forms are selected.
        newest_documents: Ids of the documents with the newest revisions of these forms.

    Returns:
        Rows of `lines` with a label, in the order of their forms; of the same line in two documents only the first.
    """
    rows = lines.filter(pl.col("label") != "")
    if route.forms:
        forms = [form for form in lines["form"].unique() if set(split_forms(form)) & set(route.forms)]
        rows = rows.filter(pl.col("form").is_in(forms))
    if route.years:
        rows = rows.filter(pl.col("revision").str.contains("|".join(map(str, route.years))))
    else:
        rows = rows.filter(pl.col("document_id").is_in(list(newest_documents)))
    distinct_lines: dict[tuple[str, ...], LineRecord] = {}
    for row in iter_records(rows.sort("form", "line_ix", "document_id"), LineRecord):
        distinct_lines.setdefault((row["form"], row["part"], row["key"], row["label"]), row)
    return list(distinct_lines.values())


def choose_lines(lines: Sequence[LineRecord], route: Route) -> list[LineRecord]:
    """Select the lines whose number a question names.

    Args:
        lines: Lines from `select_lines`.
        route: Route of the question.

    Returns:
        The line, or one for each part that has a line of this number; empty where the form has no such line.
    """
    return [row for row in lines if covers_key(row["key"], route.keys)][: load_answers().most_parts]


def match_lines(lines: Sequence[LineRecord], question: str, route: Route) -> list[LineRecord]:
    """Find the line whose label a question quotes or paraphrases: "where do I report alimony received".

    Args:
        lines: Lines from `select_lines`.
        question: Words of the user.
        route: Route of the question.

    Returns:
        The lines whose name is most similar to the question; empty where no name is similar enough, or too many are
        equally similar.
    """
    request_words = find_plain_words(" ".join([load_answers().line_frame, *route.forms]))
    question_words = find_plain_words(question)
    scored = [
        (
            max(
                _compare_name(find_plain_words(name), question_words, request_words)
                for name in list_names(row["label"])
            ),
            row,
        )
        for row in lines
        if row["kind"] == _LINE  # in a box an amount is received, not reported
    ]
    best_score = max((score for score, _ in scored), default=(0.0, 0.0))
    best_lines = [row for score, row in scored if score == best_score]
    limits = load_answers()
    return best_lines if best_score[0] >= limits.label_share and len(best_lines) <= limits.most_parts else []


def list_names(label: str) -> list[str]:
    """List the names that a label gives to the amount on its line.

    Args:
        label: Printed text of a line.

    Returns:
        The beginning of the label, and what it calls the result: "net rent" in "Add lines 1 and 2. This is your net
        rent".
    """
    return [_NAME_END.split(label)[0], *_RESULT.findall(label)]


def _compare_name(
    name_words: frozenset[str], question_words: frozenset[str], request_words: frozenset[str]
) -> tuple[float, float]:
    """Compare the name of a line with a question.

    Returns:
        Share of common words among those that are no mere request, then among all. A question whose words are all
        requests, such as "which line is total tax", is for the lines whose whole name it contains.
    """
    name, description = name_words - request_words, question_words - request_words
    share = len(name_words & question_words) / max(1, len(name_words | question_words))
    if not name and not description:
        return (float(len(name_words) > 1 and name_words <= question_words), share)
    return len(name & description) / max(1, len(name | description)), share


def _quote(searcher: Searcher, line: LineRecord, row: int) -> Unit:
    """Quote a line as the form prints it, below its name."""
    label = name_line(line["form"], part=line["part"], key=line["key"])
    context = open_contexts([row], searcher.passages)[row]
    edition = name_edition(searcher, line["document_id"])
    title = Piece(role="label", text=f"{label} ({edition})", chunk_id=searcher.passages.columns["chunk_id"][row])
    line_piece = quote_line(line["label"], context) or Piece(
        role="sentence", text=line["label"], chunk_id=title.chunk_id
    )
    return Unit(rank=UNRANKED, label=label, pieces=[title, line_piece])
