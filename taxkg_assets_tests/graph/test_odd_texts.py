"""Whatever a label, heading or sentence prints, its readers return: one odd text must not stop a whole library."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from taxkg_assets.graph.arithmetic.keys import expand_range
from taxkg_assets.graph.arithmetic.statement import read_statement
from taxkg_assets.graph.explanations import _covers, _read_names
from taxkg_assets.graph.flow_clauses import read_clauses
from taxkg_assets.graph.flow_context import Said
from taxkg_assets.graph.flow_labels import read_label_statements
from taxkg_assets.graph.flow_lists import (
    find_listed_form,
    introduces_list,
    introduces_sources,
    read_lead_in,
    read_source_item,
)
from taxkg_assets.graph.flow_statements import read_code, read_heading, read_item, read_passage
from taxkg_assets.graph.flow_topics import list_topic
from taxkg_assets.graph.flow_words import _vocabulary, read_words
from taxkg_assets.graph.named_amounts import read_placed_amounts
from taxkg_assets.graph.places import find_places, mask
from taxkg_assets.graph.resolution import expand_key
from taxkg_assets.graph.text_diff import classify_nature, read_wording
from tools.rule_switch import every_rule


@pytest.fixture(autouse=True, scope="module")
def _with_every_rule() -> Iterator[None]:
    """Rules with little support are off, but their reading is tested."""
    with every_rule():
        yield


TEXTS = 300
"""Made texts, each of which goes through all readers."""
PLACES = """line 3|lines 1 and 2|lines 3 through 1|lines 1 through 99|line ²|line 3½|line ٣|lines a through z|Part II
Part|box 1a of Form 2099-INT|box 12, code D|column (d)|Form 2040, line 3b|Form 2889, Part II, line 2, column (g)
Schedule|Schedule B, line 4|Schedules 1 and 2|Schedule K-1 (Form 2065), box 1|that form, line 4|this line|Form|boxes
the “Other dues” line of your tax return|line 99999999999999999999"""
MARKS = """. , ; : ( ) " “ ” — – - % $ / § ½ ² ٣ ... (a) -0- 20% (0.20) $2,200 1/0 0 99999% x I N n’t ’ ⟨ ⟩ ⟨0⟩ ⟨9__⟩
⟪_⟫ • İ ß ﬁ שנה سنة année 年 12"""
KEYWORDS = "year years Year Years whichever that excess box portion same as with in instead also otherwise"
WHOLE = ["", " ", "a", "I", "7", "7.", "•", "• ", ".", "²", "½", "٣", "(", "“", "YEAR", "Year", "Years", "Year of", "—"]
LONG = ["x" * 5000, "line 3 " * 60, "( " * 300, "Year " * 300, "enter " * 300, "1 " * 300, "Lines 1 to " + "9" * 5000]


def _make_texts(seed: int) -> Iterator[str]:
    """Make texts from words of each kind, places and marks, in any order."""
    pick = random.Random(seed)
    words: dict[str, list[str]] = defaultdict(list)
    for word, (letter, _) in _vocabulary().items():
        words[letter].append(word)
    kinds = [sorted(words[letter]) for letter in sorted(words)]
    pools = [PLACES.replace("\n", "|").split("|"), MARKS.split(), KEYWORDS.split()]
    yield from WHOLE
    yield from LONG
    for first in (pool[0] for pool in (*kinds, *pools)):  # begins with each kind of word
        yield f"{first.capitalize()} of line 3 on Form 2040, line 4."
    for _ in range(TEXTS):
        # Two of three words are of the vocabulary, one of three is a place, a mark or a keyword.
        pool_of_word = (
            pick.choice(pick.choice((kinds, kinds, pools))) for _ in range(pick.choice((1, 2, 3, 6, 12, 25)))
        )
        text = pick.choice((" ", " ", "  ", ", ", "")).join(pick.choice(pool) for pool in pool_of_word)
        change = pick.choice((str, str.capitalize, str.upper, str.title))
        yield change(text) + pick.choice(("", ".", ":", ". Enter it on line 4."))


def _list_readers() -> dict[str, Callable[[str], object]]:
    """List the readers of labels, headings, sentences and list items."""
    readers: dict[str, Callable[[str], object]] = {
        "label": read_label_statements,
        "heading": lambda text: (list(read_heading(text)), list_topic(text)),
        "topic": lambda text: read_clauses("Include your dues on line 4.", heading_kind="lines", topic=text),
        "list": lambda text: (introduces_list(text), introduces_sources(text), find_listed_form(text)),
        "item": lambda text: (list(read_item(text, source=None)), read_source_item(text, forms=("2040",))),
        "code": read_code,
        "formula": read_statement,
        "places": lambda text: find_places(text, columns=True, before=text),
        "amounts": read_placed_amounts,
        "names": lambda text: [_covers(span, "3a") for span in _read_names(text)[0]],
        "keys": lambda text: expand_key(f"boxes_{text[:20]}-{text[-20:]}"),
        "changes": lambda text: (read_wording(text), classify_nature(text, "Add the dues of both boats")),
    }
    for kind in ("boxes", "given", "lines", ""):
        readers[f"clauses of {kind}"] = partial(read_clauses, heading_kind=kind, said=Said())
        readers[f"passage of {kind}"] = partial(read_passage, heading_kind=kind)
        readers[f"lead of {kind}"] = partial(read_lead_in, heading_kind=kind)
    return readers


def test_no_text_stops_its_readers() -> None:
    readers = _list_readers()
    faults: dict[str, str] = {}
    for text in _make_texts(2040):
        for name, read in readers.items():
            try:
                read(text)
            except Exception as fault:  # all of them are listed
                faults.setdefault(f"{name}: {fault!r}", text[:200])
    assert faults == {}


@pytest.mark.parametrize(
    ("text", "tags"),
    [("Year", "A"), ("Years", "A"), ("Year you first sailed", "A"), ("Tax year you first sailed", "AA")],
)
def test_each_word_has_one_letter_where_a_year_begins_the_text(text: str, tags: str) -> None:
    words = read_words(text)
    assert len(words.tags) == len(words.lemmas) == len(text.split())
    assert words.tags.startswith(tags)


def test_a_sentence_after_a_year_is_read() -> None:
    (read,) = read_clauses("Year of sale. Report the dues from line 4 on Form 2040, line 7.", heading_kind="lines")
    assert (read.source and read.source.keys, read.target and read.target.keys) == (("4",), ("7",))
    assert list_topic("Year of sale") == frozenset({"sale"})
    assert read_label_statements("Year you first moored at Form 2040, line 3") == []


def test_the_marks_of_a_masked_place_are_not_those_that_a_document_prints() -> None:
    text = "Enter ⟨9⟩ from line 4 on Form 2040, line 7."
    masked = mask(text, find_places(text))
    assert len(masked) == len(text)
    assert masked.count("⟨") == 2
    assert masked.startswith("Enter (9) from ⟨0")


def test_a_range_with_an_end_that_no_form_has_names_no_line() -> None:
    assert expand_range("1", "9" * 5000, {"1": [(0.0, 9.0)]}) == []
