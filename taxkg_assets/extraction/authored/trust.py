"""Whether the structure tags of a page can be trusted: measured on the page itself.

A page whose tags fail is read by its layout, and says why.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise

from taxkg_assets.extraction.authored.structure_tree import TagPlace, find_places
from taxkg_assets.extraction.pdf.model import Page, Source, Span
from taxkg_assets.rules.models.authored import Limits, load_authored
from taxkg_assets.rules.models.roles import load_roles

TOO_LITTLE_TEXT = "The page has too little text to judge its structure tags."
ONE_PICTURE = "Structure tags call the text of the page a picture."
FORM_FACE = "The page has the boxes of a form, which are read by their ruled lines."
SILENT = (TOO_LITTLE_TEXT, ONE_PICTURE, FORM_FACE)
"""Reasons that are no fault of the tags: they say nothing about the text of the page."""


@dataclass(slots=True)
class _Paragraph:
    """The spans of one block-level tag, in tag order."""

    place: TagPlace
    spans: list[Span] = field(default_factory=list)
    char_count: int = 0

    @property
    def size(self) -> float:
        return self.spans[0].size_pt


class TagTrust:
    """Decides which pages are read by their structure tags rather than by layout."""

    def wants_tags(self, *, widget_count: int) -> bool:
        """Return whether a page's tags should be read; the face of a form is better described by its template.

        Args:
            widget_count: Number of form fields on the page.
        """
        return bool(widget_count < load_roles().thresholds.face_widgets)

    def find_distrust(self, page: Page) -> str:
        """Return why the structure tags of a page are unreliable; empty if they can be trusted.

        Args:
            page: Page with its structure tags.

        Returns:
            The reason in one sentence.
        """
        limits = _limits()
        margin = limits.margin_frac * page.height_pt
        spans = [span for span in page.spans if span.y0 > margin and span.y1 < page.height_pt - margin]
        # Dots that lead to an amount are no text.
        counts = [len(text) - text.count(".") - text.count(" ") for text in [span.text for span in spans]]
        letter_count = sum(counts)
        if letter_count < limits.least_chars:
            return TOO_LITTLE_TEXT
        paragraphs = _collect_paragraphs(page, spans, counts)
        tagged_letters = sum(paragraph.char_count for paragraph in paragraphs)
        if tagged_letters < limits.tagged_frac * letter_count:
            return f"Structure tags cover only {tagged_letters / letter_count:.0%} of the text."
        headings = [paragraph for paragraph in paragraphs if paragraph.place.level > 0]
        heading_letters = sum(paragraph.char_count for paragraph in headings)
        longest_heading = max((paragraph.char_count for paragraph in headings), default=0)
        if heading_letters > limits.long_heading_frac * letter_count and longest_heading > limits.heading_chars:
            return f"Structure tags call {heading_letters / letter_count:.0%} of the text headings."
        figure_letters = sum(paragraph.char_count for paragraph in paragraphs if paragraph.place.figure_ix >= 0)
        if figure_letters > limits.figure_frac * letter_count:
            return ONE_PICTURE
        heap_letters = sum(paragraph.char_count for paragraph in paragraphs if _joins_distant_text(paragraph))
        if heap_letters > limits.heap_frac * letter_count:
            return f"Structure tags put {heap_letters / letter_count:.0%} of the text into one element."
        disordered_share = _measure_disorder(paragraphs)
        if disordered_share > limits.disorder_frac:
            return f"The order of the structure tags contradicts the page at {disordered_share:.0%} of its paragraphs."
        return ""


def is_picture(page: Page) -> bool:
    """Return whether the tags mark the whole page as one figure, as they do for charts.

    Args:
        page: Page with its spans, rules and fields.
    """
    return page.distrust == ONE_PICTURE


def drop_face_tags(source: Source, *, faces: Collection[int]) -> Source:
    """Drop the structure tags of pages with the boxes of a form, as tags do not separate boxes from paragraphs.

    Args:
        source: Pages as read.
        faces: Page numbers of form faces with boxes.

    Returns:
        The same pages; on tagged faces, tags are replaced by the reason `FORM_FACE`.
    """
    if not any(page.tags and page.page in faces for page in source.pages):
        return source
    pages = tuple(_without_tags(page) if page.tags and page.page in faces else page for page in source.pages)
    return replace(source, pages=pages)


def _without_tags(page: Page) -> Page:
    spans = tuple(replace(span, tag_ix=-1) for span in page.spans)
    return replace(page, spans=spans, tags=(), distrust=FORM_FACE)


@cache
def _limits() -> Limits:
    return load_authored().limits


def _collect_paragraphs(page: Page, spans: Sequence[Span], counts: Sequence[int]) -> list[_Paragraph]:
    """Collect the text of each block-level tag, in tag order; text at the top of the tree belongs to none."""
    places = find_places(page.tags)
    paragraphs_by_block: dict[int, _Paragraph] = {}
    for span, count in zip(spans, counts, strict=True):
        tag_ix, text = span.tag_ix, span.text
        if tag_ix < 0 or not text or text.isspace():
            continue
        place = places[tag_ix]
        block_ix = place.block_ix
        if block_ix < 0:
            continue
        paragraph = paragraphs_by_block.get(block_ix)
        if paragraph is None:
            paragraph = paragraphs_by_block[block_ix] = _Paragraph(place, [])
        paragraph.spans.append(span)
        paragraph.char_count += count
    return list(paragraphs_by_block.values())


def _joins_distant_text(paragraph: _Paragraph) -> bool:
    """Decide whether one tag holds text far apart: it goes down by a wide gap, or up more than once."""
    if len(paragraph.spans) < 2 or paragraph.place.cell_ix >= 0 or paragraph.place.figure_ix >= 0:
        return False
    max_jump = _limits().jump_sizes
    rises = 0
    for above, below in pairwise(paragraph.spans):
        # Spans of one line are most of them: they step neither down nor up.
        if below.y1 == above.y1:
            continue
        step = (below.y1 - above.y1) / max(above.size_pt, 1.0)
        if step > max_jump:
            return True
        rises += step < -max_jump
    return rises > 2


def _measure_disorder(paragraphs: Sequence[_Paragraph]) -> float:
    """Measure the share of neighbors in running text of which the second is above the first in one column."""
    running_text = [
        paragraph
        for paragraph in paragraphs
        if paragraph.place.table_ix < 0 and paragraph.place.figure_ix < 0 and paragraph.char_count > 1
    ]
    if len(running_text) < 4:
        return 0.0
    wrong_pairs = 0
    for before, next_paragraph in pairwise(running_text):
        above, below = before.spans[0], next_paragraph.spans[0]
        is_same_column = abs(below.x0 - above.x0) < 6 * above.size_pt
        wrong_pairs += is_same_column and below.y1 < above.y0 - above.size_pt
    return wrong_pairs / (len(running_text) - 1)
