"""Tables of the retrieval: summaries, embeddings, index versions, releases."""

from __future__ import annotations

import dataframely as dy

from taxkg_assets.schemas.columns import fraction_column, key_column, one_of, page_column, strings_column, text_column
from taxkg_assets.schemas.values import CREATED_BY


class Summaries(dy.Schema):
    """A summary of a document or a page in a few sentences."""

    unit_id = key_column("`document:<document_id>` or `page:<document_id>:p<page>`, zero-padded")
    document_id = text_column("document")
    level = dy.String(regex="^(document|page)$", description="what is summarized: document | page")
    page = page_column("the page; of a document, the first one with text")
    text = text_column("sentences: verbatim by rule, in own words and checked by a model")
    evidence = strings_column("`element_id:start-end` of each quote that a sentence rests on")
    created_by = dy.String(regex=one_of(CREATED_BY), description=" | ".join(CREATED_BY))


class Embeddings(dy.Schema):
    """The vector of one text by one encoder."""

    model_hash = key_column("SHA-256 of the model's weights, shortened")
    text_hash = key_column("SHA-256 of the embedded text (context and text)")
    vector = dy.List(dy.Float32(), description="unit-length vector")


class Index(dy.Schema):
    """One built version of the search index (a folder of LanceDB tables)."""

    index_version = key_column("content hash of everything that went into the index")
    path = text_column("folder of the index, relative to the home")
    model_name = text_column("name of the encoder")
    model_hash = text_column("SHA-256 of the encoder's weights, shortened")
    dimension = dy.Int32(min=1, description="length of the vectors")
    row_count = dy.Int32(min=0, description="number of passages in the index")
    rows_by_level = text_column("JSON object: rows per level")
    self_check_recall = fraction_column("recall@10 against exact search (ties by distance count as hits)")
    input_versions = text_column("JSON object: table name to content hash")
    settings = text_column("JSON object: settings that shaped the index")


class Release(dy.Schema):
    """One release for readers. The row with the highest `release_ix` that is not rolled back is current."""

    release_ix = dy.Int32(primary_key=True, min=0, description="number of the release: 0, 1, 2, …")
    index_version = text_column("index that this release serves")
    index_path = text_column("folder of the index, relative to the home")
    table_versions = text_column("JSON object: Delta table name to version number")
    model_name = text_column("name of the encoder")
    model_hash = text_column("SHA-256 of the encoder's weights, shortened")
    metrics = text_column("JSON object: evaluation figures with which the release passed its gates")
    is_rolled_back = dy.Bool(description="whether a rollback withdrew the release")
    released_at = dy.Datetime(time_unit="us", time_zone="UTC", description="when the release became visible to readers")
