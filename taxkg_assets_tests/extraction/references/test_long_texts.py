"""A text without full stops is read in time that grows with its length: no work compares all of it with all of it."""

from __future__ import annotations

import random

import pytest

from taxkg_assets.extraction.references.mentions import Headings, _TakenRanges, find_mentions
from taxkg_assets.extraction.references.references import build_references
from taxkg_assets.extraction.structure.identity import Identity
from taxkg_assets.rules.models.sentences import load_sentences
from taxkg_assets.schemas import Anchors, Sections
from taxkg_assets_tests.extraction.references.test_references import _section

_BOOKLET = Identity("i9zzz", "9-ZZZ", "filer_instructions", "2031-01", None, False, "Instructions", "")


@pytest.mark.parametrize("words", ["the toll on line 3 of Form 9999 and ", "see line 7 and box 2 of the pier "])
def test_the_evidence_of_a_mention_is_no_longer_than_a_sentence(words: str) -> None:
    limit = load_sentences().most_characters
    text = words * (3 * limit // len(words))
    frame = Sections.cast(Sections.sample(overrides=[_section(0, text, anchor_id=None)]))
    references = build_references(frame, Anchors.create_empty(), identity=_BOOKLET)
    assert references.height >= 3, "each part of the text has its own"
    assert max(map(len, references["evidence"])) <= limit


def test_a_line_far_from_its_form_is_read_as_one_next_to_it() -> None:
    text = "the toll on Form 9999, line 3, and " * 600
    lines = [mention for mention in find_mentions(text, headings=Headings({})) if mention.kind == "line"]
    assert len(lines) == 600
    assert {mention.target_form for mention in lines} == {"9999"}


def test_ranges_are_found_as_by_comparing_with_each() -> None:
    source = random.Random(5)
    taken_ranges, ranges = _TakenRanges([(0, 40)]), [(0, 40)]
    for _ in range(500):
        start = source.randrange(2000)
        end = start + source.randrange(1, 30)
        assert taken_ranges.overlap(start, end) == any(low < end and start < high for low, high in ranges)
        if source.random() < 0.3:
            taken_ranges.add(start, end)
            ranges.append((start, end))
