"""Rules that replace a model for questions and passages: judging, grading, expansion, summaries, answers."""

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
    evidence: tuple[Evidence, ...] = ()
    questions: tuple[str, ...] = ()
    best_sentence = _find_best_sentence(item.blocks, content_stems(subject)) if subject else None
    if best_sentence is not None:
        _, quote = best_sentence
        proposed = (template.format(subject=subject) for template in load_llm().questions)
        questions = tuple(question for question in proposed if not find_question_flaw(question, quote.quote))
        evidence = (quote,) if questions else ()
    return ScenarioProposal(item_id=item.item_id, confidence=0.3, evidence=evidence, questions=questions)


def propose_pair_judging(item: QuestionItem) -> PairProposal:
    """Judge a pair valid if the passage contains enough of the question's words or their document terms.

    Args:
        item: Question and passage.

    Returns:
        Verdict with the best sentence as evidence.
    """
    question_words = content_stems(item.question)
    passage_words = _read_words(item.blocks)
    share = score_coverage(question_words, passage_words | _find_lay_words(item.question, passage_words))
    is_valid = share >= load_llm().pairs.least_share
    return PairProposal(
        item_id=item.item_id,
        confidence=round(max(share, 1 - share), 3),
        evidence=_cite_best_sentence(item.blocks, question_words) if is_valid else (),
        is_valid=is_valid,
        reason=f"contains {share:.0%} of the question's words",
    )


def propose_negative_judging(item: NegativeItem) -> NegativeProposal:
    """Judge whether a hard negative actually answers the question.

    It does if it is nearly the same text as the positive, or a similar one with as many of the question's words. Shared
    headings do not count as similarity: neighbors in a booklet share a long heading path. It does not if it lacks a
    figure or key of the question that the positive has, or is about another box.

    Args:
        item: Question, positive and negative.

    Returns:
        Verdict, with evidence where the negative is false.
    """
    limits = load_llm().negatives
    question_words = content_stems(item.question)
    words = _read_words(item.blocks)
    positive_words = content_stems(item.positive)
    share = score_coverage(question_words, words | _find_lay_words(item.question, words))
    positive_share = score_coverage(question_words, positive_words | _find_lay_words(item.question, positive_words))
    similarity = _score_similarity(item.blocks, item.positive)
    covers_question = share >= limits.least_share and share >= limits.of_positive * positive_share
    is_similar = similarity >= limits.same or (covers_question and similarity >= limits.alike)
    required_figures = find_figures(item.question) & find_figures(item.positive)
    text = "\n".join(block.text for block in item.blocks)
    positive_key, key = _find_own_key(item.positive), _find_own_key(text)
    is_other_box = positive_key != key and bool(positive_key and key)
    is_false = is_similar and not is_other_box and required_figures <= find_figures(text)
    return NegativeProposal(
        item_id=item.item_id,
        confidence=round(max(share, 1 - share), 3),
        evidence=_cite_best_sentence(item.blocks, question_words) if is_false else (),
        is_false_negative=is_false,
        reason=f"contains {share:.0%} of the question's words; the positive passage contains {positive_share:.0%}",
    )


def _score_similarity(blocks: Sequence[Block], positive: str) -> float:
    """Return the share of common content words, headings left out, 0 to 1."""
    words = _merge_words(_strip_context(block.text) for block in blocks)
    positive_words = content_stems(_strip_context(positive))
    return len(words & positive_words) / max(1, len(words | positive_words))


def _strip_context(passage: str) -> str:
    """Return a passage without its line of headings."""
    for rule in load_llm().context_lines:
        passage = rule.pattern.sub("", passage, count=1)
    return passage


def propose_hyde(item: HydeItem) -> HydeProposal:
    """Expand a question by the corpus's terms for its words; nothing else is added.

    Args:
        item: Question and terms of the corpus.
    """
    terms = item.vocabulary[: load_llm().hyde.terms]
    passage = " ".join([item.question, *terms])
    return HydeProposal(item_id=item.item_id, confidence=0.3, evidence=(), passage=passage, terms=terms)


def propose_relevance_grading(item: QuestionItem) -> GradeProposal:
    """Grade relevance 0 to 10 by the share of the question's words in the passages and in their best sentence.

    Args:
        item: Question and passages.

    Returns:
        Grade with the best sentence as evidence.
    """
    rules = load_llm().grades
    question_words = content_stems(item.question)
    best_sentence = _find_best_sentence(item.blocks, question_words)
    sentence_share, sentence = best_sentence or (0.0, None)
    share = score_coverage(question_words, _read_words(item.blocks))
    grade = round(10 * (rules.all * share + rules.best_sentence * sentence_share), 2)
    evidence = (sentence,) if sentence is not None and grade >= CLAIMED_GRADE else ()
    return GradeProposal(item_id=item.item_id, confidence=0.5, evidence=evidence, grade=grade)


