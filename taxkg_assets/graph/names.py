"""Names of a box: its label written out, headings of its instructions, printed abbreviations.

A name is kept only where it means one box of the form revision: what two boxes share identifies neither. An
abbreviation is a name only where a document of the library prints it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from taxkg_assets.records import AnchorRecord, DocumentRecord, FaceRecord
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.aliases import load_aliases


@dataclass(frozen=True, slots=True)
class Mention:
    """A heading or sentence that names a box next to its key."""

    document_id: str
    revision: str
    name: str


@dataclass(slots=True)
class Usage:
    """The names of each form's boxes in the instructions, and their abbreviations.

    Attributes:
        headings: Headings by form and box key.
        sentences: Counts of names in sentences by form and box key.
        abbreviations: Printed abbreviation by phrase in lower case.
        customary: Customary abbreviations of the rules that a document prints.
    """

    headings: dict[tuple[str, str], list[Mention]] = field(default_factory=lambda: defaultdict(list))
    sentences: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    abbreviations: dict[str, str] = field(default_factory=dict)
    customary: set[str] = field(default_factory=set)


def find_usage(
    anchors: Iterable[AnchorRecord],
    *,
    documents: Iterable[DocumentRecord],
    texts: Iterable[tuple[str, str | None, str]],
    forms: frozenset[str],
) -> Usage:
    """Collect the names that instructions use for the boxes of some forms.

    Args:
        anchors: Rows of `anchors`.
        documents: Rows of `documents`.
        texts: For each content element its document_id, anchor_id and text.
        forms: Forms that have boxes.

    Returns:
        Headings, names in sentences and abbreviations.

    Raises:
        KeyError: A text without a form of its own belongs to an unknown document.
    """
    documents_by_id = {row["document_id"]: row for row in documents}
    anchors_by_id = {row["anchor_id"]: row for row in anchors}
    usage = Usage()
    for anchor in anchors_by_id.values():
        document = documents_by_id.get(anchor["document_id"])
        if document is not None and anchor["kind"] == "box" and anchor["key"] is not None:
            mention = Mention(document["document_id"], document["revision"], anchor["heading"])
            for form in split_forms(anchor["form"] or document["form"]):
                usage.headings[form, anchor["key"]].append(mention)
    short_forms: dict[str, Counter[str]] = defaultdict(Counter)  # of each phrase, with their counts
    unseen = {rule.alias for rule in load_aliases().initials}
    for document_id, anchor_id, text in texts:
        found_abbreviations = {short for short in unseen if re.search(rf"\b{re.escape(short)}\b", text)}
        usage.customary |= found_abbreviations
        unseen -= found_abbreviations
        own_form = anchors_by_id[anchor_id]["form"] if anchor_id in anchors_by_id else ""
        forms_of_text = forms.intersection(split_forms(own_form or documents_by_id[document_id]["form"]))
        if not forms_of_text:
            continue
        for key, name in _find_named_boxes(text):
            for form in forms_of_text:
                usage.sentences[form, key][name] += 1
        for phrase, short in _find_abbreviations(text):
            short_forms[phrase][short] += 1
    usage.abbreviations = {phrase: _most_frequent(counts) for phrase, counts in short_forms.items()}
    return usage


def _most_frequent(counts: Counter[str]) -> str:
    """Return the text with the highest count; of several, the first in the alphabet."""
    return min(counts, key=lambda text: (-counts[text], text))


def _find_named_boxes(text: str) -> Iterator[tuple[str, str]]:
    for rule in load_aliases().usage:
        for match in rule.pattern.finditer(text):
            yield f"box_{match['key']}", " ".join(match["name"].split())


def _find_abbreviations(text: str) -> Iterator[tuple[str, str]]:
    """Find words that are followed by their own initials in parentheses."""
    for rule in load_aliases().printed_abbreviations:
        for match in rule.pattern.finditer(text):
            words = match["words"].casefold().split()[-len(match["short"]) :]
            if "".join(word[0] for word in words) == match["short"].casefold():
                yield " ".join(words), match["short"]


def find_aliases(face: FaceRecord, usage: Usage) -> list[str]:
    """List the other names of a box, so that a question may use any of them.

    Args:
        face: Row of `faces`: the box and its printed label.
        usage: Names and abbreviations that instructions use.

    Returns:
        Names other than the label, each once, in this order: the label with its abbreviations written out; names in
        headings of the instructions; names in their sentences, the most frequent first; these names with abbreviations.
    """
    label = face["label"]
    names = [expand(label)]
    for mention in usage.headings.get((face["form"], face["box_key"]), ()):
        name = _strip_heading(mention.name)
        is_same_revision = mention.revision != "" and mention.revision == face["revision"]
        is_own = mention.document_id == face["document_id"] or is_same_revision
        if name and (shares_words(label, name) or (is_own and not label)):
            names += [name, expand(name)]
    in_sentences = usage.sentences.get((face["form"], face["box_key"]), Counter())
    names += [
        name for name in sorted(in_sentences, key=lambda name: (-in_sentences[name], name)) if shares_words(label, name)
    ]
    shorter = [short for name in list(names) for short in _shorten(name, usage)]
    return distinct([*names, *shorter], excluded=label)


def keep_unambiguous(names: Sequence[list[str]], *, labels: Sequence[str]) -> list[list[str]]:
    """Drop names that two boxes of one form revision share, and names that are another box's label.

    Args:
        names: Names of each box of a form revision.
        labels: Labels of these boxes.

    Returns:
        Remaining names of each box, in the same order.
    """
    counts = Counter(name for box_names in names for name in {fold_name(name) for name in box_names})
    printed = {fold_name(label) for label in labels}
    return [
        [name for name in box_names if counts[fold_name(name)] == 1 and fold_name(name) not in printed]
        for box_names in names
    ]


def find_initials(label: str) -> list[str]:
    """Return the initials of a short label, as a user may type them: QD for `Qualified dividends`.

    Args:
        label: Label with abbreviations written out.

    Returns:
        One name, or none.
    """
    rule = load_aliases().initialled.plain_words
    if not rule.pattern.match(label):
        return []
    skipped = set(load_aliases().small_words)
    words = [word for word in re.split(r"[\s-]+", label) if word.casefold() not in skipped]
    limits = load_aliases().thresholds
    if not limits.least_initials <= len(words) <= limits.most_initials:
        return []
    initials = "".join(word[0] for word in words).upper()
    return [] if initials.casefold() in load_aliases().initialism_stopwords else [initials]


def find_abbreviations(name: str) -> list[str]:
    """Find the abbreviations in a name: words of two to six capital letters.

    Several words that are all in capitals are a heading in capitals, which shows no abbreviations.

    Args:
        name: Alias of a box.

    Returns:
        Abbreviations in the order of the name.
    """
    if name.isupper() and len(name.split()) > 1:
        return []
    return [match[0] for rule in load_aliases().capitals for match in rule.pattern.finditer(name)]


def _shorten(name: str, usage: Usage) -> Iterator[str]:
    """Yield a name with the abbreviations that the documents print for its words."""
    name = load_aliases().in_parentheses.abbreviation.pattern.sub("", name)
    for rule in load_aliases().initials:
        if rule.alias in usage.customary and rule.pattern.search(name):
            yield rule.pattern.sub(rule.alias, name)
    small = name.casefold()
    for phrase, abbreviation in sorted(usage.abbreviations.items()):
        at = small.find(phrase)
        if at >= 0 and not small[at + len(phrase) : at + len(phrase) + 1].isalpha():
            yield name[:at] + abbreviation + name[at + len(phrase) :]


def expand(text: str) -> str:
    """Expand abbreviations that forms print.

    Args:
        text: Label or name.

    Returns:
        The text with each abbreviation of rules/aliases.yaml replaced.
    """
    for rule in load_aliases().expansions:
        text = rule.pattern.sub(rule.alias, text)
    return text


def _strip_heading(heading: str) -> str:
    name = load_aliases().headings.box_lead.pattern.sub("", heading).strip(" .:—–")
    return load_aliases().remarks.trailing_remark.pattern.sub("", name)


def shares_words(label: str, name: str) -> bool:
    """Return whether a name shares words with a label, since keys may denote different fields across revisions.

    Args:
        label: Label of a box.
        name: Name found in instructions.
    """
    label_words, name_words = _words(expand(label)), _words(expand(name))
    least = load_aliases().thresholds.shared_words_frac
    return bool(label_words and name_words) and len(label_words & name_words) >= least * min(
        len(label_words), len(name_words)
    )


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[^\W_]+", text.casefold()) if len(word) > 2 or word.isdigit()}


def distinct(names: Iterable[str], *, excluded: str) -> list[str]:
    """Remove names that differ only in punctuation or case from an earlier one.

    Args:
        names: Names in order of preference.
        excluded: Name to leave out.

    Returns:
        Names in their order.
    """
    seen = {"", fold_name(excluded)}
    distinct_names = []
    for name in names:
        if fold_name(name) not in seen:
            seen.add(fold_name(name))
            distinct_names.append(name)
    return distinct_names


@lru_cache(maxsize=50_000)
def fold_name(name: str) -> str:
    """Normalize a name for comparison; cached, as editions print the same names.

    Args:
        name: Label or name.

    Returns:
        Lower-case words separated by blanks, without punctuation.
    """
    return re.sub(r"\W+", " ", name.casefold().replace("’", "'")).strip()
