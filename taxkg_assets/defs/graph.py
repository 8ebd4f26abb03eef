"""Assets of the stage `graph` and their gates."""

from __future__ import annotations

from taxkg_assets import schemas
from taxkg_assets.defs._table import table
from taxkg_assets.graph.edges import build_edges
from taxkg_assets.graph.nodes import build_nodes
from taxkg_assets.graph.registry import build_registry

registry = table(schemas.Registry, build_registry, group="graph")
nodes = table(schemas.Nodes, build_nodes, group="graph")
edges = table(schemas.Edges, build_edges, group="graph")
