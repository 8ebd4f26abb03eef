"""Prose headings about a box: a heading with a box's label or alias defines the content of the box."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from taxkg_assets.graph.resolution import Resolver, fold_heading
from taxkg_assets.records import AnchorRecord, BoxRecord
from taxkg_assets.rules.models.aliases import load_aliases

_OWN_FORM = 0.9
_ONLY_FORM = 0.7


@dataclass(frozen=True, slots=True)
class Definition:
    """A heading with the name of a box, the box, and the confidence of the match."""

    anchor_id: str
    document_id: str
    box_key: str
    canonical_id: str
    confidence: float


class Definitions:
    """The boxes of all forms by name, to find headings that name a box without its key.

    Args:
        resolver: Anchors and documents of the corpus.
        registry: Rows of `registry`.
        texts: For each content element its `anchor_id` and text.
    """

    def __init__(
        self, resolver: Resolver, *, registry: Iterable[BoxRecord], texts: Iterable[tuple[str | None, str]]
    ) -> None:
        """Index the names of boxes by face, and over the newest faces."""
        self._resolver = resolver
        self._texts: dict[str | None, list[str]] = defaultdict(list)
        for anchor_id, text in texts:
            self._texts[anchor_id].append(text)
        rows = list(registry)
        newest = {entry.document_id for entry in resolver.catalogue.find_newest_faces()}
        self._on_face: dict[tuple[str, str], list[BoxRecord]] = defaultdict(list)
        self._anywhere: dict[str, list[BoxRecord]] = defaultdict(list)
        for row in rows:
            for name in sorted({fold_heading(name) for name in (row["label"], *row["aliases"])} - {""}):
                self._on_face[row["document_id"], name].append(row)
                if row["document_id"] in newest:
                    self._anywhere[name].append(row)

    def find_all(self) -> Iterator[Definition]:
        """Find every heading that names exactly one box, in reading order.

        Returns:
            Definitions, one per heading.
        """
        for anchor in self._resolver.anchors.values():
            definition = self.find(anchor)
            if definition is not None:
                yield definition

    def find(self, anchor: AnchorRecord) -> Definition | None:
        """Find the box that a heading names.

        It is a box of the form that the text explains. A heading in a publication names a box if no other form has one
        of that name and the text under the heading names the form.

        Args:
            anchor: Row of `anchors`.

        Returns:
            The definition; None where the heading names no box or more than one.
        """
        limits = load_aliases().thresholds
        name = fold_heading(anchor["heading"])
        entry = self._resolver.catalogue.entries[anchor["document_id"]]
        if anchor["key"] is not None or not name or entry.perspective in ("statute", "other"):
            return None
        forms = self._resolver.find_forms(anchor["anchor_id"], anchor["document_id"])
        faces = [
            nearest_face[0]
            for form in forms
            if (nearest_face := self._resolver.catalogue.find_face(form, booklet=entry))
        ]
        words = len(name.split())
        if faces:
            rows = [row for face in faces for row in self._on_face.get((face.document_id, name), ())]
            is_specific = words > 1 or len(name) >= limits.min_single_word_alias_letters
            confidence = _OWN_FORM
        else:
            rows = self._anywhere.get(name, [])
            is_specific = words > 1
            confidence = _ONLY_FORM
        if len(rows) != 1 or not is_specific:
            return None
        (row,) = rows
        if not faces and not any(row["form"] in text for text in self._texts[anchor["anchor_id"]]):
            return None
        return Definition(
            anchor["anchor_id"],
            row["document_id"],
            row["box_key"],
            row["canonical_id"],
            min(confidence, row["confidence"]),
        )
