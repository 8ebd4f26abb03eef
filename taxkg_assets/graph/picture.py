"""Drawings of a node's neighborhood: an interactive page that needs no network, and a picture."""

from __future__ import annotations

import io
import json
import re
import textwrap
from collections.abc import Mapping
from html import escape
from typing import Any

import polars as pl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from pyvis.network import Network

from taxkg_assets.graph.neighborhood import Neighborhood

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
_EDGE_LABELS = {"#1b7f3b": "states", "#c0392b": "denies", "#8d99a6": "is next to or under"}
_LABEL_CHARACTERS = 46
_LABEL_GAP = 0.07
_BEND = 0.35
_FORCES = {"avoidOverlap": 1, "gravitationalConstant": -120, "springLength": 160}
_CAPTION = "font: 14px system-ui, sans-serif; margin: .4rem 1rem"
_HALO = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8}
_OUTSIDE_TAGS = re.compile(r"<link\b[^>]*>|<script\b[^>]*\bsrc=[^>]*>\s*</script>", re.IGNORECASE)


def render_graph_page(found: Neighborhood) -> str:
    """Render a neighborhood as one self-contained HTML page.

    Args:
        found: Nodes and edges to draw.

    Returns:
        HTML that loads nothing from the network; texts of documents are escaped.
    """
    rows = {row["node_id"]: row for row in found.nodes.iter_rows(named=True)}
    network = Network(height="92vh", width="100%", directed=True, cdn_resources="in_line")
    for row in found.nodes.iter_rows(named=True):
        network.add_node(
            row["node_id"],
            label=name_node(row),
            title=_inert(_describe(row)),
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
            title=_inert(row["evidence"] or row["relation"]),
            color=_edge_color(row),
            dashes=row["relation"] not in _SAYS,
        )
    physics = {"solver": "forceAtlas2Based", "forceAtlas2Based": _FORCES}
    network.set_options(
        json.dumps({"edges": {"font": {"size": 11}, "smooth": {"type": "dynamic"}}, "physics": physics})
    )
    page = _OUTSIDE_TAGS.sub("", network.generate_html())
    title = escape(_title(found, rows[found.node_id]))
    page = page.replace("<head>", f"<head>\n<title>{title}</title>", 1)
    return page.replace("<body>", f"<body>\n<p style='{_CAPTION}'><b>{title}</b> {_page_legend()}</p>", 1)


def _page_legend() -> str:
    marks = {
        **{color: f"■ {kind}" for kind, color in _COLORS.items()},
        **{c: f"→ {s}" for c, s in _EDGE_LABELS.items()},
    }
    return " ".join(f'<span style="color:{color}">{escape(text)}</span>' for color, text in marks.items())


def render_graph_picture(found: Neighborhood) -> bytes:
    """Draw a neighborhood in three columns: citing nodes, the node's own places, cited nodes; negative edges are red.

    Args:
        found: Nodes and edges to draw.

    Returns:
        PNG image.
    """
    rows = {row["node_id"]: row for row in found.nodes.iter_rows(named=True)}
    places = _place(found)
    rank = max(y for _, y in places.values())
    height = max(4.0, 0.42 * rank + 2)
    figure = Figure(figsize=(16, height), dpi=100)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.01, 0.01, 0.98, 0.95))
    boxes: dict[str, Any] = {}
    for node_id, row in rows.items():
        box = {"boxstyle": "round,pad=0.3", "fc": _color_of(row), "ec": "black", "alpha": 0.95}
        box["lw"] = 2.5 if node_id == found.node_id else 0.4
        x, y = places[node_id]
        color = "black" if row["level"] == "external" else "white"
        label = axes.text(x, y, _plain(name_node(row)), fontsize=7.5, color=color, ha="center", va="center", bbox=box)
        label.set_zorder(3)
        boxes[node_id] = label
    axes.set_xlim(-0.35, max(x for x, _ in places.values()) + 0.35)
    axes.set_ylim(rank + 1, -1)
    axes.set_axis_off()
    figure.draw_without_rendering()
    # The width of each box is known only after drawing: an arrow ends at the box itself.
    for row in found.edges.iter_rows(named=True):
        _draw_edge(axes, row, places=places, boxes=boxes)
    _draw_legend(axes, found, rows=rows)
    figure.suptitle(_plain(_title(found, rows[found.node_id])), fontsize=13)
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def _draw_edge(
    axes: Any, row: Mapping[str, Any], *, places: Mapping[str, tuple[float, float]], boxes: Mapping[str, Any]
) -> None:
    """Draw an arrow from box to box, with its relation near the source."""
    source, target = row["source_id"], row["target_id"]
    (x0, y0), (x1, y1) = places[source], places[target]
    color = _edge_color(row)
    is_same_column = x0 == x1
    style = {"arrowstyle": "-|>", "color": color, "lw": 1.5 if row["relation"] in _SAYS else 0.6}
    near, far = (_half_width(axes, boxes[node_id]) for node_id in (source, target))
    if is_same_column:
        ends = {"patchA": boxes[source].get_bbox_patch(), "patchB": boxes[target].get_bbox_patch()}
        style = {**style, **ends, "connectionstyle": f"arc3,rad={_BEND}"}
    else:
        sign = 1 if x0 < x1 else -1
        x0, x1 = x0 + sign * near, x1 - sign * far
        style = {**style, "shrinkA": 0.0, "shrinkB": 0.0}
    axes.annotate("", (x1, y1), (x0, y0), arrowprops=style).set_zorder(1)
    if row["relation"] == "parent_of":
        return
    if is_same_column:
        # The arrow swings aside by half its bend, as lengths are on paper.
        (left, top), (right, bottom) = axes.transData.transform([(x0, y0), (x1, y1)])
        middle = (left + right) / 2 + _BEND / 2 * (bottom - top), (top + bottom) / 2
        at = axes.transData.inverted().transform(middle)
    else:
        share = min(0.5, _LABEL_GAP / abs(x1 - x0))
        at = (x0 + (x1 - x0) * share, y0 + (y1 - y0) * share)
    label = axes.text(*at, s=row["relation"].replace("_", " "), fontsize=7, color=color, ha="center", va="center")
    label.set(bbox=_HALO, zorder=2)


