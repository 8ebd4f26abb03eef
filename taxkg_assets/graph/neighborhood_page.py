"""A node's neighborhood as one interactive HTML page that needs no network: SVG with tooltips, zoom and highlighting.

The layout is that of the picture: citing nodes on the left, the node's own places in the middle, cited nodes on the
right. Texts of documents are escaped, and the page's policy lets no other script run.
"""

from __future__ import annotations

import base64
import hashlib
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from taxkg_assets.graph.neighborhood import Neighborhood
from taxkg_assets.graph.neighborhood_layout import (
    EDGE_LABELS,
    NODE_COLORS,
    SEMANTIC_RELATIONS,
    describe_neighborhood,
    find_edge_color,
    find_node_color,
    name_node,
    place_nodes,
)
from taxkg_assets.records import EdgeRecord, NodeRecord, iter_records

_ROW_PX = 34.0
_COLUMN_PX = 620.0
_BOX_PX = 24.0
_LETTER_PX = 6.6
_PADDING_PX = 16.0
_MARGIN_PX = 240.0
_BEND_PX = 120.0
_LABEL_SHARE = 0.2

_STYLE = """
:root { font: 14px system-ui, sans-serif; color-scheme: light; }
body { margin: 0; background: #fff; color: #111; }
header { padding: .5rem 1rem; }
header span { margin-right: .8rem; white-space: nowrap; }
svg { width: 100%; height: 90vh; cursor: grab; touch-action: none; }
.node text { font-size: 12px; fill: #fff; pointer-events: none; }
.node.external text { fill: #000; }
.node rect { stroke: #333; stroke-width: .6; }
.node.own rect { stroke: #000; stroke-width: 1.6; }
.node.chosen rect { stroke: #000; stroke-width: 3.5; }
.edge path { fill: none; }
.edge text { font-size: 10px; paint-order: stroke; stroke: #fff; stroke-width: 3px; }
svg.focused .node, svg.focused .edge { opacity: .12; }
svg.focused .near { opacity: 1; }
"""

_SCRIPT = """
const svg = document.querySelector("svg");
const view = svg.viewBox.baseVal;
const scale = () => view.width / svg.clientWidth;
svg.addEventListener("wheel", event => {
  event.preventDefault();
  const factor = event.deltaY < 0 ? 0.85 : 1 / 0.85;
  const rect = svg.getBoundingClientRect();
  const x = view.x + (event.clientX - rect.left) * scale();
  const y = view.y + (event.clientY - rect.top) * scale();
  view.x = x - (x - view.x) * factor; view.y = y - (y - view.y) * factor;
  view.width *= factor; view.height *= factor;
}, { passive: false });
let from = null;
svg.addEventListener("pointerdown", event => { from = event; });
addEventListener("pointerup", () => { from = null; });
addEventListener("pointermove", event => {
  if (!from) return;
  view.x -= (event.clientX - from.clientX) * scale();
  view.y -= (event.clientY - from.clientY) * scale();
  from = event;
});
const edges = [...svg.querySelectorAll(".edge")];
const nodes = [...svg.querySelectorAll(".node")];
const focus = node => {
  const touched = edges.filter(edge => edge.dataset.from === node.dataset.ix || edge.dataset.to === node.dataset.ix);
  const near = new Set(touched.flatMap(edge => [edge.dataset.from, edge.dataset.to]));
  near.add(node.dataset.ix);
  touched.forEach(edge => edge.classList.add("near"));
  nodes.filter(other => near.has(other.dataset.ix)).forEach(other => other.classList.add("near"));
  svg.classList.add("focused");
};
const blur = () => {
  svg.classList.remove("focused");
  [...edges, ...nodes].forEach(part => part.classList.remove("near"));
};
nodes.forEach(node => {
  for (const name of ["pointerenter", "focus"]) node.addEventListener(name, () => focus(node));
  for (const name of ["pointerleave", "blur"]) node.addEventListener(name, blur);
});
"""


@dataclass(frozen=True, slots=True)
class _Box:
    """Drawn box of a node: its place in the list of nodes, its center and its width."""

    ix: int
    column: float
    x: float
    y: float
    width: float

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width / 2


