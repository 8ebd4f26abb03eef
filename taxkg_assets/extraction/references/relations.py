"""What a sentence says about the thing it names: relation and polarity, by the ordered tests of the labeling guide.

How far a clause reaches is decided in `clauses`, what its verbs say in `predicates`. Here the first test that says yes
decides: definition, pointer, exclusion, limit, condition, amount, duty; what is left only names its target.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

from taxkg_assets.extraction.references.amounts import (
    read_destination,
    read_law_name,
    read_source,
)
from taxkg_assets.extraction.references.clause_view import (
    AMOUNT_KINDS,
    ClauseView,
    MentionInSentence,
    Relation,
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
        start: Offset of the mention's first character.
        end: Offset after its last character.

    Returns:
        Range of the sentence, half-open.
    """
    # The last sentence that begins at or before the mention.
    ix = max(bisect_right(sentences, start, key=itemgetter(0)) - 1, 0)
    sentence_start, sentence_end = sentences[ix]
    return min(sentence_start, start), max(sentence_end, end)


def classify_relations(mentions: Sequence[MentionInSentence]) -> list[Relation]:
    """Classify the relation that each sentence states about its mention.

    Args:
        mentions: Mentions in their sentences.

    Returns:
        Relations in the same order.

    Source:
        rules/relations.yaml, rules/predicates.yaml, rules/polarity.yaml.
    """
    innermost_mentions = [_step_inside(mention) for mention in mentions]
    marked_sentences = [_mark(mention) for mention in innermost_mentions]
    rule_words = open_clause_screen().read([before + after for before, after in marked_sentences])
    return [
        _find_relation(mention, before=before, after=after, rule_words=words)
        for mention, (before, after), words in zip(innermost_mentions, marked_sentences, rule_words, strict=True)
    ]


def _step_inside(mention: MentionInSentence) -> MentionInSentence:
    """Leave what is around a parenthesis that says something of its own about the mention."""
    inner = read_parenthesis(mention.sentence, start=mention.start, end=mention.end)
    while inner is not None:
        low, high = inner
        start, end = mention.start - low, mention.end - low
        masks = tuple((at - low, to - low, word) for at, to, word in mention.masks if low <= at and to <= high)
        mention = replace(mention, sentence=mention.sentence[low:high], start=start, end=end, masks=masks, lead="")
        inner = read_parenthesis(mention.sentence, start=mention.start, end=mention.end)
    return mention


def _mark(mention: MentionInSentence) -> tuple[str, str]:
    """Write the mention as `@` and mask others: the sentence before it with the mark, and after it."""
    text = mention.sentence.replace("@", " ")
    before, after = text[: mention.start], text[mention.end :]
    for start, end, word in sorted(mention.masks, reverse=True):
        if end <= mention.start:
            before = f"{before[:start]}{word}{before[end:]}"
        elif start >= mention.end:
            after = f"{after[: start - mention.end]}{word}{after[end - mention.end :]}"
    before = prepend_auxiliary(mention.lead, before)
    return _drop_insertions(before) + "@", _drop_insertions(after)


def _drop_insertions(text: str) -> str:
    return without_ellipses(without_parentheses(without_quotations(text)))


def _find_relation(mention: MentionInSentence, *, before: str, after: str, rule_words: int) -> Relation:
    marked_sentence = before + after
    clause, sort = read_clause(
        marked_sentence, find_clauses(marked_sentence, rule_words=rule_words), position=len(before) - 1
    )
    head, _, tail = clause.partition("@")
    verbs = read_predicates(head)
    if not verbs and len(head) < len(before) - 1 and load_relations().bare_items.matches(head):
        # An item of a list that semicolons divide continues with the verb of the first.
        head = before[:-1]
        verbs = read_predicates(head)
    # Where a clause continues after another one, words that neither holds may stand where they meet.
    view = ClauseView(
        mention, marked_sentence, head, tail, sort, verbs, rule_words if clause in marked_sentence else ALL_WORDS
    )
    relation = _decide(view)
    if mention.is_self and relation.relation in ("includes", "portion_of", "excludes"):
        polarity = "negative" if relation.relation == "excludes" else "positive"
        relation = Relation("requires" if relation.relation != "includes" else "references", polarity, relation.rule_id)
    if mention.is_container and relation.relation == "portion_of":
        relation = Relation("requires", "positive", "holder_of_target")
    return relation


