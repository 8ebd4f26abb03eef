"""What a step of training is to make smaller: losses over a matrix of scores, question by passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from taxkg_assets.training.lazy_torch import torch

Loss = Literal["mnrl", "gist", "gist_relative", "margin"]
LATE_ROWS = 4
LOSSES: tuple[Loss, ...] = ("mnrl", "gist", "gist_relative", "margin")


@dataclass(frozen=True, slots=True)
class LossSettings:
    """Which loss, and its constants."""

    name: Loss = "gist"
    scale: float = 20.0
    margin: float = 0.05
    """Of `gist`: a passage that the guide puts this near below the answer, or above it, is no negative. Of
    `gist_relative`: the same as a share of the answer's score. Of `margin`: what an answer has to be ahead by."""


def score_ranking_loss(
    scores: torch.Tensor,
    right: torch.Tensor,
    *,
    weights: torch.Tensor,
    settings: LossSettings,
    is_allowed: torch.Tensor | None = None,
) -> torch.Tensor:
    """Weighted mean over questions of -log of the share that a softmax over all passages gives to the answer.

    Args:     scores: cosine of each question (row) with each passage (column). right: column of each row's answer.
              is_allowed: False where a passage is not to count as a negative of the question.
    Source:   Henderson et al. 2017 (arXiv 1705.00652), multiple negatives ranking.
    """
    rows = torch.arange(len(scores))
    if settings.name == "margin":
        ahead = torch.zeros_like(scores)
        ahead[rows, right] = settings.margin
        scores = scores - ahead
    logits = scores * settings.scale
    if is_allowed is not None:
        kept = is_allowed.clone()
        kept[rows, right] = True
        logits = logits.masked_fill(~kept, -torch.inf)
    losses = torch.nn.functional.cross_entropy(logits, right, reduction="none")
    return (losses * weights).sum() / weights.sum()


def find_allowed(guide: torch.Tensor, right: torch.Tensor, *, settings: LossSettings) -> torch.Tensor | None:
    """Which passages a guide does not take for a further answer to a question; None where the loss asks no guide.

    Args:     guide: cosines like `scores`, by a model that is not being trained.
    Source:   Solatorio 2024 (arXiv 2402.16829), guided in-sample selection of training negatives.
    """
    if settings.name not in ("gist", "gist_relative"):
        return None
    own = guide[torch.arange(len(guide)), right][:, None]
    limit = own - settings.margin if settings.name == "gist" else own * (1 - settings.margin)
    return guide <= limit


def score_late(queries: Sequence[torch.Tensor], passages: Sequence[torch.Tensor]) -> torch.Tensor:
    """Mean over a question's tokens of the cosine to the nearest token of the passage; question by passage.

    Args:   queries, passages: one matrix of token vectors each, of any number of tokens.
    Source: Khattab and Zaharia 2020 (arXiv 2004.12832), late interaction; a mean, so that lengths compare.
    """
    asked, asked_mask = _stack(queries)
    held, held_mask = _stack(passages)

    def score_rows(rows: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        cosines = torch.einsum("qid,pjd->qpij", rows, held)
        nearest = cosines.masked_fill(~held_mask[None, :, None, :], -1.0).amax(dim=3)
        counted = mask[:, None, :]
        return (nearest * counted).sum(dim=2) / counted.sum(dim=2)

    # Every token by every token of a batch is gigabytes with its gradients: a few questions at a time, and again for
    # the gradients.
    parts = [
        torch.utils.checkpoint.checkpoint(score_rows, rows, mask, use_reentrant=False, preserve_rng_state=False)
        for rows, mask in zip(torch.split(asked, LATE_ROWS), torch.split(asked_mask, LATE_ROWS), strict=True)
    ]
    return torch.cat(parts)


def _stack(rows: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Token vectors of unit length as one padded tensor, and which of them are tokens."""
    lengths = torch.tensor([len(row) for row in rows])
    longest = int(lengths.max())
    # `pad_sequence` writes row by row into one matrix, and its gradient copies that whole matrix once a row.
    padded = torch.stack([torch.nn.functional.pad(row, (0, 0, 0, longest - len(row))) for row in rows]).float()
    is_token = torch.arange(padded.shape[1])[None, :] < lengths[:, None]
    return torch.nn.functional.normalize(padded, dim=2), is_token
