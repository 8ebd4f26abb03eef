"""Results of the checker: one finding for each statement and quotation, with evidence and compared values."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field, computed_field

from taxkg_assets.bounding_box import BoundingBox


class Verdict(StrEnum):
    """The verdict of the library on a statement or a quotation."""

    contradicted = "contradicted"
    other_year = "other_year"
    other_form = "other_form"
    not_found = "not_found"
    unclear = "unclear"
    supported = "supported"
    verbatim = "verbatim"


ORDER = tuple(Verdict)
"""Verdicts, the worst first."""

NAMES = {
    Verdict.contradicted: "Contradicted",
    Verdict.other_year: "Other year",
    Verdict.other_form: "Other form",
    Verdict.not_found: "Not found",
    Verdict.unclear: "Unclear",
    Verdict.supported: "Supported",
    Verdict.verbatim: "Verbatim",
}
"""Verdicts as people read them."""

FAULTS = frozenset({Verdict.contradicted, Verdict.other_year, Verdict.other_form})
"""Verdicts that say that something is wrong."""


class Evidence(BaseModel):
    """The passage on which a verdict is based."""

    model_config = ConfigDict(frozen=True)
    text: str = Field(description="the passage, with the sentence that introduces its list")
    heading_path: str = Field(description="headings above the passage, joined with ' > '")
    document: str
    form: str
    revision: str
    page: int = Field(description="page of the PDF, from 1")
    rectangles: list[BoundingBox]
    node_id: str = Field(description="id of the paragraph, heading or table that contains the passage")
    official_url: str | None = Field(description="official address of the PDF, at the page")


class ComparedValue(BaseModel):
    """A value, word or polarity of the draft with what the passage states instead."""

    model_config = ConfigDict(frozen=True)
    kind: str = Field(description="amount, percent, date, box, line, form, polarity, word, …")
    stated: str = Field(description="words of the draft")
    found: str = Field(description="value in the passage; empty if it states none")
    is_equal: bool


class Finding(BaseModel):
    """One statement or quotation of the draft with its verdict."""

    model_config = ConfigDict(frozen=True)
    kind: str = Field(description="statement or quotation")
    text: str
    start: int = Field(description="0-based offset in the draft")
    end: int = Field(description="exclusive end offset in the draft")
    page: int | None = Field(default=None, description="page of a PDF draft")
    rectangles: list[BoundingBox] = Field(default=[], description="rectangles of the finding in a PDF draft")
    verdict: Verdict
    reason: str = Field(description="reason for the verdict, in one sentence")
    score: float = Field(description="similarity of the passage to the statement, 0 to 1")
    evidence: Evidence | None = Field(
        default=None, description="the passage that decides the verdict, or the most similar one"
    )
    compared: list[ComparedValue] = []

    @computed_field  # type: ignore[prop-decorator]
    @property
    def is_fault(self) -> bool:
        """Return whether the draft should be changed: an error, or a quotation that the library does not contain."""
        return self.verdict in FAULTS or (self.kind == "quotation" and self.verdict is Verdict.not_found)


class Report(BaseModel):
    """All findings of a draft, the most severe first."""

    name: str = Field(description="name of the draft")
    release: int = Field(description="release that the draft was checked against")
    findings: list[Finding]
    skipped: int = Field(
        description="number of sentences not checked because they name no form, box, line, amount, date or rule"
    )
    unchecked: int = Field(
        default=0, description="number of statements not checked because they exceed the limits of one call"
    )
    counts: dict[Verdict, int]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def is_fine(self) -> bool:
        """Return whether nothing has to be changed."""
        return not any(finding.is_fault for finding in self.findings)

    @property
    def is_confirmed(self) -> bool:
        """Return whether the library confirms every statement and quotation."""
        return not self.unchecked and all(
            finding.verdict in (Verdict.supported, Verdict.verbatim) for finding in self.findings
        )


def order_findings(findings: list[Finding]) -> list[Finding]:
    """Sort findings by severity of the verdict, then by position in the draft.

    Args:
        findings: Findings in any order.

    Returns:
        The findings.
    """
    return sorted(findings, key=lambda row: (not row.is_fault, ORDER.index(row.verdict), row.start))
