"""Standard sections: whether answers to who must file a form, when and where begin with that section of its booklet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from benchmarks.results import open_home, write_results
from taxkg_assets.retrieval.answering.answer import Answer, ask
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.rules.models.standard_sections import load_standard_sections
from taxkg_assets.settings import Settings

WORDINGS = {
    "who_files": "Who has to file {}?",
    "who_signs": "Who must sign {}?",
    "when_to_file": "When do I have to file {}?",
    "where_to_file": "Where do I send {}?",
    "extension": "Can I get more time to file {}?",
    "penalties": "What are the penalties for not filing {}?",
}


@dataclass(frozen=True, slots=True)
class Question:
    """Question about a form whose instructions have sections of a kind, named by their headings."""

    kind: str
    text: str
    document_id: str
    headings: frozenset[str]


@dataclass(frozen=True, slots=True)
class Report:
    """Answers by kind that begin in such a section: questions, without openings, with them."""

    kinds: dict[str, tuple[int, int, int]]

    def write(self, folder: Path) -> str:
        """Write `standard_sections.json` and `standard_sections.md`; gives the Markdown."""
        lines = ["# standard_sections", "", "| kind | questions | by search alone | now |", "|---|---|---|---|"]
        lines += [f"| {kind} | {' | '.join(map(str, counts))} |" for kind, counts in self.kinds.items()]
        return write_results(self, "\n".join(lines) + "\n", folder=folder, name="standard_sections")


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Ask about every form with instructions in TAXKG_HOME; no repetitions."""
    released = open_home(Settings().home)
    searcher = released.searcher
    bare = searcher.with_parts(replace(searcher.parts, openings=False))
    questions = list(write_questions(released.table("documents"), released.table("anchors")))
    kinds = {kind: [own for own in questions if own.kind == kind] for kind in WORDINGS}
    return Report({kind: (len(own), score(bare, own), score(searcher, own)) for kind, own in kinds.items()})


def write_questions(documents: pl.DataFrame, anchors: pl.DataFrame) -> Iterator[Question]:
    """Write the questions that the newest instructions for each form have a section for.

    Args:
        documents: Table `documents`.
        anchors: Table `anchors`.

    Yields:
        Questions by form and kind.
    """
    own = documents.filter(pl.col("doc_type") == "filer_instructions", ~pl.col("is_draft"), pl.col("form") != "")
    newest = own.sort("form", "revision").unique("form", keep="last", maintain_order=True)
    for form, document_id in newest.select("form", "document_id").iter_rows():
        headings = anchors.filter(pl.col("document_id") == document_id)["heading"].drop_nulls().to_list()
        name = form if form.startswith("Schedule") else f"Form {form}"
        for kind, wording in WORDINGS.items():
            rules = [rule for rule in load_standard_sections().headings if rule.kind == kind]
            ranked = [[text for text in headings if rule.pattern.search(text)] for rule in rules]
            if found := next(filter(None, ranked), None):
                yield Question(kind, wording.format(name), document_id, frozenset(found))


def score(searcher: Searcher, questions: list[Question]) -> int:
    """Count the answers whose first statement is in a section for the question.

    Args:
        searcher: Opened search.
        questions: Questions with their sections.
    """
    return sum(begins_in(ask(searcher, own.text, settings=Settings()), own) for own in questions)


def begins_in(answer: Answer, question: Question) -> bool:
    """Return whether an answer begins in a section for a question.

    Args:
        answer: The answer.
        question: The question with its sections.
    """
    if not answer.units:
        return False
    result = answer.results[answer.units[0].rank - 1]
    path = result.heading_path.split(" > ")[1:]
    return result.document == question.document_id and not question.headings.isdisjoint(path)
