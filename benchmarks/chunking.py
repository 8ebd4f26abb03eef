"""Chunkers: fixed sizes, structure and meaning, on real documents and on the same without their layout.

Boundaries are compared with labeled headings, and each chunker's index is queried the labeled questions.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dataframely as dy
import numpy as np
import polars as pl

from benchmarks.boundaries import BoundaryScore, find_places, letters_of, score_boundaries
from benchmarks.documents import CorpusError
from benchmarks.labeled import LabeledQuestion, label_question
from benchmarks.plain_layout import flatten
from benchmarks.results import write_results
from taxkg_assets import schemas
from taxkg_assets.chunking.chunks import build_chunks
from taxkg_assets.chunking.rows import count_tokens
from taxkg_assets.defs.home.models import open_encoder
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.evaluation.metrics import Result, score_query
from taxkg_assets.extraction.extract import Extraction, extract
from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.prompts.contract import AnyItem, AnyProposal, Block, ProposalOutcome, Task
from taxkg_assets.prompts.document_tasks import QualityItem
from taxkg_assets.prompts.tasks import BOUNDARY_DETECTION, QUALITY_VALIDATION
from taxkg_assets.records import GoldPassageRecord
from taxkg_assets.retrieval.encoding.encoder import Encoder
from taxkg_assets.retrieval.encoding.wrapped_encoders import RememberingEncoder
from taxkg_assets.retrieval.index.embeddings import build_embeddings, stack_vectors
from taxkg_assets.retrieval.index.index import SearchIndex, build_index_rows
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

NAMES = ("i1040sb--2025", "i1099ac--2022-01", "i1099div--2024-01.facsimile", "iw2w3--2026", "p525--2025")
THREE_TIERS = "structural, three tiers"
LAYOUTS = ("as printed", "without layout")
CHUNKERS = ("fixed", "structural", THREE_TIERS, "semantic")
FIXED_WORDS, K = 110, 3
Frames = dict[str, pl.DataFrame]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One chunker on one layout: its chunks, how its boundaries agree, and what its index gave.

    Attributes: first_accepted, accepted: share of the units cut by meaning that the judge accepts, before and after the
                    refinement; None for other chunkers, which ask no judge.
                judged: share of all prose that is indexed which the same judge accepts, its neighbors in sight.
    """

    layout: str
    chunker: str
    chunks: int
    mean_tokens: float
    first_accepted: float | None
    accepted: float | None
    judged: float
    sufficiency: dict[str, tuple[float, int]]
    near_miss: float
    boundaries: dict[str, BoundaryScore]


@dataclass(frozen=True, slots=True)
class Report:
    """One run over all layouts and chunkers."""

    outcomes: list[Outcome]

    def write(self, folder: Path) -> str:
        """Write `chunking.json` and `chunking.md`; gives the Markdown."""
        return write_results(self, render(self), folder=folder, name="chunking")


