"""From a question to ranked, cited passages: router, two legs, fusion, feature ranker, graph, windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import dataframely as dy
import numpy as np
import numpy.typing as npt
import polars as pl
from pydantic import BaseModel, ConfigDict

from taxkg_assets import schemas
from taxkg_assets.retrieval import lexical, rerank, vector
from taxkg_assets.retrieval.encoder import Encoder, Vectors
from taxkg_assets.retrieval.expand import Step, build_neighbours, expand_seeds
from taxkg_assets.retrieval.fuse import find_top, fuse_rankings
from taxkg_assets.retrieval.index import SearchIndex
from taxkg_assets.retrieval.router import Route, build_catalog, find_lay_terms, find_route
from taxkg_assets.retrieval.windows import Window, Windows
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.loader import load_family

Mask = npt.NDArray[np.bool_]


class Box(BaseModel):
    """A rectangle on a page, in points from the top left."""

    model_config = ConfigDict(frozen=True)
    page: int
    x0: float
    y0: float
    x1: float
    y1: float


class Result(BaseModel):
    """One ranked passage: what a language model would be handed, where it stands, and how it got here."""

    model_config = ConfigDict(frozen=True)
    rank: int
    score: float
    document: str
    form: str
    revision: str
    doc_type: str
    page: int
    bboxes: list[Box]
    heading_path: str
    anchor_key: str | None
    text: str
    node_id: str
    chunk_id: str
    via: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One row of the index under consideration."""

    row: int
    score: float
    lexical_rank: int | None
    vector_rank: int | None
    cosine: float
    coverage: float
    step: Step | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates of one question, best first, with what was understood of it."""

    route: Route
    candidates: tuple[Candidate, ...]
    wanted: dict[str, float]


MOST_CHARACTERS = 2_000
"""Of a question; no more is read of a longer one, which is no question but a text."""


def tidy_query(query: str) -> str:
    """A question as text that every leg can read: no lone surrogates, no endless length."""
    return query[:MOST_CHARACTERS].encode("utf8", errors="replace").decode("utf8")


@dataclass(frozen=True)
class Searcher:
    """Everything a search needs, opened once: the index, the encoder, and the edges of the graph if there are any."""

    index: SearchIndex
    encoder: Encoder
    edges: dy.DataFrame[schemas.Edges] | None = None

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        form: str | None = None,
        year: int | None = None,
        level: str = "auto",
        document: str | None = None,
    ) -> list[Result]:
        """Rank passages for a question; `form`, `year` and `document` filter, `level` sets the size of a passage."""
        ranking = self.rank(query, form=form, year=year, document=document)
        return self.assemble(ranking, k=k, level=level)

    def rank(
        self, query: str, *, form: str | None = None, year: int | None = None, document: str | None = None
    ) -> Ranking:
        """Order candidate rows without assembling passages."""
        query = tidy_query(query)
        route = find_route(query, catalog=self._catalog)
        if form:
            asked = find_route(form, catalog=self._catalog).forms
            route = replace(route, forms=asked or (form,))
        if year:
            route = replace(route, years=(year,))
        allowed = self._allowed(route if form else None, year=year, document=document)
        terms = lexical.find_terms(query)
        wanted = {term: self.index.lexical.weigh_term(term) for term in dict.fromkeys(terms)}
        scored = self._score_legs(query, terms, route, allowed)
        return Ranking(route=route, candidates=tuple(self._rerank(scored, route, wanted)), wanted=wanted)

    def assemble(self, ranking: Ranking, *, k: int = 10, level: str = "auto") -> list[Result]:
        """Widen candidates to passages, without repeats, until there are `k`."""
        windows = Windows(self.index.rows, level=level)
        results: list[Result] = []
        ordered = _demote_duplicates(ranking, self.index)
        for candidate in ordered:
            if len(results) == k:
                break
            window = windows.grow(candidate.row)
            if window is not None:
                results.append(self._result(candidate, window, ranking, rank=len(results) + 1))
        return results

    def knows_form(self, form: str) -> bool:
        """Whether the corpus holds a document of this form, by any of the ways people write it."""
        return bool(find_route(form, catalog=self._catalog).forms)

    @cached_property
    def facts(self) -> rerank.DocumentFacts:
        return rerank.DocumentFacts(self.index.rows)

    @cached_property
    def _catalog(self) -> Any:
        return build_catalog({**row, "form": row["document_form"]} for row in self.facts.documents)

    @cached_property
    def _neighbours(self) -> Any:
        return build_neighbours(self.edges)

    @cached_property
    def _row_of(self) -> dict[str, int]:
        """The first row that holds a node, or that an anchor owns."""
        found: dict[str, int] = {}
        for row, (anchor_id, node_ids) in enumerate(self.index.rows.select("anchor_id", "node_ids").iter_rows()):
            for node_id in (anchor_id, *node_ids):
                if node_id is not None:
                    found.setdefault(node_id, row)
        return found

    def _allowed(self, route: Route | None, *, year: int | None, document: str | None) -> Mask:
        """Rows that pass the filters given outright."""
        keep = np.ones(self.index.rows.height, dtype=np.bool_)
        if document:
            keep &= (self.index.rows["document_id"] == document).to_numpy()
        if route is not None:
            keep &= np.array([bool(set(split_forms(own)) & set(route.forms)) for own in self.index.rows["form"]])
        if year:
            of_year = np.array([year in row["years"] for row in self.facts.documents])
            keep &= of_year[self.facts.number_of]
        return keep

    def _score_legs(self, query: str, terms: Sequence[str], route: Route, allowed: Mask) -> _Legs:
        documents = self.facts.score_documents(route)
        number_of = self.facts.number_of
        doubtful = documents["stale"] + documents["draft"] + (documents["year"] < 0) + (documents["place"] < 0) > 0
        preferred = allowed & ~doubtful[number_of]
        if route.forms:
            speaks = [bool(set(split_forms(own)) & set(route.forms)) for own in self._forms]
            preferred &= np.array(speaks)[self._form_number]
        legs = load_family("ranking")["legs"]
        depth = legs["depth"]
        lay_terms = find_lay_terms(query)
        extra = [term for term in lexical.find_terms(lay_terms) if term not in terms]
        by_term = self.index.lexical.score_rows(terms, extra=extra, extra_weight=legs["expansion"])
        meaning = self.encoder.encode_query(query)
        if lay_terms and legs["expanded_vector"]:
            share = legs["expanded_vector"]
            meaning = (1 - share) * meaning + share * self.encoder.encode_query(f"{query} {lay_terms}")
        by_vector = vector.score_rows(self.index.vectors, meaning)
        about = vector.score_rows(self._document_vectors, meaning).astype(np.float64)
        documents["about"] = np.clip((about - about.max() + 0.3) / 0.3, 0.0, 1.0)
        masks = [allowed, preferred]
        if route.perspective:
            masks.append(preferred & (self._perspectives == route.perspective))
        rankings = [
            find_top(np.where(mask, scores, floor), depth, floor=floor)
            for mask in masks
            for scores, floor in ((by_term, 0.0), (by_vector, -1.0))
        ]
        return _Legs(
            by_term, by_vector, rankings, {name: values[number_of] for name, values in documents.items()}, allowed
        )

    @cached_property
    def _perspectives(self) -> npt.NDArray[np.str_]:
        return np.array(self.index.rows["perspective"].to_list())

    @cached_property
    def _document_vectors(self) -> Vectors:
        """The mean direction of each document's passages: what it is about."""
        sums: Vectors = np.zeros((len(self.facts.documents), self.index.vectors.shape[1]), dtype=np.float32)
        np.add.at(sums, self.facts.number_of, self.index.vectors)
        unit: Vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        return unit

    @cached_property
    def _forms(self) -> list[str]:
        return list(self.index.rows["form"].unique().sort())

    @cached_property
    def _form_number(self) -> npt.NDArray[np.int64]:
        numbers = {form: number for number, form in enumerate(self._forms)}
        return np.array([numbers[form] for form in self.index.rows["form"]], dtype=np.int64)

    def _rerank(self, legs: _Legs, route: Route, wanted: dict[str, float]) -> list[Candidate]:
        fused = fuse_rankings([ranking.tolist() for ranking in legs.rankings])
        first = self._score_candidates(list(fused), legs, route, wanted=wanted, fused=fused, steps={})
        seeds = [(candidate.row, self._nodes(candidate.row)) for candidate in first]
        steps = expand_seeds(seeds, neighbours=self._neighbours, row_of=self._row_of)
        steps = {row: step for row, step in steps.items() if legs.allowed[row]}
        if not steps:
            return first
        rows = list(dict.fromkeys([*fused, *steps]))
        return self._score_candidates(rows, legs, route, wanted=wanted, fused=fused, steps=steps)

    def _nodes(self, row: int) -> list[str]:
        anchor_id = self.index.rows["anchor_id"][row]
        return [*([anchor_id] if anchor_id else []), *self.index.rows["node_ids"][row]]

    def _score_candidates(
        self,
        numbers: list[int],
        legs: _Legs,
        route: Route,
        *,
        wanted: dict[str, float],
        fused: dict[int, float],
        steps: dict[int, Step],
    ) -> list[Candidate]:
        if not numbers:
            return []
        features = self._find_features(numbers, legs, route, wanted=wanted, fused=fused, steps=steps)
        scores = rerank.combine_features(features)
        ranks = [{int(row): rank for rank, row in enumerate(ranking, 1)} for ranking in legs.rankings[:2]]
        found = [
            Candidate(
                row=row,
                score=float(scores[position]),
                lexical_rank=ranks[0].get(row),
                vector_rank=ranks[1].get(row),
                cosine=float(legs.by_vector[row]),
                coverage=float(features["coverage"][position]),
                step=steps.get(row),
            )
            for position, row in enumerate(numbers)
        ]
        return sorted(found, key=lambda candidate: (-candidate.score, candidate.row))

    def _find_features(
        self,
        numbers: list[int],
        legs: _Legs,
        route: Route,
        *,
        wanted: dict[str, float],
        fused: dict[int, float],
        steps: dict[int, Step],
    ) -> dict[str, npt.NDArray[np.float64]]:
        rows = self._meta[numbers].rows(named=True)
        at = np.array(numbers)
        held = [frozenset(row["terms"].split(" ")) for row in rows]
        headings = [self._heading_terms(row["heading_path"]) for row in rows]
        floor = float(np.min(legs.by_vector[legs.rankings[1]], initial=1.0))
        return {
            "lexical": _stretch(legs.by_term, at, floor=0.0),
            "vector": _stretch(legs.by_vector, at, floor=floor),
            "fused": np.array([fused.get(row, 0.0) for row in numbers]) / max(fused.values(), default=1.0),
            "coverage": np.array([rerank.score_overlap(wanted, terms) for terms in held]),
            "heading": np.array([rerank.score_overlap(wanted, terms) for terms in headings]),
            "edge": np.array([float(row in steps) for row in numbers]),
            **{name: values[at] for name, values in legs.documents.items()},
            **rerank.score_rows(rows, route),
        }

    @cached_property
    def _meta(self) -> pl.DataFrame:
        columns = ["text", "terms", "heading_path", "form", "doc_type", "anchor_key", "perspective", "level"]
        return self.index.rows.select(columns)

    def _heading_terms(self, heading_path: str) -> frozenset[str]:
        return frozenset(lexical.find_terms(heading_path.split(" > ", 1)[-1]))

    def _result(self, candidate: Candidate, window: Window, ranking: Ranking, *, rank: int) -> Result:
        row = self.index.rows.row(candidate.row, named=True)
        return Result(
            rank=rank,
            score=round(candidate.score, 4),
            document=row["document_id"],
            form=row["form"],
            revision=row["revision"],
            doc_type=row["doc_type"],
            page=window.page,
            bboxes=[Box(page=box["page"], **{name[:2]: box[name] for name in _CORNERS}) for box in window.bboxes],
            heading_path=row["heading_path"],
            anchor_key=row["anchor_key"],
            text=window.text,
            node_id=row["node_ids"][0],
            chunk_id=row["chunk_id"],
            via={
                "lexical_rank": candidate.lexical_rank,
                "vector_rank": candidate.vector_rank,
                "rerank_score": round(candidate.score, 4),
                "cosine": round(candidate.cosine, 4),
                "coverage": round(candidate.coverage, 4),
                "route": ranking.route.describe(),
                "edge": candidate.step.describe() if candidate.step else None,
                "chunk_ids": list(window.chunk_ids),
            },
        )


