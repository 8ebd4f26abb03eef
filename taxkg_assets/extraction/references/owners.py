"""What a text is about: the box, line or section that owns it, and the headings above."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from taxkg_assets.extraction.keys import expand_members
from taxkg_assets.extraction.structure.identity import Identity
from taxkg_assets.records import AnchorRecord
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.references import load_references

_AMOUNT_KINDS = ("box", "box_group", "line")


@dataclass(frozen=True, slots=True)
class Owner:
    """What a text is about: the keys of its box, line or section, its forms, and the document's own form.

    `holds_amount` is true where the text is about a box or line, and not an example; `is_worksheet`, where a heading
    above it is that of a worksheet.
    """

    keys: set[str]
    forms: set[str]
    document_form: str
    holds_amount: bool
    is_worksheet: bool


@lru_cache(maxsize=4096)
def _names_worksheet(heading: str) -> bool:
    """Decide whether a heading is that of a worksheet; each heading is evaluated for all texts below it."""
    return load_references().context.worksheet_heading.pattern.search(heading) is not None


@lru_cache(maxsize=4096)
def _names_column(heading: str) -> bool:
    """Decide whether a heading is that of a column."""
    return load_references().context.column_heading.pattern.search(heading) is not None


def find_owner(anchor_id: str | None, *, anchors_by_id: Mapping[str, AnchorRecord], identity: Identity) -> Owner:
    """Find what a text is about, from its heading and the headings above it.

    Args:
        anchor_id: Heading that owns the text; None for none.
        anchors_by_id: Rows of `anchors` by id.
        identity: Form and type of the document.

    Returns:
        The keys and forms that the text is about.
    """
    keys: set[str] = set()
    forms: set[str] = set()
    kinds: list[str] = []
    is_example = is_column = is_worksheet = False
    while anchor_id is not None and anchor_id in anchors_by_id:
        row = anchors_by_id[anchor_id]
        kinds.append(row["kind"])
        # The label of a line may name a worksheet that it takes its amount from.
        is_worksheet |= row["kind"] != "line" and _names_worksheet(row["heading"])
        is_column |= _names_column(row["heading"])
        is_example |= (
            row["kind"] == "runin"
            and load_references().context.example_heading.pattern.match(row["heading"]) is not None
        )
        if row["key"] and not keys:
            keys = _expand_key(row["key"])
        if row["form"] and not forms:
            forms = {row["form"]}
        anchor_id = row["parent_anchor_id"]
    innermost_kind = next((kind for kind in kinds if kind != "runin"), "")
    holds_amount = (innermost_kind in _AMOUNT_KINDS or is_column or is_worksheet) and not is_example
    return Owner(keys, forms or set(split_forms(identity.form)), identity.form, holds_amount, is_worksheet)


def _expand_key(key: str) -> set[str]:
    """Name the boxes of a key: boxes_14-16 and boxes_2e-2f stand for several."""
    parts = re.fullmatch(r"(?:box|boxes|line|lines)_(.+)", key)
    if parts is None:
        return {key}
    stem = "line" if key.startswith("line") else "box"
    return {f"{stem}_{name}" for name in expand_members(parts[1].replace("_", ","))} | {key}
