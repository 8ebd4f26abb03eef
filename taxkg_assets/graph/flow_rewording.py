"""Wordings that say the same in other words, written at the same length in words that the grammar of clauses reads.

`Your deduction is on ⟨0⟩, which you claim on ⟨1⟩` becomes `...; claim it on ⟨1⟩`. Places keep their offsets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MODAL = r"(?:(?:can|will|may|must|should) (?:then )?)?"
_PLACE = r"(?:(?:your|the) )?⟨"
_ENTERED = r"(?:enter|report|include|claim|deduct)"


@dataclass(frozen=True, slots=True)
class _Rewording:
    """A wording and its replacement: `head`, as many blanks as keep the length, and `tail`.

    Each match contains one of `words`, so that most sentences need no search.
    """

    words: tuple[str, ...]
    pattern: re.Pattern[str]
    head: str
    tail: str

    def write(self, match: re.Match[str]) -> str:
        """Return the replacement for a match, padded to its length; the match itself if the replacement is longer."""
        head, tail = match.expand(self.head), match.expand(self.tail)
        blanks = len(match[0]) - len(head) - len(tail)
        return f"{head}{' ' * blanks}{tail}" if blanks >= 0 else match[0]


_ENTERED_HERE = ("amount to enter", "amount you", "amount that you", "for this line is")
_REWORDINGS = (
    _Rewording(
        (", which you",),
        re.compile(rf", which you {_MODAL}(?P<verb>{_ENTERED}|carry|list|take) (?P<to>on|to|in) (?={_PLACE})"),
        ";",
        r" \g<verb> it \g<to> ",
    ),
    _Rewording(
        ("part of the total",),
        re.compile(
            rf"\b(?P<be>is|are) (?P<also>also )?(?:a )?part of the total (?:you (?:enter|report) )?on (?={_PLACE})"
        ),
        r"\g<be> included",
        " on ",
    ),
    _Rewording(
        ("figured this amount", "find this amount", "computed this amount", "determined this amount"),
        re.compile(
            r"\b[Yy]ou (?:(?:can|will|may|should|have|already|also) )*(?:find|figured|computed|determined) this amount"
            rf" (?P<on>on|in) (?={_PLACE})"
        ),
        "This is",
        r" the amount \g<on> ",
    ),
    _Rewording(
        (*_ENTERED_HERE, "amount to report", "t is the same amount"),
        re.compile(
            r"(?:^|(?<=, ))(?:[Tt]he amount (?:(?:to (?:enter|report)|(?:that )?you (?:should )?(?:enter|report))"
            r"(?: here| on this line)?|for this line) is|[Ii]t is the same amount that is)"
            rf" (?P<on>on|in) (?={_PLACE})"
        ),
        "This is",
        r" the amount \g<on> ",
    ),
    _Rewording(
        _ENTERED_HERE,
        re.compile(
            r"(?:^|(?<=, ))[Tt]he amount (?:(?:to enter|(?:that )?you (?:should )?enter)(?: here| on this line)?"
            r"|for this line) is (?=the )"
        ),
        "This is",
        " ",
    ),
    _Rewording(
        ("the same ",),
        re.compile(
            r"^(?:The amount (?:on|of) this line|This (?:line|amount)) (?:(?:should|must|will) )?"
            rf"(?:is|be|shows?) the same (?:amount )?as (?:the amount (?:shown )?on )?(?={_PLACE})"
        ),
        "This is",
        " the amount on ",
    ),
    _Rewording(("a negative", "a positive"), re.compile(r" as an? (?:negative|positive) (?:amount|number)\b"), "", ""),
    _Rewording(
        ("from this line", "of this line", "for this line"),
        re.compile(r"\b(?P<to>from|of|for) this line (?=(?:on|to) )"),
        "on this line",
        " ",
    ),
    _Rewording(
        (" to complete ",),
        re.compile(rf"\b[Uu]se (?P<what>(?:this|that) amount|it) to complete (?={_PLACE})"),
        r"Put \g<what>",
        " on ",
    ),
)


_ANY_WORDS = re.compile("|".join(sorted({word for rewording in _REWORDINGS for word in rewording.words})))


_OTHER_YEAR = re.compile(r"\b(?:last|prior|previous|earlier|preceding) (?:tax )?years?\b|\bof your (?:19|20)\d\d\b")
"""Sentence on another year, whose amounts do not go to lines of this one."""


def reword(masked: str) -> str:
    """Replace wordings of a sentence by standard ones of the same meaning and length.

    Args:
        masked: The sentence, its places masked.

    Returns:
        A text of the same length, with its places where they were.
    """
    if _ANY_WORDS.search(masked) is None or _OTHER_YEAR.search(masked):
        return masked
    for rewording in _REWORDINGS:
        if any(word in masked for word in rewording.words):
            masked = rewording.pattern.sub(rewording.write, masked)
    return masked


_BOTH = 2
_BE = r"(?:is|are|equals|(?:should|must|will) (?:be|equal))"
_TOTAL = r"(?:combined )?(?:total|sum) of (?:all )?(?:of )?(?:(?:the|your) )?"
_AMOUNT_ON = (
    rf"(?:the (?:same )?(?:total )?(?:{_TOTAL})?amounts? (?:that (?:is|was|are|were) )?"
    rf"(?:shown |reported |entered |figured |computed )?(?:on|in|from)|from|the {_TOTAL})"
)
_LESS_THAN_ALL = r"[^⟨⟩.;]*\b(?:not|n't|excess|more than|less than|other|remaining|except)\b"
_SUBJECT = rf"^\W*(?:The|Any) (?:total )?amount(?: of (?!{_LESS_THAN_ALL})[^⟨⟩.;]{{3,40}}?)?"
_TO = r"(?:your )?⟨(?P<to{0}>\d+)_*⟩,?"
_FROM = r"(?:your )?⟨(?P<from{0}>\d+)_*⟩\W*$"
_SAME_AMOUNT = re.compile(
    rf"(?:{_SUBJECT}(?: {_ENTERED}e?d)? (?:on|in) |^\W*){_TO.format(1)} (?:{_BE} {_AMOUNT_ON}"
    rf"|is (?:carried|transferred|taken|brought)(?: over| forward)? from|comes from"
    rf"|includes (?:the|any) amount (?:on|in|from)) ?{_FROM.format(1)}"
    rf"|{_SUBJECT} (?:to|you(?: should| must)?) {_ENTERED} (?:on|in) {_TO.format(2)} {_BE} (?:{_AMOUNT_ON}|on|in) ?"
    rf"{_FROM.format(2)}"
    rf"|^\W*(?:Generally, )?[Yy]ou (?:can |will |should )?find the amount to {_ENTERED} (?:on|in) {_TO.format(3)}"
    rf" (?:on|in) {_FROM.format(3)}"
)
"""Sentence that the amount of one place is that of another one: `⟨0⟩ is the amount from ⟨1⟩`."""


def find_same_amount(masked: str) -> tuple[int, int] | None:
    """Find the two places of a sentence whose only statement is that their amounts are the same.

    Args:
        masked: The sentence, its places masked.

    Returns:
        Number of the place that the amount goes to, and of the place that it comes from; None if the sentence states
        no such equality.
    """
    if masked.count("⟨") != _BOTH:
        return None
    match = _SAME_AMOUNT.match(masked)
    if match is None:
        return None
    to_number, from_number = (int(number) for number in match.groups() if number)
    return to_number, from_number
