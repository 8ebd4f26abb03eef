"""The outline of a document: which heading is under which, decided by type size and weight, and by words in codes.

Rows of the table `anchors` are made of it in anchors.py; owners of paragraphs in sections.py.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taxkg_assets.extraction.keys import Key, division_word, find_key, find_numbered_line, find_statute_key
from taxkg_assets.extraction.layout.paragraphs import first_shown
from taxkg_assets.extraction.structure.blocks import CONTENT_ROLES, HEADER_ROLES, Block
from taxkg_assets.extraction.structure.cut_paragraphs import OpenHeadings
from taxkg_assets.extraction.structure.identity import Identity
from taxkg_assets.rules.forms import find_perspective
from taxkg_assets.rules.models.roles import load_roles
from taxkg_assets.rules.models.section_grammar import load_section_grammar

_SLUG = re.compile(r"[^a-z0-9]+")
_SLUG_CHARS = 40
_FORM = re.compile(r"[A-Z]{0,2}-?\d[\w-]*")
_DIVISIONS = ("title", "subtitle", "division", "article", "chapter", "subchapter", "part", "subpart")
# Ranks of the outline: a smaller tuple is above a larger one.
_RUN_IN, _RUN_IN_ITALIC, _EXAMPLE, _SECTION_RANK = 1, 2, 3, 4
# Of numbered lines, those with a letter stand under those with a number, and columns hold neither.
_LINE_DEPTH, _LETTER_DEPTH, _COLUMN_DEPTH = 0.2, 0.4, 0.6
# A heading between the lines of a part is under the part, whatever its type.
_INNER_RANK = (0, -1.0)
# A part whose number is above its title holds the chapters of a publication, though its type be smaller.
_PART_RANK = (0, -1000.0)
# A heading under a drawn rule opens a chapter of its own from this type size on.
_CHAPTER_PT = 13.0
Rank = tuple[int, float]


@dataclass(slots=True)
class Heading:
    """One heading with its position in the outline.

    Attributes:
        anchor_id: Id of the heading.
        block: Block that prints it.
        text: Words of the heading; of a run-in heading only the bold part.
        kind: `box`, `line`, `part`, `section`, `subsection`, `runin`, …
        key: Key of the box, line or section; None for none.
        parent: Index of the parent in the list of headings; −1 at the top.
        form: Form that the heading is about.
        perspective: Readers that the text under it addresses: `filer`, `recipient`, `face`, …
        repeat_ix: Number of equal headings before it on the page.
        confidence: Confidence of kind and key before calibration.
        rank: Rank in the outline; a heading is under those of smaller rank.
    """

    anchor_id: str
    block: Block
    text: str
    kind: str
    key: str | None
    parent: int
    form: str
    perspective: str
    repeat_ix: int
    confidence: float
    rank: Rank


def find_continued(text: str) -> str:
    """Return the words before "continued" at the end of a heading; empty for a heading without it.

    Args:
        text: The heading.
    """
    for rule in load_section_grammar().continued:
        match = rule.pattern.search(text)
        if match is not None:
            return text[: match.start()].rstrip()
    return ""


def find_outline(blocks: Sequence[Block], *, identity: Identity) -> list[Heading]:
    """Build the outline: the headings among blocks, each with its parent, kind and key.

    Args:
        blocks: Blocks in reading order.
        identity: Form and type of the document.

    Returns:
        Headings in reading order.
    """
    outline = _Outline(identity, levels=_find_levels(blocks))
    open_headings = OpenHeadings()
    previous_block: Block | None = None
    for block in blocks:
        if block.is_pictured != (previous_block is not None and previous_block.is_pictured):
            outline.turn_picture()
        if block.is_heading:
            follows_heading = (
                previous_block is not None and previous_block.role in HEADER_ROLES and not previous_block.is_run_in
            )
            outline.add(block, follows_heading=follows_heading)
        elif block.is_after_list:
            outline.end_list()
        if block.role in CONTENT_ROLES:
            innermost = outline.headings[outline.stack[-1]].block if outline.stack else None
            outline.reopen(open_headings.read(block, outline.stack, innermost=innermost))
        previous_block = block
    return outline.headings


class _Outline:
    """Takes headings in reading order; a stack holds those that are open."""

    def __init__(self, identity: Identity, *, levels: Mapping[tuple[float, bool], int]) -> None:
        self.identity = identity
        self._levels = levels
        self.headings: list[Heading] = []
        self.stack: list[int] = []
        self._repeat_counts: Counter[tuple[str, str | None, int, str, int]] = Counter()
        self._headings_on_page: Counter[int] = Counter()
        self._face_page = 0
        self._first_division = ""
        self._around_picture: list[int] | None = None

    def add(self, block: Block, *, follows_heading: bool) -> None:
        """Add a heading, or the continuation of the last one after a column break."""
        headings = self.headings
        if block.is_continued and headings:
            headings[-1].text += f" {block.text}"
            return
        level = block.level if block.level > 0 else self._levels.get(_type_of(block), 0)
        kind, key, rank = _rank_heading(block, doc_type=self.identity.doc_type, level=level)
        if block.is_code and key is None:
            rank = self._rank_article(block, rank)
        elif block.named is not None and block.named.kind == "section":
            # Labels in one margin stand side by side, in whatever type.
            margin_labels = [
                self.headings[ix]
                for ix in self.stack
                if not self.headings[ix].block.named or self.headings[ix].kind in ("part", "section", "subsection")
            ]
            rank = min(
                [
                    rank,
                    *(
                        mate.rank
                        for mate in margin_labels
                        if mate.block.named and mate.kind != "subsection" and mate.block.page == block.page
                    ),
                ]
            )
        open_headings = list(self.stack)
        parent = self._find_parent(block, rank, follows_heading=follows_heading)
        continued_title = self._find_continued_title(block)
        parent = headings[continued_title].parent if continued_title is not None else parent
        if kind == "section" and parent >= 0 and block.role != "SectionHeader":
            kind = "subsection"
        form = _find_form(block, parent, headings, identity=self.identity, is_chapter=rank[0] == 0)
        number = self._headings_on_page[block.page]
        self._headings_on_page[block.page] += 1
        text = block.heading or block.text
        repeat_key = (form, key, parent, text, block.page)
        document_id = block.element_id.rsplit(":", 2)[0]
        headings.append(
            Heading(
                anchor_id=f"{document_id}#p{block.page:04d}.{number:03d}-{key or _slug(text)}",
                block=block,
                text=text,
                kind=kind,
                key=key,
                parent=parent,
                form=form,
                perspective=_find_perspective_of_heading(block, parent, headings, identity=self.identity),
                repeat_ix=self._repeat_counts[repeat_key],
                confidence=0.98 if key else 0.9 if block.is_run_in else 0.95,
                rank=rank,
            )
        )
        self._repeat_counts[repeat_key] += 1
        if not block.heads_table:
            self.stack.append(len(headings) - 1)
        elif block.role == "SubsectionHeader" or block.level > 0:
            # The title of a table opens nothing and, unless it is set like that of a section, closes nothing.
            self.stack = open_headings

    def _find_continued_title(self, block: Block) -> int | None:
        """Find the last title of the table that continues under a title with "continued"; None for another heading."""
        title = find_continued(block.text) if block.heads_table else ""
        last_first = range(len(self.headings) - 1, -1, -1)
        return next((ix for ix in last_first if title and self.headings[ix].text == title), None)

    def turn_picture(self) -> None:
        """Enter or leave pages that are figures, keeping the surrounding headings open."""
        if self._around_picture is None:
            self._around_picture = list(self.stack)
        else:
            self.stack, self._around_picture = self._around_picture, None

    def reopen(self, headings: Sequence[int] | None) -> None:
        """Return to the headings around a paragraph that a table has cut, where it continues; None for other text."""
        if headings is not None:
            self.stack = list(headings)

    def end_list(self) -> None:
        """Return to the heading above the one that only heads a list of names."""
        if len(self.stack) > 1:
            self.stack.pop()

    def _find_parent(self, block: Block, rank: Rank, *, follows_heading: bool) -> int:
        """Close what does not hold a heading of this rank; gives the heading that is left, −1 for none."""
        if block.is_face and block.page != self._face_page:
            self.stack, self._face_page = [], block.page
        # In booklets a drawn rule opens a chapter, unless it only sets off the first heading of one.
        is_booklet = self.identity.doc_type != "publication" and block.level <= 0
        is_chapter = is_booklet and block.is_below_rule and rank[0] == 0 and rank[1] <= -_CHAPTER_PT
        if self._opens_copy(block):
            self.stack = []
        if (_is_alone(block) and not self._is_under_centered(block, rank)) or (is_chapter and not follows_heading):
            self.stack = []
        while self.stack and (self.headings[self.stack[-1]].rank >= rank or self._is_closed(self.stack[-1], block)):
            self.stack.pop()
        if self.stack and not block.is_run_in and self._is_other_half(block, self.headings[self.stack[-1]]):
            self.stack.pop()
        if not block.is_run_in and load_section_grammar().appendices.matches(block.text):
            self._close_chapter()
        return self.stack[-1] if self.stack else -1

    def _close_chapter(self) -> None:
        """Close the chapter that is open, by the number above its title: an appendix is no part of the last one."""
        firsts = [self.headings[ix].block.lines[0].text for ix in self.stack]
        chapter = next((ix for ix, text in enumerate(firsts) if load_roles().ordinals.matches(text)), len(firsts))
        del self.stack[chapter:]

    @staticmethod
    def _is_other_half(block: Block, above: Heading) -> bool:
        """Decide whether a heading opens the specific half of a booklet: it is next to the general one, in any type."""
        return load_section_grammar().second_halves.matches(block.text) and load_section_grammar().first_halves.matches(
            above.text
        )

    def _rank_article(self, block: Block, rank: Rank) -> Rank:
        """Rank an article of a code: the chapters of some codes hold articles, in others articles hold chapters."""
        word = division_word(block.text)
        if word in ("article", "chapter"):
            self._first_division = self._first_division or word
        is_article = word == "article" and self._first_division == "chapter"
        return (0, _DIVISIONS.index("subchapter") + 0.5) if is_article else rank

    def _is_closed(self, ix: int, block: Block) -> bool:
        """Decide whether a heading does not hold a new one: what follows contents or the closing notice is no part."""
        text = self.headings[ix].text
        is_notice = not block.is_run_in and load_section_grammar().standing.matches(text)
        return is_notice or load_roles().contents.matches(text)

    def _opens_copy(self, block: Block) -> bool:
        """Decide whether a heading begins the back of another copy of a form: it is under no notice before it."""
        return (
            self.identity.doc_type == "form"
            and not block.is_run_in
            and load_section_grammar().recipient_pages.matches(block.text)
            and all(self.headings[ix].block.page < block.page for ix in self.stack)
        )

    def _is_under_centered(self, block: Block, rank: Rank) -> bool:
        """Decide whether a centered heading only divides its page, below a larger one that is centered too."""
        above = [self.headings[ix] for ix in self.stack]
        return block.is_centered and any(
            heading.block.is_centered and heading.block.page == block.page and heading.rank < rank for heading in above
        )


def _find_key(text: str, doc_type: str) -> Key | None:
    """Find the key of a heading; only instructions head their texts with a number alone."""
    found = find_key(text)
    return find_numbered_line(text) if found is None and doc_type == "filer_instructions" else found


def _find_levels(blocks: Sequence[Block]) -> dict[tuple[float, bool], int]:
    """Find the level that the structure tags give most headings of one type, for pages that are read by their layout.

    Without it, a heading on such a page would hold the tagged headings of its own type that follow.
    """
    counts: dict[tuple[float, bool], Counter[int]] = defaultdict(Counter)
    for block in blocks:
        if block.is_heading and not block.is_run_in and block.level > 0:
            counts[_type_of(block)][block.level] += 1
    return {
        heading_type: min(levels, key=lambda level: (-levels[level], level)) for heading_type, levels in counts.items()
    }


def _type_of(block: Block) -> tuple[float, bool]:
    """Return size and slope of a heading's type."""
    return round(block.size, 1), block.is_italic


