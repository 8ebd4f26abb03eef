"""Rules with little support: what is lost where they are switched off, family of documents by family of documents.

Each rule below the bar of `rules/support.yaml` is switched off by itself, and the documents or questions in which it
fires are read or answered again. Measured are labeled rows; headings, paragraphs and cells that the publisher's tags
name; labeled formulas, flows and levels; questions with a known passage; and questions about terms of printed indexes,
which say where each is explained. A family of documents is a form with its instructions, or a publication, in all its
revisions. Labels that are held out decide about no rule. What a person read of a rule (`data/rule_reviews.csv`) counts
where it is more than the labels show. With `--families`, rules of other
families keep their row of `gains.csv`; the file that is committed comes from one run over all.
"""

from __future__ import annotations

import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import dataframely as dy
import polars as pl

from benchmarks.authored import MATCHES
from benchmarks.documents import CorpusError
from benchmarks.lines import FOLDER as LINE_LABELS
from benchmarks.lines import Row, score_registry
from benchmarks.results import open_home, write_results
from benchmarks.rule_graph import LabeledGraph
from benchmarks.rule_indexes import GROUPS, measure_indexes
from benchmarks.rule_questions import measure_levels, measure_questions
from taxkg_assets.evaluation.anchor_scores import score_anchors
from taxkg_assets.evaluation.extraction_scores import score_ownership, score_roles, score_tables
from taxkg_assets.evaluation.labels import LABEL_FILES, Labels, read_label_file, read_labels
from taxkg_assets.evaluation.reference_scores import score_references
from taxkg_assets.extraction.extract import Extraction, extract
from taxkg_assets.graph.lines import build_lines
from taxkg_assets.rules.support import Key, name_family
from taxkg_assets.schemas import Anchors, Documents, Elements, Faces, Fields, References, Sections, Tables
from taxkg_assets.serving.released import Released
from taxkg_assets.settings import Settings
from tools.rule_decisions import Gain, list_undecided, read_gains, sum_gains, write_gains
from tools.rule_evidence import MADE_FAMILIES, find_reading, list_rules, read_reference_rules
from tools.rule_labels import Review, read_development, read_reviews
from tools.rule_library import FRAGMENT_FAMILIES, read_library
from tools.rule_switch import every_rule, without_rules

MOST_PAGES = 60
"""Longer documents are left out: each is read once per rule."""
MOST_TAGGED_PAGES = 24
"""The same for documents without labels, whose tags are compared."""
TAGGED = 4
"""Documents with structure tags that are read per rule, each of another family."""
MOST_LABELED = 16
"""Labeled documents that are read per rule, of as many families as possible."""
GRAPH_FAMILIES = ("flows", "formulas")
UNMEASURED = ("aliases", "answers", "scenarios", "verification")
"""Families whose rules shape nothing that has development labels: nothing of them is measured here."""
READ = "changes read"
ByFamily = dict[str, float]


@dataclass(frozen=True, slots=True)
class Report:
    """Gains of all rules with little support."""

    gains: list[Gain]

    def write(self, folder: Path) -> str:
        """Write `gains.csv`, which belongs into `taxkg_assets/rules`, `rule_gain.json` and `rule_gain.md`."""
        folder.mkdir(parents=True, exist_ok=True)
        write_gains(self.gains, folder / "gains.csv")
        lines = [
            "# rule_gain",
            "",
            "| rule | measured on | n | families | gain | one family left out |",
            "|---" * 6 + "|",
        ]
        for row in self.gains:
            name = f"{row.family}.{row.group}.{row.rule}"
            figures = f"{row.n} | {row.families} | {row.gain:.2f} | {row.left_out_gain:.2f}"
            lines.append(f"| {name} | {row.measured_on} | {figures} |")
        return write_results(self, "\n".join(lines) + "\n", folder=folder, name="rule_gain")


