"""Which places of a clause are its sources, which its targets: by what governs each place, and by the clause's verb."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from taxkg_assets.graph.flow_words import Words, read_words
from taxkg_assets.graph.places import Place
from taxkg_assets.rules.models.flows import load_flows

WORD = re.compile(r"⟨(\d+)_*⟩")
"""A masked place."""
_JOINT = re.compile(r";|\b(?:and|or)\b")
_PREPOSITION = re.compile(r"\b(from|on|in|to)\b")
_OPEN = re.compile(r"\([^()]*$")
_EXAMPLE = re.compile(r"\((?:for example|such as|generally),? $")
_INSIDE = re.compile(
    r"\((?:(?:the (?:total )?amounts? |as )?(?:(?:shown|reported|figured|computed|entered) )?"
    r"(?:from|in|on) (?:all |your |the )*)?$"
)
_SHOWS = re.compile(r"^,? (?:(?:(?:will|should|may|generally|also) )*(?:shows?|contains?)\b|(?:is|are) (?:your|the) )")
_ALREADY = re.compile(
    r"^,? (?:that|which) (?:you (?:have )?\w+ed|(?:is|was|were|are) (?:already )?\w+ed)\b[^.;]*\b(?:on|in) "
)
"""After a source, before where its amount is already: `dues from Form 2555, line 50, that you included on line 8`."""
_SHOWING = re.compile(r"\bshowing\b[^.;]*\b(?:in|on) (?:the )?$")
"""Before a box of a form that somebody sends: `a form showing your dues in` box 5."""
_APART = re.compile(r"\bto the\b|\btotals?\b")
"""Between two places that are not on the same form: `Add Form 2040, line 8, to the total of lines 1 and 2`."""
_CODE = r"codes? [“\"]?[A-Z\d]{1,2}[”\"]?(?:(?:,| or| and|, or|, and) [“\"]?[A-Z\d]{1,2}[”\"]?)*"
_CODE_IN = re.compile(
    rf"\b(?:us(?:e|ed|ing)|ha(?:ve|s|d|ving)|enter(?:ed|ing)?|show(?:s|n|ing)?) {_CODE} in (?:the )?$"
    rf"|(?<!under )(?<!with )\b{_CODE} (?:is|entered|shown) in (?:the )?$"
)
"""Before a box that shows a code and no amount: `using code 2 or 7 in box 7`."""
_CODE_OF = re.compile(rf"(?:,| of| for) {_CODE} in (?:the )?$")
"""Before a box whose amount a code names: `the dues, code D in box 12`."""
_ADDED_PART = re.compile(r"\bplus any (?:[\w-]+ ){1,5}(?:included|reported|shown) (?:on|in) $")
"""Before a place that contains a part: `line 1a, plus any dues included on line 1e`."""
_ON_RETURN = re.compile(r"\bon (?:your |the )?(?:[a-z]+ ){0,3}returns? \($")
"""Before the line of a return in parentheses: `Include it as tax on your return (Form 2040, line 6)`."""
_NEXT = re.compile(
    r",? (?:forward |over )?(?:on|to|in|into) (?:(?:the|your) )?(?:(?:total|amount)s? (?:[a-z]+ )?(?:on|of|for|in) )?"
)
"""Between an amount and where it goes: `Include the amount on Form 2040, line 3, in the total on line 8`."""
_NEXT_AMOUNT = re.compile(r"\band (?:the|any|your)\b")
"""Between where one amount goes and the next: `the dues on line 4a and the tax from Form 2606, line 18, on 4b`."""
_SUPPOSED = re.compile(
    r"\bwould (?:(?:otherwise|normally) )?(?:(?:have )?\w+ed|enter|report|include) (?:on|in) (?:the |your )?$"
)
"""Before a place of an amount that is only supposed: `the dues that you would have reported on`."""
_PLUS = re.compile(r"^,? plus\b[^;]*\b(?:on|in) (?:the )?$")
"""Between a source and one that is added to it: `the dues from A, plus the amount in B`."""
SUM_TO = re.compile(r"\bto the (?:amount|total)s? (?:on|from|of|in) (?:the |your )?$")
"""Between an amount and the one that it is added to, where their sum is entered on a third line."""
_NEAR = 5
"""Most characters between a verb and its object: `must match the ⟨0⟩`."""
_OR_ASIDE = re.compile(r" \((?:or|and)\b")
"""Between a place and one in parentheses for another case: `Form 2040, line 7 (or Form 2041, line 5, if ...)`."""
_COMPLETED = re.compile(r"^,? to complete (?:your |the )?$")
"""Between amounts and the lines that they are used on: `Use the amount on Form 2889, line 4, to complete`."""
_PARTNER = ("Schedule K-1",)
# What governs a place, as letters of the words before it (`flow_words`); D, T and # stand before nouns.
_NOT_THERE = re.compile(r"e[^,;PVC]{0,8}[tof][DT#]*$|x[^,;PVC]{0,2}[WM][^,;PVC]{0,5}[to][DT#]*$|[xe][^,;PVCM]{0,3}$")
_PART = re.compile(r"VA*D?pu[^;PVM]*$|V[^,;P]*i[^,;PWM]*W?[^,;PWM]*$|p[^,;PVM]{0,12}$|O[^,;P]*$|[iC][^,;PVMW]*$")
_ADDED = re.compile(r"V[A]*DNuDNo[DT#]*$")
"""`Enter the total of the amounts on` a place: it shows them."""
_TOTAL_THERE = re.compile(r"[to]D*#*N(?:y?W)?[uo][DT#]*$")
_IS_THERE = re.compile(r"M(?:[nATNDuWw#~]{0,9})?[to](?:DN[uo])?[DT#]*$")
_LOCATED = re.compile(r"(?:(?<![VDA])A*W|G)(?:n?#[#,c]*|[nATNDuyItF~()]){0,9}[uto][DTn#]{0,3}$")
_SHOWN_BY = re.compile(r"N[rT]D*FZA*o[DT]*$")
"""`the amount that Form 2889 shows in`"""
_FROM = re.compile(r"f(?:[DTcn#]{0,4}|DN[uo]D*)$")
_OBJECT = re.compile(r"V[Ah]*(?:D?n{0,2}N?u?)?[DTn#]{0,3}$")
_AMOUNT = re.compile(
    r"(?:^|[DT])[n#]{0,4}N(?:,s[AD]?n?,?)?[uo][DT#]*$|(?:^|[DTuVc])[n#]{0,4}[Nn][nA]?y?w[nN]{0,3}o[DT#]*$"
)
_THERE = re.compile(r"[to]D*(?:F+,?c?o?)*[DTn#]{0,2}$")


@dataclass(slots=True)
class FoundPlace:
    """A place in a clause, and what the clause does with its amount.

    Attributes:
        place: The place.
        start: Where it begins in the clause, in characters.
        role: `source` or `target` of an amount; `amount` for one of both, which the verb decides; `aside` for a place
            in parentheses; empty for a place that the clause moves nothing from or to.
        is_joined: Whether a conjunction or comma joins it to the place before it.
        left: Words between the place before it, or the beginning of the clause, and this one.
    """

    place: Place
    start: int
    role: str
    is_joined: bool
    left: str


def find_roles(clause: str, places: list[Place], words: Words | None = None) -> list[FoundPlace]:
    """Assign roles to the places of a clause; a place without a form takes the form before it.

    In `Enter the amount from ⟨0⟩ on ⟨1⟩`, the first place is the source, the second the target.

    Args:
        clause: Clause with its places masked.
        places: Places of the sentence.
        words: Words of the clause, if they were read before.

    Returns:
        Places with their roles.
    """
    words = words or read_words(clause)
    found_places: list[FoundPlace] = []
    end = 0
    for match in WORD.finditer(clause):
        start = match.start()
        left = clause[end:start]
        tags = words.tags[words.before(end) : words.before(start)]
        previous = found_places[-1] if found_places else None
        is_joined = previous is not None and load_flows().clause_joins.matches(left)
        role = _find_role(left, clause[match.end() :], previous, is_joined=is_joined, tags=tags)
        if previous is not None:
            role = _correct_at_parenthesis(role, clause, previous, start=start, tags=tags)
        place = _take_form(places[int(match[1])], found_places, role, left=left, is_joined=is_joined)
        is_quoted = clause.count("“", 0, start) > clause.count("”", 0, start)
        found_places.append(FoundPlace(place, start, "" if is_quoted else role, is_joined, left))
        end = match.end()
    return found_places


def _correct_at_parenthesis(role: str, clause: str, previous: FoundPlace, *, start: int, tags: str) -> str:
    """Return the role of a place, with regard to a parenthesis that it shares with the place before it.

    Args:
        role: Its role by the words before it.
        clause: The clause.
        previous: Place before it.
        start: Where the place begins.
        tags: Letters of the words between both places.
    """
    if not previous.role:
        shares_parenthesis = 0 <= _find_open(clause[:start]) < previous.start
        if shares_parenthesis:
            return ""
        previous_is_inside = 0 <= _find_open(clause[: previous.start]) < previous.start
        if previous_is_inside and ")" in clause[previous.start : start]:
            # Only the words after the parenthesis govern the place.
            role = _govern(tags.rpartition(")")[2])
    if role == "aside" and previous.role == "target":
        return ""
    return role


def _take_form(place: Place, found_places: list[FoundPlace], role: str, *, left: str, is_joined: bool) -> Place:
    """Give a place without a form the form of a place before it with the same role: `Form 2889, line 4, or line 5`.

    Args:
        place: The place.
        found_places: Places before it.
        role: Its role.
        left: Words between the place before it and this one.
        is_joined: Whether it is joined to the place before it.
    """
    if place.forms or not found_places or (not is_joined and _APART.search(left)):
        return place
    previous = found_places[-1]
    if previous.role == role:
        giver: FoundPlace | None = previous
    elif place.kind == "box" or is_joined:
        alike = (before for before in reversed(found_places) if before.role == role and before.place.kind == place.kind)
        giver = next(alike, None)
    else:
        giver = None
    return replace(place, forms=giver.place.forms, label="") if giver and giver.place.forms else place


def _find_open(text: str) -> int:
    """Return where the parenthesis that is open at the end of a text begins; -1 for none."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[at], 0)
        if depth < 0:
            return at
    return -1


