"""References: every place where a document's text points at something, with the sentence that says so.

Finding the mentions is `mentions`, reading the sentence is `relations`; here both become rows, distinguished from a
document's mentions of itself. Which node a reference reaches is decided in the graph.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.extraction.references.clause_view import MentionInSentence, Relation
from taxkg_assets.extraction.references.clusters import ClusterRange, find_places
from taxkg_assets.extraction.references.linked import LED_COLUMNS, LinkedTexts
from taxkg_assets.extraction.references.list_leads import ListLeads, denies, find_lead
from taxkg_assets.extraction.references.mentions import Headings, Mention, find_mentions, find_rule_words
from taxkg_assets.extraction.references.owners import Owner, find_owner
from taxkg_assets.extraction.references.printed_ranges import keep_printed_lines
from taxkg_assets.extraction.references.relations import classify_relations, find_sentence_at
from taxkg_assets.extraction.references.worksheet_lines import attach_worksheets, drop_own_name, is_on_worksheet
from taxkg_assets.extraction.structure.identity import Identity
from taxkg_assets.records import AnchorRecord, SectionRecord, iter_records
from taxkg_assets.rules.models.references import load_references
from taxkg_assets.rules.sentences import find_sentences
from taxkg_assets.schemas import Anchors, Links, References, Sections, build_frame, validated

_HEADING_KINDS = ("section", "subsection", "runin", "part")
# Rectangles are read only where a text runs over a page's end: few do, and to unpack them all takes long.
_FIRST, _LAST = (pl.col("pieces").list.get(ix, null_on_oob=True).struct.field("page") for ix in (0, -1))
_TURNS_PAGE = _FIRST != _LAST
_COLUMNS = ["element_id", "anchor_id", "document_id", "page", "role", "text", pl.when(_TURNS_PAGE).then("pieces")]
_KEY = ["element_id", "start", "mention_start", "kind", "target"]


@dataclass(slots=True)
class _PlacedMention:
    """One mention in a text, with the range of its sentence, half-open in the text."""

    section: SectionRecord
    mention: Mention
    start: int
    end: int
    is_self: bool
    mention_in_sentence: MentionInSentence


def build_references(
    sections: dy.DataFrame[Sections],
    anchors: dy.DataFrame[Anchors],
    *,
    identity: Identity,
    links: dy.DataFrame[Links] | None = None,
) -> dy.DataFrame[References]:
    """Extract the references of a document: one row per sentence and target.

    Args:
        sections: Content elements of one document.
        anchors: Headings of the document.
        identity: Form and type of the document.
        links: Links of the document; a mention inside a link has the target of the link.

    Returns:
        Rows whose `start` and `end` slice the sentence out of the element's text. `is_self` marks mentions of the
        document's own form, and of the box or line that owns the text.

    Units:
        start, end, mention_start, mention_end: characters, half-open, 0-based in `sections.text`.

    Source:
        rules/references.yaml, rules/relations.yaml, rules/polarity.yaml.
    """
    anchors_by_id = {row["anchor_id"]: row for row in iter_records(anchors, AnchorRecord)}
    headings = Headings(_collect_headings(anchors_by_id))
    linked_texts = LinkedTexts.collect(links)
    placed_mentions: list[_PlacedMention] = []
    leads = ListLeads()
    separators = _find_separators(anchors_by_id)
    is_form = identity.doc_type == "form"
    printed_keys = [row["key"] for row in anchors_by_id.values() if is_form and row["kind"] == "line" and row["key"]]
    owners: dict[str | None, Owner] = {}
    ordered_sections = sections.sort("paragraph_ix").select(_COLUMNS)
    rule_words_by_section = find_rule_words(ordered_sections["text"].to_list())
    for section, rule_words in zip(iter_records(ordered_sections, SectionRecord), rule_words_by_section, strict=True):
        lead = leads.follow(section)
        if not rule_words and section["element_id"] not in linked_texts.by_element:
            continue
        mentions = find_mentions(section["text"], headings=headings, rule_words=rule_words)
        mentions = drop_own_name(mentions, section["text"], role=section["role"])
        if printed_keys:
            mentions = keep_printed_lines(mentions, section["text"], printed_keys=printed_keys)
        mentions = linked_texts.add_mentions(section["element_id"], mentions, text=section["text"])
        if not mentions:
            continue
        owner = owners.get(section["anchor_id"])
        if owner is None:
            owner = find_owner(section["anchor_id"], anchors_by_id=anchors_by_id, identity=identity)
            owners[section["anchor_id"]] = owner
        mentions = attach_worksheets(section["text"], mentions, is_in_worksheet=owner.is_worksheet)
        readings = [
            _read_in_kind(section["text"], mention, doc_type=identity.doc_type, separators=separators)
            for mention in mentions
        ]
        mentions = [
            linked_texts.read_inside(section["element_id"], mention) for mention in readings if mention is not None
        ]
        if not identity.form or identity.doc_type == "publication":
            mentions = _inherit_forms(mentions)
        placed_mentions.extend(_read_section(section, mentions, owner=owner, lead=lead, is_resumed=leads.is_resumed))
    return validated(_build_rows(placed_mentions, linked_texts).sort(_KEY), References)


def _collect_headings(anchors_by_id: Mapping[str, AnchorRecord]) -> dict[str, tuple[str, str]]:
    """Name the headings that text can point at; a box goes by its key, lines and statute sections by their numbers."""
    targets_by_heading: dict[str, tuple[str, str]] = {}
    for row in anchors_by_id.values():
        key = row["key"] or ""
        if _is_lawlike(row["heading"]):
            continue
        if row["kind"] in _HEADING_KINDS:
            targets_by_heading[row["heading"]] = ("section", row["heading"].strip().rstrip(".:"))
        elif row["kind"] == "box" and key.startswith("box_"):
            targets_by_heading[row["heading"]] = ("box", key)
    return targets_by_heading


def _is_lawlike(heading: str) -> bool:
    """Decide whether a heading is nothing but the name of a form, box or publication, which have rules of their own."""
    return load_references().context.named_by_another_rule.pattern.fullmatch(heading) is not None


def _read_section(
    section: SectionRecord, mentions: list[Mention], *, owner: Owner, lead: str, is_resumed: bool
) -> Iterator[_PlacedMention]:
    text: str = section["text"]
    sentences = find_sentences(text)
    clusters = find_places(text, mentions)
    localized_mentions = [_localize(mention, own_forms=owner.forms) for mention in mentions]
    is_own_flags = [
        _is_self(mention, owner=owner) and not _is_elsewhere(text, mention) for mention in localized_mentions
    ]
    named_targets = _list_named(localized_mentions, is_own_flags)
    mentions_by_question: dict[tuple[Any, ...], MentionInSentence] = {}
    lead = find_lead(lead) if lead else ""
    is_denied = denies(lead)
    for mention, cluster, is_self in zip(localized_mentions, clusters, is_own_flags, strict=True):
        start, end = find_sentence_at(sentences, start=mention.group[0], end=max(mention.group[1], mention.end))
        name = mention.target if mention.kind == "section" else ""
        cluster_key = (cluster.start, cluster.end, cluster.kind, cluster.is_container)
        question = (start, end, cluster_key, mention.group, is_self, name)
        mention_in_sentence = mentions_by_question.get(question)
        if mention_in_sentence is None:
            mention_in_sentence = MentionInSentence(
                sentence=text[start:end],
                kind=cluster.kind,
                start=max(cluster.start, start) - start,
                end=min(cluster.end, end) - start,
                # A denial, or a lead far above, carries on in an item's first sentence; its others stand by themselves.
                lead=lead if start == sentences[0][0] or not (is_denied or is_resumed) else "",
                name=name,
                holds_amount=owner.holds_amount,
                is_container=cluster.is_container,
                is_self=is_self,
                is_denied=is_denied,
                masks=_find_masks(named_targets, sentence=(start, end), cluster=cluster),
            )
            mentions_by_question[question] = mention_in_sentence
        yield _PlacedMention(section, mention, start, end, is_self, mention_in_sentence)


def _list_named(mentions: Sequence[Mention], is_own_flags: Sequence[bool]) -> list[tuple[int, int, str]]:
    """List where a text names the owner's box or line, or a heading, with the word that replaces it, in order."""
    named_targets: set[tuple[int, int, str]] = set()
    for mention, is_own in zip(mentions, is_own_flags, strict=True):
        if is_own and mention.kind in ("box", "line"):
            named_targets.add((*mention.group, "here"))
        elif mention.rule_id == "known_heading":
            named_targets.add((*mention.group, "Heading"))
    return sorted(named_targets)


