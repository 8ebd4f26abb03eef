"""One row per numbered field, whatever copies and entries it has; lines are followed from revision to revision."""

from __future__ import annotations

from typing import Any

import polars as pl

from taxkg_assets import schemas
from taxkg_assets.graph.line_history import pair_lines
from taxkg_assets.graph.lines import build_lines, find_doubled_lines, find_unregistered_fields

_BBOX = {"x0_pt": 0.0, "y0_pt": 0.0, "x1_pt": 1.0, "y1_pt": 1.0}


def _fields(*reported: dict[str, Any]) -> Any:
    rows = [
        {
            **dict.fromkeys(("name", "copy", "part", "section", "column", "row", "spoken", "formula"), ""),
            **{"document_id": "f1--2025", "page": 1, "kind": "text", "label": "A label", "source": "template"},
            **{"field_ix": ix, "anchor_id": None, "bbox": {**_BBOX, "y0_pt": float(ix)}, **one},
        }
        for ix, one in enumerate(reported)
    ]
    return schemas.Fields.validate(pl.DataFrame(rows, schema=schemas.Fields.create_empty().schema))


def _documents(*reported: tuple[str, str, bool]) -> Any:
    names = [{"document_id": d, "form": "1", "revision": r, "is_draft": x, "doc_type": "form"} for d, r, x in reported]
    return schemas.Documents.sample(overrides=names)


def _build(fields: Any, documents: Any) -> Any:
    anchors, faces = schemas.Anchors.create_empty(), schemas.Faces.create_empty()
    return build_lines(fields, anchors, faces=faces, documents=documents)


def _lines(*reported: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"part": "", "key": key, "kind": "line", "label": label} for key, label in reported]


def test_copies_and_columns_of_a_line_are_one_row() -> None:
    reported = [{"key": "line_2", "copy": copy, "column": letter} for copy in "AB" for letter in ("", "d", "e")]
    fields = _fields(*reported, {"key": "box_C", "kind": "checkbox"}, {"key": ""})
    rows = {row["key"]: row for row in _build(fields, _documents(("f1--2025", "2025", False))).to_dicts()}
    assert set(rows) == {"line_2", "box_C"}
    assert (rows["line_2"]["copies"], rows["line_2"]["column_letters"]) == (["A", "B"], ["d", "e"])
    assert rows["line_2"]["field_count"] == 6
    assert (rows["box_C"]["kind"], rows["box_C"]["entries"]) == ("box", ["checkbox"])


def test_heads_of_columns_are_counted_from_left_to_right() -> None:
    heads = [("column_e", 3.0, 300.0), ("column_d", 5.0, 200.0), ("column_a", 9.0, 100.0), ("line_1", 20.0, 50.0)]
    boxes = [{"key": key, "bbox": {**_BBOX, "y0_pt": y, "x0_pt": x, "x1_pt": x + 9}} for key, y, x in heads]
    rows = _build(_fields(*boxes), _documents(("f1--2025", "2025", False))).sort("line_ix")
    assert rows["key"].to_list() == ["column_a", "column_d", "column_e", "line_1"]


def test_heads_of_tables_below_each_other_are_counted_table_by_table() -> None:
    heads = [("column_b", 3.0, 200.0), ("column_a", 5.0, 100.0), ("column_d", 60.0, 150.0), ("column_c", 62.0, 50.0)]
    boxes = [{"key": key, "bbox": {"y0_pt": y, "y1_pt": y + 9, "x0_pt": x, "x1_pt": x + 9}} for key, y, x in heads]
    rows = _build(_fields(*boxes), _documents(("f1--2025", "2025", False))).sort("line_ix")
    assert rows["key"].to_list() == ["column_a", "column_b", "column_c", "column_d"]


