"""The draft checker over HTTP: `POST /v1/verify`."""

from __future__ import annotations

import base64
import binascii

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from taxkg_assets.serving.drafts import DraftError, DraftFile, read_bytes, read_text
from taxkg_assets.serving.service import Service
from taxkg_assets.verification.verdicts import Report


class VerifyRequest(BaseModel):
    """A draft to be checked: its text, or a PDF in Base64."""

    model_config = ConfigDict(extra="forbid")
    text: str = Field(default="", description="plain text or Markdown")
    pdf: str = Field(default="", description="a PDF in Base64, instead of the text")
    name: str = Field(default="draft", min_length=1, max_length=200, description="name of the draft in the report")


class VerifyResponse(Report):
    """Findings of a draft, the worst first."""

    draft: str = Field(description="text of the draft; `start` and `end` of the findings are offsets in it")


def create_verify_router(service: Service) -> APIRouter:
    """Create the endpoint of the draft checker.

    Args:
        service: The opened home.

    Returns:
        Router below `/v1`.
    """
    router = APIRouter()

    @router.post("/v1/verify", summary="Statements and quotations of a draft, checked against the library")
    def verify(request: VerifyRequest) -> VerifyResponse:
        try:
            draft = _read(request)
        except DraftError as error:
            raise HTTPException(422, str(error)) from error
        report = service.verify(draft)
        return VerifyResponse(**report.model_dump(), draft=draft.text)

    return router


def _read(request: VerifyRequest) -> DraftFile:
    if bool(request.text) == bool(request.pdf):
        raise DraftError("Send either `text` or `pdf`.")
    if request.text:
        if any("\ud800" <= letter <= "\udfff" for letter in request.text):
            raise DraftError("The text is not valid Unicode: it contains an unpaired surrogate.")
        return read_text(request.text, name=request.name)
    try:
        data = base64.b64decode(request.pdf, validate=True)
    except binascii.Error as error:
        raise DraftError("`pdf` is not valid Base64.") from error
    return read_bytes(data, name=request.name)
