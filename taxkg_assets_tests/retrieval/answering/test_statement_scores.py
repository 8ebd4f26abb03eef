"""Which statements an answer takes after its first one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from taxkg_assets.retrieval.answering.excerpt import choose_units, repeats
from taxkg_assets.retrieval.answering.statement_scores import find_figures, rank_statements
from taxkg_assets.retrieval.answering.statements import Statement
from taxkg_assets.retrieval.answering.units import draft_unit
from taxkg_assets.retrieval.index.passage_context import open_contexts
from taxkg_assets_tests.retrieval.answering.conftest import Section, make_facts, state
from tools.rule_switch import every_rule


def read_all(*sections: Section, level: str = "paragraph", documents: Sequence[str] = ()) -> list[Statement]:
    """All statements of some sections, each section a passage of its own."""
    facts = make_facts(*sections, level=level, documents=documents)
    opened = open_contexts(range(facts.rows.height), facts)
    contexts = list({id(context): context for context in opened.values()}.values())
    return [own for context in contexts for own in state(context)]


def rank(statements: Sequence[Statement], worth: Sequence[float]) -> list[str]:
    """The texts of chosen statements, in the order of choice."""
    chosen = rank_statements(statements, dict(enumerate(worth)), required=(), term_idf={})
    return [statements[place].text for place in chosen]


RENT = "Rent of a berth is due before the first day of the season in May."


@pytest.mark.parametrize(
    ("second", "is_reported"),
    [
        ("Rent of a berth is due before the first day of the season.", False),
        ("Rent of a berth is due 30 days before the first day of the season.", True),
        ("Rent of a berth of $900 is due before the first day of the season.", True),
    ],
)
def test_what_prints_another_figure_repeats_nothing(second: str, is_reported: bool) -> None:
    found = rank(read_all(("Rent", [RENT]), ("Fees", [second])), [1.0, 0.9])
    assert (second in found) == is_reported


def test_a_new_but_poor_statement_does_not_end_the_choice() -> None:
    poor = "Barns with tarred roofs, painted doors, iron gates and copper drains burn slowly."
    good = "Guests pay half of the rent of the season at the gate of the harbor."
    found = rank(read_all(("Rent", [RENT]), ("Barns", [poor]), ("Guests", [good])), [1.0, 0.56, 0.6])
    assert found == [RENT, good]


@pytest.mark.parametrize(("document", "is_reported"), [("z--2031", True), ("y--2031", False)])
def test_a_statement_of_another_document_must_be_better(document: str, is_reported: bool) -> None:
    good = "Guests pay half of the rent of the season at the gate of the harbor."
    found = rank(read_all(("Rent", [RENT]), ("Guests", [good]), documents=["z--2031", document]), [1.0, 0.6])
    assert (good in found) == is_reported


def test_where_no_statement_is_worth_anything_the_best_is_still_reported() -> None:
    assert rank(read_all(("Rent", [RENT])), [-0.2]) == [RENT]


def test_a_row_of_another_table_is_reported_and_a_further_row_of_the_same_is_not() -> None:
    one = ("Rates", ["Table 1. Rent", "Length| Rent", "12 feet| $40", "20 feet| $60"])
    other = ("Fees", ["Table 2. Fees", "Boat| Fee", "Sloop| $7", "Ketch| $9"])
    statements = read_all(one, other, level="table")
    found = rank(statements, [1.0 if "12 feet" in own.text else 0.8 for own in statements])
    assert [row.split("|")[0] for row in found] == ["12 feet", "Sloop"]


def test_a_unit_is_repeated_by_one_other_unit_not_by_several_together() -> None:
    passages = (
        ("Rent", ["Rent of a berth is due in May."]),
        ("Guests", ["Guests pay half of the fee."]),
        ("Both", ["Guests pay half of the rent of a berth in May."]),
        ("Fees", ["Rent of a berth is due in May, but guests pay half of the fee."]),
    )
    drafts = [draft_unit(own, score=1.0, with_paragraph=False) for own in read_all(*passages)]
    for passage, draft in enumerate(drafts):
        draft.passage = passage
    first, second, both, whole = drafts
    assert not repeats(both, [first, second])
    assert repeats(second, [first, whole])


def test_figures_are_amounts_and_numbers_not_keys() -> None:
    assert find_figures(["1,200", "30", "box_3", "w-2", "rent"]) == frozenset({"1,200", "30"})


def test_what_ends_in_the_past_is_expired_with_what_it_announces() -> None:
    past = "On and after May first, nineteen hundred seventy until and including June, nineteen hundred eighty:"
    with every_rule():  # the rule is off for lack of evidence
        found = read_all(("Toll", [past, "A barge pays $4 a day at the gate.", "A ferry pays $9 a day at the gate."]))
    assert [own.is_expired for own in found] == [True, True, False]


@pytest.mark.parametrize(
    ("quoted_count", "rest", "is_whole"),
    [
        (1, " of the harbor", True),
        (1, " of the harbor, which is due on the day that the skipper signs for it", False),
        (3, " of the harbor, which is due on the day that the skipper signs for it", True),
    ],
)
def test_a_list_is_quoted_whole_if_it_is_short_or_mostly_quoted(quoted_count: int, rest: str, is_whole: bool) -> None:
    items = [f"• Guests of pier {number}: the rent that is printed on sheet {number}{rest}" for number in range(5)]
    statements = read_all(("Rent", ["Enter the rent of the season, which is found as follows.", *items]))
    chosen = [ix for ix, statement in enumerate(statements) if statement.text.startswith("• ")][:quoted_count]
    (draft,) = choose_units(statements, dict.fromkeys(chosen, 1.0), order=chosen)
    assert (len({line_ix for line_ix, _ in draft.refs}) == len(items) + 1) == is_whole
