"""Tables of the graph: the registry of boxes, nodes, edges, changes between revisions."""

from __future__ import annotations

import dataframely as dy

from taxkg_assets.schemas.columns import (
    bbox_column,
    fraction_column,
    key_column,
    one_of,
    page_column,
    placed_boxes_column,
    strings_column,
    text_column,
)
from taxkg_assets.schemas.values import (
    BOUNDS,
    CHANGE_NATURES,
    CREATED_BY,
    EDGE_RELATIONS,
    FLOW_AGREEMENTS,
    FLOW_RELATIONS,
    LINE_KINDS,
    NODE_LEVELS,
    OPERATIONS,
    PERSPECTIVES,
    POLARITIES,
    REVISION_KIND_PATTERN,
)


class Registry(dy.Schema):
    """One box of one form revision."""

    document_id = key_column("document whose face prints the box")
    form = text_column("form, e.g. 1099-DIV")
    revision = text_column("revision of the form")
    box_key = key_column("box_1a, …")
    canonical_id = text_column("`<form>/<revision>/<box_key>`: the field's identity within one form revision")
    label = text_column("label as printed on the face; empty only where the face prints none")
    aliases = strings_column("other names: abbreviations, headings in the instructions, defined terms")
    group_id = text_column("group that the box belongs to (2 for 2a–2f, 14–16), if any", nullable=True)
    history = strings_column("identities of the field on the form's older faces, newest first")
    source = text_column("where the row comes from, `<document_id>:p<page>`")
    confidence = fraction_column("confidence carried over from the face")


class Lines(dy.Schema):
    """One numbered field of one form revision: a box, line or column, with all its copies and entries."""

    document_id = key_column("document that prints the line")
    part = dy.String(primary_key=True, description="part of the form: I, II, …; empty if the form has no parts")
    key = key_column("box_1a, line_5a, column_d, step_4b, …")
    form = text_column("form, e.g. 8960 or Schedule D (Form 1040)")
    revision = text_column("revision of the form")
    line_ix = dy.Int32(min=0, description="position in the document, in the order in which the form is filled in")
    kind = dy.String(regex=one_of(LINE_KINDS), description=" | ".join(LINE_KINDS))
    section = text_column("heading above the line, as printed; may be empty")
    label = text_column("words printed for the line; empty where only the key is printed")
    column_letters = strings_column("letters of the columns in which a line that is a table row is filled in")
    copies = strings_column("copies of the form that hold the line: A, B, 1, …")
    entries = strings_column("kinds of the fields of the line; empty for a heading of further lines")
    field_count = dy.Int32(min=0, description="number of fields of the line, summed over all copies of the form")
    canonical_id = text_column(
        "`<form>/<words>` of the line's label in the oldest revision of the library; the same in every later one"
    )
    history = strings_column("names `<form>/<revision>/<part>/<key>` of the line in older revisions, newest first")
    anchor_id = text_column("heading that prints the line, if any", nullable=True)
    page = page_column("page of the first copy")
    bbox = bbox_column("first field of the line; without fields, where the line is printed")


class Formulas(dy.Schema):
    """The computation of one line from others, as its label states it."""

    document_id = key_column("document that prints the line")
    part = dy.String(primary_key=True, description="part of the form: I, II, …; empty if the form has no parts")
    key = key_column("line that is computed")
    operation = dy.String(regex=one_of(OPERATIONS), description=" | ".join(OPERATIONS))
    operands = strings_column(
        "keys in their order, a difference is the first minus all others; `line_14 (1040)` is a line of another form"
    )
    operand_parts = strings_column("the part of each operand; empty where it has none or is on another form")
    factor = dy.Float64(nullable=True, description="constant factor of a multiplication: a rate or an amount")
    bound = dy.String(
        regex=one_of(BOUNDS), description="bound of the result, `at_least_zero` or `at_most_zero`; empty for none"
    )
    condition = text_column("condition under which it is computed, as printed; may be empty")
    column = text_column("letter of the column whose amounts are meant; may be empty")
    also_added_in = strings_column("other totals of the document that also include at least one line of this total")
    repeated_lines = strings_column(
        "lines that a total uses more than once, with the words `twice` or `also in line_9`; a use that the form keeps "
        "apart by limits or conditions is left out"
    )
    problem = text_column("why it is unparsed; empty where it is parsed")
    evidence = text_column("words that state the formula, a slice of the line's label")
    start = dy.Int32(min=0, description="0-based offset of the evidence in the label")
    end = dy.Int32(min=1, description="offset after the last character of the evidence")
    page = page_column()
    bbox = bbox_column("the line's first field")


