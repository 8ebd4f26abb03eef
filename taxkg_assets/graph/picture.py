"""A neighbourhood to look at: an interactive page that needs no network, and a picture."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Mapping
from typing import Any

import polars as pl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from pyvis.network import Network

from taxkg_assets.graph.neighbourhood import Neighbourhood

_COLORS = {
    "face": "#2f6fb0",
    "filer": "#2a9d5c",
    "recipient": "#d98b1e",
    "publication": "#7a5aa6",
    "statute": "#8a6d3b",
    "other": "#6c757d",
    "external": "#b8bec4",
}
_SAYS = ("includes", "excludes", "defines", "applies_if", "qualifies", "requires", "portion_of")
_LABEL_CHARACTERS = 46
_HALF_WIDTH = 0.245
_HALO = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8}
_OUTSIDE_TAGS = re.compile(r"<link\b[^>]*>|<script\b[^>]*\bsrc=[^>]*>\s*</script>", re.IGNORECASE)


def render_graph_page(found: Neighbourhood) -> str:
    """Draw a neighbourhood as one HTML page with everything in it; text of documents is data there, never markup."""
    network = Network(height="92vh", width="100%", directed=True, cdn_resources="in_line")
    for row in found.nodes.iter_rows(named=True):
        network.add_node(
            row["node_id"],
            label=name_node(row),
            title=_describe(row),
            color=_color_of(row),
            font={"color": "#000000" if row["level"] == "external" else "#ffffff"},
            shape="box" if row["level"] == "anchor" else "ellipse",
            borderWidth=4 if row["node_id"] == found.node_id else 1,
        )
    for row in found.edges.iter_rows(named=True):
        network.add_edge(
            row["source_id"],
            row["target_id"],
            label="" if row["relation"] == "parent_of" else row["relation"].replace("_", " "),
            title=row["evidence"] or row["relation"],
            color=_edge_color(row),
            dashes=row["relation"] not in _SAYS,
        )
    network.set_options(
        '{"edges": {"font": {"size": 11}, "smooth": {"type": "dynamic"}}, "physics": {"solver": "forceAtlas2Based"}}'
    )
    return _OUTSIDE_TAGS.sub("", network.generate_html())


def render_graph_picture(found: Neighbourhood) -> bytes:
    """Draw a neighbourhood as a PNG: who speaks of it, its own places, what it speaks of; red edges deny."""
    rows = {row["node_id"]: row for row in found.nodes.iter_rows(named=True)}
    places = _place(found)
    height = max(8.0, 0.42 * max(count for count in (list(zip(*places.values(), strict=True))[1])) + 2)
    figure = Figure(figsize=(16, height), dpi=100)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.01, 0.01, 0.98, 0.95))
    for row in found.edges.iter_rows(named=True):
        (x0, y0), (x1, y1) = places[row["source_id"]], places[row["target_id"]]
        color = _edge_color(row)
        bend = "arc3,rad=0.35" if x0 == x1 else "arc3"
        style = {"arrowstyle": "-|>", "color": color, "lw": 1.5 if row["relation"] in _SAYS else 0.6}
        side = 0.0 if x0 == x1 else _HALF_WIDTH if x0 < x1 else -_HALF_WIDTH
        shrink = {"shrinkA": 0.0 if side else 10.0, "shrinkB": 0.0 if side else 10.0}
        ends = (x1 - side, y1), (x0 + side, y0)
        axes.annotate("", *ends, arrowprops={**style, **shrink, "connectionstyle": bend})
        if row["relation"] != "parent_of":
            said = row["relation"].replace("_", " ")
            share = 0.3 if x0 != x1 else 0.0
            at = (x0 + (x1 - x0) * share + (0.19 if x0 == x1 else 0.0), y0 + (y1 - y0) * (share or 0.5))
            axes.text(*at, s=said, fontsize=7, color=color, ha="center", va="center", bbox=_HALO)
    for node_id, row in rows.items():
        box = {"boxstyle": "round,pad=0.3", "fc": _color_of(row), "ec": "black", "alpha": 0.95}
        box["lw"] = 2.5 if node_id == found.node_id else 0.4
        x, y = places[node_id]
        color = "black" if row["level"] == "external" else "white"
        axes.text(x, y, _plain(name_node(row)), fontsize=7.5, color=color, ha="center", va="center", bbox=box)
    axes.set_xlim(-0.35, 2.35)
    axes.set_ylim(max(y for _, y in places.values()) + 1, -1)
    axes.set_axis_off()
    figure.suptitle(_plain(name_node(rows[found.node_id])), fontsize=13)
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def _place(found: Neighbourhood) -> dict[str, tuple[float, float]]:
    """Give each node a column (speakers, own places, what they speak of) and a row in it."""
    spoken = set(found.edges.filter(pl.col("source_id").is_in(sorted(found.own)))["target_id"])
    columns: dict[int, list[str]] = {0: [], 1: [], 2: []}
    order = found.nodes.sort("document_id", "ordinal", "node_id", nulls_last=True)
    for node_id in order["node_id"]:
        columns[1 if node_id in found.own else 2 if node_id in spoken else 0].append(node_id)
    longest = max(len(column) for column in columns.values())
    return {
        node_id: (float(x), (ix + 0.5) * longest / len(column))
        for x, column in columns.items()
        for ix, node_id in enumerate(column)
    }


def _plain(text: str) -> str:
    """Keep the drawing library from reading dollars as formulas."""
    return text.replace("$", r"\$")


def name_node(row: Mapping[str, Any]) -> str:
    """Name a node in a few words: what it is of, and how its text begins."""
    text = " ".join(row["text"].split())
    name = text if len(text) <= _LABEL_CHARACTERS else text[: _LABEL_CHARACTERS - 1].rstrip() + "…"
    if row["level"] in ("paragraph", "sentence", "table") and row["anchor_key"]:
        return f"{row['anchor_key'].replace('_', ' ')}: {name}"
    return name or row["node_id"]


def _describe(row: Mapping[str, Any]) -> str:
    place = f"{row['document_id']} p. {row['page']}" if row["document_id"] else "outside the corpus"
    return "\n".join([place, *textwrap.wrap(row["heading_path"], 80), "", *textwrap.wrap(row["text"][:600], 80)])


def _color_of(row: Mapping[str, Any]) -> str:
    return _COLORS["external"] if row["level"] == "external" else _COLORS[row["perspective"] or "other"]


def _edge_color(row: Mapping[str, Any]) -> str:
    if row["polarity"] == "negative":
        return "#c0392b"
    return "#1b7f3b" if row["relation"] in _SAYS else "#8d99a6"
