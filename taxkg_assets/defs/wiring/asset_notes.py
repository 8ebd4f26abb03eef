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
        "Files that cannot be read are listed in `quarantine`. If a new version of a file is refused, its "
        "old row stays.",
        "SELECT doc_type, count(*) AS documents, sum(page_count) AS pages FROM documents GROUP BY doc_type",
    ),
    "quarantine": Note(
        "A row disappears when its file is corrected or removed. Rows of the last valid version stay in other tables.",
        "SELECT document_id, stage, reason, remedy FROM quarantine ORDER BY document_id",
    ),
    "spans": Note(
        "The text is in the order stored in the file, not in reading order. Invisible text is left out.",
        "SELECT font, count(*) AS spans FROM spans GROUP BY font ORDER BY spans DESC LIMIT 10",
    ),
    "tables": Note(
        "A cell without a row or column header has an empty path. Tables that only lay out text are left out.",
        "SELECT document_id, page, title FROM tables WHERE has_headers ORDER BY document_id, page",
    ),
    "faces": Note(
        "Only boxes are listed, as the form prints them. Forms with lines instead are in `fields` and `lines`.",
        "SELECT form, revision, box_key, label FROM faces ORDER BY form, revision, box_key",
    ),
    "elements": Note(
        "A paragraph that continues in the next column or page has several elements; `sections` joins them.",
        "SELECT role, count(*) AS elements, avg(role_confidence) AS confidence FROM elements GROUP BY role",
    ),
    "anchors": Note(
        "`confidence` is calibrated on labeled pages. On pages without structure tags, headings are found by layout.",
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
        "Only links that the publisher set are listed. Mentions in the text are in `references`.",
        "SELECT kind, count(*) AS links FROM links GROUP BY kind ORDER BY links DESC",
    ),
    "references": Note(
        "`target` is a name; `edges` has the node that it refers to. A list or range has one row per target.",
        'SELECT kind, relation, count(*) AS mentions FROM "references" GROUP BY kind, relation ORDER BY mentions DESC',
    ),
    "document_quality": Note(
        "A flagged document is served, and every answer from it shows the flag. A document `withheld` is not served.",
        "SELECT law, outcome, count(*) AS documents FROM document_quality GROUP BY law, outcome ORDER BY law",
    ),
    "registry": Note(
        "Only boxes of form faces are listed. `history`, not `box_key`, links a box to earlier revisions.",
        "SELECT form, box_key, label, aliases FROM registry ORDER BY form, revision, box_key",
    ),
    "lines": Note(
        "`canonical_id` comes from the oldest revision in the library, so adding an older document changes it.",
        "SELECT form, part, key, label FROM lines WHERE kind = 'line' ORDER BY form, revision, line_ix",
    ),
    "formulas": Note(
        "Formulas are read from labels only. If no rule parses a label, `operation` is `unparsed` and "
        "`problem` says why.",
        "SELECT operation, count(*) AS lines FROM formulas GROUP BY operation ORDER BY lines DESC",
    ),
    "flows": Note(
        "If a line is not in this home, its column has the words of the statement, and `problem` gives the reason.",
        "SELECT source_form, source_key, target_form, target_key FROM flows WHERE problem = ''",
    ),
    "nodes": Note(
        "External nodes have no page and no document. A dense paragraph also has one node per sentence.",
        "SELECT level, count(*) AS nodes FROM nodes GROUP BY level ORDER BY nodes DESC",
    ),
    "edges": Note(
        "Structural edges (`parent_of`, `follows`) have no evidence. Each relation is stored in one direction only.",
        "SELECT relation, polarity, count(*) AS edges FROM edges GROUP BY relation, polarity ORDER BY edges DESC",
    ),
    "revisions": Note(
        "Only consecutive revisions are compared. `is_routine` marks new years, page numbers and editing.",
        "SELECT form, from_revision, to_revision, kind, key FROM revisions WHERE NOT is_routine",
    ),
    "chunks": Note(
        "Only chunks with the status `accepted` are indexed. `text` is verbatim; `context` is not printed "
        "in the document.",
        "SELECT status, level, count(*) AS chunks FROM chunks GROUP BY status, level ORDER BY chunks DESC",
    ),
    "reviews": Note(
        "`taxkg review` records decisions. A decision applies as long as the text of the chunk stays the same.",
        "SELECT decision, count(*) AS reviews FROM reviews GROUP BY decision",
    ),
    "summaries": Note(
        "Without a language model, summaries consist of verbatim sentences. Pages without running text have "
        "no summary.",
        "SELECT document_id, text FROM summaries WHERE level = 'document' ORDER BY document_id",
    ),
    "embeddings": Note(
        "The key is the text, not the chunk: equal texts share one vector. Vectors of texts that no chunk "
        "has are dropped.",
        "SELECT model_hash, count(*) AS vectors FROM embeddings GROUP BY model_hash",
    ),
    "index": Note(
        "The only row is the newest version. The index itself is a folder of the home. Servers read the "
        "version in `release`.",
        'SELECT index_version, model_name, row_count, self_check_recall FROM "index"',
    ),
    "eval_queries": Note(
        "A question is scored only if its gold passages are in this library. Floors do not apply to sets "
        "with located gold.",
        "SELECT query_set, type, count(*) AS questions FROM eval_queries WHERE is_resolved GROUP BY query_set, type",
    ),
    "eval_runs": Note(
        "All ranks are of one build. Scores of different systems are not comparable.",
        "SELECT system, count(DISTINCT query_id) AS questions FROM eval_runs GROUP BY system ORDER BY system",
    ),
    "eval_report": Note(
        "Intervals are clustered by document. Check `n` first: a slice with few questions has a wide interval.",
        "SELECT system, metric, value, low, high, n FROM eval_report WHERE slice = 'all' ORDER BY metric, system",
    ),
    "family_figures": Note(
        "Compares families whose labels support rules with all others. Check `n` first: a family has few rows.",
        'SELECT metric, "group", value, n FROM family_figures WHERE family = \'all\' ORDER BY metric, "group"',
    ),
    "metrics": Note(
        "Each time is of the last step that built something, on this machine.",
        "SELECT metric, value, unit, n FROM metrics WHERE slice = 'all' ORDER BY metric",
    ),
    "release": Note(
        "Servers use the newest row that is not rolled back. Table versions of kept releases stay.",
        "SELECT release_ix, index_version, released_at, is_rolled_back FROM release ORDER BY release_ix DESC",
    ),
    "llm_calls": Note(
        "Empty without a language model, the default. A call that is recorded here is not made again.",
        "SELECT task, model, count(*) AS calls, sum(cost_usd) AS cost FROM llm_calls GROUP BY task, model",
    ),
    "scenario_queries": Note(
        "Rules or people wrote the questions. Rows that repeat an evaluation question are kept but not used for pairs.",
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
        "A trained model is used only if `is_chosen`; otherwise the base model is used.",
        "SELECT name, base_score, candidate_score, gain, gain_low, is_chosen, reason FROM model",
    ),
    "reranker": Note(
        "Evaluated on the search results at the time of training. After a new encoder is promoted, train again.",
        "SELECT name, kind, gain, gain_low, is_chosen, reason FROM reranker",
    ),
}
"""Notes by table; a test runs every query on the samples."""
