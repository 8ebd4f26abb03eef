"""Values that columns of several tables may take: roles, kinds, relations, levels."""

from __future__ import annotations

RERANKERS = ("late", "cross")
ROLES = (
    "DocTitle",
    "SectionHeader",
    "SubsectionHeader",
    "BoxHeader",
    "BodyText",
    "ListBlock",
    "TableBlock",
    "Callout",
    "FormField",
    "PageArtifact",
)
CHECK_SEVERITIES = ("corrupt", "incomplete")
CHECK_OUTCOMES = ("passed", "flagged", "withheld")
DOC_TYPES = ("form", "filer_instructions", "recipient_instructions", "publication", "statute", "other")
PERSPECTIVES = ("face", "filer", "recipient", "publication", "statute", "other")
READING_SOURCES = ("tags", "layout", "both")
PAGE_SOURCES = ("tags", "template", "layout")
FIELD_KINDS = ("text", "checkbox", "choice", "signature")
FIELD_SOURCES = ("template", "layout")
OPERATIONS = ("sum", "difference", "product", "smaller", "larger", "copy", "unparsed")
FLOW_RELATIONS = ("flows_to", "from_form", "computed_from")
FLOW_AGREEMENTS = ("agreed", "one_side", "contradicted", "unresolved")
BOUNDS = ("", "at_least_zero", "at_most_zero")
LINE_KINDS = ("box", "line", "column", "step")
ANCHOR_KINDS = ("box", "box_group", "section", "subsection", "runin", "part", "line", "column", "statute_section")
REFERENCE_KINDS = (
    "box",
    "line",
    "section",
    "form",
    "publication",
    "irc_section",
    "regulation",
    "notice_or_ruling",
    "url",
    "statute_section",
)
LINK_KINDS = ("section", "index", "contents", "table", "document", "url")
RELATIONS = ("references", "includes", "excludes", "defines", "applies_if", "qualifies", "requires", "portion_of")
NODE_LEVELS = ("document", "anchor", "paragraph", "sentence", "table", "concept", "external")
PLACELESS_LEVELS = ("concept", "external")
"""Levels of nodes that belong to no document."""
PLAIN_RELATIONS = tuple(f"references_{kind}" for kind in REFERENCE_KINDS)
SEMANTIC_RELATIONS = RELATIONS[1:]
STRUCTURAL_RELATIONS = (
    "parent_of",
    "follows",
    "part_of_group",
    "same_field",
    "same_field_other_revision",
    "same_section_other_revision",
    "same_concept",
    "supersedes",
    "indexed_at",
)
EDGE_RELATIONS = (*STRUCTURAL_RELATIONS, *PLAIN_RELATIONS, *SEMANTIC_RELATIONS, *FLOW_RELATIONS, "external_ref")
CHANGE_NATURES = (
    "structure",
    "amounts",
    "dates",
    "references",
    "wording",
    "years",
    "edition",
    "pages",
    "editorial",
    "moved",
)
REVISION_KIND_PATTERN = (
    "^((box|line|code|section) (added|removed|renamed|renumbered|split)|(text|row) (added|removed|changed)|moved)$"
)
CHUNK_LEVELS = ("document", "page", "section", "paragraph", "table")
CHUNK_STATUSES = ("accepted", "refine", "rejected")
REVIEW_DECISIONS = ("accepted", "rejected")
POLARITIES = ("positive", "negative")
CREATED_BY = ("structural", "regex", "rule", "llm")
REGISTERS = ("plain", "lay", "terse", "professional", "scenario")
QUESTION_SOURCES = ("rule", "llm", "written")
PAIR_KINDS = ("hierarchical", "cross_reference", "same_field", "semantic", "definition", "table", "scenario")
SPLITS = ("train", "dev")
NEGATIVE_SOURCES = ("bm25", "dense", "sibling_box", "other_form", "other_year", "negated")
QUERY_TYPES = (
    "exact_anchor",
    "concept",
    "procedural",
    "scenario",
    "comparative",
    "edge_case",
    "table_value",
    "unanswerable",
)