def propose_summaries(item: SummaryItem) -> SummaryProposal:
    """Propose as summary the sentences with most frequent words of the text or its title, verbatim in reading order.

    Early sentences are preferred.

    Args:
        item: Text to summarize.

    Returns:
        Sentences, each with its own text as evidence.
    """
    rules = load_llm().summaries
    usual_length = [
        (block, start, end)
        for block in item.blocks
        for start, end in find_sentence_parts(block.text)
        if rules.least_words <= len(block.text[start:end].split()) <= rules.most_words
    ]
    informative = [(block, start, end) for block, start, end in usual_length if _is_informative(block.text[start:end])]
    sentences = informative or usual_length
    sentence_words = [content_stems(block.text[start:end]) for block, start, end in sentences]
    counts = Counter(word for words in sentence_words for word in words)
    max_count = max(counts.values(), default=1)
    title_words = content_stems(item.title)

    def score(ix: int) -> float:
        words = sentence_words[ix]
        frequency: float = sum(counts[word] for word in words) / max(1, len(words)) / max_count
        position_weight: float = rules.position
        return frequency + score_coverage(title_words, words) + position_weight / (1 + ix)

    selected: dict[str, int] = {}
    for ix in sorted(range(len(sentences)), key=lambda ix: (-score(ix), ix)):
        block, start, end = sentences[ix]
        if len(selected) < item.sentences:
            selected.setdefault(block.text[start:end], ix)
    claims = tuple(_cite_sentence(*sentences[ix]) for ix in sorted(selected.values()))
    return SummaryProposal(
        item_id=item.item_id,
        confidence=0.5,
        evidence=tuple(quote for claim in claims for quote in claim.evidence),
        sentences=claims,
    )


def _is_informative(text: str) -> bool:
    """Return whether a text is a whole sentence that neither only refers elsewhere nor introduces a list."""
    return text.rstrip(')”"').endswith((".", "?", "!")) and not load_answers().pointers.matches(text)


def propose_answers(item: QuestionItem) -> AnswerProposal:
    """Propose as answer the sentences that together have most of the question's words, in reading order.

    Args:
        item: Question and passages.
    """
    rules = load_llm().answers
    question_words = content_stems(item.question)
    sentences = [(block, start, end) for block in item.blocks for start, end in find_sentence_parts(block.text)]
    sentence_words = [content_stems(block.text[start:end]) for block, start, end in sentences]
    selected: list[int] = []
    selected_words: frozenset[str] = frozenset()
    while len(selected) < rules.sentences:
        new_words = [len((question_words - selected_words) & words) for words in sentence_words]
        best = max(range(len(sentences)), key=lambda ix: (new_words[ix], -ix), default=None)
        if best is None or not new_words[best]:
            break
        selected.append(best)
        selected_words |= sentence_words[best]
    share = score_coverage(question_words, selected_words)
    is_answerable = bool(selected) and share >= rules.least_share
    claims = tuple(_cite_sentence(*sentences[ix]) for ix in sorted(selected)) if is_answerable else ()
    return AnswerProposal(
        item_id=item.item_id,
        confidence=round(max(share, 1 - share), 3),
        evidence=tuple(quote for claim in claims for quote in claim.evidence),
        is_answerable=is_answerable,
        sentences=claims,
    )


def _cite_sentence(block: Block, start: int, end: int) -> Claim:
    return Claim(text=block.text[start:end], evidence=(cite(block, start, end),))


def _read_words(blocks: Sequence[Block]) -> frozenset[str]:
    return _merge_words(block.text for block in blocks)


def _merge_words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*(content_stems(text) for text in texts))


def _find_own_key(passage: str) -> str:
    """Return the box or line that a passage's innermost heading names; empty where it names none."""
    for rule in load_llm().own_keys:
        match = rule.pattern.search(passage)
        if match is not None:
            return match["key"].casefold()
    return ""


def _find_lay_words(question: str, text_words: frozenset[str]) -> frozenset[str]:
    """Return the question's everyday words for which a text has the printed terms."""
    rules = [rule for rule in load_lay_terms().rules if content_stems(rule.terms) & text_words]
    return frozenset().union(*(content_stems(match[0]) for rule in rules for match in rule.pattern.finditer(question)))


def _find_best_sentence(blocks: Sequence[Block], words: frozenset[str]) -> tuple[float, Evidence] | None:
    """Return the sentence with most of some words, after its share of them; None without sentences."""
    candidates = [
        (score_coverage(words, content_stems(block.text[start:end])), cite(block, start, end))
        for block in blocks
        for start, end in find_sentence_parts(block.text)
    ]
    return max(candidates, key=lambda pair: pair[0]) if candidates else None


def _cite_best_sentence(blocks: Sequence[Block], words: frozenset[str]) -> tuple[Evidence, ...]:
    best_sentence = _find_best_sentence(blocks, words)
    if best_sentence is None:
        return ()
    _, quote = best_sentence
    return (quote,)
