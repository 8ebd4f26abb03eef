"""Evidence of the rules: in how many documents each pattern fires, and how many labeled rows it matches.

`python -m tools.rule_evidence --home HOME --gold FOLDER` reads the stored tables of a built home and folders of labels,
and writes counts to `data/rule_evidence.csv`. No text of a document is written.

Here: counting. Not here: whether a rule's decision was right, which `rules/confidence.yaml` records.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

from taxkg_assets.rules.asking import find_search
from taxkg_assets.rules.loader import Rule, load_family, load_rules

ROOT = Path(__file__).resolve().parents[1]
EVIDENCE = ROOT / "data" / "rule_evidence.csv"
QUESTIONS = ROOT / "data" / "training"
FEWEST_DOCUMENTS = 2
FEWEST_LABELS = 5

# What the families read. A family that is not listed reads text of documents.
QUESTION_FAMILIES = {"guardrail", "lay_terms", "router", "levels"}
QUESTION_GROUPS = {
    "aliases.asked_keys",
    "answers.box_questions",
    "answers.changes",
    "answers.code_questions",
    "llm.asked_orders",
    "ranking.yes_or_no",
    "table_lookup.count_words",
    "table_lookup.facets",
    "table_lookup.sums",
}
NO_TEXT = {
    "prices": "names of models",
    "hidden_text": "attacks, which a library should not contain",
    "addresses": "names of files and web addresses",
    "section_grammar.statute_styles": "styles of codes of law, of which a library has few",
    "claims": "sentences of a language model",
    "llm": "replies of a language model, and what the rules answer in its place",
    "scenarios.broken": "generated questions",
    "naming": "names in labels",
    "matching": "quotes in labels",
}
FRAGMENT_FAMILIES = {"relations", "polarity", "predicates", "references"}
"""Families whose patterns also read the text before, after and around a mention, which is written as `@`."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Counts of one rule.

    Attributes:
        family: Rule family, the file's name.
        group: List of the family.
        rule: Id of the rule.
        reads: `documents`, `questions`, or what else the rule reads, for which nothing is counted.
        documents: Documents of the library in which it fires.
        families: Products of these documents, each with all its revisions.
        questions: Written questions in which it fires.
        labeled: Labeled rows and labeled questions that it matches.
        pattern: First 8 hexadecimal digits of the pattern's digest, which tell whether the counts are current.
    """

    family: str
    group: str
    rule: str
    reads: str
    documents: int
    families: int
    questions: int
    labeled: int
    pattern: str

    @property
    def is_counted(self) -> bool:
        """Return whether the rule reads documents or questions."""
        return self.reads in ("documents", "questions")

    @property
    def is_thin(self) -> bool:
        """Return whether the rule serves one document or question at most, or fewer than five labeled rows."""
        reach = self.documents if self.reads == "documents" else self.questions
        return self.is_counted and (reach < FEWEST_DOCUMENTS or self.labeled < FEWEST_LABELS)


def pattern_digest(rule: Rule) -> str:
    """Return the first 8 hexadecimal digits of the SHA-256 of a rule's pattern.

    Args:
        rule: The rule.
    """
    return hashlib.sha256(rule.written.encode()).hexdigest()[:8]


def list_rules() -> list[tuple[str, str, Rule]]:
    """List every rule with a pattern: family, group and rule, in the order of the files."""
    found = []
    for name in sorted(
        entry.name[:-5] for entry in files("taxkg_assets.rules").iterdir() if entry.name[-5:] == ".yaml"
    ):
        family = load_family(name)
        for group, rows in family.items() if isinstance(family, dict) else ():
            if isinstance(rows, list) and rows and all(isinstance(row, dict) and "pattern" in row for row in rows):
                found += [(name, group, rule) for rule in load_rules(name, group)]
    return found


def find_reading(family: str, group: str) -> str:
    """Find what the rules of a group read: `documents`, `questions`, or a description of something else.

    Args:
        family: Rule family.
        group: List of the family.
    """
    if other := NO_TEXT.get(f"{family}.{group}") or NO_TEXT.get(family):
        return other
    return "questions" if family in QUESTION_FAMILIES or f"{family}.{group}" in QUESTION_GROUPS else "documents"


@dataclass(frozen=True)
class TextSet:
    """Texts of one document or of a set of labels.

    Attributes:
        texts: Distinct texts, each searched by itself.
        fragments: Distinct texts before, after and around mentions.
    """

    texts: Sequence[str]
    fragments: Sequence[str] = ()
    small: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Keep all texts in lower case, which rule out most rules at once."""
        object.__setattr__(self, "small", "\n".join((*self.texts, *self.fragments)).lower())

    @cached_property
    def _with_fragments(self) -> list[tuple[str, str]]:
        return [(text, text.lower()) for text in (*self.texts, *self.fragments)]

    @cached_property
    def _without_fragments(self) -> list[tuple[str, str]]:
        return [(text, text.lower()) for text in self.texts]

    def matches(self, rule: Rule, search: Callable[[str], Any], *, with_fragments: bool) -> Iterator[str]:
        """Yield the texts that a rule matches.

        Args:
            rule: The rule.
            search: Its search, from `find_search`.
            with_fragments: Whether it also reads the text around mentions.
        """
        if not rule.may_match(self.small):
            return
        for text, small in self._with_fragments if with_fragments else self._without_fragments:
            if rule.may_match(small) and search(text) is not None:
                yield text


