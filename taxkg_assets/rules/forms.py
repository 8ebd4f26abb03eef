"""Meaning of a document's `form` and `doc_type`, for all stages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

_BETWEEN_FORMS = re.compile(r"\s+and\s+|,\s*")
_SPELLED_IN_WAYS = {"form", "publication", "pub", "schedule", "misc"}
_PERSPECTIVES = {
    "form": "face",
    "filer_instructions": "filer",
    "recipient_instructions": "recipient",
    "publication": "publication",
    "statute": "statute",
}


@lru_cache(maxsize=10_000)
def split_forms(form: str) -> tuple[str, ...]:
    """Split the forms of a booklet: `W-2 and W-3` into two.

    Args:
        form: Column `form` of the table `documents`; may be empty.

    Returns:
        Forms in the order of the text.
    """
    return tuple(part for part in _BETWEEN_FORMS.split(form.strip()) if part)


def find_named_forms(forms: Iterable[str], text: str) -> tuple[str, ...]:
    """Find the forms that a text names.

    Args:
        forms: Forms to look for, such as `1099-DIV`.
        text: Text to search.

    Returns:
        Forms that the text names, in the order of `forms`.
    """
    lower_text = text.lower()
    return tuple(form for form in forms if _rarest_part(form) in lower_text and form_pattern(form).search(text))


@cache
def _rarest_part(form: str) -> str:
    """Return a word in lower case that every name of a form contains: its longest number, or else its longest word."""
    words = re.findall(r"[a-z]+|[0-9]+", re.sub(r"\(.*?\)", "", form.lower()))
    fixed_words = [word for word in words if word not in _SPELLED_IN_WAYS]
    return max(fixed_words, key=lambda word: (word.isdigit(), len(word)), default="")


@cache
def form_pattern(form: str) -> re.Pattern[str]:
    """Compile a pattern for all spellings of a form's name.

    Args:
        form: One form, such as `1099-DIV` or `Pub. 550`.

    Returns:
        Pattern that ignores case, except for the plural s.
    """
    form_name = re.sub(r"\s*\(.*?\)|^Form\s+", "", form).strip()
    prefix = "f?" if form_name[:1].isdigit() else ""
    if re.match(r"(?i)pub", form_name):
        prefix, form_name = r"(?:pub(?:lication|\.)?|p)\s*", re.sub(r"(?i)^pub\w*\.?\s*", "", form_name)
    elif re.match(r"(?i)schedule", form_name):
        prefix, form_name = r"(?:schedule|sche?d?\.?)\s*", re.sub(r"(?i)^schedule\s*", "", form_name)
    pieces = [re.escape(piece) for piece in re.split(r"[-\s]+", form_name) if piece]
    body = r"[-\s]?".join(pieces)
    if pieces[-1:] == ["MISC"]:
        body = body.removesuffix("MISC") + "(?:MISC|MSC)"
    return re.compile(rf"(?i)(?<![\w-]){prefix}{body}(?-i:['’]?s)?(?![\w-])")


def find_perspective(doc_type: str) -> str:
    """Return the default audience of a document type.

    Args:
        doc_type: Type of the document, such as `form` or `publication`.

    Returns:
        Perspective, such as `filer`; `other` for any other type.
    """
    return _PERSPECTIVES.get(doc_type, "other")
