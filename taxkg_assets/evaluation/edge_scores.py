"""Score edges of the graph against labels: precision and recall of each relation.

A label names document, page, source, relation, target, polarity and a few words of the sentence. It may allow several
relations where careful readers differ. On labeled pages every semantic edge counts, except a mention of the sentence's
own box or form; optional labels count neither as hits nor as misses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.evaluation.naming import find_name_words, normalize_target
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.schemas import RELATIONS, Documents, Edges, Nodes

Row = Mapping[str, Any]
SCORES = {
    "relation": pl.String,
    "emitted": pl.Int64,
    "right": pl.Int64,
    "precision": pl.Float64,
    "wanted": pl.Int64,
    "found": pl.Int64,
    "recall": pl.Float64,
}
SEMANTIC = tuple(relation for relation in RELATIONS if relation != "references")
_ALL = "all"


@dataclass(frozen=True, slots=True)
class EdgeLabel:
    """A labeled relation that a sentence states; `half` is `development` or `check`, `words` are from the sentence."""

    form: str
    half: str
    document_id: str
    page: int
    source: str
    kind: str
    target: str
    relations: tuple[str, ...]
    polarity: str
    words: tuple[str, ...]
    is_optional: bool


@dataclass(frozen=True, slots=True)
class EdgeLabels:
    """The labeled relations, and the pages that are labeled completely."""

    facts: tuple[EdgeLabel, ...]
    pages: frozenset[tuple[str, int]]

    def of_half(self, half: str) -> EdgeLabels:
        """Return only the labels of the development half or of the check half of the forms.

        Args:
            half: `development` or `check`.
        """
        facts = tuple(label for label in self.facts if label.half == half)
        documents = {label.document_id for label in facts}
        return EdgeLabels(facts, frozenset(page for page in self.pages if page[0] in documents))


@dataclass(frozen=True, slots=True)
class EdgeScore:
    """Precision and recall by relation and over all relations, with each wrong edge and each missed label."""

    by_relation: pl.DataFrame
    misses: pl.DataFrame

    def figure(self, name: str) -> float | None:
        """Return a figure over all relations.

        Args:
            name: Name of the column of `by_relation`.
        """
        value: float | None = self.by_relation.filter(pl.col("relation") == _ALL).get_column(name).item()
        return value


def read_edge_labels(rows: Iterable[Row]) -> EdgeLabels:
    """Convert the rows of an edge label file.

    Args:
        rows: Rows of the file. A row with `scope`, a document, lists its labeled pages; each other row is one relation
            that these pages state.

    Returns:
        Labeled relations and labeled pages.
    """
    relations, pages = [], set()
    for row in rows:
        if "scope" in row:
            pages |= {(row["scope"], page) for page in row["pages"]}
            continue
        relations.append(
            EdgeLabel(
                form=row["form"],
                half=row["half"],
                document_id=row["document"],
                page=row["page"],
                source=row["source"],
                kind=row["kind"],
                target=row["target"],
                relations=(row["relation"], *row["also"]),
                polarity=row["polarity"],
                words=tuple(sorted(_split_words(row["locator"]))),
                is_optional=row["is_optional"],
            )
        )
    return EdgeLabels(tuple(relations), frozenset(pages))


def score_edges(
    edges: dy.DataFrame[Edges], labels: EdgeLabels, *, nodes: dy.DataFrame[Nodes], documents: dy.DataFrame[Documents]
) -> EdgeScore:
    """Score the semantic edges of the labeled pages against the labels, by relation.

    An edge is right if it matches a required label, wrong if it matches none; one that matches only optional labels,
    or leads to the box or form that it is in, is not counted.

    Args:
        edges: Edges of the graph.
        labels: Labeled facts and pages.
        nodes: Nodes of the graph.
        documents: Documents of the corpus.

    Returns:
        Scores by relation and over all relations, with each wrong edge and each missed label.
    """
    right: list[Row] = []
    invented: list[Row] = []
    found_labels: set[EdgeLabel] = set()
    for row in _find_semantic(edges, nodes, documents=documents):
        if row["place"] not in labels.pages:
            continue
        matching = [label for label in labels.facts if _matches(row, label)]
        found_labels.update(matching)
        if any(not label.is_optional for label in matching):
            right.append(row)
        elif not matching and not row["is_self"]:
            invented.append(row)
    required = [label for label in labels.facts if not label.is_optional]
    score_rows = []
    for relation in SEMANTIC:
        emitted = [True for row in right if row["relation"] == relation]
        emitted += [False for row in invented if row["relation"] == relation]
        is_found = [label in found_labels for label in required if label.relations[0] == relation]
        score_rows.append(_score(relation, emitted=emitted, found=is_found))
    all_emitted = [True] * len(right) + [False] * len(invented)
    score_rows.append(_score(_ALL, emitted=all_emitted, found=[label in found_labels for label in required]))
    problems = [_describe("invented", row) for row in invented]
    problems += [_describe_label(label) for label in required if label not in found_labels]
    columns = ["problem", "document_id", "page", "source", "relation", "polarity", "target", "words"]
    return EdgeScore(
        by_relation=pl.DataFrame(score_rows, schema=SCORES, orient="row"),
        misses=pl.DataFrame(problems, schema=columns, orient="row", infer_schema_length=None),
    )


def _find_semantic(edges: pl.DataFrame, nodes: pl.DataFrame, *, documents: pl.DataFrame) -> Iterable[dict[str, Any]]:
    """Yield each semantic edge with its page, its target's names, and whether the target is the own box or form."""
    forms = dict(documents.select("document_id", "form").iter_rows())
    columns = nodes.select("node_id", "document_id", "level", "anchor_key", "heading_path", "text")
    node_by_id = {row["node_id"]: row for row in columns.iter_rows(named=True)}
    for edge in edges.filter(pl.col("relation").is_in(SEMANTIC)).iter_rows(named=True):
        source, target = node_by_id[edge["source_id"]], node_by_id[edge["target_id"]]
        own_forms = set(split_forms(forms[source["document_id"]]))
        names = _name_target(target, forms)
        is_own_box = target["anchor_key"] is not None and target["anchor_key"] == source["anchor_key"]
        is_own_form = target["level"] == "document" and bool(own_forms & set(split_forms(forms[target["document_id"]])))
        yield {
            **edge,
            "place": (source["document_id"], edge["page"]),
            "source": source["anchor_key"] or source["heading_path"].rsplit(" > ", 1)[-1],
            "names": {normalize_target(name) for name in names},
            "target": next(iter(names)),
            "words": _split_words(edge["evidence"]),
            "is_self": is_own_box or is_own_form,
        }


