"""Link areas, named destinations and bookmarks of a PDF, as plain data.

The package `authored` decides which rectangles are one link, and which names the publisher chose.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A position on a page.

    Attributes:
        page: Number of the page, from 1.
        x: Distance from the left, in points; None if the file does not state it.
        y: Distance from the top.
        shown_y: Distance from the top of the page as displayed, even if the page was rotated to be read.
    """

    page: int
    x: float | None
    y: float
    shown_y: float


# Not frozen for the same reason as spans; never changed all the same.
@dataclass(slots=True)
class Destination:
    """A named position in the document."""

    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Bookmark:
    """One entry of the document's outline.

    Attributes:
        level: Level in the outline, from 1.
        title: Title as displayed.
        name: Named destination of the entry; "" for none.
        place: Position that the entry leads to; None for none.
    """

    level: int
    title: str
    name: str = ""
    place: Place | None = None


# Not frozen for the same reason as spans; never changed all the same.
@dataclass(slots=True)
class LinkArea:
    """A link rectangle on a page with its target: a name, a position or an address.

    Attributes:
        page: Number of the page, from 1.
        x0: Left edge, in points.
        y0: Upper edge.
        x1: Right edge.
        y1: Lower edge.
        name: Named destination of the link; "" for none.
        place: Position that the link leads to; None for none.
        url: Address that the link leads to; "" for none.
        title: The publisher's description: the heading at the target, or else the words of the link.
    """

    page: int
    x0: float
    y0: float
    x1: float
    y1: float
    name: str = ""
    place: Place | None = None
    url: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Navigation:
    """The links, names and bookmarks of a document.

    Attributes:
        areas: Link rectangles.
        destinations: Named positions.
        bookmarks: Entries of the outline.
        reasons: Sentences on what was left out: "A bookmark is unreadable."
    """

    areas: tuple[LinkArea, ...] = ()
    destinations: tuple[Destination, ...] = ()
    bookmarks: tuple[Bookmark, ...] = ()
    reasons: tuple[str, ...] = ()
