"""What is around a node, and how it is drawn and written: complete, escaped, without a network."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import re

import networkx as nx
import polars as pl
import pytest

from taxkg_assets.graph.export import render_graphml
from taxkg_assets.graph.neighborhood import Neighborhood, find_neighborhood
from taxkg_assets.graph.neighborhood_page import render_graph_page
from taxkg_assets_tests.graph.corpora import Corpus

FACE = "f9--2031-01#face-box_2"
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)><a href='javascript:alert(3)'>x</a>"


def _around(corpus: Corpus) -> Neighborhood:
    nodes, edges = corpus.graph()
    return find_neighborhood(nodes, edges, node_id=FACE)


def test_a_box_is_in_all_its_places_among_those_that_mention_it() -> None:
    found = _around(Corpus())
    assert found.own == {FACE, "i9--2030-01#03", "i9--2030-01:p0001:e031"}
    assert {"i9--2030-01:p0001:e021", "ext:form:Form 7", "f8--2031#face-box_4"} <= set(found.nodes["node_id"])
    assert {"excludes", "external_ref", "same_concept", "parent_of"} <= set(found.edges["relation"])
    ends = pl.concat([found.edges["source_id"], found.edges["target_id"]])
    assert set(ends) <= set(found.nodes["node_id"])


def test_the_page_needs_no_network_and_takes_no_orders_from_documents() -> None:
    corpus = Corpus()
    corpus.sections[1]["text"] = corpus.references[0]["evidence"] = EVIL + " which box 2 does not hold."
    corpus.references[0]["end"] = len(corpus.sections[1]["text"])
    page = render_graph_page(_around(corpus))
    assert EVIL not in page
    assert "<img src=x" not in page
    assert "alert(1)" in page, "the words are there, as data"
    assert "popup.innerHTML" not in page, "tooltips are text"
    assert not re.search(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)\s*=", page)


def test_what_is_left_out_is_said() -> None:
    nodes, edges = Corpus().graph()
    whole = find_neighborhood(nodes, edges, node_id=FACE)
    cut = find_neighborhood(nodes, edges, node_id=FACE, at_most=len(whole.own) + 1)
    assert whole.left_out == 0
    assert cut.left_out > 0
    assert f"{cut.nodes.height} of {cut.nodes.height + cut.left_out} nodes</title>" in render_graph_page(cut)
    assert " nodes</title>" not in render_graph_page(whole)


@pytest.mark.slow
def test_the_picture_is_a_png() -> None:
    from taxkg_assets.graph.picture import render_graph_picture  # loaded here: matplotlib takes long

    picture = render_graph_picture(_around(Corpus()))
    assert picture.startswith(b"\x89PNG")
    assert picture == render_graph_picture(_around(Corpus()))


def test_graphml_holds_every_node_and_edge() -> None:
    corpus = Corpus()
    corpus.sections[0]["text"] = "Shows\x00 your <pay> & more."
    nodes, edges = corpus.graph()
    graph = nx.read_graphml(io.StringIO(render_graphml(nodes, edges)), force_multigraph=True)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (nodes.height, edges.height)
    assert graph.nodes["f9--2031-01:p0001:e021"]["text"] == "Shows your <pay> & more."


def test_the_page_draws_every_node_and_edge_with_its_words() -> None:
    found = _around(Corpus())
    page = render_graph_page(found)
    assert page.count('<g class="node') == found.nodes.height
    assert page.count('<g class="edge"') == found.edges.height
    drawn = {(int(a), int(b)) for a, b in re.findall(r'data-from="(\d+)" data-to="(\d+)"', page)}
    place = {node_id: ix for ix, node_id in enumerate(found.nodes["node_id"])}
    assert drawn == {(place[a], place[b]) for a, b in found.edges.select("source_id", "target_id").iter_rows()}
    assert all(html.escape(text) in page for text in found.edges["evidence"].drop_nulls())
    assert page == render_graph_page(found)


def test_the_policy_of_the_page_allows_its_own_script_and_no_other() -> None:
    page = render_graph_page(_around(Corpus()))
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none';")
    assert f"script-src 'sha256-{digest}'" in policy
