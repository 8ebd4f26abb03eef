"""Words of a label that a field's spoken text names: the part of a common label that belongs to one field."""

from __future__ import annotations

import re

from taxkg_assets.rules.models.spoken import load_spoken


def remove_parts(label: str, parts: set[str]) -> str | None:
    """Remove the last occurrence of each part from a label, the longest part first.

    Args:
        label: Label with all parts.
        parts: Parts, each of whole words.

    Returns:
        The rest of the label; None if the rest does not contain one of the parts.
    """
    for part in sorted(parts, key=lambda part: (-len(part), part)):
        start = find_part(label, part)
        if start < 0:
            return None
        label = f"{label[:start]} {label[start + len(part) :]}"
    return label


def find_part(label: str, part: str) -> int:
    """Return the offset of the last occurrence of a part in a label, as whole words; −1 if there is none.

    Args:
        label: Label with several parts.
        part: Words of the part.
    """
    matches = list(re.finditer(rf"(?<!\w){re.escape(part)}(?!\w)", label))
    return matches[-1].start() if matches else -1


def find_own_words(label: str, spoken_text: str, *, key: str) -> str:
    """Find the words of a field of a box besides the label of all its fields: as printed, or else as spoken.

    Args:
        label: Label of all fields of the box.
        spoken_text: Label in the spoken text of the field.
        key: Key of the box, such as `box_1a`.

    Returns:
        The words; empty if the spoken label has none besides the common label.
    """
    label_letters = _letters_of(label)
    spoken_parts = [part.strip(" .") for part in spoken_text.split(". ")]
    own_parts = [
        part
        for part in spoken_parts
        if part[:1].isupper()
        and not _letters_of(part).startswith(label_letters)
        and _letters_of(part) != _letters_of(key)
    ]
    printed_parts = (find_words(label, part) or _find_most_words(label, part) for part in own_parts)
    return next(filter(None, printed_parts), "") or next(iter(own_parts), "")


def _find_most_words(label: str, spoken_text: str) -> str:
    """Find the printed words from the first to the last spoken word; empty if these are too different.

    The printed words may not be more than the spoken ones, and more than half of the spoken words must be among them.
    An abbreviation may be spoken as one word or several.
    """
    printed_words = label.split()
    spoken_letters = [_letters_of(word) for word in spoken_text.split()]
    printed_letters = [_letters_of(word) for word in printed_words]
    if len(spoken_letters) < 2 or spoken_letters[0] not in printed_letters:
        return ""
    start = printed_letters.index(spoken_letters[0])
    if spoken_letters[-1] not in printed_letters[start + 1 :]:
        return ""
    end = printed_letters.index(spoken_letters[-1], start + 1) + 1
    common_count = sum(word in spoken_letters for word in printed_letters[start:end])
    return " ".join(printed_words[start:end]) if end - start <= len(spoken_letters) < 2 * common_count else ""


def _letters_of(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def find_answer(spoken_text: str) -> str:
    """Return the answer that a spoken text gives to its question, `Yes` or `No`; empty if it gives none.

    Args:
        spoken_text: Spoken text of a check box.
    """
    match = _match_answer(spoken_text)
    return match["answer"] if match is not None else ""


def find_question(label: str) -> str:
    """Return the question of a label that also prints the answers; a label that begins with an answer stays whole.

    Args:
        label: Label of a line: "Are you blind? Yes No".
    """
    match = _match_answer(label)
    return (label[: match.start()].rstrip() if match is not None else "") or label


def _match_answer(text: str) -> re.Match[str] | None:
    return next((match for rule in load_spoken().answers if (match := rule.pattern.search(text)) is not None), None)


def find_words(label: str, spoken_text: str) -> str:
    """Find the whole words of a label that equal a spoken text but for blanks and signs; empty if there are none.

    Args:
        label: Printed label.
        spoken_text: Spoken text.

    Returns:
        The words as printed.
    """
    letter_ixs = [ix for ix, letter in enumerate(label) if letter.isalnum()]
    letters = "".join(label[ix].casefold() for ix in letter_ixs)
    spoken_letters = "".join(letter.casefold() for letter in spoken_text if letter.isalnum())
    letter_ix = letters.find(spoken_letters) if spoken_letters else -1
    while letter_ix >= 0:
        start = letter_ixs[letter_ix]
        end = letter_ixs[letter_ix + len(spoken_letters) - 1] + 1
        if not (label[:start][-1:].isalnum() or label[end:][:1].isalnum()):
            words = label[start:end]
            is_open = words.count("(") > words.count(")")
            return words + ")" if is_open and label[end:].startswith(")") else words
        letter_ix = letters.find(spoken_letters, letter_ix + 1)
    return ""