_CORNERS = ("x0_pt", "y0_pt", "x1_pt", "y1_pt")


@dataclass(frozen=True, slots=True)
class _Legs:
    """Scores of every row by both legs, the rankings cut from them, and the documents' features by row."""

    by_term: lexical.Scores
    by_vector: Vectors
    rankings: list[npt.NDArray[np.int64]]
    documents: dict[str, npt.NDArray[np.float64]]
    allowed: Mask


def _stretch(scores: npt.NDArray[np.float32], rows: npt.NDArray[np.int64], *, floor: float) -> npt.NDArray[np.float64]:
    """Scores of some rows as 0..1 between a floor and the best of them."""
    own = scores[rows].astype(np.float64)
    top = float(own.max(initial=floor))
    if top <= floor:
        return np.zeros(len(rows))
    stretched: npt.NDArray[np.float64] = np.clip((own - floor) / (top - floor), 0.0, 1.0)
    return stretched


def _demote_duplicates(ranking: Ranking, index: SearchIndex) -> Iterator[Candidate]:
    """Candidates in order; a near-duplicate of a better one (another revision or copy) comes after all others."""
    limits = load_family("ranking")["duplicates"]
    rows = [candidate.row for candidate in ranking.candidates]
    cosines = index.vectors[rows] @ index.vectors[rows].T
    terms = [frozenset(text.split(" ")) for text in index.rows["terms"][rows]]
    kept: list[int] = []
    demoted: list[int] = []
    for position in range(len(rows)):
        close = [other for other in kept if cosines[position, other] >= limits["cosine"]]
        is_repeat = any(_overlap(terms[position], terms[other]) >= limits["overlap"] for other in close)
        (demoted if is_repeat else kept).append(position)
    for position in [*kept, *demoted]:
        yield ranking.candidates[position]


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))
