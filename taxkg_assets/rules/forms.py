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


def form_pattern(form: str) -> re.Pattern[str]:
    """Make the pattern by which people name a form: '1099div', 'f1099div', 'Form 1099 DIV', 'W-2s', 'publication 15T'.

    The plural's s is a small one: a capital S is a form's own letter (W-4S).
    """
    plain = re.sub(r"\s*\(.*?\)|^Form\s+", "", form).strip()
    prefix = "f?" if plain[:1].isdigit() else ""
    if re.match(r"(?i)pub", plain):
        prefix, plain = r"(?:pub(?:lication|\.)?|p)\s*", re.sub(r"(?i)^pub\w*\.?\s*", "", plain)
    elif re.match(r"(?i)schedule", plain):
        prefix, plain = r"(?:schedule|sche?d?\.?)\s*", re.sub(r"(?i)^schedule\s*", "", plain)
    pieces = [re.escape(piece) for piece in re.split(r"[-\s]+", plain) if piece]
    body = r"[-\s]?".join(pieces)
    if pieces[-1:] == ["MISC"]:
        body = body.removesuffix("MISC") + "(?:MISC|MSC)"
    return re.compile(rf"(?i)(?<![\w-]){prefix}{body}(?-i:['’]?s)?(?![\w-])")


def find_perspective(doc_type: str) -> str:
    """Decide whom a document of a kind addresses where its headings say nothing else."""
    return _PERSPECTIVES.get(doc_type, "other")