def _find_role(left: str, right: str, previous: FoundPlace | None, *, is_joined: bool, tags: str) -> str:
    """Return the role of a place: that of the place which it continues, or the one that the words around it give.

    Args:
        left: Words between the place before it, or the beginning of the clause, and the place.
        right: Words after it.
        previous: Place before it.
        is_joined: Whether it is joined to that one.
        tags: Letters of the words of `left`.
    """
    previous_role = previous.role if previous is not None else None
    role = _continue_role(left, previous_role, is_joined=is_joined)
    if role is None and _OPEN.search(left):
        role = _find_role_in_parentheses(left, right, is_alone=previous is None)
    if role is None:
        role = _find_role_by_wording(left, right, previous_role)
    if role is None and is_joined and previous_role is not None:
        role = _find_joined_role(left, previous_role)
    return _govern(tags) if role is None else role


def _continue_role(left: str, previous_role: str | None, *, is_joined: bool) -> str | None:
    """Return the role that a place has from the one before it: as an example, for another case, or as its target."""
    if previous_role is None:
        return None
    if _EXAMPLE.search(left):
        return previous_role
    if is_joined and previous_role in ("source", "target") and _OR_ASIDE.match(left):
        return previous_role
    if previous_role in ("source", "amount") and _COMPLETED.match(left):
        return "target"
    return None


