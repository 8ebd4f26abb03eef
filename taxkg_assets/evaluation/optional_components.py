"""Why the report does not measure an optional component: it is not trained, not promoted, or switched off."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from taxkg_assets.records import PromotionRecord

TABLES = {"tuned model": "model", "tuned model, vectors alone": "model", "reranker": "reranker"}
"""Table of trained models of each component that training makes."""


def describe_unmeasured(components: Collection[str], models: Mapping[str, Sequence[PromotionRecord]]) -> dict[str, str]:
    """Describe the state of components that no comparison measured.

    Args:
        components: Names of the components.
        models: Rows of `model` and `reranker`, by name of the table.

    Returns:
        State by component, such as `trained, not promoted: gain +0.003 [-0.010, +0.020]`.
    """
    return {
        component: _describe_models(models.get(TABLES[component], ())) if component in TABLES else "switched off"
        for component in components
    }


def _describe_models(rows: Sequence[PromotionRecord]) -> str:
    """Return the state of the trained models of a component; the one with the largest gain counts."""
    if not rows:
        return "not trained"
    if any(row["is_chosen"] for row in rows):
        return "promoted, not measured here"
    best = max(rows, key=lambda row: row["gain"])
    low, high = best["gain_low"], best["gain_high"]
    interval = ", no interval" if low is None or high is None else f" [{low:+.3f}, {high:+.3f}]"
    return f"trained, not promoted: gain {best['gain']:+.3f}{interval}"
