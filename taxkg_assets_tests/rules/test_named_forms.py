"""Forms that a question names, with and without compiling their patterns."""

from __future__ import annotations

import pytest

from taxkg_assets.rules.forms import find_named_forms, form_pattern

FORMS = ("1099-DIV", "1099-MISC", "W-2", "W-2G", "Schedule SE", "Publication 15-T", "1040 (NR)", "Form 8949")


@pytest.mark.parametrize(
    "text",
    ["1099div", "my 1099 MSC", "W2s and w-2g", "schedule se", "pub. 15T", "Form 1040", "f8949", "a wage statement"],
)
def test_the_rarest_part_rules_out_no_form_that_a_text_names(text: str) -> None:
    assert find_named_forms(FORMS, text) == tuple(form for form in FORMS if form_pattern(form).search(text))
