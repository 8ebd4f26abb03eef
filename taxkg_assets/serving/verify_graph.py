"""Statements that the graph answers: how a form computes a line, and where the amount of a line goes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from taxkg_assets.records import FlowRecord, FormulaRecord, LineRecord, iter_records
from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.serving.released import Released
from taxkg_assets.serving.verify_passages import PassageFinder
from taxkg_assets.verification.claims import Claim
from taxkg_assets.verification.clause_words import Words, find_words, match_word
from taxkg_assets.verification.comparison import Comparison, compare
from taxkg_assets.verification.decision import Decision
from taxkg_assets.verification.evidence import Passage, expand_key
from taxkg_assets.verification.formulas import (
    Computation,
    agrees,
    find_computations,
    find_formula,
    leaves_out_letters,
)
from taxkg_assets.verification.reader import PassageReader
from taxkg_assets.verification.stated import Difference
from taxkg_assets.verification.transfers import Transfer, find_flow, find_other_flow, find_transfers
from taxkg_assets.verification.verdicts import Verdict

_FLOOR = "zero less than result negative amount below smaller"
_NOT_LESS = re.compile(r"(?i)\b(?:but )?not (?:less than|below) (?:zero|-0-)")
_ZERO = re.compile(r"(?i)\bzero\b|-0-")
_RESERVED = re.compile(r"(?i)\W*reserved\b")
_KEYS = frozenset({"line", "box", "part", "column", "form", "year"})


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the graph says to one assertion of a statement: the passage, whether it agrees, and how it differs."""

    passage: Passage
    agrees: bool
    reason: str
    keys: frozenset[str]
    labels: tuple[str, ...] = ()
    difference: Difference | None = None
    has_floor: bool = False


