"""Which comparisons the report makes: what ran is compared, what is optional and did not run is named."""

from __future__ import annotations

from taxkg_assets.defs.evaluation import FULL, LEFT_OUT, WITHOUT_HYDE, WITHOUT_RERANKER, find_missing, find_steps

ALWAYS = {"bm25", "dense", "hybrid", FULL, *LEFT_OUT}


def test_no_two_comparisons_have_one_name() -> None:
    names = [step.component for step in find_steps({*ALWAYS, WITHOUT_HYDE, WITHOUT_RERANKER})]
    assert sorted(names) == sorted(set(names))


def test_optional_parts_that_did_not_run_are_named() -> None:
    assert "imagined passage" in find_missing(find_steps(ALWAYS))
    assert "reranker" in find_missing(find_steps(ALWAYS))


def test_an_imagined_passage_is_compared_before_a_rerankers_look() -> None:
    steps = {step.component: step for step in find_steps({*ALWAYS, WITHOUT_HYDE})}
    assert (steps["imagined passage"].system_without, steps["imagined passage"].system_with) == (WITHOUT_HYDE, FULL)
    steps = {step.component: step for step in find_steps({*ALWAYS, WITHOUT_HYDE, WITHOUT_RERANKER})}
    assert steps["imagined passage"].system_with == WITHOUT_RERANKER
