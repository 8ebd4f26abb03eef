"""Rule family `navigation`: limits on links, names and bookmarks of a PDF, and how a link finds its target."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Limits(Section):
    """Most objects of a document that are read.

    Attributes:
        links_on_page: Links of one page.
        links: Links of the document.
        names: Named places.
        nodes: Nodes of the tree of names.
        bookmarks: Bookmarks.
        levels: Levels of bookmarks.
        megabytes: Megabytes of all these objects together.
        name_chars: Characters of a name.
        title_chars: Characters of a title.
        url_chars: Characters of an address.
        reasons: Reasons for left-out objects that are reported.
    """

    links_on_page: int
    links: int
    names: int
    nodes: int
    bookmarks: int
    levels: int
    megabytes: int
    name_chars: int
    title_chars: int
    url_chars: int
    reasons: int

    def chars_of(self, kind: str) -> int:
        """Return the maximum length of a `name`, `title` or `url`.

        Args:
            kind: `name`, `title` or `url`.
        """
        return {"name": self.name_chars, "title": self.title_chars, "url": self.url_chars}[kind]


class Targets(Section):
    """How far the heading that a point names may be from the point.

    Attributes:
        above_sizes: Maximum distance of the top of its box above the point, in type sizes.
        below_sizes: Maximum distance below the point, in type sizes.
        text_above_sizes: Least and most distance of running text above the point, in type sizes.
        near_pt: Points below the point within which a heading with the same words is taken.
        adjacent_pt: Points above or below the point within which a heading with a link's words is taken before another.
        chapter_pt: Least type size of the title of a chapter, in points.
        title_letters: Fewest letters of a title.
        hint_letters: Letters of a word that are compared.
    """

    above_sizes: float
    below_sizes: float
    text_above_sizes: tuple[float, float]
    near_pt: float
    adjacent_pt: float
    chapter_pt: float
    title_letters: int
    hint_letters: int


class Index(Section):
    """Which pages are those of an index.

    Attributes:
        least_links: Fewest links that consist of a number.
        least_share: Least share, 0 to 1, of such links among the links of the page.
        indent_pt: Points by which the lines of one level begin less far apart.
    """

    least_links: int
    least_share: float
    indent_pt: float


class Covering(Section):
    """When a link covers a mention.

    Attributes:
        mention_share: Least share, 0 to 1, of the letters of the mention under the link.
        lead_chars: Maximum number of characters of the link before a key that its title names.
        link_share: Least share, 0 to 1, of the letters of the link in the mention.
    """

    mention_share: float
    lead_chars: int
    link_share: float


class Navigation(Family):
    """Content of `rules/navigation.yaml`, without its patterns."""

    limits: Limits
    targets: Targets
    index: Index
    covering: Covering
    nameless: RuleList[Rule]
    chapters: RuleList[Rule]
    caption_numbers: RuleList[Rule]
    publisher_ids: RuleList[Rule]
    page_numbers: RuleList[Rule]
    leaders: RuleList[Rule]
    cross_entries: RuleList[Rule]


@cache
def load_navigation() -> Navigation:
    """Return the rules that decide how many links of a PDF are read, and which heading each points to."""
    return load_model("navigation", Navigation)
