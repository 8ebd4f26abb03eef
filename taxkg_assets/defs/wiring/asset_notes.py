"""What to know of each table before using it, and an example query, for its page in the UI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """Notes on a table for its page in the Dagster UI.

    Attributes:
        caveat: Limits of the table, in one or two sentences.
        query: Example in SQL; table names stand for the home's tables.
    """

    caveat: str
    query: str


NOTES: Mapping[str, Note] = {
    "documents": Note(
        "Files that could not be read are in `quarantine`. If a new version of a file is refused, its old row stays.",
        "SELECT doc_type, count(*) AS documents, sum(page_count) AS pages FROM documents GROUP BY doc_type",
    ),
    "quarantine": Note(
        "A row disappears when its file is corrected or removed. Rows of the last valid version stay in other tables.",
        "SELECT document_id, stage, reason, remedy FROM quarantine ORDER BY document_id",
    ),
    "spans": Note(
        "Text as stored in the file: not in reading order, and without the text that no reader sees.",
        "SELECT font, count(*) AS spans FROM spans GROUP BY font ORDER BY spans DESC LIMIT 10",
    ),
    "tables": Note(
        "Cells without a row or column header have an empty path. Layout tables are not in here.",
        "SELECT document_id, page, title FROM tables WHERE has_headers ORDER BY document_id, page",
    ),
    "faces": Note(
        "Boxes as the form prints them. Forms with lines instead of boxes are in `fields` and `lines`.",
        "SELECT form, revision, box_key, label FROM faces ORDER BY form, revision, box_key",
    ),
    "elements": Note(
        "A paragraph that continues in the next column or on the next page is several elements; `sections` joins them.",
        "SELECT role, count(*) AS elements, avg(role_confidence) AS confidence FROM elements GROUP BY role",
    ),
    "anchors": Note(
        "`confidence` is calibrated on labeled pages. Headings of forms without tags come from layout.",
        "SELECT document_id, page, kind, key, heading FROM anchors WHERE kind = 'box' ORDER BY anchor_id",
    ),
    "fields": Note(
        "One row per field and copy: a box that four copies print has four rows.",
        "SELECT document_id, key, label, kind FROM fields WHERE key <> '' ORDER BY document_id, page, field_ix",
    ),
    "sections": Note(
        "`anchor_id` is the innermost heading, run-in headings included; it is null before the first heading.",
        "SELECT document_id, page, text FROM sections WHERE role = 'ListBlock' ORDER BY document_id, paragraph_ix",
    ),
    "links": Note(
        "Only what the publisher set as a link. Mentions in the text are in `references`.",
        "SELECT kind, count(*) AS links FROM links GROUP BY kind ORDER BY links DESC",
    ),
    "references": Note(
        "`target` is a name; `edges` has the target in the library. Lists and ranges give one row per target.",
        'SELECT kind, relation, count(*) AS mentions FROM "references" GROUP BY kind, relation ORDER BY mentions DESC',
    ),
    "document_quality": Note(
        "A flagged document is served, and every answer from it shows it; one with the outcome `withheld` is not.",
        "SELECT law, outcome, count(*) AS documents FROM document_quality GROUP BY law, outcome ORDER BY law",
    ),
    "registry": Note(
        "Boxes of form faces only. A box keeps its identity over revisions by `history`, not by `box_key`.",
        "SELECT form, box_key, label, aliases FROM registry ORDER BY form, revision, box_key",
    ),
    "lines": Note(
        "`canonical_id` names the oldest revision in the library: an older document that is added changes it.",
        "SELECT form, part, key, label FROM lines WHERE kind = 'line' ORDER BY form, revision, line_ix",
    ),
    "formulas": Note(
        "Read from labels only. What no rule reads completely has the operation `unparsed` and a reason in `problem`.",
        "SELECT operation, count(*) AS lines FROM formulas GROUP BY operation ORDER BY lines DESC",
    ),
    "flows": Note(
        "An end that is not in this home keeps the words of the statement, and `problem` gives the reason.",
        "SELECT source_form, source_key, target_form, target_key FROM flows WHERE problem = ''",
    ),
    "nodes": Note(
        "External nodes have no page and no document. Dense paragraphs have a node per sentence as well.",
        "SELECT level, count(*) AS nodes FROM nodes GROUP BY level ORDER BY nodes DESC",
    ),
    "edges": Note(
        "Structural edges (`parent_of`, `follows`) carry no evidence. Both directions of a relation are not stored.",
        "SELECT relation, polarity, count(*) AS edges FROM edges GROUP BY relation, polarity ORDER BY edges DESC",
    ),
    "revisions": Note(
        "Consecutive revisions only; `is_routine` marks rolled years, page numbers and editing.",
        "SELECT form, from_revision, to_revision, kind, key FROM revisions WHERE NOT is_routine",
    ),
    "chunks": Note(
        "Only chunks with the status `accepted` are indexed. `text` is verbatim, `context` is not of the document.",
        "SELECT status, level, count(*) AS chunks FROM chunks GROUP BY status, level ORDER BY chunks DESC",
    ),
    "reviews": Note(
        "A decision holds while the text is the same; `taxkg review` writes it.",
        "SELECT decision, count(*) AS reviews FROM reviews GROUP BY decision",
    ),
    "summaries": Note(
        "By rule, the sentences are verbatim. Pages without running text, such as forms, have no summary.",
        "SELECT document_id, text FROM summaries WHERE level = 'document' ORDER BY document_id",
    ),
    "embeddings": Note(
        "Keyed by text, not by chunk: equal texts share one vector. Vectors of texts that are gone are dropped.",
        "SELECT model_hash, count(*) AS vectors FROM embeddings GROUP BY model_hash",
    ),
    "index": Note(
        "One row for the newest version. The index itself is a folder of the home; readers follow `release`.",
        'SELECT index_version, model_name, row_count, self_check_recall FROM "index"',
    ),
    "eval_queries": Note(
        "Only questions whose gold is in this library are scored. Located sets are reported and bind no floor.",
        "SELECT query_set, type, count(*) AS questions FROM eval_queries WHERE is_resolved GROUP BY query_set, type",
    ),
    "eval_runs": Note(
        "Ranks of one build; scores of different systems are not comparable.",
        "SELECT system, count(DISTINCT query_id) AS questions FROM eval_runs GROUP BY system ORDER BY system",
    ),
    "eval_report": Note(
        "Intervals are clustered by document. A slice with few questions has a wide interval: read `n` first.",
        "SELECT system, metric, value, low, high, n FROM eval_report WHERE slice = 'all' ORDER BY metric, system",
    ),
    "family_figures": Note(
        "Families with labels that support rules, next to families without. Read `n` first: a family has few rows.",
        'SELECT metric, "group", value, n FROM family_figures WHERE family = \'all\' ORDER BY metric, "group"',
    ),
    "metrics": Note(
        "Times are of the last step that made something, on this machine.",
        "SELECT metric, value, unit, n FROM metrics WHERE slice = 'all' ORDER BY metric",
    ),
    "release": Note(
        "The newest row that is not rolled back is served. Versions of tables that it names are kept.",
        "SELECT release_ix, index_version, released_at, is_rolled_back FROM release ORDER BY release_ix DESC",
    ),
    "llm_calls": Note(
        "Empty where rules propose everything, which is the default. Equal calls are answered from here, offline.",
        "SELECT task, model, count(*) AS calls, sum(cost_usd) AS cost FROM llm_calls GROUP BY task, model",
    ),
    "scenario_queries": Note(
        "Made by rules or written by people; rows that repeat an evaluation question are kept, but make no pair.",
        "SELECT generator, register, count(*) AS questions FROM scenario_queries GROUP BY generator, register",
    ),
    "pairs": Note(
        "The split is by form family. Only a stratified sample is judged: `is_valid_pair` is null elsewhere.",
        "SELECT kind, split, count(*) AS pairs FROM pairs GROUP BY kind, split ORDER BY pairs DESC",
    ),
    "hard_negatives": Note(
        "Only a sample is judged. `distance` is null where the two passages are more than three steps apart.",
        "SELECT source, count(*) AS negatives, avg(score) AS score FROM hard_negatives GROUP BY source",
    ),
    "model": Note(
        "A candidate is in use only with `is_chosen`; otherwise the packaged base answers.",
        "SELECT name, base_score, candidate_score, gain, gain_low, is_chosen, reason FROM model",
    ),
    "reranker": Note(
        "Evaluated on the search that was in use when it was trained: train again after a new encoder.",
        "SELECT name, kind, gain, gain_low, is_chosen, reason FROM reranker",
    ),
}
"""Notes by table; a test runs every query on the samples."""
