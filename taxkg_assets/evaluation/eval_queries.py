"""Questions with their gold passages, located in the documents of the corpus.

A gold passage is a quote from a document. A question may also have a locator (document type, anchor, rare words), which
finds the same statement in another document of the same form where the corpus lacks the quoted one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.evaluation.labels import LabelError
from taxkg_assets.evaluation.matching import find_words, squash
from taxkg_assets.rules.floors import BUNDLED_SET, LOCATED
from taxkg_assets.rules.forms import find_perspective, split_forms
from taxkg_assets.rules.models.matching import load_matching
from taxkg_assets.rules.sentences import find_sentence_parts
from taxkg_assets.schemas import Anchors, Documents, EvalQueries, Sections

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Paragraph:
    page: int
    text: str
    names: frozenset[str]
    perspective: str | None


class _Corpus:
    """The documents, newest first, and their paragraphs, which are read when a question needs them."""

    def __init__(
        self, documents: dy.DataFrame[Documents], sections: dy.DataFrame[Sections], anchors: dy.DataFrame[Anchors]
    ) -> None:
        newest_first = documents.sort(
            ["is_draft", "revision", "document_id"], descending=[False, True, False], maintain_order=True
        )
        self.documents: tuple[Row, ...] = tuple(
            newest_first.select("document_id", "form", "doc_type").iter_rows(named=True)
        )
        self._sections = sections.partition_by("document_id", as_dict=True)
        self._anchors = anchors.partition_by("document_id", as_dict=True)
        self._no_rows = sections.clear(), anchors.clear()
        self._paragraphs: dict[str, tuple[_Paragraph, ...]] = {}

    def find_paragraphs(self, document_id: str) -> tuple[_Paragraph, ...]:
        """Return the paragraphs of a document in reading order."""
        if document_id not in self._paragraphs:
            sections = self._sections.get((document_id,), self._no_rows[0]).sort("paragraph_ix")
            anchors = self._anchors.get((document_id,), self._no_rows[1])
            anchor_by_id = {row["anchor_id"]: row for row in anchors.iter_rows(named=True)}
            owners_by_anchor = {
                anchor_id: _find_owners(anchor_id, anchor_by_id) for anchor_id in sections["anchor_id"].unique()
            }
            names_by_anchor = {
                anchor_id: frozenset(squash(name) for anchor in owners for name in (anchor["key"], anchor["heading"]))
                for anchor_id, owners in owners_by_anchor.items()
            }
            self._paragraphs[document_id] = tuple(
                _Paragraph(
                    page,
                    text,
                    names_by_anchor[anchor_id],
                    next((owner["perspective"] for owner in owners_by_anchor[anchor_id]), None),
                )
                for anchor_id, page, text in sections.select("anchor_id", "page", "text").iter_rows()
            )
        return self._paragraphs[document_id]


def build_eval_queries(
    query_sets: Mapping[str, Sequence[Row]],
    documents: dy.DataFrame[Documents],
    *,
    sections: dy.DataFrame[Sections],
    anchors: dy.DataFrame[Anchors],
) -> dy.DataFrame[EvalQueries]:
    """Locate the gold passages of each question in the corpus, by their quotes or locators.

    Args:
        query_sets: Rows in the gold format by the name of the set.
        documents: Documents of the corpus.
        sections: Content elements with their text.
        anchors: Anchors of these documents.

    Returns:
        One row per question. The name of the query set ends in a suffix if locators found its gold. A question without
        gold in this corpus is unresolved, with the reason.

    Raises:
        LabelError: An id occurs twice in a set, or a row lacks a field of the format.
    """
    corpus = _Corpus(documents, sections, anchors)
    rows = [question for name, rows in sorted(query_sets.items()) for question in _resolve_all(name, rows, corpus)]
    frame = pl.DataFrame(rows, schema=EvalQueries.create_empty().schema)
    return EvalQueries.validate(frame.sort("query_set", "query_id"), cast=True)


def _check(name: str, rows: Sequence[Row]) -> Sequence[Row]:
    seen: set[str] = set()
    for row in rows:
        missing = {"id", "query", "type", "gold"} - row.keys()
        if missing:
            lacking = ", ".join(sorted(missing))
            raise LabelError(f"query set {name}: row {row.get('id', len(seen) + 1)} lacks {lacking}. Correct the file.")
        if str(row["id"]) in seen:
            raise LabelError(f"query set {name}: id {row['id']} occurs twice. Correct the file.")
        seen.add(str(row["id"]))
    return rows


def _resolve_all(name: str, rows: Sequence[Row], corpus: _Corpus) -> list[dict[str, Any]]:
    """Resolve the questions of a set.

    The bundled ones were written for the samples alone: in a library with other documents, right passages of these
    would count as misses.
    """
    questions = [_resolve(name, row, corpus) for row in sorted(_check(name, rows), key=lambda row: str(row["id"]))]
    written_for = {document_id for row in rows for document_id in row.get("documents", ())}
    if name == BUNDLED_SET and not {row["document_id"] for row in corpus.documents} <= written_for:
        questions = [{**question, "query_set": name + LOCATED} for question in questions]
    return questions


def _resolve(name: str, row: Row, corpus: _Corpus) -> dict[str, Any]:
    gold = list(row["gold"])
    near_miss = list(row.get("near_miss") or [])
    note = ""
    document_ids = {document["document_id"] for document in corpus.documents}
    absent_documents = sorted({passage["document"] for passage in gold or near_miss} - document_ids)
    if absent_documents and row.get("locator"):
        name += LOCATED
        gold, failed_locators = _locate_all(row["locator"], row, corpus)
        near_miss, _ = _locate_all(row.get("near_miss_locator") or [], row, corpus)
        note = "; ".join(failed_locators)
    elif absent_documents and (gold or len(absent_documents) == len({passage["document"] for passage in near_miss})):
        note = f"not in this home: {', '.join(absent_documents)}"
    return {
        "query_set": name,
        "query_id": str(row["id"]),
        "query": row["query"],
        "type": row["type"],
        "gold": [{**_passage(passage), "grade": int(passage.get("grade", 3))} for passage in gold],
        "near_miss": [{**_passage(passage), "why": str(passage.get("why", ""))} for passage in near_miss],
        "coverage": row.get("coverage"),
        "is_resolved": not note,
        "note": note,
    }


def _passage(passage: Row) -> dict[str, Any]:
    return {"document": passage["document"], "page": passage.get("page"), "quote": passage["quote"]}


# ---------------------------------------------------------------------------------------------------- locators


def _locate_all(locators: Sequence[Row], row: Row, corpus: _Corpus) -> tuple[list[Row], list[str]]:
    passages: list[Row] = []
    failures: list[str] = []
    for locator in locators:
        passage = _locate({"form": row.get("form", ""), **locator}, corpus)
        if passage is None:
            failures.append(f"no paragraph of {locator['doc_type']} {locator['anchor']} holds {list(locator['words'])}")
        else:
            grade_and_reason = {name: locator[name] for name in ("grade", "why") if name in locator}
            passages.append({**passage, **grade_and_reason})
    return passages, failures


def _locate(locator: Row, corpus: _Corpus) -> Row | None:
    """Return the first paragraph below the locator's anchor with all its words, in the newest final revision."""
    words = frozenset(word for text in locator["words"] for word in find_words(text))
    anchor_name = squash(locator["anchor"])
    perspective = find_perspective(locator["doc_type"])
    for document in corpus.documents:
        if locator["form"] not in ("", document["form"]) and locator["form"] not in split_forms(document["form"]):
            continue
        for paragraph in corpus.find_paragraphs(document["document_id"]):
            is_of_type = perspective in (paragraph.perspective, find_perspective(document["doc_type"]))
            if is_of_type and anchor_name in paragraph.names and words <= frozenset(find_words(paragraph.text)):
                quote = _find_quote(paragraph.text, words)
                return {"document": document["document_id"], "page": paragraph.page, "quote": quote}
    return None


