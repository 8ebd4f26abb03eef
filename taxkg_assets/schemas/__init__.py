"""Every table's schema, one class per table, one module per stage.

Every package may import this one. It says once what a column means: the Dagster UI, the documentation and the
contract checks read it from here. Only Delta-safe types: no unsigned integers, no categories, no enums, no fixed-size
arrays, no nanoseconds.

Conventions: `_id` is a reference, `_ix` a 0-based order, `page` a 1-based PDF page, `start`/`end` half-open character
offsets, `_pt` PDF points with the origin at the top left of the page, `_at` a UTC time.
"""

from taxkg_assets.schemas.chunking import Chunks, Reviews
from taxkg_assets.schemas.evaluation import EvalQueries, EvalReport, EvalRuns, Metrics
from taxkg_assets.schemas.extraction import Anchors, Elements, Faces, Fields, Links, References, Sections, Spans, Tables
from taxkg_assets.schemas.graph import Edges, Nodes, Registry, Revisions
from taxkg_assets.schemas.llm import LlmCalls
from taxkg_assets.schemas.retrieval import Embeddings, Index, Release, Summaries
from taxkg_assets.schemas.service import Feedback, QueryLog
from taxkg_assets.schemas.sources import DocumentQuality, Documents, Quarantine
from taxkg_assets.schemas.training import HardNegatives, Model, Pairs, Reranker, ScenarioQueries
from taxkg_assets.schemas.validation import Table, dtypes, empty, validated
from taxkg_assets.schemas.values import (
    ANCHOR_KINDS,
    CHANGE_NATURES,
    CHUNK_LEVELS,
    CHUNK_STATUSES,
    CREATED_BY,
    DOC_TYPES,
    EDGE_RELATIONS,
    FIELD_KINDS,
    FIELD_SOURCES,
    LAW_OUTCOMES,
    LAW_STRENGTHS,
    LINK_KINDS,
    NEGATIVE_SOURCES,
    NODE_LEVELS,
    PAGE_SOURCES,
    PAIR_KINDS,
    PERSPECTIVES,
    PLAIN_RELATIONS,
    POLARITIES,
    QUERY_TYPES,
    QUESTION_SOURCES,
    READING_SOURCES,
    REFERENCE_KINDS,
    REGISTERS,
    RELATIONS,
    RERANKERS,
    REVIEW_DECISIONS,
    REVISION_KIND_PATTERN,
    ROLES,
    SEMANTIC_RELATIONS,
    SPLITS,
    STRUCTURAL_RELATIONS,
)

__all__ = [
    "ANCHOR_KINDS",
    "CHANGE_NATURES",
    "CHUNK_LEVELS",
    "CHUNK_STATUSES",
    "CREATED_BY",
    "DOC_TYPES",
    "EDGE_RELATIONS",
    "FIELD_KINDS",
    "FIELD_SOURCES",
    "LAW_OUTCOMES",
    "LAW_STRENGTHS",
    "LINK_KINDS",
    "NEGATIVE_SOURCES",
    "NODE_LEVELS",
    "PAGE_SOURCES",
    "PAIR_KINDS",
    "PERSPECTIVES",
    "PLAIN_RELATIONS",
    "POLARITIES",
    "QUERY_TYPES",
    "QUESTION_SOURCES",
    "READING_SOURCES",
    "REFERENCE_KINDS",
    "REGISTERS",
    "RELATIONS",
    "RERANKERS",
    "REVIEW_DECISIONS",
    "REVISION_KIND_PATTERN",
    "ROLES",
    "SEMANTIC_RELATIONS",
    "SPLITS",
    "STRUCTURAL_RELATIONS",
    "Anchors",
    "Chunks",
    "DocumentQuality",
    "Documents",
    "Edges",
    "Elements",
    "Embeddings",
    "EvalQueries",
    "EvalReport",
    "EvalRuns",
    "Faces",
    "Feedback",
    "Fields",
    "HardNegatives",
    "Index",
    "Links",
    "LlmCalls",
    "Metrics",
    "Model",
    "Nodes",
    "Pairs",
    "Quarantine",
    "QueryLog",
    "References",
    "Registry",
    "Release",
    "Reranker",
    "Reviews",
    "Revisions",
    "ScenarioQueries",
    "Sections",
    "Spans",
    "Summaries",
    "Table",
    "Tables",
    "dtypes",
    "empty",
    "validated",
]
