"""Gold without the words of the documents: sealed, found again in a library, else skipped with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from taxkg_assets.evaluation.sealed_quotes import open_question, seal_passage

QUOTE = "A barn’s rent isn't income, unless the tenant repays $1,200 of it."
FOLDER = Path(__file__).resolve().parents[2] / "data" / "library_eval"


def sealed() -> dict[str, Any]:
    passage = {"document": "z--2024", "page": 3, "quote": QUOTE, "grade": 3}
    return {"id": "q", "query": "barn?", "type": "concept", "gold": [seal_passage(passage)]}


def test_a_sealed_passage_has_no_words_of_its_quote() -> None:
    text = json.dumps(sealed())
    assert not any(word in text for word in ("rent", "income", "tenant", "1,200"))


@pytest.mark.parametrize("page", [2, 3])
def test_a_quote_is_found_again_inside_the_text_of_its_page_or_one_that_began_before_it(page: int) -> None:
    text = f"Before. {QUOTE.replace(' ', '  ').replace('’', chr(39))} Behind."
    question, reason = open_question(sealed(), {"z--2024": [(1, "Else."), (page, text)]})
    assert reason == ""
    assert question["gold"][0]["quote"].startswith("A  barn's")
    assert question["gold"][0]["quote"].endswith("it")
    assert question["gold"][0]["grade"] == 3


def test_a_question_is_skipped_with_a_reason_where_document_or_text_is_missing() -> None:
    assert open_question(sealed(), {})[1] == "not in the library: z--2024"
    changed = QUOTE.replace("1,200", "1,300")
    assert "has the digest" in open_question(sealed(), {"z--2024": [(3, changed)]})[1]
    assert "has the digest" in open_question(sealed(), {"z--2024": [(7, QUOTE)]})[1]


def test_no_document_family_is_in_both_halves_and_no_quote_is_kept() -> None:
    halves = {}
    for half in ("development", "check"):
        rows = [json.loads(line) for line in (FOLDER / f"{half}.jsonl").read_text(encoding="utf8").splitlines()]
        assert rows
        assert not any("quote" in passage for row in rows for passage in row["gold"])
        halves[half] = {passage["document"].split("--")[0].lstrip("fi") for row in rows for passage in row["gold"]}
        cells = [json.loads(line) for line in (FOLDER / f"table_{half}.jsonl").read_text(encoding="utf8").splitlines()]
        assert all(row["row"] and row["column"] and row["value"] for row in cells)
        halves[half] |= {row["document"].split("--")[0].lstrip("fi") for row in cells}
    assert halves["development"].isdisjoint(halves["check"])
