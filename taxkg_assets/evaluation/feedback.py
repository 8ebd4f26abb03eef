"""What askers said of answers: rows of `feedback`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.schemas import Feedback


def build_feedback(entries: Iterable[Mapping[str, Any]]) -> dy.DataFrame[Feedback]:
    """One row for each judgement; entries bear the columns' names."""
    rows = pl.DataFrame(list(entries), schema=Feedback.create_empty().schema)
    return Feedback.validate(rows.sort("feedback_id"))
