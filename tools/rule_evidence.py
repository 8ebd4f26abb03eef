"""Evidence of the rules: in how many documents each pattern fires, and how many labeled rows it matches.

`python -m tools.rule_evidence --home HOME --gold FOLDER` reads the stored tables of a built home and folders of labels,
and writes counts to `taxkg_assets/rules/support.csv`. No text of a document is written. The families of documents with
labels that support rules go to `evidence_families.csv`; the gate `left_out_families` compares the others with them.

Here: counting. Not here: whether a rule's decision was right, which `rules/confidence.yaml` records.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

from taxkg_assets.retrieval.answering.definitions import read_terms
from taxkg_assets.rules.anchored_search import compile_search
from taxkg_assets.rules.loader import Rule, load_family, read_rules
from taxkg_assets.rules.support import Support, load_policy
from tools.rule_labels import (
    LabeledRows,
    Review,
    read_evidence_families,
    read_labeled_rows,
    read_questions,
)
from tools.rule_library import (
    FRAGMENT_FAMILIES,
    RULE_SECONDS,
    Library,
    draw_index_terms,
    find_kind,
    limit_seconds,
    read_library,
    read_rows_as,
)

ROOT = Path(__file__).resolve().parents[1]
EVIDENCE = ROOT / "taxkg_assets" / "rules" / "support.csv"
FAMILIES = EVIDENCE.with_name("evidence_families.csv")

# What the families read. A family that is not listed reads text of documents.
QUESTION_FAMILIES = {"guardrail", "lay_terms", "router", "levels"}
QUESTION_GROUPS = {
    "aliases.question_keys",
    "answers.box_questions",
    "answers.changes",
    "answers.code_questions",
    "answers.destination_questions",
    "answers.line_questions",
    "answers.source_questions",
    "definitions.comparisons",
    "definitions.generic",
    "definitions.questions",
    "filers.questions",
    "ranking.yes_or_no",
    "standard_sections.barred",
    "standard_sections.form_questions",
    "standard_sections.questions",
    "table_lookup.comparatives",
    "table_lookup.count_words",
    "table_lookup.dates",
    "table_lookup.facets",
    "table_lookup.may",
    "table_lookup.shares",
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
    "roles.bold_fonts": "names of fonts",
    "matching": "quotes in labels",
}
MADE_FAMILIES = {"relations", "references", "flows"}
"""Families whose rules are named in the stored rows that they made."""


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
        labeled: Labeled rows that it matches; of a rule for questions, labeled questions.
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
    def reach(self) -> int:
        """Return the number of documents, or of questions, in which the rule fires."""
        return self.questions if self.reads == "questions" else self.documents

    @property
    def is_thin(self) -> bool:
        """Return whether the rule is below the bar of `rules/support.yaml`."""
        return load_policy().is_below(Support(self.reads, self.reach, self.labeled))


def pattern_digest(rule: Rule) -> str:
    """Return the first 8 hexadecimal digits of the SHA-256 of a rule's pattern.

    Args:
        rule: The rule.
    """
    return hashlib.sha256(rule.source_pattern.encode()).hexdigest()[:8]


def list_rules() -> list[tuple[str, str, Rule]]:
    """List every rule with a pattern: family, group and rule, in the order of the files."""
    found = []
    for name in sorted(
        entry.name[:-5] for entry in files("taxkg_assets.rules").iterdir() if entry.name[-5:] == ".yaml"
    ):
        family = load_family(name)
        for group, rows in family.items() if isinstance(family, dict) else ():
            if isinstance(rows, list) and rows and all(isinstance(row, dict) and "pattern" in row for row in rows):
                found += [(name, group, rule) for rule in read_rules(name, group)]
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


def count_matches(rule: Rule, rows: Iterable[Sequence[str]]) -> int:
    """Count the rows with a text that a rule matches.

    Args:
        rule: The rule.
        rows: Texts of each row.
    """
    search, found = compile_search(rule.pattern), 0
    with suppress(TimeoutError), limit_seconds(RULE_SECONDS):
        for row in rows:
            found += any(rule.may_match(text.lower()) and search(text) is not None for text in row)
    return found


def read_reference_rules(home: Path) -> dict[str, set[str]]:
    """Read which rules made the stored references and flows, which states more than a search for their patterns.

    Args:
        home: Folder of a built home.

    Returns:
        Documents by id of the rule.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for table in ("references", "flows"):
        made = pl.read_delta(str(home / "tables" / table), columns=["document_id", "rule_id"]).unique()
        for document, rule in made.iter_rows():
            for part in rule.split("."):
                found[part].add(document)
    return found