def _rank_heading(block: Block, *, doc_type: str, level: int) -> tuple[str, str | None, Rank]:
    """Return a heading's kind, key and rank; `level` is that of the structure tags, 0 for none."""
    if block.named is not None:
        if block.named.kind == "subsection":
            return block.named.kind, block.named.key, _INNER_RANK
        if block.named.kind in ("part", "section"):
            return block.named.kind, block.named.key, (0, -round(first_shown(block.lines[0]).size_pt, 1))
        depth = _LETTER_DEPTH if block.is_part_of_line else _LINE_DEPTH
        return block.named.kind, block.named.key, (_RUN_IN, _COLUMN_DEPTH if block.named.kind == "column" else depth)
    key = find_statute_key(block.text, is_code=block.is_code)
    if key is not None:
        return key.kind, key.key, (_SECTION_RANK, 0.0)
    division = _division_rank(block.text)
    if division is not None and block.is_code:
        return "section", None, (0, division)
    key = _find_key(block.text, doc_type)
    if block.is_run_in:
        if load_section_grammar().standing.matches(block.text):
            return "section", None, (0, -round(block.size, 1))
        # Bold italics head a part of the bold run-in before them, unless they stand at the margin as it does.
        rank: Rank = (_RUN_IN_ITALIC if block.is_italic and block.is_indented else _RUN_IN, 0.0)
        if load_section_grammar().examples.matches(block.text):
            rank = (_EXAMPLE, 0.0)
        return (key.kind, key.key, rank) if key is not None else ("runin", None, rank)
    # Of headings in one size the makers' level decides, then italics.
    rank = (0, -round(block.size, 1) + 0.01 * level + (0.005 if block.is_italic else 0.0))
    if key is not None and key.kind == "part" and load_roles().ordinals.matches(block.lines[0].text):
        rank = _PART_RANK
    return (key.kind, key.key, rank) if key is not None else ("section", None, rank)


