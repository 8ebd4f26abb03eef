"""Checks drafts against a release: gathers the passages, and asks `verification` for the verdicts."""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache

import polars as pl

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.extraction.references.mentions import Headings, find_mentions
from taxkg_assets.records import DocumentRecord, iter_records
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.serving.drafts import DraftFile, find_rectangles
from taxkg_assets.serving.released import Released
from taxkg_assets.serving.verify_graph import GraphChecker
from taxkg_assets.serving.verify_passages import FOUND_PASSAGES, PassageFinder
from taxkg_assets.serving.word_vectors import WordEncoder
from taxkg_assets.verification.claims import Claim, read_claim
from taxkg_assets.verification.decision import Decision, decide, supports
from taxkg_assets.verification.draft import Quotation, Statement, read_draft
from taxkg_assets.verification.evidence import Passage
from taxkg_assets.verification.language import Language
from taxkg_assets.verification.quotations import QuotationIndex, QuotationMatch, compare_words
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets.verification.reasons import explain_decision, list_compared
from taxkg_assets.verification.subjects import Documents, find_documents, list_forms
from taxkg_assets.verification.verdicts import (
    ComparedValue,
    Evidence,
    Finding,
    Report,
    Verdict,
    order_findings,
)

NO_HEADINGS = Headings({})
OTHER_REVISIONS = 6
"""Other revisions of a form, the nearest years first, in which a statement is looked for."""

REMEMBERED = 20_000
"""Texts whose mentions are remembered; headings come with each of their passages."""

LIKELY_QUOTATION = 0.6
"""Similarity from which a passage is shown as what a quotation may have meant, 0 to 1."""


