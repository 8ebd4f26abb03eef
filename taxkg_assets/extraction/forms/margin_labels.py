"""Labels in the left margin of a form's face: the parts and steps that its numbered lines stand in."""

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
    """A label in the left margin next to some lines: a bold title, which may be missing, and remarks below it."""

    title: list[Line] = field(default_factory=list)
    remarks: list[Line] = field(default_factory=list)
    key: str | None = None
    # It heads the lines below it inside a part; it is not in the margin next to them.
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

    Args:
        page: The page.
        pieces: Its pieces.
        starts: Pieces that begin lines.

    Returns:
        Labels from top to bottom.
    """
    edge = min(start.x0 for start in starts) + 3.0
    left = min(piece.x0 for piece in pieces)
    if edge - left < limits().margin_pt:
        return []
    widest = left + limits().label_frac * page.width_pt
    adjacent = sorted(
        (
            piece
            for piece in pieces
            if piece.x1 <= edge or (piece.is_bold and piece.x0 < left + 3 and piece.x1 < widest)
        ),
        key=lambda piece: piece.base,
    )
    tops = [piece.y0 for piece in adjacent if piece.is_bold and label_key(piece.text)]
    if not tops:
        return _find_plain_labels(page, adjacent, edge=edge)
    top = min(min(tops), min(start.y0 for start in starts)) - 10
    labels: list[MarginLabel] = []
    for piece in adjacent:
        if piece.y0 < top or piece.y0 > limits().foot_frac * page.height_pt:
            continue
        label = labels[-1] if labels else None
        if label is None or _opens_label(page, piece, label):
            label = MarginLabel(key=label_key(piece.text) if piece.is_bold else None)
            labels.append(label)
        (label.title if piece.is_bold and not label.remarks else label.remarks).append(piece)
    return [_with_plain_head(label) for label in labels]


def cut_leads(page: Page, pieces: Sequence[Line], starts: Sequence[Line]) -> list[Line]:
    """Cut a large bold label in the margin from the smaller plain words that follow it on its row.

    Args:
        page: The page.
        pieces: Its pieces.
        starts: Pieces that begin lines.

    Returns:
        The pieces; each that begins with such a label is two.
    """
    left = min((piece.x0 for piece in pieces), default=0.0)
    edge = max(min(start.x0 for start in starts) + 3.0, left + limits().label_frac * page.width_pt)
    numbered = {id(start) for start in starts}
    return [
        part
        for piece in pieces
        for part in (_cut_lead(piece) if id(piece) not in numbered and _has_lead(piece, edge) else [piece])
    ]


def _has_lead(piece: Line, edge: float) -> bool:
    """Decide whether the first words of a piece are a label that ends in the margin; plain words follow."""
    lead = [span for span in takewhile(lambda span: span.is_bold, piece.spans) if span.text.strip()]
    rest = [span for span in piece.spans if span.text.strip()][len(lead) :]
    is_large = bool(lead and rest) and lead[0].size_pt >= max(limits().plain_label_pt, rest[0].size_pt + 1)
    return is_large and lead[-1].x1 <= edge


def _cut_lead(piece: Line) -> list[Line]:
    lead = list(takewhile(lambda span: span.is_bold, piece.spans))
    parts = make_line(piece.page, lead), make_line(piece.page, piece.spans[len(lead) :])
    return [part for part in parts if part is not None]


def find_inner_heads(pieces: Sequence[Line], starts: Sequence[Line]) -> list[MarginLabel]:
    """Find bold headings on their own row right above a numbered line, which head some lines of a part.

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
        is_alone = not any(
            other is not piece and abs(other.base - piece.base) <= limits().row_pt for other in (*pieces, *starts)
        )
        reach = limits().row_gap_sizes * piece.size
        if is_alone and any(0 < start.base - piece.base <= reach and start.x0 <= piece.x0 + 3 for start in starts):
            heads.append(MarginLabel([piece], is_inner=True))
    return heads


def _with_plain_head(label: MarginLabel) -> MarginLabel:
    """Take a few plain words between two rules for a head; a remark is a sentence or is in parentheses."""
    text = " ".join(line.text for line in label.remarks)
    is_name = not label.title and text[:1].isupper() and text[-1:].isalpha() and len(text) <= limits().name_chars
    return MarginLabel(label.remarks) if is_name else label


def _find_plain_labels(page: Page, adjacent: Sequence[Line], *, edge: float) -> list[MarginLabel]:
    """Find labels without a number: large bold words below a line over the margin, with their notes."""
    heads = [piece for piece in adjacent if piece.is_bold and piece.size >= limits().plain_label_pt]
    left = min((piece.x0 for piece in heads), default=0.0)
    separator_ys = {
        round(rule.y0)
        for rule in page.rules
        if rule.is_horizontal and rule.x0 <= left + 5 and rule.x1 >= left + limits().margin_pt
    }
    labels: list[MarginLabel] = []
    notes = [piece for piece in adjacent if piece.x1 <= edge and any(map(str.isalnum, piece.text))]
    for separator_y, end in pairwise([*sorted(separator_ys), limits().foot_frac * page.height_pt]):
        between = [piece for piece in heads if separator_y - 3 < piece.y0 < end - 3]
        # Two separator_ys may lie so near that what is right below the first is under the second.
        first = [piece for piece in between if piece.y0 < separator_y + limits().under_wall_pt]
        title = [piece for piece in between if first and abs(piece.size - first[0].size) < 0.6]
        title = [piece for piece in title if abs(piece.x0 - first[0].x0) < 3]
        top = title[-1].y0 if title else separator_y - 3
        remarks = [piece for piece in notes if top < piece.y0 < end - 3 and not any(piece is line for line in title)]
        if title or (labels and remarks):
            labels.append(MarginLabel(title, remarks))
    return labels if sum(bool(label.title) for label in labels) >= 2 else []


def _opens_label(page: Page, piece: Line, label: MarginLabel) -> bool:
    """Decide whether a piece in the margin begins a label: a rule is drawn above it, or bold words begin again."""
    last = label.lines[-1]
    is_ruled = any(
        rule.is_horizontal
        and last.base - 2 < rule.y0 < piece.base
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
