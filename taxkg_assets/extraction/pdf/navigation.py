"""What a PDF holds to move around in it, as plain data: link areas, named destinations and bookmarks.

Nothing is decided here: which rectangles are one link, which names are the publisher's and what a target is called is
the authored layer's matter.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A point of a page, as the page is shown; `x` is None where the file leaves it open.

    `shown_y` is the height on the page as it is shown, also where the page was turned upright to be read.
    """

    page: int
    x: float | None
    y: float
    shown_y: float


# Not frozen for the same reason as spans; never changed all the same.
@dataclass(slots=True)
class Destination:
    """A point of the document that has a name."""

    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Bookmark:
    """One entry of the document's outline; its target is a name or a place, or nothing."""

    level: int
    title: str
    name: str = ""
    place: Place | None = None


# Not frozen for the same reason as spans; never changed all the same.
@dataclass(slots=True)
class LinkArea:
    """One rectangle of a page that leads somewhere: to a name, to a place or to an address.

    `title` is what the publisher states about it: most often the heading at the target, else the words of the link.
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
    """All that was read of a document's links, names and bookmarks, and what could not be trusted."""

    areas: tuple[LinkArea, ...] = ()
    destinations: tuple[Destination, ...] = ()
    bookmarks: tuple[Bookmark, ...] = ()
    reasons: tuple[str, ...] = ()
