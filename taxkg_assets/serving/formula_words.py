"""Formulas of lines in words, for agents."""

from __future__ import annotations

from taxkg_assets.serving.replies import (
    FormulaRow,
)


def write_formula(formula: FormulaRow | None) -> str:
    """Write a formula in words for agents: `line_1 + line_2, at least zero`.

    Args:
        formula: Formula of a line; None for a line without one.

    Returns:
        The formula in words; `as stated:` and the printed words if it could not be parsed, empty for None.
    """
    if formula is None:
        return ""
    operands = formula.operands or ["a number that the label names"]
    phrase = {
        "sum": " + ".join(operands),
        "difference": " - ".join(operands),
        "product": " x ".join([*operands, *([f"{formula.factor:g}"] if formula.factor is not None else [])]),
        "smaller": f"the smaller of {' and '.join(operands)}",
        "larger": f"the larger of {' and '.join(operands)}",
        "copy": " ".join(operands),
    }.get(formula.operation)
    if phrase is None:
        return f"as stated: {formula.evidence}"
    column = f", in column {formula.column}" if formula.column else ""
    bound = f", {formula.bound.replace('_', ' ')}" if formula.bound else ""
    return f"{phrase}{column}{bound}" + (f", if {formula.condition}" if formula.condition else "")