def run(*, families: Sequence[str]) -> Report:
    """Measure on TAXKG_HOME and the labels of TAXKG_GOLD.

    Args:
        families: Rule families to measure; all if empty.

    Returns:
        One gain per rule with little support, whether measured in this run or before.

    Raises:
        CorpusError: Nothing is released in the home, or no labels are named.
    """
    settings = Settings()
    folders = [Path(folder) for folder in settings.gold.split(os.pathsep) if folder]
    if not folders:
        raise CorpusError("No labels: name their folders in TAXKG_GOLD.")
    released, keys = open_home(settings.home), list_undecided()
    measured = [key for key in keys if not families or key[0] in families]
    found = {gain.key: gain for gain in read_gains() if gain.key not in measured}
    with every_rule():
        found |= {gain.key: gain for gain in _measure(measured, released, folders)}
    reviews = read_reviews()
    return Report([choose_gain(key, found.get(key), reviews.get(key)) for key in keys])


def choose_gain(key: Key, measured: Gain | None, review: Review | None) -> Gain:
    """Choose what is recorded of a rule: the measurement, or a person's reading of more rows.

    A reading counts if it is of decisions that change without the rule: a match alone may decide nothing. It does not
    name its products. Without one of them the least that may remain is counted: all rows but one of each other product
    may be of it, and be right.

    Args:
        key: Family, group and id of the rule.
        measured: Gain by labels, tags or questions.
        review: What a person read of it.

    Returns:
        The one on more rows; without either, a gain on 0 rows.
    """
    if review is not None and review.products > 0 and review.checked > (measured.n if measured else 0):
        gain = float(2 * review.right - review.checked)
        of_one = min(review.right, max(1, review.checked - review.products + 1))
        return Gain(*key, READ, n=review.checked, families=review.products, gain=gain, left_out_gain=gain - of_one)
    return measured or Gain(*key, measured_on="", n=0, families=0, gain=0.0, left_out_gain=0.0)


def _measure(keys: Sequence[Key], released: Released, folders: Sequence[Path]) -> Iterator[Gain]:
    for_levels = [key for key in keys if key[0] == "levels"]
    for_indexes = [key for key in keys if f"{key[0]}.{key[1]}" in GROUPS]
    for_questions = [key for key in keys if find_reading(*key[:2]) == "questions"]
    for_questions = [key for key in for_questions if key not in (*for_levels, *for_indexes)]
    for_cells = [key for key in keys if key[0] == "table_lookup" and key not in for_questions]
    for_graph = [key for key in keys if key[0] in GRAPH_FAMILIES]
    elsewhere = {*for_levels, *for_indexes, *for_questions, *for_cells, *for_graph}
    others = [key for key in keys if key not in elsewhere and key[0] not in UNMEASURED]
    for key in for_levels:
        yield _to_gain(key, "labeled levels", *measure_levels(key, without=without_rules))
    for family in dict.fromkeys(key[0] for key in for_graph):
        graph = LabeledGraph(family, released)
        for key in (key for key in for_graph if key[0] == family):
            yield _to_gain(key, "labeled flows and formulas", *graph.measure(key))
    if others:
        documents = _Documents(released, folders)
        for key in others:
            yield _to_gain(key, "labels, tags", *documents.measure(key))
    rules = {(family, group, rule.id): rule for family, group, rule in list_rules()}
    for key in for_indexes:
        yield _to_gain(key, "terms of indexes", *measure_indexes(key, rules[key], released, without=without_rules))
    for key, n, gains in measure_questions([*for_cells, *for_questions], released, folders, without=without_rules):
        yield _to_gain(key, "questions", n, gains)


def _to_gain(key: Key, measured_on: str, n: int, by_family: Mapping[str, float]) -> Gain:
    total, left_out = sum_gains(by_family)
    changed = sum(1 for value in by_family.values() if value)
    gain = Gain(*key, measured_on=measured_on, n=n, families=changed, gain=total, left_out_gain=left_out)
    print(
        f"{'.'.join(key)}: {total:+.2f} in {changed} families, {left_out:+.2f} without one", file=sys.stderr, flush=True
    )
    return gain


