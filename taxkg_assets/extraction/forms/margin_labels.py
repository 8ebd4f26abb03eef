"""Labels in the left margin of a form's face: the parts and steps that the numbered lines belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise, takewhile

from taxkg_assets.extraction.layout.lines import Line, make_line
from taxkg_assets.extraction.pdf.model import Page
from taxkg_assets.rules.models.form_lines import Limits, load_form_lines


@dataclass(slots=True)
class MarginLabel:
    """A label in the left margin next to some lines.

    Attributes:
        title: Bold lines; empty for remarks alone.
        remarks: Plain lines below the title.
        key: Key of the part or step, such as `part_II`; None for a label without a number.
        is_inner: Whether the label is a heading above some lines of a part, and not in the margin next to them.
    """

    title: list[Line] = field(default_factory=list)
    remarks: list[Line] = field(default_factory=list)
    key: str | None = None
    is_inner: bool = False

    @property
    def lines(self) -> list[Line]:
        """Return the printed lines: title, then remarks."""
        return [*self.title, *self.remarks]

    @property
    def y0(self) -> float:
        """Return the top of the first line, in points from the top of the page."""
        return self.lines[0].y0


@cache
def limits() -> Limits:
    """Return the distances of `rules/form_lines.yaml`.

    Returns:
        Distances in points.
    """
    return load_form_lines().limits


def find_labels(page: Page, pieces: Sequence[Line], starts: Sequence[Line]) -> list[MarginLabel]:
    """Find the labels in the margin left of all line numbers.

    The margin next to lines 1 to 6 may print `Part I`, `Harbor`, `(see instructions)`: a label with a remark.

    Args:
        page: The page.
        pieces: Pieces of printed text on the page.
        starts: Pieces that begin numbered lines.

    Returns:
        Labels from top to bottom.
    """
    margin_x1 = min(start.x0 for start in starts) + 3.0
    margin_x0 = min(piece.x0 for piece in pieces)
    if margin_x1 - margin_x0 < limits().margin_pt:
        return []
    widest_x1 = margin_x0 + limits().label_frac * page.width_pt

    def is_in_margin(piece: Line) -> bool:
        """Decide whether a piece is left of the numbers, or begins in the margin and is a short bold one."""
        is_bold_label = piece.is_bold and piece.x0 < margin_x0 + 3 and piece.x1 < widest_x1
        return piece.x1 <= margin_x1 or is_bold_label

    margin_pieces = sorted(filter(is_in_margin, pieces), key=lambda piece: piece.base)
    label_tops = [piece.y0 for piece in margin_pieces if piece.is_bold and label_key(piece.text)]
    if not label_tops:
        return _find_plain_labels(page, margin_pieces, margin_x1=margin_x1)
    top = min(*label_tops, *(start.y0 for start in starts)) - 10
    foot = limits().foot_frac * page.height_pt
    labels: list[MarginLabel] = []
    for piece in margin_pieces:
        if not top <= piece.y0 <= foot:
            continue
        if not labels or _opens_label(page, piece, labels[-1]):
            labels.append(MarginLabel(key=label_key(piece.text) if piece.is_bold else None))
        label = labels[-1]
        is_title = piece.is_bold and not label.remarks
        (label.title if is_title else label.remarks).append(piece)
    return [_with_plain_head(label) for label in labels]


def cut_leads(page: Page, pieces: Sequence[Line], starts: Sequence[Line]) -> list[Line]:
    """Cut a large bold label in the margin from the smaller plain words that follow it on its row.

    Args:
        page: The page.
        pieces: Pieces of printed text on the page.
        starts: Pieces that begin numbered lines.

    Returns:
        The pieces; a piece that begins with such a label is replaced by two.
    """
    margin_x0 = min((piece.x0 for piece in pieces), default=0.0)
    margin_x1 = max(min(start.x0 for start in starts) + 3.0, margin_x0 + limits().label_frac * page.width_pt)
    start_ids = {id(start) for start in starts}
    cut_pieces: list[Line] = []
    for piece in pieces:
        has_label = id(piece) not in start_ids and _has_lead(piece, margin_x1)
        cut_pieces += _cut_lead(piece) if has_label else [piece]
    return cut_pieces


def _has_lead(piece: Line, margin_x1: float) -> bool:
    """Decide whether the first words of a piece are a large bold label that ends in the margin, before plain words."""
    shown_spans = [span for span in piece.spans if span.text.strip()]
    bold_spans = [span for span in takewhile(lambda span: span.is_bold, piece.spans) if span.text.strip()]
    spans_after = shown_spans[len(bold_spans) :]
    if not bold_spans or not spans_after:
        return False
    least_size = max(limits().plain_label_pt, spans_after[0].size_pt + 1)
    return bold_spans[0].size_pt >= least_size and bold_spans[-1].x1 <= margin_x1


def _cut_lead(piece: Line) -> list[Line]:
    """Return the bold words at the beginning of a piece, and the words after them."""
    bold_spans = list(takewhile(lambda span: span.is_bold, piece.spans))
    parts = make_line(piece.page, bold_spans), make_line(piece.page, piece.spans[len(bold_spans) :])
    return [part for part in parts if part is not None]


def find_inner_heads(pieces: Sequence[Line], starts: Sequence[Line]) -> list[MarginLabel]:
    """Find the headings inside a part: bold, on a row of their own, right above a numbered line.

    Args:
        pieces: Pieces of the page.
        starts: Pieces that begin lines.

    Returns:
        Labels from top to bottom.
    """
    heads: list[MarginLabel] = []
    for piece in pieces:
        if not piece.is_bold or not any(rule.pattern.match(piece.text) for rule in load_form_lines().inner_heads):
            continue
        others = [other for other in (*pieces, *starts) if other is not piece]
        shares_row = any(abs(other.base - piece.base) <= limits().row_pt for other in others)
        max_gap = limits().row_gap_sizes * piece.size
        is_above_line = any(0 < start.base - piece.base <= max_gap and start.x0 <= piece.x0 + 3 for start in starts)
        if is_above_line and not shares_row:
            heads.append(MarginLabel([piece], is_inner=True))
    return heads


def _with_plain_head(label: MarginLabel) -> MarginLabel:
    """Make a few plain words between two rules the title; a remark is a sentence or is in parentheses."""
    text = " ".join(line.text for line in label.remarks)
    is_name = not label.title and text[:1].isupper() and text[-1:].isalpha() and len(text) <= limits().name_chars
    return MarginLabel(label.remarks) if is_name else label


def _find_plain_labels(page: Page, margin_pieces: Sequence[Line], *, margin_x1: float) -> list[MarginLabel]:
    """Find labels without a number: large bold words below a line over the margin, with their notes.

    Args:
        page: The page.
        margin_pieces: Pieces in the margin, from top to bottom.
        margin_x1: Right edge of the margin.

    Returns:
        Labels from top to bottom; none for a page with only one.
    """
    heads = [piece for piece in margin_pieces if piece.is_bold and piece.size >= limits().plain_label_pt]
    notes = [piece for piece in margin_pieces if piece.x1 <= margin_x1 and any(map(str.isalnum, piece.text))]
    separator_ys = _find_margin_separators(page, heads)
    labels: list[MarginLabel] = []
    for separator_y, next_y in pairwise([*separator_ys, limits().foot_frac * page.height_pt]):
        bottom = next_y - 3
        title = _find_title(heads, separator_y, bottom)
        top = title[-1].y0 if title else separator_y - 3
        title_ids = {id(line) for line in title}
        remarks = [piece for piece in notes if top < piece.y0 < bottom and id(piece) not in title_ids]
        if title or (labels and remarks):
            labels.append(MarginLabel(title, remarks))
    return labels if sum(bool(label.title) for label in labels) >= 2 else []


def _find_margin_separators(page: Page, heads: Sequence[Line]) -> list[int]:
    """Return the heights of the rules over the margin, from top to bottom, in points."""
    heads_x0 = min((piece.x0 for piece in heads), default=0.0)
    over_margin = [
        rule
        for rule in page.rules
        if rule.is_horizontal and rule.x0 <= heads_x0 + 5 and rule.x1 >= heads_x0 + limits().margin_pt
    ]
    return sorted({round(rule.y0) for rule in over_margin})


def _find_title(heads: Sequence[Line], separator_y: float, bottom: float) -> list[Line]:
    """Return the large words right below a rule, and those below them in the same type; none for another heading."""
    heads_between = [piece for piece in heads if separator_y - 3 < piece.y0 < bottom]
    # Two rules may be so near each other that the words right below the first are below the second, too.
    first = next((piece for piece in heads_between if piece.y0 < separator_y + limits().under_wall_pt), None)
    if first is None:
        return []
    return [piece for piece in heads_between if abs(piece.size - first.size) < 0.6 and abs(piece.x0 - first.x0) < 3]


def _opens_label(page: Page, piece: Line, label: MarginLabel) -> bool:
    """Decide whether a piece in the margin begins a label: below a rule, or with bold words after plain ones."""
    last_line = label.lines[-1]
    is_ruled = any(
        rule.is_horizontal
        and last_line.base - 2 < rule.y0 < piece.base
        and rule.x0 <= piece.x0 + 5
        and rule.x1 >= piece.x0 + 0.8 * (piece.x1 - piece.x0)
        for rule in page.rules
    )
    return is_ruled or (piece.is_bold and (bool(label_key(piece.text)) or bool(label.remarks)))


def label_key(text: str) -> str | None:
    """Parse the key of a part or step from its label.

    Args:
        text: Label, such as `Part II` or `Step 3`.

    Returns:
        Key, such as `part_II`; None for other text.
    """
    for rule in load_form_lines().labels:
        match = rule.pattern.match(text)
        if match is not None:
            return f"{rule.kind}_{match['number']}"
    return None
