"""Short names of documents and of their headings, with as many headings as needed to be unambiguous."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taxkg_assets.rules.models.training import load_training
from taxkg_assets.training.corpus import Corpus, strip_key

_SCHEDULE = re.compile(r"^(Schedule \w+) \((Form [\w-]+)\)$")
_FORM_NUMBER = re.compile(r"^(?:Form )?(?=[\dW])")


def name_form(form: str) -> str:
    """Return the name of a form in running text: `Form 1099-DIV`, `Schedule B`, `Pub. 525`.

    Args:
        form: Forms of a document, as in `documents.form`; the first one is named.
    """
    if not form:
        return ""
    schedule = _SCHEDULE.match(form)
    if schedule:
        return schedule[1]
    return f"Form {form}" if _FORM_NUMBER.match(form) else form


def name_document(corpus: Corpus, document_id: str) -> str:
    """Return a document's name in running text: its title up to the revision, the year or a dash.

    Args:
        corpus: Corpus with the document's node.
        document_id: The document.
    """
    node = corpus.nodes[document_id]
    return re.split(r"\s+(?:\((?:Rev\.|\d{4})|—)", node.text)[0]


def name_anchor(corpus: Corpus, anchor_id: str) -> str:
    """Return an anchor's name in a query: form and key of a box, one or two headings of anything else.

    Args:
        corpus: Corpus with the anchor.
        anchor_id: Anchor that owns at least one passage.

    Returns:
        Name; empty if the heading identifies nothing, e.g. the label of an example or a note.
    """
    node = corpus.nodes[anchor_id]
    form = name_form(corpus.passages[corpus.chunks_by_anchor[anchor_id][0]].form)
    label = corpus.anchor_label(anchor_id)
    kind, _, number = (node.anchor_key or "").partition("_")
    prints_key = strip_key(node.text) != node.text.strip(" .:—–-")
    if kind in ("box", "boxes", "line", "step", "code") and prints_key:
        suffix = "" if label.lower().startswith(kind) else f" {label}"
        return f"{form} {kind} {number}{suffix}".strip()
    if load_training().empty_headings.matches(label):
        return ""
    headings = [strip_key(heading) for heading in node.heading_path.split(" > ")[1:]]
    return ", ".join(filter(None, [form, *_qualify(label, headings)]))


def _qualify(label: str, headings: Sequence[str]) -> list[str]:
    """Return the label of a heading, preceded by its parent heading where it is short."""
    parents = [heading for heading in headings if heading and heading != label]
    is_short = len(label.split()) <= load_training().query.short_heading_words
    return [*parents[-1:], label] if is_short else [label]
