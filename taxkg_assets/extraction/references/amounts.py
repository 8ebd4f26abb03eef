"""Tests on amounts and places: what an owner takes in from a target, keeps out, or puts into it."""

from __future__ import annotations

from taxkg_assets.extraction.references.clause_view import (
    AMOUNT_KINDS,
    LAW_KINDS,
    ClauseView,
    Relation,
    find_lead_verb,
    is_label,
)
from taxkg_assets.extraction.references.list_leads import denies, excludes_amounts
from taxkg_assets.extraction.references.predicates import (
    BAN,
    COMPUTE,
    DO,
    DUTY,
    FACT,
    FINITE,
    MODIFIER,
    PERMISSION,
    PLACE,
    PURPOSE,
    RELIEF,
    SKIP,
    Predicate,
    read_predicates,
)
from taxkg_assets.rules.models.relations import load_relations


def read_source(view: ClauseView) -> Relation | None:
    """Detect that an amount of the target is included in the owner's amount, or excluded from it.

    The owner is the box, line or section that the text is about: `include line 4` in the text of line 9.

    Args:
        view: Clause around the mention of the target.

    Returns:
        The relation; None if the clause states none.
    """
    mention = view.mention
    has_amount = mention.holds_amount or bool(mention.lead)
    if mention.kind not in AMOUNT_KINDS or mention.kind == "irc_section" or not has_amount:
        return None
    source = _find_source(view)
    if source is None or _goes_elsewhere(view):
        return None
    is_taken_off, modifier = source
    finite_verbs = [predicate for predicate in view.verbs if predicate.mood in FINITE and predicate is not modifier]
    verb = finite_verbs[-1] if finite_verbs else None
    if _is_part_of(verb):
        return None
    mood = verb.mood if verb is not None else _read_lead_mood(view)
    is_in_denying_list = verb is None and denies(mention.lead)
    if is_in_denying_list and mood != BAN:
        return None
    is_negated = modifier is not None and modifier.is_negated
    if is_taken_off or is_negated or mood == BAN:
        return Relation("excludes", "negative", "amount_taken_off" if is_taken_off else "amount_kept_out")
    if _is_portion(view):
        return Relation("portion_of", "positive", "amount_included_in")
    if verb is not None:
        takes_amount = _takes_in(verb)
    else:
        takes_amount = load_relations().equations.matches(view.before) or is_label(view)
    return Relation("includes", "positive", "amount_from_target") if takes_amount else None


def _is_portion(view: ClauseView) -> bool:
    """Decide whether a clause is about a part of the target's amount: `the dues included in box 4`."""
    mention = view.mention
    if mention.kind not in ("box", "line") or not mention.holds_amount or mention.lead:
        return False
    return any(predicate.mood == MODIFIER and predicate.word == "included" for predicate in view.verbs)


def _is_part_of(verb: Predicate | None) -> bool:
    """Decide whether the clause says that something is included somewhere: the owner's amount, as a rule."""
    if verb is None or verb.word != "included" or verb.mood != DUTY:
        return False
    return verb.auxiliary.split()[0] in ("is", "are")


def _takes_in(verb: Predicate) -> bool:
    return verb.sense in (PLACE, COMPUTE) and verb.mood in (DUTY, PERMISSION)


def _find_source(view: ClauseView) -> tuple[bool, Predicate | None] | None:
    """Decide whether the words before the target name an amount in it: taken off or not, and the participle."""
    last_verb = view.verbs[-1] if view.verbs else None
    is_description = (
        last_verb is not None and last_verb.mood in (MODIFIER, FACT) and last_verb.sense in (PLACE, COMPUTE, DO)
    )
    if (
        last_verb is not None
        and is_description
        and load_relations().source_prepositions.matches(view.before[last_verb.end :])
    ):
        return False, last_verb
    is_placed = _is_placed(view)
    words_before = view.near
    lower_words = words_before.lower()
    for rule in load_relations().sources:
        if rule.not_after_place and is_placed:
            continue
        if rule.may_match(lower_words) and rule.pattern.search(words_before):
            return rule.is_taken_off, None
    return None


def _is_placed(view: ClauseView) -> bool:
    """Decide whether the verb puts an amount somewhere: `enter the total in` does, `includes it in` does not."""
    verb = view.governing
    return verb is not None and verb.sense == PLACE and verb.word not in ("includes", "including")


def _goes_elsewhere(view: ClauseView) -> bool:
    """Decide whether the clause carries the amount to a place that is not the owner."""
    return load_relations().other_places.matches(view.before) or load_relations().other_places_after.matches(view.after)


def _read_lead_mood(view: ClauseView) -> str:
    """Read what the sentence that leads a list states about its items: the mood of its last statement, or nothing."""
    if excludes_amounts(view.mention.lead):
        return BAN
    verb = find_lead_verb(view.mention.lead)
    return verb.mood if verb is not None and verb.sense == PLACE else ""


