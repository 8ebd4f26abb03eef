"""Changes of a form's boxes between two revisions: added, removed, renamed or renumbered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from taxkg_assets.graph.text_diff import Change, find_changes, find_masked_words, read_wording
from taxkg_assets.records import FaceRecord

Box = FaceRecord


def find_box_changes(before: Sequence[Box], after: Sequence[Box], *, years: int) -> Iterator[dict[str, Any]]:
    """Compare the boxes of two revisions of a form.

    A label that moved to another key is a renumbering; its old key, if it is still there, counts as added. A key whose
    label has nothing in common with the old one is reported as renamed, since the payer's system has to change the same
    field.

    Args:
        before: Rows of `faces` of the older revision.
        after: Rows of `faces` of the newer revision.
        years: Years between the two revisions; a year that moved by as many is a routine change.

    Returns:
        Columns of `revisions` that describe the change, in the order of the newer face; removed boxes last.
    """
    old = {box["box_key"]: box for box in before}
    new = {box["box_key"]: box for box in after}
    moved = dict(_find_renumbered(old, new))
    for key in sorted(new, key=_place_of(new)):
        if key in moved:
            source = old[moved[key]]
            changes = find_changes(read_wording(source["label"]), read_wording(new[key]["label"]), years=years)
            yield _row("box renumbered", source, new[key], changes=changes)
        elif key not in old or key in moved.values():
            yield _row("box added", None, new[key])
        else:
            changes = find_changes(read_wording(old[key]["label"]), read_wording(new[key]["label"]), years=years)
            if changes:
                yield _row("box renamed", old[key], new[key], changes=changes)
    for key in sorted(old, key=_place_of(old)):
        if key not in new and key not in moved.values():
            yield _row("box removed", old[key], None)


def _place_of(boxes: Mapping[str, Box]) -> Any:
    return lambda key: (boxes[key]["page"], len(key.strip("abcdefghijklmnopqrstuvwxyz")), key)


def _find_renumbered(old: Mapping[str, Box], new: Mapping[str, Box]) -> Iterator[tuple[str, str]]:
    """Yield newer and older key of labels that occur once on each face, under different keys."""
    times_old, times_new = Counter(map(_words, old.values())), Counter(map(_words, new.values()))
    where = {_words(box): key for key, box in old.items()}
    for key, box in new.items():
        words = _words(box)
        source = where.get(words, key)
        is_unique = bool(words) and times_old[words] == times_new[words] == 1
        if is_unique and source != key:
            yield key, source


def _words(box: Box) -> tuple[str, ...]:
    return find_masked_words(box["label"])


def _row(kind: str, before: Box | None, after: Box | None, *, changes: Sequence[Change] = ()) -> dict[str, Any]:
    box = after or before
    assert box is not None
    sides: dict[str, Any] = {}
    for name, side in (("before", before), ("after", after)):
        sides[name] = side["label"] if side else ""
        sides[f"{name}_places"] = [{"page": side["page"], **side["bbox"]}] if side else []
    is_rename = kind == "box renamed"
    is_routine = is_rename and all(change.is_routine for change in changes)
    evidence = (f"{s['document_id']}#{s['box_key']}:0-{len(s['label'])}" if s else "" for s in (before, after))
    return {
        "kind": kind,
        "key": box["box_key"],
        "previous_key": before["box_key"] if before and kind == "box renumbered" else "",
        "heading_path": "",
        "perspective": "face",
        **sides,
        "words": [
            {
                "before_start": c.before_start,
                "before_end": c.before_end,
                "after_start": c.after_start,
                "after_end": c.after_end,
                "nature": c.nature,
            }
            for c in changes
        ],
        "nature": changes[0].nature if is_routine else "structure",
        "is_routine": is_routine,
        "evidence": " → ".join(evidence),
    }