# --------------------------------------------------------------------------------------------------- documents


@dataclass(slots=True)
class _Reading:
    """What is right in one document: labeled rows that are wrong, and tags that the layout engine agrees with."""

    misses: int = 0
    agreed: int = 0


@dataclass(slots=True)
class _Documents:
    """Documents of a home with labels or structure tags, read again without single rules."""

    released: Released
    folders: Sequence[Path]
    labels: Labels = field(init=False)
    registry: Mapping[str, Sequence[Row]] = field(init=False)
    frame: pl.DataFrame = field(init=False)
    fires: dict[Key, set[str]] = field(init=False)
    _base: dict[str, _Reading] = field(default_factory=dict)
    _tagged: dict[str, Extraction | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.labels = read_labels({folder.name: _read_folder(folder) for folder in self.folders})
        self.registry = _group_registry()
        self.frame = self.released.table("documents").filter(pl.col("page_count") <= MOST_PAGES)
        self.fires = _find_documents(Path(self.released.store.home))

    def measure(self, key: Key) -> tuple[int, ByFamily]:
        """Read the documents in which a rule fires without it; returns their number and the gain by family."""
        wanted = self._choose(self.fires.get(key, set()), is_for_references=key[0] in FRAGMENT_FAMILIES)
        for document in wanted:
            if document not in self._base:
                self._base[document] = self._read(document)
        gains: ByFamily = defaultdict(float)
        with without_rules([key]):
            for document in wanted:
                before, after = self._base[document], self._read(document)
                gains[name_family(document)] += after.misses - before.misses + before.agreed - after.agreed
        return len(wanted), gains

    def _choose(self, documents: set[str], *, is_for_references: bool) -> list[str]:
        """Labeled documents, and one tagged document of some families each; tags say nothing about references."""
        rows = self.frame.filter(pl.col("document_id").is_in(list(documents))).sort("page_count", "document_id")
        names = ("references", "references_scope") if is_for_references else LABEL_FILES
        labeled = {row.document_id for name in names for row in getattr(self.labels, name)}
        labeled |= set() if is_for_references else self.registry.keys()
        found = rows.filter(pl.col("document_id").is_in(list(labeled)))["document_id"].to_list()
        seen: Counter[str] = Counter()
        rank = {document: seen.update([name_family(document)]) or seen[name_family(document)] for document in found}
        # The first document of each family goes before the second of any.
        chosen = sorted(found, key=lambda document: rank[document])[:MOST_LABELED]
        families: set[str] = set()
        for row in rows.filter(~pl.col("document_id").is_in(found)).iter_rows(named=True):
            document = row["document_id"]
            if (
                not is_for_references
                and row["page_count"] <= MOST_TAGGED_PAGES
                and len(families) < TAGGED
                and name_family(document) not in families
                and self._tags(row) is not None
            ):
                families.add(name_family(document))
                chosen.append(document)
        return chosen

    def _tags(self, row: Mapping[str, object]) -> Extraction | None:
        """The document as its tags say, read once with every rule; None where it has none."""
        document = str(row["document_id"])
        if document not in self._tagged:
            read = None
            with suppress(Exception):  # a document that cannot be read has no tags to compare with
                read = read_again(row)
            is_tagged = read is not None and any(page.source == "tags" for page in read.page_sources)
            self._tagged[document] = read if is_tagged else None
        return self._tagged[document]

    def _read(self, document: str) -> _Reading:
        (row,) = self.frame.filter(pl.col("document_id") == document).iter_rows(named=True)
        own = self.labels.within({document})
        lines = self.registry.get(document, ())
        is_labeled = bool(lines) or any(getattr(own, name) for name in LABEL_FILES)
        tags = self._tags(row) if not is_labeled else None
        try:
            read = extract(_bytes(row), document_id=document, is_text=_is_text(row), use_tags=tags is None)
        except Exception:  # a document that cannot be read without a rule has lost every label
            return _Reading(misses=sum(len(getattr(own, name)) for name in LABEL_FILES) + len(lines))
        documents = Documents.cast(self.frame.filter(pl.col("document_id") == document))
        misses = _count_misses(read.frames, own, documents=documents) if is_labeled else 0
        misses += _count_missing_lines(read.frames, lines, documents=documents) if lines else 0
        return _Reading(misses, _count_agreed(tags, read) if tags is not None else 0)


def _find_documents(home: Path) -> dict[Key, set[str]]:
    """Documents in which each undecided rule fires; all where a rule reads parts of sentences that are not stored."""
    library, made, wanted = read_library(home), read_reference_rules(home), set(list_undecided())
    found: dict[Key, set[str]] = {}
    for family, group, rule in list_rules():
        key = (family, group, rule.id)
        if key in wanted and find_reading(family, group) == "documents":
            own = made.get(rule.id, set()) if family in MADE_FAMILIES else set()
            own = own or library.find_documents(rule, with_fragments=family in FRAGMENT_FAMILIES)
            found[key] = own or (set(library.names) if family in FRAGMENT_FAMILIES else set())
    return found


def _read_folder(folder: Path) -> dict[str, list[dict[str, object]]]:
    return {
        path.stem: read_label_file(path.stem, path.read_text(encoding="utf8"))
        for path in sorted(folder.iterdir())
        if path.stem in LABEL_FILES and path.suffix in (".json", ".jsonl")
    }


def read_again(row: Mapping[str, object]) -> Extraction:
    """Read a document again, with the rules that are on.

    Args:
        row: Row of `documents`.
    """
    return extract(_bytes(row), document_id=str(row["document_id"]), is_text=_is_text(row))


def _bytes(row: Mapping[str, object]) -> bytes:
    return Path(str(row["source_uri"]).removeprefix("file://")).read_bytes()


def _is_text(row: Mapping[str, object]) -> bool:
    return str(row["source_uri"]).endswith(".txt")


def _count_misses(frames: Mapping[str, pl.DataFrame], labels: Labels, *, documents: dy.DataFrame[Documents]) -> int:
    anchors, sections = Anchors.cast(frames["anchors"]), Sections.cast(frames["sections"])
    scores = [
        score_anchors(anchors, labels, documents=documents),
        score_ownership(sections, labels, anchors=anchors, documents=documents),
        score_roles(Elements.cast(frames["elements"]), labels, documents=documents),
        score_tables(Tables.cast(frames["tables"]), labels, documents=documents),
        score_references(References.cast(frames["references"]), labels, anchors=anchors, documents=documents),
    ]
    return sum(score.misses.height for score in scores)


def _group_registry() -> dict[str, list[Row]]:
    """Labeled lines by form."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in read_development(LINE_LABELS / "registry.jsonl"):
        found[row["document"]].append(row)
    return found


def _count_missing_lines(
    frames: Mapping[str, pl.DataFrame], labels: Sequence[Row], *, documents: dy.DataFrame[Documents]
) -> int:
    """Labeled lines that are not registered, registered ones that are not labeled, and wrong kinds and labels."""
    lines = build_lines(
        Fields.cast(frames["fields"]),
        Anchors.cast(frames["anchors"]),
        faces=Faces.cast(frames["faces"]),
        documents=documents,
    )
    return sum(figure.of - figure.right for figure in score_registry(labels, lines))


def _count_agreed(tags: Extraction, layout: Extraction) -> int:
    """Items of the tags that the layout engine finds, less those that it invents."""
    pages = {page.page for page in tags.page_sources if page.source == "tags"}
    matches = [match(tags.frames, layout.frames, pages) for match in MATCHES.values()]
    return sum(own.tags_found - (own.layout - own.layout_found) for own in matches)
