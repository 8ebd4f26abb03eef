"""Gold quotes without their words: a digest identifies a stretch of a library's text.

Questions over documents that cannot be copied name a document, a page, and the digest and size of the quote's letters.
Where a home has the document, the quote is found again in its text; where it does not, the question is skipped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from taxkg_assets.evaluation.matching import squash

Row = Mapping[str, Any]


def seal_passage(passage: Row) -> dict[str, Any]:
    """Replace the quote of a gold passage by its digest and length, so that no document text is published.

    Args:
        passage: Gold passage with `quote`.

    Returns:
        The passage with `letters` and `digest`.
    """
    letters = squash(passage["quote"])
    kept = {name: value for name, value in passage.items() if name != "quote"}
    return {**kept, "letters": len(letters), "digest": _digest(letters)}


def open_question(question: Row, texts: Mapping[str, Sequence[tuple[int, str]]]) -> tuple[dict[str, Any], str]:
    """Restore the quotes of a question with sealed gold from the documents of a home.

    Args:
        question: Question with sealed gold.
        texts: Page and text of every paragraph by document, as in a home's `sections`.

    Returns:
        The question with the quotes that were found, and the reason to skip it, empty where it can be used.
    """
    opened, failed = [], []
    for passage in question["gold"]:
        document, page = passage["document"], passage["page"]
        if document not in texts:
            failed.append(f"not in the library: {document}")
            continue
        near = [text for page_number, text in texts[document] if page - 1 <= page_number <= page]
        quote = find_quote(near, letters=passage["letters"], digest=passage["digest"])
        if quote is None:
            failed.append(f"no text of {document}, page {page}, has the digest {passage['digest'][:8]}")
        else:
            kept = {name: value for name, value in passage.items() if name not in ("letters", "digest")}
            opened.append({**kept, "quote": quote})
    return {**question, "gold": opened}, "; ".join(dict.fromkeys(failed))


def find_quote(texts: Iterable[str], *, letters: int, digest: str) -> str | None:
    """Find the first text range with a given number of letters and digest.

    Args:
        texts: Texts to search.
        letters: Number of letters.
        digest: SHA-256 of the letters.

    Returns:
        The stretch as printed; None where no text has it.
    """
    for text in texts:
        letters_at = [(ix, letter) for ix, sign in enumerate(text) for letter in squash(sign)]
        line = "".join(letter for _, letter in letters_at)
        for start in range(len(line) - letters + 1):
            if _digest(line[start : start + letters]) == digest:
                return text[letters_at[start][0] : letters_at[start + letters - 1][0] + 1]
    return None


def _digest(letters: str) -> str:
    return hashlib.sha256(letters.encode()).hexdigest()
