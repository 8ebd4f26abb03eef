"""Nested blocks of a page to flat text blocks and tags."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.extraction.pdf import tags as module
from taxkg_assets.extraction.pdf.tags import MAX_DEPTH, flatten_tags
from taxkg_assets_tests.extraction.tagged_pdf import collect, make_booklet


def _text(words: str) -> dict[str, Any]:
    return {"type": 0, "words": words}


def _tag(kind: str, *blocks: dict[str, Any], index: int = 0, std: str = "") -> dict[str, Any]:
    return {"type": 2, "raw": kind, "std": std or kind, "index": index, "blocks": list(blocks)}


def test_text_comes_in_tag_order_with_its_innermost_tag() -> None:
    item = _tag("LI", _tag("Lbl", _text("1.")), _tag("LBody", _text("honey"), index=1), index=4)
    flat = flatten_tags(
        [_text("loose"), _tag("Sect", _tag("P", _text("first")), _tag("L", item, index=1)), _text("last")]
    )
    assert flat is not None
    blocks, owners, tags = flat
    assert [block["words"] for block in blocks] == ["loose", "first", "1.", "honey", "last"]
    assert [tags[ix].kind if ix >= 0 else "" for ix in owners] == ["", "P", "Lbl", "LBody", ""]
    assert [tag.parent_ix for tag in tags] == [-1, 0, 0, 2, 3, 3]
    assert tags[owners[3]].path == (0, 1, 4, 1)


def test_pictures_are_no_text_and_no_tags() -> None:
    assert flatten_tags([{"type": 1}, _tag("Figure", {"type": 1})]) == ([], [], flatten_tags([_tag("Figure")])[2])  # type: ignore[index]


@pytest.mark.parametrize(("depth", "is_read"), [(MAX_DEPTH, True), (MAX_DEPTH + 1, False), (100_000, False)])
def test_a_tree_that_is_too_deep_is_not_read(depth: int, is_read: bool) -> None:
    block = _text("deep")
    for _ in range(depth):
        block = _tag("Sect", block)
    assert (flatten_tags([block]) is not None) == is_read


def test_a_tree_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TAGS", 5)
    assert flatten_tags([_tag("P") for _ in range(5)]) is not None
    assert flatten_tags([_tag("P") for _ in range(6)]) is None


@pytest.mark.parametrize(
    ("raw", "std", "kind"),
    [("H1", "Div", "H1"), ("H3", "P", "H3"), ("Para", "P", "P"), ("Own", "", "Own"), ("Heading", "H2", "H2")],
)
def test_raw_heading_types_win_over_the_role_map(raw: str, std: str, kind: str) -> None:
    block = {**_tag(raw), "std": std}
    flat = flatten_tags([block])
    assert flat is not None
    assert flat[2][0].kind == kind


def test_a_written_tree_comes_back() -> None:
    data = make_booklet(role_map={"H1": "Div", "H2": "P"}).bytes()
    flat = flatten_tags(collect(data))
    assert flat is not None
    kinds = [tag.kind for tag in flat[2]]
    assert kinds[:5] == ["Document", "H1", "H2", "P", "P"]
    assert kinds[5:12] == ["L", "LI", "Lbl", "LBody", "LI", "Lbl", "LBody"]
    second = flatten_tags(collect(data, 1))
    assert second is not None
    # The paragraph that continues has the same path on both pages.
    assert second[2][1].path == flat[2][-1].path
