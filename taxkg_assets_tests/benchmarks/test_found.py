"""One typing error a question, and a table with the gain of each part."""

from __future__ import annotations

import random
from pathlib import Path

from benchmarks.found import Figure, Report, misspell
from taxkg_assets.retrieval.index.bm25 import build_lexical


def test_a_question_gets_one_error_in_its_rarest_printed_word() -> None:
    lexical = build_lexical([["harbor"], ["harbor"], ["harbor", "ledger"]])
    for seed in range(20):
        query, wrong, *more = misspell("harbor ledger and unknown", lexical, draw=random.Random(seed)).split(" ", 2)
        assert (query, more) == ("harbor", ["and unknown"])
        assert wrong != "ledger"
        assert (wrong[0], wrong[-1]) == ("l", "r") or sorted(wrong) == sorted("ledger")
    assert misspell("no such words", lexical, draw=random.Random(0)) == "no such words"


def test_the_table_shows_the_gain_of_a_part(tmp_path: Path) -> None:
    whole = Figure("check", "as asked", "", "mrr", 0.5, None, 4)
    less = Figure("check", "as asked", "typos", "mrr", 0.25, (0.25, 0.125, 0.5), 4)
    text = Report([whole, less]).write(tmp_path)
    assert "| check | as asked |  | mrr | 0.500 |  | 4 |" in text
    assert "| check | as asked | typos | mrr | 0.250 | +0.250 (+0.125 to +0.500) | 4 |" in text
    assert (tmp_path / "found.md").read_text(encoding="utf8") == text
