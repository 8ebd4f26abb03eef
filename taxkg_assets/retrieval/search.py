"""From a question to ranked, cited passages: router, two legs, fusion, feature ranker, graph, windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import dataframely as dy
import numpy as np
import numpy.typing as npt

from taxkg_assets import schemas
from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.retrieval import lexical, rerank, vector
from taxkg_assets.retrieval.encoder import Encoder, Vectors
from taxkg_assets.retrieval.expand import Step, build_neighbours, expand_seeds
from taxkg_assets.retrieval.facts import DocumentFacts, Floats, Ints, PassageFacts, find_owners
from taxkg_assets.retrieval.fuse import find_top, fuse_rankings
from taxkg_assets.retrieval.hyde import imagine_passage
from taxkg_assets.retrieval.index import SearchIndex
from taxkg_assets.retrieval.levels import UNIT_LEVELS, Level, name_children
from taxkg_assets.retrieval.passage_scorer import Reranker
from taxkg_assets.retrieval.results import Box, Candidate, Ranking, Result
from taxkg_assets.retrieval.router import Catalog, Route, build_catalog, find_lay_terms, find_level, find_route
from taxkg_assets.retrieval.table_entry import TableCatalogue
from taxkg_assets.retrieval.table_lookup import find_cells, find_unit, score_tables
from taxkg_assets.retrieval.windows import Window, Windows
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.loader import load_family

Mask = npt.NDArray[np.bool_]


MOST_CHARACTERS = 2_000
"""Of a question; no more is read of a longer one, which is no question but a text."""


def tidy_query(query: str) -> str:
    """A question as text that every leg can read: no lone surrogates, no endless length."""
    return query[:MOST_CHARACTERS].encode("utf8", errors="replace").decode("utf8")


@dataclass(frozen=True, slots=True)
class Parts:
    """Which parts of the search are at work; what a part adds is measured by leaving it out, or putting it in.

    The graph's edges led to nothing that the legs had not found, and changed no figure: they are off until they do.
    """

    lexical: bool = True
    vector: bool = True
    router: bool = True
    lay_terms: bool = True
    rerank: bool = True
    reranker: bool = True
    graph: bool = False
    parents: bool = True
    hyde: bool = False
    cells: bool = True


DEFAULT_PARTS = Parts()


@dataclass(frozen=True)
class Searcher:
    """Everything a search needs, opened once: the index, the encoder, the edges of the graph and a model if there are.

    Without a proposer nobody is asked: what rules would propose, the search does by itself. Without tables no cell is
    looked up, and rows of tables are ranked by their words alone.
    """

    index: SearchIndex
    encoder: Encoder
    edges: dy.DataFrame[schemas.Edges] | None = None
    parts: Parts = DEFAULT_PARTS
    proposer: Proposer | None = None
    open_tables: Callable[[], TableCatalogue] | None = None
    reranker: Reranker | None = None

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        form: str | None = None,
        year: int | None = None,
        level: str = "auto",
        document: str | None = None,
        tag: str | None = None,
    ) -> list[Result]:
        """Rank passages for a question; `form`, `year`, `document` and `tag` filter, `level` sets a passage's size.

        Level auto follows what the question is after: documents, sections, or passages with their surroundings.
        """
        ranking = self.rank(query, form=form, year=year, document=document, tag=tag)
        return self.assemble(ranking, k=k, level=find_level(ranking.route.intent) if level == "auto" else level)

    def rank(
        self,
        query: str,
        *,
        form: str | None = None,
        year: int | None = None,
        document: str | None = None,
        tag: str | None = None,
    ) -> Ranking:
        """Order candidate rows without assembling passages."""
        query = tidy_query(query)
        route = find_route(query, catalog=self.catalog) if self.parts.router else Route()
        if form:
            asked = find_route(form, catalog=self.catalog).forms
            route = replace(route, forms=asked or (form,))
        if year:
            route = replace(route, years=(year,))
        allowed = self._allowed(route if form else None, year=year, document=document)
        if tag:
            allowed &= self.passages.find_tagged(tag)
        terms = lexical.find_terms(query)
        wanted = {term: self.index.lexical.weigh_term(term) for term in dict.fromkeys(terms)}
        legs = self._score_legs(query, terms, route, allowed)
        ranking = self._look_again(query, self._rerank(legs, route, wanted=wanted, terms=terms))
        return self._put_cell_first(query, ranking) if self.parts.cells else ranking

    def _put_cell_first(self, query: str, ranking: Ranking) -> Ranking:
        """The ranking led by the unit that prints the cell a question asks for, where headers leave no doubt of it.

        Who names a box and asks for no figure wants it explained; a number beside it in a table is no answer.
        """
        limits = load_family("ranking")["cells"]
        if ranking.route.keys and not ranking.route.wants_amount:
            return ranking
        is_table = self.passages.is_table
        leaders = ranking.candidates[: limits["looked_at"]]
        if self.tables is None or not any(is_table[candidate.row] for candidate in leaders):
            return ranking
        matches = find_cells(
            query,
            self.tables,
            k=1,
            forms=ranking.route.forms,
            names_place=bool(ranking.route.places),
            priors=score_tables(ranking, rows=self.index.rows),
        )
        if not matches or matches[0].score < limits["least_score"]:
            return ranking
        units = {row: self.passages.columns["text"][row] for row in self._table_rows.get(matches[0].table_id, ())}
        row = find_unit(matches[0], texts=units)
        places = [place for place, candidate in enumerate(ranking.candidates) if candidate.row == row]
        if not places:
            return ranking
        order = [*places, *(place for place in range(len(ranking.candidates)) if place not in places)]
        own = replace(ranking.candidates[places[0]], score=ranking.candidates[0].score)
        return replace(
            ranking,
            candidates=(own, *(ranking.candidates[place] for place in order[1:])),
            features={name: values[order] for name, values in ranking.features.items()},
        )

    @cached_property
    def tables(self) -> TableCatalogue | None:
        """The tables of the corpus, taken apart when first asked for."""
        return self.open_tables() if self.open_tables else None

    @cached_property
    def _table_rows(self) -> dict[str, list[int]]:
        """The rows of the index that print each table."""
        found: dict[str, list[int]] = {}
        for row in np.flatnonzero(self.passages.is_table).tolist():
            found.setdefault(self.passages.columns["node_ids"][row][0], []).append(row)
        return found

    def _look_again(self, query: str, ranking: Ranking) -> Ranking:
        """The best candidates in the order that a reranker gives them; the others stay below."""
        if self.reranker is None or not self.parts.reranker or not ranking.candidates:
            return ranking
        depth = self.reranker.depth
        lost = self.reranker.look(query, [self.read_passage(found.row) for found in ranking.candidates[:depth]])
        floor = float(lost.min())
        looked = [
            replace(found, score=found.score + float(lost[place]), lost=float(lost[place]))
            if place < depth
            else replace(found, score=found.score + floor)
            for place, found in enumerate(ranking.candidates)
        ]
        order = sorted(range(len(looked)), key=lambda place: (-looked[place].score, place))
        features = {name: values[order] for name, values in ranking.features.items()}
        return replace(ranking, candidates=tuple(looked[place] for place in order), features=features)

    def read_passage(self, row: int) -> str:
        """A row's text as it was embedded: context, then its own words."""
        context, text = self.index.rows["context"][row], self.index.rows["text"][row]
        return f"{context}\n{text}"

    def assemble(self, ranking: Ranking, *, k: int = 10, level: str = "auto") -> list[Result]:
        """Widen candidates to passages, without repeats, until there are `k`."""
        if level in UNIT_LEVELS and (opened := self._levels[level]) is not None:
            return self._assemble_units(opened, ranking, k=k)
        ranked = [candidate.row for candidate in ranking.candidates]
        windows = Windows(self.passages, level=level if self.parts.parents else "paragraph", ranked=ranked)
        results: list[Result] = []
        for candidate in self._demote_duplicates(ranking.candidates):
            if len(results) == k:
                break
            window = windows.grow(candidate.row)
            if window is not None:
                results.append(self._result(candidate, window, ranking, rank=len(results) + 1))
        return results

    def _assemble_units(self, level: Level, ranking: Ranking, *, k: int) -> list[Result]:
        """The best documents, pages or sections, each at its best passage, with passages to drill down to."""
        rows = np.array([candidate.row for candidate in ranking.candidates], dtype=np.int64)
        scores = np.array([candidate.score for candidate in ranking.candidates])
        ranked = [(row, self.passages.columns["chunk_id"][row]) for row in rows.tolist()]
        results: list[Result] = []
        for number, score in level.rank(list(ranking.wanted), ranking.meaning, rows=rows, scores=scores)[:k]:
            best = next(candidate for candidate in ranking.candidates if level.unit_of[candidate.row] == number)
            window = Windows(self.passages, level="paragraph").grow(best.row)
            assert window is not None
            unit = level.units.row(number, named=True)
            own = Window(f"{unit['text']}\n{window.text}".strip(), window.page, window.bboxes, window.chunk_ids)
            if unit["level"] == "section":
                grown = Windows(self.passages, level="section").grow(best.row)
                own = grown or own
            result = self._result(best, own, ranking, rank=len(results) + 1)
            via = {**result.via, "unit": unit["chunk_id"], "drill_down": name_children(level, number, ranked=ranked)}
            results.append(result.model_copy(update={"score": round(score, 4), "via": via}))
        return results

    @cached_property
    def _levels(self) -> dict[str, Level | None]:
        return {level: self.index.open_level(level) for level in UNIT_LEVELS}

    def knows_form(self, form: str) -> bool:
        """Whether the corpus holds a document of this form, by any of the ways people write it."""
        return bool(find_route(form, catalog=self.catalog).forms)

    def with_parts(self, parts: Parts) -> Searcher:
        """The same search with some parts left out; what was gathered about the index is shared."""
        other = replace(self, parts=parts)
        for name in _SHARED:
            other.__dict__[name] = getattr(self, name)
        return other

    def find_row(self, node_id: str) -> int | None:
        """The first row that holds a node or that an anchor owns."""
        return self._row_of.get(node_id)

    @cached_property
    def facts(self) -> DocumentFacts:
        """What is known of each document."""
        return DocumentFacts(self.index.rows)

    @cached_property
    def passages(self) -> PassageFacts:
        """What is known of each row."""
        return PassageFacts(self.index.rows)

    @cached_property
    def catalog(self) -> Catalog:
        """What the corpus calls its forms and their boxes."""
        documents = ({**row, "form": row["document_form"]} for row in self.facts.documents)
        return build_catalog(documents, keys=self.passages.form_keys)

    @cached_property
    def _neighbours(self) -> Any:
        return build_neighbours(self.edges)

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return find_owners(self.passages.columns, self._anchor_ids)

    @cached_property
    def _anchor_ids(self) -> list[str | None]:
        return self.index.rows["anchor_id"].to_list()

    def _allowed(self, route: Route | None, *, year: int | None, document: str | None) -> Mask:
        """Rows that pass the filters given outright."""
        keep = np.ones(self.index.rows.height, dtype=np.bool_)
        if document:
            keep &= (self.index.rows["document_id"] == document).to_numpy()
        if route is not None:
            keep &= self._speaks_of(route)
        if year:
            of_year = np.array([year in row["years"] for row in self.facts.documents])
            keep &= of_year[self.facts.number_of]
        return keep

    def _speaks_of(self, route: Route) -> Mask:
        speaks = np.array([rerank.score_form(form, route) == 1.0 for form in self.passages.forms])
        return speaks[self.passages.form_number]

    def _score_legs(self, query: str, terms: Sequence[str], route: Route, allowed: Mask) -> _Legs:
        documents = self.facts.score_documents(route)
        number_of = self.facts.number_of
        doubtful = documents["stale"] + documents["draft"] + (documents["year"] < 0) + (documents["place"] < 0) > 0
        preferred = allowed & ~doubtful[number_of]
        if route.forms:
            preferred &= self._speaks_of(route)
        limits = load_family("ranking")["legs"]
        lay_terms = find_lay_terms(query) if self.parts.lay_terms else ""
        imagined = imagine_passage(query, vocabulary=lay_terms, proposer=self.proposer) if self.parts.hyde else None
        added = f"{lay_terms} {imagined.terms}" if imagined else lay_terms
        extra = [term for term in lexical.find_terms(added) if term not in terms]
        by_term = self.index.lexical.score_rows(terms, extra=extra, extra_weight=limits["expansion"])
        meaning = self.encoder.encode_query(query)
        if lay_terms and limits["expanded_vector"]:
            share = limits["expanded_vector"]
            meaning = (1 - share) * meaning + share * self.encoder.encode_query(f"{query} {lay_terms}")
        if imagined:
            share = load_family("llm")["reading"]["hyde_share"]
            meaning = (1 - share) * meaning + share * self.encoder.encode_query(imagined.passage)
        read = self.encoder.scale.read
        by_vector = read(vector.score_rows(self.index.vectors, meaning))
        about = read(vector.score_rows(self._document_vectors, meaning)).astype(np.float64)
        documents["title"] = self._score_titles([*terms, *extra])
        documents["about"] = np.clip((about - about.max() + 0.3) / 0.3, 0.0, 1.0)
        legs = [(self.parts.lexical, by_term, 0.0), (self.parts.vector, by_vector, -1.0)]
        orders = [find_top(scores, limits["depth"], floor=floor, among=allowed) for _, scores, floor in legs]
        masks = [preferred]
        if route.perspective:
            masks.append(preferred & (self.passages.perspectives == route.perspective))
        rankings = [order for order, (is_on, _, _) in zip(orders, legs, strict=True) if is_on] + [
            find_top(scores, limits["depth"], floor=floor, among=mask)
            for mask in masks
            for is_on, scores, floor in legs
            if is_on
        ]
        return _Legs(by_term, by_vector, orders, rankings, documents, allowed, meaning)

    @cached_property
    def _document_vectors(self) -> Vectors:
        """The mean direction of each document's passages: what it is about."""
        sums: Vectors = np.zeros((len(self.facts.documents), self.index.vectors.shape[1]), dtype=np.float32)
        np.add.at(sums, self.facts.number_of, self.index.vectors)
        unit: Vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        return unit

    def _score_titles(self, terms: Sequence[str]) -> Floats:
        """How much of the question stands in the title of each document's form, against the best of them."""
        words = self._title_words
        weight = {term: np.log(len(words) / held) for term in set(terms) if (held := sum(term in own for own in words))}
        scores = np.array([sum(value for term, value in weight.items() if term in own) for own in words])
        return scores / max(float(scores.max(initial=0.0)), 1.0)

    @cached_property
    def _title_words(self) -> list[frozenset[str]]:
        """Words of the titles of the forms that each document is about."""
        of_form = self.catalog.title_words
        return [
            frozenset().union(*(of_form.get(form, frozenset()) for form in split_forms(row["document_form"])))
            for row in self.facts.documents
        ]

    def _rerank(self, legs: _Legs, route: Route, *, wanted: dict[str, float], terms: Sequence[str]) -> Ranking:
        """Order what the legs found, then once more with what the graph ties to the best of it."""
        fused = fuse_rankings([ranking.tolist() for ranking in legs.rankings])
        steps: dict[int, Step] = {}

        def score(found: dict[int, Step]) -> tuple[Ints, dict[str, Floats], Floats]:
            rows = np.array(list(dict.fromkeys([*fused, *found])), dtype=np.int64)
            signals = self._gather(rows, legs, fused=fused, steps=found)
            features: dict[str, Floats] = {}
            scores = signals.fused
            if self.parts.rerank:
                features = rerank.find_features(signals, route, wanted=wanted, terms=terms, facts=self.passages)
                scores = rerank.combine_features(features)
            order = np.lexsort((rows, -scores))
            return rows[order], {name: values[order] for name, values in features.items()}, scores[order]

        if not fused:
            return Ranking(route=route, candidates=(), wanted=wanted, features={}, meaning=legs.meaning)
        rows, features, scores = score({})
        if self.parts.graph:
            seeds = [(row, self._nodes(row)) for row in rows.tolist()]
            steps = expand_seeds(seeds, neighbours=self._neighbours, row_of=self._row_of)
            steps = {row: step for row, step in steps.items() if legs.allowed[row]}
        if steps:
            rows, features, scores = score(steps)
        ranks = [{row: rank for rank, row in enumerate(order.tolist(), 1)} for order in legs.orders]
        candidates = tuple(
            Candidate(
                row=row,
                score=float(scores[place]),
                lexical_rank=ranks[0].get(row),
                vector_rank=ranks[1].get(row),
                cosine=float(legs.by_vector[row]),
                step=steps.get(row),
            )
            for place, row in enumerate(rows.tolist())
        )
        return Ranking(route=route, candidates=candidates, wanted=wanted, features=features, meaning=legs.meaning)

    def _gather(self, rows: Ints, legs: _Legs, *, fused: dict[int, float], steps: dict[int, Step]) -> rerank.Signals:
        top = max(fused.values(), default=1.0)
        return rerank.Signals(
            rows=rows,
            lexical=_stretch(legs.by_term, rows, floor=0.0),
            vector=_stretch(legs.by_vector, rows, floor=legs.vector_floor),
            fused=np.array([fused.get(row, 0.0) for row in rows.tolist()]) / top,
            is_linked=np.array([float(row in steps) for row in rows.tolist()]),
            by_document=legs.documents,
            document_number=self.facts.number_of[rows],
            by_section=self._score_sections(rows, legs.meaning),
        )

    def _score_sections(self, rows: Ints, meaning: Vectors) -> Floats:
        """How near each row's section as a whole is to the question: 1 for the nearest, falling with the distance."""
        anchors = self.passages.anchor_number[rows]
        near = self.encoder.scale.read(self._section_vectors[anchors] @ meaning).astype(np.float64)
        reach: float = load_family("ranking")["section_reach"]
        scores: Floats = np.clip((near - near.max(initial=0.0) + reach) / reach, 0.0, 1.0)
        return scores

    @cached_property
    def _section_vectors(self) -> Vectors:
        """The mean direction of each section's passages."""
        numbers = self.passages.anchor_number
        sums: Vectors = np.zeros((int(numbers.max(initial=-1)) + 1, self.index.vectors.shape[1]), dtype=np.float32)
        np.add.at(sums, numbers, self.index.vectors)
        unit: Vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        return unit

    def _nodes(self, row: int) -> list[str]:
        anchor_id = self._anchor_ids[row]
        return [*([anchor_id] if anchor_id else []), *self.passages.columns["node_ids"][row]]

    def _demote_duplicates(self, candidates: Sequence[Candidate]) -> Iterator[Candidate]:
        """Candidates in order; a near-duplicate of a better one (another revision or copy) comes after all others."""
        limits = load_family("ranking")["duplicates"]
        kept: list[int] = []
        demoted: list[Candidate] = []
        for candidate in candidates:
            row = candidate.row
            cosines = self.index.vectors[kept] @ self.index.vectors[row]
            close = [kept[place] for place in np.flatnonzero(cosines >= limits["cosine"])]
            if any(self._overlap(row, other) >= limits["overlap"] for other in close):
                demoted.append(candidate)
            else:
                kept.append(row)
                yield candidate
        yield from demoted

    def _overlap(self, one: int, other: int) -> float:
        terms = self.passages.columns["terms"]
        own, held = frozenset(terms[one].split(" ")), frozenset(terms[other].split(" "))
        return len(own & held) / max(1, len(own | held))

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
                "reranker": {"name": self.reranker.name, "lost": round(candidate.lost, 4)}
                if self.reranker is not None and candidate.lost is not None
                else None,
                "cosine": round(candidate.cosine, 4),
                "coverage": round(rerank.score_overlap(ranking.wanted, frozenset(row["terms"].split(" "))), 4),
                "route": ranking.route.describe(),
                "edge": candidate.step.describe() if candidate.step else None,
                "chunk_ids": list(window.chunk_ids),
            },
        )


