"""Verdicts of a judge on a sample of pairs and negatives, and their estimate for all rows."""

from __future__ import annotations

import hashlib

import polars as pl

from taxkg_assets.prompts.contract import Block, ProposalOutcome, Proposer
from taxkg_assets.prompts.tasks import (
    NEGATIVE_JUDGING,
    PAIR_JUDGING,
    NegativeItem,
    NegativeProposal,
    PairProposal,
    QuestionItem,
)
from taxkg_assets.rules.models.training import load_training


def judge_pairs(pairs: pl.DataFrame, proposer: Proposer) -> pl.DataFrame:
    """Judge a sample of training pairs, stratified by kind.

    Args:
        pairs: Rows of `pairs`.
        proposer: The judge.

    Returns:
        The rows with `is_valid_pair`, `judged_by` and `judgment` of the sample.
    """
    sample = pick_sample(pairs, by="kind", key=["pair_id"], size=load_training().judge.pairs_per_kind)
    items = [
        QuestionItem(
            item_id=row["pair_id"],
            question=row["query"],
            blocks=(Block(element_id=row["chunk_id"], text=row["passage"]),),
        )
        for row in sample.iter_rows(named=True)
    ]
    verdicts = {judged.item_id: judged for judged in proposer.propose(PAIR_JUDGING, items)}
    return _with_verdicts(pairs, sample.select("pair_id"), verdicts=verdicts, into="is_valid_pair")


def judge_negatives(negatives: pl.DataFrame, proposer: Proposer, *, pairs: pl.DataFrame) -> pl.DataFrame:
    """Judge a sample of hard negatives, stratified by source.

    Args:
        negatives: Rows of `hard_negatives`.
        proposer: The judge.
        pairs: Their pairs, for query and positive.

    Returns:
        The rows with `is_false_negative`, `judged_by` and `judgment` of the sample.
    """
    size = load_training().judge.negatives_per_source
    sample = pick_sample(negatives, by="source", key=["pair_id", "rank"], size=size).join(
        pairs.select("pair_id", "query", positive="passage"), on="pair_id", maintain_order="left"
    )
    items = [
        NegativeItem(
            item_id=f"{row['pair_id']}#{row['rank']}",
            question=row["query"],
            positive=row["positive"],
            blocks=(Block(element_id=row["chunk_id"], text=row["passage"]),),
        )
        for row in sample.iter_rows(named=True)
    ]
    verdicts = {judged.item_id: judged for judged in proposer.propose(NEGATIVE_JUDGING, items)}
    return _with_verdicts(negatives, sample.select("pair_id", "rank"), verdicts=verdicts, into="is_false_negative")


def pick_sample(rows: pl.DataFrame, *, by: str, key: list[str], size: int) -> pl.DataFrame:
    """Return up to `size` rows of each stratum, chosen by a hash of their key.

    Args:
        rows: Rows to sample.
        by: Column of the strata.
        key: Columns that identify a row.
        size: Rows per stratum.
    """
    drawn = [
        hashlib.sha256("\0".join(map(str, values)).encode()).hexdigest() for values in rows.select(key).iter_rows()
    ]
    return (
        rows.with_columns(drawn=pl.Series(drawn, dtype=pl.String))
        .sort(by, "drawn")
        .group_by(by, maintain_order=True)
        .head(size)
        .drop("drawn")
    )


def score_valid(pairs: pl.DataFrame) -> float:
    """Return the estimated share of valid pairs, 0 to 1, each kind weighted by its number of pairs.

    Args:
        pairs: Judged pairs.
    """
    return _score(pairs, by="kind", verdict="is_valid_pair")


def score_false(negatives: pl.DataFrame) -> float:
    """Return the estimated share of false negatives, 0 to 1, each source weighted by its number of rows.

    Args:
        negatives: Judged negatives.
    """
    return _score(negatives, by="source", verdict="is_false_negative")


def score_by(rows: pl.DataFrame, *, by: str, verdict: str) -> pl.DataFrame:
    """Return the rows, judged rows and share of positive verdicts of each stratum.

    Args:
        rows: Judged rows.
        by: Column of the strata.
        verdict: Boolean column of the verdict.
    """
    return (
        rows.group_by(by)
        .agg(rows=pl.len(), judged=pl.col(verdict).is_not_null().sum(), share=pl.col(verdict).mean())
        .sort(by)
    )


def _score(rows: pl.DataFrame, *, by: str, verdict: str) -> float:
    strata = score_by(rows, by=by, verdict=verdict).filter(pl.col("judged") > 0)
    total = int(strata["rows"].sum())
    return float((strata["share"] * strata["rows"]).sum()) / total if total else 0.0


def _with_verdicts(
    rows: pl.DataFrame,
    sample: pl.DataFrame,
    *,
    verdicts: dict[str, ProposalOutcome[PairProposal]] | dict[str, ProposalOutcome[NegativeProposal]],
    into: str,
) -> pl.DataFrame:
    """Return the rows with verdicts; a proposal without valid evidence counts as the verdict that needs none."""
    judged_rows = []
    for values in sample.iter_rows():
        judged = verdicts["#".join(map(str, values))]
        proposal = judged.proposal
        verdict = bool(proposal is not None and proposal.needs_evidence())
        by = judged.model if judged.created_by == "llm" else "rules"
        judged_rows.append((*values, verdict, by, _reason(judged)))
    keys = sample.columns
    columns = [*keys, into, "judged_by", "judgment"]
    schema = {name: rows.schema[name] for name in columns}
    found = pl.DataFrame(judged_rows, schema=schema, orient="row")
    return (
        rows.drop(into, "judged_by", "judgment")
        .join(found, on=keys, how="left", maintain_order="left")
        .with_columns(pl.col("judged_by", "judgment").fill_null(""))
        .select(rows.columns)
    )


def _reason(judged: ProposalOutcome[PairProposal] | ProposalOutcome[NegativeProposal]) -> str:
    """Return the reason: a rule's words, or what a model quotes; a model's own words are never stored."""
    if judged.proposal is None:
        return "evidence does not hold"
    quotes = " … ".join(row.quote for row in judged.proposal.evidence)
    return quotes if judged.created_by == "llm" else judged.proposal.reason