def count_evidence(
    rules: Sequence[tuple[str, str, Rule]],
    library: Library,
    *,
    labels: LabeledRows,
    questions: Sequence[Sequence[str]],
    made: Mapping[str, set[str]],
    terms: Sequence[str] = (),
) -> list[Evidence]:
    """Count in how many documents, questions and labeled rows each rule fires.

    Args:
        rules: Family, group and rule.
        library: Texts of the documents.
        labels: Labeled rows.
        questions: Texts of each written question.
        made: Documents by id of a rule that made a stored row.
        terms: Terms of questions and of printed indexes, for rules that read texts with a marked term.

    Returns:
        One row per rule, in the order of the rules.
    """
    found, read = [], dict[str, Library]()
    for family, group, rule in rules:
        name, reads, at = f"{family}.{group}", find_reading(family, group), set[str]()
        if family in MADE_FAMILIES and rule.id in made:
            at = made[rule.id]
        elif reads == "documents":
            kind = find_kind(name)
            source = read[kind] = read.get(kind) or library.read_as(kind, terms)
            at = source.find_documents(rule, with_fragments=family in FRAGMENT_FAMILIES)
        rows = read_rows_as(find_kind(name), labels.of(family, reads), terms)
        put = questions if reads == "questions" else []
        review = labels.reviewed.get((family, group, rule.id), Review(0))
        found.append(
            Evidence(
                family=family,
                group=group,
                rule=rule.id,
                reads=reads,
                documents=max(len(at), review.products),
                families=max(len({name.split("--")[0] for name in at}), review.products),
                questions=count_matches(rule, put),
                labeled=max(count_matches(rule, rows), labels.decided.get((family, rule.id), 0)) + review.right,
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


def write_families(families: Mapping[str, Iterable[str]], path: Path = FAMILIES) -> None:
    """Write the families with labels that support rules as CSV.

    Args:
        families: Families by what the rules read.
        path: File to write.
    """
    rows = [f"{reads},{family}" for reads, own in sorted(families.items()) for family in sorted(own)]
    path.write_text("\n".join(["reads,family", *rows, ""]), encoding="utf8")


def read_evidence(path: Path = EVIDENCE) -> list[Evidence]:
    """Read the counts.

    Args:
        path: File that `write_evidence` wrote.
    """
    numbers = {each.name for each in fields(Evidence) if each.type == "int"}
    with path.open(encoding="utf8", newline="") as lines:
        values: list[dict[str, Any]] = [
            {name: int(value) if name in numbers else value for name, value in row.items()}
            for row in csv.DictReader(lines)
        ]
    return [Evidence(**row) for row in values]


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
    folders = [ROOT / "data" / "eval", *options.gold]
    write_families(read_evidence_families(folders), options.out.with_name(FAMILIES.name))
    order = {(family, group, rule.id): ix for ix, (family, group, rule) in enumerate(list_rules())}
    library, made = read_library(options.home), read_reference_rules(options.home)
    labels, questions = read_labeled_rows(folders, options.home), read_questions()
    texts = [*questions, *labels.of("definitions", "questions")]
    of_questions = {term for row in texts for text in row for term in read_terms(text)}
    terms = sorted({*of_questions, *draw_index_terms(options.home)})
    rows = read_evidence(options.out) if options.out.exists() else []
    for name in options.family or sorted({family for family, _, _ in order}):
        rules = [row for row in list_rules() if row[0] == name]
        counted = count_evidence(rules, library, labels=labels, questions=questions, made=made, terms=terms)
        kept = [row for row in rows if row.family != name and (row.family, row.group, row.rule) in order]
        rows = [*kept, *counted]
        # Written after each family, so that an interrupted count loses one family only.
        write_evidence(sorted(rows, key=lambda row: order[row.family, row.group, row.rule]), options.out)
        print(f"{name}: {len(counted)} rules, {sum(row.is_thin for row in counted)} with little evidence", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
