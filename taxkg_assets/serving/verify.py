"""Checks drafts against a release: reads the draft, gathers the passages, and asks `verification` for the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import polars as pl

from taxkg_assets.extraction.references.mentions import Headings, find_mentions
from taxkg_assets.retrieval.lexical import find_terms
from taxkg_assets.serving.released import Released
from taxkg_assets.verification.claims import Claim, read_claim
from taxkg_assets.verification.comparison import Comparison, PassageReader, add_similarity, compare
from taxkg_assets.verification.decision import Decision, decide
from taxkg_assets.verification.draft import Statement
from taxkg_assets.verification.evidence import build_passages
from taxkg_assets.verification.language import Language
from taxkg_assets.verification.shortlist import Shortlist
from taxkg_assets.verification.subjects import find_documents, list_forms

NO_HEADINGS = Headings({})


class Checker:
    """Checks statements against one release; passages of a document are read once."""

    def __init__(self, released: Released) -> None:
        self.released = released
        searcher = released.searcher
        self.language = Language(
            find_terms=find_terms,
            weigh=searcher.index.lexical.idf,
            find_mentions=lambda text: find_mentions(text, headings=NO_HEADINGS),
            encode=searcher.encoder.encode_sentences,
        )
        self.documents: list[dict[str, Any]] = released.table("documents").to_dicts()
        self.reader = PassageReader(self.language, list_forms(self.documents))
        self.shortlist_of = lru_cache(maxsize=64)(self._read_passages)

    def _read_passages(self, document_id: str) -> Shortlist:
        nodes = self.released.read_documents("nodes", [document_id])
        tables = self.released.read_documents("tables", [document_id])
        passages = build_passages(nodes.iter_rows(named=True), tables.iter_rows(named=True))
        return Shortlist(passages, language=self.language)

    def read(self, statement: Statement) -> Claim:
        return read_claim(statement, language=self.language)

    def compare(self, claim: Claim, document_ids: Sequence[str]) -> list[Comparison]:
        passages = [passage for name in document_ids for passage in self.shortlist_of(name).find(claim)]
        found = [compare(claim, passage, reader=self.reader) for passage in passages]
        return add_similarity(claim, found, language=self.language)

    def decide(self, claim: Claim) -> Decision:
        return decide(self.compare(claim, find_documents(claim.subject, self.documents).own))