def _find_role_in_parentheses(left: str, right: str, *, is_alone: bool) -> str:
    """Return the role of a place after an open parenthesis: `your dues (Form 2889, line 4)` names where they are."""
    if left.endswith("(from "):
        return "source"
    fills_parentheses = _INSIDE.search(left) and right.startswith((")", ", code", " (", ", column", " with code"))
    follows_place = not is_alone and left.strip() == "("
    return "aside" if fills_parentheses and not follows_place else ""


def _find_role_by_wording(left: str, right: str, previous_role: str | None) -> str | None:
    """Return the role that a fixed wording before or after a place gives it; None for no such wording."""
    if _CODE_IN.search(left) or _ADDED_PART.search(left):
        return ""
    if previous_role is None and _CODE_OF.search(left):
        return "amount"
    if _SHOWS.match(right):
        return "source"
    if _SUPPOSED.search(left):
        return ""
    if previous_role == "source" and _PLUS.match(left):
        return "source"
    if right.startswith(", if any") and left.endswith((" the amount on ", " amount in ")):
        return "source"
    names_amount = right.startswith((" amount", "’s amount"))
    if names_amount and not re.search(r"\b(?:from|on|in|to) $", left):
        return "source"
    if previous_role == "source" and _ALREADY.match(left):
        return ""
    return None