def _find_quote(text: str, words: frozenset[str]) -> str:
    """Return the shortest run of sentences that contains some words, cut to the maximum length of a quote."""
    thresholds = load_matching().thresholds
    shortest, longest = thresholds.quote_min_chars, thresholds.quote_max_chars
    sentences = [text[start:end] for start, end in find_sentence_parts(text)]
    runs = [
        " ".join(sentences[start:end])
        for start in range(len(sentences))
        for end in range(start + 1, len(sentences) + 1)
        if words <= frozenset(find_words(" ".join(sentences[start:end])))
    ]
    quote = min((run for run in runs if len(run) >= shortest), key=len, default=text)
    return quote if len(quote) <= longest else _cut_around(quote, words, size=longest)


def _cut_around(quote: str, words: frozenset[str], *, size: int) -> str:
    """Return the first part of a long quote, of at most `size` characters, that contains the most of some words."""
    parts = quote.split(" ")
    windows = []
    for start in range(len(parts)):
        end, length = start, -1
        while end < len(parts) and length + 1 + len(parts[end]) <= size:
            length += 1 + len(parts[end])
            end += 1
        windows.append(" ".join(parts[start:end]))
    return max(windows, key=lambda window: len(words & frozenset(find_words(window))))


def _find_owners(anchor_id: str | None, anchor_by_id: Mapping[str, Row]) -> list[Row]:
    """Return an anchor and the anchors above it, innermost first."""
    owners: list[Row] = []
    while anchor_id is not None and anchor_id in anchor_by_id and len(owners) <= len(anchor_by_id):
        owners.append(anchor_by_id[anchor_id])
        anchor_id = anchor_by_id[anchor_id]["parent_anchor_id"]
    return owners
