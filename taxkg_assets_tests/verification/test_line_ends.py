"""Lines and boxes with the form that is named next to them."""

from __future__ import annotations

import pytest

from taxkg_assets.verification.line_ends import find_ends
from taxkg_assets_tests.verification.words import LANGUAGE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Line 3 of the 2031 Form 9999 goes to line 5.", [("line_3", "9999"), ("line_5", "")]),
        ("Enter it on Form 9999, line 3.", [("line_3", "9999")]),
        ("Form 9999 (2031), Part II, line 3 is blank.", [("line_3", "9999")]),
        ("Report box 2a on Schedule D, line 13.", [("box_2a", ""), ("line_13", "Schedule D")]),
        ("Add the amounts of Form 9999, lines 4 and 5.", [("line_4", "9999"), ("line_5", "9999")]),
        ("Per the Form 9999 instructions, line 3 of Schedule 1 is blank.", [("line_3", "Schedule 1")]),
    ],
)
def test_a_line_has_the_form_that_is_named_next_to_it(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(own.key, own.form) for own in find_ends(text, language=LANGUAGE)] == expected