def render(report: Report) -> str:
    """What each chunker's index gave, and how its boundaries agree with the headings."""
    slices = list(report.outcomes[0].sufficiency)
    verdicts = ["accepted at first", "after refinement", "any chunk by the same judge"]
    head = ["layout", "chunker", "chunks", "tokens", *verdicts, *slices, "near_miss@1"]
    lines = [
        "# chunking",
        "",
        f"Sufficiency@{K}: all passages that an answer needs are among the first {K} results.",
        "",
    ]
    lines += [_row(head), _row(["---"] * len(head))]
    for row in report.outcomes:
        figures = (row.first_accepted, row.accepted, row.judged)
        accepted = ["" if figure is None else f"{figure:.0%}" for figure in figures]
        shares = [f"{share:.0%} of {n}" for share, n in row.sufficiency.values()]
        start = [row.layout, row.chunker, str(row.chunks), f"{row.mean_tokens:.0f}", *accepted]
        lines.append(_row([*start, *shares, f"{row.near_miss:.2f}"]))
    head = ["layout", "document", "headings", "chunker", "boundaries", "precision", "recall", "F1", "WindowDiff"]
    lines += ["", _row(head), _row(["---"] * len(head))]
    for row in report.outcomes:
        for name, score in row.boundaries.items():
            agreement = (score.precision, score.recall, score.f1, score.window_diff)
            start = [row.layout, name, str(score.headings), row.chunker, str(score.boundaries)]
            lines.append(_row([*start, *(f"{figure:.2f}" for figure in agreement)]))
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Measure all chunkers on the five documents of TAXKG_TEST_CORPUS with labels in its folder `eval`."""
    encoder = open_encoder(Home(home=Settings().home))
    return measure(RememberingEncoder(encoder))


def measure(encoder: Encoder, *, layouts: Sequence[str] = LAYOUTS, chunkers: Sequence[str] = CHUNKERS) -> Report:
    """Measure chunkers on layouts with an opened encoder."""
    root = Path(os.environ.get("TAXKG_TEST_CORPUS", "../shared"))
    queries, headings = list(_load_queries(root)), _load_headings(root)
    outcomes = []
    for layout in layouts:
        read = {name: _read(root, name, layout=layout) for name in NAMES}
        frames = _stack(read)
        for chunker in chunkers:
            judge = WatchedJudge()
            chunks = chunk(frames, chunker=chunker, encoder=encoder, judge=judge)
            searcher = open_searcher(chunks, frames, encoder=encoder)
            boundaries = {
                name: _score_document(chunks, read[name], name=name, headings=headings[name])
                for name in NAMES
                if name in headings
            }
            outcomes.append(
                _outcome((layout, chunker), chunks, judge, searcher=searcher, queries=queries, boundaries=boundaries)
            )
    return Report(outcomes)


def _outcome(
    named: tuple[str, str],
    chunks: pl.DataFrame,
    judge: WatchedJudge,
    *,
    searcher: Searcher,
    queries: Sequence[LabeledQuestion],
    boundaries: dict[str, BoundaryScore],
) -> Outcome:
    scored = [(query, score_answer(searcher, query)) for query in queries]
    single = [scores for query, scores in scored if len(_required(query)) == 1]
    slices = {"single-passage": single, "all questions": [scores for _, scores in scored]}
    for kind in sorted({query["type"] for query in queries}):
        slices[kind] = [scores for query, scores in scored if query["type"] == kind]
    cut = chunks.filter(pl.col("created_by") != "structural")
    near = [scores["near_miss@1"] or 0.0 for _, scores in scored]
    return Outcome(
        layout=named[0],
        chunker=named[1],
        chunks=chunks.filter(pl.col("status") == "accepted").height,
        mean_tokens=float(np.mean(chunks["token_count"].to_numpy())),
        first_accepted=float(np.mean(judge.at_first)) if judge.at_first else None,
        accepted=float(np.mean((cut["status"] == "accepted").to_numpy())) if cut.height else None,
        judged=judge_texts(chunks),
        sufficiency={n: (float(np.mean([s[f"sufficiency@{K}"] for s in own])), len(own)) for n, own in slices.items()},
        near_miss=float(np.mean(near)),
        boundaries=boundaries,
    )


# ------------------------------------------------------------------------------------------ documents and labels


def _read(root: Path, name: str, *, layout: str) -> Extraction:
    path = next((p for p in (root / f"{name}.pdf", root / "corpus" / f"{name}.pdf") if p.is_file()), None)
    if path is None:
        raise CorpusError(f"{name}.pdf is not in {root}: set TAXKG_TEST_CORPUS to a folder with the real PDFs.")
    data = path.read_bytes()
    return extract(data if layout == LAYOUTS[0] else flatten(data, document_id=name), document_id=name)


def _labels(root: Path, name: str) -> list[dict[str, Any]]:
    path = root / "eval" / name
    if not path.is_file():
        raise CorpusError(f"{name} is not in {path.parent}: the labels belong next to the documents.")
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line]


def _load_queries(root: Path) -> Iterator[LabeledQuestion]:
    """The questions whose gold passages all lie in the five documents."""
    for row in _labels(root, "queries.jsonl"):
        if row["gold"] and all(passage["document"] in NAMES for passage in row["gold"]):
            yield label_question(row)


def _load_headings(root: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in _labels(root, "anchors.jsonl"):
        found.setdefault(row["document"], []).append(row["heading"])
    return found


def _required(query: LabeledQuestion) -> list[GoldPassageRecord]:
    return [passage for passage in query["gold"] if passage["grade"] >= 2]


def _stack(read: dict[str, Extraction]) -> Frames:
    frames = {n: pl.concat([own.frames[n] for own in read.values()]) for n in ("sections", "tables", "anchors")}
    columns = ("irs_name", "form", "doc_type", "revision", "tax_year", "is_draft", "title")
    rows = [{"document_id": d, **{c: getattr(own.identity, c) for c in columns}} for d, own in read.items()]
    return {**frames, "documents": schemas.Documents.sample(overrides=rows)}


# ------------------------------------------------------------------------------------------------------ chunkers


class WatchedJudge(RuleProposer):
    """The rules; remembers of each document what they stated about its units before any was refined."""

    def __init__(self) -> None:
        self.at_first: list[bool] = []
        self._is_new = True

    def propose(
        self, task: Task[AnyItem, AnyProposal], items: Sequence[AnyItem]
    ) -> tuple[ProposalOutcome[AnyProposal], ...]:
        rows = super().propose(task, items)
        if task.name == BOUNDARY_DETECTION.name:
            self._is_new = True
        elif task.name == QUALITY_VALIDATION.name and self._is_new:
            self._is_new = False
            self.at_first += [getattr(row.proposal, "verdict", "") == "ACCEPT" for row in rows]
        return rows


def judge_texts(chunks: pl.DataFrame) -> float:
    """Share of the prose in an index that the judge accepts, by any chunker.

    The similarity of the parts of a chunk is not judged: a fixed run of words has no parts.
    """
    own = chunks.filter(pl.col("level") != "table", pl.col("status") == "accepted").sort("document_id", "chunk_ix")
    items = []
    for _, rows in own.group_by("document_id", maintain_order=True):
        texts = ["", *rows["text"], ""]
        items += [
            QualityItem(
                item_id=chunk_id, blocks=(Block(element_id=chunk_id, text=text),), before=texts[n], after=texts[n + 2]
            )
            for n, (chunk_id, text) in enumerate(rows.select("chunk_id", "text").iter_rows())
        ]
    said = [row.proposal for row in RuleProposer().propose(QUALITY_VALIDATION, items)]
    return float(np.mean([proposal is not None and proposal.verdict == "ACCEPT" for proposal in said]))


def chunk(
    frames: Frames, *, chunker: str, encoder: Encoder, judge: RuleProposer | None = None
) -> dy.DataFrame[schemas.Chunks]:
    """Cut the documents: by structure, by meaning, or into runs of equally many words."""
    way = "semantic" if chunker == "semantic" else "structural"
    context = "three_tier" if chunker == THREE_TIERS else "structured"
    made = build_chunks(
        documents=schemas.Documents.cast(frames["documents"]),
        sections=schemas.Sections.cast(frames["sections"]),
        tables=schemas.Tables.cast(frames["tables"]),
        anchors=schemas.Anchors.cast(frames["anchors"]),
        reviews=schemas.Reviews.create_empty(),
        settings=Settings.model_validate({"chunker": way, "context": context}),
        proposer=judge or RuleProposer(),
        encode=_once(encoder),
    )
    return _cut_evenly(frames, like=made) if chunker == "fixed" else made


def _once(encoder: Encoder) -> Callable[[Sequence[str]], np.ndarray]:
    known: dict[str, np.ndarray] = {}

    def encode(texts: Sequence[str]) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, encoder.encode_passages(new), strict=True))
        return np.array([known[text] for text in texts])

    return encode


def _cut_evenly(frames: Frames, *, like: dy.DataFrame[schemas.Chunks]) -> dy.DataFrame[schemas.Chunks]:
    """Runs of words whatever they say; document and page are known of each, and no heading."""
    rows = []
    for (document_id,), sections in (
        frames["sections"].sort("document_id", "paragraph_ix").group_by("document_id", maintain_order=True)
    ):
        words = [(word, page) for text, page in sections.select("text", "page").iter_rows() for word in text.split()]
        first = like.filter(pl.col("document_id") == document_id).sort("chunk_ix").row(0, named=True)
        title = first["heading_path"].split(" > ")[0]
        for number, start in enumerate(range(0, len(words), FIXED_WORDS)):
            text = " ".join(word for word, _ in words[start : start + FIXED_WORDS])
            rows.append(
                {**first, "chunk_id": f"paragraph:{document_id}@{number:05d}", "chunk_ix": number, "text": text}
                | {"anchor_id": None, "anchor_key": None, "parent_id": document_id, "heading_path": title}
                | {"context": first["context"].split(" > ")[0], "page": words[start][1], "node_ids": [document_id]}
                | {"token_count": count_tokens(text), "level": "paragraph", "bboxes": []}
            )
    frame = pl.DataFrame(rows, schema=schemas.Chunks.create_empty().schema)
    return schemas.Chunks.validate(frame.sort("chunk_id"))


def open_searcher(chunks: dy.DataFrame[schemas.Chunks], frames: Frames, *, encoder: Encoder) -> Searcher:
    """An index of chunks in memory."""
    embeddings = build_embeddings(chunks, None, encoder=encoder)
    rows = build_index_rows(
        chunks=chunks,
        documents=schemas.Documents.cast(frames["documents"]),
        embeddings=embeddings,
        model_hash=encoder.model_hash,
    )
    vectors = stack_vectors(rows["vector"])
    index = SearchIndex(rows=rows.drop("vector"), vectors=vectors, model_hash=encoder.model_hash)
    return Searcher(index=index, encoder=encoder)


def score_answer(searcher: Searcher, query: LabeledQuestion) -> dict[str, float | None]:
    """The metrics of one question."""
    found = searcher.assemble(searcher.rank(query["query"]), k=10)
    return score_query(query, [Result(row.document, row.text) for row in found], is_abstained=False)


def _score_document(chunks: pl.DataFrame, read: Extraction, *, name: str, headings: Sequence[str]) -> BoundaryScore:
    elements = read.frames["elements"].filter(pl.col("role") != "PageArtifact").sort("page", "element_ix")
    whole = "".join(letters_of(text) for text in elements["text"])
    own = chunks.filter(pl.col("document_id") == name, pl.col("level") != "table", pl.col("status") == "accepted")
    found = find_places(own.sort("chunk_ix")["text"], whole)
    return score_boundaries(found, find_places(headings, whole), length=len(whole))