def read_texts(home: Path) -> dict[str, TextSet]:
    """Read the texts of every document of a home from its stored tables.

    Args:
        home: Folder of a built home.

    Returns:
        Texts by document: elements, headings, labels and spoken words of fields, titles and cells of tables.
    """
    texts: dict[str, dict[str, None]] = defaultdict(dict)
    columns = {
        "elements": ("text",),
        "anchors": ("heading",),
        "fields": ("label", "spoken", "formula"),
        "faces": ("label",),
        "lines": ("label",),
        "tables": ("title",),
        "documents": ("title", "irs_name"),
    }
    for table, names in columns.items():
        frame = pl.read_delta(str(home / "tables" / table), columns=["document_id", *names])
        for name in names:
            for document, text in frame.select("document_id", name).drop_nulls().unique().rows():
                texts[document][text] = None
    cells = pl.read_delta(str(home / "tables" / "tables"), columns=["document_id", "cells"]).explode("cells")
    for document, cell in cells.drop_nulls().rows():
        for text in (cell["text"], *(part for part in cell.values() if isinstance(part, str))):
            texts[document][text] = None
    fragments = _read_fragments(home)
    return {name: TextSet(sorted(found), sorted(fragments.get(name, ()))) for name, found in sorted(texts.items())}


def _read_fragments(home: Path) -> dict[str, set[str]]:
    names = ["document_id", "evidence", "start", "mention_start", "mention_end"]
    found: dict[str, set[str]] = defaultdict(set)
    for document, sentence, start, first, last in pl.read_delta(
        str(home / "tables" / "references"), columns=names
    ).iter_rows():
        found[document] |= {part for part in _split(sentence, first - start, last - start) if part}
    return found


def _split(sentence: str, first: int, last: int) -> tuple[str, str, str]:
    before, after = sentence[:first], sentence[last:]
    return before, after, f"{before}@{after}"


