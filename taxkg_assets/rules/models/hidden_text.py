"""Rule family `hidden_text`: text that a person cannot see, and text that tries to instruct a program."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Limits(Section):
    """Values of `limits`.

    Attributes:
        tiny_pt: Forms print nothing smaller than 4 points.
        narrow_pt: Letters squeezed to less than this, on average.
        broad_pt: A drawn line broader than this may hide words.
        heaped_pt: Two letters or more on a strip narrower than this are printed upon one another.
        light: Brightness (0 to 255) from which text may be lost on white paper.
        like_ground: Text this near to the brightness of a shaded area may be lost on it.
        contrast: A difference in brightness that can be seen.
        ground_share: Of the text's rectangle that must differ from the text's color.
        ink_share: Of a painted-over rectangle that must differ from its ground.
        slit_pt: A clip this narrow shows no whole letter.
        own_share: Of a text's rectangle that must have the text's color, where patterns are painted.
        covered_share: Of a text's rectangle that is covered by something painted later.
        clear_alpha: Opacity (0 to 255) below which nothing is seen: the contrast above, of black on white.
        scan_share: Of the page that an image of a scan covers.
        scan_seen: Of the letters of a scanned page that may be painted ones.
        drawn_alone: Rectangles of a page drawn one by one; with more the whole page is drawn once.
        most_pixels: Of a page drawn as a whole.
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