class Checker:
    """Checks drafts against one release; the passages of a document are read once."""

    def __init__(self, released: Released) -> None:
        self.released = released
        searcher = released.searcher
        self._language = Language(
            find_terms=find_terms,
            read_weight=searcher.index.lexical.idf,
            find_mentions=lru_cache(maxsize=REMEMBERED)(lambda text: find_mentions(text, headings=NO_HEADINGS)),
            unknown_weight=math.log(2 + 2 * searcher.index.height),
            encode=searcher.encoder.encode_sentences,
            read_vectors=WordEncoder(searcher.encoder).read,
        )
        documents = released.table("documents")
        self._documents = {row["document_id"]: row for row in iter_records(documents, DocumentRecord)}
        self._reader = PassageReader(self._language, list_forms(self._documents.values()))
        self._passages = PassageFinder(released, self._reader)
        self._graph = GraphChecker(released, self._passages, self._reader)

    def check(self, draft: DraftFile, *, seconds: float | None = None) -> Report:
        """Check the quotations of a draft, and its statements that name a form, box, line, amount, date or rule.

        Args:
            draft: Text of the draft.
            seconds: Time after which the remaining statements are left unchecked; None for no limit.

        Returns:
            The findings, the number of parts that were left unchecked, and that of sentences that state nothing.
        """
        started = time.monotonic()
        parts = read_draft(draft.text)
        findings: list[Finding] = []
        unchecked_count = skipped_count = 0
        checked_parts: list[Quotation | Statement] = [*parts.quotations, *parts.statements]
        for part in checked_parts:
            is_late = seconds is not None and time.monotonic() - started > seconds
            if is_late or len(findings) >= load_verification().limits.statements:
                unchecked_count += 1
            elif isinstance(part, Quotation):
                findings.append(self._check_quotation(part, draft))
            elif self._is_claim(part, claim := read_claim(part, language=self._language), parts.quotations):
                findings.append(self._check_statement(part, claim, draft))
            else:
                skipped_count += 1
        sorted_findings = order_findings(findings)
        counts = Counter(finding.verdict for finding in sorted_findings)
        return Report(
            name=draft.name,
            release=self.released.row["release_ix"],
            findings=sorted_findings,
            skipped=skipped_count,
            unchecked=unchecked_count,
            counts={verdict: counts[verdict] for verdict in Verdict},
        )

    # ------------------------------------------------------------------------------------------- statements

    def decide(self, claim: Claim) -> tuple[Decision, str]:
        """Decide on a claim: by the graph, else by passages of the documents it names, else by those of others.

        Args:
            claim: A claim of the draft.

        Returns:
            The decision, and its reason in one sentence.
        """
        documents = find_documents(claim.subject, list(self._documents.values()))
        if documents.own and (graph_decision := self._graph.decide(claim, documents.own)):
            return graph_decision
        if claim.subject.forms and not documents.is_known:
            form_names = ", ".join(claim.subject.forms)
            return Decision(Verdict.not_found), f"The library has no document for {form_names}."
        if claim.subject.forms and not documents.own:
            return self._abstain_for_year(claim, documents)
        document_ids = documents.own or self._passages.search(claim)
        comparisons = self._passages.compare(claim, document_ids)
        decision = decide(comparisons, is_open=self._graph.reads(claim))
        reason = explain_decision(decision, claim.text, language=self._language)
        if decision.verdict is Verdict.supported or not claim.values:
            return decision, reason
        if any(
            comparison.agrees and comparison.score >= load_verification().thresholds.contradiction
            for comparison in comparisons
        ):
            # A passage of the named documents states the claim's values, so that no other document can be meant.
            return decision, reason
        other_decision = self._find_elsewhere(claim, document_ids, documents.others, decision)
        return other_decision or (decision, reason)

    def _check_statement(self, statement: Statement, claim: Claim, draft: DraftFile) -> Finding:
        decision, reason = self.decide(claim)
        row = decision.comparison
        return self._finding(
            draft,
            kind="statement",
            part=statement,
            verdict=decision.verdict,
            reason=reason,
            score=row.score if row is not None else 0.0,
            evidence=self._evidence(row.passage) if row is not None else None,
            compared=list_compared(decision),
        )

    def _abstain_for_year(self, claim: Claim, documents: Documents) -> tuple[Decision, str]:
        """No document of the year: nothing is decided, and the nearest revision that says so is shown."""
        rows = self._passages.compare(claim, documents.others[:1])
        year = claim.subject.year
        reason = f"The library has no document for {', '.join(claim.subject.forms)} and {year}"
        supporting = next((row for row in rows if supports(row)), None)
        if supporting is None:
            return Decision(Verdict.not_found, rows[0] if rows else None), f"{reason}."
        revision = self._documents[supporting.passage.document_id]["revision"]
        return Decision(Verdict.unclear, supporting), f"{reason}; revision {revision} says the same."

    def _find_elsewhere(
        self, claim: Claim, named_documents: Sequence[str], other_revisions: Sequence[str], decision: Decision
    ) -> tuple[Decision, str] | None:
        """Find the statement in another revision or form, where the documents that it names do not support it."""
        least_score = load_verification().thresholds.elsewhere
        for name in other_revisions[:OTHER_REVISIONS]:
            if not self._passages.may_state(claim, name):
                continue
            for row in self._passages.compare(claim, [name], is_aligned=False):
                if supports(row, least_score=least_score):
                    revision = self._documents[name]["revision"]
                    differences = decision.differences if decision.verdict is Verdict.contradicted else ()
                    reason = f"Stated in revision {revision}, not in the one that the draft cites."
                    return Decision(Verdict.other_year, row, differences), reason
        if decision.verdict is Verdict.contradicted or not claim.keys:
            return None
        searched = {*named_documents, *other_revisions}
        for name in self._passages.search(claim):
            if name not in searched and self._passages.may_state(claim, name):
                for row in self._passages.compare(claim, [name], is_aligned=False):
                    if supports(row, least_score=least_score):
                        title = self._documents[name]["title"]
                        return Decision(
                            Verdict.other_form, row
                        ), f"Stated in {title}, not in the form that the draft cites."
        return None

    def _is_claim(self, statement: Statement, claim: Claim, quotations: Sequence[Quotation]) -> bool:
        """Return whether a sentence states something that can be checked, beyond its quotations."""
        first, last = (
            bisect_left(quotations, offset, key=lambda quotation: quotation.start)
            for offset in (statement.start, statement.end)
        )
        quoted_length = sum(quotation.end - quotation.start for quotation in quotations[first:last])
        is_mostly_quoted = quoted_length * 2 > statement.end - statement.start
        # A question states nothing, and after a colon the list states the rest.
        if is_mostly_quoted or statement.text.endswith(("?", ":")):
            return False
        return claim.is_checkable and (bool(claim.weights) or self._graph.reads(claim))

    # ------------------------------------------------------------------------------------------- quotations

    @cached_property
    def _quotations(self) -> QuotationIndex:
        nodes = self.released.table("nodes").filter(pl.col("level").is_in(["paragraph", "anchor", "table"]))
        rows = nodes.sort("document_id", "ordinal").select("document_id", "node_id", "text").iter_rows()
        return QuotationIndex(rows)

    def _check_quotation(self, quotation: Quotation, draft: DraftFile) -> Finding:
        matches = self._quotations.find(quotation.text)
        if not matches:
            return self._report_missing(quotation, draft)
        claim = read_claim(Statement(quotation.around, 0, 0), language=self._language)
        documents = find_documents(claim.subject, list(self._documents.values()))
        verdict, reason, best_match = self._judge_matches(matches, claim, documents)
        return self._finding(
            draft,
            kind="quotation",
            part=quotation,
            verdict=verdict,
            reason=reason,
            score=1.0,
            evidence=self._evidence_of_match(best_match),
            compared=[],
        )

    def _judge_matches(
        self, matches: Sequence[QuotationMatch], claim: Claim, documents: Documents
    ) -> tuple[Verdict, str, QuotationMatch]:
        def rank(match: QuotationMatch) -> tuple[bool, str, str]:
            row = self._documents[match.document_id]
            return not row["is_draft"], str(row["revision"]), row["document_id"]

        best_match = max(matches, key=rank)
        if not documents.own:
            return Verdict.verbatim, "The library contains these words.", best_match
        matches_in_named = [match for match in matches if match.document_id in documents.own]
        if matches_in_named:
            return (
                Verdict.verbatim,
                "The document that the draft names contains these words.",
                max(matches_in_named, key=rank),
            )
        matches_in_others = [match for match in matches if match.document_id in documents.others]
        if matches_in_others and claim.subject.year is None:
            return (
                Verdict.verbatim,
                "An earlier revision contains these words, but the newest one does not.",
                max(matches_in_others, key=rank),
            )
        if matches_in_others:
            newest_match = max(matches_in_others, key=rank)
            revision = self._documents[newest_match.document_id]["revision"]
            return (
                Verdict.other_year,
                f"Revision {revision} contains these words, but the one that the draft names does not.",
                newest_match,
            )
        title = self._documents[best_match.document_id]["title"]
        return (
            Verdict.other_form,
            f"{title} contains these words, but the form that the draft names does not.",
            best_match,
        )

    def _report_missing(self, quotation: Quotation, draft: DraftFile) -> Finding:
        """Return the finding for a quotation that no document contains, with the most similar passage."""
        nearest: tuple[float, list[tuple[str, str]], Passage] | None = None
        results = self.released.searcher.search(quotation.text[:1000], k=FOUND_PASSAGES)
        claim = read_claim(Statement(quotation.text, 0, 0), language=self._language)
        for name in dict.fromkeys(row.document for row in results):
            for passage in self._passages.shortlist_of(name).find(claim)[:4]:
                ratio, differences = compare_words(quotation.text, passage.text)
                if nearest is None or ratio > nearest[0]:
                    nearest = ratio, differences, passage
        is_likely = nearest is not None and nearest[0] >= LIKELY_QUOTATION
        compared = [
            ComparedValue(kind="word", stated=stated_value, found=found_value, is_equal=False)
            for stated_value, found_value in (nearest[1] if is_likely and nearest is not None else ())
        ]
        reason = "The library does not contain these words" + ("; the nearest passage differs." if is_likely else ".")
        return self._finding(
            draft,
            kind="quotation",
            part=quotation,
            verdict=Verdict.not_found,
            reason=reason,
            score=nearest[0] if nearest is not None else 0.0,
            evidence=self._evidence(nearest[2]) if is_likely and nearest is not None else None,
            compared=compared,
        )

    # --------------------------------------------------------------------------------------------- evidence

    # arguments: one per field of the finding
    def _finding(
        self,
        draft: DraftFile,
        *,
        kind: str,
        part: Statement | Quotation,
        verdict: Verdict,
        reason: str,
        score: float,
        evidence: Evidence | None,
        compared: list[ComparedValue],
    ) -> Finding:
        rectangles = draft.place(part.start, part.end)
        return Finding(
            kind=kind,
            text=part.text,
            start=part.start,
            end=part.end,
            page=rectangles[0].page if rectangles else None,
            rectangles=rectangles,
            verdict=verdict,
            reason=reason,
            score=round(score, 3),
            evidence=evidence,
            compared=compared,
        )

    def _evidence(self, passage: Passage) -> Evidence:
        rectangles = self._rectangles(passage.node_id, passage.start, passage.end) if passage.end else []
        return self._evidence_row(
            passage.document_id,
            text=passage.spoken,
            heading_path=" > ".join(passage.headings),
            node_id=passage.node_id,
            rectangles=rectangles or [BoundingBox.of_row(box) for box in passage.bboxes],
            page=passage.page,
        )

    def _evidence_of_match(self, match: QuotationMatch) -> Evidence:
        nodes = self.released.read_documents("nodes", [match.document_id])
        node = nodes.row(by_predicate=pl.col("node_id") == match.node_id, named=True)
        rectangles = self._rectangles(match.node_id, match.start, match.end)
        return self._evidence_row(
            match.document_id,
            text=node["text"][match.start : match.end],
            heading_path=node["heading_path"],
            node_id=match.node_id,
            rectangles=rectangles or [BoundingBox.of_row(box) for box in node["bboxes"] or ()],
            page=node["page"] or 1,
        )

    def _rectangles(self, node_id: str, start: int, end: int) -> list[BoundingBox]:
        """Return the printed lines of a range of a paragraph; none for a heading or a table."""
        sections = self.released.read_sections([node_id])
        return find_rectangles(sections["pieces"][0], start, end) if sections.height else []

    def _evidence_row(
        self,
        document_id: str,
        *,
        text: str,
        heading_path: str,
        node_id: str,
        rectangles: list[BoundingBox],
        page: int,
    ) -> Evidence:
        row = self._documents[document_id]
        first = rectangles[0].page if rectangles else page
        return Evidence(
            text=text,
            heading_path=heading_path,
            document=document_id,
            form=row["form"],
            revision=row["revision"],
            page=first,
            rectangles=rectangles,
            node_id=node_id,
            official_url=f"{row['pdf_url']}#page={first}" if row["pdf_url"] else row["page_url"],
        )
