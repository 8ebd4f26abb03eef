"""The registry of boxes: one identity per box of a form revision, with the names that people use for it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.loader import load_family, load_rules

_KEY = re.compile(r"^box_(\d*)([a-z]*)$")
_GROUP_KEY = re.compile(r"^boxes_(\d+)[a-z]?-(\d+)[a-z]?$")


def build_registry(
    faces: dy.DataFrame[schemas.Faces],
    anchors: dy.DataFrame[schemas.Anchors],
    *,
    documents: dy.DataFrame[schemas.Documents],
) -> dy.DataFrame[schemas.Registry]:
    """Give every box of a form revision its identity, its other names and its group.

    Args:     faces: one row per box of a form. anchors: headings of all documents. documents: forms and revisions.
    Returns:  one row per row of `faces`, with label and confidence carried over unchanged.
    Source:   rules/aliases.yaml for abbreviations and initials; headings of box instructions for the rest.
    """
    headings = _headings_by_box(anchors, documents)
    groups = _groups_by_form(anchors, documents)
    letters = _lettered_keys(faces)
    rows = [
        {
            "document_id": face["document_id"],
            "form": face["form"],
            "revision": face["revision"],
            "box_key": face["box_key"],
            "canonical_id": "/".join((face["form"], face["revision"], face["box_key"])),
            "label": face["label"],
            "aliases": _find_aliases(face, headings),
            "group_id": _find_group(face, groups, letters),
            "source": f"{face['document_id']}:p{face['page']}",
            "confidence": face["confidence"],
        }
        for face in faces.sort("document_id", "box_key").iter_rows(named=True)
    ]
    return schemas.Registry.validate(pl.DataFrame(rows, schema=schemas.Registry.create_empty().schema))


def find_registry_faults(registry: dy.DataFrame[schemas.Registry], faces: dy.DataFrame[schemas.Faces]) -> pl.DataFrame:
    """Find rows that break a law of the registry: repeated keys, missing labels, and differences from the faces."""
    key = ["document_id", "box_key"]
    columns = [*key, "label"]
    repeated = registry.filter(pl.struct(*key).is_duplicated()).select(*columns, fault=pl.lit("key repeated"))
    joined = registry.join(faces.select(*key, "is_unlabelled", face_label="label"), on=key, how="left")
    unlabelled = joined.filter((pl.col("label") == "") & ~pl.col("is_unlabelled").fill_null(False))
    renamed = joined.filter(pl.col("face_label").is_not_null() & (pl.col("label") != pl.col("face_label")))
    invented = registry.join(faces, on=key, how="anti")
    lost = faces.join(registry, on=key, how="anti")
    return pl.concat(
        [
            repeated,
            unlabelled.select(*columns, fault=pl.lit("label missing although the face prints one")),
            renamed.select(*columns, fault=pl.lit("label differs from the face")),
            invented.select(*columns, fault=pl.lit("no such box on the face")),
            lost.select(*columns, fault=pl.lit("box of the face not registered")),
        ]
    ).sort("document_id", "box_key", "fault")


def _headings_by_box(
    anchors: dy.DataFrame[schemas.Anchors], documents: dy.DataFrame[schemas.Documents]
) -> dict[tuple[str, str], list[tuple[str, str, str]]]:
    """Collect (document, revision, heading) of every box anchor under its form and key."""
    known = {row["document_id"]: row for row in documents.iter_rows(named=True)}
    found: dict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
    boxes = anchors.filter(pl.col("kind") == "box").sort("document_id", "anchor_id")
    for anchor in boxes.iter_rows(named=True):
        document = known.get(anchor["document_id"])
        if document is None or anchor["key"] is None:
            continue
        for form in split_forms(anchor["form"] or document["form"]):
            found[form, anchor["key"]].append((document["document_id"], document["revision"], anchor["heading"]))
    return found


def _groups_by_form(
    anchors: dy.DataFrame[schemas.Anchors], documents: dy.DataFrame[schemas.Documents]
) -> dict[str, list[tuple[int, int]]]:
    """Collect the printed groups of boxes (boxes 14 to 16) of each form."""
    forms = dict(zip(documents["document_id"], documents["form"], strict=True))
    found: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for anchor in anchors.filter(pl.col("kind") == "box_group").iter_rows(named=True):
        match = _GROUP_KEY.match(anchor["key"] or "")
        if match and int(match[1]) < int(match[2]):
            for form in split_forms(anchor["form"] or forms.get(anchor["document_id"], "")):
                found[form].add((int(match[1]), int(match[2])))
    return {form: sorted(ranges) for form, ranges in found.items()}


def _lettered_keys(faces: dy.DataFrame[schemas.Faces]) -> set[tuple[str, str]]:
    """Find the numbers that a face divides by letters: 2 where it prints 2a and 2b."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for document_id, key in faces.select("document_id", "box_key").iter_rows():
        match = _KEY.match(key)
        if match and match[1] and match[2]:
            counts[document_id, match[1]] += 1
    return {number for number, count in counts.items() if count > 1}


def _find_group(
    face: dict[str, Any], groups: dict[str, list[tuple[int, int]]], letters: set[tuple[str, str]]
) -> str | None:
    """Name the group of a box: its number where letters divide it, else the printed range that holds it."""
    match = _KEY.match(face["box_key"])
    if match is None or not match[1]:
        return None
    if (face["document_id"], match[1]) in letters:
        return match[1]
    number = int(match[1])
    return next((f"{low}-{high}" for low, high in groups.get(face["form"], ()) if low <= number <= high), None)


def _find_aliases(face: dict[str, Any], headings: dict[tuple[str, str], list[tuple[str, str, str]]]) -> list[str]:
    """List other names of a box in a fixed order, without the label itself."""
    label = face["label"]
    names = [_expand(label)]
    for document_id, revision, heading in headings.get((face["form"], face["box_key"]), ()):
        name = load_rules("aliases", "headings")[0].pattern.sub("", heading).strip(" .:—–")
        name = load_rules("aliases", "remarks")[0].pattern.sub("", name)
        is_own = document_id == face["document_id"] or (revision != "" and revision == face["revision"])
        if name and (_shares_words(label, name) or (is_own and not label)):
            names += [name, _expand(name)]
    said = " ".join([label, *names])
    names += [rule.extra["alias"] for rule in load_rules("aliases", "initials") if rule.pattern.search(said)]
    return _distinct(names, but=label)


def _expand(text: str) -> str:
    for rule in load_rules("aliases", "expansions"):
        text = rule.pattern.sub(rule.extra["alias"], text)
    return text


def _shares_words(label: str, name: str) -> bool:
    """Decide whether a heading names the field that the label names: keys move from revision to revision."""
    mine, other = _words(_expand(label)), _words(_expand(name))
    least = load_family("aliases")["thresholds"]["shared_words_frac"]
    return bool(mine and other) and len(mine & other) >= least * min(len(mine), len(other))


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[^\W_]+", text.casefold()) if len(word) > 2 or word.isdigit()}


def _distinct(names: Iterable[str], *, but: str) -> list[str]:
    seen = {"", _folded(but)}
    kept = []
    for name in names:
        if _folded(name) not in seen:
            seen.add(_folded(name))
            kept.append(name)
    return kept


def _folded(name: str) -> str:
    return re.sub(r"\W+", " ", name.casefold().replace("’", "'")).strip()