def _find_masks(
    named: Sequence[tuple[int, int, str]], *, sentence: tuple[int, int], cluster: ClusterRange
) -> tuple[tuple[int, int, str], ...]:
    """Find what else a sentence names, outside the place in question, with offsets in the sentence."""
    start, end = sentence
    return tuple(
        (named_start - start, named_end - start, word)
        for named_start, named_end, word in named[bisect_left(named, (start,)) : bisect_left(named, (end,))]
        if named_end <= end and (named_end <= cluster.start or named_start >= cluster.end)
    )


def _build_rows(placed_mentions: Sequence[_PlacedMention], linked_texts: LinkedTexts) -> pl.DataFrame:
    """Build rows from the mentions of a document, after classifying their relations.

    Where a sentence names a target several times, the mention with the highest-ranking relation counts. A mention that
    only contains another target yields to one that means the target itself.
    """
    # The targets of one list share a question.
    mention_in_sentence = list(
        {
            id(placed_mention.mention_in_sentence): placed_mention.mention_in_sentence
            for placed_mention in placed_mentions
        }.values()
    )
    relation_by_id = {
        id(mention): relation
        for mention, relation in zip(mention_in_sentence, classify_relations(mention_in_sentence), strict=True)
    }
    best: dict[tuple[str, int, str, str], tuple[_PlacedMention, Relation]] = {}
    for placed_mention in placed_mentions:
        key = (
            placed_mention.section["element_id"],
            placed_mention.start,
            placed_mention.mention.kind,
            placed_mention.mention.target,
        )
        relation = relation_by_id[id(placed_mention.mention_in_sentence)]
        if key not in best or _rank(placed_mention, relation) < _rank(*best[key]):
            best[key] = (placed_mention, relation)
    return _make_rows(
        [placed_mention for placed_mention, _ in best.values()],
        [relation for _, relation in best.values()],
        linked_texts,
    )


