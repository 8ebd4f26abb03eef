"""What a sentence says about the thing it names: relation and polarity, by the ordered tests of the labeling guide.

How far a clause reaches is decided in `clauses`, what its verbs say in `predicates`. Here the first test that says yes
decides: definition, pointer, exclusion, limit, condition, amount, duty; what is left only names its target.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from taxkg_assets.extraction.references.amounts import (
    read_destination,
    read_law_name,
    read_source,
)
from taxkg_assets.extraction.references.clause_view import (
    AMOUNT_KINDS,
    MentionInSentence,
    Relation,
    View,
    find_lead_verb,
    is_label,
    match_cue,
)
from taxkg_assets.extraction.references.clauses import (
    ASIDE,
    CONDITION,
    find_clauses,
    is_negated,
    open_clause_screen,
    read_clause,
    read_parenthesis,
    without_ellipses,
    without_parentheses,
    without_quotations,
)
from taxkg_assets.extraction.references.list_leads import prepend_auxiliary
from taxkg_assets.extraction.references.predicates import (
    BAN,
    COMPUTE,
    DO,
    DUTY,
    FACT,
    FINITE,
    PERMISSION,
    PLACE,
    POINT,
    PURPOSE,
    RELIEF,
    SKIP,
    read_predicates,
)
from taxkg_assets.extraction.regex_prefilter import ALL_WORDS
from taxkg_assets.rules.models.polarity import load_polarity
from taxkg_assets.rules.models.relations import load_relations


def find_sentence_at(sentences: list[tuple[int, int]], *, start: int, end: int) -> tuple[int, int]:
    """Return the sentence that contains a mention, extended if the mention crosses its end.

    Args:
        sentences: Ranges of the sentences of a text, in characters.
        start: Beginning of the mention.
        end: Its end.

    Returns:
        Range of the sentence.
    """
    ix = max(bisect_right(sentences, (start, 1 << 60)) - 1, 0)
    low, high = sentences[ix]
    return min(low, start), max(high, end)


def classify_relations(mentioned: Sequence[MentionInSentence]) -> list[Relation]:
    """Classify the relation that each sentence states about its mention.

    Args:
        mentioned: Mentions in their sentences.

    Returns:
        Relations in the same order.

    Source:
        rules/relations.yaml, rules/predicates.yaml, rules/polarity.yaml.
    """
    inmost = [_step_inside(one) for one in mentioned]
    marked = [_mark(one) for one in inmost]
    rule_words = open_clause_screen().read([before + after for before, after in marked])
    return [
        _find_relation(one, before=before, after=after, rule_words=words)
        for one, (before, after), words in zip(inmost, marked, rule_words, strict=True)
    ]


def _step_inside(mentioned: MentionInSentence) -> MentionInSentence:
    """Leave what is around a parenthesis that says something of its own about the mention."""
    inner = read_parenthesis(mentioned.sentence, start=mentioned.start, end=mentioned.end)
    while inner is not None:
        low, high = inner
        start, end = mentioned.start - low, mentioned.end - low
        masks = tuple((at - low, to - low, word) for at, to, word in mentioned.masks if low <= at and to <= high)
        mentioned = replace(
            mentioned, sentence=mentioned.sentence[low:high], start=start, end=end, masks=masks, lead=""
        )
        inner = read_parenthesis(mentioned.sentence, start=mentioned.start, end=mentioned.end)
    return mentioned


def _mark(mentioned: MentionInSentence) -> tuple[str, str]:
    """Write the mention as `@` and mask others: the sentence before it with the mark, and after it."""
    text = mentioned.sentence.replace("@", " ")
    before, after = text[: mentioned.start], text[mentioned.end :]
    for start, end, word in sorted(mentioned.masks, reverse=True):
        if end <= mentioned.start:
            before = f"{before[:start]}{word}{before[end:]}"
        elif start >= mentioned.end:
            after = f"{after[: start - mentioned.end]}{word}{after[end - mentioned.end :]}"
    before = prepend_auxiliary(mentioned.lead, before)
    return _drop_insertions(before) + "@", _drop_insertions(after)


def _drop_insertions(text: str) -> str:
    return without_ellipses(without_parentheses(without_quotations(text)))


def _find_relation(mentioned: MentionInSentence, *, before: str, after: str, rule_words: int) -> Relation:
    marked = before + after
    clause, sort = read_clause(marked, find_clauses(marked, rule_words=rule_words), at=len(before) - 1)
    head, _, tail = clause.partition("@")
    verbs = read_predicates(head)
    if not verbs and len(head) < len(before) - 1 and load_relations().bare_items.matches(head):
        # An item of a list that semicolons divide continues with the verb of the first.
        head = before[:-1]
        verbs = read_predicates(head)
    # Where a clause continues after another one, words that neither holds may stand where they meet.
    view = View(mentioned, marked, head, tail, sort, verbs, rule_words if clause in marked else ALL_WORDS)
    found = _decide(view)
    if mentioned.is_self and found.relation in ("includes", "portion_of", "excludes"):
        polarity = "negative" if found.relation == "excludes" else "positive"
        found = Relation("requires" if found.relation != "includes" else "references", polarity, found.rule_id)
    if mentioned.is_container and found.relation == "portion_of":
        found = Relation("requires", "positive", "holder_of_target")
    return found


def _decide(view: View) -> Relation:
    for test in (
        _read_fixed_cue,
        _read_pointer,
        _read_condition,
        _read_subject,
        read_source,
        read_law_name,
        read_destination,
        _read_object,
        _read_lead,
    ):
        found = test(view)
        if found is not None:
            return found
    verbs = (*view.verbs, *read_predicates(view.after))
    is_ordered = any(verb.mood in (DUTY, BAN, RELIEF) and verb.sense != POINT for verb in verbs)
    return Relation("references", "positive", "unreached_mention" if is_ordered else "plain_mention")


def _read_fixed_cue(view: View) -> Relation | None:
    """Definitions, exceptions and limits have words of their own, whatever the clause's verb."""
    found = match_cue(load_relations().cues, view)
    if found is not None and found.rule_id == "does_not_apply" and view.sort == CONDITION:
        # `does not apply if …` states a condition, and denies nothing.
        return Relation("applies_if", "negative", "condition_on_target")
    return found


