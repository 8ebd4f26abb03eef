"""The record of the sources: folders and files that were given, and the file of each document."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class FilePlace(BaseModel):
    """A file with the source that contains it.

    Attributes:
        root: Folder or file that was given.
        path: Path of the file.
    """

    model_config = ConfigDict(frozen=True)
    root: str
    path: str


class SourceFile(FilePlace):
    """The source file of a document.

    Attributes:
        rival: Another file of that name with other bytes; None where the name is clear.
    """

    rival: FilePlace | None = Field(default=None, exclude_if=lambda rival: rival is None)


class SourceManifest(BaseModel):
    """The recorded sources of a home, the content of `sources.json`.

    Attributes:
        roots: Folders and files that were given, sorted.
        files: File of each document, by document id.
    """

    model_config = ConfigDict(frozen=True)
    roots: list[str] = []
    files: dict[str, SourceFile] = {}
