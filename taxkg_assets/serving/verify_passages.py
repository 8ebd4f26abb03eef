"""The passages of a release that may decide on a statement: by its words, and by the search."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, lru_cache

from taxkg_assets.records import NodeRecord, TableRecord, iter_records
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.serving.released import Released
from taxkg_assets.verification.claims import KEY_KINDS, Claim
from taxkg_assets.verification.comparison import Comparison, compare_nearest
from taxkg_assets.verification.evidence import Passage, build_passages
from taxkg_assets.verification.figures import Figures
from taxkg_assets.verification.neighbors import relate
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets.verification.shortlist import Shortlist

FOUND_PASSAGES = 8
"""Passages of the search whose documents are looked through for a statement."""

FOUND_ROWS = 8
"""Rows of the index, best first, whose passages a statement about their document is compared with."""

_MOST_CHARACTERS = 1000
_NAMED = KEY_KINDS | {"form"}  # what the words of a claim lack; a search finds the passages that name it


class PassageFinder:
    """Finds the passages of documents to compare with claims; the passages of a document are read once."""

    def __init__(self, released: Released, reader: PassageReader) -> None:
        """Take the release and what reads its passages.

        Args:
            released: Release that claims are checked against.
            reader: Reads words and values of passages.
        """
        self._released = released
        self._reader = reader
        self.shortlist_of = lru_cache(maxsize=64)(self._read_passages)
        self._figures_of = lru_cache(maxsize=64)(self._read_figures)
        self._rows_of = lru_cache(maxsize=1)(self._read_rows)

    def compare(self, claim: Claim, document_ids: Iterable[str], *, is_aligned: bool = True) -> list[Comparison]:
        """Compare a claim with the passages of some documents, for evidence that supports or contradicts it.

        Args:
            claim: The claim.
            document_ids: Documents whose passages are compared.
            is_aligned: Whether to accept paraphrases, and passages that only the search finds.

        Returns:
            Comparisons, best score first.
        """
        passages: list[Passage] = []
        passages_of_search: list[Passage] = []
        wordings: set[str] = set()
        for name in document_ids:
            # The same abbreviation may mean something else in another document.
            claim_in_document = replace(claim, plain=self.shortlist_of(name).abbreviations.write_out(claim.plain))
            wordings.add(claim_in_document.plain)
            passages += self.shortlist_of(name).find(claim_in_document)
            if is_aligned:
                passages_of_search += self._find_near(claim_in_document, name)
        if len(wordings) == 1:
            claim = replace(claim, plain=wordings.pop())
        rows = compare_nearest(claim, passages, reader=self._reader, near=passages_of_search, is_aligned=is_aligned)
        return relate(claim, rows) if is_aligned else rows

    def may_state(self, claim: Claim, document_id: str) -> bool:
        """Return whether a document prints all amounts and rates of a claim, before its passages are read.

        Args:
            claim: The claim.
            document_id: The document.
        """
        return self._figures_of(document_id).may_state(claim)

    def search(self, claim: Claim) -> tuple[str, ...]:
        """Return the documents of the best search results for a claim, limited to the claim's year if it has one.

        Args:
            claim: The claim.
        """
        searcher = self._released.searcher
        results = searcher.search(claim.text[:_MOST_CHARACTERS], k=FOUND_PASSAGES, year=claim.subject.year)
        return tuple(dict.fromkeys(row.document for row in results))

    @cached_property
    def _searcher(self) -> Searcher:
        """Return the search without the look-up of table cells, which ask for a value and do not state one."""
        searcher = self._released.searcher
        return searcher.with_parts(replace(searcher.parts, cells=False))

    def _find_near(self, claim: Claim, document_id: str) -> list[Passage]:
        """Return the passages of the paragraphs that the search ranks first: they may say so in other words."""
        names = dict.fromkeys(value.text for value in claim.values if value.kind in _NAMED)
        ranking = self._searcher.rank(" ".join((claim.plain, *names))[:_MOST_CHARACTERS], document=document_id)
        rows = [candidate.row for candidate in ranking.candidates[:FOUND_ROWS]]
        self._searcher.passages.prefetch(rows, ("node_ids",))
        nodes = self._searcher.passages.columns["node_ids"]
        return self.shortlist_of(document_id).read_nodes(dict.fromkeys(node for row in rows for node in nodes[row]))

    def _read_rows(self, document_id: str) -> tuple[list[NodeRecord], list[TableRecord]]:
        nodes = self._released.read_documents("nodes", [document_id])
        tables = self._released.read_documents("tables", [document_id])
        return list(iter_records(nodes, NodeRecord)), list(iter_records(tables, TableRecord))

    def _read_figures(self, document_id: str) -> Figures:
        return Figures(*self._rows_of(document_id))

    def _read_passages(self, document_id: str) -> Shortlist:
        return Shortlist(build_passages(*self._rows_of(document_id)), language=self._reader.language)