def _find_joined_role(left: str, previous_role: str) -> str:
    """Return the role of a place that is joined to another: its own preposition may change it, `from A and on B`."""
    preposition = _PREPOSITION.search(left)
    has_conjunction = _JOINT.search(left) is not None
    if preposition is None or (has_conjunction and previous_role == "target"):
        return previous_role
    if preposition[1] == "from":
        return "source"
    return previous_role if has_conjunction else "target"


def _govern(tags: str) -> str:
    """Return the role that the words before a place give it."""
    if _SHOWN_BY.search(tags):
        return "source"
    if _NOT_THERE.search(tags) or _PART.search(tags):
        return ""
    if _ADDED.search(tags):
        return "source"
    if _TOTAL_THERE.search(tags) or _IS_THERE.search(tags):
        return "target"
    if _LOCATED.search(tags) or _FROM.search(tags) or _OBJECT.search(tags):
        return "source"
    if _AMOUNT.search(tags):
        return "amount"
    return "target" if _THERE.search(tags) else ""


def decide_roles(
    found_places: list[FoundPlace], *, verb: str, verb_end: int, is_share: bool, heading_kind: str = ""
) -> None:
    """Decide whether each place of a clause is a source or a target.

    Fills empty roles and corrects some found ones in place. A place in parentheses is a source if a target follows.
    Shares of partners go to boxes.

    Args:
        found_places: Places of a clause; their roles are changed.
        verb: What the clause does.
        verb_end: Where its verb ends.
        is_share: Whether it moves the shares of partners.
        heading_kind: What the heading explains.
    """
    if is_share:
        _send_shares_to_boxes(found_places)
    _correct_by_verb(found_places, verb, verb_end)
    for place_before, aside in pairwise(found_places):
        is_partners_box = "".join(aside.place.forms).startswith(_PARTNER)
        if place_before.role == "target" and aside.left.strip() == "(" and is_partners_box:
            aside.role = "target"
    has_target = False
    follower: FoundPlace | None = None
    for found_place in reversed(found_places):
        is_before_verb_end = found_place.start < verb_end
        if found_place.role == "amount":
            is_subject = is_before_verb_end and verb != "move"
            is_received = heading_kind == "lines" and not is_share and _is_received(found_place.place)
            is_source = _leads_to(follower) or is_subject or is_received or verb == "equal"
            found_place.role = "source" if is_source else "target"
        elif has_target and _is_moved_aside(found_place, verb_end, verb):
            found_place.role = "source"
        has_target = has_target or (found_place.role == "target" and found_place.start >= verb_end - 1)
        follower = found_place


def _send_shares_to_boxes(found_places: list[FoundPlace]) -> None:
    """Make the boxes of a clause on the shares of partners its targets."""
    for found_place in found_places:
        is_target = found_place.role == "target" or found_place.left.endswith((" in ", " in the "))
        if found_place.place.kind == "box" and is_target:
            found_place.role = "target"
            found_place.place = name_partner(found_place.place)


def _correct_by_verb(found_places: list[FoundPlace], verb: str, verb_end: int) -> None:
    """Make places sources where the verb of the clause says so: it shows, sums or equates their amounts."""
    for found_place in found_places:
        role, left = found_place.role, found_place.left
        is_shown = verb in ("shown", "named") and (role in ("target", "amount") or _SHOWING.search(left) is not None)
        is_summand = verb == "sum" and role == "target" and SUM_TO.search(left) is not None
        is_equal = verb == "equal" and not role and found_place.start - verb_end <= _NEAR
        is_subject = verb == "moved" and role == "target" and found_place.start < verb_end
        if is_shown or is_summand or is_equal or is_subject:
            found_place.role = "source"


def _leads_to(follower: FoundPlace | None) -> bool:
    """Decide whether the place after an amount is the target of that amount."""
    if follower is None or follower.role != "target":
        return False
    return (follower.is_joined and not _JOINT.search(follower.left)) or _NEXT.fullmatch(follower.left) is not None


