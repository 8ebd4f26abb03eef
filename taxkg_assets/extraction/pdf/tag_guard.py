"""Guard against structure trees that MuPDF would read for minutes, because it limits neither depth, width nor cycles.

For each marked text of a page, MuPDF follows the parents of its structure element to the root, and looks up each of
them among the children of the next. A tree that is 10,000 deep, or has 100,000 children in one place, takes minutes.
Therefore the chains of parents are measured first, each element once, without recursion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from taxkg_assets.extraction.pdf.library import pymupdf
from taxkg_assets.extraction.pdf.tags import MAX_DEPTH

_MUPDF: Any = pymupdf.mupdf
# Objects of the parent tree and of its chains together; the largest real files have some tens of thousands.
MAX_OBJECTS = 2_000_000
# Elements times the children among which each is looked up: this number takes MuPDF four seconds.
MAX_LOOKUPS = 500_000_000
_REPLACED = "ActualText"
_GET, _NUMBER_OF = _MUPDF.ll_pdf_dict_gets, _MUPDF.ll_pdf_to_num


class _DangerError(Exception):
    """The structure tree cannot be read safely; the message states why."""


@dataclass(frozen=True, slots=True)
class TreeReport:
    """What was found in the structure tree of a PDF.

    Attributes:
        danger: Why the structure tree cannot be read safely; empty if it can be read.
        may_replace_text: Whether an element may state other words than its glyphs (`ActualText`).
    """

    danger: str = ""
    may_replace_text: bool = False


def inspect_tree(document: Any) -> TreeReport:
    """Inspect the elements of a structure tree that lead from the marks of a page to the root.

    Args:
        document: Open PDF.

    Returns:
        Whether the tree can be read safely, and whether it states other words than the pages print.

    Source:
        ISO 32000-1, 14.7.4.4: the parent tree leads from the marks of a page to their structure elements.
    """
    trailer = _MUPDF.pdf_trailer(_MUPDF.pdf_document_from_fz_document(document.this))
    parents = _MUPDF.pdf_dict_getp(trailer, "Root/StructTreeRoot/ParentTree")
    if not parents.m_internal:
        return TreeReport()
    guard = _Guard()
    try:
        guard.check(parents.m_internal)
    except _DangerError as error:
        return TreeReport(str(error), may_replace_text=True)
    return TreeReport(may_replace_text=guard.may_replace_text)


def find_tree_danger(document: Any) -> str:
    """Return why the structure tree of a PDF cannot be read safely; empty if it can be read.

    Args:
        document: Open PDF.
    """
    return inspect_tree(document).danger


class _Guard:
    """Measures chains of parents; depth and number of children are kept by the number of the PDF object."""

    def __init__(self) -> None:
        self.may_replace_text = False
        self._depths: dict[int, int] = {}
        self._child_counts: dict[int, int] = {}
        self._lookups = 0

    def check(self, parents: Any) -> None:
        """Measure every chain of parents that begins in the parent tree; raise an error if the tree is too large.

        Args:
            parents: Root of the parent tree.
        """
        length, at, number = _MUPDF.ll_pdf_array_len, _MUPDF.ll_pdf_array_get, _MUPDF.ll_pdf_to_num
        value, is_array, is_dict = _MUPDF.ll_pdf_dict_gets, _MUPDF.ll_pdf_is_array, _MUPDF.ll_pdf_is_dict
        unread_nodes = [parents]
        seen_numbers = set[int]()
        part_count = 0
        while unread_nodes:
            node = unread_nodes.pop()
            object_number = number(node)
            if object_number in seen_numbers:
                continue
            if object_number:
                seen_numbers.add(object_number)
            kids, leaves = value(node, "Kids"), value(node, "Nums")
            unread_nodes += [at(kids, ix) for ix in range(_check_count(length(kids), len(unread_nodes)))]
            for ix in range(1, length(leaves), 2):
                leaf = at(leaves, ix)
                parts = [at(leaf, part) for part in range(length(leaf))] if is_array(leaf) else [leaf]
                part_count = _check_count(part_count + len(parts), 0)
                for part in parts:
                    # Texts next to each other often have the same element, which is then already measured.
                    object_number = number(part)
                    if (object_number and object_number in self._depths) or not is_dict(part):
                        continue
                    if self._measure_below_known(part, object_number):
                        self._inspect(part)
                    else:
                        self._measure(part, object_number)

    def _inspect(self, element: Any) -> None:
        """Note whether an element states other words than its glyphs, before its depth becomes known."""
        self.may_replace_text = self.may_replace_text or _GET(element, _REPLACED) is not None

    def _measure_below_known(self, element: Any, object_number: int) -> bool:
        """Measure an element whose parent was measured before, as for most elements; return False for any other."""
        parent = _GET(element, "P") if object_number else None
        parent_number = _NUMBER_OF(parent) if parent is not None else 0
        depth = self._depths.get(parent_number, MAX_DEPTH) if parent_number else MAX_DEPTH
        count = self._child_counts.get(parent_number)
        if depth >= MAX_DEPTH or count is None or self._lookups + count > MAX_LOOKUPS:
            return False
        self._lookups += count
        self._depths[object_number] = depth + 1
        return True

    def _measure(self, element: Any, object_number: int) -> None:
        """Follow the parents of an element with a given object number to the root, or to a measured element."""
        chain: list[int] = []
        number, value = _MUPDF.ll_pdf_to_num, _MUPDF.ll_pdf_dict_gets
        depths = self._depths
        depth = 0
        node = element
        while node is not None:
            if object_number and object_number in depths:
                depth = depths[object_number]
                break
            self._inspect(node)
            chain.append(object_number)
            if len(chain) > MAX_DEPTH:
                raise _DangerError("The structure tree is too deep, or a part of it is its own parent.")
            node = value(node, "P")
            if node is not None:
                object_number = number(node)
                self._lookups += self._count_children(node, object_number)
        if depth + len(chain) > MAX_DEPTH:
            raise _DangerError("The structure tree is too deep, or a part of it is its own parent.")
        if self._lookups > MAX_LOOKUPS:
            raise _DangerError("The structure tree has too many children in one place.")
        for chain_number in reversed(chain):
            depth += 1
            depths[chain_number] = depth

    def _count_children(self, node: Any, object_number: int) -> int:
        """Count the children of an element, once for all elements with the same parent."""
        count = self._child_counts.get(object_number) if object_number else None
        if count is None:
            count = self._child_counts[object_number] = int(_MUPDF.ll_pdf_array_len(_MUPDF.ll_pdf_dict_gets(node, "K")))
        return count


def _check_count(count: int, unread_count: int) -> int:
    if count + unread_count > MAX_OBJECTS:
        raise _DangerError("The structure tree is too large.")
    return count
