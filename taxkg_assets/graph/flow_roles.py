"""Which places of a clause are its sources, which its targets, by the words before them and the clause's verb."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from taxkg_assets.graph.places import Place
from taxkg_assets.rules.anchored_search import matches_any
from taxkg_assets.rules.loader import load_rules

WORD = re.compile(r"⟨(\d+)_*⟩")
"""A masked place."""
_PREPOSITION = re.compile(r"\b(from|on|in|to)\b")
_AFTER_PREPOSITION = re.compile(r"\b(?:from|on|in|to) $")
_JOINT = re.compile(r";|\b(?:and|or)\b")
_OPEN = re.compile(r"\([^()]*$")
_EXAMPLE = re.compile(r"\((?:for example|such as|generally),? $")
_INSIDE = re.compile(
    r"\((?:(?:the (?:total )?amounts? |as )?(?:(?:shown|reported) )?(?:from|in|on) (?:all |your |the )*)?$"
)
_SHOWS = re.compile(r"^,? (?:(?:(?:will|should|may|generally) )*(?:shows?|contains?)\b|(?:is|are) (?:your|the) )")
_APART = re.compile(r"\bto the\b|\btotals?\b")
"""Between two places that are not on the same form: `Add Form 2040, line 8, to the total of lines 1 and 2`."""
_DIRECTLY = (" on ", " to ", ", on ", " in ")
_NEAR = 5
"""Most characters between a verb and its object: `must match the ⟨0⟩`."""
_PARTNER = ("Schedule K-1",)


@dataclass(slots=True)
class FoundPlace:
    """A place of a clause with what it is there: source, target, amount (either), aside, or empty."""

    place: Place
    start: int
    role: str
    is_joined: bool
    left: str


def find_roles(clause: str, places: list[Place]) -> list[FoundPlace]:
    """Return the places of a clause with their roles; a place without a form of its own is on the form before it.

    Args:
        clause: Clause with its places masked.
        places: Places of the sentence.
    """
    found: list[FoundPlace] = []
    end = 0
    for match in WORD.finditer(clause):
        left = clause[end : match.start()]
        previous = found[-1] if found else None
        is_joined = previous is not None and matches_any("flows", "clause_joins", left)
        role = _find_role(left, clause[match.end() :], previous, is_joined=is_joined)
        if role == "aside" and previous is not None and previous.role == "target":
            role = ""
        place = places[int(match[1])]
        is_apart = not is_joined and _APART.search(left)
        same = next((each for each in reversed(found) if each.role == role and each.place.kind == place.kind), None)
        named = previous if previous and previous.role == role else same if place.kind == "box" or is_joined else None
        if named and not place.forms and named.place.forms and not is_apart:
            place = replace(place, forms=named.place.forms, label="")
        if clause.count("“", 0, match.start()) > clause.count("”", 0, match.start()):
            role = ""
        found.append(FoundPlace(place, match.start(), role, is_joined, left))
        end = match.end()
    return found


def _find_role(left: str, right: str, previous: FoundPlace | None, *, is_joined: bool) -> str:
    """Return the role of a place between two texts; it may continue the previous place."""
    if _EXAMPLE.search(left) and previous is not None:
        return previous.role
    if _OPEN.search(left):
        if left.endswith("(from "):
            return "source"
        is_aside = _INSIDE.search(left) and right.startswith((")", ", code", " (", ", column", " with code"))
        return "aside" if is_aside and (previous is None or left.strip() != "(") else ""
    if _SHOWS.match(right):
        return "source"
    if right.startswith(", if any") and left.endswith((" the amount on ", " amount in ")):
        return "source"
    if right.startswith((" amount", "’s amount")) and not _AFTER_PREPOSITION.search(left):
        return "source"
    if is_joined and previous is not None:
        preposition = _PREPOSITION.search(left)
        is_joint = _JOINT.search(left) is not None
        if preposition is None or (is_joint and previous.role == "target"):
            return previous.role
        if preposition[1] == "from":
            return "source"
        return previous.role if is_joint else "target"
    for rule in load_rules("flows", "clause_roles"):
        if rule.pattern.search(left):
            return str(rule.extra["role"]).replace("none", "")
    return ""


def settle(found: list[FoundPlace], *, verb: str, at: int, is_share: bool) -> None:
    """Decide what an amount on a place is, and a place in parentheses: a source where a target follows.

    Shares of partners go to boxes.

    Args:
        found: Places of a clause; their roles are changed.
        verb: What the clause does.
        at: Where its verb ends.
        is_share: Whether it moves the shares of partners.
    """
    if is_share:
        for each in found:
            if each.place.kind == "box" and (each.left.endswith((" in ", " in the ")) or each.role == "target"):
                each.role = "target"
                each.place = each.place if each.place.forms else replace(each.place, forms=_PARTNER)
    has_target = False
    follower: FoundPlace | None = None
    if verb in ("shown", "named"):
        for each in found:
            each.role = "source" if each.role in ("target", "amount") else each.role
    for each in found:
        if verb == "equal" and not each.role and each.start - at <= _NEAR:
            each.role = "source"
    for each in reversed(found):
        if each.role == "amount":
            is_followed = follower is not None and follower.is_joined and follower.role == "target"
            is_followed = is_followed and follower is not None and not _JOINT.search(follower.left)
            is_next = follower is not None and follower.role == "target" and follower.left in _DIRECTLY
            is_followed = is_followed or (is_next and each.place.kind == "box")
            is_subject = each.start < at and verb != "move"
            each.role = "source" if is_followed or is_subject or verb == "equal" else "target"
        elif has_target and _is_moved_aside(each, at, verb):
            each.role = "source"
        has_target = has_target or (each.role == "target" and each.start >= at - 1)
        follower = each


def _is_moved_aside(each: FoundPlace, at: int, verb: str) -> bool:
    """Decide whether a place in parentheses, or one that begins `Form 2889, line 16, is included on ...`, is moved."""
    if each.role == "aside":
        return each.start > at or verb == "moved"
    return verb == "moved" and not each.role and each.start < at and not each.left.strip()


def settle_asides(found: list[FoundPlace], *, under: str, verb: str) -> None:
    """Make the places in parentheses of a clause without others its sources: `Enter your wages (Form W-2, box 1)`.

    Args:
        found: Places of a clause; their roles are changed.
        under: What the heading explains.
        verb: What the clause does.
    """
    if under != "lines" or verb != "move" or any(each.role not in ("", "aside") for each in found):
        return
    for each in found:
        each.role = "source" if each.role == "aside" or each.left.endswith(" (") else each.role


def group_places(found: list[FoundPlace], at: int) -> list[list[FoundPlace]]:
    """Divide the places of a clause: `the dues from A on B and the tax from C on D` moves two amounts.

    Args:
        found: Places of the clause with their roles.
        at: Where its verb ends.

    Returns:
        Sources and targets of each amount.
    """
    groups: list[list[FoundPlace]] = [[]]
    for each in found:
        if each.role not in ("source", "target") or (each.role == "target" and each.start < at - 1):
            continue
        roles = {other.role for other in groups[-1]}
        is_full = len(roles) == 2 and not each.is_joined and each.role == "source" == groups[-1][0].role
        is_other = (
            each.place.kind == "line"
            and each.role == "target"
            and groups[-1]
            and groups[-1][-1].role == "target"
            and not each.is_joined
        )
        if is_full or is_other:
            groups.append([])
        groups[-1].append(each)
    return groups
