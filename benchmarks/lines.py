"""Lines of forms against labels by hand: registry, formulas, explanations in instructions, and flows.

The labels of `data/line_eval` were read from the pages before any code read them; `data/README.md` describes them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.results import open_home, write_results
from taxkg_assets.graph.line_nodes import node_of
from taxkg_assets.records import LineRecord, iter_records
from taxkg_assets.settings import Settings

FOLDER = Path(__file__).resolve().parents[1] / "data" / "line_eval"
SPLITS = (
    *("dev", "dev_more", "dev_new", "dev_late", "dev_last", "held_out", "held_out_new", "check", "check_last"),
    *("library", "library_check", "library_rest"),
)
REST = "library_rest"
"""Split whose pages have passages that another set labels; those are left out of it."""
_EXPLAINS = ("same_field", "same_field_other_revision")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured share, with the labels or rows behind it and what was missed."""

    name: str
    right: int
    of: int
    misses: list[str]


@dataclass(frozen=True, slots=True)
class Report:
    """All figures."""

    figures: list[Figure]

    def write(self, folder: Path) -> str:
        """Write `lines.json` and `lines.md`; gives the Markdown."""
        rows = ["# Lines", "", "| figure | share | n |", "|---|---|---|"]
        rows += [
            f"| {each.name} | {each.right / each.of:.4f} | {each.of} |" if each.of else f"| {each.name} | none | 0 |"
            for each in self.figures
        ]
        return write_results(self, "\n".join(rows) + "\n", folder=folder, name="lines")


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Score the release of TAXKG_HOME; there is no rival and nothing to repeat."""
    del repeat, rival_repeat
    released = open_home(Settings().home)
    lines, passages = released.table("lines"), read_labels("flow_passages")
    return Report(
        [
            *score_registry(read_labels("registry"), lines),
            *score_formulas(read_labels("formulas"), released.table("formulas")),
            *score_explanations(
                read_labels("explanations"), lines, edges=released.table("edges"), anchors=released.table("anchors")
            ),
            *score_flows(
                read_labels("flows"),
                read_labels("flow_pages"),
                released.table("flows"),
                others=find_labeled_passages(passages, released.table("sections")),
            ),
            *score_flow_passages(passages, released.table("flows"), released.table("sections")),
        ]
    )


def read_labels(name: str) -> list[dict[str, Any]]:
    """Read one file of labels.

    Args:
        name: registry, formulas, explanations, flows, flow_pages or flow_passages.
    """
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf8").splitlines()]


def score_registry(labels: Sequence[Row], lines: pl.DataFrame) -> list[Figure]:
    """Score keys, kinds and labels of the registered lines; keys both ways.

    Args:
        labels: Labeled keys of whole forms.
        lines: Table `lines`.
    """
    own = {(row["document_id"], row["part"], row["key"]): row for row in lines.iter_rows(named=True)}
    wanted = {(row["document"], row["part"], row["key"]): row for row in labels}
    needed = [at for at, row in wanted.items() if not row["optional"]]
    found = [at for at in needed if at in own]
    documents = {at[0] for at in wanted}
    registered = [at for at in own if at[0] in documents]
    known = {(document, key) for document, _, key in wanted}
    named = [at for at in found if wanted[at]["label"]]
    return [
        _figure("registry: labeled keys that are registered", needed, lambda at: at in own),
        _figure("registry: registered keys that are labeled", registered, lambda at: (at[0], at[2]) in known),
        _figure("registry: kinds", found, lambda at: own[at]["kind"] == wanted[at]["kind"]),
        _figure("registry: labels", named, lambda at: _begins_alike(own[at]["label"], wanted[at]["label"])),
    ]


def score_formulas(labels: Sequence[Row], formulas: pl.DataFrame) -> list[Figure]:
    """Score operations and operands; a parsed formula without a label is invented.

    Args:
        labels: Labeled formulas of whole forms.
        formulas: Table `formulas`.
    """
    own = {
        (row["document_id"], row["part"], row["key"]): row
        for row in formulas.filter(pl.col("operation") != "unparsed").iter_rows(named=True)
    }
    wanted = {(row["document"], row["part"], row["key"]): row for row in labels}
    documents = {at[0] for at in wanted}
    parsed = [at for at in own if at[0] in documents]
    return [
        _figure(
            "formulas: labeled ones read", list(wanted), lambda at: at in own and same_formula(own[at], wanted[at])
        ),
        _figure("formulas: parsed ones right", parsed, lambda at: at in wanted and same_formula(own[at], wanted[at])),
    ]


def score_explanations(
    labels: Sequence[Row], lines: pl.DataFrame, *, edges: pl.DataFrame, anchors: pl.DataFrame
) -> list[Figure]:
    """Score which headings of instructions explain which lines, between the labeled pairs of documents.

    Args:
        labels: Labeled explanations.
        lines: Table `lines`.
        edges: Table `edges`.
        anchors: Table `anchors`.
    """
    places = {row["anchor_id"]: row for row in anchors.iter_rows(named=True)}
    nodes = {node_of(row): (row["document_id"], row["part"], row["key"]) for row in iter_records(lines, LineRecord)}
    pairs = {(row["document"], row["explained_in"]) for row in labels}
    found: dict[tuple[str, str, str], list[Row]] = {}
    linked: set[tuple[str, str]] = set()
    for source, target in (
        edges.filter(pl.col("relation").is_in(_EXPLAINS)).select("source_id", "target_id").iter_rows()
    ):
        if source in nodes and target in places and (nodes[source][0], places[target]["document_id"]) in pairs:
            found.setdefault(nodes[source], []).append(places[target])
            linked.add((nodes[source][0], places[target]["document_id"]))
    wanted: dict[tuple[str, str, str], list[Row]] = {}
    for row in labels:
        wanted.setdefault((row["document"], row["part"], row["key"]), []).append(row)
    needed = [row for row in labels if not row["optional"] and (row["document"], row["explained_in"]) in linked]
    made = [(line, place) for line, of_line in found.items() for place in of_line]
    unlinked = sorted({" > ".join(pair) for pair in pairs - linked})
    return [
        _figure(
            "same_field: labeled explanations found",
            needed,
            lambda row: any(
                _is_heading(place, row) for place in found.get((row["document"], row["part"], row["key"]), ())
            ),
        ),
        _figure(
            "same_field: explanations that are labeled",
            made,
            lambda pair: any(_is_heading(pair[1], row) for row in wanted.get(pair[0], ())),
        ),
        Figure("same_field: pairs of documents joined", len(linked), len(pairs), unlinked),
    ]


def score_flows(
    labels: Sequence[Row], pages: Sequence[Row], flows: pl.DataFrame, *, others: Set[tuple[str, str]] = frozenset()
) -> list[Figure]:
    """Score the flows that the labeled pages state between lines, for each half of the form families.

    Args:
        labels: Labeled statements.
        pages: Pages whose statements are all labeled, with their half.
        flows: Table `flows`.
        others: Passages that another set labels, from `find_labeled_passages`.
    """
    figures = []
    has_line = (pl.col("source_key") != "") & (pl.col("target_key") != "")
    stated = flows.filter((pl.col("relation") != "computed_from") & has_line).to_dicts()
    for split in SPLITS:
        own = {(row["document"], row["page"]) for row in pages if row["split"] == split}
        left_out = others if split == REST else frozenset()
        made = [
            row
            for row in stated
            if (row["document_id"], row["page"]) in own and (row["document_id"], row["element_id"]) not in left_out
        ]
        pairs: dict[tuple[str, int], set[tuple[str, ...]]] = {}
        for row in made:
            pairs.setdefault((row["document_id"], row["page"]), set()).add(pair_of(row))
        right: dict[tuple[str, int], set[tuple[str, ...]]] = {}
        for label in labels:
            of_page = right.setdefault((label["document"], label["page"]), set())
            of_page |= {pair_of(label), *also_right(label)}
        mine = [row for row in labels if row["split"] == split and not row["optional"]]
        figures += [
            _figure(
                f"flows, {split}: labeled statements found",
                mine,
                lambda row: pair_of(row) in pairs.get((row["document"], row["page"]), ()),  # noqa: B023
            ),
            _figure(
                f"flows, {split}: stated flows that are labeled",
                made,
                lambda row: pair_of(row) in right.get((row["document_id"], row["page"]), ()),  # noqa: B023
            ),
        ]
    return figures


def score_flow_passages(labels: Sequence[Row], flows: pl.DataFrame, sections: pl.DataFrame) -> list[Figure]:
    """Score the flows between lines that single passages state.

    Args:
        labels: Passages by the digest of their letters, with all of their statements.
        flows: Table `flows`.
        sections: Table `sections`, whose passages are found by their letters. The table of flows has one row for a
            sentence that two passages of a page share; both state it.
    """
    documents = sorted({row["document"] for row in labels})
    own = sections.filter(pl.col("document_id").is_in(documents)).select("document_id", "element_id", "text")
    passages = {(document, digest_letters(text)): (element, text) for document, element, text in own.iter_rows()}
    has_line = (pl.col("source_key") != "") & (pl.col("target_key") != "")
    stated: dict[str, list[Row]] = {}
    for flow in flows.filter((pl.col("relation") != "computed_from") & has_line).iter_rows(named=True):
        stated.setdefault(flow["document_id"], []).append(flow)
    figures = []
    for split in sorted({row["split"] for row in labels}):
        wanted, made = [], []
        for row in (each for each in labels if each["split"] == split):
            element, text = passages.get((row["document"], row["passage"]), ("", ""))
            read = [
                each
                for each in stated.get(row["document"], ())
                if each["element_id"] == element or (each["page"] == row["page"] and each["evidence"] in text)
            ]
            pairs = {pair_of(each) for each in read}
            right = {pair for each in row["flows"] for pair in (pair_of(each), *also_right(each))}
            wanted += [
                (
                    {"document": row["document"], "page": row["page"], **each},
                    bool(pairs & {pair_of(each), *also_right(each)}),
                )
                for each in row["flows"]
                if not each["optional"]
            ]
            made += [(each, pair_of(each) in right) for each in read]
        figures += [
            _figure_of(f"flows, {split}: labeled statements found", wanted),
            _figure_of(f"flows, {split}: stated flows that are labeled", made),
        ]
    return figures


def find_labeled_passages(labels: Sequence[Row], sections: pl.DataFrame) -> frozenset[tuple[str, str]]:
    """Find the passages that labels are about, by their letters.

    Args:
        labels: Passages by the digest of their letters.
        sections: Table `sections`.

    Returns:
        document_id and element_id.
    """
    wanted = {(row["document"], row["passage"]) for row in labels}
    documents = sorted({document for document, _ in wanted})
    own = sections.filter(pl.col("document_id").is_in(documents)).select("document_id", "element_id", "text")
    return frozenset(
        (document, element) for document, element, text in own.iter_rows() if (document, digest_letters(text)) in wanted
    )


def digest_letters(text: str) -> str:
    """Return a digest of the letters and digits of a passage.

    Args:
        text: The passage.
    """
    return hashlib.sha256(re.sub(r"[^a-z0-9]", "", text.lower()).encode()).hexdigest()[:16]


def _figure_of(name: str, rows: Sequence[tuple[Row, bool]]) -> Figure:
    wrong = [row for row, is_right in rows if not is_right]
    return Figure(name, len(rows) - len(wrong), len(rows), [_shorten(row) for row in wrong])


def _figure(name: str, rows: Sequence[Any], is_right: Any) -> Figure:
    wrong = [row for row in rows if not is_right(row)]
    return Figure(name, len(rows) - len(wrong), len(rows), [_shorten(row) for row in wrong])


def _shorten(row: Any) -> str:
    """Name a row in a list of misses."""
    if isinstance(row, Mapping):
        names: tuple[str, ...] = (
            "document",
            "document_id",
            "page",
            "part",
            "key",
            "heading",
            "source_form",
            "source_key",
        )
        names += ("source_document_id", "target_form", "target_key", "target_document_id", "problem", "evidence")
        return " | ".join(str(row[name]) for name in names if name in row)
    if isinstance(row, tuple) and isinstance(row[-1], Mapping):
        return f"{row[0]} > {row[1]['document_id']} p. {row[1]['page']} {row[1]['heading'][:40]}"
    return str(row)


def _begins_alike(label: str, beginning: str) -> bool:
    """Decide whether a label begins with the labeled words, signs aside."""
    return " ".join(_words(label)).startswith(" ".join(_words(beginning)))


def same_formula(own: Row, wanted: Row) -> bool:
    """Return whether a formula is the labeled one: operation, operands, factor and bound.

    Args:
        own: Row of `formulas`.
        wanted: Labeled formula.
    """
    dropped = set(wanted.get("optional", ()))
    operands = [operand for operand in own["operands"] if operand not in dropped]
    ordered = operands if own["operation"] == "difference" else sorted(operands)
    expected = wanted["operands"] if own["operation"] == "difference" else sorted(wanted["operands"])
    same = [_fold(operand) for operand in ordered] == [_fold(operand) for operand in expected]
    factor = own["factor"] is wanted["factor"] or abs((own["factor"] or 0) - (wanted["factor"] or 0)) < 1e-9
    bound = own["bound"] == wanted["bound"]
    return same and factor and bound and own["operation"] == wanted["operation"]


def _is_heading(place: Row, label: Row) -> bool:
    is_there = place["document_id"] == label["explained_in"] and place["page"] == label["page"]
    wanted = _words(label["heading"])
    return is_there and _words(place["heading"])[: len(wanted)] == wanted


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]+|\d+[a-z]*", text.lower())


def pair_of(row: Row) -> tuple[str, ...]:
    """Return both ends of a flow as they are compared.

    Args:
        row: Row of `flows`, or a labeled statement.
    """
    return tuple(_fold(row[name]) for name in ("source_form", "source_key", "target_form", "target_key"))


def also_right(label: Row) -> set[tuple[str, ...]]:
    """Return further pairs of ends that the same words may state.

    Args:
        label: Labeled statement.
    """
    return {tuple(map(_fold, pair)) for pair in label["also"]}


def _fold(text: str) -> str:
    """Reduce a form, key or label to what is compared; a schedule of Form 1040 may go without its parent."""
    return re.sub(r"[^a-z0-9]", "", text.lower().replace("(form 1040)", "").replace("form ", ""))


def list_misses(figures: Iterable[Figure]) -> str:
    """Write the misses of figures, a line each.

    Args:
        figures: Scored figures.
    """
    return "\n".join(f"{each.name}: {miss}" for each in figures for miss in each.misses)