def _is_alone(block: Block) -> bool:
    """Decide whether a heading is under no other: a page's own heading, contents, index, closing notice."""
    if block.is_run_in:
        return load_section_grammar().standing.matches(block.text)
    is_centered = block.is_centered and block.level <= 0
    return is_centered or load_roles().contents.matches(block.text) or load_roles().index.matches(block.text)


def _division_rank(text: str) -> float | None:
    word = division_word(text)
    return float(_DIVISIONS.index(word)) if word else None


def _slug(text: str) -> str:
    return _SLUG.sub("-", text.lower())[:_SLUG_CHARS].strip("-") or "heading"


def _find_form(block: Block, parent: int, headings: Sequence[Heading], *, identity: Identity, is_chapter: bool) -> str:
    """Return the form that a heading mentions: those its chapter names, else the document's."""
    if is_chapter and (" and " in identity.form or "," in identity.form):
        for rule in load_section_grammar().named_forms:
            form_names = [form for match in rule.pattern.finditer(block.text) for form in _FORM.findall(match["list"])]
            if form_names and (parent < 0 or headings[parent].form == identity.form):
                return " and ".join(dict.fromkeys(form_names))
    return headings[parent].form if parent >= 0 else identity.form


def _find_perspective_of_heading(block: Block, parent: int, headings: Sequence[Heading], *, identity: Identity) -> str:
    """Return the readers that the text under a heading addresses."""
    if identity.doc_type == "form":
        if load_section_grammar().recipient_pages.matches(block.text):
            return "recipient"
        on_top = "face" if block.is_face and not block.is_run_in else "filer"
        return headings[parent].perspective if parent >= 0 else on_top
    return find_perspective(identity.doc_type)
