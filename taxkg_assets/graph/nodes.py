"""Nodes: documents, headings, paragraphs, sentences of dense ones, tables, boxes on faces, concepts, the outside."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.graph.catalogue import Catalogue
from taxkg_assets.graph.concepts import concept_rows, placeless_row
from taxkg_assets.graph.definitions import Definitions
from taxkg_assets.graph.node_places import list_pieces, merge_pieces, number_nodes
from taxkg_assets.graph.resolution import Resolver, expand_key, face_node_id, find_printed_year
from taxkg_assets.graph.sentence_nodes import find_dense_paragraphs, find_pieces, sentence_node_id
from taxkg_assets.records import AnchorRecord, BoxRecord, DocumentRecord, ReferenceRecord, iter_records
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.schemas import (
    Anchors,
    Documents,
    Elements,
    Faces,
    Links,
    Nodes,
    References,
    Registry,
    Sections,
    Tables,
)

_PATH = " > "
_BETWEEN = "\x1f"
"""Separates the concepts of a node while they are one text."""
_WORD = re.compile(r"[a-z0-9$%]+")


# arguments: one per upstream table, as the wiring reads their names
def build_nodes(
    documents: dy.DataFrame[Documents],
    anchors: dy.DataFrame[Anchors],
    *,
    elements: dy.DataFrame[Elements],
    sections: dy.DataFrame[Sections],
    tables: dy.DataFrame[Tables],
    references: dy.DataFrame[References],
    registry: dy.DataFrame[Registry],
    faces: dy.DataFrame[Faces],
    links: dy.DataFrame[Links],
) -> dy.DataFrame[Nodes]:
    """Build the nodes of the graph: one row per document, heading, paragraph, table, box, concept and external target.

    Args:
        documents: Documents of the corpus.
        anchors: Headings of all documents.
        elements: Elements; those of a document's first page give its rectangle.
        sections: Content elements; a table's row becomes the table's node, dense paragraphs have a node per sentence.
        tables: Extracted tables, with their titles.
        references: References; what they reach outside the corpus becomes an external node.
        registry: Boxes with their identity, label and aliases.
        faces: Places of the registry's boxes.
        links: Links, among them the entries of indexes and contents.

    Returns:
        A tree per document by `parent_id`, numbered in reading order by `ordinal`; concepts and external nodes have no
        parent.

    Raises:
        KeyError: A row belongs to a document that `documents` lacks.
    """
    catalogue = Catalogue(iter_records(documents, DocumentRecord))
    anchor_rows = list(iter_records(anchors.sort("anchor_id"), AnchorRecord))
    registry_rows = list(iter_records(registry.sort("document_id", "box_key"), BoxRecord))
    titles = list(tables.select("document_id", "table_id", "title").iter_rows())
    resolver = Resolver(catalogue, anchors=anchor_rows, registry=registry_rows, tables=titles)
    definitions = Definitions(resolver, registry=registry_rows, texts=sections.select("anchor_id", "text").iter_rows())
    context = _Context(catalogue, resolver, registry_rows=registry_rows, definitions=definitions)
    rows = [
        *_document_rows(documents, elements, context=context),
        *(_anchor_row(row, context=context) for row in anchor_rows),
        *_section_rows(sections, tables, dense=find_dense_paragraphs(sections, references), context=context),
        *_face_rows(faces, context=context),
    ]
    number_nodes(rows)
    rows.extend(concept_rows(links, {row["node_id"] for row in rows}))
    rows.extend(_external_rows(references, resolver=resolver))
    schema = Nodes.create_empty().schema
    columns = {name: [row[name] for row in rows] for name in schema if name not in ("bboxes", "concepts")}
    frame = pl.DataFrame(columns, schema={name: schema[name] for name in columns})
    frame = frame.with_columns(
        _boxes_column([row["bboxes"] for row in rows]), _concepts_column([row["concepts"] for row in rows])
    ).select(list(schema))
    frame = frame.sort("node_id")
    return Nodes.validate(frame)


_SHORT_WORD_CHARS = 5
"""Most characters of a single word that is too common to name a box."""


class _Context:
    """Inherited properties of nodes: heading path, key and identity of their box; vocabulary of the registry."""

    def __init__(
        self,
        catalogue: Catalogue,
        resolver: Resolver,
        *,
        registry_rows: list[BoxRecord],
        definitions: Definitions,
    ) -> None:
        self.catalogue = catalogue
        self.resolver = resolver
        self.definitions = definitions
        self.titles: dict[str, str] = {}
        self._canonical: dict[tuple[str, str], str] = {
            (row["document_id"], row["box_key"]): row["canonical_id"] for row in registry_rows
        }
        self._labels: dict[tuple[str, str], str] = {
            (row["document_id"], row["box_key"]): row["label"] for row in registry_rows
        }
        self._paths: dict[str, str] = {}
        self._boxes: dict[str, tuple[str | None, str | None]] = {}
        self._vocabularies: dict[tuple[str, ...], dict[str, list[tuple[list[str], str]]]] = {}
        self._named: dict[tuple[str, ...], dict[str, list[str]]] = {}
        self._by_form: dict[str, list[BoxRecord]] = defaultdict(list)
        for row in registry_rows:
            self._by_form[row["form"]].append(row)

    def path_of(self, anchor_id: str | None, document_id: str) -> str:
        """Join the document's title and the headings above an anchor to a path."""
        if anchor_id is None or anchor_id not in self.resolver.anchors:
            return self.titles[document_id]
        if anchor_id not in self._paths:
            row = self.resolver.anchors[anchor_id]
            above = self.path_of(row["parent_anchor_id"], document_id)
            self._paths[anchor_id] = above + _PATH + row["heading"].strip()
        return self._paths[anchor_id]

    def box_of(self, anchor_id: str | None, document_id: str) -> tuple[str | None, str | None]:
        """Find the innermost box key above a node and the box's registry identity."""
        if anchor_id is None or anchor_id not in self.resolver.anchors:
            return None, None
        if anchor_id not in self._boxes:
            row = self.resolver.anchors[anchor_id]
            if row["key"] is None:
                key, canonical = self.box_of(row["parent_anchor_id"], document_id)
                defined = self.definitions.find(row)
                self._boxes[anchor_id] = key, defined.canonical_id if defined else canonical
            else:
                canonical = self.canonical_of(row) or self.box_of(row["parent_anchor_id"], document_id)[1]
                self._boxes[anchor_id] = row["key"], canonical
        return self._boxes[anchor_id]

    def canonical_of(self, anchor: AnchorRecord) -> str | None:
        """Find the registry identity of a box heading, on the document's own form or the nearest revision."""
        key = anchor["key"]
        if anchor["kind"] != "box" or key is None or len(expand_key(key)) != 1:
            return None
        entry = self.catalogue.entries[anchor["document_id"]]
        for form in self.resolver.find_forms(anchor["anchor_id"], anchor["document_id"]):
            face = self.catalogue.find_face(form, booklet=entry)
            canonical = self._canonical.get((face[0].document_id, key)) if face else None
            if canonical:
                return canonical
        return None

    def face_of(self, document_id: str, box_key: str) -> tuple[str | None, str]:
        """Look up registry identity and label of a box on a form."""
        return self._canonical.get((document_id, box_key)), self._labels.get((document_id, box_key), "")

    def concepts_in(self, text: str, *, forms: tuple[str, ...]) -> list[str]:
        """Find the box labels and aliases whose words occur in a text."""
        named = self._named.setdefault(forms, {})  # editions of a document print the same
        labels = named.get(text)
        if labels is None:
            labels = named[text] = self._find_concepts(text, vocabulary=self._vocabulary(forms))
        return labels

    def _find_concepts(self, text: str, *, vocabulary: Mapping[str, list[tuple[list[str], str]]]) -> list[str]:
        words = _WORD.findall(text.casefold()) if vocabulary else []
        if vocabulary.keys().isdisjoint(words):
            return []
        labels = {
            label
            for ix, word in enumerate(words)
            if word in vocabulary
            for phrase, label in vocabulary[word]
            if words[ix : ix + len(phrase)] == phrase
        }
        return sorted(labels)

    def _vocabulary(self, forms: tuple[str, ...]) -> dict[str, list[tuple[list[str], str]]]:
        """Index labels and aliases of the forms by first word; without a form, of all forms.

        Args:
            forms: Forms; those without boxes do not count.

        Returns:
            By word, the phrases that begin with it, each with the label of its box.
        """
        forms_with_boxes = tuple(form for form in forms if form in self._by_form)
        if forms_with_boxes not in self._vocabularies:
            rows = [row for form in forms_with_boxes or sorted(self._by_form) for row in self._by_form[form]]
            phrases = set()
            for row in rows:
                for name in (row["label"], *row["aliases"]):
                    phrases.add((tuple(_WORD.findall(name.casefold())), row["label"] or name))
            index: dict[str, list[tuple[list[str], str]]] = defaultdict(list)
            for phrase, label in sorted(phrases):
                is_long_word = len(phrase) == 1 and len(phrase[0]) > _SHORT_WORD_CHARS
                if len(phrase) > 1 or is_long_word:
                    index[phrase[0]].append((list(phrase), label))
            self._vocabularies[forms_with_boxes] = dict(index)
        return self._vocabularies[forms_with_boxes]