_SHARED = (
    "facts",
    "passages",
    "catalog",
    "_neighbours",
    "_row_of",
    "_anchor_ids",
    "_document_vectors",
    "_section_vectors",
    "_table_rows",
    "tables",
    "_title_words",
)
_CORNERS = ("x0_pt", "y0_pt", "x1_pt", "y1_pt")


@dataclass(frozen=True, slots=True)
class _Legs:
    """Scores of every row by both legs, their own orders, the rankings to fuse, and the documents' features."""

    by_term: lexical.Scores
    by_vector: Vectors
    orders: list[Ints]
    rankings: list[Ints]
    documents: dict[str, Floats]
    allowed: Mask
    meaning: Vectors

    @property
    def vector_floor(self) -> float:
        """Cosine of the last row that the vector leg ranks."""
        return float(np.min(self.by_vector[self.orders[1]], initial=1.0))


def _stretch(scores: npt.NDArray[np.float32], rows: Ints, *, floor: float) -> Floats:
    """Scores of some rows as 0..1 between a floor and the best of them."""
    own = scores[rows].astype(np.float64)
    top = float(own.max(initial=floor))
    if top <= floor:
        return np.zeros(len(rows))
    stretched: Floats = np.clip((own - floor) / (top - floor), 0.0, 1.0)
    return stretched
