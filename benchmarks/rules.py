"""Rules: on how many documents each rule of references fires, and how well each labeled document is read by itself."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import dataframely as dy
import polars as pl

from benchmarks.documents import CorpusError
from benchmarks.results import write_results
from taxkg_assets.defs.wiring.gold import open_labels
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.evaluation.anchor_scores import score_anchors
from taxkg_assets.evaluation.extraction_scores import score_ownership
from taxkg_assets.evaluation.labels import Labels
from taxkg_assets.evaluation.reference_scores import score_references
from taxkg_assets.rules.models.relations import load_relations
from taxkg_assets.schemas import Anchors, Documents, References, Sections

PROJECT = Path(__file__).resolve().parents[1]
FIGURES = ("structural_f1", "runin_precision", "ownership_accuracy", "reference_recall", "reference_precision")
TYPED = ("typed_recall", "typed_precision")
FEW = 2
"""A rule that fires in fewer families of documents than this may serve one document, not the genre."""


@dataclass(frozen=True, slots=True)
class Use:
    """How far one rule reaches."""

    rule_id: str
    rows: int
    documents: int
    families: int


@dataclass(frozen=True, slots=True)
class Report:
    """What one run saw."""

    uses: list[Use]
    unused: list[str]
    by_document: dict[str, dict[str, float | None]]

    def write(self, folder: Path) -> str:
        """Write `rules.json` and `rules.md`; gives the Markdown."""
        return write_results(self, render(self), folder=folder, name="rules")


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Inspect the home of TAXKG_HOME with the labels of TAXKG_GOLD; repetitions do not apply."""
    home = Home(home=str(Path(os.environ.get("TAXKG_HOME", PROJECT / "data" / "store")).resolve()))
    if not home.store.exists("references"):
        raise CorpusError(f"{home.store.home} is not built: run `taxkg build` first, or name a home in TAXKG_HOME.")
    references = References.cast(home.store.read("references"))
    uses = count_uses(references)
    rules = load_relations()
    known = {rule.id for rule in (*rules.cues, *rules.leading_conditions, *rules.subjects, *rules.duties)}
    known |= set(rules.decisions)
    return Report(
        uses=uses,
        unused=sorted(known - {use.rule_id for use in uses}),
        by_document=score_by_document(home, references, labels=open_labels(home)),
    )


def count_uses(references: pl.DataFrame) -> list[Use]:
    """Rows, documents and families by rule, the narrowest first; a family is a product in all its revisions."""
    family = pl.col("document_id").str.split("--").list.first()
    counted = references.group_by("rule_id").agg(
        rows=pl.len(), documents=pl.col("document_id").n_unique(), families=family.n_unique()
    )
    return [Use(*row) for row in counted.sort("families", "rows", "rule_id").rows()]


def score_by_document(
    home: Home, references: dy.DataFrame[References], *, labels: Labels
) -> dict[str, dict[str, float | None]]:
    """The figures of each labeled document by itself: one that carries the average, or drags it, shows."""
    anchors, sections = Anchors.cast(home.store.read("anchors")), Sections.cast(home.store.read("sections"))
    documents = home.store.read("documents")
    found: dict[str, dict[str, float | None]] = {}
    for document_id in documents["document_id"]:
        own = Documents.cast(documents.filter(pl.col("document_id") == document_id))
        mine = labels.within({document_id})
        scores = (
            score_anchors(anchors, mine, documents=own),
            score_ownership(sections, mine, anchors=anchors, documents=own),
            score_references(references, mine, anchors=anchors, documents=own),
        )
        figures = {name: value for score in scores for name, value in score.figures.items()}
        kept = {name: figures.get(name) for name in (*FIGURES, *TYPED)}
        if any(value is not None for value in kept.values()):
            found[document_id] = kept
    return found


def render(report: Report) -> str:
    """The report as Markdown."""
    narrow = [use for use in report.uses if use.families < FEW]
    names = (*FIGURES, *TYPED)
    rows = [
        [document_id, *("" if figures[name] is None else f"{figures[name]:.3f}" for name in names)]
        for document_id, figures in report.by_document.items()
    ]
    parts = [
        "# Rules",
        f"{len(report.uses)} rules fire, {len(narrow)} of them in one family of documents only: "
        + (", ".join(f"{use.rule_id} ({use.rows})" for use in narrow) or "none"),
        "Never fired here: " + (", ".join(report.unused) or "none") + ".",
        _table(["rule", "rows", "documents", "families"], [[str(v) for v in asdict(u).values()] for u in report.uses]),
        "## Each labeled document by itself",
        _table(["document", *(re.sub("_", " ", name) for name in names)], rows),
    ]
    return "\n\n".join(parts) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