def _boxes_column(boxes: list[list[dict[str, Any]]]) -> pl.Series:
    """Make the column of rectangles from flat lists: polars reads nested dicts one by one."""
    schema = {"page": pl.Int32, **dict.fromkeys(("x0_pt", "y0_pt", "x1_pt", "y1_pt"), pl.Float64)}
    flat = {name: [box[name] for placed in boxes for box in placed] for name in schema}
    owner = pl.Series("owner", [ix for ix, placed in enumerate(boxes) for _ in placed], dtype=pl.Int64)
    placed = pl.DataFrame(flat, schema=schema).select(bboxes=pl.struct(pl.all())).with_columns(owner)
    lists = placed.group_by("owner", maintain_order=True).agg("bboxes")
    all_rows = pl.DataFrame({"owner": range(len(boxes))}, schema={"owner": pl.Int64})
    return all_rows.join(lists, on="owner", how="left", maintain_order="left").get_column("bboxes").fill_null([])


def _concepts_column(concepts: list[list[str]]) -> pl.Series:
    """Make the column of concepts from joined texts: polars reads nested lists one by one."""
    joined = pl.Series("concepts", [_BETWEEN.join(named) for named in concepts], dtype=pl.String)
    empty = pl.lit([], dtype=pl.List(pl.String))
    split = pl.when(pl.col("concepts") == "").then(empty).otherwise(pl.col("concepts").str.split(_BETWEEN))
    return joined.to_frame().select(split.alias("concepts")).to_series()


