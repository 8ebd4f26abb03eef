"""Rule family `faces`: boxed faces of information returns (1099 series, 1098, 5498, W-2, W-2G …)."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Geometry(Section):
    """Values of `geometry`.

    Attributes:
        key_size_pt: Largest type size of a key: keys are printed in 6 to 9 points, the year and form number larger.
        legend_size_pt: Largest type size of single letters that are no key, such as "c o d e" next to box 12 of Form
            W-2.
        key_from_left_pt: Largest distance of a key from the left border of its cell.
        key_from_top_pt: Largest distance of a key from the upper or lower border of its cell.
        key_cell_pt: Largest width of a cell that contains the key alone; the label is in the next cell.
        cell_height_pt: Largest height of a cell; a higher one is a column of the page.
        cell_width_pt: Largest width of a cell.
        notice_height_pt: Largest height of a cell without a key, which may contain a notice.
        line_slack_pt: Largest distance between a key and the line of its row.
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
        boxes_with_copies: Least number of boxes on a page that names its copy ("Copy B").
        boxes_alone: Least number of boxes on any other page.
        labeled_frac: Least share of boxes with a label on a page that names no copy.
        repeated_frac: Largest share of keys that occur twice: a schedule repeats each line number at the amount.
        key_gap_frac: Least share of the numbers from 1 to the largest key that must occur as keys.
        key_gap_copies_frac: The same on a page that names its copy: a form may have lost some boxes.
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
