"""A judge's verdict on a sample of pairs and negatives, and what it says of all of them."""

from __future__ import annotations

import hashlib

import polars as pl

from taxkg_assets.prompts.contract import Block, Judged, Proposer
from taxkg_assets.prompts.tasks import (
    NEGATIVE_JUDGING,
    PAIR_JUDGING,
    NegativeItem,
    NegativeProposal,
    PairProposal,
    QuestionItem,
)
from taxkg_assets.rules.loader import load_family


def judge_pairs(pairs: pl.DataFrame, proposer: Proposer) -> pl.DataFrame:
    """Write the verdict on a sample, as many of each kind, into `is_sound`, `judged_by` and `judgement`."""
    sample = pick_sample(pairs, by="kind", key=["pair_id"], size=load_family("training")["judge"]["pairs_of_kind"])
    items = [
        QuestionItem(
            item_id=row["pair_id"],
            question=row["query"],
            blocks=(Block(element_id=row["chunk_id"], text=row["passage"]),),
        )
        for row in sample.iter_rows(named=True)
    ]
    verdicts = {judged.item_id: judged for judged in proposer.propose(PAIR_JUDGING, items)}
    return _with_verdicts(pairs, sample.select("pair_id"), verdicts=verdicts, into="is_sound")


def judge_negatives(negatives: pl.DataFrame, proposer: Proposer, *, pairs: pl.DataFrame) -> pl.DataFrame:
    """Write the verdict on a sample, as many of each source, into `is_false`, `judged_by` and `judgement`."""
    size = load_family("training")["judge"]["negatives_of_source"]
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
    return _with_verdicts(negatives, sample.select("pair_id", "rank"), verdicts=verdicts, into="is_false")


def pick_sample(rows: pl.DataFrame, *, by: str, key: list[str], size: int) -> pl.DataFrame:
    """So many rows of each value of a column, chosen by a hash of their key; fewer where there are no more."""
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
    """Share of valid pairs among all, each kind counting as much as it has pairs."""
    return _score(pairs, by="kind", verdict="is_sound")


def score_false(negatives: pl.DataFrame) -> float:
    """Share of negatives that answer after all, each source counting as much as it has negatives."""
    return _score(negatives, by="source", verdict="is_false")


def score_by(rows: pl.DataFrame, *, by: str, verdict: str) -> pl.DataFrame:
    """For each stratum its rows, how many of them were judged, and the share with a positive verdict."""
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
    verdicts: dict[str, Judged[PairProposal]] | dict[str, Judged[NegativeProposal]],
    into: str,
) -> pl.DataFrame:
    """Rows with the verdicts; a proposal whose evidence does not hold counts as the verdict that needs none."""
    told = []
    for values in sample.iter_rows():
        judged = verdicts["#".join(map(str, values))]
        proposal = judged.proposal
        verdict = bool(proposal is not None and proposal.is_claim())
        by = judged.model if judged.created_by == "llm" else "rules"
        told.append((*values, verdict, by, _reason(judged)))
    keys = sample.columns
    columns = [*keys, into, "judged_by", "judgement"]
    schema = {name: rows.schema[name] for name in columns}
    found = pl.DataFrame(told, schema=schema, orient="row")
    return (
        rows.drop(into, "judged_by", "judgement")
        .join(found, on=keys, how="left", maintain_order="left")
        .with_columns(pl.col("judged_by", "judgement").fill_null(""))
        .select(rows.columns)
    )


def _reason(judged: Judged[PairProposal] | Judged[NegativeProposal]) -> str:
    """Why so, in a rule's words; of a model what it quotes alone: no words of its own stand in a table."""
    if judged.proposal is None:
        return "evidence does not hold"
    quotes = " … ".join(row.quote for row in judged.proposal.evidence)
    return quotes if judged.created_by == "llm" else judged.proposal.reason