class GraphChecker:
    """Checks claims about lines against the formulas and flows of a release."""

    def __init__(self, released: Released, passages: PassageFinder, reader: PassageReader) -> None:
        """Take the release, and what finds and reads its passages.

        Args:
            released: Release that claims are checked against.
            passages: Finds the passages that print a formula or a flow.
            reader: Reads words and values of passages.
        """
        self._released = released
        self._passages = passages
        self._reader = reader

    def decide(self, claim: Claim, document_ids: Sequence[str]) -> tuple[Decision, str] | None:
        """Decide on a claim by the formulas and flows of the graph.

        Args:
            claim: The claim.
            document_ids: Documents of the forms and the year that the claim names.

        Returns:
            The decision and its reason; None if the graph does not answer the whole claim.
        """
        computations, transfers = self._read(claim)
        answers = [self._compute(computation, document_ids) for computation in computations]
        answers += [self._transfer(transfer, document_ids) for transfer in transfers]
        found_answers = [answer for answer in answers if answer is not None]
        for answer in found_answers:
            if not answer.agrees:
                differences = (answer.difference,) if answer.difference is not None else ()
                return Decision(Verdict.contradicted, self._compare(claim, answer), differences), answer.reason
        if (
            not found_answers
            or len(found_answers) < len(answers)
            or self._says_more(claim, found_answers, computations)
        ):
            return None
        return Decision(Verdict.supported, self._compare(claim, found_answers[0])), found_answers[0].reason

    def reads(self, claim: Claim) -> bool:
        """Return whether a claim states how a line is computed or where an amount goes.

        Args:
            claim: The claim.
        """
        return any(self._read(claim))

    def _read(self, claim: Claim) -> tuple[list[Computation], list[Transfer]]:
        computations = find_computations(claim.text) if self._released.holds("formulas") else []
        form = claim.subject.forms[0] if claim.subject.forms else ""
        has_flows = self._released.holds("flows")
        transfers = find_transfers(claim.text, language=self._reader.language, form=form) if has_flows else []
        operands = {key for computation in computations for key in computation.operands}
        return computations, [transfer for transfer in transfers if transfer.source.key not in operands]

    def _says_more(self, claim: Claim, answers: Sequence[_Answer], computations: Sequence[Computation]) -> bool:
        """Return whether a claim has values or things that the graph leaves open."""
        keys = frozenset[str]().union(*(answer.keys for answer in answers))
        language = self._reader.language
        if any(value.kind in ("line", "box") and value.figure not in keys for value in claim.keys):
            return True
        comparison = self._compare(claim, answers[0])
        has_rate = any(computation.factor is not None for computation in computations)
        kinds = [
            *(value.kind for value in comparison.unmatched),
            *(difference.kind for difference in comparison.differences),
        ]
        open_values = [kind for kind in kinds if kind not in _KEYS and not (has_rate and kind == "percent")]
        if open_values or comparison.is_excepted or self._has_other_case(claim, answers):
            return True
        printed_words: Words = frozenset()
        for answer in answers:
            wording, heading_words = self._reader.words_of(answer.passage)
            printed_words |= wording.words | heading_words
            printed_words |= find_words(" . ".join(answer.labels), language=language)
        printed_words |= find_words(
            " . ".join((_FLOOR, *(computation.text for computation in computations))), language=language
        )
        missing_words = [word for word in claim.nouns if word in claim.weights and not match_word(word, printed_words)]
        return sum(claim.weights[word] for word in missing_words) > load_verification().thresholds.beyond_graph

    def _has_other_case(self, claim: Claim, answers: Sequence[_Answer]) -> bool:
        """Return whether a claim holds in one case alone, apart from a floor of zero that the form prints."""
        floor = find_words(_FLOOR, language=self._reader.language)
        has_floor = any(answer.has_floor for answer in answers)
        limiting_clauses = [clause for clause in claim.wording.clauses if clause.is_condition or clause.is_exception]
        has_condition = any(not (has_floor and clause.words <= floor) for clause in limiting_clauses)
        claims_floor = _ZERO.search(claim.text) is not None and not has_floor
        return (
            has_condition
            or claims_floor
            or (load_verification().exclusives.marker.pattern.search(_NOT_LESS.sub("", claim.text)) is not None)
        )

    def _compare(self, claim: Claim, answer: _Answer) -> Comparison:
        return compare(claim, answer.passage, reader=self._reader)

    # ---------------------------------------------------------------------------------------- computations

    def _compute(self, computation: Computation, document_ids: Collection[str]) -> _Answer | None:
        if computation.is_open:
            return None
        row = find_formula(computation, self._read_formulas(document_ids), read_lines=self._read_lines)
        if row is None or leaves_out_letters(computation, row, lines=(lines := self._read_lines(row))):
            return None
        passage = self._find_printed(row["document_id"], row["evidence"], keys=(computation.key,))
        if passage is None:
            return None
        operands = (operand.casefold() for operand in row["operands"])
        keys = frozenset({computation.key, *computation.neighbors, *operands, *_name_ends(computation)})
        is_printed = agrees(computation, row, lines=lines)
        if is_printed and not computation.is_negative:
            reason = "The form computes the line in this way."
        else:
            agreement = (
                "The form does compute the line in this way" if is_printed else "The form computes the line differently"
            )
            reason = f"{agreement}: {row['evidence'].rstrip('.')}."
        labels = self._read_labels(row["document_id"], [computation.key, *row["operands"]])
        return _Answer(
            passage, is_printed != computation.is_negative, reason, keys, labels, has_floor=bool(row["bound"])
        )

    def _read_formulas(self, document_ids: Collection[str]) -> list[FormulaRecord]:
        return list(iter_records(self._released.read_documents("formulas", document_ids), FormulaRecord))

    def _read_lines(self, row: FormulaRecord) -> frozenset[str]:
        """Return the keys of the lines of the parts from which a formula computes; a reserved line has no amount."""
        if not self._released.holds("lines"):
            return frozenset()
        rows = iter_records(self._released.read_documents("lines", [row["document_id"]]), LineRecord)
        return frozenset(
            line["key"].casefold()
            for line in rows
            if line["part"] in row["operand_parts"] and not _RESERVED.match(line["label"])
        )

    # ------------------------------------------------------------------------------------------- transfers

    def _transfer(self, transfer: Transfer, document_ids: Sequence[str]) -> _Answer | None:
        if transfer.is_open:
            return None
        rows = self._read_flows(document_ids)
        forms = {row["document_id"] for row in rows}
        row = find_flow(transfer, rows, self._read_formulas(forms) if self._released.holds("formulas") else ())
        keys = frozenset({transfer.source.key, transfer.target.key})
        if row is not None:
            passage = self._find_flow_passage(row)
            if passage is None:
                return None
            reason = f"The amount goes there: {_shorten(row['evidence'])}."
            if transfer.is_negative:
                reason = f"The amount does go there: {_shorten(row['evidence'])}."
            return _Answer(passage, not transfer.is_negative, reason, keys, self._read_end_labels(row))
        flows_on_forms = [flow for flow in rows if flow["element_id"] is None]
        other_flow = None if transfer.is_negative else find_other_flow(transfer, flows_on_forms)
        if other_flow is None or (passage := self._find_flow_passage(other_flow[0])) is None:
            return None
        reason = f"The form carries the amount to another place: {_shorten(other_flow[0]['evidence'])}."
        return _Answer(passage, False, reason, keys, difference=other_flow[1])

    def _read_flows(self, document_ids: Collection[str]) -> list[FlowRecord]:
        """Return the flows that some documents state, and those of other documents to or from their lines."""
        ids = list(document_ids)
        is_stated = pl.col("document_id").is_in(ids)
        is_end = pl.col("source_document_id").is_in(ids) | pl.col("target_document_id").is_in(ids)
        flows = self._released.table("flows").filter(is_stated | (is_end & pl.col("is_same_year")))
        records = iter_records(flows, FlowRecord)
        return sorted(records, key=lambda row: (row["document_id"] not in ids, row["element_id"] is not None))

    def _find_flow_passage(self, row: FlowRecord) -> Passage | None:
        ends = (row["source_key"].casefold(), row["target_key"].casefold())
        return self._find_printed(row["document_id"], row["evidence"], keys=ends, node_id=row["element_id"])

    def _read_end_labels(self, row: FlowRecord) -> tuple[str, ...]:
        ends = ((row["source_document_id"], row["source_key"]), (row["target_document_id"], row["target_key"]))
        return tuple(label for name, key in ends if name is not None for label in self._read_labels(name, [key]))

    # ------------------------------------------------------------------------------------------ what is printed

    def _read_labels(self, document_id: str, keys: Iterable[str]) -> tuple[str, ...]:
        """Return the labels of some lines of a form."""
        if not self._released.holds("lines"):
            return ()
        folded_keys = {key.casefold() for key in keys}
        rows = iter_records(self._released.read_documents("lines", [document_id]), LineRecord)
        return tuple(f"{row['section']} {row['label']}" for row in rows if row["key"].casefold() in folded_keys)

    def _find_printed(
        self, document_id: str, words: str, *, keys: Collection[str], node_id: str | None = None
    ) -> Passage | None:
        """Find the passage that prints some words: the paragraph named, or the label of one of some lines."""
        passages = [passage for passage in self._passages.shortlist_of(document_id).passages if words in passage.text]
        if node_id is not None:
            passages = [passage for passage in passages if passage.node_id == node_id] or passages
        return next((passage for passage in passages if passage.keys & set(keys)), passages[0] if passages else None)


def _name_ends(computation: Computation) -> list[str]:
    """Return the lines that a statement names as operands, those between both ends of a range included."""
    return [
        key
        for operand in computation.operands
        for key in (operand, *expand_key("lines_" + "-".join(end.removeprefix("line_") for end in operand.split(".."))))
    ]


def _shorten(words: str, max_characters: int = 160) -> str:
    text = " ".join(words.split()).rstrip(".")
    return text if len(text) <= max_characters else f"{text[:max_characters].rsplit(' ', 1)[0]} …"
