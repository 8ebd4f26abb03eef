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
    sample = pick_sample(pairs, stratum="kind", key_columns=["pair_id"], size=load_training().judge.pairs_per_kind)
    items = [
        QuestionItem(
            item_id=row["pair_id"],
            question=row["query"],
            blocks=(Block(element_id=row["chunk_id"], text=row["passage"]),),
        )
        for row in sample.iter_rows(named=True)
    ]
    outcomes = {outcome.item_id: outcome for outcome in proposer.propose(PAIR_JUDGING, items)}
    return _with_verdicts(pairs, sample.select("pair_id"), outcomes=outcomes, verdict_column="is_valid_pair")


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
    sample = pick_sample(negatives, stratum="source", key_columns=["pair_id", "rank"], size=size).join(
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
    outcomes = {outcome.item_id: outcome for outcome in proposer.propose(NEGATIVE_JUDGING, items)}
    return _with_verdicts(
        negatives, sample.select("pair_id", "rank"), outcomes=outcomes, verdict_column="is_false_negative"
    )


def pick_sample(rows: pl.DataFrame, *, stratum: str, key_columns: list[str], size: int) -> pl.DataFrame:
    """Return up to `size` rows of each stratum, chosen by a hash of their key.

    Args:
        rows: Rows to sample.
        stratum: Column of the strata.
        key_columns: Columns that identify a row.
        size: Maximum number of rows of a stratum.
    """
    draws = [
        hashlib.sha256("\0".join(map(str, values)).encode()).hexdigest()
        for values in rows.select(key_columns).iter_rows()
    ]
    return (
        rows.with_columns(drawn=pl.Series(draws, dtype=pl.String))
        .sort(stratum, "drawn")
        .group_by(stratum, maintain_order=True)
        .head(size)
        .drop("drawn")
    )


def estimate_valid_share(pairs: pl.DataFrame) -> float:
    """Return the estimated share of valid pairs, 0 to 1, each kind weighted by its number of pairs.

    Args:
        pairs: Judged pairs.
    """
    return _score(pairs, stratum="kind", verdict="is_valid_pair")


def estimate_false_share(negatives: pl.DataFrame) -> float:
    """Return the estimated share of false negatives, 0 to 1, each source weighted by its number of rows.

    Args:
        negatives: Judged negatives.
    """
    return _score(negatives, stratum="source", verdict="is_false_negative")


def score_by(rows: pl.DataFrame, *, stratum: str, verdict: str) -> pl.DataFrame:
    """Return how many rows each stratum has, how many are judged, and the share of positive verdicts.

    Args:
        rows: Judged rows.
        stratum: Column of the strata.
        verdict: Boolean column of the verdict.

    Returns:
        Columns: the stratum, `rows`, `judged` and `share` (0 to 1), sorted by stratum.
    """
    return (
        rows.group_by(stratum)
        .agg(rows=pl.len(), judged=pl.col(verdict).is_not_null().sum(), share=pl.col(verdict).mean())
        .sort(stratum)
    )


def _score(rows: pl.DataFrame, *, stratum: str, verdict: str) -> float:
    strata = score_by(rows, stratum=stratum, verdict=verdict).filter(pl.col("judged") > 0)
    total = int(strata["rows"].sum())
    return float((strata["share"] * strata["rows"]).sum()) / total if total else 0.0


def _with_verdicts(
    rows: pl.DataFrame,
    sample: pl.DataFrame,
    *,
    outcomes: dict[str, ProposalOutcome[PairProposal]] | dict[str, ProposalOutcome[NegativeProposal]],
    verdict_column: str,
) -> pl.DataFrame:
    """Return the rows with verdicts; a rejected proposal counts as the verdict that needs no evidence."""
    judged_rows = []
    for key in sample.iter_rows():
        outcome = outcomes["#".join(map(str, key))]
        verdict = bool(outcome.proposal is not None and outcome.proposal.needs_evidence())
        judge = outcome.model if outcome.created_by == "llm" else "rules"
        judged_rows.append((*key, verdict, judge, _find_reason(outcome)))
    keys = sample.columns
    columns = [*keys, verdict_column, "judged_by", "judgment"]
    schema = {name: rows.schema[name] for name in columns}
    judgments = pl.DataFrame(judged_rows, schema=schema, orient="row")
    return (
        rows.drop(verdict_column, "judged_by", "judgment")
        .join(judgments, on=keys, how="left", maintain_order="left")
        .with_columns(pl.col("judged_by", "judgment").fill_null(""))
        .select(rows.columns)
    )


def _find_reason(outcome: ProposalOutcome[PairProposal] | ProposalOutcome[NegativeProposal]) -> str:
    """Return the reason of a verdict: a rule's words, or what a model quotes; a model's own words are never stored."""
    if outcome.proposal is None:
        return "evidence does not hold"
    quotes = " … ".join(evidence.quote for evidence in outcome.proposal.evidence)
    return quotes if outcome.created_by == "llm" else outcome.proposal.reason