def _document_rows(
    documents: dy.DataFrame[Documents], elements: dy.DataFrame[Elements], *, context: _Context
) -> Iterator[dict[str, Any]]:
    """Yield one node per document, placed on its first page with text; a document without text has no place."""
    places = _first_pages(elements)
    for row in documents.to_dicts():
        context.titles[row["document_id"]] = row["title"] or row["document_id"]
        entry = context.catalogue.entries[row["document_id"]]
        place = places.get(row["document_id"])
        yield {
            "node_id": row["document_id"],
            "document_id": row["document_id"],
            "perspective": entry.perspective,
            "level": "document",
            "parent_id": None,
            "anchor_key": None,
            "canonical_id": None,
            "heading_path": context.titles[row["document_id"]],
            "text": context.titles[row["document_id"]],
            "concepts": [],
            "page": place["page"] if place else None,
            "bboxes": [place] if place else [],
            "order": "",
        }


def _first_pages(elements: dy.DataFrame[Elements]) -> dict[str, dict[str, Any]]:
    """Draw one rectangle per document around all elements of its first page with any."""
    first = elements.select("document_id", "page", "bbox").filter(
        pl.col("page") == pl.col("page").min().over("document_id")
    )
    around = (
        first.unnest("bbox")
        .group_by("document_id")
        .agg(pl.col("page").first(), pl.col("x0_pt", "y0_pt").min(), pl.col("x1_pt", "y1_pt").max())
    )
    return {row.pop("document_id"): row for row in around.to_dicts()}


def _anchor_row(row: AnchorRecord, *, context: _Context) -> dict[str, Any]:
    document_id = row["document_id"]
    key, canonical = context.box_of(row["anchor_id"], document_id)
    forms = context.resolver.find_forms(row["anchor_id"], document_id)
    return {
        "node_id": row["anchor_id"],
        "document_id": document_id,
        "perspective": row["perspective"],
        "level": "anchor",
        "parent_id": row["parent_anchor_id"] or document_id,
        "anchor_key": key,
        "canonical_id": canonical,
        "heading_path": context.path_of(row["anchor_id"], document_id),
        "text": row["heading"],
        "concepts": context.concepts_in(row["heading"], forms=forms),
        "page": row["page"],
        "bboxes": [{"page": row["page"], **row["bbox"]}],
        "order": row["element_id"],
    }