def test_boxes_of_one_row_are_counted_from_left_to_right_though_their_tops_differ() -> None:
    printed = [("box_14", 335.999, 400.0), ("box_12", 336.0, 295.0), ("box_13", 336.5, 324.0), ("box_11", 360.0, 100.0)]
    boxes = [{"key": key, "bbox": {**_BBOX, "y0_pt": y, "x0_pt": x, "x1_pt": x + 9}} for key, y, x in printed]
    rows = _build(_fields(*boxes), _documents(("f1--2025", "2025", False))).sort("line_ix")
    assert rows["key"].to_list() == ["box_12", "box_13", "box_14", "box_11"]


def test_equal_keys_of_two_parts_are_two_lines() -> None:
    fields = _fields({"key": "line_1", "part": "I"}, {"key": "line_1", "part": "II"})
    assert _build(fields, _documents(("f1--2025", "2025", False)))["canonical_id"].to_list() == [
        "1/a-label/I/line_1",
        "1/a-label/II/line_1",
    ]


def test_an_identity_lasts_over_revisions_and_no_draft_is_continued() -> None:
    names = ["f1--2023", "f1--2024", "f1--2025"]
    fields = _fields(*({"document_id": name, "key": "line_1", "label": "Wages"} for name in names))
    drafts = [(name, name[-4:], name == "f1--2024") for name in names]
    rows = {row["document_id"]: row for row in _build(fields, _documents(*drafts)).to_dicts()}
    assert {row["canonical_id"] for row in rows.values()} == {"1/wages"}
    assert rows["f1--2025"]["history"] == ["1/2023/line_1"]


def test_an_older_document_changes_no_identity() -> None:
    names = ["f1--2022", "f1--2023", "f1--2024"]
    keys = ["line_7", "line_8a", "line_8a"]
    reported = [{"document_id": name, "key": key, "label": "Wages"} for name, key in zip(names, keys, strict=True)]
    documents = [(name, name[-4:], False) for name in names]
    of_all = _build(_fields(*reported), _documents(*documents))
    of_later = _build(_fields(*reported[1:]), _documents(*documents[1:]))
    assert set(of_all["canonical_id"]) == set(of_later["canonical_id"]) == {"1/wages"}


def test_a_line_that_begins_next_to_one_of_the_same_words_has_a_name_of_its_own() -> None:
    reported = [
        {"document_id": "f1--2023", "key": "line_4", "label": "Reserved"},
        {"document_id": "f1--2024", "key": "line_4", "label": "Reserved"},
        {"document_id": "f1--2024", "key": "line_5", "label": "Reserved"},
    ]
    rows = _build(_fields(*reported), _documents(("f1--2023", "2023", False), ("f1--2024", "2024", False)))
    assert rows.filter(pl.col("document_id") == "f1--2024")["canonical_id"].n_unique() == 2


def _headings(*reported: tuple[str, float]) -> Any:
    rows = [
        {
            **{"anchor_id": f"f1--2025#{key}-{top:.0f}", "document_id": "f1--2025", "page": 1, "kind": "line"},
            **{"key": key, "heading": f"Words of {key}", "parent_anchor_id": None, "form": "1", "perspective": "face"},
            **{"repeat_ix": 0, "element_id": "f1--2025:p0001:e0001", "confidence": 1.0, "source": "layout"},
            **{"bbox": {**_BBOX, "y0_pt": top, "y1_pt": top + 9}, "publisher_id": None, "official_url": None},
        }
        for key, top in reported
    ]
    return schemas.Anchors.validate(pl.DataFrame(rows, schema=schemas.Anchors.create_empty().schema))


def test_the_numbers_of_check_boxes_within_a_line_are_no_lines() -> None:
    keys = [("line_1a", 10.0), ("line_1b", 20.0), ("line_4", 30.0), ("line_4a", 40.0), ("line_1", 45.0)]
    fields = _fields(*({"key": key, "bbox": {**_BBOX, "y0_pt": top}} for key, top in keys if key != "line_4"))
    anchors = _headings(*keys, ("line_b", 46.0))
    documents = _documents(("f1--2025", "2025", False))
    lines = build_lines(fields, anchors, faces=schemas.Faces.create_empty(), documents=documents)
    assert set(lines["key"]) == {"line_1a", "line_1b", "line_4", "line_4a"}
    assert find_unregistered_fields(lines, fields).is_empty()