def _rank(placed_mention: _PlacedMention, relation: Relation) -> tuple[bool, bool, int]:
    return relation.relation == "references", placed_mention.mention_in_sentence.is_container, relation.rank


def _make_rows(
    placed_mentions: Sequence[_PlacedMention], relations: Sequence[Relation], linked_texts: LinkedTexts
) -> pl.DataFrame:
    mentions = [placed_mention.mention for placed_mention in placed_mentions]
    link_targets = [
        linked_texts.find_target(placed_mention.section["element_id"], placed_mention.mention)
        for placed_mention in placed_mentions
    ]
    columns = {
        "document_id": [placed_mention.section["document_id"] for placed_mention in placed_mentions],
        "page": [
            _find_page(placed_mention.section, placed_mention.mention.start) for placed_mention in placed_mentions
        ],
        "element_id": [placed_mention.section["element_id"] for placed_mention in placed_mentions],
        "anchor_id": [placed_mention.section["anchor_id"] for placed_mention in placed_mentions],
        "start": [placed_mention.start for placed_mention in placed_mentions],
        "end": [placed_mention.end for placed_mention in placed_mentions],
        "mention_start": [mention.start for mention in mentions],
        "mention_end": [mention.end for mention in mentions],
        "kind": [mention.kind for mention in mentions],
        "target": [mention.target for mention in mentions],
        "target_form": [mention.target_form for mention in mentions],
        "evidence": [placed_mention.mention_in_sentence.sentence for placed_mention in placed_mentions],
        "is_self": [placed_mention.is_self for placed_mention in placed_mentions],
        "relation": [relation.relation for relation in relations],
        "polarity": [relation.polarity for relation in relations],
        "confidence": [
            min(mention.confidence, relation.confidence) for mention, relation in zip(mentions, relations, strict=True)
        ],
        "rule_id": [
            f"{mention.rule_id}.{relation.rule_id}" for mention, relation in zip(mentions, relations, strict=True)
        ],
        "created_by": ["regex"] * len(placed_mentions),
        **{name: [link_target[name] for link_target in link_targets] for name in LED_COLUMNS},
    }
    return build_frame(columns, References)


def _find_page(section: SectionRecord, offset: int) -> int:
    """Take the page of the printed line that holds a character; a paragraph may run over a page's end."""
    for piece in section["pieces"] or ():
        if piece["start"] <= offset < piece["end"]:
            return int(piece["page"])
    return int(section["page"])


