"""Patterns of places of amounts: how forms, lines, boxes, columns and labels are named together.

Each order of words has groups of its own, whose names begin with it:

| prefix | words |
|---|---|
| `form_first_` | Form 2040, Part I, line 2, column (b) |
| `line_first_` | line 2 of Form 2040; line 2 of that form |
| `top_page_`, `on_page_`, `this_form_` | page 1, line 2; line 2 on page 1; line 2 of this form |
| `label_first_`, `for_label_`, `label_last_` | the "Dues" line of, the line for "Dues" on, Form 2040; or after it |
| `columns_`, `columns_last_` | columns (a) and (b) of Form 2040; Form 2040, columns (a) and (b) |
| `alone_` | line 2 |

Here: patterns. Not here: which form a place without one is on (`places`).
"""

from __future__ import annotations

import re
from functools import cache

ID = (
    r"(?:\d{3}R-\d(?:/W-\d[A-Z]{2})?|\d{3,4}+(?:(?:- ?)?[A-Z]{1,5}+(?:-EZ)?(?![a-z]))?+"
    r"|W-?\d[A-Z]{0,2}|[A-Z]{2,3}-\d{1,4})"
)
_JOINED = rf"(?:(?:, | or |, or | and |, and |/)(?:Forms? )?{ID}(?!,? lines? ))*(?:(?:,? or|,? and) (?:Form )?{ID})?"
FORMS = rf"Forms?(?:\(s\))? {ID}{_JOINED}"
SCHEDULE = (
    r"Schedules? (?:[A-Z0-9]{1,2}|[A-Z]{3}|\d{4})(?:-[A-Z0-9]{1,2})?\b"
    r"(?! (?:Tax )?Worksheet)(?: \(Forms? [^()]{3,60}\))?"
)
_SMALL = r"of|for|and|the|to|in|on|or|a|an|under|with|from|by|etc\."
# Title of a form between its number and a line: `Form 2849, Dues of Harbor Pilots, line 6`.
_TITLE = (
    rf"(?:, (?=[A-Z])(?>(?!Part [IVX\d]|Section |Schedule |Form |Lines? |Box )(?:etc\.|U\.S\.|[\w'’/&—-]+)"
    rf"(?:,? (?=[A-Z]|(?:{_SMALL})[ ,]))?){{2,18}})?"
)
FORM_NAME = re.compile(rf"(?:{FORMS}|{SCHEDULE}){_TITLE}")
"""Name of a form or schedule, with its title."""
_NUMBER = r"\d{1,2}(?:[a-z]{1,2}|\([a-z]\))?"
_YEARS = r"(?:(?:current|prior|previous|preceding|last|this|next)[- ]year(?:['’]s)? )"
_YEAR_LIST = r"(?:19|20)\d\d(?:(?:,? (?:and|or)|,| through|–) (?:19|20)\d\d)+"
_OWNER = r"(?:(?!(?:that|it|this|what|here|there)['’])[a-z]+(?:['’]s|s['’]) )"
_VERSION = (
    r"(?:(?:AMT|regular(?: tax)?|separate|original|amended|corrected|attached|final|first|second|last|other|refigured"
    r"|new|old|federal|Puerto Rico|Puerto Rican) )"
)
"""Words between an article and a form that say which copy of it is meant."""
_CODES = r"[A-Z]{1,2}\b(?:(?: and |, and |, or |, | or | through |[–-])[A-Z]{1,2}\b)*"


def _document(prefix: str) -> str:
    listed = rf"(?:(?<=; )|(?<=; or )|(?<=; and )){ID}(?=, (?:lines?|box(?:es)?) )"
    names = rf"(?:{FORMS}{_TITLE}, )?{SCHEDULE}(?: of {FORMS})?|{FORMS}|{listed}"
    year = rf"(?:(?P<{prefix}year>(?:19|20)\d\d) |{_YEAR_LIST} )?"
    article = r"(?:(?:the|your|an?|any|its|their|his or her|this|that) )?"
    owner = rf"(?:(?:all |each )?(?:of )?{article}{year}{_YEARS}?{_OWNER}?{_VERSION}?)"
    return rf"{owner}(?P<{prefix}doc>{names})"


def _member(prefix: str) -> str:
    """Return the pattern of a key or a range of keys; `Carry the amount on line 8 to line 6 of Form 2040` has none."""
    to = rf"to(?({prefix}several)|(?! line {_NUMBER} (?:of|on)\b))"
    return rf"{_NUMBER}(?: (?:through|{to}) (?:lines? |box(?:es)? )?{_NUMBER})?"


