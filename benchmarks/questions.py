"""The written questions of data/training, and which of an index's rows answer them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking
from taxkg_assets.rules.forms import split_forms

FOLDER = Path(__file__).parent.parent / "data" / "training"
SAME_TEXT = 0.6
"""Share of terms from which a passage says the same as another one."""
Mask = npt.NDArray[np.bool_]
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MentionInSentence:
    """A question with its candidates: which answer it, and which tell nothing as they say the same elsewhere."""

    query: str
    family: str
    ranking: Ranking
    is_right: Mask
    is_judged: Mask
    right_rows: frozenset[int]


def read_questions() -> list[Row]:
    """All written questions; those without an element are answered by no document of the corpus."""
    paths = [FOLDER / "questions.jsonl", *sorted((FOLDER / "questions").glob("*.jsonl"))]
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf8").splitlines() if line]


def find_form_families(documents: Sequence[Row]) -> dict[str, str]:
    """Family of each document: faces and instructions of one form in all years; other documents by themselves."""
    heads: dict[str, str] = {}

    def find(name: str) -> str:
        while heads.setdefault(name, name) != name:
            name = heads[name]
        return name

    names = {row["document_id"]: row["irs_name"] or row["document_id"] for row in documents}
    for row in documents:
        own = find(names[row["document_id"]])
        if row["doc_type"] not in ("publication", "statute", "other"):
            for form in split_forms(row["form"]):
                heads[find(f"form {form}")] = own
    return {document: find(name) for document, name in names.items()}


def draw_folds(families: Sequence[str], count: int) -> list[frozenset[str]]:
    """Families into folds of about as many questions each: the largest first, each into the emptiest fold."""
    folds: list[set[str]] = [set() for _ in range(count)]
    sizes = [0] * count
    for family, size in sorted(Counter(families).items(), key=lambda item: (-item[1], item[0])):
        emptiest = sizes.index(min(sizes))
        folds[emptiest].add(family)
        sizes[emptiest] += size
    return [frozenset(fold) for fold in folds]


class Judge:
    """States which candidates of a question answer it, from the elements that its writer named."""

    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher
        self.columns = searcher.passages.columns
        self.documents = {row["document_id"]: row for row in searcher.facts.documents}
        self.families = find_form_families([{**row, "form": row["document_form"]} for row in searcher.facts.documents])
        self._held_out: dict[int, frozenset[str]] = {}
        self.rows_of: dict[str, set[int]] = defaultdict(set)
        for number, node_ids in enumerate(self.columns["node_ids"]):
            for node_id in node_ids:
                self.rows_of[node_id].add(number)

    def ask(self, row: Row) -> MentionInSentence | None:
        """Rank a question's candidates and judge them; None where the index lacks its answer."""
        targets = set().union(*(self.rows_of.get(element, set()) for element in find_elements(row)))
        if not targets:
            return None
        query = str(row["query"])
        ranking = self.searcher.rank(query)
        is_dated = bool(ranking.route.years or ranking.route.revisions)
        if not is_dated and any(self._is_current(own) for own in targets):
            targets = {own for own in targets if self._is_current(own)}
        homes = {self._document(own) for own in targets}
        names = {self.documents[home]["irs_name"] or home for home in homes}
        is_right, is_judged = [], []
        for candidate in ranking.candidates:
            document = self._document(candidate.row)
            is_same = max(self.score_sameness(candidate.row, own) for own in targets) > SAME_TEXT
            if document in homes:
                right, judged = candidate.row in targets or is_same, True
            elif (self.documents[document]["irs_name"] or document) not in names:
                right, judged = False, not is_same
            elif is_dated or all(self._is_current(own) for own in targets):
                right, judged = False, True
            else:  # no year was requested and the writer had an old edition: the new one's words are as good
                right, judged = is_same and self._is_current(candidate.row), is_same and self._is_current(candidate.row)
            is_right.append(right)
            is_judged.append(judged)
        rows = {candidate.row for candidate, right in zip(ranking.candidates, is_right, strict=True) if right}
        family = self.families[min(homes)]
        return MentionInSentence(
            query, family, ranking, np.array(is_right), np.array(is_judged), frozenset(targets | rows)
        )

    def find_family(self, row: Row) -> str | None:
        """The family of the documents that answer a question; None where the index lacks them."""
        found = [self._document(min(self.rows_of[e])) for e in find_elements(row) if e in self.rows_of]
        return self.families[found[0]] if found else None

    def score_sameness(self, one: int, other: int) -> float:
        """Share of the terms of two rows that both have."""
        own, held_out = self._terms(one), self._terms(other)
        return len(own & held_out) / max(1, len(own | held_out))

    def _terms(self, row: int) -> frozenset[str]:
        if row not in self._held_out:
            self._held_out[row] = frozenset(self.columns["terms"][row].split(" "))
        return self._held_out[row]

    def _document(self, row: int) -> str:
        return str(self.columns["document_id"][row])

    def _is_current(self, row: int) -> bool:
        document = self.documents[self._document(row)]
        return not (document["is_stale"] or document["is_draft"])


def find_elements(row: Row) -> list[str]:
    """The elements that answer a question, each by itself."""
    first = [row["element"]] if row.get("element") else []
    return [*first, *(row.get("elements") or ())]