def _half_width(axes: Any, box: Any) -> float:
    """Return half the width of a drawn box in data coordinates."""
    return float(box.get_bbox_patch().get_window_extent().transformed(axes.transData.inverted()).width) / 2


def _draw_legend(axes: Any, found: Neighborhood, *, rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Draw the colors of the boxes and arrows that are shown, with their meaning."""
    kinds = {"external" if row["level"] == "external" else row["perspective"] or "other" for row in rows.values()}
    marks: list[Any] = [Patch(color=color, label=kind) for kind, color in _COLORS.items() if kind in kinds]
    shown = {_edge_color(row) for row in found.edges.iter_rows(named=True)}
    marks += [Line2D([], [], color=color, label=label) for color, label in _EDGE_LABELS.items() if color in shown]
    axes.legend(
        handles=marks, loc="upper center", bbox_to_anchor=(0.5, 1.0), ncols=len(marks), fontsize=8, frameon=False
    )


def _title(found: Neighborhood, row: Mapping[str, Any]) -> str:
    """Return the name of the node, and how much of its neighborhood is shown."""
    total = found.nodes.height + found.left_out
    return f"{name_node(row)} — {found.nodes.height} of {total} nodes" if found.left_out else name_node(row)


def _place(found: Neighborhood) -> dict[str, tuple[float, float]]:
    """Give each node a column (citing nodes, own places, cited nodes) and a row in it."""
    cited = set(found.edges.filter(pl.col("source_id").is_in(sorted(found.own)))["target_id"])
    columns: dict[int, list[str]] = {0: [], 1: [], 2: []}
    order = found.nodes.sort("document_id", "ordinal", "node_id", nulls_last=True)
    for node_id in order["node_id"]:
        columns[1 if node_id in found.own else 2 if node_id in cited else 0].append(node_id)
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
    """Name a node in a few words: its key and the beginning of its text.

    Args:
        row: Row of `nodes`.

    Returns:
        Name of about `_LABEL_CHARACTERS` characters.
    """
    text = " ".join(row["text"].split())
    name = text if len(text) <= _LABEL_CHARACTERS else text[: _LABEL_CHARACTERS - 1].rstrip() + "…"
    if row["level"] in ("paragraph", "sentence", "table") and row["anchor_key"]:
        return f"{row['anchor_key'].replace('_', ' ')}: {name}"
    return name or row["node_id"]


def _describe(row: Mapping[str, Any]) -> str:
    place = f"{row['document_id']} p. {row['page']}" if row["document_id"] else "outside the corpus"
    return "\n".join([place, *textwrap.wrap(row["heading_path"], 80), "", *textwrap.wrap(row["text"][:600], 80)])


def _inert(text: str) -> str:
    """Escape a text for a tooltip by a joiner within the word href, which makes pyvis render all tooltips as markup."""
    return text.replace("href", "h\u2060ref")


def _color_of(row: Mapping[str, Any]) -> str:
    return _COLORS["external"] if row["level"] == "external" else _COLORS[row["perspective"] or "other"]


def _edge_color(row: Mapping[str, Any]) -> str:
    if row["polarity"] == "negative":
        return "#c0392b"
    return "#1b7f3b" if row["relation"] in _SAYS else "#8d99a6"