def _keys(prefix: str) -> str:
    ends = r"(?![\w%])(?! (?:through|to) \d)"
    letter = rf"\((?P<{prefix}column>[a-z]|\d{{1,2}})\)|(?P<{prefix}capital>[A-Z])\b"
    column = rf"(?:,? (?:(?({prefix}box)(?!)|in ))?column (?:{letter}))?"
    part = rf"(?:,? (?:of|in) Part (?P<{prefix}inner>[IVX]+))?"
    several = rf"codes {_CODES},?"
    one = rf"code (?P<{prefix}code>[A-Z]{{1,2}})\b"
    code = rf"(?:,? (?:with |using )?(?P<{prefix}open>\()?(?:{one}|{several})(?({prefix}open)\)))?"
    of_form = rf"(?:(?:all|each|any) )?(?:of )?(?:(?:the|your|an?|their|its) )?{_YEARS}?(?:Schedule|Form)"
    next_key = rf"(?({prefix}box)(?:box )?|(?:line )?){_member(prefix)}\b(?! of (?!{of_form}))"
    keys = rf"{_member(prefix)}(?:(?: or | and |, |, or |, and ){next_key})*"
    box = rf"(?P<{prefix}box>(?:b|(?<=, )B)ox(?:es)?)"
    kind = rf"(?P<{prefix}kind>(?:line|(?<=, )Line)(?P<{prefix}several>s)?|{box})"
    which = r"(?:(?:applicable|corresponding) (?=lines? \d))?"
    return rf"{which}{kind} (?P<{prefix}keys>{keys}){ends}{column}{code}{part}"


def _part(prefix: str) -> str:
    return rf"(?:Part (?P<{prefix}part>[IVX]+|\d),? )?(?:Section [A-Z\d],? )?"


_AFTER = (
    rf"(?:column \((?P<form_first_first>[a-z\d])\) of )?(?:page \d, )?{_document('form_first_')}{_TITLE}(?:,? page \d)?"
    rf"(?:,? ?Section [A-Z\d])?(?:,? ?Part (?P<form_first_part>[IVX]+|\d),?)?(?:,? Section [A-Z\d],?)?"
    rf"(?:,? columns? \([a-z]\)(?: on)?)?(?<! and)(?<! or),? (?:in (?=box))?{_keys('form_first_')}"
)
_OTHER = (
    r"(?!,? (?:Part [IVX]+,? )?"
    r"(?:(?:lines?|box(?:es)?) (?!\d{1,2}[a-z]{0,2} (?:of|on) (?:Form|Schedule))\d|columns? \())"
)
_ORDER = ("Enter on ", "enter on ", "Include on ", "include on ", "Report on ", "report on ")
"""Before the line that an amount is entered on: `from` names the form of the amount then."""
_ORDERED = "|".join(f"(?<={words})" for words in _ORDER)
_NOT_ORDERED = "".join(f"(?<!{words})" for words in _ORDER)
_CLOSING = (
    rf"Forms? {ID}(?: or (?:Form )?{ID})*{_TITLE}(?:, Part (?:[IVX]+|\d)\b)?"
    r"(?: on page \d)?(?=[.;)]|$| \(|,? (?:and|or) (?:on )?lines? )"
)
"""Form behind a line and a comma, where no other words follow: `the dues from line 9, Form 2040.`"""
_BEFORE = (
    rf"(?:(?P<line_first_order>{_ORDERED})|{_NOT_ORDERED}){_part('line_first_')}{_keys('line_first_')},?"
    r"(?: \([A-Z][a-z][^()]{2,60}\))?"
    r"(?: on page \d| (?:of|from|in) Part (?P<line_first_within>[IVX]+|\d))?"
    rf"(?: (?(line_first_order)(?:of|on|in)|(?:of|on|from|in)) |(?<=,) (?={_CLOSING}))"
    rf"(?>{_document('line_first_')}(?:, Part (?P<line_first_after>[IVX]+|\d)\b)?"
    r"(?: on page \d(?: of (?:the|this|your) form)?)?"
    rf"|(?P<line_first_that>(?:that|each|all (?:of )?(?:these|those)) (?:form|schedule)s?)\b){_OTHER}"
)
_FACE = (
    rf"page 1, {_keys('top_page_')}(?! of)|{_keys('on_page_')} (?:on|of) page 1\b"
    rf"|{_part('this_form_')}{_keys('this_form_')},? (?:of|on|from|in) "
    rf"(?:this |(?:the|your) {_YEARS})form\b"
)
_QUOTED = r"[“\"](?P<quoted>[^“”\"]{3,60})[”\"] lines?"
_LABEL = rf"(?!(?:the )?following\b|th(?:is|at) line\b)(?:the )?(?:{_QUOTED}|(?P<words>[A-Za-z][a-z, ]{{3,60}}?) line)"
_RETURN = r"(?:your )?(?P<return>(?:(?:federal |income )*tax )?return)\b"
_BY_LABEL = rf"{_LABEL} \(?(?:of|on) (?:{_RETURN}|{_document('label_first_')})"
_LINE_FOR = r"(?:the )?lines? (?:for|labeled|called) [“\"](?P<for>[^“”\"]{3,60})[”\"],?"
_FOR_LABEL = rf"{_LINE_FOR} (?:of|on) {_document('for_label_')}"
_LABEL_AFTER = (
    rf"{_document('label_last_')},? on the (?:lines? (?:for|labeled|called) [“\"](?P<label_after>[^“”\"]{{3,60}})[”\"]"
    r"|[“\"](?P<label_quoted>[^“”\"]{3,60})[”\"] line\b)"
)
NEXT_LABEL = re.compile(r" or [“\"](?P<label>[^“”\"]{3,60})[”\"](?! line)")
"""Further label after one in quotation marks."""
_LATER = (
    r"(?:the|your) (?:total|amount)|the (?:lines? (?:for|labeled|called)|(?:[a-z]+,? ){1,5}line (?:of|on)) "
    r"|(?:lines?|box(?:es)?) \d|(?:(?:the|your) )?(?:(?:19|20)\d\d )?(?:Form|Schedule)(?! [\w ]{1,12}Worksheet)"
    r"|this line|the case of|the following|the [“\"]"
    r"|columns? \("
)
_OWN = rf"{_part('alone_')}{_keys('alone_')}(?! (?:of|on|in|from) (?!{_LATER}))(?! worksheet)"
_PLACE = (
    rf"(?:{_AFTER})|(?:(?<!\w){_BEFORE})|(?:(?<!\w)(?:{_FACE}))|(?:(?<=\bon )(?:{_BY_LABEL}|{_FOR_LABEL}))|"
    rf"(?:(?<!\w){_LABEL_AFTER})|(?:(?<!\w){_OWN})"
)
_PARTS = r"(?:either )?Parts? [IVX]+(?:,? (?:or|and) (?:Part )?[IVX]+)? of "
_COLUMNS = (
    r"(?<!\w)columns? (?P<columns_keys>\([a-z]\)(?:(?:, and |, | and | or )\([a-z]\))*)(?! (?:through|to) \()"
    rf"(?: (?:of|on) (?>(?:{_PARTS})?{_document('columns_')})(?!,? (?:Part [IVX]+,? )?lines? \d))?"
)
_AFTER_COLUMNS = (
    rf"(?<!\w){_document('columns_last_')}(?:,? Part [IVX]+)?,? columns? "
    r"(?P<columns_last_keys>\([a-z]\)(?:(?:, and |, | and | or )\([a-z]\))*)(?! (?:through|to) \()"
)


