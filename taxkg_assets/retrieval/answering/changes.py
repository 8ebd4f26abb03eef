"""Changes between two editions, from `revisions`: the older words, then the newer, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from taxkg_assets.records import RevisionRecord, iter_records
from taxkg_assets.retrieval.answering.units import Piece, Unit
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.query.router import Route, covers_key
from taxkg_assets.retrieval.ranking.rerank import score_overlap
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking, Result
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.rules.sentences import find_sentences

Row = RevisionRecord
_PLACE = re.compile(r":\d+-\d+$")


def asks_for_changes(question: str, route: Route) -> bool:
    """Return whether a question asks what changed on a form that it names.

    Args:
        question: Words of the user.
        route: Its route.
    """
    return bool(route.forms) and load_answers().changes.matches(question)


def answer_changes(
    searcher: Searcher, question: str, ranking: Ranking, *, document: str | None = None
) -> tuple[list[Result], list[Unit]]:
    """Answer a question about the changes of a form with the passages that contain them.

    Args:
        searcher: Opened search, with the changes of the home.
        question: Words of the user.
        ranking: Ranking of the question.
        document: Changes from or to this document only.

    Returns:
        Passages that contain the changes, and units that quote them; both empty where no change is known.
    """
    if searcher.open_changes is None or not asks_for_changes(question, ranking.route):
        return [], []
    frame = _frame_words(question, ranking.route)
    wanted = {term: weight for term, weight in ranking.query_term_idf.items() if term not in frame}
    rows = find_changes(searcher.open_changes(), ranking.route, wanted=wanted, document=document)
    shown = rows[: load_answers().most_changes]
    places = [_find_rows(searcher, row) for row in shown]
    ordered = list(dict.fromkeys(found for pair in places for found in reversed(pair) if found is not None))
    if not ordered:
        return [], []
    results = searcher.show_rows(ranking, ordered)
    rank_of = {searcher.passages.row_of_chunk[result.chunk_id]: result.rank for result in results}
    units = [unit for row, pair in zip(shown, places, strict=True) for unit in _quote_change(row, pair, rank_of)]
    if units:
        notes = [Piece(role="note", text=text) for text in _find_notes(rows, len(shown), years=ranking.route.years)]
        units += [Unit(rank=units[-1].rank, label="", pieces=[note]) for note in notes]
    return results, units


def _find_notes(rows: Sequence[Row], shown: int, *, years: Sequence[int]) -> Iterator[str]:
    """Yield what the changes do not show: years without a revision, and how many changes are not shown."""
    compared = {int(row[name][:4]) for row in rows[:shown] for name in ("from_revision", "to_revision")}
    if missing := [str(year) for year in years if year not in compared]:
        yield f"(no revision of {' or '.join(missing)} to compare: these are the changes between the nearest ones)"
    if len(rows) > shown:
        yield f"({len(rows) - shown} more changes: `taxkg diff` lists all)"


def find_changes(
    revisions: pl.DataFrame, route: Route, *, wanted: Mapping[str, float], document: str | None = None
) -> list[Row]:
    """Find the changes of a form that require action, between the years in the question or the two newest revisions.

    Args:
        revisions: Table `revisions`.
        route: Route of the question.
        wanted: Inverse document frequency of the question's other terms.
        document: Changes from or to this document only.

    Returns:
        Rows of `revisions`, the most relevant first.
    """
    forms = set(route.forms)
    known = [row for row in revisions.select("form").unique().to_series() if forms & set(split_forms(row))]
    rows = revisions.filter(
        pl.col("form").is_in(known) & ~pl.col("is_routine") & ~pl.col("kind").str.contains("^(?:row|section) ")
    )
    if document is not None:
        rows = rows.filter(pl.col("to_document_id").eq(document) | pl.col("from_document_id").eq(document))
    every = list(iter_records(rows, RevisionRecord))
    found = [row for row in every if _is_of_years(row, route)] or [row for row in every if _spans_years(row, route)]
    if not route.years:
        newest = {row["irs_name"]: "" for row in found}
        for row in found:
            newest[row["irs_name"]] = max(newest[row["irs_name"]], row["to_revision"])
        found = [row for row in found if row["to_revision"] == newest[row["irs_name"]]]
    if route.keys:
        found = [row for row in found if any(covers_key(row[name], route.keys) for name in ("key", "previous_key"))]
    scored = [(score_overlap(dict(wanted), _terms_of(row)), row) for row in found if not _is_printed_everywhere(row)]
    best = max((score for score, _ in scored), default=0.0)
    kept = [(score, row) for score, row in scored if not best or score >= load_answers().change_share * best]
    weighty = load_answers().weighty_changes
    kept.sort(key=lambda pair: (-pair[0], not pair[1]["key"], pair[1]["nature"] not in weighty, pair[1]["change_ix"]))
    return [row for _, row in kept]


def _is_of_years(row: Row, route: Route) -> bool:
    """Return whether a change is between the years in the question; for one year, a change that its edition made."""
    if not route.years:
        return True
    older, newer = int(row["from_revision"][:4]), int(row["to_revision"][:4])
    if len(route.years) == 1:
        return newer == route.years[0]
    return min(route.years) <= older and newer <= max(route.years)


def _spans_years(row: Row, route: Route) -> bool:
    """Return whether a change is between two revisions with a year of the question between them."""
    newest = max(route.years)
    oldest = min(route.years) if len(route.years) > 1 else newest - 1
    return int(row["from_revision"][:4]) < newest and int(row["to_revision"][:4]) > oldest


def _frame_words(question: str, route: Route) -> frozenset[str]:
    """Return the terms that only request changes, or name the form and the years."""
    found = [match.group() for rule in load_answers().changes for match in rule.pattern.finditer(question)]
    named = [*route.forms, *(str(year) for year in route.years), "forms boxes lines instructions publication revision"]
    return frozenset(find_terms(" ".join([*found, *named])))


def _terms_of(row: Row) -> frozenset[str]:
    return frozenset(find_terms(f"{row['heading_path']} {row['before']} {row['after']}"))


def _is_printed_everywhere(row: Row) -> bool:
    headings = row["heading_path"].split(" > ")
    return any(load_answers().unasked.matches(heading) for heading in headings)


def _find_rows(searcher: Searcher, row: Row) -> tuple[int | None, int | None]:
    """Return the rows of the index that contain the older and the newer words."""
    sides = row["evidence"].split("→")
    nodes = [_PLACE.sub("", side.split(";")[0].strip()) for side in sides]
    older, newer = (searcher.find_row(node) if node else None for node in (nodes[0], nodes[-1]))
    return (older, newer) if len(sides) == 2 else (None, newer)


def _quote_change(row: Row, places: tuple[int | None, int | None], rank_of: Mapping[int, int]) -> Iterator[Unit]:
    """Yield the older words, then the newer ones, each under its edition."""
    heading = row["heading_path"].rpartition(" > ")[2] or row["key"].replace("_", " ").capitalize() or row["form"]
    older = [(own["before_start"], own["before_end"]) for own in row["words"] or ()]
    newer = [(own["after_start"], own["after_end"]) for own in row["words"] or ()]
    sides = (
        (row["before"], older, row["from_revision"], places[0]),
        (row["after"], newer, row["to_revision"], places[1]),
    )
    for whole, spans, revision, place in sides:
        text = _quote_changed(whole, spans)
        rank = rank_of.get(place) if place is not None else None
        if text and rank is not None:
            label = f"{heading.rstrip('. ')} ({row['form']} {revision}; {row['kind']})"
            pieces = [Piece(role="label", text=label), Piece(role="sentence", text=text)]
            yield Unit(rank=rank, label=label, pieces=pieces)


def _quote_changed(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the sentences of one side that contain changed words; all of a short text."""
    if len(text.split()) <= load_answers().whole_change_words:
        return " ".join(text.split())
    sentences = find_sentences(text)
    kept = [(a, b) for a, b in sentences if any(a <= high and low <= b for low, high in spans)] or sentences[:1]
    return " ".join(" ".join(text[a:b].split()) for a, b in kept)
