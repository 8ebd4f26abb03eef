"""Rules that replace a model for one passage: target of a mention, boundaries of units, quality of a chunk."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

from taxkg_assets.llm.evidence import cite
from taxkg_assets.llm.normalization import content_stems, quote_opening, score_coverage
from taxkg_assets.prompts.document_tasks import (
    BoundaryItem,
    BoundaryProposal,
    Entity,
    MetadataItem,
    MetadataProposal,
    QualityItem,
    QualityProposal,
    ReferenceItem,
    ReferenceProposal,
    RefinementItem,
    RefinementProposal,
    StructureItem,
    StructureProposal,
)
from taxkg_assets.rules.models.llm import load_llm
from taxkg_assets.rules.sentences import find_sentence_parts


def propose_ambiguous_references(item: ReferenceItem) -> ReferenceProposal:
    """Propose the candidate whose description shares most words with the sentence, if it leads clearly.

    Args:
        item: Mention with its candidates.
    """
    block = item.blocks[0]
    spans = find_sentence_parts(block.text) or [(0, len(block.text))]
    start, end = next((span for span in spans if span[0] <= item.mention_start < span[1]), spans[-1])
    sentence_words = content_stems(block.text[start:end])
    shares = [score_coverage(content_stems(candidate.description), sentence_words) for candidate in item.candidates]
    best, second = [*sorted(shares, reverse=True), 0.0, 0.0][:2]
    limits = load_llm().references
    is_clear = bool(shares) and best >= limits.least_share and best - second >= limits.least_margin
    return ReferenceProposal(
        item_id=item.item_id,
        confidence=round(min(0.9, 0.5 + (best - second) / 2), 3) if is_clear else 0.5,
        evidence=(cite(block, start, end),) if is_clear else (),
        target=item.candidates[shares.index(best)].target if is_clear else None,
        relation=item.relation,
        polarity=item.polarity,
    )


def propose_boundary_detection(item: BoundaryItem) -> BoundaryProposal:
    """Propose whether a unit begins at a block, by similarity, words, role and opening cues; never within a sentence.

    Args:
        item: Block with the text before it, and their similarity.

    Returns:
        Whether a unit begins at the block.
    """
    block, rules = item.blocks[0], load_llm().boundaries
    text = block.text.strip()
    similarity = rules.usual_similarity if item.similarity is None else item.similarity
    features = {
        "bias": 1.0,
        "distance": 1.0 - similarity,
        "novelty": 1.0 - score_coverage(content_stems(text), content_stems(item.before)),
        "heading": float(block.role in rules.heading_roles),
        "role_change": float(bool(item.role_before) and item.role_before != block.role),
        "opening_cue": float(load_llm().opening_cues.matches(text)),
        "continuation_cue": float(load_llm().continuation_cues.matches(text.lower())),
        "fragment": float(text[:1].islower()),
        "continues_paragraph": float(item.continues_paragraph),
    }
    contributions = {name: rules.weights[name] * value for name, value in features.items()}
    probability = 1.0 / (1.0 + math.exp(-sum(contributions.values())))
    is_boundary = not item.before or probability >= 0.5
    del contributions["bias"]
    main_reason = max(contributions, key=lambda name: abs(contributions[name]))
    return BoundaryProposal(
        item_id=item.item_id,
        confidence=round(probability if is_boundary and item.before else max(probability, 1 - probability), 3),
        evidence=(quote_opening(block),) if is_boundary else (),
        is_boundary=is_boundary,
        reason="begins the text" if not item.before else main_reason.replace("_", " "),
    )


def propose_structure_analysis(item: StructureItem) -> StructureProposal:
    """Propose the role of a block from its marks, font and length.

    Args:
        item: Block with its features.

    Returns:
        Role and level of the block.
    """
    block, limits = item.blocks[0], load_llm().parts
    text = block.text.strip()
    letter_share = sum(character.isalpha() for character in text) / max(1, len(text.replace(" ", "")))
    part, level = "paragraph", 0
    if load_llm().artifacts.matches(text):
        part = "artifact"
    elif block.role == "ListBlock" or load_llm().list_marks.matches(text):
        part = "list_item"
    elif load_llm().notes.matches(text):
        part = "note"
    elif letter_share < limits.least_letters:
        part = "table_row"
    elif _looks_like_heading(text, item):
        part, size_limits = "heading", limits.levels
        level = 2 if item.size_ratio >= size_limits.second else 3
        if item.size_ratio >= size_limits.first:
            level = 1
    elif load_llm().run_ins.matches(text):
        part, level = "heading", limits.run_in_level
    return StructureProposal.model_validate(
        {"item_id": item.item_id, "confidence": 0.6, "evidence": (quote_opening(block),), "part": part, "level": level}
    )


def _looks_like_heading(text: str, item: StructureItem) -> bool:
    limits = load_llm().parts
    is_short = 0 < item.words <= limits.heading_words and not text.endswith((".", ";", ",", ":"))
    is_title_case = all(word[:1].isupper() or (word.islower() and len(word) <= 3) for word in text.split())
    has_cue = load_llm().opening_cues.matches(text)
    is_prominent = item.is_bold or item.is_own_line or item.size_ratio >= limits.heading_ratio
    looks_marked = is_prominent or has_cue or (is_title_case and len(text.split()) > 1)
    return is_short and looks_marked and not text[:1].islower()


def propose_metadata_enrichment(item: MetadataItem) -> MetadataProposal:
    """Propose a title from the last heading or first words, tags from frequent words, and entities by pattern.

    Args:
        item: Passage with its heading path.
    """
    limits = load_llm().metadata
    heading = item.heading_path.rpartition(" > ")[2]
    entities: dict[tuple[str, str], Entity] = {}
    for block in item.blocks:
        for rule in load_llm().entities:
            for match in rule.pattern.finditer(block.text):
                quote = cite(block, *match.span())
                entities.setdefault(
                    (rule.id, match[0]), Entity.model_validate({"name": match[0], "kind": rule.id, "evidence": quote})
                )
    counts = Counter(word for block in item.blocks for word in _plain_words(block.text))
    tags = [word for word, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[: limits.tags]]
    opening = " ".join(item.blocks[0].text.split()[: limits.title_words])
    return MetadataProposal(
        item_id=item.item_id,
        confidence=0.5,
        evidence=(quote_opening(item.blocks[0]),),
        title=heading or opening,
        tags=tuple(tags),
        entities=tuple(entities.values())[: limits.entities],
    )


def _plain_words(text: str) -> list[str]:
    """Return the longer words of a text in lower case, not stemmed."""
    stop = load_llm().words.stop
    return [word for word in re.findall(r"[^\W\d_]{4,}", text.lower()) if word not in stop]


def propose_quality_validation(item: QualityItem) -> QualityProposal:
    """Score a chunk 0 to 1 by its size, its first and last sentence, its cohesion and its share of letters.

    Args:
        item: Chunk with its features.

    Returns:
        Score, verdict (ACCEPT, REFINE, REJECT), action and reason.
    """
    limits = load_llm().quality
    text = "\n".join(block.text.strip() for block in item.blocks)
    words = len(text.split())
    letter_share = sum(character.isalpha() for character in text) / max(1, len("".join(text.split())))
    scores = {
        "size": min(1.0, words / limits.least_words) * min(1.0, limits.most_words / max(1, words)),
        "begins": float(not text[:1].islower()),
        "ends": float(text.rstrip("”’\"')").endswith((".", "!", "?", ":", ";")) or not item.after[:1].islower()),
        "cohesion": float(min(item.similarities, default=1.0) >= limits.least_similarity),
        "letters": min(1.0, letter_share / 0.5),
    }
    score = sum(limits.weights[name] * value for name, value in scores.items())
    is_furniture = all(load_llm().artifacts.matches(block.text) for block in item.blocks)
    action, reason = _find_remedy(item, scores, words=words, score=score)
    verdict = "ACCEPT" if reason == "complete" else "REFINE"
    if is_furniture or score < limits.reject:
        verdict = "REJECT"
        action = "none"
        reason = "furniture" if is_furniture else "unreadable"
    return QualityProposal.model_validate(
        {
            "item_id": item.item_id,
            "confidence": round(max(score, 1 - score), 3),
            "evidence": (quote_opening(item.blocks[0]),),
            "verdict": verdict,
            "score": round(score, 3),
            "action": action,
            "reason": reason,
        }
    )


def _find_remedy(item: QualityItem, scores: dict[str, float], *, words: int, score: float) -> tuple[str, str]:
    """Return what would improve a chunk, and what is wrong with it; `none` where nothing is, or nothing would help."""
    limits = load_llm().quality
    is_long = words > limits.most_words
    if len(item.blocks) > 1 and (is_long or not scores["cohesion"]):
        return "split", "too long" if is_long else "several subjects"
    if not scores["begins"] and item.before:
        return "merge_previous", "fragment"
    if not scores["ends"]:
        return "merge_next", "fragment"
    if words < limits.least_words and (item.after or item.before):
        return ("merge_next" if item.after else "merge_previous"), "too short"
    if score >= limits.accept:
        return "none", "complete"
    reason = "fragment" if words < limits.least_words or not scores["begins"] else "unreadable"
    if item.after:
        return "merge_next", reason
    return "merge_previous" if item.before else "none", reason


def propose_refinement(item: RefinementItem) -> RefinementProposal:
    """Propose to split a chunk between its least similar blocks.

    Args:
        item: Chunk with its blocks and similarities.
    """
    min_similarity = load_llm().quality.least_similarity
    similarities = item.similarities or tuple(
        score_coverage(content_stems(second.text), content_stems(first.text)) for first, second in pairwise(item.blocks)
    )
    split_before = [ix + 1 for ix, value in enumerate(similarities) if value < min_similarity]
    if not split_before and similarities:
        split_before = [similarities.index(min(similarities)) + 1]
    return RefinementProposal(
        item_id=item.item_id,
        confidence=0.5,
        evidence=tuple(quote_opening(item.blocks[ix]) for ix in split_before),
        split_before=tuple(split_before),
    )
