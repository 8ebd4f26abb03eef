"""Structure trees that the parser must not walk: deep, cyclic, wide; and valid ones that it may."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.extraction.authored.trust import TagTrust
from taxkg_assets.extraction.pdf import tag_guard
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets.extraction.pdf.tag_guard import find_tree_danger, inspect_tree
from taxkg_assets_tests.extraction.navigation_pdfs import new_object
from taxkg_assets_tests.extraction.tagged_pdf import TaggedPdf, find_elements, make_booklet, make_tables


def _deepen(document: Any, depth: int) -> None:
    element = find_elements(document, "P")[0]
    above = document.xref_get_key(element, "P")[1]
    for _ in range(depth):
        above = f"{new_object(document, f'<</Type/StructElem/S/Sect/P {above}>>')} 0 R"
    document.xref_set_key(element, "P", above)


@pytest.mark.parametrize("pdf", [make_booklet(), make_tables()])
def test_valid_trees_are_walked(pdf: Any) -> None:
    assert find_tree_danger(pdf.build()) == ""


def test_a_document_without_a_tree_is_no_danger() -> None:
    assert find_tree_danger(make_booklet().build(is_tagged=False)) == ""


def test_words_in_place_of_glyphs_are_noted() -> None:
    document = make_booklet().build()
    assert not inspect_tree(document).may_replace_text
    document.xref_set_key(find_elements(document, "P")[-1], "ActualText", "(Rafts)")
    assert inspect_tree(document).may_replace_text


@pytest.mark.parametrize("kind", ["Sect", "P", "Link"])
def test_words_in_place_of_glyphs_are_noted_wherever_they_are_above_a_text(kind: str) -> None:
    pdf = TaggedPdf()
    with pdf.tag("Sect"), pdf.tag("P"):
        with pdf.tag("Link"):
            pdf.set("Chart 5 tells more")
        pdf.set("about the rafts")
    document = pdf.build()
    assert not inspect_tree(document).may_replace_text
    document.xref_set_key(find_elements(document, kind)[0], "ActualText", "(Rafts)")
    assert inspect_tree(document).may_replace_text


@pytest.mark.parametrize(("depth", "is_danger"), [(100, False), (300, True), (10_000, True)])
def test_chains_of_parents_are_measured(depth: int, is_danger: bool) -> None:
    document = make_booklet().build()
    _deepen(document, depth)
    assert ("too deep" in find_tree_danger(document)) == is_danger


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_cycle_of_parents_is_found(length: int) -> None:
    document = make_booklet().build()
    elements = find_elements(document, "P")[:length]
    for element, above in zip(elements, elements[1:] + elements[:1], strict=True):
        document.xref_set_key(element, "P", f"{above} 0 R")
    assert "its own parent" in find_tree_danger(document)


def test_a_cycle_in_the_parent_tree_ends() -> None:
    document = make_booklet().build()
    tree = int(document.xref_get_key(document.pdf_catalog(), "StructTreeRoot")[1].split()[0])
    node = new_object(document, "<<>>")
    document.update_object(node, f"<</Kids[{node} 0 R {tree} 0 R {node} 0 R]>>")
    document.xref_set_key(tree, "ParentTree", f"{node} 0 R")
    assert find_tree_danger(document) == ""


@pytest.mark.parametrize("wrong", ["7", "null", "(x)", "[]", "<</Nums 3>>", "<</Nums[0 3 1 (x) 2 [null 4 [[]]]]>>"])
def test_wrong_types_are_no_danger(wrong: str) -> None:
    document = make_booklet().build()
    tree = int(document.xref_get_key(document.pdf_catalog(), "StructTreeRoot")[1].split()[0])
    document.xref_set_key(tree, "ParentTree", wrong)
    assert find_tree_danger(document) == ""


@pytest.mark.parametrize(("bound", "reason"), [("MAX_OBJECTS", "too large"), ("MAX_LOOKUPS", "too many children")])
def test_size_is_bounded(bound: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tag_guard, bound, 10)
    assert reason in find_tree_danger(make_booklet().build())


def test_pages_of_a_dangerous_tree_are_read_by_their_layout_and_say_why() -> None:
    document = make_booklet().build()
    _deepen(document, 5_000)
    data = bytes(document.tobytes())
    source = read_source(data, document_id="deep", policy=TagTrust())
    plain = read_source(make_booklet().bytes(is_tagged=False), document_id="deep")
    assert ["too deep" in page.distrust for page in source.pages] == [True, True]
    assert [page.tags for page in source.pages] == [(), ()]
    assert [page.spans for page in source.pages] == [page.spans for page in plain.pages]
    # Without a request for tags, nothing is reported about them.
    assert [page.distrust for page in read_source(data, document_id="deep").pages] == ["", ""]
