"""Ratings of answers by their readers: rows of `feedback`."""

from __future__ import annotations

from collections.abc import Iterable

import dataframely as dy
import polars as pl

from taxkg_assets.records import FeedbackRecord
from taxkg_assets.schemas import Feedback


def build_feedback(entries: Iterable[FeedbackRecord]) -> dy.DataFrame[Feedback]:
    """Build the table of ratings.

    Args:
        entries: The ratings.

    Returns:
        One row per rating, sorted by `feedback_id`.
    """
    rows = pl.DataFrame(list(entries), schema=Feedback.create_empty().schema)
    return Feedback.validate(rows.sort("feedback_id"))
