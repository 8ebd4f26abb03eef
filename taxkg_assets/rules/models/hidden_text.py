"""Rule family `hidden_text`: invisible text, and text that instructs a program."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Limits(Section):
    """Values of `limits`.

    Attributes:
        tiny_pt: Smallest type size of visible text; forms print nothing below 4 points.
        narrow_pt: Least mean width of a letter.
        broad_pt: A drawn line broader than this may hide text.
        heaped_pt: Two or more letters on a strip narrower than this are printed on top of each other.
        light: Brightness (0 to 255) from which text may be invisible on white paper.
        like_ground: Difference in brightness up to which text may be invisible on a shaded area.
        contrast: Least difference in brightness that is visible.
        ground_share: Least share of a text's rectangle that must differ from the color of the text.
        ink_share: Least share of a covered rectangle that must differ from its background.
        slit_pt: A clip narrower than this shows no whole letter.
        own_share: Least share of a text's rectangle that must have the color of the text, on a page with patterns.
        covered_share: Share of a text's rectangle from which the text counts as covered.
        clear_alpha: Opacity (0 to 255) below which text is invisible.
        scan_share: Least share of a page that the image of a scan covers.
        scan_seen: Largest share of visible letters on a scanned page.
        drawn_alone: Number of rectangles of a page to render one by one; for more, the whole page is rendered once.
        most_pixels: Maximum number of pixels of a rendered page.
    """

    tiny_pt: float
    narrow_pt: float
    broad_pt: float
    heaped_pt: float
    light: int
    like_ground: int
    contrast: int
    ground_share: float
    ink_share: float
    slit_pt: float
    own_share: float
    covered_share: float
    clear_alpha: int
    scan_share: float
    scan_seen: float
    drawn_alone: int
    most_pixels: int


class HiddenText(Family):
    """Content of `rules/hidden_text.yaml`."""

    limits: Limits
    least_letters: int
    most_rows: int
    most_characters: int
    lookalikes: dict[str, str]
    proof_marks: RuleList[Rule]
    orders: RuleList[Rule]
    spaced_orders: RuleList[Rule]


@cache
def load_hidden_text() -> HiddenText:
    """Return the rules that decide which text a person cannot see, and which text tries to instruct a program."""
    return load_model("hidden_text", HiddenText)
