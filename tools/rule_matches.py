"""Texts of documents, some of which a rule matches, for a person to label before the matches are shown.

`python -m tools.rule_matches --home HOME --key FILE answers.wholes.all_must_hold` prints texts of different products in
random order for each rule: texts that it matches, and others that contain one of its words. FILE says which match.
What was right goes into `data/rule_reviews.csv`. The texts are printed, not stored.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from taxkg_assets.rules.anchored_search import compile_search
from taxkg_assets.rules.loader import Rule
from taxkg_assets.rules.support import name_family
from tools.rule_evidence import list_rules
from tools.rule_library import FRAGMENT_FAMILIES, Library, draw_index_terms, find_kind, read_library

MATCHES, OTHERS = 6, 3
SEED = 18
CHARACTERS = 260


def draw_texts(rule: Rule, library: Library, *, with_fragments: bool, chance: random.Random) -> list[tuple[str, bool]]:
    """Draw texts of different products, of which a rule matches some.

    Args:
        rule: The rule.
        library: Texts of the documents.
        with_fragments: Whether the rule also reads the text around mentions.
        chance: Draws the texts and their order.

    Returns:
        Texts, and whether the rule matches each.
    """
    search = compile_search(rule.pattern)
    texts = [text for text in library.texts if with_fragments or not text.is_fragment]
    chance.shuffle(texts)
    found: dict[bool, list[str]] = {True: [], False: []}
    seen: dict[bool, set[str]] = {True: set(), False: set()}
    for text in texts:
        if not rule.may_match(text.small):
            continue
        is_match = search(text.text) is not None
        product = name_family(library.names[(text.documents & -text.documents).bit_length() - 1])
        if len(found[is_match]) < (MATCHES if is_match else OTHERS) and product not in seen[is_match]:
            seen[is_match].add(product)
            found[is_match].append(text.text)
        if len(found[True]) == MATCHES and len(found[False]) == OTHERS:
            break
    drawn = [(text, is_match) for is_match, own in found.items() for text in own]
    chance.shuffle(drawn)
    return drawn


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the texts, and write which of them are matches.

    Args:
        arguments: Command line; the process's own by default.

    Returns:
        Exit status, 0.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--home", type=Path, required=True, help="built home whose tables are read")
    parser.add_argument("--key", type=Path, required=True, help="file to write which texts are matches")
    parser.add_argument("rules", nargs="+", help="rules, as family.group.id")
    options = parser.parse_args(arguments)
    library, key = read_library(options.home), []
    terms, read = draw_index_terms(options.home), dict[str, Library]()
    for family, group, rule in list_rules():
        name = f"{family}.{group}.{rule.id}"
        if name not in options.rules:
            continue
        chance = random.Random(f"{SEED} {name}")
        kind = find_kind(f"{family}.{group}")
        source = read[kind] = read.get(kind) or library.read_as(kind, terms)
        drawn = draw_texts(rule, source, with_fragments=family in FRAGMENT_FAMILIES, chance=chance)
        print(f"## {name}: {rule.source}")
        for number, (text, _) in enumerate(drawn, start=1):
            print(f"{number}. {text[:CHARACTERS]}")
        key.append(f"{name}: {' '.join(str(number) for number, (_, hit) in enumerate(drawn, start=1) if hit)}")
    options.key.write_text("\n".join([*key, ""]), encoding="utf8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
