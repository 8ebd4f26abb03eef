"""Answer questions about changes between two editions from `revisions`: quote the older text, then the newer one."""

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
_CHARACTER_RANGE = re.compile(r":\d+-\d+$")


def asks_for_changes(question: str, route: Route) -> bool:
    """Return whether a question asks what changed on a form that it names.

    Args:
        question: Words of the user.
        route: Route of the question.
    """
    return bool(route.forms) and load_answers().changes.matches(question)


def answer_changes(
    searcher: Searcher, question: str, ranking: Ranking, *, document: str | None = None
) -> tuple[list[Result], list[Unit]]:
    """Answer a question about the changes of a form with the passages that contain them.

    Args:
        searcher: Opened search; `open_changes` reads the changes of the home.
        question: Words of the user.
        ranking: Ranking of the question.
        document: Id of the document that changes must be from or to; None for all.

    Returns:
        Passages that contain the changes, and units that quote them; both empty where no change is known.
    """
    if searcher.open_changes is None or not asks_for_changes(question, ranking.route):
        return [], []
    request_terms = _list_request_terms(question, ranking.route)
    topic_terms = {term: weight for term, weight in ranking.query_term_idf.items() if term not in request_terms}
    changes = find_changes(searcher.open_changes(), ranking.route, topic_terms=topic_terms, document=document)
    shown = changes[: load_answers().most_changes]
    row_pairs = [_find_rows(searcher, change) for change in shown]
    rows = list(dict.fromkeys(row for pair in row_pairs for row in reversed(pair) if row is not None))
    if not rows:
        return [], []
    results = searcher.show_rows(ranking, rows)
    rank_by_row = {searcher.passages.row_of_chunk[result.chunk_id]: result.rank for result in results}
    units: list[Unit] = []
    for change, pair in zip(shown, row_pairs, strict=True):
        units += _quote_change(change, pair, rank_by_row)
    if units:
        notes = _write_notes(changes, len(shown), years=ranking.route.years)
        rank = units[-1].rank
        units += [Unit(rank=rank, label="", pieces=[Piece(role="note", text=note)]) for note in notes]
    return results, units


def _write_notes(changes: Sequence[Row], shown_count: int, *, years: Sequence[int]) -> Iterator[str]:
    """Yield notes about years without a revision, and about changes that are not shown."""
    shown = changes[:shown_count]
    compared_years = {int(change[name][:4]) for change in shown for name in ("from_revision", "to_revision")}
    if missing_years := [str(year) for year in years if year not in compared_years]:
        names = " or ".join(missing_years)
        yield f"(no revision of {names} to compare: these are the changes between the nearest ones)"
    if len(changes) > shown_count:
        yield f"({len(changes) - shown_count} more changes: `taxkg diff` lists all)"


def find_changes(
    revisions: pl.DataFrame, route: Route, *, topic_terms: Mapping[str, float], document: str | None = None
) -> list[Row]:
    """Find the changes of a form that require action, between the years in the question or the two newest revisions.

    Args:
        revisions: Table `revisions`.
        route: Route of the question.
        topic_terms: Inverse document frequency of the question's terms, without those that request changes.
        document: Id of the document that changes must be from or to; None for all.

    Returns:
        Rows of `revisions`, the most relevant first.
    """
    changes = _select_changes(revisions, route, document=document)
    if route.keys:
        changes = [
            row for row in changes if covers_key(row["key"], route.keys) or covers_key(row["previous_key"], route.keys)
        ]
    scored = [(score_overlap(dict(topic_terms), _find_terms(row)), row) for row in changes if not _is_boilerplate(row)]
    best_score = max((score for score, _ in scored), default=0.0)
    min_score = load_answers().change_share * best_score
    relevant = [(score, row) for score, row in scored if score >= min_score]
    weighty_natures = load_answers().weighty_changes
    relevant.sort(
        key=lambda pair: (
            -pair[0],
            not pair[1]["key"],
            pair[1]["nature"] not in weighty_natures,
            pair[1]["change_ix"],
        )
    )
    return [row for _, row in relevant]


