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

_JOINING = ("same_field", "same_field_other_revision", "supersedes")
"""Relations that put the documents of their two nodes into one family."""


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
    names_by_document = {row["document_id"]: _list_names(row) for row in documents.iter_rows(named=True)}
    merged_into = {name: name for names in names_by_document.values() for name in names}
    for names in names_by_document.values():
        _merge(merged_into, names)
    document_of = nodes.filter(pl.col("document_id").is_in(list(names_by_document))).select("node_id", "document_id")
    document_pairs = (
        edges.filter(pl.col("relation").is_in(_JOINING))
        .join(document_of, left_on="source_id", right_on="node_id")
        .join(document_of, left_on="target_id", right_on="node_id", suffix="_of_target")
        .select("document_id", "document_id_of_target")
        .unique()
    )
    for source, target in document_pairs.iter_rows():
        _merge(merged_into, [*names_by_document[source], *names_by_document[target]])
    members: dict[str, list[str]] = {}
    for name in sorted(merged_into):
        members.setdefault(_root(merged_into, name), []).append(name)
    return {
        document_id: " + ".join(members[_root(merged_into, names[0])])
        for document_id, names in sorted(names_by_document.items())
    }


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
    draws = {name: _draw(name, seed) for name in sorted(set(families))}
    splits = {name: "dev" if draw < dev_share else "train" for name, draw in draws.items()}
    for split, nearest in (("dev", min), ("train", max)):
        if len(draws) > 1 and split not in splits.values():
            splits[nearest(draws, key=lambda name: (draws[name], name))] = split
    return splits


def _draw(name: str, seed: int) -> float:
    """Return a pseudo-random number for a name, from 0 to below 1."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{name}".encode()).digest()[:8]) / 2**64


def _list_names(document: Mapping[str, str]) -> tuple[str, ...]:
    """Return the forms of a document; its id without the revision if it has none."""
    return split_forms(document["form"]) or (document["document_id"].partition("--")[0],)


def _root(merged_into: dict[str, str], name: str) -> str:
    """Return the name that a name was merged into, after all merges; shortens the chain on the way."""
    while merged_into[name] != name:
        merged_into[name] = merged_into[merged_into[name]]
        name = merged_into[name]
    return name


def _merge(merged_into: dict[str, str], names: Iterable[str]) -> None:
    """Merge the groups of some names into the one whose name comes first in the alphabet."""
    first, *others = sorted({_root(merged_into, name) for name in names})
    merged_into |= dict.fromkeys(others, first)
