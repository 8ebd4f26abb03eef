"""Resolution of references: to a box, line or heading of the same document, then to another document, then outside.

A thing outside the corpus gets a node of its own, `ext:<kind>:<target>`; when the document arrives, the same reference
resolves to it instead.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from taxkg_assets.graph.addresses import find_named_target
from taxkg_assets.graph.catalogue import Catalogue, Entry
from taxkg_assets.graph.laws import Laws
from taxkg_assets.records import AnchorRecord, BoxRecord, ReferenceRecord
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.printed_years import load_printed_years

_IN_BOOKLET = re.compile(r"^(?P<what>.+?) \((?P<where>(?:General )?Instructions for .+|Pub\. .+)\)$")
_ON_FORM = re.compile(r"^(?P<what>line_\w+) \((?:Form )?(?P<form>.+)\)$")
_FORM_CODE = re.compile(r"Schedule \S+ \(Form [\w-]+\)|[A-Z]{1,3}-\d+[A-Za-z]*(?:-[A-Z]+)?|\d{3,4}[A-Z]?(?:-[A-Z]+)?")
_TABLE_NAME = re.compile(r"^(?:table|worksheet|figure|exhibit|appendix) [\w-]*\d[\w-]*", re.IGNORECASE)
_NUMBERED = re.compile(r"^(?:table|worksheet|figure|exhibit|appendix|chapter|section|part) \w", re.IGNORECASE)
_OPENING = re.compile(
    r"^(?:(?:table|worksheet|figure|exhibit|appendix|chapter|part) )?(?:\d+[a-z]?|[ivx]+|[a-z])(?: \d+)? "
)
_INEXACT = 0.8
_GUESS = 0.7
# No form numbers its lines further: a range of longer numbers is none.
_MOST_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Target:
    """The node to which a reference resolves, with its confidence."""

    node_id: str
    confidence: float
    is_external: bool = False


def face_node_id(document_id: str, box_key: str) -> str:
    """Return the node id of a box on a form.

    Args:
        document_id: Document of the face.
        box_key: Key of the box.
    """
    return f"{document_id}#face-{box_key}"


_YEAR = re.compile(r"\d{4}")


def find_printed_year(reference: ReferenceRecord) -> str:
    """Find the year printed next to a reference's target: `your 2024 Schedule B`.

    Args:
        reference: Row of `references`.

    Returns:
        Four digits; empty where no year is printed.
    """
    start = reference["start"]
    return _find_year(reference["evidence"], reference["mention_start"] - start, reference["mention_end"] - start)


@lru_cache(maxsize=100_000)
def _find_year(evidence: str, start: int, end: int) -> str:
    """Find the year next to a mention in its evidence; cached, as editions of a document print the same."""
    if _YEAR.search(evidence) is None:
        return ""
    before, after = evidence[:start], evidence[end:]
    years = load_printed_years()
    for rules, text in ((years.before, before), (years.after, after)):
        for rule in rules:
            match = rule.pattern.search(text)
            if match is not None:
                return match["year"]
    return ""


@lru_cache(maxsize=100_000)
def fold_heading(text: str) -> str:
    """Normalize a heading or a mention of it for comparison.

    Args:
        text: Heading or mention.

    Returns:
        Lower-case words separated by blanks, cached, without a final "(continued)".
    """
    text = re.sub(r"\((?:continued)\)\s*$", "", text.strip(), flags=re.IGNORECASE)
    return " ".join(re.findall(r"[a-z0-9$%§]+", text.casefold()))


def expand_key(key: str) -> list[str]:
    """List the single boxes or lines of a key: `boxes_14-16` has three.

    Args:
        key: Key of a box, line, section or group.

    Returns:
        Single keys; only the ends of a range that cannot be enumerated.
    """
    parts = re.fullmatch(r"(box|line)(?:es|s)?_(\w+)-(\w+)", key)
    if parts is None:
        return [key]
    kind, low, high = parts.groups()
    is_numbered = low.isdecimal() and high.isdecimal() and max(len(low), len(high)) <= _MOST_DIGITS
    if is_numbered and int(low) < int(high):
        return [f"{kind}_{number}" for number in range(int(low), int(high) + 1)]
    if low[:-1] == high[:-1] and low[-1] < high[-1]:
        return [f"{kind}_{low[:-1]}{chr(code)}" for code in range(ord(low[-1]), ord(high[-1]) + 1)]
    return [f"{kind}_{low}", f"{kind}_{high}"]


class Resolver:
    """Resolves references to boxes, lines, headings, tables and documents of the corpus.

    Args:
        catalogue: Documents of the corpus.
        anchors: Rows of `anchors` in reading order.
        registry: Rows of `registry`.
        tables: For each table its document_id, table_id and title.
        paragraphs: Ids of paragraphs that links may lead to.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        anchors: Iterable[AnchorRecord],
        registry: Iterable[BoxRecord],
        tables: Iterable[tuple[str, str, str]],
        paragraphs: Iterable[str] = (),
    ) -> None:
        """Index anchors, boxes and tables by their names."""
        self.catalogue = catalogue
        self._places = set(paragraphs)
        self.anchors: dict[str, AnchorRecord] = {}
        self.faces = {(row["document_id"], row["box_key"]) for row in registry}
        self._keys: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._headings: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._numbered: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._statutes: dict[str, list[str]] = defaultdict(list)
        self._laws = Laws(catalogue.entries.values())
        self._tables: dict[tuple[str, str], str] = {}
        self._worksheets: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._order: dict[str, int] = {}
        for ix, row in enumerate(anchors):
            self._add_anchor(row, ix)
        for document_id, table_id, title in tables:
            self._places.add(table_id)
            self._add_worksheet(document_id, fold_heading(title), table_id)
            name = _TABLE_NAME.match(title)
            if name:
                self._tables.setdefault((document_id, fold_heading(name.group(0))), table_id)

    def _add_anchor(self, row: AnchorRecord, ix: int) -> None:
        anchor_id, document_id = row["anchor_id"], row["document_id"]
        self.anchors[anchor_id] = row
        self._order[anchor_id] = ix
        heading = fold_heading(row["heading"])
        self._headings[document_id, heading].append(anchor_id)
        self._add_worksheet(document_id, heading, anchor_id)
        opening = _OPENING.match(f"{heading} ")
        if opening is not None:
            self._numbered[document_id, opening.group(0)].append(anchor_id)
            if opening.group(0).startswith("chapter "):
                self._laws.add_part(document_id, opening.group(0).strip(), anchor_id)
        for key in expand_key(row["key"]) if row["key"] else ():
            self._keys[document_id, key].append(anchor_id)
            if row["kind"] == "statute_section":
                self._laws.add_part(document_id, key.removeprefix("sec_"), anchor_id)
                if not self._laws.is_cited_by_name(document_id):
                    self._statutes[key].append(anchor_id)

    def _add_worksheet(self, document_id: str, heading: str, node_id: str) -> None:
        if "worksheet" in heading:
            self._worksheets[document_id].append((heading, node_id))

    def find_anchors(self, document_id: str, key: str) -> list[str]:
        """Find the anchors of a document with a key, including groups that contain it.

        Args:
            document_id: Document.
            key: Key of a box, line or section.

        Returns:
            Ids of anchors in reading order.
        """
        return self._keys.get((document_id, key), [])

    def find_forms(self, anchor_id: str | None, document_id: str) -> tuple[str, ...]:
        """Find the forms that the text under an anchor is about.

        Args:
            anchor_id: Anchor; None for text without one.
            document_id: Document of the text.

        Returns:
            Forms of the nearest anchor that names any, else of the document.
        """
        while anchor_id is not None and anchor_id in self.anchors:
            row = self.anchors[anchor_id]
            if row["form"]:
                return split_forms(row["form"])
            anchor_id = row["parent_anchor_id"]
        return self.catalogue.entries[document_id].forms

    def resolve(self, reference: ReferenceRecord) -> Target | None:
        """Resolve a reference to a node.

        Args:
            reference: Row of `references`.

        Returns:
            The node, external if the corpus lacks it; None if the reference is to this document and nothing matches.
        """
        kind, target = reference["kind"], find_named_target(reference)
        linked = self._resolve_link(reference)
        if linked is not None:
            return linked
        if kind == "box":
            return self._resolve_box(reference)
        if kind == "line":
            return self._resolve_line(reference)
        if kind == "section":
            return self._resolve_section(reference)
        resolved: Target | None = None
        if kind == "form":
            resolved = self._resolve_document(target.removeprefix("Form "), "form", reference)
        elif kind == "publication":
            resolved = self._resolve_publication(target, reference)
        elif kind == "statute_section":
            resolved = self._resolve_statute(target, reference)
        elif kind in ("irc_section", "regulation", "notice_or_ruling"):
            law = self._laws.find(reference, citing=self._entry(reference))
            resolved = Target(law[0], 1.0 if law[1] else _INEXACT) if law else None
        year = find_printed_year(reference) if kind in ("form", "publication") else ""
        return resolved or _outside(kind, f"{target} ({year})" if year else target)

    def _resolve_link(self, reference: ReferenceRecord) -> Target | None:
        """Find the node that the publisher's own link leads to: a table, a heading, or a paragraph without one."""
        anchor_id, element_id = reference.get("target_anchor_id"), reference.get("target_element_id")
        heading = self.anchors.get(anchor_id or "")
        is_heading = heading is not None and heading["element_id"] == element_id
        for node_id in (reference.get("target_table_id"), None if is_heading else element_id):
            if node_id in self._places:
                return Target(str(node_id), 1.0)
        return Target(heading["anchor_id"], 1.0) if heading is not None else None

    def _entry(self, reference: ReferenceRecord) -> Entry:
        return self.catalogue.entries[reference["document_id"]]

    def _find_nearest(self, form: str, doc_type: str, reference: ReferenceRecord) -> tuple[Entry, bool] | None:
        """Find the document that is meant: of the printed year, if any, else the nearest to the text."""
        entry = self._entry(reference)
        year = find_printed_year(reference)
        if not year:
            return self.catalogue.find_nearest(form, doc_type, citing=entry)
        dated = replace(entry, document_id="", doc_type="", forms=(), revision=year)
        nearest = self.catalogue.find_nearest(form, doc_type, citing=dated)
        return nearest if nearest is not None and nearest[1] else None

    def _choose(self, candidates: list[str], reference: ReferenceRecord, *, forms: tuple[str, ...]) -> str | None:
        """Choose among anchors of one name: the same form and audience first, then the nearest in reading order."""
        anchor = self.anchors.get(reference["anchor_id"] or "")
        position = self._order.get(reference["anchor_id"] or "", 0)

        def rank(anchor_id: str) -> tuple[bool, bool, bool, int, str]:
            row = self.anchors[anchor_id]
            is_other_form = bool(row["form"]) and bool(forms) and not set(split_forms(row["form"])) & set(forms)
            is_other_reader = anchor is not None and row["perspective"] != anchor["perspective"]
            distance = abs(self._order[anchor_id] - position)
            return is_other_form, is_other_reader, row["kind"] == "box_group", distance, anchor_id

        best = min(candidates, key=rank, default=None)
        return None if best is None or rank(best)[0] else best

    def _resolve_box(self, reference: ReferenceRecord) -> Target | None:
        key, entry = reference["target"], self._entry(reference)
        forms = self.find_forms(reference["anchor_id"], entry.document_id)
        named_forms = (reference["target_form"],) if reference["target_form"] else forms
        if not reference["target_form"] or set(named_forms) & set(entry.forms):
            anchor_id = self._choose(self.find_anchors(entry.document_id, key), reference, forms=named_forms)
            if anchor_id is not None:
                return Target(anchor_id, 1.0)
        for form in named_forms:
            box = self._find_box(form, key, near=entry, reference=reference)
            if box is not None:
                return box
        is_outside = reference["target_form"] and not set(named_forms) & set(entry.forms)
        return _outside("box", f"{_form_name(named_forms[0])} {key}") if is_outside else None

    def _find_box(self, form: str, key: str, *, near: Entry, reference: ReferenceRecord) -> Target | None:
        """Find a box of a form: on its face, else in its instructions; `12` covers `12a` to `12d`."""
        for doc_type in ("form", "filer_instructions", "recipient_instructions"):
            is_face = doc_type == "form"
            face = (
                self.catalogue.find_face(form, booklet=near)
                if is_face and not find_printed_year(reference)
                else self._find_nearest(form, doc_type, reference)
            )
            if face is None:
                continue
            entry, is_sure = face
            confidence = 1.0 if is_sure else _INEXACT
            for name in (key, f"{key}a"):
                if (entry.document_id, name) in self.faces:
                    return Target(face_node_id(entry.document_id, name), confidence if name == key else _GUESS)
            anchor_id = self._choose(self.find_anchors(entry.document_id, key), reference, forms=(form,))
            if anchor_id is not None:
                return Target(anchor_id, confidence)
        return None

    def _resolve_line(self, reference: ReferenceRecord) -> Target | None:
        entry = self._entry(reference)
        form_match = _ON_FORM.match(reference["target"])
        if form_match is None:
            anchor_id = self._choose(self.find_anchors(entry.document_id, reference["target"]), reference, forms=())
            return Target(anchor_id, 1.0) if anchor_id else None
        if "worksheet" in form_match["form"].casefold():
            return self._resolve_worksheet_line(form_match["what"], form_match["form"], entry)
        for doc_type in ("form", "filer_instructions"):
            nearest = self._find_nearest(form_match["form"], doc_type, reference)
            anchors = self.find_anchors(nearest[0].document_id, form_match["what"]) if nearest else []
            if nearest and anchors:
                return Target(anchors[0], 1.0 if nearest[1] else _INEXACT)
        return _outside("line", reference["target"])

    def _resolve_worksheet_line(self, key: str, worksheet: str, entry: Entry) -> Target | None:
        """Find a line that a worksheet numbers: under its heading, else the worksheet itself, else outside."""
        name = fold_heading(worksheet)
        if name == "worksheet":
            return None
        nodes_of_worksheet = [
            node for heading, node in self._worksheets[entry.document_id] if f"{heading} ".startswith(f"{name} ")
        ]
        for anchor_id in self.find_anchors(entry.document_id, key):
            above = self.anchors[anchor_id]["parent_anchor_id"]
            while above is not None and above not in nodes_of_worksheet:
                above = self.anchors[above]["parent_anchor_id"]
            if above is not None:
                return Target(anchor_id, 1.0)
        return (
            Target(nodes_of_worksheet[0], _INEXACT) if nodes_of_worksheet else _outside("line", f"{key} ({worksheet})")
        )

    def _resolve_section(self, reference: ReferenceRecord) -> Target | None:
        target, entry = reference["target"], self._entry(reference)
        booklet = _IN_BOOKLET.match(target)
        if booklet is not None:
            publication = self._resolve_publication(booklet["where"], reference)
            if publication is None:
                return _outside("section", target)
            anchors = self._headings.get((publication.node_id, fold_heading(booklet["what"])), [])
            return Target(anchors[0], publication.confidence) if anchors else publication
        forms = self.find_forms(reference["anchor_id"], entry.document_id)
        name = fold_heading(target)
        candidates = self._headings.get((entry.document_id, name), [])
        if not candidates and _NUMBERED.match(target):
            candidates = self._find_numbered(entry.document_id, name)
        best = self._choose(candidates, reference, forms=forms) or next(iter(candidates), None)
        if best is not None:
            return Target(best, 1.0)
        table_id = self._tables.get((entry.document_id, name))
        if table_id is not None:
            return Target(table_id, 1.0)
        return _outside("section", target) if target.endswith(")") else None

    def _find_numbered(self, document_id: str, name: str) -> list[str]:
        """Find headings that begin with a number that text calls by its kind: `Worksheet 2. …`, `Chapter 4 …`."""
        openings = [f"{name} ", *([f"{name.split()[-1]} "] if name.startswith(("chapter ", "section ")) else [])]
        return self._numbered.get((document_id, openings[0]), []) or [
            anchor_id for opening in openings[1:] for anchor_id in self._numbered.get((document_id, opening), [])
        ]

    def _resolve_document(self, form: str, doc_type: str, reference: ReferenceRecord) -> Target | None:
        names = [form]
        if form.startswith("Schedule") and "(" not in form:
            names.append(f"{form} (Form 1040)")
        for name in names:
            nearest = self._find_nearest(name, doc_type, reference)
            if nearest is not None:
                return Target(nearest[0].document_id, 1.0 if nearest[1] else _INEXACT)
        return None

    def _resolve_publication(self, target: str, reference: ReferenceRecord) -> Target | None:
        if target.startswith("Pub."):
            return self._resolve_document(target, "publication", reference)
        for code in _FORM_CODE.findall(target.split("nstructions for ", 1)[-1]):
            instructions = self._resolve_document(code, "filer_instructions", reference)
            if instructions is not None:
                return instructions
        return None

    def _resolve_statute(self, target: str, reference: ReferenceRecord) -> Target | None:
        anchors = self.find_anchors(reference["document_id"], target)
        candidates = anchors or self._statutes.get(target, [])
        return Target(candidates[0], 1.0 if anchors else _INEXACT) if candidates else None


def _outside(kind: str, target: str) -> Target:
    """Return the external node of a thing outside the corpus."""
    return Target(f"ext:{kind}:{target}", 1.0, is_external=True)


def _form_name(form: str) -> str:
    return form if form.startswith("Schedule") else f"Form {form}"
