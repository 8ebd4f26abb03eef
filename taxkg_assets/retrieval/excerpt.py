"""An answer in the documents' own words: which sentences of the first passages speak to the question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taxkg_assets.retrieval.facts import Floats
from taxkg_assets.retrieval.rerank import score_overlap
from taxkg_assets.retrieval.results import Ranking, Result
from taxkg_assets.retrieval.search import Searcher
from taxkg_assets.retrieval.sentences import Sentence, find_sentences
from taxkg_assets.rules.loader import load_family
from taxkg_assets.rules.sentences import find_sentences as find_sentence_ranges


def excerpt_answer(searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]) -> str:
    """Pick the sentences that speak to the question and add something, in order of passage and place, with [n].

    The cell of a table that leads the ranking comes first: its headers and what it holds. Who asks for a figure wants
    nothing else.
    """
    cell = [f"{ranking.cell} [1]"] if ranking.cell else []
    if cell and ranking.route.wants_amount:
        return cell[0]
    limits = load_family("answers")
    found = find_sentences(results[: limits["passages"]], searcher.passages, route=ranking.route)
    sentences = [sentence for sentence in found if not sentence.is_foreign] or found
    if not sentences:
        return f"{results[0].text} [1]"
    worth = _score_sentences(searcher, question, sentences, wanted=ranking.wanted)
    chosen = _choose(sentences, worth, openings=_find_openings(sentences, ranking.route.keys))
    said = [f"{sentences[place].text} [{sentences[place].passage + 1}]" for place in sorted(chosen)]
    return "\n".join([*cell, *said])


def list_documents(searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]) -> str:
    """The documents that speak of what is asked for, one a line: its title, the sentence that says most of it, [n]."""
    most = max(float(result.via["coverage"]) for result in results)
    lines: list[str] = []
    for result in results:
        if result.via["coverage"] < load_family("answers")["least_coverage"] * most:
            continue
        said = result.heading_path.split(" > ")[0]
        if sentences := find_sentences([result], searcher.passages, route=ranking.route):
            worth = _score_sentences(searcher, question, sentences, wanted=ranking.wanted)
            said += f": {sentences[max(worth, key=lambda place: (worth[place], -place))].text}"
        lines.append(f"{said} [{result.rank}]")
    return "\n".join(lines)


def quote_summary(searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]) -> str:
    """The sentences that sum up the first document, one a line; where none do, those that speak to the question."""
    level = searcher.gathered.levels["document"]
    summary = level.read(results[0].via["unit"]) if level is not None else ""
    lines = [f"{summary[start:end]} [1]" for start, end in find_sentence_ranges(summary)]
    return "\n".join(lines) or excerpt_answer(searcher, question, ranking, results=results)


def _find_openings(sentences: Sequence[Sentence], keys: Sequence[str]) -> list[int]:
    """For each key asked for, the first sentence that explains it: what a box is comes before what is said of it."""
    first = (
        next((place for place, own in enumerate(sentences) if key in own.opens and not own.is_pointer), None)
        for key in keys
    )
    return list(dict.fromkeys(place for place in first if place is not None))


def _score_sentences(
    searcher: Searcher, question: str, sentences: Sequence[Sentence], *, wanted: dict[str, float]
) -> dict[int, float]:
    """What each of the likeliest sentences is worth, by its place in the list."""
    limits = load_family("answers")
    by_terms = np.array([score_overlap(wanted, own.terms | own.heading) for own in sentences])
    flags: dict[str, Floats] = {
        "terms": by_terms,
        "rank": np.array([1.0 / (1 + own.passage) for own in sentences]),
        "hit": np.array([float(own.is_hit) for own in sentences]),
        "pointer": np.array([float(own.is_pointer) for own in sentences]),
        "fragment": np.array([float(own.is_fragment) for own in sentences]),
        "figures": np.array([float(own.is_figures) for own in sentences]),
    }
    early = np.sum([weight * flags[name] for name, weight in limits["early"].items()], axis=0)
    order = np.argsort(-early, kind="stable")[: limits["candidates"]]
    vectors = searcher.encoder.encode_sentences([sentences[place].text for place in order])
    flags["cosine"] = np.zeros(len(sentences))
    flags["cosine"][order] = searcher.encoder.scale.read(vectors @ searcher.encoder.encode_query(question))
    value = np.sum([weight * flags[name] for name, weight in limits["worth"].items()], axis=0)
    return {place: float(value[place]) for place in order.tolist()}


def _choose(sentences: Sequence[Sentence], worth: dict[int, float], *, openings: Sequence[int]) -> list[int]:
    """The openings, then by turns the sentence that is worth most beside those chosen, as long as it is worth much."""
    limits = load_family("answers")
    chosen = list(openings[: limits["sentences"]])
    held: frozenset[str] = frozenset().union(*(sentences[place].terms for place in chosen))
    least = limits["least_share"] * max(worth.values())
    left = {place: own for place, own in worth.items() if place not in chosen}
    while len(chosen) < limits["sentences"] and left:
        gain = {place: own * _share_new(sentences[place].terms, held) for place, own in left.items()}
        best = max(gain, key=lambda place: (gain[place], -place))
        if chosen and left[best] < least:
            break
        chosen.append(best)
        held |= sentences[best].terms
        del left[best]
    return chosen


def _share_new(terms: frozenset[str], held: frozenset[str]) -> float:
    lost: float = load_family("answers")["new_words"]
    return 1 - lost + lost * len(terms - held) / max(1, len(terms))
