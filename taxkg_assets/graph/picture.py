"""A node's neighborhood as a picture."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

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

_LABEL_GAP = 0.07
_BEND = 0.35
_HALO = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8}


def render_graph_picture(found: Neighborhood) -> bytes:
    """Draw a neighborhood as PNG in three columns: citing nodes, own nodes, cited nodes; negative edges are red.

    Args:
        found: Nodes and edges to draw.

    Returns:
        PNG image.
    """
    rows = {row["node_id"]: row for row in iter_records(found.nodes, NodeRecord)}
    places = place_nodes(found)
    rank = max(y for _, y in places.values())
    height = max(4.0, 0.42 * rank + 2)
    figure = Figure(figsize=(16, height), dpi=100)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.01, 0.01, 0.98, 0.95))
    boxes: dict[str, Any] = {}
    for node_id, row in rows.items():
        box = {"boxstyle": "round,pad=0.3", "fc": find_node_color(row), "ec": "black", "alpha": 0.95}
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
    for edge in iter_records(found.edges, EdgeRecord):
        _draw_edge(axes, edge, places=places, boxes=boxes)
    _draw_legend(axes, found, rows=rows)
    figure.suptitle(_plain(describe_neighborhood(found, rows[found.node_id])), fontsize=13)
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def _draw_edge(
    axes: Any, row: EdgeRecord, *, places: Mapping[str, tuple[float, float]], boxes: Mapping[str, Any]
) -> None:
    """Draw an arrow from box to box, with its relation near the source."""
    source, target = row["source_id"], row["target_id"]
    (x0, y0), (x1, y1) = places[source], places[target]
    color = find_edge_color(row)
    is_same_column = x0 == x1
    style = {"arrowstyle": "-|>", "color": color, "lw": 1.5 if row["relation"] in SEMANTIC_RELATIONS else 0.6}
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


def _draw_legend(axes: Any, found: Neighborhood, *, rows: Mapping[str, NodeRecord]) -> None:
    """Draw the colors of the boxes and arrows that are shown, with their meaning."""
    kinds = {"external" if row["level"] == "external" else row["perspective"] or "other" for row in rows.values()}
    marks: list[Any] = [Patch(color=color, label=kind) for kind, color in NODE_COLORS.items() if kind in kinds]
    shown = {find_edge_color(row) for row in iter_records(found.edges, EdgeRecord)}
    marks += [Line2D([], [], color=color, label=label) for color, label in EDGE_LABELS.items() if color in shown]
    axes.legend(
        handles=marks, loc="upper center", bbox_to_anchor=(0.5, 1.0), ncols=len(marks), fontsize=8, frameon=False
    )


def _plain(text: str) -> str:
    """Keep the drawing library from reading dollars as formulas."""
    return text.replace("$", r"\$")