def _name_target(target: Row, forms: Mapping[str, str]) -> list[str]:
    """Return the names that labels may use for a node: its key, its form, or the name of something external."""
    if target["level"] == "external":
        return [target["text"]]
    if target["level"] == "document":
        form = forms[target["document_id"]]
        return [form if form.startswith(("Schedule", "Pub.")) else f"Form {form}"]
    return [target["anchor_key"] or target["text"]]


def _matches(row: Row, label: EdgeLabel) -> bool:
    return (
        row["place"] == (label.document_id, label.page)
        and normalize_target(label.target) in row["names"]
        and row["relation"] in label.relations
        and row["polarity"] == label.polarity
        and set(label.words) <= row["words"]
    )


def _split_words(text: str) -> set[str]:
    return {word.strip(".") for word in find_name_words(text)}


def _score(relation: str, *, emitted: Sequence[bool], found: Sequence[bool]) -> tuple[Any, ...]:
    precision = sum(emitted) / len(emitted) if emitted else None
    recall = sum(found) / len(found) if found else None
    return relation, len(emitted), sum(emitted), precision, len(found), sum(found), recall


def _describe(problem: str, row: Row) -> tuple[Any, ...]:
    words = " ".join(row["evidence"].split()[:12])
    return problem, *row["place"], row["source"], row["relation"], row["polarity"], row["target"], words


def _describe_label(label: EdgeLabel) -> tuple[Any, ...]:
    place = (label.document_id, label.page, label.source)
    return "missed", *place, label.relations[0], label.polarity, label.target, " ".join(label.words)
