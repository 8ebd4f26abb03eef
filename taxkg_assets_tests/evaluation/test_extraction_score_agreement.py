"""Our extraction figures are those of the scoring script, on tables made from the labels and then damaged."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import dataframely as dy
import pytest

from taxkg_assets.evaluation.anchor_scores import score_anchors
from taxkg_assets.evaluation.extraction_scores import score_boxes, score_ownership, score_roles, score_tables
from taxkg_assets.evaluation.labels import LABEL_FILES, read_label_file, read_labels
from taxkg_assets.evaluation.reference_scores import score_references
from taxkg_assets.schemas import ROLES, Anchors, Documents, Elements, References, Registry, Sections, Tables
from taxkg_assets_tests.evaluation.corpus import document, documents
from taxkg_assets_tests.evaluation.extraction_frames import build_frame
from taxkg_assets_tests.evaluation.gold_folder import load_script

pytestmark = pytest.mark.corpus
Rows = list[dict[str, Any]]


def gold_rows(folder: Path) -> dict[str, Rows]:
    files = {name: next(folder.glob(f"{name}.json*")) for name in LABEL_FILES}
    return {name: read_label_file(name, path.read_text(encoding="utf8")) for name, path in files.items()}


def damage(text: str, draw: random.Random) -> str:
    """A text read badly: cut, prolonged, or with a word lost."""
    words = text.split()
    return draw.choice([text, text, text, " ".join(words[:-1]), f"{text} more words", " ".join(words[1:])]) or text


def read_anchors(gold: Rows, draw: random.Random) -> dy.DataFrame[Anchors]:
    """The labeled headings, some lost, moved, renamed, hung elsewhere, and some invented."""
    ids = {(row["document"], row["heading"]): f"{row['document']}#{ix:05}" for ix, row in enumerate(gold)}
    rows = []
    for ix, row in enumerate(gold):
        own = f"{row['document']}#{ix:05}"
        parent = ids.get((row["document"], row["parent"]))
        read = {
            "anchor_id": own,
            "document_id": row["document"],
            "page": row["page"] + draw.choice([0] * 12 + [1]),
            "kind": draw.choice([row["kind"]] * 9 + ["runin"]),
            "key": draw.choice([row["key"]] * 9 + ["box_99"]),
            "heading": damage(row["heading"], draw),
            # Only an earlier anchor can be above: the tree stays a tree.
            "parent_anchor_id": parent if parent is not None and parent < own and draw.random() < 0.9 else None,
        }
        rows += [read] * (draw.random() < 0.9)
        rows += [{**read, "anchor_id": f"{own}x", "heading": "An invented heading"}] * (draw.random() < 0.1)
    return build_frame(Anchors, rows, perspective="filer")


def read_sections(gold: Rows, draw: random.Random, *, anchors: dy.DataFrame[Anchors]) -> dy.DataFrame[Sections]:
    owners = anchors.select("document_id", "heading", "anchor_id").rows()
    rows = []
    for ix, row in enumerate(gold):
        mine = [
            name for document_id, heading, name in owners if (document_id, heading) == (row["document"], row["owner"])
        ]
        rows.append(
            {
                "element_id": f"{ix:05}",
                "document_id": row["document"],
                "page": row["page"] + draw.choice([0] * 5 + [1]),
                "anchor_id": draw.choice([*mine[:1], *mine[:1], None, draw.choice(owners)[2]]),
                "text": damage(row["quote"], draw),
            }
        )
    return build_frame(Sections, rows, role="BodyText")


def read_references(gold: Rows, draw: random.Random, *, anchors: dy.DataFrame[Anchors]) -> dy.DataFrame[References]:
    owners = anchors.select("document_id", "heading", "anchor_id").rows()
    rows = []
    for ix, row in enumerate(gold):
        mine = [
            name for document_id, heading, name in owners if (document_id, heading) == (row["document"], row["owner"])
        ]
        rows.append(
            {
                "element_id": f"{ix:05}",
                "document_id": row["document"],
                "page": row["page"] + draw.choice([0] * 9 + [1, -1 if row["page"] > 1 else 0]),
                "anchor_id": draw.choice([*mine[:1], None, draw.choice(owners)[2]]),
                "kind": row["kind"],
                "target": draw.choice([row["target"], row["target"], row["target"].upper(), "Form 9000"]),
                "evidence": damage(row["evidence"], draw),
                "relation": draw.choice([row["relation"], row["relation"], "references", "includes"]),
                "polarity": draw.choice([row["polarity"], row["polarity"], "negative"]),
                "is_self": draw.random() < 0.1,
            }
        )
    return build_frame(References, rows, start=0, end=9, mention_start=0, mention_end=5, created_by="regex")


def read_elements(gold: Rows, draw: random.Random) -> dy.DataFrame[Elements]:
    rows = [
        {
            "element_id": f"{ix:05}",
            "document_id": row["document"],
            "page": row["page"],
            "text": damage(row["text"], draw),
            "role": draw.choice([row["role"]] * 5 + list(ROLES)),
        }
        for ix, row in enumerate(gold)
        if draw.random() < 0.9
    ]
    return build_frame(Elements, rows)


def read_tables(gold: Rows, draw: random.Random) -> dy.DataFrame[Tables]:
    place = {"row_ix": 0, "col_ix": 0, "bbox": {"x0_pt": 0.0, "y0_pt": 0.0, "x1_pt": 1.0, "y1_pt": 1.0}}
    rows = []
    for ix, row in enumerate(gold):
        paths = {
            name: draw.choice([row[field], row[field], row[field].split(" > ")[-1], row[field].split(" > ")[0]])
            for name, field in (("row_path", "row"), ("col_path", "column"))
        }
        value = draw.choice([row["value"]] * 5 + ["$1.23"])
        cells = [{**place, **paths, "text": value}]
        rows.append({"table_id": f"{ix:05}", "document_id": row["document"], "page": row["page"], "cells": cells})
    return build_frame(Tables, rows, title="Withholding schedules")


def read_registry(gold: Rows, draw: random.Random) -> dy.DataFrame[Registry]:
    rows = [
        {"document_id": row["document"], "box_key": key, "label": damage(row["label"], draw)}
        for row in gold
        for key in {row["key"], draw.choice([row["key"]] * 9 + ["box_99"])}
        if draw.random() < 0.95
    ]
    return build_frame(Registry, list({(row["document_id"], row["box_key"]): row for row in rows}.values()))


def all_documents(gold: dict[str, Rows]) -> dy.DataFrame[Documents]:
    names = sorted({row["document"] for rows in gold.values() for row in rows})
    return documents(*(document(name) for name in names))


NAMES = {
    "roles": {"accuracy": "role_accuracy"},
    "ownership": {"accuracy": "ownership_accuracy"},
    "boxes": {"coverage": "box_coverage", "label_match": "box_label_match", "invented": "boxes_invented"},
    "tables": {"accuracy": "cell_accuracy", "value_found": "cell_value_found"},
    "anchors": {
        name: name
        for name in (
            *("box_recall", "heading_recall", "runin_recall", "structural_precision", "runin_precision"),
            *("structural_f1", "key_accuracy", "parent_accuracy"),
        )
    },
    "references": {
        "recall": "reference_recall",
        "precision": "reference_precision",
        "typed_recall": "typed_recall",
        "typed_precision": "typed_precision",
    },
}


@pytest.mark.parametrize("seed", range(3))
def test_damaged_tables_score_alike(seed: int, corpus: Path) -> None:
    draw, gold = random.Random(seed), gold_rows(corpus / "eval")
    script = load_script(corpus / "eval", "score_extraction")
    anchors = read_anchors(gold["anchors"], draw)
    sections = read_sections(gold["ownership"], draw, anchors=anchors)
    references = read_references(gold["references"], draw, anchors=anchors)
    elements, tables = read_elements(gold["roles"], draw), read_tables(gold["tables"], draw)
    registry = read_registry(gold["boxes"], draw)
    boxes: dict[str, Rows] = {}
    for row in gold["boxes"]:
        boxes.setdefault(row["document"], []).append(row)
    theirs = {
        "roles": script.score_roles(gold["roles"], elements.to_dicts()),
        "ownership": script.score_ownership(gold["ownership"], sections.to_dicts(), anchors.to_dicts()),
        "boxes": script.score_boxes(boxes, registry.to_dicts()),
        "tables": script.score_tables(gold["tables"], tables.to_dicts()),
        "anchors": script.score_anchors(gold["anchors"], anchors.to_dicts()),
        "references": script.score_references(
            gold["references"], references.to_dicts(), anchors.to_dicts(), gold["references_scope"], gold["anchors"]
        ),
    }
    labels, labeled = read_labels({"gold": gold}), all_documents(gold)
    ours = {
        "roles": score_roles(elements, labels, documents=labeled),
        "ownership": score_ownership(sections, labels, anchors=anchors, documents=labeled),
        "boxes": score_boxes(registry, labels, documents=labeled),
        "tables": score_tables(tables, labels, documents=labeled),
        "anchors": score_anchors(anchors, labels, documents=labeled),
        "references": score_references(references, labels, anchors=anchors, documents=labeled),
    }
    for family, names in NAMES.items():
        for theirs_name, our_name in names.items():
            figure = theirs[family][0][theirs_name]
            assert figure > 0, f"{family} {theirs_name}: the damage leaves nothing to compare"
            assert ours[family].figures[our_name] == pytest.approx(figure, abs=5.1e-5), f"{family} {theirs_name}"
        assert ours[family].misses.height > 0
