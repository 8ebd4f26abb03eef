"""Totals that use a line more than once: in the total and in a subtotal that it adds, or in several totals."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from taxkg_assets.records import FormulaRecord

Place = tuple[str, str]
"""Part and key."""
_OPPOSITE = {"at_least_zero", "at_most_zero"}


def mark_totals(rows: Sequence[FormulaRecord]) -> None:
    """Record for each total the other totals that include at least one of its lines, and its repeated lines.

    A line of several totals is not repeated if the form keeps them apart: one is limited to gains, the other to losses,
    or their conditions differ.

    Args:
        rows: Rows of `formulas`; `also_added_in` and `repeated_lines` of sums are filled in.
    """
    by_document: dict[str, dict[Place, FormulaRecord]] = defaultdict(dict)
    for row in rows:
        if row["operation"] == "sum":
            by_document[row["document_id"]].setdefault((row["part"], row["key"]), row)
    for totals in by_document.values():
        users: dict[Place, list[Place]] = defaultdict(list)
        for total, row in totals.items():
            for operand in dict.fromkeys(_operands_of(row)):
                users[operand].append(total)
        for total, row in totals.items():
            others = {other for operand in _operands_of(row) for other in users[operand] if other != total}
            row["also_added_in"] = sorted({key for _, key in others})
            row["repeated_lines"] = sorted(set(_find_repeated(total, totals, users)))


def _find_repeated(
    total: Place, totals: Mapping[Place, FormulaRecord], users: Mapping[Place, Sequence[Place]]
) -> Iterator[str]:
    """Name the lines that a total reaches in two ways, and those that another total adds for no printed reason."""
    counts = Counter[Place]()
    _count_lines(total, totals, counts, trail=(total,))
    for (_, key), count in counts.items():
        if count > 1:
            yield f"{key} twice"
    for operand in dict.fromkeys(_operands_of(totals[total])):
        for other in users[operand]:
            if other != total and not _are_kept_apart(totals[total], totals[other]):
                yield f"{operand[1]} also in {other[1]}"


def _are_kept_apart(row: FormulaRecord, other: FormulaRecord) -> bool:
    """Decide whether a form states that two totals exclude each other."""
    return {row["bound"], other["bound"]} == _OPPOSITE or row["condition"] != other["condition"]


def _count_lines(
    at: Place, totals: Mapping[Place, FormulaRecord], counts: Counter[Place], *, trail: tuple[Place, ...]
) -> None:
    """Count in how many ways a total reaches each line, through the subtotals that it adds."""
    for operand in _operands_of(totals[at]):
        counts[operand] += 1
        if operand in totals and operand not in trail:
            _count_lines(operand, totals, counts, trail=(*trail, operand))


def _operands_of(row: FormulaRecord) -> list[Place]:
    return list(zip(row["operand_parts"], row["operands"], strict=True))
