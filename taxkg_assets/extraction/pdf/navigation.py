"""What a PDF holds to move around in it, as plain data: link areas, named destinations and bookmarks.

Nothing is decided here: which rectangles are one link, which names are the publisher's and what a target is called is
the authored layer's matter.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A position on a page in displayed coordinates; `x` is None if the file does not specify it.

    `shown_y` is the height on the page as displayed, even if the page was rotated upright for reading.
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
    """One entry of the document's outline; its target is a name, a position or nothing."""

    level: int
    title: str
    name: str = ""
    place: Place | None = None


# Not frozen for the same reason as spans; never changed all the same.
@dataclass(slots=True)
class LinkArea:
    """A link rectangle on a page with its target: a name, a position or an address.

    `title` is the publisher's description: usually the heading at the target, else the words of the link.
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
    """The links, names and bookmarks of a document, with what was rejected."""

    areas: tuple[LinkArea, ...] = ()
    destinations: tuple[Destination, ...] = ()
    bookmarks: tuple[Bookmark, ...] = ()
    reasons: tuple[str, ...] = ()
