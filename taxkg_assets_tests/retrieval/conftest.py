"""An invented form with its booklet in two revisions, a draft and a town code, and an encoder that needs no model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dataframely as dy
import numpy as np
import polars as pl
import pytest

from taxkg_assets import schemas
from taxkg_assets.chunking.chunks import build_chunks
from taxkg_assets.llm.rule_proposer import RuleProposer
from taxkg_assets.retrieval.encoding.encoder import UNSCALED, Progress, TokenVectors, Vectors
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.index.embeddings import build_embeddings, embedded_text, stack_vectors
from taxkg_assets.retrieval.index.index import SearchIndex, build_index_rows
from taxkg_assets.retrieval.index.passage_index import PrecomputedFacts
from taxkg_assets.retrieval.index.token_match import build_token_index
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

BOX = {"x0_pt": 50.0, "y0_pt": 100.0, "x1_pt": 300.0, "y1_pt": 112.0}


def _place(term: str) -> int:
    """Return the coordinate that represents a term."""
    place: int = sum(ord(letter) * 31**power for power, letter in enumerate(term)) % TermEncoder.dimension
    return place


class TermEncoder:
    """Vectors of hashed terms: texts that share words are near, as with a real encoder, and no model is needed."""

    model_name = "terms"
    model_hash = "terms-1"
    dimension = 64
    scale = UNSCALED

    def __init__(self) -> None:
        self.encoded = 0

    def encode_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        self.encoded += len(texts)
        if progress is not None:
            progress(len(texts), len(texts))
        return np.array([self.encode_query(text) for text in texts], dtype=np.float32).reshape(-1, self.dimension)

    def encode_sentences(self, texts: Sequence[str]) -> Vectors:
        return self.encode_passages(texts)

    def find_tokens(self, texts: Sequence[str]) -> list[list[int]]:
        return [[_place(term) for term in find_terms(text)] for text in texts]

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [
            TokenVectors(np.array(own, dtype=np.int32), np.eye(self.dimension, dtype=np.float32)[own])
            for own in self.find_tokens(texts)
        ]

    def encode_lone_tokens(self, tokens: Sequence[int]) -> Vectors:
        return np.eye(self.dimension, dtype=np.float32)[list(tokens)]

    def encode_query(self, text: str) -> Vectors:
        vector = np.full(self.dimension, 1e-3)
        for term in find_terms(text):
            vector[_place(term)] += 1.0
        unit: Vectors = (vector / np.linalg.norm(vector)).astype(np.float32)
        return unit


def _document(document_id: str, **columns: Any) -> dict[str, Any]:
    irs_name = document_id.split("--")[0]
    return {
        "document_id": document_id,
        "irs_name": irs_name,
        "form": "2077-ZED",
        "doc_type": "form",
        "revision": "2031",
        "tax_year": 2031,
        "is_draft": False,
        "title": "Form 2077-ZED (2031) — Mooring Income",
        "pdf_modified_on": "",
        "sha256": "0" * 64,
        "page_count": 2,
        "source_uri": document_id,
        "source_root": "",
        "page_url": None,
        "pdf_url": None,
        "code_version": "1",
        "warnings": [],
        "image_only_pages": [],
        "hidden_texts": [],
        "page_sources": [],
        "tier": 1,
        "fetched_at": None,
        **columns,
    }


# document, perspective, kind, key, heading, paragraphs
_TEXTS: list[tuple[str, str, str, str | None, str, list[str]]] = [
    (
        document,
        "recipient",
        "box",
        key,
        f"Box {key[4:]}.",
        [text.format(rate=rate)],
    )
    for document, rate in (("f2077zed--2030", "12%"), ("f2077zed--2031", "14%"), ("f2077zed--2031-draft", "15%"))
    for key, text in (
        ("box_1a", "Shows the harbour rent a tenant paid you for a berth. Tax of {rate} was kept back from it."),
        ("box_1b", "Shows the part of box 1a that came from foreign vessels and so is free of harbour duty."),
    )
]
_TEXTS += [
    (
        "i2077zed--2031",
        "filer",
        "box",
        "box_1a",
        "Box 1a. Harbour Rent",
        ["Enter all harbour rent paid for berths, and include the amounts of box 1b.", "Do not include repair fees."],
    ),
    (
        "i2077zed--2031",
        "filer",
        "section",
        None,
        "Repair fees",
        [
            "Repair fees of a shipyard are never harbour rent. "
            + " ".join(f"Case {n} stands for itself." for n in range(80))
        ],
    ),
    (
        "town-code",
        "statute",
        "statute_section",
        "sec_12-101",
        "§ 12-101 Berth duty.",
        ["A person who keeps a berth in Manhattan pays a berth duty of thirty cents a foot to the city of New York."],
    ),
]


@pytest.fixture(scope="session")
def documents() -> dy.DataFrame[schemas.Documents]:
    rows = [
        _document("f2077zed--2030", revision="2030", tax_year=2030, title="Form 2077-ZED (2030) — Mooring Income"),
        _document("f2077zed--2031"),
        _document("f2077zed--2031-draft", irs_name="f2077zed", is_draft=True),
        _document("i2077zed--2031", doc_type="filer_instructions", title="Instructions for Form 2077-ZED (2031)"),
        _document("town-code", irs_name="", form="", doc_type="statute", revision="", tax_year=None, title="Town code"),
    ]
    empty = schemas.Documents.create_empty()
    fetched = pl.datetime(2031, 1, 1, time_unit="us", time_zone="UTC")
    frame = pl.DataFrame(rows, schema_overrides=empty.schema).with_columns(fetched_at=fetched).select(empty.columns)
    return schemas.Documents.validate(frame)


@pytest.fixture(scope="session")
def anchors() -> dy.DataFrame[schemas.Anchors]:
    rows = [
        {
            "anchor_id": f"{document}#{number:03d}",
            "document_id": document,
            "page": 1,
            "kind": kind,
            "key": key,
            "heading": heading,
            "parent_anchor_id": None,
            "form": "",
            "perspective": perspective,
            "repeat_ix": 0,
            "source": "layout",
            "element_id": f"{document}:h{number:03d}",
            "confidence": 1.0,
            "bbox": BOX,
        }
        for number, (document, perspective, kind, key, heading, _) in enumerate(_TEXTS)
    ]
    return schemas.Anchors.validate(pl.DataFrame(rows, schema=schemas.Anchors.create_empty().schema))


@pytest.fixture(scope="session")
def sections() -> dy.DataFrame[schemas.Sections]:
    rows = [
        {
            "element_id": f"{document}:e{number:03d}{place}",
            "anchor_id": f"{document}#{number:03d}",
            "document_id": document,
            "page": 1,
            "paragraph_ix": number * 10 + place,
            "source": "layout",
            "role": "BodyText",
            "table_id": None,
            "text": text,
            "element_ids": [f"{document}:e{number:03d}{place}"],
            "pieces": [{"start": 0, "end": len(text), "page": 1, **BOX}],
        }
        for number, (document, *_, paragraphs) in enumerate(_TEXTS)
        for place, text in enumerate(paragraphs)
    ]
    return schemas.Sections.validate(pl.DataFrame(rows, schema=schemas.Sections.create_empty().schema))


@pytest.fixture(scope="session")
def chunks(
    documents: dy.DataFrame[schemas.Documents],
    sections: dy.DataFrame[schemas.Sections],
    anchors: dy.DataFrame[schemas.Anchors],
) -> dy.DataFrame[schemas.Chunks]:
    tables = schemas.Tables.create_empty()
    return build_chunks(
        documents=documents,
        sections=sections,
        tables=tables,
        anchors=anchors,
        reviews=schemas.Reviews.create_empty(),
        settings=Settings(),
        proposer=RuleProposer(),
        encode=TermEncoder().encode_sentences,
    )


@pytest.fixture(scope="session")
def index_rows(chunks: dy.DataFrame[schemas.Chunks], documents: dy.DataFrame[schemas.Documents]) -> pl.DataFrame:
    encoder = TermEncoder()
    embeddings = build_embeddings(chunks, None, encoder=encoder)
    return build_index_rows(chunks=chunks, documents=documents, embeddings=embeddings, model_hash=encoder.model_hash)


@pytest.fixture(scope="session")
def searcher(index_rows: pl.DataFrame) -> Searcher:
    encoder = TermEncoder()
    vectors = stack_vectors(index_rows["vector"])
    texts = index_rows.select(text=embedded_text())["text"].to_list()
    index = SearchIndex(
        rows=index_rows.drop("vector"),
        vectors=vectors,
        model_hash=encoder.model_hash,
        precomputed=PrecomputedFacts(tokens=build_token_index(texts, encoder=encoder)),
    )
    return Searcher(index=index, encoder=encoder)
