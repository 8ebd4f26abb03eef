"""Rules instead of a model for questions and passages: judging, grading, expansion, summaries, answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from taxkg_assets.llm.evidence import cite
from taxkg_assets.llm.normalization import content_stems, find_figures, score_coverage
from taxkg_assets.llm.question_validation import find_question_flaw
from taxkg_assets.prompts.contract import Block, Claim, Evidence
from taxkg_assets.prompts.tasks import (
    CLAIMED_GRADE,
    AnswerProposal,
    GradeProposal,
    HydeItem,
    HydeProposal,
    NegativeItem,
    NegativeProposal,
    PairProposal,
    PassageItem,
    QuestionItem,
    ScenarioProposal,
    SummaryItem,
    SummaryProposal,
)
from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.rules.models.lay_terms import load_lay_terms
from taxkg_assets.rules.models.llm import load_llm
from taxkg_assets.rules.sentences import find_sentence_parts


def propose_scenario_queries(item: PassageItem) -> ScenarioProposal:
    """Propose a plain question about the passage's innermost heading, if the passage mentions its subject.

    Args:
        item: Passage with its heading path.
    """
    subject = item.heading_path.rpartition(" > ")[2].rstrip(".:")
    best = _best_sentence(item.blocks, content_stems(subject)) if subject else None
    templates = load_llm().questions if best else []
    questions = [template.format(subject=subject) for template in templates]
    fair = tuple(question for question in questions if best and not find_question_flaw(question, best[1].quote))
    return ScenarioProposal(
        item_id=item.item_id, confidence=0.3, evidence=(best[1],) if fair and best else (), questions=fair
    )


def propose_pair_judging(item: QuestionItem) -> PairProposal:
    """Judge a pair valid if the passage contains enough of the question's words or their document terms.

    Args:
        item: Question and passage.

    Returns:
        Verdict with the best sentence as evidence.
    """
    wanted, present = content_stems(item.question), _content_of(item.blocks)
    share = score_coverage(wanted, present | _find_lay_words(item.question, present))
    is_valid = share >= load_llm().pairs.least_share
    return PairProposal(
        item_id=item.item_id,
        confidence=round(max(share, 1 - share), 3),
        evidence=_evidence(item.blocks, wanted) if is_valid else (),
        is_valid=is_valid,
        reason=f"contains {share:.0%} of the question's words",
    )


def propose_negative_judging(item: NegativeItem) -> NegativeProposal:
    """Judge whether a hard negative actually answers the question.

    It does if it says nearly the same as the positive, or is part of the positive and contains everything that the
    question asks for. Shared headings do not count as similarity: neighbors in a booklet share a long heading path. It
    does not if it lacks a figure or key of the question that the positive has, or is about another box.

    Args:
        item: Question, positive and negative.

    Returns:
        Verdict, with evidence where the negative is false.
    """
    limits, wanted = load_llm().negatives, content_stems(item.question)
    present, said = _content_of(item.blocks), content_stems(item.positive)
    share = score_coverage(wanted, present | _find_lay_words(item.question, present))
    right = score_coverage(wanted, said | _find_lay_words(item.question, said))
    similarity = _score_similarity(item.blocks, item.positive)
    answers = share >= limits.least_share and share >= limits.of_positive * right
    is_like = similarity >= limits.same or (answers and similarity >= limits.alike)
    figures = find_figures(item.question) & find_figures(item.positive)
    text = "\n".join(block.text for block in item.blocks)
    positive_key, other = _find_own_key(item.positive), _find_own_key(text)
    is_elsewhere = positive_key != other and bool(positive_key and other)
    is_false = is_like and not is_elsewhere and figures <= find_figures(text)
    return NegativeProposal(
        item_id=item.item_id,
        confidence=round(max(share, 1 - share), 3),
        evidence=_evidence(item.blocks, wanted) if is_false else (),
        is_false_negative=is_false,
        reason=f"contains {share:.0%} of the question's words; the positive passage contains {right:.0%}",
    )


def _score_similarity(blocks: Sequence[Block], positive: str) -> float:
    """Return the share of common content words, headings left out, 0 to 1."""
    words, right = (
        _content_of_texts(_strip_context(block.text) for block in blocks),
        content_stems(_strip_context(positive)),
    )
    return len(words & right) / max(1, len(words | right))


def _strip_context(passage: str) -> str:
    """Return a passage without its line of headings."""
    for rule in load_llm().context_lines:
        passage = rule.pattern.sub("", passage, count=1)
    return passage


def propose_hyde(item: HydeItem) -> HydeProposal:
    """Expand a question by the corpus's terms for its words, inventing nothing.

    Args:
        item: Question and terms of the corpus.
    """
    terms = item.vocabulary[: load_llm().hyde.terms]
    passage = " ".join([item.question, *terms])
    return HydeProposal(item_id=item.item_id, confidence=0.3, evidence=(), passage=passage, terms=terms)


def propose_relevance_grading(item: QuestionItem) -> GradeProposal:
    """Grade relevance 0 to 10: ten times the share of the question's words in the passages and in their best sentence.

    Args:
        item: Question and passages.

    Returns:
        Grade with the best sentence as evidence.
    """
    rules, wanted = load_llm().grades, content_stems(item.question)
    best = _best_sentence(item.blocks, wanted)
    share = score_coverage(wanted, _content_of(item.blocks))
    grade = round(10 * (rules.all * share + rules.best_sentence * (best[0] if best else 0.0)), 2)
    evidence = (best[1],) if best and grade >= CLAIMED_GRADE else ()
    return GradeProposal(item_id=item.item_id, confidence=0.5, evidence=evidence, grade=grade)


def propose_summaries(item: SummaryItem) -> SummaryProposal:
    """Propose as summary the sentences with most of the text's frequent words, verbatim in reading order.

    Early sentences are preferred.

    Args:
        item: Text to summarize.

    Returns:
        Sentences, each with its own text as evidence.
    """
    rules = load_llm().summaries
    sized = [
        (block, start, end)
        for block in item.blocks
        for start, end in find_sentence_parts(block.text)
        if rules.least_words <= len(block.text[start:end].split()) <= rules.most_words
    ]
    places = [(block, start, end) for block, start, end in sized if _is_informative(block.text[start:end])] or sized
    contents = [content_stems(block.text[start:end]) for block, start, end in places]
    counts = Counter(word for words in contents for word in words)
    most = max(counts.values(), default=1)
    title = content_stems(item.title)

    def worth(number: int) -> float:
        words = contents[number]
        frequent: float = sum(counts[word] for word in words) / max(1, len(words)) / most
        position: float = rules.position
        return frequent + score_coverage(title, words) + position / (1 + number)

    chosen: list[int] = []
    seen: set[str] = set()
    for number in sorted(range(len(places)), key=lambda n: (-worth(n), n)):
        block, start, end = places[number]
        if len(chosen) < item.sentences and block.text[start:end] not in seen:
            chosen.append(number)
            seen.add(block.text[start:end])
    claims = tuple(_claim(*places[number]) for number in sorted(chosen))
    return SummaryProposal(
        item_id=item.item_id,
        confidence=0.5,
        evidence=tuple(e for claim in claims for e in claim.evidence),
        sentences=claims,
    )


def _is_informative(text: str) -> bool:
    """Return whether a text is a whole sentence that neither only refers elsewhere nor introduces a list."""
    return text.rstrip(')”"').endswith((".", "?", "!")) and not load_answers().pointers.matches(text)


def propose_answers(item: QuestionItem) -> AnswerProposal:
    """Propose as answer the sentences with most of the question's words, in reading order, without repetition.

    Args:
        item: Question and passages.
    """
    rules, wanted = load_llm().answers, content_stems(item.question)
    places = [(block, start, end) for block in item.blocks for start, end in find_sentence_parts(block.text)]
    contents = [content_stems(block.text[start:end]) for block, start, end in places]
    chosen: list[int] = []
    present: frozenset[str] = frozenset()
    while len(chosen) < rules.sentences:
        gains = {n: len((wanted - present) & words) for n, words in enumerate(contents) if n not in chosen}
        best = max(gains, key=lambda n: (gains[n], -n), default=None)
        if best is None or not gains[best]:
            break
        chosen.append(best)
        present |= contents[best]
    share = score_coverage(wanted, present)
    is_answerable = bool(chosen) and share >= rules.least_share
    claims = tuple(_claim(*places[n]) for n in sorted(chosen)) if is_answerable else ()
    return AnswerProposal(
        item_id=item.item_id,
        confidence=round(max(share, 1 - share), 3),
        evidence=tuple(e for claim in claims for e in claim.evidence),
        is_answerable=is_answerable,
        sentences=claims,
    )


def _claim(block: Block, start: int, end: int) -> Claim:
    return Claim(text=block.text[start:end], evidence=(cite(block, start, end),))


def _content_of(blocks: Sequence[Block]) -> frozenset[str]:
    return _content_of_texts(block.text for block in blocks)


def _content_of_texts(texts: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*(content_stems(text) for text in texts))


def _find_own_key(passage: str) -> str:
    """Return the box or line that a passage's innermost heading names; empty where it names none."""
    for rule in load_llm().own_keys:
        match = rule.pattern.search(passage)
        if match is not None:
            return match["key"].casefold()
    return ""


def _find_lay_words(question: str, present: frozenset[str]) -> frozenset[str]:
    """Return the question's everyday words for which a text has the printed terms."""
    rules = [rule for rule in load_lay_terms().rules if content_stems(rule.terms) & present]
    return frozenset().union(*(content_stems(match[0]) for rule in rules for match in rule.pattern.finditer(question)))


def _best_sentence(blocks: Sequence[Block], wanted: frozenset[str]) -> tuple[float, Evidence] | None:
    """Return the sentence with most of the wanted words, and its share of them."""
    candidates = [
        (score_coverage(wanted, content_stems(block.text[start:end])), cite(block, start, end))
        for block in blocks
        for start, end in find_sentence_parts(block.text)
    ]
    return max(candidates, key=lambda pair: pair[0]) if candidates else None


def _evidence(blocks: Sequence[Block], wanted: frozenset[str]) -> tuple[Evidence, ...]:
    best = _best_sentence(blocks, wanted)
    return (best[1],) if best else ()