def _select_changes(revisions: pl.DataFrame, route: Route, *, document: str | None) -> list[Row]:
    """Return the changes of a question's forms that require action, for its years or the newest revisions."""
    forms = set(route.forms)
    matching_forms = [form for form in revisions.select("form").unique().to_series() if forms & set(split_forms(form))]
    rows = revisions.filter(
        pl.col("form").is_in(matching_forms) & ~pl.col("is_routine") & ~pl.col("kind").str.contains("^(?:row|section) ")
    )
    if document is not None:
        rows = rows.filter(pl.col("to_document_id").eq(document) | pl.col("from_document_id").eq(document))
    changes = list(iter_records(rows, RevisionRecord))
    if route.years:
        within_years = [row for row in changes if _is_of_years(row, route)]
        return within_years or [row for row in changes if _spans_years(row, route)]
    newest_revision: dict[str, str] = {}
    for row in changes:
        newest_revision[row["irs_name"]] = max(newest_revision.get(row["irs_name"], ""), row["to_revision"])
    return [row for row in changes if row["to_revision"] == newest_revision[row["irs_name"]]]


def _is_of_years(row: Row, route: Route) -> bool:
    """Return whether a change is between the years in the question, or made by the edition of its only year."""
    older, newer = int(row["from_revision"][:4]), int(row["to_revision"][:4])
    if len(route.years) == 1:
        return newer == route.years[0]
    return min(route.years) <= older and newer <= max(route.years)


def _spans_years(row: Row, route: Route) -> bool:
    """Return whether a change is between two revisions with a year of the question between them."""
    newest = max(route.years)
    oldest = min(route.years) if len(route.years) > 1 else newest - 1
    return int(row["from_revision"][:4]) < newest and int(row["to_revision"][:4]) > oldest


def _list_request_terms(question: str, route: Route) -> frozenset[str]:
    """Return the terms of a question that ask for changes, or name the form and the years."""
    requests = [match.group() for rule in load_answers().changes for match in rule.pattern.finditer(question)]
    names = [*route.forms, *(str(year) for year in route.years), "forms boxes lines instructions publication revision"]
    return frozenset(find_terms(" ".join([*requests, *names])))


def _find_terms(row: Row) -> frozenset[str]:
    return frozenset(find_terms(f"{row['heading_path']} {row['before']} {row['after']}"))


def _is_boilerplate(row: Row) -> bool:
    headings = row["heading_path"].split(" > ")
    return any(load_answers().unasked.matches(heading) for heading in headings)


def _find_rows(searcher: Searcher, row: Row) -> tuple[int | None, int | None]:
    """Return the rows of the index that contain the older and the newer text; None for a text that is not there."""
    sides = row["evidence"].split("→")
    nodes = [_CHARACTER_RANGE.sub("", side.split(";")[0].strip()) for side in sides]
    older, newer = (searcher.find_row(node) if node else None for node in (nodes[0], nodes[-1]))
    return (older, newer) if len(sides) == 2 else (None, newer)


def _quote_change(change: Row, rows: tuple[int | None, int | None], rank_by_row: Mapping[int, int]) -> Iterator[Unit]:
    """Yield the older text, then the newer one, each labeled with its edition."""
    key_name = change["key"].replace("_", " ").capitalize()
    heading = change["heading_path"].rpartition(" > ")[2] or key_name or change["form"]
    older_spans = [(words["before_start"], words["before_end"]) for words in change["words"] or ()]
    newer_spans = [(words["after_start"], words["after_end"]) for words in change["words"] or ()]
    editions = (
        (change["before"], older_spans, change["from_revision"], rows[0]),
        (change["after"], newer_spans, change["to_revision"], rows[1]),
    )
    for whole_text, spans, revision, row in editions:
        text = _quote_changed_sentences(whole_text, spans)
        rank = rank_by_row.get(row) if row is not None else None
        if text and rank is not None:
            label = f"{heading.rstrip('. ')} ({change['form']} {revision}; {change['kind']})"
            pieces = [Piece(role="label", text=label), Piece(role="sentence", text=text)]
            yield Unit(rank=rank, label=label, pieces=pieces)


def _quote_changed_sentences(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the sentences that contain the changed words (`spans`), or all of a short text."""
    if len(text.split()) <= load_answers().whole_change_words:
        return " ".join(text.split())
    sentences = find_sentences(text)
    changed = [
        (start, end)
        for start, end in sentences
        if any(start <= span_end and span_start <= end for span_start, span_end in spans)
    ]
    return " ".join(" ".join(text[start:end].split()) for start, end in changed or sentences[:1])
