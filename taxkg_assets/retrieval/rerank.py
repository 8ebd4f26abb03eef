"""The feature ranker: what speaks for a passage besides the two legs. Weights in rules/ranking.yaml."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from taxkg_assets.retrieval.router import Route, covers_key
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.loader import load_family, load_rules

Floats = npt.NDArray[np.float64]
_PLACE_SHARE = 0.03


@dataclass(frozen=True)
class DocumentFacts:
    """What the ranker knows of each document of an index; documents are numbered in order of their ids."""

    rows: pl.DataFrame

    @cached_property
    def documents(self) -> list[dict[str, Any]]:
        """One dict per document with its family and whether a newer final revision of the family exists."""
        columns = ["document_id", "irs_name", "document_form", "doc_type", "revision", "tax_year", "is_draft", "title"]
        found = self.rows.select(columns).unique("document_id").sort("document_id").rows(named=True)
        newest: dict[str, str] = {}
        for row in found:
            row["family"] = row["irs_name"] or row["document_id"]
            if not row["is_draft"]:
                newest[row["family"]] = max(newest.get(row["family"], ""), row["revision"])
        for row in found:
            row["is_stale"] = row["revision"] < newest.get(row["family"], "")
            row["years"] = {int(year) for year in re.findall(r"(?:19|20)\d\d", row["revision"])} | (
                {row["tax_year"]} if row["tax_year"] else set()
            )
        return found

    @cached_property
    def number_of(self) -> npt.NDArray[np.int64]:
        """Document number of each row."""
        numbers = {row["document_id"]: number for number, row in enumerate(self.documents)}
        return np.array([numbers[document_id] for document_id in self.rows["document_id"]], dtype=np.int64)

    @cached_property
    def places(self) -> list[str]:
        """The place whose tax law a document states: the one most of its passages name; empty for federal ones."""
        best = [("", 0.0)] * len(self.documents)
        for rule in load_rules("router", "places"):
            named = self.rows["text"].str.contains(rule.pattern.pattern) | self.rows["heading_path"].str.contains(
                rule.pattern.pattern
            )
            counts = np.bincount(self.number_of, minlength=len(best))
            shares = np.bincount(self.number_of, weights=named.to_numpy(), minlength=len(best)) / np.maximum(counts, 1)
            for number, row in enumerate(self.documents):
                if not row["irs_name"] and shares[number] >= max(_PLACE_SHARE, best[number][1]):
                    best[number] = (rule.id, float(shares[number]))
        return [place for place, _ in best]

    def find_foreign_places(self, route: Route, document_id: str) -> tuple[str, ...]:
        """The places a question names when a document states the law of none of them."""
        own = next(
            place for place, row in zip(self.places, self.documents, strict=True) if row["document_id"] == document_id
        )
        return () if own in route.places else tuple(place.replace("_", " ") for place in route.places)

    def score_documents(self, route: Route) -> dict[str, Floats]:
        """Features that depend on the document alone, one value per document."""
        documents = self.documents
        matched = {row["family"] for row in documents if route.years and _says_year(row, route)}
        return {
            "year": np.array([_score_year(row, route, matched) for row in documents]),
            "stale": np.array([float(row["is_stale"] and not route.years) for row in documents]),
            "draft": np.array([float(row["is_draft"] and not route.wants_draft) for row in documents]),
            "place": np.array([_score_place(place, route) for place in self.places]),
        }


def _says_year(row: dict[str, Any], route: Route) -> bool:
    if route.revisions:
        return row["revision"] in route.revisions
    return bool(row["years"] & set(route.years))


def _score_year(row: dict[str, Any], route: Route, matched: set[str]) -> float:
    """+1 for a year asked for, -1 for another year of a family that has it, a little less than 0 otherwise."""
    if not route.years:
        return 0.0
    if _says_year(row, route):
        return 1.0
    if row["family"] in matched:
        return -1.0
    return -0.5 if row["is_stale"] else 0.0


def _score_place(place: str, route: Route) -> float:
    if route.places:
        return 1.0 if place in route.places else -0.5
    return -0.3 if place else 0.0


def score_rows(rows: Sequence[dict[str, Any]], route: Route) -> dict[str, Floats]:
    """Features that depend on the passage: form, key, perspective, face, length."""
    short = load_family("ranking")["short_words"]
    return {
        "form": np.array([_score_form(row, route) for row in rows]),
        "key": np.array([float(_holds_key(row, route)) for row in rows]),
        "other_key": np.array([float(_is_other_key(row, route)) for row in rows]),
        "perspective": np.array([_score_perspective(row["perspective"], route) for row in rows]),
        "face": np.array([float(row["perspective"] == "face" and row["level"] != "table") for row in rows]),
        "short": np.array([float(row["text"].count(" ") < short) for row in rows]),
    }


def _score_form(row: dict[str, Any], route: Route) -> float:
    if not route.forms:
        return 0.0
    own = split_forms(row["form"])
    if set(own) & set(route.forms):
        return 1.0
    return -0.4 if row["doc_type"] == "publication" or not own else -1.0


def _holds_key(row: dict[str, Any], route: Route) -> bool:
    return covers_key(row["anchor_key"], route.keys)


def _is_other_key(row: dict[str, Any], route: Route) -> bool:
    asked = [key for key in route.keys if key.startswith("box_")]
    own = row["anchor_key"] or ""
    return bool(asked) and own.startswith("box") and not covers_key(own, asked)


def _score_perspective(perspective: str, route: Route) -> float:
    table = {
        "filer": {"filer": 1.0, "recipient": -1.0, "face": -0.5},
        "recipient": {"filer": -1.0, "recipient": 1.0, "publication": 0.5},
    }
    return table.get(route.perspective, {}).get(perspective, 0.0)


def combine_features(features: dict[str, Floats]) -> Floats:
    """Weighted sum of the features."""
    weights = load_family("ranking")["weights"]
    total: Floats = np.sum([weights[name] * values for name, values in features.items()], axis=0)
    return total


def score_overlap(wanted: dict[str, float], terms: frozenset[str]) -> float:
    """Share of the question's terms, weighted by rarity, that a passage holds."""
    total = sum(wanted.values())
    return sum(weight for term, weight in wanted.items() if term in terms) / total if total else 0.0