@cache
def compile_places(*, has_columns: bool) -> re.Pattern[str]:
    """Compile the pattern of places at its first use: it takes a twentieth of the time to load the asset graph.

    Args:
        has_columns: Whether columns without a line are places too.

    Returns:
        The pattern.
    """
    return re.compile(rf"{_PLACE}|(?:{_AFTER_COLUMNS})|(?:{_COLUMNS})" if has_columns else _PLACE)


SHOWN_ON = re.compile(
    rf"(?P<form>{FORMS})(?: that you received| you received)?(?: that)? "
    r"(?:shows?|showing|with|has|reports?|reporting|includes?|reflects?|reflecting)\b[^.;]{0,60}?\bin (?:the )?$"
)
"""Form that the box right after it is on: `Form 2099 shows an amount in box 4`."""
RECEIVED = re.compile(
    r"\b(?:you (?:also )?(?:receive|received|get|got)|(?:reported|shown) (?:to you )?on) (?:an? |the |your )?"
    rf"(?P<form>{SCHEDULE}|{FORMS})[^.;⟨⟩]{{0,80}}$"
)
"""Form that a later box of the sentence is on: `If you received a Form 2099, enter the amount from box 4`."""
_NEXT_CLAUSE = (
    r", (?:and|then) (?!lines? )\w"
    r"|\band (?:then )?(?:enter|include|add|report|compare|combine|subtract|carry|transfer)\b"
)
TAKEN_FROM = re.compile(
    rf"\b(?i:enter|include|report) on line \d{{1,2}}[a-z]{{0,2}} from (?:all )?(?:your|the|each) (?P<form>{FORMS})"
    rf" (?:the|any)\b(?:(?!{_NEXT_CLAUSE})[^.;⟨⟩]){{0,80}}$"
)
"""Form of a later line: `Enter on line 8 from your Forms 2099 the sum of the amounts on Part II, line 5`."""