def test_a_label_is_read_on_the_page_of_the_fields() -> None:
    fields = _fields({"key": "line_1", "label": "Wages", "page": 2})
    anchors = _headings(("line_1", 10.0), ("line_1", 20.0))
    pages = pl.when(pl.col("anchor_id") == "f1--2025#line_1-20").then(2).otherwise(1).cast(pl.Int32)
    words = pl.when(pl.col("anchor_id") == "f1--2025#line_1-20").then(pl.lit("Wages")).otherwise(pl.lit("For staff"))
    anchors = schemas.Anchors.validate(anchors.with_columns(page=pages, heading=words))
    documents = _documents(("f1--2025", "2025", False))
    lines = build_lines(fields, anchors, faces=schemas.Faces.create_empty(), documents=documents)
    assert lines["label"].to_list() == ["Wages"]


def test_lines_are_paired_by_words_before_keys() -> None:
    older = _lines(("line_8a", "Wages"), ("line_8b", "Total income"), ("line_9", "Old credit"))
    newer = _lines(("line_8a", "Wages (see instructions)"), ("line_9", "Total income"), ("line_10", "Something else"))
    assert pair_lines(older, newer) == {0: 0, 1: 1}


def test_each_line_is_paired_once_though_numbers_repeat() -> None:
    lines = _lines(*((f"line_{number}", "Wages") for number in (1, 2, 1, 2, 1)))
    pairs = pair_lines(lines, lines)
    assert len(set(pairs.values())) == len(pairs)


def test_words_that_several_lines_share_are_reported_by_the_line_before() -> None:
    older = _lines(("line_4a", "Pensions"), ("line_4b", "Taxable"), ("line_5a", "Benefits"), ("line_5b", "Taxable"))
    newer = _lines(("line_5a", "Pensions"), ("line_5b", "Taxable"), ("line_6a", "Benefits"), ("line_6b", "Taxable"))
    assert pair_lines(older, newer) == {0: 0, 1: 1, 2: 2, 3: 3}


def test_a_label_that_only_gains_or_loses_words_is_that_of_the_same_line() -> None:
    older = _lines(("line_2", "Harbor dues"), ("line_3", "Tolls. Attach the list of bridges if they are many"))
    newer = _lines(("line_2", "Harbor dues. Attach a list if there are several harbors"), ("line_3", "Tolls"))
    assert pair_lines(older, newer) == {0: 0, 1: 1}
    assert pair_lines(_lines(("line_4", "")), _lines(("line_4", "Fees"))) == {}


def test_a_column_is_not_named_by_the_first_column() -> None:
    heads = ("Name of the boat", "Date of the trip")
    older = [
        {**row, "part": part} for part in "12" for row in _lines(*zip(("column_a", "column_b"), heads, strict=True))
    ]
    newer = [{**row, "label": row["label"].replace("Name of the boat", "Kind of vessel")} for row in older]
    assert pair_lines(older, newer)[1] == 1
    assert pair_lines(older, newer)[3] == 3


def test_a_field_without_a_line_and_a_shared_identity_are_faults() -> None:
    fields = _fields({"key": "line_1", "label": "Wages"}, {"key": "line_2", "label": "Tips"})
    lines = _build(fields, _documents(("f1--2025", "2025", False)))
    assert find_doubled_lines(lines).is_empty()
    assert find_unregistered_fields(lines, fields).is_empty()
    doubled = schemas.Lines.cast(lines.with_columns(canonical_id=pl.lit("1/wages")))
    assert find_doubled_lines(doubled)["key"].to_list() == ["line_2"], "the first one keeps the identity"
    lost = schemas.Lines.cast(lines.filter(pl.col("key") == "line_1"))
    assert find_unregistered_fields(lost, fields)["key"].to_list() == ["line_2"]
