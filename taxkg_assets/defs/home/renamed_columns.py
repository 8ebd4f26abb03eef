"""Columns and files that were renamed, so that a home built by an earlier release is still read. The next write stores
the new name; an entry can go once homes of that release are no longer supported.
"""

from __future__ import annotations

from collections.abc import Mapping

RENAMED_COLUMNS: Mapping[str, Mapping[str, str]] = {
    "documents": {"produced_on": "pdf_modified_on"},
    "quarantine": {"is_law": "is_check_failure", "is_law_violation": "is_check_failure"},
    "revisions": {"from_key": "previous_key"},
    "scenario_queries": {"also": "other_positive_ids", "overlaps": "repeated_eval_query"},
    "pairs": {
        "also": "other_positive_ids",
        "twin_group": "near_duplicate_group",
        "is_sound": "is_valid_pair",
        "judgement": "judgment",
    },
    "hard_negatives": {
        "likeness": "similarity_to_positive",
        "is_false": "is_false_negative",
        "judgement": "judgment",
    },
    "model": {"own_score": "candidate_score"},
    "reranker": {"own_score": "candidate_score"},
    "query_log": {"asked_at": "received_at", "mode": "outcome"},
}
"""Current column name by earlier name, by table."""

RENAMED_FRAMES: Mapping[str, str] = {"labeled": "labelled"}
"""Earlier name of a frame of an index by its current name."""
