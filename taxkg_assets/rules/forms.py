"""What a document's `form` and `doc_type` mean, told once for every stage."""

from __future__ import annotations

import re

_BETWEEN_FORMS = re.compile(r"\s+and\s+|,\s*")
_PERSPECTIVES = {
    "form": "face",
    "filer_instructions": "filer",
    "recipient_instructions": "recipient",
    "publication": "publication",
    "statute": "statute",
}


def split_forms(form: str) -> tuple[str, ...]:
    """Name the single forms of a booklet: two in `W-2 and W-3`."""
    return tuple(part for part in _BETWEEN_FORMS.split(form.strip()) if part)


def find_perspective(doc_type: str) -> str:
    """Decide whom a document of a kind addresses where its headings say nothing else."""
    return _PERSPECTIVES.get(doc_type, "other")
