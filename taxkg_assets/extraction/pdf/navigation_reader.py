"""An open PDF to its links, named destinations and bookmarks.

Objects are read as text by their number, which is many times faster than PyMuPDF's functions for names and links.
Every list is read with a set of the objects already seen and within limits: a list with a cycle, or one that is too
long, ends the reading of that list with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from taxkg_assets.extraction.pdf.geometry import Corners
from taxkg_assets.extraction.pdf.library import pymupdf
from taxkg_assets.extraction.pdf.navigation import Bookmark, Destination, LinkArea, Navigation, Place
from taxkg_assets.extraction.pdf.sanitize import strip_control_characters
from taxkg_assets.extraction.pdf.syntax import MOST_CHARS, Ref, Value, find_words, read_value
from taxkg_assets.rules.models.navigation import load_navigation

_NUMERAL = r"-?\d+(?:\.\d+)?"
_USUAL_AREA = re.compile(
    r"<</Type/Annot/Subtype/Link/A<<(?:/D\((?P<name>[\w.:-]+)\)/S/GoTo|/S/URI/URI\((?P<url>[^()\\]+)\))>>"
    r"/Border\[[\d ]*\](?:/Contents(?:\((?P<title>[^()\\]*)\)|(?P<written>\((?:[^()\\]|\\.)*\)|<[0-9A-F]*>)))?"
    r"(?:/F \d+)?(?:/M\([^()\\]*\))?(?:/QuadPoints\[\])?"
    rf"/Rect\[(?P<box>{_NUMERAL}(?: {_NUMERAL}){{3}})\](?:/StructParent \d+)?>>"
)
_USUAL_TARGET = re.compile(
    rf"(?:<</D)?\[(?P<page>\d+) 0 R/XYZ (?P<x>null|{_NUMERAL}) (?P<y>null|{_NUMERAL})[^\[\]<>()]*\](?:>>)?"
)
_REFS = re.compile(r"\[(?:\d+ \d+ R ?)*\]")
_NUMBER = re.compile(r"(\d+) \d+ R")
# Which operand of a destination is its height, and which its distance from the left.
_HEIGHT_AT = {"/XYZ": 3, "/FitH": 2, "/FitBH": 2, "/FitR": 5}
_LEFT_AT = {"/XYZ": 2, "/FitR": 2}
_MOST_COORDINATE = 1e6
# PyMuPDF has no complete type annotations.
_MUPDF: Any = pymupdf
_DAMAGE: tuple[type[Exception], ...] = (RuntimeError, ValueError, _MUPDF.mupdf.FzErrorBase)


class NavigationReader:
    """Reads the link areas page by page, then the names and bookmarks of the document."""

    def __init__(self, document: Any) -> None:
        """Prepare the reading of an open PDF.

        Args:
            document: Open document of PyMuPDF.
        """
        self._document = document
        self._limits = load_navigation().limits
        self._areas: list[LinkArea] = []
        self._unread_targets: dict[int, Value] = {}
        self._matrices: dict[int, tuple[float, ...]] = {}
        self._page_numbers: dict[int, int] = {}
        self._reasons: list[str] = []
        self._char_count = 0
        self._object_count: int = document.xref_length()

    def read_areas(self, page: Any, *, number: int) -> None:
        """Read the link areas of an open page.

        Args:
            page: Open page of PyMuPDF.
            number: 1-based number of the page.
        """
        document, xref = self._document, page.xref
        self._page_numbers[xref] = number
        matrix = page.transformation_matrix
        self._matrices[number] = tuple(matrix * page.rotation_matrix if page.rotation else matrix)
        kind, text = document.xref_get_key(xref, "Annots")
        if kind == "xref":
            text = self._read_text(int(text.split()[0]))
        elif kind != "array":
            return
        if _REFS.fullmatch(text):
            items: list[Value] = [Ref(int(number_text)) for number_text in _NUMBER.findall(text)]
        else:
            value = read_value(text)
            items = value if isinstance(value, list) else []
        max_areas = min(self._limits.links_on_page, self._limits.links - len(self._areas))
        if len(items) > max_areas:
            self._add_reason(
                f"Page {number} has {len(items)} annotations; only the first {max(0, max_areas)} were read."
            )
        for item in items[: max(0, max_areas)]:
            area = self._read_area(item, number)
            if area is not None:
                self._areas.append(area)

    def finish(self) -> Navigation:
        """Read names and bookmarks, and return them with the link areas.

        Returns:
            Links, names and bookmarks of the document.
        """
        destinations = tuple(self._read_destinations())
        bookmarks = tuple(self._read_bookmarks())
        areas = tuple(self._find_places())
        return Navigation(areas, destinations, bookmarks, tuple(dict.fromkeys(self._reasons)))

    def _read_area(self, item: Value, page: int) -> LinkArea | None:
        if isinstance(item, Ref):
            text = self._read_text(item.number)
            usual_match = _USUAL_AREA.fullmatch(text)
            if usual_match is not None:
                box = self._read_box([float(part) for part in usual_match["box"].split()], page)
                title = (usual_match["title"] or "")[: self._limits.title_chars]
                if usual_match["written"]:
                    title = self._decode(read_value(usual_match["written"]), "title")
                url = (usual_match["url"] or "")[: self._limits.url_chars + 1]
                return LinkArea(page, *box, name=usual_match["name"] or "", url=url, title=title) if box else None
            item = read_value(text) if "Link" in text else None
        if not isinstance(item, dict) or item.get("/Subtype") != "/Link":
            return None
        rect = self._resolve(item.get("/Rect"))
        box = self._read_box(rect, page) if isinstance(rect, list) else None
        if box is None:
            self._add_reason(f"A link of page {page} has no rectangle on the page.")
            return None
        area = LinkArea(page, *box, title=self._decode(self._resolve(item.get("/Contents")), "title"))
        return self._with_target(area, item)

    def _with_target(self, area: LinkArea, item: dict[str, Value]) -> LinkArea | None:
        """Add the target of a link to its area; return None for a link that opens a file or runs a program."""
        action = self._resolve(item.get("/A"))
        target = item.get("/Dest")
        if isinstance(action, dict):
            kind = action.get("/S")
            if kind == "/URI":
                return replace(area, url=self._decode(self._resolve(action.get("/URI")), "url"))
            if kind != "/GoTo":
                self._add_reason(f"A link of page {area.page} opens a file or runs a program; it was left out.")
                return None
            target = action.get("/D")
        target = self._resolve(target)
        if isinstance(target, (bytes, str)):
            return replace(area, name=self._decode(target, "name"))
        # The link may lead to a later page: its place is found once all pages are known.
        self._unread_targets[len(self._areas)] = target
        return area

    def _find_places(self) -> Iterator[LinkArea]:
        for ix, area in enumerate(self._areas):
            if ix not in self._unread_targets:
                yield area
                continue
            place = self._read_place(self._unread_targets[ix])
            if place is not None:
                yield replace(area, place=place)
            else:
                self._add_reason(f"A link on page {area.page} has no target page in this file.")

    def _read_box(self, rect: list[Any], page: int) -> Corners | None:
        """Convert the rectangle of an annotation to displayed coordinates; None for one without an area."""
        if len(rect) != 4 or not all(isinstance(value, (int, float)) for value in rect):
            return None
        if max(map(abs, rect)) > _MOST_COORDINATE:
            return None
        a, b, c, d, e, f = self._matrices[page]
        xs = [rect[0] * a + rect[1] * c + e, rect[2] * a + rect[3] * c + e]
        ys = [rect[0] * b + rect[1] * d + f, rect[2] * b + rect[3] * d + f]
        box = min(xs), min(ys), max(xs), max(ys)
        return box if box[2] > box[0] and box[3] > box[1] else None

    def _read_place(self, value: Value) -> Place | None:
        """Read an explicit destination; None where it leads to no page of the document."""
        value = self._resolve(value)
        if isinstance(value, dict):
            value = self._resolve(value.get("/D"))
        if not isinstance(value, list) or not value:
            return None
        page = self._page_numbers.get(value[0].number) if isinstance(value[0], Ref) else None
        if isinstance(value[0], int) and 0 <= value[0] < len(self._matrices):
            page = value[0] + 1
        if page is None:
            return None
        fit = value[1] if len(value) > 1 else None
        height_at, left_at = (table.get(fit) if isinstance(fit, str) else None for table in (_HEIGHT_AT, _LEFT_AT))
        return self._make_place(page, _number_at(value, left_at), _number_at(value, height_at))

    def _make_place(self, page: int, x: float | None, y: float | None) -> Place:
        """Convert a point in the file's coordinates to a place; without a height, the place is the top of the page."""
        if y is None:
            return Place(page, None, 0.0, 0.0)
        a, b, c, d, e, f = self._matrices[page]
        known_x = x or 0.0
        shown_x, shown_y = known_x * a + y * c + e, known_x * b + y * d + f
        return Place(page, shown_x if x is not None and x > 0 else None, shown_y, shown_y)

    def _read_destinations(self) -> Iterator[Destination]:
        """Read the named destinations from the name tree, and from the catalog's dictionary in old files."""
        max_names = self._limits.names
        seen_names: set[str] = set()
        for name, value in self._read_names():
            if len(seen_names) >= max_names:
                self._add_reason(f"The file has more than {max_names} named destinations; the rest were left out.")
                return
            if name in seen_names or not name:
                continue
            seen_names.add(name)
            place = self._read_named(value)
            if place is not None:
                yield Destination(name, place)
            else:
                self._add_reason("Some named destinations are not on a page of the file.")

    def _read_named(self, value: Value) -> Place | None:
        if isinstance(value, Ref):
            text = self._read_text(value.number)
            usual_match = _USUAL_TARGET.fullmatch(text)
            page = self._page_numbers.get(int(usual_match["page"])) if usual_match is not None else None
            if usual_match is not None and page is not None:
                x, y = (
                    None if usual_match[part] == "null" else _drop_far(float(usual_match[part])) for part in ("x", "y")
                )
                return self._make_place(page, x, y)
            value = read_value(text)
        return self._read_place(value)

    def _read_names(self) -> Iterator[tuple[str, Value]]:
        document = self._document
        catalog = read_value(self._read_text(document.pdf_catalog()))
        if not isinstance(catalog, dict):
            return
        old_names = self._resolve(catalog.get("/Dests"))
        if isinstance(old_names, dict):
            yield from ((name[1:], value) for name, value in old_names.items())
        names = self._resolve(catalog.get("/Names"))
        unread_nodes: list[Value] = [names["/Dests"]] if isinstance(names, dict) and "/Dests" in names else []
        seen_numbers: set[int] = set()
        while unread_nodes:
            node = unread_nodes.pop()
            if isinstance(node, Ref):
                if node.number in seen_numbers or len(seen_numbers) > self._limits.nodes:
                    self._add_reason("The name tree has a cycle or is too large.")
                    continue
                seen_numbers.add(node.number)
                node = read_value(self._read_text(node.number))
            if not isinstance(node, dict):
                self._add_reason("A part of the name tree is unreadable.")
                continue
            kids = self._resolve(node.get("/Kids"))
            if isinstance(kids, list):
                unread_nodes += reversed(kids[: self._limits.nodes])
            pairs = self._resolve(node.get("/Names"))
            if isinstance(pairs, list):
                yield from (
                    (self._decode(name, "name"), value) for name, value in zip(pairs[::2], pairs[1::2], strict=False)
                )

    def _read_bookmarks(self) -> Iterator[Bookmark]:
        """Read the outline in the order in which viewers display it."""
        catalog = read_value(self._read_text(self._document.pdf_catalog()))
        root = self._resolve(catalog.get("/Outlines")) if isinstance(catalog, dict) else None
        unread_items: list[tuple[Value, int]] = [(root.get("/First"), 1)] if isinstance(root, dict) else []
        seen_numbers: set[int] = set()
        while unread_items:
            ref, level = unread_items.pop()
            if not isinstance(ref, Ref):
                continue
            if ref.number in seen_numbers or len(seen_numbers) >= self._limits.bookmarks or level > self._limits.levels:
                self._add_reason("The bookmarks have a cycle, are too many or too deep.")
                continue
            seen_numbers.add(ref.number)
            item = read_value(self._read_text(ref.number))
            if not isinstance(item, dict):
                self._add_reason("A bookmark is unreadable.")
                continue
            yield self._read_bookmark(item, level)
            unread_items += [(item.get("/Next"), level), (item.get("/First"), level + 1)]

    def _read_bookmark(self, item: dict[str, Value], level: int) -> Bookmark:
        title = self._decode(self._resolve(item.get("/Title")), "title")
        action = self._resolve(item.get("/A"))
        is_internal = isinstance(action, dict) and action.get("/S") == "/GoTo"
        target = self._resolve(action.get("/D") if isinstance(action, dict) and is_internal else item.get("/Dest"))
        if isinstance(target, (bytes, str)):
            return Bookmark(level, title, name=self._decode(target, "name"))
        return Bookmark(level, title, place=self._read_place(target))

    def _decode(self, value: Value, limit_name: str) -> str:
        """Decode a string; a longer one than allowed is cut one character after the limit, so that callers can tell."""
        return strip_control_characters(find_words(value, max_chars=self._limits.chars_of(limit_name) + 1))

    def _resolve(self, value: Value) -> Value:
        """Follow a reference, and a reference that it leads to, but no third one."""
        for _ in range(2):
            if not isinstance(value, Ref):
                break
            value = read_value(self._read_text(value.number))
        return value

    def _read_text(self, number: int) -> str:
        """Read an object as text; empty where there is none, or where too much was read already."""
        if not 0 < number < self._object_count:
            return ""
        if self._char_count > self._limits.megabytes * 1_000_000:
            self._add_reason("The file's links, names and bookmarks are too long to be read in full.")
            return ""
        try:
            text: str = self._document.xref_object(number, compressed=True)
        except _DAMAGE:
            self._add_reason("Some targets of links or named destinations are damaged.")
            return ""
        self._char_count += len(text)
        return text if len(text) <= MOST_CHARS else ""

    def _add_reason(self, reason: str) -> None:
        if len(self._reasons) < self._limits.reasons:
            self._reasons.append(reason)


def _number_at(values: list[Value], value_ix: int | None) -> float | None:
    value = values[value_ix] if value_ix is not None and value_ix < len(values) else None
    return _drop_far(float(value)) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _drop_far(value: float) -> float | None:
    return value if abs(value) <= _MOST_COORDINATE else None
