"""Documents repeated under new names: the graph of each size, and tables made inside the process."""

from __future__ import annotations

import pymupdf
import pytest

from benchmarks import graph, sizing_inside
from benchmarks.documents import Document
from taxkg_assets.defs.wiring.resources import PROJECT

pytestmark = pytest.mark.slow
SAMPLES = PROJECT / "data" / "samples"


@pytest.fixture(scope="module")
def unit() -> list[Document]:
    found = []
    for path in (SAMPLES / "sample-f1099div--2024-01.pdf", SAMPLES / "sample-f1099div--2026-01.pdf"):
        data = path.read_bytes()
        with pymupdf.open(stream=data, filetype="pdf") as opened:
            found.append(Document(path.stem, path, data, opened.page_count, bool(opened.is_form_pdf)))
    return found


def test_the_graph_of_more_copies_grows(unit: list[Document], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "load_documents", lambda: unit)
    monkeypatch.setattr(graph, "SIZES", (1, 2))
    one, two = graph.run(repeat=1, rival_repeat=1).growth
    assert (one.documents, two.documents) == (2, 4)
    assert 0 < one.nodes < two.nodes
    assert 0 < one.edges < two.edges


def test_tables_are_made_committed_and_judged_in_this_process(
    unit: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sizing_inside, "LAST", ("edges",))  # the index would encode texts
    size = sizing_inside.open_inside(unit)(times=2)
    assert size.documents == 4
    assert min(size.rows[name] for name in ("registry", "nodes", "edges")) > 0
    assert size.seconds.keys() >= {"documents", "edges", "edges: commit"}