def _section_rows(
    sections: dy.DataFrame[Sections],
    tables: dy.DataFrame[Tables],
    *,
    dense: Mapping[str, list[tuple[int, int]]],
    context: _Context,
) -> Iterator[dict[str, Any]]:
    """Yield one node per content element and per sentence of a dense one.

    A table's row becomes the table's node, and a table without a row hangs on its document.

    Args:
        sections: Content elements.
        tables: Tables with their titles.
        dense: Sentences (start, end) of each dense element, by element_id.
        context: What nodes are found by.
    """
    remaining_tables = {row["table_id"]: row for row in tables.drop("cells").to_dicts()}
    columns = sections.select("document_id", "anchor_id", "element_id", "table_id", "page", "text")
    for row, lines in zip(columns.iter_rows(named=True), list_pieces(sections["pieces"]), strict=True):
        document_id, anchor_id = row["document_id"], row["anchor_id"]
        table = remaining_tables.pop(row["table_id"], None) if row["table_id"] else None
        forms = context.resolver.find_forms(anchor_id, document_id)
        key, canonical = context.box_of(anchor_id, document_id)
        heading = context.resolver.anchors.get(anchor_id or "")
        text = table["title"] or row["text"] if table else row["text"]
        node = {
            "node_id": row["table_id"] or row["element_id"],
            "document_id": document_id,
            "perspective": heading["perspective"] if heading else context.catalogue.entries[document_id].perspective,
            "level": "table" if row["table_id"] else "paragraph",
            "parent_id": anchor_id or document_id,
            "anchor_key": key,
            "canonical_id": canonical,
            "heading_path": context.path_of(anchor_id, document_id),
            "text": text,
            "concepts": context.concepts_in(row["text"], forms=forms),
            "page": row["page"],
            "bboxes": [{"page": table["page"], **table["bbox"]}] if table else merge_pieces(lines),
            "order": row["element_id"],
        }
        yield node
        for start, end in dense.get(row["element_id"], ()):
            pieces = find_pieces(lines, start=start, end=end)
            sentence = {"text": row["text"][start:end], "page": pieces[0].page, "bboxes": merge_pieces(pieces)}
            concepts = context.concepts_in(sentence["text"], forms=forms)
            yield {**node, **sentence, **_below(node, start=start), "concepts": concepts}
    for table in remaining_tables.values():
        yield _lone_table(table, context=context)


def _below(paragraph: Mapping[str, Any], *, start: int) -> dict[str, Any]:
    """Return the id and the place in the tree of a sentence's node."""
    node_id = paragraph["node_id"]
    return {"node_id": sentence_node_id(node_id, start), "level": "sentence", "parent_id": node_id}


def _lone_table(table: Mapping[str, Any], *, context: _Context) -> dict[str, Any]:
    document_id = table["document_id"]
    return {
        "node_id": table["table_id"],
        "document_id": document_id,
        "perspective": context.catalogue.entries[document_id].perspective,
        "level": "table",
        "parent_id": document_id,
        "anchor_key": None,
        "canonical_id": None,
        "heading_path": context.path_of(None, document_id),
        "text": table["title"] or table["markdown"].split("\n", 1)[0],
        "concepts": [],
        "page": table["page"],
        "bboxes": [{"page": table["page"], **table["bbox"]}],
        "order": table["table_id"],
    }


def _face_rows(faces: dy.DataFrame[Faces], *, context: _Context) -> Iterator[dict[str, Any]]:
    for row in faces.to_dicts():
        document_id = row["document_id"]
        canonical, label = context.face_of(document_id, row["box_key"])
        if canonical is None:
            continue
        name = f"{row['box_key'].replace('_', ' ').capitalize()} {label}".strip()
        yield {
            "node_id": face_node_id(document_id, row["box_key"]),
            "document_id": document_id,
            "perspective": "face",
            "level": "anchor",
            "parent_id": document_id,
            "anchor_key": row["box_key"],
            "canonical_id": canonical,
            "heading_path": context.titles[document_id] + _PATH + name,
            "text": name,
            "concepts": context.concepts_in(label, forms=split_forms(row["form"])),
            "page": row["page"],
            "bboxes": [{"page": row["page"], **row["bbox"]}],
            "order": f"{document_id}:p{row['page']:04d}:f{row['box_key']}",
        }


def _external_rows(references: dy.DataFrame[References], *, resolver: Resolver) -> Iterator[dict[str, Any]]:
    targets: set[str] = set()
    seen: set[tuple[Any, ...]] = set()
    # A link into the document never leads outside.
    elsewhere = references.filter(pl.col("target_element_id").is_null() & _may_lead_outside())
    for row in iter_records(elsewhere, ReferenceRecord):
        named = (row["document_id"], row["anchor_id"], row["kind"], row["target"], row["target_form"])
        key = (*named, row.get("target_url"), find_printed_year(row))
        if key in seen:
            continue
        seen.add(key)
        target = resolver.resolve(row)
        if target is not None and target.is_external and target.node_id not in targets:
            targets.add(target.node_id)
            yield placeless_row(target.node_id, "external", target.node_id.split(":", 2)[2])


def _may_lead_outside() -> pl.Expr:
    """Return what may reach outside: a box, line or heading that is named alone is of its own document."""
    kind, target = pl.col("kind"), pl.col("target")
    is_own_box = (kind == "box") & (pl.col("target_form").fill_null("") == "")
    is_own_place = kind.is_in(["line", "section"]) & ~target.str.contains(")", literal=True)
    return ~(is_own_box | is_own_place)