class Flows(dy.Schema):
    """One statement that an amount goes from one line, box or column to another."""

    flow_id = key_column("digest of where it is stated and of its two ends")
    relation = dy.String(
        regex=one_of(FLOW_RELATIONS),
        description="stated where the amount comes from, where it goes, or by a formula: " + " | ".join(FLOW_RELATIONS),
    )
    source_document_id = text_column("document that the amount comes from; null where not resolved", nullable=True)
    source_form = text_column("its form; in the words of the statement where the library does not contain it")
    source_part = text_column("its part; may be empty")
    source_key = text_column("its line, box or column; in the words of the statement where not resolved")
    source_column = text_column("letter of the column meant; may be empty")
    source_code = text_column("code of the entry, where the statement is about one entry of a box; may be empty")
    source_line = text_column("canonical id of the line; null where not resolved", nullable=True)
    target_document_id = text_column("document that the amount goes to; null where not resolved", nullable=True)
    target_form = text_column("its form; in the words of the statement where the library does not contain it")
    target_part = text_column("its part; may be empty")
    target_key = text_column("its line, box or column; in the words of the statement where not resolved")
    target_column = text_column("letter of the column meant; may be empty")
    target_code = text_column("code of the entry, where the statement is about one entry of a box; may be empty")
    target_line = text_column("canonical id of the line; null where not resolved", nullable=True)
    is_same_year = dy.Bool(
        description="whether both lines are of the statement's year; false if one is taken from the nearest revision"
    )
    problem = text_column("why an end is not resolved; empty where both are")
    agreement = dy.String(
        regex=one_of(FLOW_AGREEMENTS),
        description="whether both ends state the flow, one does, or the other end names another line: "
        + " | ".join(FLOW_AGREEMENTS),
    )
    document_id = text_column("document that states the flow")
    element_id = text_column("passage, or table, that states the flow; null for a line's label", nullable=True)
    evidence = text_column("words that state the flow, a slice of the passage, the label or the row of the table")
    start = dy.Int32(min=0, description="0-based offset of the evidence in the text of its passage, label or row")
    end = dy.Int32(min=1, description="offset after the last character of the evidence")
    page = page_column()
    bbox = bbox_column("the printed line where the evidence begins, or the line's first field")
    rule_id = text_column("rule that read it")


class Nodes(dy.Schema):
    """One node: document, heading, paragraph, sentence (of a dense paragraph), table, concept or external target."""

    node_id = key_column(
        "document_id, anchor_id, element_id, table_id, `<element_id>:s<start>`, `concept:<term>/<subterm>` or "
        "`ext:<kind>:<target>`"
    )
    document_id = text_column("document; null for concepts and external nodes", nullable=True)
    perspective = dy.String(nullable=True, regex=one_of(PERSPECTIVES), description=" | ".join(PERSPECTIVES))
    level = dy.String(regex=one_of(NODE_LEVELS), description=" | ".join(NODE_LEVELS))
    parent_id = text_column("parent node in the tree of the document", nullable=True)
    anchor_key = text_column("key of the innermost keyed anchor, e.g. box_1a", nullable=True)
    canonical_id = text_column("registry identity where the node belongs to a box", nullable=True)
    heading_path = text_column("document title and headings down to the node, joined with ' > '")
    text = text_column("text of the node; a heading's own words for an anchor")
    concepts = strings_column("registry labels, aliases and defined terms that the text uses")
    page = page_column("first page; null for concepts and external nodes", nullable=True)
    bboxes = placed_boxes_column("rectangles the node covers; empty for concepts and external nodes")
    ordinal = dy.Int32(min=0, description="reading order in the document")


class Edges(dy.Schema):
    """One typed relation between two nodes, with the text that states it."""

    source_id = key_column("node that refers")
    target_id = key_column("node referred to")
    relation = dy.String(primary_key=True, regex=one_of(EDGE_RELATIONS), description=" | ".join(EDGE_RELATIONS))
    start = dy.Int32(
        primary_key=True,
        min=0,
        description="0-based offset of the evidence in the text of the element; 0 for structural edges",
    )
    end = dy.Int32(
        min=0,
        description="end (exclusive) of the evidence, in characters of the element's text; 0 for structural edges",
    )
    element_id = text_column("content element that holds the evidence; null for structural edges", nullable=True)
    polarity = dy.String(regex=one_of(POLARITIES), description="positive, or negative if the text negates or forbids")
    confidence = fraction_column("confidence of the relation")
    evidence = text_column("verbatim slice of the element's text; empty for structural edges")
    page = page_column("page of the evidence; null for structural edges", nullable=True)
    created_by = dy.String(regex=one_of(CREATED_BY), description=" | ".join(CREATED_BY))
    rule_id = text_column("rule that made the edge")


class Revisions(dy.Schema):
    """One change between two consecutive revisions of a form, its instructions or a publication."""

    irs_name = text_column("the IRS's own file stem of both documents, e.g. f1099nec")
    form = text_column("form or publication number, e.g. 1099-NEC")
    from_revision = text_column("older revision")
    to_revision = text_column(
        "newer revision; equal to `from_revision` if the publisher reissued one revision with corrections"
    )
    from_document_id = key_column("older document")
    to_document_id = key_column("newer document")
    change_ix = dy.Int32(
        primary_key=True, min=0, description="position in the report: boxes first, then in reading order"
    )
    kind = dy.String(
        regex=REVISION_KIND_PATTERN,
        description="kind of change, such as `box added`, `line renumbered` or `text changed`",
    )
    key = text_column("box, line or code that the change falls under, e.g. box_1a; empty for prose")
    previous_key = text_column("key of a renumbered box or line in the older revision; else empty")
    heading_path = text_column("headings down to the place, joined with ' > '")
    perspective = dy.String(regex=one_of(PERSPECTIVES), description=" | ".join(PERSPECTIVES))
    before = text_column("older wording, verbatim; its pieces (lines, cells) one a line; empty where added")
    after = text_column("newer wording, verbatim; empty where removed")
    words = dy.List(
        dy.Struct(
            {
                "before_start": dy.Int32(),
                "before_end": dy.Int32(),
                "after_start": dy.Int32(),
                "after_end": dy.Int32(),
                "nature": dy.String(),
            }
        ),
        description="ranges of `before` and `after` that differ, each with its kind",
    )
    nature = dy.String(regex=one_of(CHANGE_NATURES), description=" | ".join(CHANGE_NATURES))
    is_routine = dy.Bool(
        description="whether the change needs no action: updated years, page numbers, editing, moved text"
    )
    before_places = placed_boxes_column("rectangles of the older words")
    after_places = placed_boxes_column("rectangles of the newer words")
    evidence = text_column("`<element, heading, table or box>:<start>-<end>` of the words, older → newer")
