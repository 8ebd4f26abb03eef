"""Labeled rows that rules can be counted on: texts by what rules read, and rows that name the rule that decided them.

Rows that are held out (`HELD_OUT`) support no rule: they are for measuring.

Here: reading label files, and joining them with the stored tables of a home. Not here: counting.
"""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from taxkg_assets.rules.loader import load_family
from taxkg_assets.rules.support import Key, name_family

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "data"
QUESTIONS = DATA / "training"
REVIEWS = DATA / "rule_reviews.csv"
CHECKED = {"reference_cues": "relations", "reference_mentions": "references"}
"""Lists of `rules/confidence.yaml` by the family whose decisions they count, right or not."""
HELD_OUT = {
    *("held_out", "held_out_new", "second_held_out", "third_held_out"),
    *("check", "check_last", "fresh_check_last", "library_check"),
}
"""Splits of labels from which no rule may be written."""
HELD_OUT_FILES = {"check", "people_check", "table_check"}
"""Files of `data/library_eval` that are held out as a whole."""
Texts = list[list[str]]
"""Texts of each labeled row."""
_LABEL_TEXTS = ("query", "evidence", "heading", "quote", "text", "label", "row")


@dataclass(frozen=True, slots=True)
class Review:
    """What a reader found of one rule.

    Attributes:
        right: Matches or decisions that are right.
        products: Products in which a decision changes without the rule; 0 where only matches were read.
        checked: Matches or decisions that were read.
    """

    right: int
    products: int = 0
    checked: int = 0


@dataclass(frozen=True, slots=True)
class LabeledRows:
    """Labeled rows of all kinds.

    Attributes:
        texts: Texts of each row by what they are: `documents`, `questions`, or a family that alone reads them.
        decided: Number of labeled rows that a rule decided, by family and rule.
        reviewed: What a reader found, by family, group and rule.
    """

    texts: Mapping[str, Sequence[Sequence[str]]]
    decided: Mapping[tuple[str, str], int] = field(default_factory=dict)
    reviewed: Mapping[Key, Review] = field(default_factory=dict)

    def of(self, family: str, reads: str) -> list[Sequence[str]]:
        """Return the texts of each row that a rule can be counted on.

        Args:
            family: Rule family.
            reads: What its rules read, `documents` or `questions`.
        """
        return [*self.texts.get(reads, ()), *self.texts.get(family, ())]


def read_labeled_rows(folders: Sequence[Path], home: Path) -> LabeledRows:
    """Read all labels: those of folders, and those of the project.

    Args:
        folders: Folders of labels.
        home: Built home, whose tables contain the texts that some labels name by document and key.

    Returns:
        Labeled rows. Questions with a known passage, or known to have none, are labels of rules for questions.
    """
    reader = _Home(home)
    texts = {
        "documents": [*read_labels(folders), *reader.read_reference_texts(folders), *_read_line_labels()],
        "questions": [*read_labels([*folders, DATA / "library_eval"], has_questions=True), *read_questions()],
        "verification": [[row["statement"]] for row in read_development(DATA / "verify_eval" / "statements.jsonl")],
        "formulas": reader.read_texts("lines", ("label",), DATA / "line_eval" / "formulas.jsonl"),
        "spoken": reader.read_texts("fields", ("spoken", "formula"), DATA / "line_eval" / "registry.jsonl"),
    }
    decided = {**_read_checked(), **reader.count_flows(DATA / "line_eval" / "flows.jsonl")}
    return LabeledRows(texts, decided, read_reviews())


