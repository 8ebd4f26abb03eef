"""The document that a citation of law refers to: a code, the regulations, a single notice or ruling."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from taxkg_assets.graph.catalogue import Entry
from taxkg_assets.records import ReferenceRecord
from taxkg_assets.rules.models.laws import load_laws

_LAST_DIVISION = re.compile(r"\([A-Za-z0-9]+\)$")


class Laws:
    """The laws among the documents, with their sections, by the names used in citations.

    Titles of statutes, notices and rulings decide which law each is.

    Args:
        entries: Documents of the corpus.

    Source:
        rules/laws.yaml.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        """Classify the documents by their titles."""
        self._citing: dict[str, str] = {}
        self._parts: dict[tuple[str, str], str] = {}
        self._of_kind: dict[str, list[Entry]] = defaultdict(list)
        self._single: dict[str, list[Entry]] = defaultdict(list)
        for entry in entries:
            self._add(entry)

    def _add(self, entry: Entry) -> None:
        if entry.doc_type == "statute":
            for code in load_laws().codes:
                if code.pattern.search(entry.title):
                    self._citing[entry.document_id] = code.citation
                    self._of_kind[code.kind].append(entry)
                    return
        if entry.doc_type in ("statute", "other"):
            for rule in load_laws().single:
                match = rule.pattern.search(entry.title)
                if match:
                    name = rule.citation.format(**match.groupdict())
                    self._single[_fold(name)].append(entry)
                    return

    def is_cited_by_name(self, document_id: str) -> bool:
        """Return whether a document is a law whose sections are always cited with its name.

        Args:
            document_id: Document.
        """
        return document_id in self._citing

    def add_part(self, document_id: str, name: str, anchor_id: str) -> None:
        """Register a part of a law under its name in citations: a section by its number, or `chapter 4`.

        Args:
            document_id: Document of the law.
            name: Name of the part; the first part of a name is used.
            anchor_id: Anchor of the part.
        """
        self._parts.setdefault((document_id, name), anchor_id)

    def find(self, reference: ReferenceRecord, *, citing: Entry) -> tuple[str, bool] | None:
        """Find the section, chapter or document that a citation names, in the revision nearest to the citing document.

        Args:
            reference: Row of `references`.
            citing: Citing document.

        Returns:
            Id of the anchor or document, and whether it is exactly what the citation names, not a larger part that
            contains it; None if the corpus lacks the law.
        """
        kind, target = reference["kind"], reference["target"]
        for entry in _order(self._of_kind.get(kind, ()), citing=citing):
            name = target.removeprefix(self._citing[entry.document_id].format(number=""))
            for part_name in _widen(name):
                if (entry.document_id, part_name) in self._parts:
                    return self._parts[entry.document_id, part_name], part_name == name
        single = _order(self._single.get(_fold(target), ()), citing=citing)
        return (single[0].document_id, True) if single else None


def _widen(name: str) -> Iterator[str]:
    """Yield a part of a law and the parts that contain it: 1(h)(11), 1(h), 1."""
    yield name
    while (wider := _LAST_DIVISION.sub("", name)) != name:
        name = wider
        yield name


def _fold(name: str) -> str:
    return " ".join(re.findall(r"[a-z0-9-]+", name.casefold()))


def _order(entries: Iterable[Entry], *, citing: Entry) -> list[Entry]:
    """Put the own document first, then finals, then the nearest revision."""

    def rank(entry: Entry) -> tuple[bool, bool, int, int, str]:
        apart = abs(entry.months - citing.months)
        return entry.document_id != citing.document_id, entry.is_draft, apart, -entry.months, entry.document_id

    return sorted(entries, key=rank)
