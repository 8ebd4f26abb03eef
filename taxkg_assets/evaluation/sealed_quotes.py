"""Gold quotes as digests, for questions over documents whose text cannot be published.

Such a question names document and page, and the length and digest of the quote's letters. Where a home has the document
the quote is found again in its text; else the question is skipped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from taxkg_assets.evaluation.matching import squash

Row = Mapping[str, Any]


def seal_passage(passage: Row) -> dict[str, Any]:
    """Replace the quote of a gold passage by its length and digest.

    Args:
        passage: Gold passage with `quote`.

    Returns:
        The passage with `letters` and `digest` instead of `quote`.
    """
    letters = squash(passage["quote"])
    other_fields = {name: value for name, value in passage.items() if name != "quote"}
    return {**other_fields, "letters": len(letters), "digest": _digest(letters)}


def open_question(question: Row, texts: Mapping[str, Sequence[tuple[int, str]]]) -> tuple[dict[str, Any], str]:
    """Restore the quotes of a question with sealed gold from the documents of a home.

    Args:
        question: Question with sealed gold.
        texts: By document the page and text of each paragraph, as in `sections`.

    Returns:
        The question with the quotes that were found, and the reason to skip it, which is empty if all were found.
    """
    passages, reasons = [], []
    for passage in question["gold"]:
        document, page = passage["document"], passage["page"]
        if document not in texts:
            reasons.append(f"not in the library: {document}")
            continue
        page_texts = [text for page_number, text in texts[document] if page - 1 <= page_number <= page]
        quote = find_quote(page_texts, letters=passage["letters"], digest=passage["digest"])
        if quote is None:
            reasons.append(f"no text of {document}, page {page}, has the digest {passage['digest'][:8]}")
        else:
            other_fields = {name: value for name, value in passage.items() if name not in ("letters", "digest")}
            passages.append({**other_fields, "quote": quote})
    return {**question, "gold": passages}, "; ".join(dict.fromkeys(reasons))


def find_quote(texts: Iterable[str], *, letters: int, digest: str) -> str | None:
    """Find the first range of a text whose letters have a given number and digest.

    Args:
        texts: Texts to search.
        letters: Number of letters.
        digest: SHA-256 of the letters.

    Returns:
        The range as printed; None where no text has it.
    """
    for text in texts:
        letter_positions = [(ix, letter) for ix, sign in enumerate(text) for letter in squash(sign)]
        all_letters = "".join(letter for _, letter in letter_positions)
        for start in range(len(all_letters) - letters + 1):
            if _digest(all_letters[start : start + letters]) == digest:
                return text[letter_positions[start][0] : letter_positions[start + letters - 1][0] + 1]
    return None


def _digest(letters: str) -> str:
    return hashlib.sha256(letters.encode()).hexdigest()