def read_labels(folders: Iterable[Path], *, has_questions: bool = False) -> Texts:
    """Read the texts of labeled rows: headings, quotes, evidence, cells and labels, or questions.

    Args:
        folders: Folders of labels.
        has_questions: Whether to read the labeled questions instead of the labeled texts of documents.

    Returns:
        Texts of each labeled row; a labeled reference also has the text before, after and around its target.
    """
    rows: Texts = []
    for folder in folders:
        for row in (row for path in sorted(folder.glob("*.jsonl")) for row in read_development(path)):
            if has_questions != ("query" in row):
                continue
            texts = [row[key] for key in _LABEL_TEXTS if isinstance(row.get(key), str)]
            if "evidence" in row and (at := row["evidence"].find(row.get("target") or "\0")) >= 0:
                texts += split_at(row["evidence"], at, at + len(row["target"]))
            rows.append([text for text in texts if text])
        if not has_questions and (boxes := folder / "boxes.json").exists():
            forms = json.loads(boxes.read_text(encoding="utf8")).values()
            rows += [[box["label"]] for form in forms for box in form]
    return rows


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read a JSON Lines file.

    Args:
        path: The file.
    """
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line.strip()]


def read_development(path: Path) -> list[dict[str, Any]]:
    """Read the labeled rows of a file that may support a rule.

    Args:
        path: JSON Lines file.

    Returns:
        Rows that are not held out.
    """
    if path.stem in HELD_OUT_FILES:
        return []
    return [row for row in read_rows(path) if row.get("split") not in HELD_OUT]


def read_evidence_families(folders: Sequence[Path]) -> dict[str, set[str]]:
    """Find the families of documents whose labels support rules.

    Args:
        folders: Folders of labels besides those of the project.

    Returns:
        Families by what the rules read, `documents` or `questions`.
    """
    found: dict[str, set[str]] = {"documents": set(), "questions": set()}
    for path in (path for folder in (*folders, DATA / "line_eval") for path in sorted(folder.glob("*.jsonl"))):
        for row in read_development(path):
            kind = "questions" if "query" in row else "documents"
            found[kind] |= {name_family(name) for name in _list_documents(row)}
    for path in (*sorted((DATA / "library_eval").glob("*.jsonl")), *_list_question_files(QUESTIONS)):
        found["questions"] |= {name_family(name) for row in read_development(path) for name in _list_documents(row)}
    return found


def _list_documents(row: Mapping[str, Any]) -> Iterator[str]:
    """List the documents that a labeled row is about."""
    for key in ("document", "explained_in", "before", "after"):
        if isinstance(row.get(key), str):
            yield row[key]
    yield from (passage["document"] for passage in row.get("gold") or ())
    yield from (name.split(":")[0] for name in (row.get("element"), *(row.get("elements") or ())) if name)


def read_questions(folder: Path = QUESTIONS) -> Texts:
    """Read the written questions of the project.

    Args:
        folder: Folder with `questions.jsonl` and `questions/`.
    """
    return [[row["query"]] for path in _list_question_files(folder) for row in read_rows(path)]


def _list_question_files(folder: Path) -> list[Path]:
    return [folder / "questions.jsonl", *sorted((folder / "questions").glob("*.jsonl"))]


def split_at(sentence: str, first: int, last: int) -> tuple[str, str, str]:
    """Return the text before a mention, after it, and around it with the mention written as `@`.

    Args:
        sentence: The sentence.
        first: Start of the mention, 0-based.
        last: Its end.
    """
    before, after = sentence[:first], sentence[last:]
    return before, after, f"{before}@{after}"


def read_reviews(path: Path = REVIEWS) -> dict[Key, Review]:
    """Read what a reader found of the matches and decisions of rules: drawn at random, one per product or text.

    Args:
        path: File with the columns `family`, `group`, `rule`, `checked`, `right` and `products`; it contains no text.
    """
    with path.open(encoding="utf8", newline="") as lines:
        return {
            (row["family"], row["group"], row["rule"]): Review(
                int(row["right"]), int(row["products"]), int(row["checked"])
            )
            for row in csv.DictReader(lines)
        }


def _read_line_labels() -> Texts:
    """Labels of numbered lines, and the headings that explain or continue them."""
    names = ("registry", "explanations", "continuations")
    rows = (row for name in names for row in read_development(DATA / "line_eval" / f"{name}.jsonl"))
    return [[text for key in ("label", "heading") if (text := row.get(key))] for row in rows]


def _read_checked() -> dict[tuple[str, str], int]:
    """How many rows of each rule of references were read and checked by a person."""
    confidence = load_family("confidence")
    return {(family, rule): row[1] for name, family in CHECKED.items() for rule, row in confidence[name].items()}


class _Home:
    """Stored tables of a home, joined with labels by document and key."""

    def __init__(self, home: Path) -> None:
        self._tables = home / "tables"

    def _read(self, table: str, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        yield from pl.read_delta(str(self._tables / table), columns=list(columns)).iter_rows(named=True)

    def read_reference_texts(self, folders: Iterable[Path]) -> Texts:
        """Texts before, after and around the mentions of labeled sentences; a label names its target in other words."""
        labeled = {
            (row["document"], " ".join(row["evidence"].split()))
            for folder in folders
            if (path := folder / "references.jsonl").exists()
            for row in read_rows(path)
        }
        columns = ("document_id", "evidence", "start", "mention_start", "mention_end")
        found = {
            split_at(row["evidence"], row["mention_start"] - row["start"], row["mention_end"] - row["start"])
            for row in self._read("references", columns)
            if (row["document_id"], " ".join(row["evidence"].split())) in labeled
        }
        return [list(texts) for texts in sorted(found)]

    def read_texts(self, table: str, columns: Sequence[str], labels: Path) -> Texts:
        """Texts of the rows of a table whose document and key are labeled."""
        labeled = {(row["document"], row["key"]) for row in read_rows(labels)}
        found: dict[tuple[str, str], set[str]] = defaultdict(set)
        for row in self._read(table, ("document_id", "key", *columns)):
            if (key := (row["document_id"], row["key"])) in labeled:
                found[key] |= {row[name] for name in columns if row[name]}
        return [sorted(texts) for _, texts in sorted(found.items()) if texts]

    def count_flows(self, labels: Path) -> dict[tuple[str, str], int]:
        """How many labeled flows each rule found."""
        ends = ("source_form", "source_key", "target_form", "target_key")
        rules: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for row in self._read("flows", ("document_id", "rule_id", *ends)):
            rules[(row["document_id"], *(row[end] or "" for end in ends))].add(row["rule_id"])
        counts: Counter[str] = Counter()
        for row in read_development(labels):
            counts.update(rules.get((row["document"], *(row.get(end) or "" for end in ends)), ()))
        return {("flows", part): count for rule, count in counts.items() for part in rule.split(".")}
