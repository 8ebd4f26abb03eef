"""The draft checker as a tool for agents."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from taxkg_assets.serving.agent_calls import explained
from taxkg_assets.serving.drafts import DraftError, read_text
from taxkg_assets.serving.service import Service
from taxkg_assets.verification.verdicts import Finding

MOST_CHARACTERS = 60_000
SHOWN_CHARACTERS = 400


class CheckReply(BaseModel):
    """Findings of a draft check."""

    is_fine: bool = Field(description="whether the draft needs no changes")
    counts: dict[str, int] = Field(description="number of statements and quotations for each verdict")
    skipped: int = Field(
        description="number of sentences not checked because they name no form, box, line, amount, date or rule"
    )
    unchecked: int = Field(description="number of statements not checked because they exceed the limits of one call")
    findings: list[dict[str, Any]] = Field(
        description="the findings, most severe first: kind, text, start, end, verdict, reason, "
        "score, evidence, compared values"
    )


def add_verify_tool(server: MCPServer[Any], service: Service) -> None:
    """Add the tool `verify` to a server.

    Args:
        server: MCP server.
        service: The opened home.
    """

    @server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    @explained
    def verify(
        text: Annotated[
            str,
            Field(
                min_length=1,
                max_length=MOST_CHARACTERS,
                description="draft to check, such as an answer or memo: text or Markdown",
            ),
        ],
        k: Annotated[int, Field(ge=1, le=200, description="maximum number of findings, the most severe first")] = 30,
    ) -> CheckReply:
        """Check the statements and quotations of a text against the library before you hand it over.

        Each finding has a verdict (contradicted, other_year, other_form, not_found, unclear, supported, verbatim), the
        place in the text, the passage with document, page and rectangles, and the values that were compared. Cite forms
        with their year, so that the right revision is read.
        """
        try:
            draft = read_text(text, name="text")
        except DraftError as error:
            raise ToolError(str(error)) from error
        report = service.verify(draft)
        return CheckReply(
            is_fine=report.is_fine,
            counts={verdict.value: number for verdict, number in report.counts.items()},
            skipped=report.skipped,
            unchecked=report.unchecked,
            findings=[_shorten_finding(finding) for finding in report.findings[:k]],
        )


def _shorten_finding(finding: Finding) -> dict[str, Any]:
    """Return a finding without what an agent does not need: empty fields, and the end of a long passage."""
    row = finding.model_dump(mode="json", exclude_defaults=True)
    if finding.evidence is not None:
        row["evidence"]["text"] = finding.evidence.text[:SHOWN_CHARACTERS]
        row["evidence"]["rectangles"] = [box.model_dump() for box in finding.evidence.rectangles]
    return row
