"""References that the rules are not sure of: what is to be decided about them, and what a verified answer changes.

The answering model keeps the contract of `prompts`; without a model the row of the rule stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.prompts.contract import Block, Evidence, ProposalOutcome, Proposer
from taxkg_assets.prompts.document_tasks import Candidate, ReferenceItem, ReferenceProposal
from taxkg_assets.prompts.tasks import AMBIGUOUS_REFERENCES
from taxkg_assets.rules.confidence import find_sure_threshold
from taxkg_assets.schemas import Anchors, References, Sections

Row = dict[str, Any]


def resolve_ambiguous_references(
    references: dy.DataFrame[References],
    sections: dy.DataFrame[Sections],
    *,
    anchors: dy.DataFrame[Anchors],
    proposer: Proposer,
) -> dy.DataFrame[References]:
    """Resolve the low-confidence references of one document with a language model.

    Each document has its own calls, so that they do not depend on other documents.

    Args:
        references: References of the document.
        sections: Paragraphs of the document.
        anchors: Headings of the document.
        proposer: The model, or the rules.

    Returns:
        References, with the verified answers in place of the rules' rows.
    """
    items = make_reference_questions(references, sections, anchors)
    return apply_reference_proposals(references, proposer.propose(AMBIGUOUS_REFERENCES, items)) if items else references


def make_reference_questions(
    references: dy.DataFrame[References], sections: dy.DataFrame[Sections], anchors: dy.DataFrame[Anchors]
) -> list[ReferenceItem]:
    """Build one question for each reference whose confidence is below the threshold.

    Args:
        references: References of one document.
        sections: Paragraphs of the document.
        anchors: Headings of the document.

    Returns:
        Questions with the sentence, its headings and the possible targets.
    """
    anchors_by_id = {row["anchor_id"]: row for row in anchors.iter_rows(named=True)}
    heading_by_key = {(row["document_id"], row["key"]): row["heading"] for row in anchors_by_id.values() if row["key"]}
    roles = dict(sections.select("element_id", "role").iter_rows())
    uncertain_references = references.filter(~pl.col("is_self") & (pl.col("confidence") < find_sure_threshold()))
    return [
        ReferenceItem(
            item_id=_item_id(row),
            blocks=(
                Block(
                    element_id=row["element_id"],
                    text=row["evidence"],
                    role=roles[row["element_id"]],
                    start=row["start"],
                ),
                *_read_headings(row["anchor_id"], anchors_by_id),
            ),
            mention=row["evidence"][row["mention_start"] - row["start"] : row["mention_end"] - row["start"]],
            mention_start=row["mention_start"] - row["start"],
            candidates=tuple(_list_candidates(row, heading_by_key)),
            relation=row["relation"],
            polarity=row["polarity"],
        )
        for row in uncertain_references.iter_rows(named=True)
    ]


def apply_reference_proposals(
    references: dy.DataFrame[References], outcomes: Iterable[ProposalOutcome[ReferenceProposal]]
) -> dy.DataFrame[References]:
    """Replace low-confidence references by a model's verified answers.

    An answer counts if a model gave it, its target is one of the item's candidates, and each of its quotes is verbatim
    in the sentence, at its pointer. Such a row is marked `created_by` llm, has the answer's confidence, and names the
    task as its rule.

    Args:
        references: References of one document.
        outcomes: Answers to `make_reference_questions`.

    Returns:
        References, with verified answers in place of the rules' rows.
    """
    proposals_by_id = {
        outcome.item_id: outcome.proposal
        for outcome in outcomes
        if outcome.created_by == "llm" and outcome.proposal is not None
    }
    rows = list(references.iter_rows(named=True))
    rows_by_key: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        answer = proposals_by_id.get(_item_id(row))
        new_row = _apply(row, answer) if answer is not None else row
        key = tuple(new_row[name] for name in References.primary_key())
        if key not in rows_by_key or new_row["created_by"] == "llm":
            rows_by_key[key] = new_row
    frame = pl.DataFrame(list(rows_by_key.values()), schema=references.schema, orient="row")
    return References.validate(frame.sort(References.primary_key()))


def _apply(row: Row, answer: ReferenceProposal) -> Row:
    target_columns = _split_target(answer.target, row) if answer.target is not None else None
    if target_columns is None or not answer.evidence or not all(_is_verbatim(quote, row) for quote in answer.evidence):
        return row
    return {
        **row,
        **target_columns,
        "relation": answer.relation,
        "polarity": answer.polarity,
        "confidence": answer.confidence,
        "rule_id": AMBIGUOUS_REFERENCES.name,
        "created_by": "llm",
    }


def _is_verbatim(evidence: Evidence, row: Row) -> bool:
    """Decide whether a quote is in the row's sentence where its pointer says."""
    element_id, _, span = evidence.pointer.rpartition(":")
    start, end = (int(number) for number in span.split("-"))
    if element_id != row["element_id"] or not row["start"] <= start < end <= row["end"]:
        return False
    quote: str = row["evidence"][start - row["start"] : end - row["start"]]
    return quote == evidence.quote


def _item_id(row: Row) -> str:
    return f"{row['element_id']}:{row['start']}:{row['mention_start']}:{row['kind']}:{row['target']}"


def _read_headings(anchor_id: str | None, anchors_by_id: dict[str, Row]) -> Iterator[Block]:
    while anchor_id is not None and anchor_id in anchors_by_id:
        row = anchors_by_id[anchor_id]
        yield Block(element_id=row["element_id"], text=row["heading"], role="SectionHeader")
        anchor_id = row["parent_anchor_id"]


def _list_candidates(row: Row, heading_by_key: dict[tuple[str, str | None], str]) -> Iterator[Candidate]:
    description = heading_by_key.get((row["document_id"], row["target"]), "")
    if not row["target_form"] or row["kind"] == "line":
        yield Candidate(target=row["target"], kind=row["kind"], description=description)
        return
    on_form = f"{row['target']} (Form {row['target_form']})"
    yield Candidate(target=on_form, kind=row["kind"], description=f"{row['kind']} of Form {row['target_form']}")
    yield Candidate(target=row["target"], kind=row["kind"], description=description)


def _split_target(target: str, row: Row) -> Row | None:
    """Read a candidate's name back into target and form; None for a name that was no candidate."""
    columns_by_name: dict[str, Row] = {row["target"]: {}}
    if row["target_form"] and row["kind"] != "line":
        columns_by_name[row["target"]] = {"target_form": ""}
        columns_by_name[f"{row['target']} (Form {row['target_form']})"] = {}
    return columns_by_name.get(target)
