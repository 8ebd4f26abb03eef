"""Number of documents that pass and fail each document check, as a table and as an image."""

from __future__ import annotations

import io

import dataframely as dy
import polars as pl

from taxkg_assets.schemas import CHECK_OUTCOMES, DocumentQuality

_COLORS = {"passed": "#2a9d5c", "flagged": "#d98b1e", "withheld": "#c0392b"}


def count_outcomes(quality: dy.DataFrame[DocumentQuality]) -> pl.DataFrame:
    """Count the documents by check and outcome.

    Args:
        quality: Outcome of each check for each document.

    Returns:
        `law`, `strength` and a column for each of `CHECK_OUTCOMES`, one row per check.
    """
    counted = [(pl.col("outcome") == outcome).sum().alias(outcome) for outcome in CHECK_OUTCOMES]
    return quality.group_by("law", "strength").agg(counted).sort("strength", "law")


def render_quality_table(counts: pl.DataFrame) -> str:
    """Render the counts as Markdown.

    Args:
        counts: Counts from `count_outcomes`.

    Returns:
        A table with one row per check.
    """
    lines = ["| check | severity | passed | flagged | withheld |", "|---|---|--:|--:|--:|"]
    for row in counts.iter_rows(named=True):
        cells = (row["law"].replace("_", " "), row["strength"], *(str(row[outcome]) for outcome in CHECK_OUTCOMES))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def render_quality_plot(counts: pl.DataFrame) -> bytes:
    """Draw one bar per check with the number of documents that fail it.

    Args:
        counts: Counts from `count_outcomes`.

    Returns:
        PNG image.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # loaded here: most runs draw nothing
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 0.8 + 0.32 * counts.height), dpi=90, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    names = [f"{row['law'].replace('_', ' ')} ({row['passed']} pass)" for row in counts.iter_rows(named=True)]
    left = [0] * counts.height
    for outcome in CHECK_OUTCOMES[1:]:
        widths = counts[outcome].to_list()
        axes.barh(names, widths, left=left, color=_COLORS[outcome], label=outcome)
        left = [before + width for before, width in zip(left, widths, strict=True)]
    axes.set_xlim(0, max(5, *left) * 1.05 if left else 5)
    axes.invert_yaxis()
    axes.set_xlabel("documents that fail the check")
    axes.legend(loc="lower right", frameon=False)
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()
