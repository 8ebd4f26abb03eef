"""Search: parse a question, retrieve and fuse candidates, rank them by features, and assemble passages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.retrieval.encoding.arrays import Floats
from taxkg_assets.retrieval.encoding.encoder import Encoder
from taxkg_assets.retrieval.encoding.passage_scorer import Reranker
from taxkg_assets.retrieval.index.document_facts import DocumentFacts
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.first_stage import FirstStage, score_first_stage
from taxkg_assets.retrieval.index.index_context import IndexContext
from taxkg_assets.retrieval.index.levels import UNIT_LEVELS
from taxkg_assets.retrieval.index.passage_index import PassageIndex
from taxkg_assets.retrieval.index.row_filter import build_filter
from taxkg_assets.retrieval.index.scores import BestRows, QuestionTerms
from taxkg_assets.retrieval.index.signals import Signals, gather_signals
from taxkg_assets.retrieval.query.components import DEFAULT_COMPONENTS, SearchComponents
from taxkg_assets.retrieval.query.parsed_query import (
    EncodedQuery,
    ParsedQuery,
    encode_query,
    expand_query,
    parse_query,
    tidy_query,
)
from taxkg_assets.retrieval.query.router import Catalog, find_level, find_route
from taxkg_assets.retrieval.query.typos import correct_typos
from taxkg_assets.retrieval.ranking import rerank
from taxkg_assets.retrieval.ranking.assembly import Assembly
from taxkg_assets.retrieval.results import Candidate, Flag, Ranking, Result
from taxkg_assets.retrieval.tables.table_boost import promote_table_cell, requests_table_cell
from taxkg_assets.retrieval.tables.table_entry import TableCatalogue
from taxkg_assets.rules.models.ranking import load_ranking


@dataclass(frozen=True)
class Searcher:
    """An opened search over one index.

    Attributes with None are optional: without a proposer no language model is called; without tables no cell is
    promoted to the top of a ranking; without flows, lines and boxes answers quote passages only.

    Attributes:
        index: Passages with their postings and vectors.
        encoder: Encoder that made the vectors.
        parts: Components of the search that are on.
        proposer: Language model.
        open_tables: Opens the catalog of tables.
        reranker: Model that scores the best candidates again.
    """

    index: PassageIndex
    encoder: Encoder
    parts: SearchComponents = DEFAULT_COMPONENTS
    proposer: Proposer | None = None
    open_tables: Callable[[], TableCatalogue] | None = None
    reranker: Reranker | None = None
    open_changes: Callable[[], pl.DataFrame] | None = None
    """Reads the changes between editions."""
    open_flows: Callable[[], pl.DataFrame] | None = None
    """Reads the flows: statements that an amount goes from one line to another."""
    open_lines: Callable[[], pl.DataFrame] | None = None
    """Reads the lines of forms with their printed labels."""
    open_boxes: Callable[[], pl.DataFrame] | None = None
    """Reads the boxes of forms with their printed labels."""
    read_sections: Callable[[Collection[str]], pl.DataFrame] | None = None
    """Reads the rows of `sections` with some element ids, for the rectangles of printed lines."""
    find_address: Callable[[str | None], str | None] | None = None
    """Returns the official address of a section by its anchor id, if one is known."""
    flags: Mapping[str, Sequence[Flag]] = field(default_factory=dict)
    """Quality flags by document, for documents with a failed check."""

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
        """Rank passages for a question.

        Args:
            query: Words of the user.
            k: Maximum number of passages.
            form: Form of the documents to search; None for all.
            year: Year of the documents to search; None for all.
            level: Size of a passage; `auto` follows the intent: documents, sections, or passages with their
                surroundings.
            document: Id of the only document to search; None for all.
            tag: Tag or entity of the rows to search; None for all.

        Returns:
            Passages, best first.
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
        """Rank candidate rows for a question, without assembling passages.

        Args:
            query: Words of the user.
            form: Form of the documents to search; None for all.
            year: Year of the documents to search; None for all.
            document: Id of the only document to search; None for all.
            tag: Tag or entity of the rows to search; None for all.

        Returns:
            Candidates, best first, with their features.
        """
        query, corrections = self._correct(query)
        context, parts = self.index_context, self.parts
        parsed = self._parse(query, corrections, form=form, year=year)
        encoded, by_term = self._encode_and_score(parsed)
        scale = self.encoder.scale
        caller_filter = build_filter(
            context.documents,
            document=document,
            year=year,
            forms=parsed.matches_form if form else None,
            tag=tag,
        )
        first_stage = score_first_stage(
            parsed,
            encoded,
            by_term=by_term,
            caller_filter=caller_filter,
            index_context=context,
            scale=scale,
            components=parts,
        )
        signals = None
        if first_stage.fused_scores:
            signals = gather_signals(parsed, encoded, first_stage, index_context=context, scale=scale)
        ranking = self._rank_by_features(parsed, encoded, first_stage, signals)
        ranking = self._apply_reranker(parsed.text, replace(ranking, question=query, corrections=corrections))
        if (
            self.parts.cells
            and requests_table_cell(parsed.text, ranking, index_context=context)
            and self.tables is not None
        ):
            return promote_table_cell(parsed.text, ranking, tables=self.tables, index_context=context)
        return ranking

    def encode_questions(self, queries: Sequence[str]) -> None:
        """Encode the tokens of many questions together, for an encoder that remembers them.

        A question alone fills an eighth of a batch. Vectors are the same, as batch mates change none.

        Args:
            queries: Questions that will be ranked, without a form or year of the caller.
        """
        if self.parts.tokens and self.index_context.has_tokens:
            texts = [self._parse(*self._correct(query), form=None, year=None).text for query in queries]
            self.encoder.encode_tokens(list(dict.fromkeys(texts)))

    def _parse(self, query: str, corrections: Mapping[str, str], *, form: str | None, year: int | None) -> ParsedQuery:
        """Parse a corrected question."""
        context = self.index_context
        return parse_query(
            query,
            corrections=corrections,
            catalog=context.catalog,
            parts=self.parts,
            form=form,
            year=year,
            forms=context.passages.forms,
        )

    def _encode_and_score(self, parsed: ParsedQuery) -> tuple[EncodedQuery, BestRows]:
        """Compute the vectors of the question, and meanwhile score all rows by BM25."""
        expanded = expand_query(parsed, parts=self.parts, proposer=self.proposer)
        terms = QuestionTerms(expanded.terms, expanded.expansion_terms, load_ranking().retrievers.expansion)
        return encode_query(
            parsed,
            expanded,
            encoder=self.encoder,
            has_tokens=self.parts.tokens and self.index_context.has_tokens,
            meanwhile=lambda: self.index.score_terms(terms),
        )

    def _correct(self, query: str) -> tuple[str, dict[str, str]]:
        """Return the question without typing errors, and its corrected words by misspelled word."""
        query = tidy_query(query)
        if not self.parts.typos:
            return query, {}
        return correct_typos(query, vocabulary=self.index.lexical.vocabulary, encoder=self.encoder)

    def assemble(self, ranking: Ranking, *, k: int = 10, level: str = "auto") -> list[Result]:
        """Extend candidates to passages without overlap, up to `k` passages.

        Args:
            ranking: Ranked candidates.
            k: Maximum number of passages.
            level: Size of a passage, as in `search`.

        Returns:
            Passages, best first.
        """
        reranker_name = self.reranker.name if self.reranker is not None else None
        assembly = Assembly(
            self.index_context,
            ranking,
            has_parents=self.parts.parents,
            reranker=reranker_name,
            find_address=self.find_address,
        )
        if level in UNIT_LEVELS and (unit_index := self.index_context.levels[level]) is not None:
            return self._flag(assembly.assemble_units(unit_index, k=k))
        return self._flag(assembly.assemble_passages(k=k, level=level))

    def show_rows(self, ranking: Ranking, rows: Sequence[int]) -> list[Result]:
        """Assemble the passages of given rows, even of rows that the ranking lacks.

        Args:
            ranking: Ranking of the question.
            rows: 0-based rows of the index, each once.

        Returns:
            One passage for each row, in the order of `rows`.
        """
        candidates = tuple(
            Candidate(row=row, score=float(len(rows) - ix), lexical_rank=None, vector_rank=None, cosine=0.0)
            for ix, row in enumerate(rows)
        )
        row_ranking = replace(ranking, candidates=candidates, cell="")
        return self.assemble(row_ranking, k=len(rows), level="paragraph")

    def _flag(self, results: list[Result]) -> list[Result]:
        """Add to each passage the quality flags of its document."""
        return [
            row.model_copy(update={"quality": list(flags)}) if (flags := self.flags.get(row.document)) else row
            for row in results
        ]

    def knows_form(self, form: str) -> bool:
        """Return whether the corpus has a document of this form, by any of its names.

        Args:
            form: Name of a form.
        """
        return bool(find_route(form, catalog=self.catalog).forms)

    def with_parts(self, parts: SearchComponents) -> Searcher:
        """Return a search over the same index with other components on.

        Args:
            parts: Components that are on.
        """
        other = replace(self, parts=parts)
        other.__dict__.update(index_context=self.index_context, tables=self.tables)
        return other

    @cached_property
    def index_context(self) -> IndexContext:
        """Return the context of the index."""
        return IndexContext(self.index)

    @cached_property
    def tables(self) -> TableCatalogue | None:
        """Return the tables of the corpus, parsed on first access."""
        return self.open_tables() if self.open_tables else None

    @property
    def facts(self) -> DocumentFacts:
        """Return the columns of documents."""
        return self.index_context.documents

    @property
    def passages(self) -> PassageFacts:
        """Return the columns of passages."""
        return self.index_context.passages

    @property
    def catalog(self) -> Catalog:
        """Return the forms of the corpus with their names and the keys of their boxes."""
        return self.index_context.catalog

    def find_row(self, node_id: str) -> int | None:
        """Return the first row of a node or of an anchor; None for an unknown id.

        Args:
            node_id: Id of a node of the graph.
        """
        return self.index_context.index.find_node(node_id)

    def read_passage(self, row: int) -> str:
        """Return the text that was embedded for a row: its context, then its own words.

        Args:
            row: 0-based row of the index.
        """
        return self.index_context.read_passage(row)

    def _apply_reranker(self, query: str, ranking: Ranking) -> Ranking:
        """Rerank the best candidates with the reranker; all others stay below these."""
        if self.reranker is None or not self.parts.reranker or not ranking.candidates:
            return ranking
        depth = self.reranker.depth
        self.passages.prefetch([candidate.row for candidate in ranking.candidates[:depth]], ("context", "text"))
        penalties = self.reranker.score_penalties(
            query, [self.read_passage(candidate.row) for candidate in ranking.candidates[:depth]]
        )
        lowest_penalty = float(penalties.min())
        reranked = [
            replace(candidate, score=candidate.score + float(penalties[ix]), rerank_penalty=float(penalties[ix]))
            if ix < depth
            else replace(candidate, score=candidate.score + lowest_penalty)
            for ix, candidate in enumerate(ranking.candidates)
        ]
        order = sorted(range(len(reranked)), key=lambda ix: (-reranked[ix].score, ix))
        features = {name: values[order] for name, values in ranking.features.items()}
        return replace(ranking, candidates=tuple(reranked[ix] for ix in order), features=features)

    def _rank_by_features(
        self, parsed: ParsedQuery, encoded: EncodedQuery, first_stage: FirstStage, signals: Signals | None
    ) -> Ranking:
        """Rank the candidates by their features; an empty ranking without signals."""
        if signals is None:
            return Ranking(parsed.route, (), first_stage.idf, {}, encoded.query_vector)
        features: dict[str, Floats] = {}
        rows, scores = signals.rows, signals.fused
        if self.parts.rerank:
            features = rerank.compute_features(
                signals,
                parsed.route,
                term_idf=first_stage.idf,
                question_terms=encoded.terms,
                facts=self.index_context.passages,
            )
            scores = rerank.combine_features(features)
        order = np.lexsort((rows, -scores))
        rows, scores = rows[order], scores[order]
        features = {name: values[order] for name, values in features.items()}
        ranks = [{row: rank for rank, row in enumerate(order.tolist(), 1)} for order in first_stage.best_rows]
        cosines = first_stage.scores.score_meaning(rows).tolist()
        row_numbers = rows.tolist()
        lexical_ranks, vector_ranks = (map(rank_by_row.get, row_numbers) for rank_by_row in ranks)
        candidates = tuple(map(Candidate, row_numbers, scores.tolist(), lexical_ranks, vector_ranks, cosines))
        return Ranking(
            route=parsed.route,
            candidates=candidates,
            query_term_idf=first_stage.idf,
            features=features,
            query_vector=encoded.query_vector,
            tokens=encoded.tokens,
        )