def read_law_name(view: ClauseView) -> Relation | None:
    """Detect that an amount defined by a law section is included in the owner's amount, or excluded from it.

    The mood of the verb decides: a duty (`report section 7 gain`) includes the amount, a ban or relief (`do not report
    section 7 gain`) excludes it.

    Args:
        view: Clause around the mention of the law section.

    Returns:
        The relation; None if the clause states none.
    """
    rules = load_relations()
    is_law = view.mention.kind in ("irc_section", "statute_section")
    if not is_law or rules.authorities.matches(view.clause) or rules.other_places.matches(view.before):
        return None
    lead_mood = _read_lead_mood(view)
    if not view.mention.holds_amount and not lead_mood:
        return None
    verb = view.governing
    if verb is not None:
        mood = verb.mood if _governs_amount(verb, view) else ""
    elif _is_placed_after(view) and not rules.statements.matches(view.before):
        mood = DUTY
    else:
        mood = _read_label_mood(view, lead_mood)
    if mood in (BAN, RELIEF):
        return Relation("excludes", "negative", "law_kept_out")
    return Relation("includes", "positive", "law_taken_in") if mood == DUTY else None


def _governs_amount(verb: Predicate, view: ClauseView) -> bool:
    """Decide whether a verb is about the amount of a law section: `include`, `use … to figure`, `do not file`."""
    if verb.sense == PLACE or (verb.sense == DO and verb.mood == BAN):
        return True
    has_purpose = any(predicate.sense == PLACE and predicate.mood == PURPOSE for predicate in view.verbs)
    return verb.sense in (DO, SKIP) and has_purpose


def _read_label_mood(view: ClauseView, lead_mood: str) -> str:
    """Return what a label without a verb does with the amount of a law section; empty for nothing."""
    is_in_denying_list = lead_mood not in (BAN, RELIEF) and denies(view.mention.lead)
    if not is_label(view) or is_in_denying_list:
        return ""
    return lead_mood or DUTY


def _is_placed_after(view: ClauseView) -> bool:
    """Decide whether the words after a law section report its amount: `pay under a @ plan is reported in`."""
    verb = next((predicate for predicate in read_predicates(view.after) if predicate.mood in FINITE), None)
    return verb is not None and verb.sense == PLACE and verb.is_passive and verb.mood == DUTY


def read_destination(view: ClauseView) -> Relation | None:
    """Detect that the owner's amount goes to the target or is used there: `report this amount on line 7`.

    Args:
        view: Clause around the mention of the target.

    Returns:
        The relation; None if the clause states none.
    """
    fronted_destination = _find_fronted_destination(view)
    verb, phrase = fronted_destination if fronted_destination is not None else _find_destination(view)
    if verb is None or verb.mood not in FINITE:
        return None
    is_field = view.mention.kind in ("box", "line")
    is_owners_amount = view.mention.holds_amount and not view.mention.is_denied
    is_whole = is_owners_amount and verb.sense == PLACE and _is_whole(verb, phrase, text_after=view.after)
    if verb.mood == BAN:
        if verb.sense == PLACE and is_field and view.mention.holds_amount and not view.mention.is_self:
            return Relation("excludes", "negative", "not_put_into")
        return Relation("requires", "negative", "must_not_put_into")
    if verb.mood == RELIEF:
        return Relation("requires", "negative", "need_not_put_into")
    if verb.sense == PLACE and is_field and is_whole and verb.mood in (DUTY, PERMISSION, FACT):
        return Relation("portion_of", "positive", "amount_put_into")
    if verb.mood == DUTY:
        return Relation("requires", "positive", "put_into")
    return Relation("references", "positive", "may_put_into")


def _is_whole(verb: Predicate, phrase: str, *, text_after: str) -> bool:
    """Decide whether what is put somewhere is the owner's amount; its name may follow the place."""
    if _is_part_of(verb):
        return not load_relations().partial_amounts.matches(phrase)
    if verb.is_passive or not load_relations().bare_places.matches(phrase):
        return load_relations().whole_amounts.matches(phrase)
    return load_relations().nothing_more.matches(text_after) or load_relations().whole_amounts.matches(text_after)


def _find_fronted_destination(view: ClauseView) -> tuple[Predicate, str] | None:
    """Read a destination that is before its verb: `in box 14, enter the code`."""
    if not load_relations().fronted.matches(view.before):
        return None
    verbs = [verb for verb in read_predicates(view.after) if verb.mood in FINITE]
    if not verbs or verbs[0].sense not in (PLACE, DO, COMPUTE):
        return None
    return verbs[0], view.after[verbs[0].end :]


def _find_destination(view: ClauseView) -> tuple[Predicate | None, str]:
    """Find the verb whose place is the target, and the words that name what is put there."""
    if view.mention.kind in (*LAW_KINDS, "url") or not load_relations().destinations.matches(view.near):
        return None, ""
    verb = next((predicate for predicate in reversed(view.verbs) if predicate.mood in (*FINITE, PURPOSE)), None)
    last_verb = view.verbs[-1] if view.verbs else None
    if verb is None or last_verb is None or verb.sense not in (PLACE, DO, COMPUTE):
        return None, ""
    is_described = (
        last_verb.mood == MODIFIER
        and not _is_part_of(verb)
        and load_relations().source_prepositions.matches(view.before[last_verb.end :])
    )
    if is_described or (not _is_part_of(verb) and load_relations().described_places.matches(view.before[verb.end :])):
        return None, ""
    phrase = view.before[: verb.head_end] if verb.is_passive else view.before[verb.end :]
    return verb, phrase
