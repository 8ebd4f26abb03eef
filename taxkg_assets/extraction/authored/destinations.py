"""Named destinations: where each is, the publisher's own number for it, and what the file calls it.

The publisher names its places `<language>_<edition>_publink<number>`. The number stays the same from one edition to the
next, and the whole name is the fragment of the official web page.
"""

from __future__ import annotations

from dataclasses import dataclass

from taxkg_assets.extraction.pdf.navigation import Bookmark, LinkArea, Navigation, Place
from taxkg_assets.rules.models.navigation import load_navigation


# Not frozen for the same reason as spans; never changed all the same.
@dataclass(slots=True)
class NamedPlace:
    """A named destination of a document; `publisher_id` is empty if the name is not one of the publisher's ids."""

    name: str
    place: Place
    publisher_id: str
    titles: tuple[str, ...]


def find_named_places(navigation: Navigation) -> dict[str, NamedPlace]:
    """Collect the named destinations of a document with the titles that links and bookmarks give them.

    Args:
        navigation: Destinations, links and bookmarks of the file.

    Returns:
        Destinations by name.
    """
    titles: dict[str, list[str]] = {}
    max_title_chars = load_navigation().limits.title_chars
    pointers: list[Bookmark | LinkArea] = [*navigation.bookmarks, *navigation.areas]
    for pointer in pointers:
        if pointer.name and pointer.title and len(pointer.title) <= max_title_chars:
            titles.setdefault(pointer.name, []).append(pointer.title)
    return {
        destination.name: NamedPlace(
            destination.name,
            destination.place,
            read_publisher_id(destination.name),
            tuple(dict.fromkeys(titles.get(destination.name, ()))),
        )
        for destination in navigation.destinations
    }


def read_publisher_id(name: str) -> str:
    """Extract from a destination's name the part that stays the same across editions; empty if there is none.

    Args:
        name: Name of a destination: `en_US_2024_publink1000123`.
    """
    for rule in load_navigation().publisher_ids:
        match = rule.pattern.match(name)
        if match is not None:
            return match["id"]
    return ""
