"""Questions with their gold passages, located in the documents of the corpus.

Gold names its passage by a quote. Where the corpus lacks the quoted document, a question may have a locator (document
type, anchor, rare words) that finds the same statement in another document of the same form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.evaluation.labels import LabelError
from taxkg_assets.evaluation.matching import find_words, squash
from taxkg_assets.rules.floors import LOCATED
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
    """The documents, newest first, and the paragraphs of those that a question needs."""

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
            tree = {row["anchor_id"]: row for row in anchors.iter_rows(named=True)}
            chains = {anchor_id: _find_owners(anchor_id, tree) for anchor_id in sections["anchor_id"].unique()}
            names = {
                anchor_id: frozenset(squash(name) for anchor in chain for name in (anchor["key"], anchor["heading"]))
                for anchor_id, chain in chains.items()
            }
            self._paragraphs[document_id] = tuple(
                _Paragraph(page, text, names[anchor_id], next((a["perspective"] for a in chains[anchor_id]), None))
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
    """Locate the gold passages of each question in this corpus, by their quotes or locators.

    Args:
        query_sets: Rows in the gold format by the name of the set.
        documents: Documents of the corpus.
        sections: Content elements with their text.
        anchors: Anchors of these documents.

    Returns:
        One row per question; the name of the set shows where its gold was located. Questions without gold in this
        corpus are kept as unresolved, with the reason.

    Raises:
        LabelError: An id occurs twice in a set, or a row lacks a field of the format.
    """
    corpus = _Corpus(documents, sections, anchors)
    rows = [
        _resolve(name, row, corpus)
        for name, rows in sorted(query_sets.items())
        for row in sorted(_check(name, rows), key=lambda row: str(row["id"]))
    ]
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


def _resolve(name: str, row: Row, corpus: _Corpus) -> dict[str, Any]:
    gold, near_miss, note = list(row["gold"]), list(row.get("near_miss") or []), ""
    known = {document["document_id"] for document in corpus.documents}
    away = sorted({passage["document"] for passage in gold or near_miss} - known)
    if away and row.get("locator"):
        name += LOCATED
        gold, failed = _locate_all(row["locator"], row, corpus)
        near_miss, _ = _locate_all(row.get("near_miss_locator") or [], row, corpus)
        note = "; ".join(failed)
    elif away and (gold or len(away) == len({passage["document"] for passage in near_miss})):
        note = f"not in this home: {', '.join(away)}"
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
    rows: list[Row] = []
    failed: list[str] = []
    for locator in locators:
        passage = _locate({"form": row.get("form", ""), **locator}, corpus)
        if passage is None:
            failed.append(f"no paragraph of {locator['doc_type']} {locator['anchor']} holds {list(locator['words'])}")
        else:
            extra = {name: locator[name] for name in ("grade", "why") if name in locator}
            rows.append({**passage, **extra})
    return rows, failed


def _locate(locator: Row, corpus: _Corpus) -> Row | None:
    """Return the first paragraph below the anchor with all words, in the newest final revision that has one."""
    words = frozenset(word for given in locator["words"] for word in find_words(given))
    wanted = squash(locator["anchor"])
    perspective = find_perspective(locator["doc_type"])
    for document in corpus.documents:
        if locator["form"] not in ("", document["form"]) and locator["form"] not in split_forms(document["form"]):
            continue
        for paragraph in corpus.find_paragraphs(document["document_id"]):
            is_kind = perspective in (paragraph.perspective, find_perspective(document["doc_type"]))
            if is_kind and wanted in paragraph.names and words <= frozenset(find_words(paragraph.text)):
                quote = _find_quote(paragraph.text, words)
                return {"document": document["document_id"], "page": paragraph.page, "quote": quote}
    return None


def _find_quote(text: str, words: frozenset[str]) -> str:
    """Return the shortest run of whole sentences with the words; the gold format's upper bound cuts a longer one."""
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
    """Return whole words of a long sentence: the first window with the most of the wanted words."""
    parts = quote.split(" ")
    windows = []
    for start in range(len(parts)):
        end, length = start, -1
        while end < len(parts) and length + 1 + len(parts[end]) <= size:
            length += 1 + len(parts[end])
            end += 1
        windows.append(" ".join(parts[start:end]))
    return max(windows, key=lambda window: len(words & frozenset(find_words(window))))


def _find_owners(anchor_id: str | None, tree: Mapping[str, Row]) -> list[Row]:
    """Return the anchor and those above it, innermost first."""
    chain: list[Row] = []
    while anchor_id is not None and anchor_id in tree and len(chain) <= len(tree):
        chain.append(tree[anchor_id])
        anchor_id = tree[anchor_id]["parent_anchor_id"]
    return chain