def read_reference_rules(home: Path) -> dict[str, set[str]]:
    """Read which rules made the stored references and flows, which tells more than a search for their patterns.

    Args:
        home: Folder of a built home.

    Returns:
        Documents by id of the rule.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for document, rule in pl.read_delta(
        str(home / "tables" / "references"), columns=["document_id", "rule_id"]
    ).iter_rows():
        for part in rule.split("."):
            found[part].add(document)
    return found


def read_labels(folders: Iterable[Path]) -> TextSet:
    """Read the texts of labeled rows: headings, quotes, evidence, cells, labels, questions.

    Args:
        folders: Folders of labels.

    Returns:
        One text per labeled row; sentences around the target of a labeled reference are fragments.
    """
    rows: list[str] = []
    fragments: list[str] = []
    for folder in folders:
        for path in sorted(folder.glob("*.jsonl")):
            for row in _read_rows(path):
                rows.append(next((row[k] for k in _LABEL_TEXTS if isinstance(row.get(k), str)), ""))
                if "evidence" in row and (at := row["evidence"].find(row.get("target") or "\0")) >= 0:
                    fragments.append("".join(_split(row["evidence"], at, at + len(row["target"]))[2]))
        if (boxes := folder / "boxes.json").exists():
            rows += [box["label"] for form in json.loads(boxes.read_text(encoding="utf8")).values() for box in form]
    return TextSet([row for row in rows if row], fragments)


_LABEL_TEXTS = ("query", "evidence", "heading", "quote", "text", "label", "row")


def _read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line.strip()]


def read_questions(folder: Path = QUESTIONS) -> TextSet:
    """Read the written questions of the project.

    Args:
        folder: Folder with `questions.jsonl` and `questions/`.
    """
    paths = [folder / "questions.jsonl", *sorted((folder / "questions").glob("*.jsonl"))]
    return TextSet([row["query"] for path in paths for row in _read_rows(path)])


def count_evidence(
    rules: Sequence[tuple[str, str, Rule]],
    documents: Mapping[str, TextSet],
    *,
    labels: TextSet,
    questions: TextSet,
    made: Mapping[str, set[str]],
) -> list[Evidence]:
    """Count in how many documents, questions and labeled rows each rule fires.

    Args:
        rules: Family, group and rule.
        documents: Texts by document.
        labels: One text per labeled row.
        questions: Written questions.
        made: Documents by id of a rule that made a stored row.

    Returns:
        One row per rule, in the order of the rules.
    """
    found = []
    for family, group, rule in rules:
        reads, search = find_reading(family, group), find_search(rule.pattern)
        has_fragments = family in FRAGMENT_FAMILIES

        def is_in(texts: TextSet, rule: Rule = rule, search: Any = search, has: bool = has_fragments) -> bool:
            return next(texts.matches(rule, search, with_fragments=has), None) is not None

        def count(texts: TextSet, rule: Rule = rule, search: Any = search, has: bool = has_fragments) -> int:
            return sum(1 for _ in texts.matches(rule, search, with_fragments=has))

        at = {name for name, texts in documents.items() if is_in(texts)} if reads == "documents" else set()
        if family in ("relations", "references"):
            at = made.get(rule.id, at)
        counted = reads in ("documents", "questions")
        found.append(
            Evidence(
                family=family,
                group=group,
                rule=rule.id,
                reads=reads,
                documents=len(at),
                families=len({name.split("--")[0] for name in at}),
                questions=count(questions) if reads == "questions" else 0,
                labeled=count(labels) if counted else 0,
                pattern=pattern_digest(rule),
            )
        )
    return found


def write_evidence(rows: Sequence[Evidence], path: Path = EVIDENCE) -> None:
    """Write the counts as CSV.

    Args:
        rows: Counts of the rules.
        path: File to write.
    """
    with path.open("w", encoding="utf8", newline="") as out:
        writer = csv.DictWriter(out, [each.name for each in fields(Evidence)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def read_evidence(path: Path = EVIDENCE) -> list[Evidence]:
    """Read the counts.

    Args:
        path: File that `write_evidence` wrote.
    """
    numbers = {each.name for each in fields(Evidence) if each.type == "int"}
    with path.open(encoding="utf8", newline="") as lines:
        return [
            Evidence(**{name: int(value) if name in numbers else value for name, value in row.items()})
            for row in csv.DictReader(lines)
        ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Count the evidence of all rules, or of some families, and write it.

    Args:
        arguments: Command line; the process's own by default.

    Returns:
        Exit status, 0.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--home", type=Path, required=True, help="built home whose tables are read")
    parser.add_argument(
        "--gold", type=Path, action="append", default=[], help="folder of labels, in addition to data/eval"
    )
    parser.add_argument("--family", action="append", default=[], help="count these families only, and keep the others")
    parser.add_argument("--out", type=Path, default=EVIDENCE, help="file to write")
    options = parser.parse_args(arguments)
    rules = [row for row in list_rules() if not options.family or row[0] in options.family]
    rows = count_evidence(
        rules,
        read_texts(options.home),
        labels=read_labels([ROOT / "data" / "eval", *options.gold]),
        questions=read_questions(),
        made=read_reference_rules(options.home),
    )
    is_partial = bool(options.family) and options.out.exists()
    kept = [row for row in read_evidence(options.out) if row.family not in options.family] if is_partial else []
    order = {(family, group, rule.id): ix for ix, (family, group, rule) in enumerate(list_rules())}
    every = [row for row in (*kept, *rows) if (row.family, row.group, row.rule) in order]
    write_evidence(sorted(every, key=lambda row: order[row.family, row.group, row.rule]), options.out)
    print(f"{len(rows)} rules counted, {sum(row.is_thin for row in rows)} with little evidence: {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