def render_graph_page(found: Neighborhood) -> str:
    """Render a neighborhood as one self-contained HTML page.

    Args:
        found: Nodes and edges to draw.

    Returns:
        HTML that loads nothing from the network; texts of documents are escaped.
    """
    rows = {row["node_id"]: row for row in iter_records(found.nodes, NodeRecord)}
    boxes = _place_boxes(found, rows)
    edges = "\n".join(_draw_edge(row, boxes) for row in iter_records(found.edges, EdgeRecord))
    nodes = "\n".join(_draw_node(row, boxes[node_id], found) for node_id, row in rows.items())
    left = min(b.left for b in boxes.values())
    right = max(b.right for b in boxes.values())
    height = max(box.y for box in boxes.values()) + 2 * _ROW_PX
    view = f"{left - _BEND_PX:.0f} {-_ROW_PX:.0f} {right - left + 2 * _BEND_PX:.0f} {height:.0f}"
    title = escape(describe_neighborhood(found, rows[found.node_id]))
    policy = f"default-src 'none'; style-src '{_digest(_STYLE)}'; script-src '{_digest(_SCRIPT)}'"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{_STYLE}</style>\n</head>\n<body>\n'
        f"<header><b>{title}</b><br>{_legend()}</header>\n"
        f'<svg viewBox="{view}" role="img" aria-label="{title}">\n{_markers()}\n{edges}\n{nodes}\n</svg>\n'
        f"<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _digest(text: str) -> str:
    """Return the digest by which a content security policy allows an inline style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _legend() -> str:
    marks = [("■", color, kind) for kind, color in NODE_COLORS.items()]
    marks += [("→", color, meaning) for color, meaning in EDGE_LABELS.items()]
    return " ".join(f'<span><font color="{color}">{sign}</font> {text}</span>' for sign, color, text in marks)


def _markers() -> str:
    return "<defs>" + "".join(_marker(color) for color in EDGE_LABELS) + "</defs>"


def _marker(color: str) -> str:
    return (
        f'<marker id="end-{color[1:]}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        f'orient="auto"><path d="M0 0L8 4L0 8z" fill="{color}"/></marker>'
    )


def _place_boxes(found: Neighborhood, rows: Mapping[str, NodeRecord]) -> dict[str, _Box]:
    places = place_nodes(found)
    return {
        node_id: _Box(
            ix=ix,
            column=places[node_id][0],
            x=_MARGIN_PX + places[node_id][0] * _COLUMN_PX,
            y=places[node_id][1] * _ROW_PX,
            width=len(name_node(row)) * _LETTER_PX + _PADDING_PX,
        )
        for ix, (node_id, row) in enumerate(rows.items())
    }


def _draw_node(row: NodeRecord, box: _Box, found: Neighborhood) -> str:
    kinds = ["node"]
    kinds += ["external"] if row["level"] == "external" else []
    kinds += ["own"] if row["node_id"] in found.own else []
    kinds += ["chosen"] if row["node_id"] == found.node_id else []
    radius = 4 if row["level"] == "anchor" else 12
    return (
        f'<g class="{" ".join(kinds)}" data-ix="{box.ix}" tabindex="0"><title>{escape(_describe(row))}</title>'
        f'<rect x="{box.left:.1f}" y="{box.y - _BOX_PX / 2:.1f}" width="{box.width:.1f}" height="{_BOX_PX}" '
        f'rx="{radius}" fill="{find_node_color(row)}"/>'
        f'<text x="{box.x:.1f}" y="{box.y:.1f}" text-anchor="middle" dominant-baseline="central">'
        f"{escape(name_node(row))}</text></g>"
    )


def _describe(row: NodeRecord) -> str:
    place = f"{row['document_id']} p. {row['page']}" if row["document_id"] else "outside the corpus"
    return "\n".join([place, *textwrap.wrap(row["heading_path"], 80), "", *textwrap.wrap(row["text"][:600], 80)])


def _draw_edge(row: EdgeRecord, boxes: Mapping[str, _Box]) -> str:
    source, target = boxes[row["source_id"]], boxes[row["target_id"]]
    color = find_edge_color(row)
    is_semantic = row["relation"] in SEMANTIC_RELATIONS
    xs = _curve(source, target)
    ys = (source.y, source.y, target.y, target.y)
    start, *rest = (f"{x:.1f} {y:.1f}" for x, y in zip(xs, ys, strict=True))
    dashes = "" if is_semantic else ' stroke-dasharray="4 3"'
    label = "" if row["relation"] == "parent_of" else escape(row["relation"].replace("_", " "))
    return (
        f'<g class="edge" data-from="{source.ix}" data-to="{target.ix}">'
        f"<title>{escape(row['evidence'] or row['relation'])}</title>"
        f'<path d="M{start}C{" ".join(rest)}" stroke="{color}" stroke-width="{1.6 if is_semantic else 0.8}"{dashes} '
        f'marker-end="url(#end-{color[1:]})"/>'
        f'<text x="{_point(xs):.1f}" y="{_point(ys):.1f}" fill="{color}" text-anchor="middle">{label}</text></g>'
    )


def _curve(source: _Box, target: _Box) -> tuple[float, float, float, float]:
    """Return the horizontal positions of a Bézier curve: start, two control points, end."""
    if source.column == target.column:
        bend = max(source.right, target.right) + _BEND_PX
        return source.right, bend, bend, target.right
    if source.column < target.column:
        return source.right, source.right + _BEND_PX, target.left - _BEND_PX, target.left
    return source.left, source.left - _BEND_PX, target.right + _BEND_PX, target.right


def _point(values: tuple[float, float, float, float]) -> float:
    """Return one coordinate of a Bézier curve near its start, where the label is."""
    t = _LABEL_SHARE
    weights = ((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3)
    return sum(weight * value for weight, value in zip(weights, values, strict=True))
