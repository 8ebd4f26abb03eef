"""The record of the sources: folders and files that users add, and the file of each document."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class FilePlace(BaseModel):
    """A file with the source that contains it.

    Attributes:
        root: Source: a folder, or the file itself.
        path: Path of the file.
    """

    model_config = ConfigDict(frozen=True)
    root: str
    path: str


class SourceFile(FilePlace):
    """The source file of a document.

    Attributes:
        rival: Another file with the same name and other bytes; None if there is none.
    """

    rival: FilePlace | None = Field(default=None, exclude_if=lambda rival: rival is None)


class SourceManifest(BaseModel):
    """The recorded sources of a home, the content of `sources.json`.

    Attributes:
        roots: Sources: folders and files, sorted.
        files: File of each document, by document id.
    """

    model_config = ConfigDict(frozen=True)
    roots: list[str] = []
    files: dict[str, SourceFile] = {}
