"""A text is covered as a whole or sentence by sentence, and the search of its sentences grows with its length only."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from taxkg_assets import schemas
from taxkg_assets.chunking.coverage import find_documents_without_passages, is_covered
from taxkg_assets.rules.models.chunking import load_chunking

CALLS = [0]


class CountedText(str):
    """A text that counts the comparisons with it."""

    __slots__ = ()

    def __contains__(self, part: object) -> bool:
        CALLS[0] += 1
        return str.__contains__(self, part)  # type: ignore[arg-type]

    def endswith(self, *parts: object) -> bool:  # type: ignore[override]
        """Count the comparison, and return whether the text ends so."""
        CALLS[0] += 1
        return str.endswith(self, *parts)  # type: ignore[arg-type]

    def startswith(self, *parts: object) -> bool:  # type: ignore[override]
        """Count the comparison, and return whether the text begins so."""
        CALLS[0] += 1
        return str.startswith(self, *parts)  # type: ignore[arg-type]


def _count_comparisons(text: str, *, words: int) -> int:
    """Return how many comparisons it takes to find a text in chunks of some words."""
    parts = text.split()
    chunks: list[str] = [CountedText(" ".join(parts[ix : ix + words])) for ix in range(0, len(parts), words)]
    CALLS[0] = 0
    assert is_covered(text, chunks)
    return CALLS[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda count: "pier " * (200 * count),
        lambda count: " ".join(f"Boat {n} pays a toll of the harbor." for n in range(20 * count)),
        lambda count: " ".join(f"pier{n}" for n in range(200 * count)),
    ],
    ids=["one word", "sentences", "no full stop"],
)
@pytest.mark.parametrize("more_words", [0, 37])
def test_the_work_grows_with_the_length_of_the_text(make: Callable[[int], str], more_words: int) -> None:
    words = load_chunking().sizes.max_words + more_words
    few, many = (_count_comparisons(make(count).strip(), words=words) for count in (20, 80))
    assert many < 5 * few


def test_a_sentence_is_found_in_any_chunk_and_across_two() -> None:
    text = "The pilot waits. The tide turns at noon. Each boat pays."
    assert is_covered(text, ["Each boat pays.", "The tide turns at noon.", "The pilot waits."])
    assert is_covered(text, ["The pilot waits. The tide", "Another subject.", "turns at noon. Each boat pays."])
    assert not is_covered(text, ["The pilot waits. The tide", "at noon. Each boat pays."])
    assert not is_covered(text, ["The pilot waits. Each boat pays."])
    assert not is_covered(text, None)


def test_a_document_of_which_no_passage_is_accepted_has_none() -> None:
    documents = schemas.Documents.sample(overrides=[{"document_id": name, "page_count": 2} for name in "abc"])
    chunks = schemas.Chunks.sample(
        overrides=[
            {"chunk_id": f"c{ix}", "document_id": name, "status": status}
            for ix, (name, status) in enumerate([("a", "accepted"), ("b", "rejected")])
        ]
    )
    assert find_documents_without_passages(documents, chunks).rows() == [("b", 2), ("c", 2)]
