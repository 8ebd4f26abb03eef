"""Rule family `faces`: boxed faces of information returns (1099 series, 1098, 5498, W-2, W-2G …)."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Geometry(Section):
    """Values of `geometry`.

    Attributes:
        key_size_pt: Keys and labels are set in 6 to 9 points; the year and form number are larger.
        legend_size_pt: Letters set one above the other next to box 12 of Form W-2 are smaller.
        key_from_left_pt: A key is this close to its cell's left border.
        key_from_top_pt: … and its ascender this close to the upper border, or its foot to the lower one.
        key_cell_pt: A cell as narrow as this holds the key alone; its label is in the next one.
        cell_height_pt: Taller "cells" are open columns of a page.
        notice_height_pt: A cell without a key may hold a notice outside all boxes.
    """

    key_size_pt: float
    legend_size_pt: float
    key_from_left_pt: float
    key_from_top_pt: float
    key_cell_pt: float
    cell_height_pt: float
    cell_width_pt: float
    notice_height_pt: float
    line_slack_pt: float


class Decision(Section):
    """Values of `decision`.

    Attributes:
        boxes_with_copies: With a copy legend on the page two keyed cells make a face.
        boxes_alone: Without one it takes more, and most of them labeled.
        repeated_frac: A schedule prints each line number twice, once at the amount; a face prints copies in full.
        key_gap_frac: Share of numbers from 1 to the largest key that must be there ….
        key_gap_copies_frac: … and with a copy legend: a face may skip the numbers of boxes that it has lost.
    """

    boxes_with_copies: int
    boxes_alone: int
    labeled_frac: float
    repeated_frac: float
    key_gap_frac: float
    key_gap_copies_frac: float


class Tails(RuleList[Rule]):
    """Rules of `tails`."""

    leader_after_label: Rule


class Faces(Family):
    """Content of `rules/faces.yaml`."""

    geometry: Geometry
    decision: Decision
    keys: RuleList[Rule]
    copies: RuleList[Rule]
    noise: RuleList[Rule]
    tails: Tails


@cache
def load_faces() -> Faces:
    """Return the rules that decide which numbers on a form are boxes."""
    return load_model("faces", Faces)
