"""Labels of list items that are tagged as part of another paragraph: a maker ties frames to the text they float over.

The number of each publication in a list of these, set in a frame, has the tag of the paragraph that the frame is
anchored in. It is read there as words in the middle of a sentence, and is missing where it is printed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from taxkg_assets.extraction.authored.structure_tree import TagPlace
from taxkg_assets.extraction.layout.lines import Line

# Labels have at most this many characters, and end this near before the words that they label, in type sizes.
_LABEL_CHARS, _GAP_SIZES = 24, 3.0
# Of one row: baselines as near. Lines of one paragraph are no farther from its next one. In type sizes.
_SAME_ROW_SIZES, _NEXT_LINE_SIZES = 0.3, 2.0


def find_strayed_labels(lines: Sequence[Line], places: Sequence[TagPlace]) -> dict[int, Line]:
    """Find labels of list items that are tagged as part of another paragraph.

    An example is the number of each publication in a list: printed before the item, but tagged elsewhere.

    Args:
        lines: Lines of the page, in tag order.
        places: Position of each structure tag.

    Returns:
        Label by `id()` of the line that it belongs before, the first line of the item.
    """
    blocks: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        tag_ix = line.spans[0].tag_ix
        if tag_ix >= 0 and places[tag_ix].table_ix < 0 and places[tag_ix].block_ix >= 0:
            blocks[places[tag_ix].block_ix].append(line)
    first_lines = [lines_of_block[0] for lines_of_block in blocks.values() if not lines_of_block[0].is_bold]
    label_by_line: dict[int, Line] = {}
    for lines_of_block in blocks.values():
        if len(lines_of_block) < 2:
            continue
        labels = [line for line in lines_of_block if line.is_bold and _is_label(line)]
        if not labels:
            continue
        labels_with_line = [(line, _find_labeled(line, first_lines)) for line in labels]
        strayed_labels = [(line, labeled_line) for line, labeled_line in labels_with_line if labeled_line is not None]
        if not strayed_labels:
            continue
        other_lines = [line for line in lines_of_block if not any(line is label for label, _ in strayed_labels)]
        if len(strayed_labels) < 2 and not other_lines:
            continue
        for line, labeled_line in strayed_labels:
            if not any(_is_near(line, other) for other in other_lines):
                label_by_line[id(labeled_line)] = line
    return label_by_line


def _is_label(line: Line) -> bool:
    """Decide whether a bold line is a short name with a number, such as that of a form."""
    return len(line.text) <= _LABEL_CHARS and any(map(str.isdigit, line.text))


def _find_labeled(label: Line, firsts: Sequence[Line]) -> Line | None:
    """Find the first line of a block right behind a label on its row."""
    for first in firsts:
        is_in_row = abs(first.base - label.base) < _SAME_ROW_SIZES * label.size
        if is_in_row and 0 < first.x0 - label.x1 < _GAP_SIZES * label.size:
            return first
    return None


def _is_near(label: Line, other: Line) -> bool:
    """Decide whether a label may be a line of a paragraph: it is right below or above one of its lines."""
    is_next = abs(label.base - other.base) < _NEXT_LINE_SIZES * max(label.size, other.size)
    return is_next and label.x0 < other.x1 and other.x0 < label.x1