def _read_pointer(view: View) -> Relation | None:
    """A pointer only names its target, unless it points at an exception or turns against the rule before it."""
    verb = next(
        (
            predicate
            for predicate in reversed(view.verbs)
            if predicate.sense == POINT and predicate.mood in (DUTY, PERMISSION)
        ),
        None,
    )
    last = view.governing
    if verb is None or last is None:
        return None
    if last is not verb and not load_relations().complements.matches(view.before[verb.end : last.start]):
        return None
    if view.mentioned.kind == "section" and load_relations().names_of_limits.matches(view.mentioned.name):
        return Relation("qualifies", "positive", "see_limit")
    if load_relations().turns.matches(view.before[: verb.end]):
        return Relation("qualifies", "positive", "however_see")
    if view.mentioned.kind == "section" and load_relations().names_of_definitions.matches(view.mentioned.name):
        return Relation("defines", "positive", "see_definition")
    return Relation("references", "positive", "see_target")


def _read_condition(view: View) -> Relation | None:
    if view.sort == ASIDE:
        return Relation("references", "positive", "aside")
    if view.sort != CONDITION:
        return match_cue(load_relations().leading_conditions, view)
    near = " ".join(view.before.split()[-load_polarity().denial_reach_words :])
    denials = load_polarity().denials_after
    is_denied = is_negated(near) or any(rule.pattern.match(view.after) for rule in denials)
    return Relation("applies_if", "negative" if is_denied else "positive", "condition_on_target")


def _read_subject(view: View) -> Relation | None:
    """The target begins its clause, and the words after it say what becomes of it."""
    return match_cue(load_relations().subjects, view)


def _read_object(view: View) -> Relation | None:
    """The reader must do something with the target itself: file, complete, use, check, skip it."""
    verb = next((predicate for predicate in reversed(view.verbs) if predicate.mood in (*FINITE, PURPOSE)), None)
    if verb is None or verb.mood not in FINITE or verb.is_passive:
        return match_cue(load_relations().duties, view)
    phrase = _skip_receiver(view.before[verb.start :], length=verb.end - verb.start, after=view.after)
    is_object = (
        load_relations().objects.matches(phrase)
        or (verb.sense == COMPUTE and load_relations().applied_rules.matches(phrase))
        or (verb.sense == DO and load_relations().listed_objects.matches(phrase))
    )
    if not is_object or verb.sense == POINT:
        return match_cue(load_relations().duties, view)
    if verb.sense == SKIP:
        return Relation("requires", "negative", "skip_target") if verb.mood in (DUTY, PERMISSION) else None
    if verb.mood in (BAN, RELIEF):
        return Relation("requires", "negative", "must_not_do" if verb.mood == BAN else "need_not_do")
    if verb.mood == DUTY and view.mentioned.kind not in ("irc_section", "url"):
        return Relation("requires", "positive", "must_do")
    return Relation("references", "positive", "may_do") if verb.mood == PERMISSION else None


def _skip_receiver(phrase: str, *, length: int, after: str) -> str:
    """Leave out the verb, and who gets the thing: of `send the buyer a copy of` the words `a copy of` remain.

    A verb after the target may show that the words are a clause of their own: `give the date the form was sent`.
    """
    receivers = load_relations().indirect_objects
    whole = f"{phrase}@{after}"
    match = next((found for rule in receivers if (found := rule.pattern.match(whole)) is not None), None)
    return phrase[length:] if match is None else f" {phrase[match.end() :]}"


def _read_lead(view: View) -> Relation | None:
    """The sentence that leads a list says what becomes of the targets that its items name."""
    if load_relations().conditional_leads.matches(view.mentioned.lead) and _is_fact(view):
        return Relation("applies_if", "negative" if is_negated(view.before) else "positive", "listed_condition")
    verb = find_lead_verb(view.mentioned.lead)
    if verb is None or view.governing is not None or not is_label(view):
        return None
    if not load_relations().item_heads.matches(view.before):
        return None
    if verb.sense == DO and view.mentioned.kind in ("form", "publication", "section"):
        if not load_relations().item_starts.matches(view.before):
            return None
        if verb.mood in (DUTY, BAN, RELIEF):
            return Relation("requires", "positive" if verb.mood == DUTY else "negative", "listed_to_do")
        return None
    if verb.sense == PLACE and view.mentioned.kind in AMOUNT_KINDS:
        if verb.mood in (BAN, RELIEF):
            return Relation("excludes", "negative", "listed_as_excluded")
        return Relation("includes", "positive", "listed_as_included") if verb.mood == DUTY else None
    return None


def _is_fact(view: View) -> bool:
    """Decide whether an item states a fact, as the items of a conditional lead do."""
    verb = view.governing
    return view.sort != CONDITION and (verb.mood == FACT if verb is not None else not is_label(view))
