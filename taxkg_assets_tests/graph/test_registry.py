"""One registry row per box of a face; names from labels and headings; every law of the registry is seen to bite."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from taxkg_assets import schemas
from taxkg_assets.graph import registry as registry_module
from taxkg_assets.graph.names import find_abbreviations
from taxkg_assets.graph.registry import (
    build_registry,
    find_invented_names,
    find_registry_faults,
    find_unregistered_boxes,
)

_BBOX = {"x0_pt": 0.0, "y0_pt": 0.0, "x1_pt": 1.0, "y1_pt": 1.0}


def _faces(*boxes: tuple[str, str]) -> Any:
    rows = [
        {
            "document_id": "f1099x",
            "form": "1099-X",
            "revision": "2025-01",
            "box_key": key,
            "label": label,
            "is_unlabelled": not label,
            "page": 2,
            "bbox": _BBOX,
            "field_names": [],
            "confidence": 0.9,
        }
        for key, label in boxes
    ]
    return schemas.Faces.validate(pl.DataFrame(rows, schema=schemas.Faces.create_empty().schema))


def _anchors(*headings: tuple[str, str, str, str]) -> Any:
    rows = [
        {
            "anchor_id": f"{document}#{i:03d}",
            "document_id": document,
            "page": 1,
            "kind": kind,
            "key": key,
            "heading": heading,
            "parent_anchor_id": None,
            "form": "",
            "perspective": "filer",
            "repeat_ix": 0,
            "source": "layout",
            "element_id": f"e{i}",
            "confidence": 1.0,
            "bbox": _BBOX,
        }
        for i, (document, kind, key, heading) in enumerate(headings)
    ]
    return schemas.Anchors.validate(pl.DataFrame(rows, schema=schemas.Anchors.create_empty().schema))


def _documents() -> Any:
    frame = schemas.Documents.sample(
        overrides=[
            {"document_id": "f1099x", "form": "1099-X", "revision": "2025-01"},
            {"document_id": "i1099x", "form": "1099-X and 1099-Y", "revision": "2024-01"},
        ]
    )
    return schemas.Documents.validate(frame.sort("document_id"))


_FACES = _faces(
    ("box_1", "Total capital gain distr."),
    ("box_2a", "Rent"),
    ("box_2b", "Late rent"),
    ("box_3", ""),
    ("box_4", "Federal income tax withheld"),
    ("box_5", "State"),
)
_HEADINGS = _anchors(
    ("i1099x", "box", "box_2a", "Box 2a. Rent Paid by the Tenant"),
    ("i1099x", "box", "box_4", "Box 4. Shares of Stock"),
    ("i1099x", "box_group", "boxes_5-7", "Boxes 5 Through 7. State Information"),
)


def _registry() -> Any:
    return build_registry(_FACES, _HEADINGS, documents=_documents(), sections=schemas.Sections.create_empty())


def test_rows_equal_the_faces_and_carry_an_identity() -> None:
    registry = _registry()
    assert registry.select("box_key", "label").rows() == _FACES.select("box_key", "label").rows()
    assert registry.row(0, named=True)["canonical_id"] == "1099-X/2025-01/box_1"
    assert registry.row(0, named=True)["source"] == "f1099x:p2"
    assert find_registry_faults(registry, _FACES).height == 0


def test_aliases_come_from_abbreviations_and_headings_of_the_same_field() -> None:
    aliases = dict(_registry().select("box_key", "aliases").rows())
    assert aliases["box_1"] == ["Total capital gain distribution"], "its initials are printed nowhere"
    assert aliases["box_2a"] == ["Rent Paid by the Tenant"]
    assert aliases["box_4"] == [], "a heading about something else is no name of the box"


def test_printed_abbreviations_are_names_where_they_mean_one_box() -> None:
    faces = _faces(
        ("box_1", "Qualified rents"),
        ("box_2", "Quoted rents"),
        ("box_3", "Farm value of land"),
        ("box_4", "Sold trees"),
        ("box_5", "Income tax"),
    )
    text = "Use the farm value (FV), and report it in box 4 (sold trees and shrubs) or box 5 (rent of horses)."
    row = {"document_id": "i1099x", "anchor_id": None, "text": text}
    sections = schemas.Sections.validate(schemas.Sections.sample(overrides=[row]))
    registry = build_registry(faces, _HEADINGS.clear(), documents=_documents(), sections=sections)
    aliases = dict(registry.select("box_key", "aliases").rows())
    assert (aliases["box_1"], aliases["box_2"]) == ([], []), "QR could be either"
    assert aliases["box_3"] == ["FV of land"]
    assert aliases["box_4"] == ["sold trees and shrubs"], "its initials are printed nowhere"
    assert aliases["box_5"] == []
    assert find_invented_names(registry, sections, anchors=_HEADINGS).height == 0


def test_an_abbreviation_that_no_one_prints_is_listed() -> None:
    registry = _registry().with_columns(aliases=pl.lit(["RPB of barns"], pl.List(pl.String))).head(1)
    sections = schemas.Sections.validate(schemas.Sections.sample(overrides=[{"text": "Rent paid for barns (RPBX)."}]))
    found = find_invented_names(registry, sections, anchors=_HEADINGS)
    assert found.select("alias", "abbreviation").rows() == [("RPB of barns", "RPB")]


def test_an_abbreviation_may_be_printed_in_a_heading_only() -> None:
    headings = _anchors(
        ("i1099x", "box", "box_2a", "Box 2a. Rent Paid by STB Owners"),
        ("i1099x", "box", "box_4", "Box 4. INCOME TAX WITHHELD BY OWNER"),
    )
    registry = build_registry(_FACES, headings, documents=_documents(), sections=schemas.Sections.create_empty())
    aliases = dict(registry.select("box_key", "aliases").rows())
    assert aliases["box_2a"] == ["Rent Paid by STB Owners"]
    assert aliases["box_4"] == ["INCOME TAX WITHHELD BY OWNER"]
    assert find_invented_names(registry, schemas.Sections.create_empty(), anchors=headings).is_empty()


def test_words_of_a_name_in_capitals_are_no_abbreviations() -> None:
    assert find_abbreviations("TAX WITHHELD BY OWNER") == []
    assert find_abbreviations("FV") == ["FV"]
    assert find_abbreviations("Rent for a STB") == ["STB"]


def test_a_name_with_an_invented_abbreviation_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_module, "find_aliases", lambda face, usage: [f"QZ of {face['box_key']}", "Barns"])
    registry = build_registry(
        _FACES.head(1), _HEADINGS, documents=_documents(), sections=schemas.Sections.create_empty()
    )
    assert registry["aliases"].to_list() == [["Barns"]]


def test_a_customary_abbreviation_is_a_name_where_a_document_prints_it() -> None:
    faces = _faces(("box_1", "Fair market value"))
    for text, expected in (("The FMV counts.", ["FMV"]), ("The value counts.", [])):
        row = {"document_id": "i1099x", "anchor_id": None, "text": text}
        sections = schemas.Sections.validate(schemas.Sections.sample(overrides=[row]))
        registry = build_registry(faces, _HEADINGS.clear(), documents=_documents(), sections=sections)
        assert registry["aliases"].to_list() == [expected]


def test_history_names_the_field_on_older_faces() -> None:
    old = _faces(("box_1", "Rent"), ("box_2", "Trees"), ("box_3", "Fish"), ("box_4", "Fish"))
    new = _faces(("box_1", "Rent"), ("box_2", "Sheep"), ("box_5", "Trees"), ("box_6", "Fish"))
    names = pl.lit("f1099x--old"), pl.lit("2019")
    older = old.with_columns(document_id=names[0], revision=names[1])
    faces = schemas.Faces.validate(pl.concat([new, older]).sort("document_id", "box_key"))
    registry = build_registry(
        faces, _HEADINGS, documents=_documents(), sections=schemas.Sections.create_empty()
    ).filter(pl.col("document_id") == "f1099x")
    assert dict(registry.select("box_key", "history").rows()) == {
        "box_1": ["1099-X/2019/box_1"],
        "box_2": [],
        "box_5": ["1099-X/2019/box_2"],
        "box_6": [],
    }


def test_groups_are_letters_of_one_number_or_a_printed_range() -> None:
    groups = dict(_registry().select("box_key", "group_id").rows())
    assert groups == {"box_1": None, "box_2a": "2", "box_2b": "2", "box_3": None, "box_4": None, "box_5": "5-7"}


@pytest.mark.parametrize(
    ("box_key", "change", "fault"),
    [
        ("box_4", {"label": ""}, "label missing although the face prints one"),
        ("box_4", {"label": "Other"}, "label differs from the face"),
        ("box_5", {"box_key": "box_9"}, "no such box on the face"),
    ],
)
def test_each_law_is_seen_to_bite(box_key: str, change: dict[str, str], fault: str) -> None:
    broken = _registry().with_columns(
        **{
            column: pl.when(pl.col("box_key") == box_key).then(pl.lit(value)).otherwise(pl.col(column))
            for column, value in change.items()
        }
    )
    assert fault in find_registry_faults(broken, _FACES)["fault"].to_list()


def test_a_box_of_the_face_that_is_not_registered_is_found() -> None:
    registry = _registry()
    lost = schemas.Registry.cast(registry.filter(pl.col("box_key") != "box_4"))
    assert find_unregistered_boxes(registry, _FACES).is_empty()
    assert find_unregistered_boxes(lost, _FACES)["box_key"].to_list() == ["box_4"]
    assert find_registry_faults(lost, _FACES).is_empty(), "the other boxes are kept"
