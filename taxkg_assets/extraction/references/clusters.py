"""Mentions of one sentence that share a place in it: coordinated targets, and a target with the form that holds it.

A relation to one coordinated target holds for all; a form that only contains the target gets the target's relation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.extraction.references.mentions import Mention, is_put_into
from taxkg_assets.rules.models.relations import load_relations

_CONTAINED = ("box", "line", "section")
_HOLDERS = ("form", "publication", "section", "url")


# Not frozen, as a booklet has thousands of them; never changed all the same.
@dataclass(slots=True)
class ClusterRange:
    """The cluster of targets that a mention belongs to: `line 4 or 5 of Form 9999`.

    Attributes:
        start: Offset of the cluster's first character.
        end: Offset after its last character.
        kind: Kind of the targets.
        is_container: Whether the mention is a form that only contains them, here `Form 9999`.
    """

    start: int
    end: int
    kind: str
    is_container: bool


def find_places(text: str, mentions: Sequence[Mention]) -> list[ClusterRange]:
    """Return the range of each mention's cluster of targets.

    Args:
        text: The text.
        mentions: Mentions in the text, in order.

    Returns:
        One range per mention. A form that only contains a target has the kind of that target.
    """
    inner_flags = _flag_inner_mentions(mentions)
    if not any(inner_flags):
        return _find_ranges(text, mentions)
    # A list continues after words in parentheses between two of its items.
    outer_mentions = [mention for mention, is_inner in zip(mentions, inner_flags, strict=True) if not is_inner]
    inner_mentions = [mention for mention, is_inner in zip(mentions, inner_flags, strict=True) if is_inner]
    outer_ranges = iter(_find_ranges(text, outer_mentions))
    inner_ranges = iter(_find_ranges(text, inner_mentions))
    return [next(inner_ranges if is_inner else outer_ranges) for is_inner in inner_flags]


def _flag_inner_mentions(mentions: Sequence[Mention]) -> list[bool]:
    """Decide of each mention whether it is named between the items of another list."""
    inner_flags: list[bool] = []
    outer: tuple[int, int] = (0, 0)
    for mention in mentions:
        is_inner = mention.group != outer and mention.group[1] <= outer[1]
        inner_flags.append(is_inner)
        outer = outer if is_inner else mention.group
    return inner_flags


def _find_ranges(text: str, mentions: Sequence[Mention]) -> list[ClusterRange]:
    groups: list[list[Mention]] = []
    links: list[str] = []
    for mention in mentions:
        if groups and mention.group == groups[-1][0].group:
            groups[-1].append(mention)
            continue
        links.append(_read_link(text, groups[-1][-1], mention) if groups else "")
        groups.append([mention])
    places: list[ClusterRange] = []
    for first, last in _find_clusters(links):
        if last == first + 1:
            # Most targets are named by themselves.
            group = groups[first]
            end = max(group[0].group[1], *(mention.end for mention in group))
            places += [ClusterRange(group[0].group[0], end, group[0].kind, False) for _ in group]
        else:
            places += _join_groups(groups[first:last], links[first + 1 : last])
    return places


def _find_clusters(links: Sequence[str]) -> list[tuple[int, int]]:
    """Return the ranges of groups that links join to one cluster."""
    if not links:
        return []
    starts = [ix for ix, link in enumerate(links) if not link]
    return list(zip(starts, [*starts[1:], len(links)], strict=True))


def _join_groups(groups: Sequence[list[Mention]], links: Sequence[str]) -> list[ClusterRange]:
    start = min(mention.group[0] for group in groups for mention in group)
    end = max(max(mention.group[1], mention.end) for group in groups for mention in group)
    places: list[ClusterRange] = []
    for ix, group in enumerate(groups):
        contained = _find_contained(groups, links, group_ix=ix)
        kind = groups[contained][0].kind if contained is not None else group[0].kind
        places.extend(ClusterRange(start, end, kind, contained is not None) for _ in group)
    return places


def _find_contained(groups: Sequence[list[Mention]], links: Sequence[str], *, group_ix: int) -> int | None:
    """Find the group that a group of forms or publications holds: before it (`box 4 of`) or after it (`, line 4`)."""
    if groups[group_ix][0].kind not in _HOLDERS:
        return None
    first_ix = group_ix
    while first_ix > 0 and links[first_ix - 1] == "and":
        first_ix -= 1
    if first_ix > 0 and links[first_ix - 1] == "contained_in":
        ix_before = _find_contained(groups, links, group_ix=first_ix - 1)
        return first_ix - 1 if ix_before is None else ix_before
    last_ix = group_ix
    while last_ix < len(links) and links[last_ix] == "and":
        last_ix += 1
    if last_ix < len(links) and links[last_ix] == "holds":
        ix_after = _find_contained(groups, links, group_ix=last_ix + 1)
        return last_ix + 1 if ix_after is None else ix_after
    return None


def _read_link(text: str, mention_before: Mention, mention_after: Mention) -> str:
    """Decide how two neighboring mentions hang together: `and`, `contained_in`, `holds`, or not at all."""
    between = text[max(mention_before.group[1], mention_before.end) : mention_after.group[0]]
    for rule in load_relations().links:
        if rule.pattern.fullmatch(between) and _may_link(
            rule.id, text, mention_before=mention_before, mention_after=mention_after
        ):
            return rule.id
    return ""


def _may_link(link: str, text: str, *, mention_before: Mention, mention_after: Mention) -> bool:
    if link == "contained_in":
        is_contained = (
            mention_before.kind in _CONTAINED
            and mention_after.kind in _HOLDERS
            and (mention_before.kind, mention_after.kind) != ("box", "section")
        )
        return (is_contained and not is_put_into(text, mention_before, mention_after)) or mention_after.kind == "url"
    if link == "holds":
        if load_relations().new_statements.verb_follows.pattern.match(text, mention_after.group[1]):
            return False
        form = mention_before.target.removeprefix("Form ")
        is_its_schedule = mention_before.kind == "form" and mention_after.target.endswith(f" ({mention_before.target})")
        is_on_form = is_its_schedule or (bool(mention_after.target_form) and mention_after.target_form == form)
        return mention_before.kind in _HOLDERS and (
            is_on_form or (mention_after.kind in _CONTAINED and mention_before.kind != "url")
        )
    between = text[max(mention_before.group[1], mention_before.end) : mention_after.group[0]].split()
    is_joined = "and" in between or "or" in between or "and/or" in between
    text_after = text[mention_after.group[1] :].lstrip()
    continues = between in ([","], [",", "the"], [";"]) and text_after.startswith((",", ";", "and ", "or "))
    is_alike = mention_before.kind == mention_after.kind or _are_parallel(mention_before, mention_after)
    is_next_place = mention_before.kind in _HOLDERS and mention_after.kind in ("box", "line") and is_joined
    return (is_alike and (is_joined or continues)) or is_next_place


def _are_parallel(mention_before: Mention, mention_after: Mention) -> bool:
    """Decide whether a form after a line begins a second place of its sort: `Form A, line 1, or Form B, line 2`."""
    return mention_before.kind in _CONTAINED and mention_after.kind == "form"
