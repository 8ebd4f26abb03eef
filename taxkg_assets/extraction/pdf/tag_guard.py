"""Guard against structure trees that would keep MuPDF busy for minutes: it limits neither depth nor width nor cycles.

For each mark of a page MuPDF follows the parents of a structure element to the root, and looks every one of them up
among its parent's children. A tree that is 10,000 deep, or has 100,000 children in one place, takes minutes. So the
chains of parents are measured first, each element once, without recursion.
"""

from __future__ import annotations

from typing import Any

from taxkg_assets.extraction.pdf.library import pymupdf
from taxkg_assets.extraction.pdf.tags import MAX_DEPTH

_MUPDF: Any = pymupdf.mupdf
# Objects of the parent tree and its chains together; the largest real ones have some tens of thousands.
MAX_OBJECTS = 2_000_000
# Elements times the children that each is looked up among: this number takes the parser four seconds.
MAX_LOOKUPS = 500_000_000
_GET, _NUMBER_OF = _MUPDF.ll_pdf_dict_gets, _MUPDF.ll_pdf_to_num


class _DangerError(Exception):
    """The tree is not to be walked."""


def find_tree_danger(document: Any) -> str:
    """Return why the structure tree of a PDF cannot be read safely; empty if it can.

    Args:
        document: Open PDF.

    Returns:
        The reason; empty if it can be read.

    Source:
        ISO 32000-1, 14.7.4.4: the parent tree leads from the marks of a page to their structure elements.
    """
    trailer = _MUPDF.pdf_trailer(_MUPDF.pdf_document_from_fz_document(document.this))
    parents = _MUPDF.pdf_dict_getp(trailer, "Root/StructTreeRoot/ParentTree")
    if not parents.m_internal:
        return ""
    try:
        _Guard().check(parents.m_internal)
    except _DangerError as error:
        return str(error)
    return ""


class _Guard:
    """Measures chains of parents; what was measured is known by its object's number."""

    def __init__(self) -> None:
        self._depths: dict[int, int] = {}
        self._child_counts: dict[int, int] = {}
        self._lookups = 0

    def check(self, parents: Any) -> None:
        """Walk the parent tree and every chain that begins in it."""
        length, at, number = _MUPDF.ll_pdf_array_len, _MUPDF.ll_pdf_array_get, _MUPDF.ll_pdf_to_num
        value, is_array, is_dict = _MUPDF.ll_pdf_dict_gets, _MUPDF.ll_pdf_is_array, _MUPDF.ll_pdf_is_dict
        waiting, seen, count = [parents], set[int](), 0
        while waiting:
            node = waiting.pop()
            own = number(node)
            if own in seen:
                continue
            if own:
                seen.add(own)
            kids, leaves = value(node, "Kids"), value(node, "Nums")
            waiting += [at(kids, ix) for ix in range(_bounded(length(kids), len(waiting)))]
            for ix in range(1, length(leaves), 2):
                leaf = at(leaves, ix)
                parts = [at(leaf, part) for part in range(length(leaf))] if is_array(leaf) else [leaf]
                count = _bounded(count + len(parts), 0)
                for part in parts:
                    # Marks next to each other often share an element, which is then already measured.
                    own = number(part)
                    if own not in self._depths and not self._is_below_known(part, own) and is_dict(part):
                        self._measure(part, own)

    def _is_below_known(self, element: Any, own: int) -> bool:
        """Measure an element whose parent was measured before, as that of most was; false for any other."""
        parent = _GET(element, "P") if own else None
        above = _NUMBER_OF(parent) if parent is not None else 0
        depth = self._depths.get(above, MAX_DEPTH) if above else MAX_DEPTH
        count = self._child_counts.get(above)
        if depth >= MAX_DEPTH or count is None or self._lookups + count > MAX_LOOKUPS:
            return False
        self._lookups += count
        self._depths[own] = depth + 1
        return True

    def _measure(self, element: Any, own: int) -> None:
        """Follow the parents of an element, which is object `own`, to the root or to one that was measured before."""
        chain: list[int] = []
        number, value = _MUPDF.ll_pdf_to_num, _MUPDF.ll_pdf_dict_gets
        depths = self._depths
        depth = 0
        node = element
        while node is not None:
            if own and own in depths:
                depth = depths[own]
                break
            chain.append(own)
            if len(chain) > MAX_DEPTH:
                raise _DangerError("The structure tree is too deep, or a part of it is its own parent.")
            node = value(node, "P")
            if node is not None:
                own = number(node)
                self._lookups += self._count_children(node, own)
        if depth + len(chain) > MAX_DEPTH:
            raise _DangerError("The structure tree is too deep, or a part of it is its own parent.")
        if self._lookups > MAX_LOOKUPS:
            raise _DangerError("The structure tree has too many children in one place.")
        for one in reversed(chain):
            depth += 1
            depths[one] = depth

    def _count_children(self, node: Any, own: int) -> int:
        """Count the children of an element; many elements have the same parent, whose children are counted once."""
        count = self._child_counts.get(own) if own else None
        if count is None:
            count = self._child_counts[own] = int(_MUPDF.ll_pdf_array_len(_MUPDF.ll_pdf_dict_gets(node, "K")))
        return count


def _bounded(count: int, waiting: int) -> int:
    if count + waiting > MAX_OBJECTS:
        raise _DangerError("The structure tree is too large.")
    return count