def _decide(view: ClauseView) -> Relation:
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


def _read_fixed_cue(view: ClauseView) -> Relation | None:
    """Definitions, exceptions and limits have words of their own, whatever the clause's verb."""
    found = match_cue(load_relations().cues, view)
    if found is not None and found.rule_id == "does_not_apply" and view.sort == CONDITION:
        # `does not apply if …` states a condition, and denies nothing.
        return Relation("applies_if", "negative", "condition_on_target")
    return found


def _read_pointer(view: ClauseView) -> Relation | None:
    """A pointer only names its target, unless it points at an exception or turns against the rule before it."""
    pointing_verb = next(
        (
            predicate
            for predicate in reversed(view.verbs)
            if predicate.sense == POINT and predicate.mood in (DUTY, PERMISSION)
        ),
        None,
    )
    governing_verb = view.governing
    if pointing_verb is None or governing_verb is None:
        return None
    if governing_verb is not pointing_verb and not load_relations().complements.matches(
        view.before[pointing_verb.end : governing_verb.start]
    ):
        return None
    if view.mention.kind == "section" and load_relations().names_of_limits.matches(view.mention.name):
        return Relation("qualifies", "positive", "see_limit")
    if load_relations().turns.matches(view.before[: pointing_verb.end]):
        return Relation("qualifies", "positive", "however_see")
    if view.mention.kind == "section" and load_relations().names_of_definitions.matches(view.mention.name):
        return Relation("defines", "positive", "see_definition")
    return Relation("references", "positive", "see_target")


def _read_condition(view: ClauseView) -> Relation | None:
    if view.sort == ASIDE:
        return Relation("references", "positive", "aside")
    if view.sort != CONDITION:
        return match_cue(load_relations().leading_conditions, view)
    words_before = " ".join(view.before.split()[-load_polarity().denial_reach_words :])
    denials = load_polarity().denials_after
    is_denied = is_negated(words_before) or any(rule.pattern.match(view.after) for rule in denials)
    return Relation("applies_if", "negative" if is_denied else "positive", "condition_on_target")


def _read_subject(view: ClauseView) -> Relation | None:
    """The target begins its clause, and the words after it say what becomes of it."""
    return match_cue(load_relations().subjects, view)


def _read_object(view: ClauseView) -> Relation | None:
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
    if verb.mood == DUTY and view.mention.kind not in ("irc_section", "url"):
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


def _read_lead(view: ClauseView) -> Relation | None:
    """The sentence that leads a list says what becomes of the targets that its items name."""
    if load_relations().conditional_leads.matches(view.mention.lead) and _is_fact(view):
        return Relation("applies_if", "negative" if is_negated(view.before) else "positive", "listed_condition")
    verb = find_lead_verb(view.mention.lead)
    if verb is None or view.governing is not None or not is_label(view):
        return None
    if not load_relations().item_heads.matches(view.before):
        return None
    if verb.sense == DO and view.mention.kind in ("form", "publication", "section"):
        if not load_relations().item_starts.matches(view.before):
            return None
        if verb.mood in (DUTY, BAN, RELIEF):
            return Relation("requires", "positive" if verb.mood == DUTY else "negative", "listed_to_do")
        return None
    if verb.sense == PLACE and view.mention.kind in AMOUNT_KINDS:
        if verb.mood in (BAN, RELIEF):
            return Relation("excludes", "negative", "listed_as_excluded")
        return Relation("includes", "positive", "listed_as_included") if verb.mood == DUTY else None
    return None


def _is_fact(view: ClauseView) -> bool:
    """Decide whether an item states a fact, as the items of a conditional lead do."""
    verb = view.governing
    return view.sort != CONDITION and (verb.mood == FACT if verb is not None else not is_label(view))
