"""Questions of label files as the metrics read them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from taxkg_assets.records import EvalQueryRecord


class LabeledQuestion(EvalQueryRecord):
    """A question with its labels, by the names of the table `eval_queries` and of the label files.

    Attributes:
        id: Its id, in both.
        kind: What the file calls its kind, besides the type; empty in most files.
    """

    id: str
    kind: str


def label_question(row: Mapping[str, Any]) -> LabeledQuestion:
    """Return a row of a label file as a labeled question.

    Args:
        row: Row with `id`, `query`, `type` and `gold`; near misses and coverage are none where it says nothing.
    """
    return {
        "id": str(row["id"]),
        "query_set": "",
        "query_id": str(row["id"]),
        "query": str(row["query"]),
        "type": str(row["type"]),
        "kind": str(row.get("kind", "")),
        "gold": list(row["gold"]),
        "near_miss": list(row.get("near_miss") or ()),
        "coverage": row.get("coverage"),
        "is_resolved": bool(row["gold"]),
        "note": "",
    }


def read_labeled(path: Path) -> list[LabeledQuestion]:
    """Read the questions of a file of JSON Lines.

    Args:
        path: The file, e.g. `queries.jsonl`.
    """
    lines = path.read_text(encoding="utf8").splitlines()
    return [label_question(json.loads(line)) for line in lines if line.strip()]
