"""Form families, and the split of families into training and development.

A family is one form with its instructions of all years; forms that share a booklet are one family; a publication or
statute is a family of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import dataframely as dy
import polars as pl

from taxkg_assets.rules.forms import split_forms
from taxkg_assets.schemas import Documents, Edges, Nodes

_SAME = ("same_field", "same_field_other_revision", "supersedes")


def find_families(
    documents: dy.DataFrame[Documents], nodes: dy.DataFrame[Nodes], *, edges: dy.DataFrame[Edges]
) -> dict[str, str]:
    """Assign each document to a family: its forms, or its own name if it is about no form.

    Two documents belong to one family if they share a form, or if the graph says that a field of one is a field of the
    other.

    Args:
        documents: Documents of the home.
        nodes: Nodes of the graph.
        edges: Edges of the graph.

    Returns:
        Family by document id.
    """
    named = {row["document_id"]: _names(row) for row in documents.iter_rows(named=True)}
    joined = {name: name for names in named.values() for name in names}
    for names in named.values():
        _join(joined, names)
    home = nodes.filter(pl.col("document_id").is_in(list(named))).select("node_id", "document_id")
    same = (
        edges.filter(pl.col("relation").is_in(_SAME))
        .join(home, left_on="source_id", right_on="node_id")
        .join(home, left_on="target_id", right_on="node_id", suffix="_of_target")
        .select("document_id", "document_id_of_target")
        .unique()
    )
    for source, target in same.iter_rows():
        _join(joined, [*named[source], *named[target]])
    members: dict[str, list[str]] = {}
    for name in sorted(joined):
        members.setdefault(_root(joined, name), []).append(name)
    return {document: " + ".join(members[_root(joined, names[0])]) for document, names in sorted(named.items())}


def find_splits(families: Iterable[str], *, dev_share: float, seed: int) -> dict[str, str]:
    """Assign each family to `train` or `dev` by a hash of its name.

    A family stays in its split when others are added. If a split is empty, the family nearest to the threshold moves
    there, so that two families suffice.

    Args:
        families: Names of families; repeated ones count once.
        dev_share: Expected share of families in `dev`, 0 to 1.
        seed: Seed of the hash.

    Returns:
        `train` or `dev` by family.
    """
    drawn = {name: _draw(name, seed) for name in sorted(set(families))}
    splits = {name: "dev" if value < dev_share else "train" for name, value in drawn.items()}
    for side, nearest in (("dev", min), ("train", max)):
        if len(drawn) > 1 and side not in splits.values():
            splits[nearest(drawn, key=lambda name: (drawn[name], name))] = side
    return splits


def _draw(name: str, seed: int) -> float:
    return int.from_bytes(hashlib.sha256(f"{seed}:{name}".encode()).digest()[:8]) / 2**64


def _names(document: Mapping[str, str]) -> tuple[str, ...]:
    return split_forms(document["form"]) or (document["document_id"].partition("--")[0],)


def _root(joined: dict[str, str], name: str) -> str:
    while joined[name] != name:
        joined[name] = joined[joined[name]]
        name = joined[name]
    return name


def _join(joined: dict[str, str], names: Iterable[str]) -> None:
    roots = sorted({_root(joined, name) for name in names})
    for root in roots[1:]:
        joined[root] = roots[0]
