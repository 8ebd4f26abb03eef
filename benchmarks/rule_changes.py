"""References that single rules decide: what changes without a rule, one row per product, for a person to read.

`python -m benchmarks.rule_changes --home HOME relations predicates` switches off each rule of these families that
has too little support, and reads the references of stored sections again, one document per product. It prints the
sentences whose references change.
Both readings are printed in alphabetical order, and `--key FILE` says which is the one with the rule: read first, then
compare. What was right goes into `data/rule_reviews.csv`. The sentences are printed, not stored.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.results import open_home
from taxkg_assets.extraction.references.references import build_references
from taxkg_assets.extraction.structure.identity import Identity
from taxkg_assets.rules.support import name_family
from taxkg_assets.schemas import Anchors, Links, Sections
from taxkg_assets.serving.released import Released
from tools.rule_decisions import list_undecided
from tools.rule_switch import every_rule, without_rules

MOST_PAGES = 60
DOCUMENTS = 90
READ = 6
"""Changes per rule, each of another product."""
SEED = 18
AT = ("element_id", "mention_start", "mention_end", "target")
Rows = dict[str, pl.DataFrame]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the changes.

    Args:
        arguments: Command line; the process's own by default.

    Returns:
        Exit status, 0.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--home", required=True, help="built home whose documents are read again")
    parser.add_argument("--key", type=Path, required=True, help="file to write which readings are made with the rules")
    parser.add_argument("families", nargs="+", help="rule families")
    options = parser.parse_args(arguments)
    released = open_home(options.home)
    texts = Texts(released, draw_documents(released.table("documents")))
    with every_rule():
        before, key = texts.read_references(), list[str]()
        for name in (name for name in list_undecided() if name[0] in options.families):
            with without_rules([name]):
                after = texts.read_references()
            changed = list(find_changes(before, after))
            print(f"## {'.'.join(name)}: {len(changed)} changes in {len({row['family'] for row in changed})} products")
            for row in choose(changed):
                readings = sorted((row["before"], row["after"]))
                print(json.dumps({"sentence": row["sentence"], "readings": readings}), flush=True)
                key.append(f"{'.'.join(name)}: {row['family']}: {row['before']}")
    options.key.write_text("\n".join([*key, ""]), encoding="utf8")
    return 0


def draw_documents(documents: pl.DataFrame) -> pl.DataFrame:
    """Draw documents that are not long at random, one of each product.

    Args:
        documents: Table `documents`.
    """
    rows = documents.filter(pl.col("page_count") <= MOST_PAGES).sort("document_id")
    shuffled = rows.sample(fraction=1.0, shuffle=True, seed=SEED)
    families = pl.Series([name_family(name) for name in shuffled["document_id"]])
    return shuffled.filter(families.is_first_distinct()).head(DOCUMENTS)


class Texts:
    """Stored sections, headings and links of documents, from which references are read again.

    Args:
        released: Release with the tables.
        documents: Rows of `documents`.
    """

    def __init__(self, released: Released, documents: pl.DataFrame) -> None:
        wanted = pl.col("document_id").is_in(documents["document_id"].to_list())
        tables = {name: released.table(name).filter(wanted) for name in ("sections", "anchors", "links")}
        self._parts: dict[str, tuple[Identity, Rows]] = {
            row["document_id"]: (
                Identity(**{name: row[name] for name in Identity.__dataclass_fields__}),
                {name: frame.filter(pl.col("document_id") == row["document_id"]) for name, frame in tables.items()},
            )
            for row in documents.iter_rows(named=True)
        }

    def read_references(self) -> Rows:
        """Read the references of each document again, with the rules that are on."""
        return {
            name: build_references(
                Sections.cast(tables["sections"]),
                Anchors.cast(tables["anchors"]),
                identity=identity,
                links=Links.cast(tables["links"]),
            )
            for name, (identity, tables) in self._parts.items()
        }


def find_changes(before: Rows, after: Rows) -> Iterator[dict[str, Any]]:
    """Find references whose relation or polarity differs, or that only one reading has.

    Args:
        before: References by document with all rules.
        after: The same without one.

    Yields:
        Product, sentence with its mention in brackets, and relation with polarity before and after.
    """
    for document, rows in before.items():
        other = {tuple(row[name] for name in AT): row for row in after[document].iter_rows(named=True)}
        for row in rows.iter_rows(named=True):
            new = other.get(tuple(row[name] for name in AT))
            decided = (row["relation"], row["polarity"])
            if new is None or (new["relation"], new["polarity"]) != decided:
                start, end = row["mention_start"] - row["start"], row["mention_end"] - row["start"]
                text = row["evidence"]
                yield {
                    "family": name_family(document),
                    "sentence": f"{text[:start]}[{text[start:end]}]{text[end:]}",
                    "before": " ".join(decided),
                    "after": "" if new is None else f"{new['relation']} {new['polarity']}",
                }


def choose(changes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Choose changes at random, each of another product.

    Args:
        changes: All changes of a rule.
    """
    shuffled = random.Random(SEED).sample(list(changes), len(changes))
    by_family = {row["family"]: row for row in reversed(shuffled)}
    return list(by_family.values())[:READ]


if __name__ == "__main__":
    sys.exit(main())
