"""Laws that arrive: what cites them reaches their sections, and nothing else does."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from taxkg_assets.graph.integrity import find_dangling_edges, find_misused_relations
from taxkg_assets_tests.graph.corpora import Corpus, anchor, document, element, reference

CODE, RULES, NOTICE = "usc-26", "cfr-26", "n-31-04"
TITLES = {CODE: "Title 26: Internal Revenue Code", RULES: "26 CFR Part 1", NOTICE: "Notice 2031-4"}


def _law(document_id: str, revision: str = "", *, doc_type: str = "statute", **more: Any) -> dict[str, Any]:
    row = document(document_id, "", doc_type, revision)
    return {**row, "tax_year": None, "irs_name": "", "title": TITLES.get(document_id, document_id), **more}


def _section(document_id: str, ix: int, key: str | None, heading: str) -> dict[str, Any]:
    kind = "statute_section" if key else "section"
    return anchor(f"{document_id}#{ix:02d}", kind, key, heading, perspective="statute")


def _citing(*said: tuple[str, str]) -> Corpus:
    """A corpus whose booklet cites laws, one mention after the other."""
    corpus = Corpus()
    corpus.references = [
        reference(corpus.sections[1], kind, target, "references", start=ix, evidence=corpus.sections[1]["text"][ix:])
        | {"mention_start": ix + 1, "mention_end": ix + 2}
        for ix, (kind, target) in enumerate(said)
    ]
    return corpus


def _add_laws(corpus: Corpus) -> None:
    corpus.documents += [_law(CODE), _law(RULES), _law(NOTICE, doc_type="other")]
    corpus.elements += [element(document_id, 1, 0) for document_id in TITLES]
    corpus.anchors += [
        _section(CODE, 1, "sec_99", "§ 99. Pay defined."),
        _section(CODE, 2, None, "Chapter 4: Taxes on Berths"),
        _section(CODE, 3, None, "7. A list's item"),
        _section(RULES, 1, "sec_1.99-2", "§ 1.99-2 Pay of a sailor."),
    ]


SAID = (
    ("irc_section", "IRC 99"),
    ("irc_section", "IRC 99(a)(2)"),
    ("irc_section", "IRC chapter 4"),
    ("irc_section", "IRC 7"),
    ("regulation", "Regs 1.99-2(b)"),
    ("notice_or_ruling", "Notice 2031-4"),
    ("notice_or_ruling", "Notice 2031-5"),
    ("statute_section", "sec_99"),
)


def _targets(corpus: Corpus) -> dict[int, tuple[str, str, float]]:
    nodes, edges = corpus.graph()
    assert find_dangling_edges(edges, nodes).is_empty()
    assert find_misused_relations(edges, nodes).is_empty()
    said = edges.filter(pl.col("element_id").is_not_null(), pl.col("relation") != "defines")
    columns = said.select("start", "target_id", "relation", pl.col("confidence").round(2))
    return {start: (target, relation, sure) for start, target, relation, sure in columns.iter_rows()}


def test_a_law_becomes_internal_when_it_arrives() -> None:
    corpus = _citing(*SAID)
    before = _targets(corpus)
    assert {target for target, _, _ in before.values()} == {f"ext:{kind}:{target}" for kind, target in SAID}
    assert {relation for _, relation, _ in before.values()} == {"external_ref"}
    _add_laws(corpus)
    sure, inexact = 0.9, 0.72
    assert _targets(corpus) == {
        0: (f"{CODE}#01", "references_irc_section", sure),
        1: (f"{CODE}#01", "references_irc_section", inexact),
        2: (f"{CODE}#02", "references_irc_section", sure),
        3: ("ext:irc_section:IRC 7", "external_ref", sure),
        4: (f"{RULES}#01", "references_regulation", inexact),
        5: (NOTICE, "references_notice_or_ruling", sure),
        6: ("ext:notice_or_ruling:Notice 2031-5", "external_ref", sure),
        7: ("ext:statute_section:sec_99", "external_ref", sure),
    }, "a bare section number is not one of the tax code's"


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"title": "Title 26: Bridges"}, id="another code"),
        pytest.param({"doc_type": "publication"}, id="a guide to the code"),
    ],
)
def test_what_is_not_that_law_leaves_the_citation_outside(changes: dict[str, str]) -> None:
    corpus = _citing(("irc_section", "IRC 99"))
    _add_laws(corpus)
    corpus.documents[-3] |= changes
    assert _targets(corpus) == {0: ("ext:irc_section:IRC 99", "external_ref", 0.9)}


def test_the_revision_nearest_to_the_citing_text_counts() -> None:
    corpus = _citing(("irc_section", "IRC 99"))
    _add_laws(corpus)
    for document_id, revision in (("usc-26-old", "2030-06"), ("usc-26-new", "2034-01")):
        corpus.documents.append(_law(document_id, revision, title=TITLES[CODE]))
        corpus.elements.append(element(document_id, 1, 0))
        corpus.anchors.append(_section(document_id, 1, "sec_99", "§ 99. Pay defined."))
    assert _targets(corpus)[0][0] == "usc-26-old#01"
