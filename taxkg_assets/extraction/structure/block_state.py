"""What is known of a document and of a page while their blocks are made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.extraction.layout.lines import Line
from taxkg_assets.extraction.layout.style import Style
from taxkg_assets.extraction.layout.words import Words
from taxkg_assets.extraction.structure.blocks import Block


@dataclass(slots=True)
class DocumentState:
    """State carried from page to page: known words, line spacing, and whether a table of contents is open."""

    document_id: str
    style: Style
    leading: dict[int, float]
    words: Words
    is_form: bool = False
    product_name: str = ""
    # Words of its title and its number, in lower case without signs.
    title_words: frozenset[str] = frozenset()
    in_contents: str = ""
    contents_size: float = 0.0
    open_lead: Block | None = None
    ruled_list: tuple[int, int] | None = None
    open_path: tuple[int, ...] = ()
    # Whether the text of the open path ends a sentence, and a table has parted it from what follows.
    is_whole: bool = False
    is_parted: bool = False
    # Some makers tag paragraphs and tables, and no heading in a whole document.
    has_heading_tags: bool = False


@dataclass(frozen=True, slots=True)
class PageMarks:
    """Layout features of a page that are computed before its lines are read.

    Attributes:
        left_edge_counts: Lines of the page by their left edge, rounded to points.
        title_bottom: Bottom of the title, in points; 0 where no rule ends it.
        callout_icons: Lines that are icons.
        separator_ys: Heights of the rules across a form's face, in points.
        masthead_floor: Bottom of a form's masthead, in points; 0 where no rule ends it.
        lines: All lines of the page.
    """

    left_edge_counts: Counter[int]
    title_bottom: float
    callout_icons: Sequence[Line]
    separator_ys: Sequence[float] = ()
    masthead_floor: float = 0.0
    lines: Sequence[Line] = ()
