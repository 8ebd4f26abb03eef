"""Training losses over a matrix of scores, one row per query and one column per passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from taxkg_assets.training.lazy_torch import torch

Loss = Literal["mnrl", "gist", "gist_relative", "margin"]
LOSSES: tuple[Loss, ...] = ("mnrl", "gist", "gist_relative", "margin")
LATE_ROWS = 4
"""Queries whose late-interaction scores are computed at a time."""


@dataclass(frozen=True, slots=True)
class LossSettings:
    """Name of the loss, and its constants."""

    name: Loss = "gist"
    """`mnrl`: every other passage of the batch is a negative. `gist` and `gist_relative`: only those that a guide
    scores clearly below the positive. `margin`: like `mnrl`, with a margin between positive and negatives."""
    scale: float = 20.0
    """Factor of the scores in the softmax."""
    margin: float = 0.05
    """`gist`: a passage is no negative if the guide scores it above the positive's score minus this.
    `gist_relative`: the same as a share of the positive's score. `margin`: how much higher the positive must score."""


def score_ranking_loss(
    scores: torch.Tensor,
    positive_columns: torch.Tensor,
    *,
    weights: torch.Tensor,
    settings: LossSettings,
    is_negative: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the weighted mean cross-entropy of the positives under a softmax over all passages.

    Args:
        scores: Cosines, shape (queries, passages).
        positive_columns: Column of each query's positive, shape (queries,).
        weights: Weight of each query, shape (queries,).
        settings: Loss and constants.
        is_negative: False where a passage does not count as a negative of the query, shape (queries, passages); None if
            all count.

    Source: Henderson et al. 2017 (arXiv 1705.00652), multiple negatives ranking.
    """
    rows = torch.arange(len(scores), device=scores.device)
    if settings.name == "margin":
        margins = torch.zeros_like(scores)
        margins[rows, positive_columns] = settings.margin
        scores = scores - margins
    logits = scores * settings.scale
    if is_negative is not None:
        is_compared = is_negative.clone()
        is_compared[rows, positive_columns] = True
        logits = logits.masked_fill(~is_compared, -torch.inf)
    losses = torch.nn.functional.cross_entropy(logits, positive_columns, reduction="none")
    return (losses * weights).sum() / weights.sum()


def mask_guided_negatives(
    guide_cosines: torch.Tensor, positive_columns: torch.Tensor, *, settings: LossSettings
) -> torch.Tensor | None:
    """Return which passages are negatives according to the guide model, as a mask of shape (queries, passages).

    Args:
        guide_cosines: Cosines by a model that is not being trained, shape (queries, passages).
        positive_columns: Column of each query's positive.
        settings: Loss and constants.

    Returns:
        None for a loss without a guide.

    Source: Solatorio 2024 (arXiv 2402.16829), guided in-sample selection of training negatives.
    """
    if settings.name not in ("gist", "gist_relative"):
        return None
    positive_cosines = guide_cosines[torch.arange(len(guide_cosines)), positive_columns][:, None]
    max_cosines = (
        positive_cosines - settings.margin if settings.name == "gist" else positive_cosines * (1 - settings.margin)
    )
    return guide_cosines <= max_cosines


def score_late_interaction(queries: Sequence[torch.Tensor], passages: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return late-interaction scores, shape (queries, passages).

    The score is the mean, over a query's tokens, of the cosine with the nearest token of the passage; a mean and not a
    sum, so that queries of different lengths compare.

    Args:
        queries: Token vectors of each query, shape (tokens, dimensions).
        passages: Token vectors of each passage, shape (tokens, dimensions).

    Source: Khattab and Zaharia 2020 (arXiv 2004.12832), late interaction.
    """
    query_tokens, query_mask = _stack(queries)
    passage_tokens, passage_mask = _stack(passages)

    def score_rows(rows: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        cosines = torch.einsum("qid,pjd->qpij", rows, passage_tokens)
        nearest = cosines.masked_fill(~passage_mask[None, :, None, :], -1.0).amax(dim=3)
        counted = mask[:, None, :]
        return (nearest * counted).sum(dim=2) / counted.sum(dim=2)

    # Every token by every token of a batch is gigabytes with its gradients: a few questions at a time, and again for
    # the gradients.
    score_groups = [
        torch.utils.checkpoint.checkpoint(score_rows, rows, mask, use_reentrant=False, preserve_rng_state=False)
        for rows, mask in zip(torch.split(query_tokens, LATE_ROWS), torch.split(query_mask, LATE_ROWS), strict=True)
    ]
    return torch.cat(score_groups)


def _stack(texts: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return unit-length token vectors as one padded tensor, and the mask of tokens."""
    lengths = torch.tensor([len(vectors) for vectors in texts])
    longest = int(lengths.max())
    # `pad_sequence` writes row by row into one matrix, and its gradient copies that whole matrix once a row.
    padded = torch.stack(
        [torch.nn.functional.pad(vectors, (0, 0, 0, longest - len(vectors))) for vectors in texts]
    ).float()
    is_token = torch.arange(padded.shape[1])[None, :] < lengths[:, None]
    return torch.nn.functional.normalize(padded, dim=2), is_token.to(padded.device)
