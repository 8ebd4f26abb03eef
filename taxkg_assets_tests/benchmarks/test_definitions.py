"""Terms that an index calls defined, however it says so."""

from __future__ import annotations

from benchmarks.definitions import find_defined_terms


def test_terms_are_read_from_entries_and_subentries() -> None:
    entries = [
        ("p1--2031", "Berth, defined", None, 3),
        ("p1--2031", "Berths", "Defined", 4),
        ("p1--2031", "Definitions", "Hull (of a boat)", 5),
        ("p1--2031", "Rent", "Barge rent, defined", 6),
        ("p1--2031", "Rent", "Late payment", 7),
        ("p1--2031", "Keel, defined", None, None),
        ("p1--2031", None, "Definition of", 8),
    ]
    assert find_defined_terms(entries) == {
        "Barge rent": {("p1--2031", 6)},
        "Berth": {("p1--2031", 3)},
        "Hull": {("p1--2031", 5)},
    }