def _read_in_kind(text: str, mention: Mention, *, doc_type: str, separators: frozenset[str]) -> Mention | None:
    """Read a bare section number as the document's kind does: a statute cites itself, all others the tax code."""
    after = text[mention.group[1] :]
    if mention.rule_id in ("own_law_section", "own_plain_section", "regulation_by_sign"):
        return _read_own_law(mention, is_statute=doc_type == "statute", separators=separators)
    if mention.target.startswith("26 "):
        kind = {"statute_section": "irc_section", "regulation": "regulation"}[mention.kind]
        name = re.sub(r"^26 (?:U\.S\.C\.|CFR)", "IRC" if kind == "irc_section" else "Regs", mention.target)
        return replace(mention, kind=kind, target=name)
    if mention.rule_id == "statute_section" and doc_type != "statute":
        return replace(mention, kind="irc_section", target=mention.target.replace("sec_", "IRC ", 1))
    if mention.rule_id != "code_section" or load_references().context.tax_code_after.pattern.match(after):
        return mention
    if doc_type == "statute":
        if load_references().context.session_law_before.pattern.search(
            text[max(0, mention.group[0] - 20) : mention.group[0]]
        ):
            return None
        if (
            load_references().context.code_named_before.pattern.match(after)
            and "internal revenue code" in text[: mention.start].lower()
        ):
            return mention
        number = mention.target.removeprefix("IRC ").split("(")[0]
        return replace(mention, kind="statute_section", target=f"sec_{number}")
    before = text[max(0, mention.group[0] - 60) : mention.group[0]]
    if load_references().context.foreign_section_before.pattern.search(
        before
    ) or load_references().context.foreign_section_after.pattern.match(after):
        return None
    if load_references().context.own_section.pattern.match(mention.target):
        return replace(mention, kind="section", target=mention.target.replace("IRC", "section", 1))
    return mention


def _read_own_law(mention: Mention, *, is_statute: bool, separators: frozenset[str]) -> Mention | None:
    """Read a divided section number: in a code that numbers so it is its own, elsewhere only a regulation's counts."""
    if not is_statute:
        return mention if mention.kind == "regulation" else None
    number = re.sub(r"^(?:sec_|Regs )", "", mention.target).split("(")[0]
    if separators and not separators & {*_separators_of(number)}:
        return mention if mention.kind == "regulation" else None
    return replace(mention, kind="statute_section", target=f"sec_{number}")


def _find_separators(anchors_by_id: Mapping[str, AnchorRecord]) -> frozenset[str]:
    """Find by which signs a code divides the numbers of its own sections; `plain` where by none."""
    keys = [
        (row["key"] or "").removeprefix("sec_") for row in anchors_by_id.values() if row["kind"] == "statute_section"
    ]
    return frozenset(sign for key in keys for sign in _separators_of(key))


def _separators_of(number: str) -> list[str]:
    return re.findall(r"[.:-](?=\d)", number)[:1] or ["plain"]


def _inherit_forms(mentions: list[Mention]) -> list[Mention]:
    """Assign to a box or line without a form the form named last before it: a publication has no form of its own."""
    last_form = ""
    new_mentions: list[Mention] = []
    for mention in mentions:
        if mention.kind == "form":
            last_form = mention.target.removeprefix("Form ")
        elif mention.kind in ("box", "line") and not is_on_worksheet(mention):
            if mention.target_form:
                last_form = mention.target_form
            elif last_form and (mention.kind == "box" or last_form.startswith("Schedule")):
                mention = replace(mention, target_form=last_form, is_form_inherited=True)
        new_mentions.append(mention)
    return new_mentions


def _localize(mention: Mention, *, own_forms: set[str]) -> Mention:
    """Drop the form of a box or line where it is the own form; write it into the target of a line elsewhere."""
    if mention.target_form in own_forms:
        return replace(mention, target_form="")
    if mention.kind == "line" and mention.target_form:
        form = mention.target_form
        shown_form = form if form.startswith("Schedule") else f"Form {form}"
        return replace(mention, target=f"{mention.target} ({shown_form})")
    return mention


def _is_elsewhere(text: str, mention: Mention) -> bool:
    """Decide whether words place a heading elsewhere: of two forms in one booklet, the other one's box."""
    after = text[max(mention.group[1], mention.end) :]
    return mention.kind == "box" and load_references().context.elsewhere_after.pattern.match(after) is not None


def _is_self(mention: Mention, *, owner: Owner) -> bool:
    """Decide whether the text mentions its own box, line, section, form or publication."""
    if mention.kind in ("box", "line", "statute_section"):
        return not mention.target_form and mention.target in owner.keys
    if mention.kind == "form":
        code = mention.target.removeprefix("Form ")
        series = {form.split("-")[0] for form in owner.forms} & load_references().form_series
        schedules = {form.split(" (")[0] for form in owner.forms if form.startswith("Schedule")}
        return code in owner.forms | series | schedules
    return mention.kind == "publication" and mention.target == owner.document_form
