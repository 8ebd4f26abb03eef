"""Boxes by their number, in each revision of a form."""

from __future__ import annotations

import io

import polars as pl
import pytest
from rich.console import Console

from taxkg_assets.schemas import Edges, Nodes, Registry
from taxkg_assets.serving import render_answers
from taxkg_assets.serving.boxes import list_boxes, match_key
from taxkg_assets.serving.released import Released

BOXES = pl.DataFrame(
    [
        ("f9--2029", "2029", "box_7", None),
        ("f9--2030", "2030", "box_7b", "7"),
        ("f9--2030", "2030", "box_7a", "7"),
        ("f9--2030", "2030", "box_8a", None),
        ("f9--2030", "2030", "box_9", "9-10"),
    ],
    schema=["document_id", "revision", "box_key", "group_id"],
    orient="row",
)


@pytest.mark.parametrize(
    ("number", "found"),
    [
        ("7", [("2030", "box_7a"), ("2029", "box_7")]),
        ("7b", [("2030", "box_7b")]),
        ("8", []),
        ("9", [("2030", "box_9")]),
    ],
)
def test_a_number_that_a_face_divides_means_its_first_field(number: str, found: list[tuple[str, str]]) -> None:
    assert match_key(BOXES, number).select("revision", "box_key").rows() == found


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> Released:
    """A release with two final revisions of a form and two drafts, one of them of the newer final revision."""
    editions = {"f9--2029": "2029", "f9--2030": "2030", "f9--2030-draft": "2030", "f9--2031-draft": "2031"}
    registry = Registry.sample(
        overrides=[
            {
                "document_id": name,
                "form": "1099-Q",
                "revision": revision,
                "box_key": key,
                "label": f"Dues of {name}",
                "canonical_id": f"1099-Q/{key}",
            }
            for name, revision in editions.items()
            for key in ("box_10", "box_2")
        ]
    )
    documents = pl.DataFrame({"document_id": list(editions), "is_draft": ["draft" in name for name in editions]})
    frames = {
        "registry": registry,
        "documents": documents,
        "nodes": Nodes.create_empty(),
        "edges": Edges.create_empty(),
    }
    release = Released.__new__(Released)
    monkeypatch.setattr(Released, "table", lambda _, name: frames[name])
    return release


def test_a_form_alone_lists_final_revisions_before_drafts(released: Released) -> None:
    rows = [(row.document_id, row.box_key) for row in list_boxes(released, "1099-Q")]
    assert rows[:2] == [("f9--2030", "box_2"), ("f9--2030", "box_10")]
    assert [name for name, _ in rows[::2]] == ["f9--2030", "f9--2029", "f9--2031-draft", "f9--2030-draft"]


def test_the_boxes_of_the_newest_final_revision_are_printed_and_the_other_ones_named(released: Released) -> None:
    out = io.StringIO()
    render_answers.print_forms(list_boxes(released, "1099-Q"), out=Console(file=out, width=200))
    shown = out.getvalue()
    assert shown.count("Dues of f9--2030 ") == 2
    assert not any(f"Dues of {name}" in shown for name in ("f9--2029", "f9--2030-draft", "f9--2031-draft"))
    assert "Other revisions: 2029, 2031, f9--2030-draft." in shown
    assert '`taxkg form "1099-Q" --revision 2029` lists one.' in shown