def names_code(left: str) -> bool:
    """Decide whether the words before a box are about a code in it, not about an amount.

    Args:
        left: Words before the box, back to the previous place or the beginning of the clause.

    Returns:
        True for `using code 2 in`.
    """
    return _CODE_IN.search(left) is not None


def name_partner(place: Place) -> Place:
    """Assign a box without a form to the schedule of a partner, who receives a share of an amount.

    Args:
        place: Place that the share goes to.

    Returns:
        The box with its form; a place that is no box, or has a form, unchanged.
    """
    is_open = place.kind == "box" and not place.forms
    return replace(place, forms=_PARTNER) if is_open else place


def _is_received(place: Place) -> bool:
    """Decide whether a place is a box of a form that the reader of a line's instructions received."""
    return place.kind == "box" and bool(place.forms) and not "".join(place.forms).startswith(_PARTNER)


def _is_moved_aside(found_place: FoundPlace, verb_end: int, verb: str) -> bool:
    """Decide whether a place in parentheses, or one that begins `Form 2889, line 16, is included on ...`, is moved."""
    if found_place.role == "aside":
        return found_place.start > verb_end or verb == "moved"
    return verb == "moved" and not found_place.role and found_place.start < verb_end and not found_place.left.strip()


def decide_roles_of_asides(found_places: list[FoundPlace], *, heading_kind: str, verb: str) -> None:
    """Treat the places of a clause as its sources if all are in parentheses: `Enter your wages (Form W-2, box 1)`.

    Args:
        found_places: Places of a clause; their roles are changed.
        heading_kind: What the heading explains.
        verb: What the clause does.
    """
    has_other_place = any(found_place.role not in ("", "aside") for found_place in found_places)
    if heading_kind != "lines" or verb != "move" or has_other_place:
        return
    for found_place in found_places:
        is_in_parentheses = found_place.role == "aside" or found_place.left.endswith(" (")
        if is_in_parentheses and not _ON_RETURN.search(found_place.left):
            found_place.role = "source"


def group_places(found_places: list[FoundPlace], verb_end: int) -> list[list[FoundPlace]]:
    """Group the places of a clause by amount: `the dues from A on B and the tax from C on D` moves two amounts.

    Args:
        found_places: Places of the clause with their roles.
        verb_end: Where its verb ends.

    Returns:
        Sources and targets of each amount; one empty group where the clause has neither.
    """
    groups: list[list[FoundPlace]] = [[]]
    for found_place in found_places:
        is_target_after_verb = found_place.role == "target" and found_place.start >= verb_end - 1
        if found_place.role != "source" and not is_target_after_verb:
            continue
        if groups[-1] and _begins_amount(found_place, groups[-1]):
            groups.append([])
        groups[-1].append(found_place)
    if len(groups) > 1:
        before, last = groups[-2:]
        if last[0].role == "source" and all(found_place.role == "target" for found_place in before):
            _share_form(before, last)
    return groups


def _begins_amount(found_place: FoundPlace, group: list[FoundPlace]) -> bool:
    """Decide whether a source or target belongs to another amount than the places before it.

    Args:
        found_place: The source or target.
        group: Places of the amount before it; at least one.
    """
    roles = {grouped.role for grouped in group}
    if found_place.role == "target":
        # `on line 4, on line 5`: two lines that are not joined take two amounts.
        return found_place.place.kind == "line" and group[-1].role == "target" and not found_place.is_joined
    if roles == {"target"}:
        return _NEXT_AMOUNT.search(found_place.left) is not None
    starts_with_source = group[0].role == "source"
    return len(roles) == 2 and starts_with_source and not found_place.is_joined


def _share_form(before: list[FoundPlace], group: list[FoundPlace]) -> None:
    """Assign to a target the form of the target before it; an amount without a target goes to that one, too.

    Args:
        before: Targets of the amount before; emptied where they are moved to the group.
        group: Places of the amount; changed.
    """
    if all(found_place.role == "source" for found_place in group):
        group[:0] = before
        before.clear()
    for found_place in group:
        if found_place.role == "target" and not found_place.place.forms and before:
            found_place.place = replace(found_place.place, forms=before[-1].place.forms)
