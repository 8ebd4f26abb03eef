"""Rewrite the labels that follow from the manuscripts: `python data/samples/label.py [folder]` (default: data/eval)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from generate import build_samples  # noqa: E402
from generator import labels  # noqa: E402

CODE = "sample-statute-title-7"


def build_labels() -> dict[str, str]:
    """File name to content of every label file that the manuscripts decide."""
    documents = {
        name: (labels.read_pages(data, kind="pdf"), blocks) for name, (data, blocks) in build_samples().items()
    }
    code = (HERE / f"{CODE}.txt").read_bytes()
    pages = labels.read_pages(code, kind="txt")
    documents[CODE] = (pages, labels.read_code(code.decode("utf-8"), pages))
    rows: dict[str, list[dict[str, Any]]] = {"anchors": [], "ownership": [], "roles": [], "tables": []}
    for name, (texts, blocks) in sorted(documents.items()):
        rows["anchors"] += labels.label_anchors(name, blocks)
        rows["ownership"] += labels.label_ownership(name, blocks, pages=texts)
        if "statute" not in name:  # how a code's sections and subdivisions are called is a matter of taste
            rows["roles"] += labels.label_roles(name, blocks, pages=texts)
        rows["tables"] += labels.label_tables(name, blocks)
    rows["roles"] += labels.label_furniture()
    files = {f"{kind}.jsonl": _lines(found) for kind, found in rows.items()}
    return files | {"boxes.json": json.dumps(labels.label_boxes(), ensure_ascii=False, indent=1) + "\n"}


def _lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def main() -> None:
    """Write the label files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "eval"
    for name, content in build_labels().items():
        (folder / name).write_text(content, encoding="utf-8")
        print(f"{name}: {content.count(chr(10))} lines")


if __name__ == "__main__":
    main()
