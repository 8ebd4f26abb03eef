"""Clauses of a sentence with what their verb does to an amount, and what a clause without a source moves."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from taxkg_assets.graph.flow_words import Words, names_amount
from taxkg_assets.rules.models.flows import load_flows

# Letters of `flow_words`. A predicate is an order or a verb with a subject (V, C, O), a passive (M), or a verb in the
# third person (Z); adverbs, subjects and modals before it belong to it.
_PREDICATE = re.compile(r"[VCO]|M|Z")
_LEAD = re.compile(r"[ymAqtbIx#]*$")
_MAIN = re.compile(r",(?=A*(?:TN?|I|D[nN]{1,3}(?:[uo]D*P)?)[mA]*[bM])")
"""Before a main clause with `is` or `goes` after a condition."""
_TRAILING = re.compile(r"(?:(?<=[\w~)#])|(?<=[\w~)#],))s(?=[^,;()]*[VCOMZb])(?![^(]*\))(?![^,;P]*,[to]?D*P)")
_ASIDE_CONDITION = re.compile(r",cs[^,;P]*,(?=[to]?D*P)")
"""`, or if you moored it, Form 2889, line 4`: the place continues the one before the condition."""
_ORDER_ASIDE = re.compile(r"\([^()VCMZ]*O[^()VCMZ]*\)")
"""`line 16 (check box 2), or line 4`: the order in parentheses moves nothing."""
_PLACE_SUBJECT = re.compile(r"(?:^|[,;:.()csA])(?P<place>P)mA*$")
"""`Box 4 will also show your dues`: the place is the subject of the verb."""
_SENT = re.compile(r"O[yIDA]*FG.*o[DT]*P")
"""`Your payer should send you a form showing your dues in` a box."""
_NO_PREDICATE = re.compile(r"^sD*P,?$|N[rT]D*F$")
"""`If Form 2889, line 8, shows a loss`, `the amount that Form 2889 shows`: the verb is that of the clause around it."""
_NO_OBJECT = re.compile(r"A*V[A,]*[to]D*P,?")
"""Clause that says where to enter an amount, before the words that name it."""
_ELIDED = re.compile(r"NfD*P,[to]D*P[,.;]*$")
"""`Your dues, the amount from Form 2889, line 4, on line 8.`"""
_CONDITION = re.compile(r"^(?:#[.)])?[cAn]?\W?s|^tC|^t[iVO]")
_ANAPHOR = re.compile(r"^[A,~]*(?:I|T[nN]{0,2}|D[nN]?N(?:(?:W|M)?(?:[oui][hTDn]{0,2})?)?)[mAx]*[bZ]?[Ax]*[MZ]?A*$")
# Between a verb and a target: the object, and the preposition with `the total on`.
_TO = re.compile(r"^(?P<object>.*?)(?P<to>[A,c]*[to][DT#]*(?:D?Nu?o?[ouW]*D*)?)$")
_HERE_AND_TO = re.compile(r"h[,c]*A*[to][DT]*$")
"""`here and on the`: `here` (h), commas (,) or conjunctions (c), adverbs (A), one preposition (t or o), determiners."""
_ASIDE = re.compile(r",s?[AD]?n?,|,s?[AD]?n?$|[A~]|,$|c\(?N\)?")
_SAME = ("equal", "match", "agree")
"""Verbs that compare amounts and move none."""
_USED = re.compile(r"[DTA]*(?:(?P<noun>[nN]+)(?:[wWA]|[uft][DTnNFA]+)*(?:[fo][DTA]*P|(?=r|$|t)))?[DTAP,c()#fo]*t?$")
"""Between `use` and `to complete`: an amount with its place, or only the place."""
_FILERS_FIRST = re.compile(r"^uF[F,c]*y,")
"""`For Form 2041 filers, this amount is reported on`."""
_SUBJECT_ASIDE = re.compile(r",s[AD]?n?,")
"""`This amount, if any, is reported on`."""
_ANAPHORIC = re.compile(r"[TD][nN#]{0,3}?N|T[nN]{1,3}|DnN?|D[nN]{1,2}[Ww]?|[TD]N(?:u[TDn]+N?|[Ww])")


@dataclass(slots=True)
class Clause:
    """A clause in flow extraction: its words, what its verb does to an amount, and where the verb ends.

    Attributes:
        text: The clause, its places masked.
        words: Its words.
        verb: `move` an amount; `moved`, with the amount before the verb; `shown` for an amount named before, `named`;
            `equal` to other places; `sum`, `compute`; `condition`, `negated`, or empty.
        verb_end: Where the verb ends.
        is_added: Whether it adds an amount to another one, and the next clause enters their sum.
    """

    text: str
    words: Words
    verb: str = field(init=False)
    verb_end: int = field(init=False)
    is_added: bool = field(init=False, default=False)

    @property
    def is_forecast(self) -> bool:
        """Return whether the clause says where the amount will appear: `will be reported on`."""
        modals = {"will", "should", "may"} & set(self.words.lemmas[: self.words.before(self.verb_end)])
        return self.verb in ("moved", "shown") and bool(modals)

    @property
    def lemma(self) -> str:
        """Return the base form of the verb; that of the last word where the clause has none."""
        return self.words.lemmas[self.words.before(self.verb_end) - 1] if self.words.lemmas else ""

    @property
    def is_here(self) -> bool:
        """Return whether the clause puts its amount on the line of the heading: `Enter the total here`."""
        after = self.words.between(self.verb_end, len(self.text))
        return "h" in after.tags or ("this", "line") in pairwise(after.lemmas)

    def names_here_before(self, target: int) -> bool:
        """Return whether the clause sends its amount both to the line of the heading and to a place: `here and on`.

        Args:
            target: Offset in the clause where the place begins, in characters.
        """
        return _HERE_AND_TO.search(_mark_here(self.words.between(self.verb_end, target))) is not None

    def __post_init__(self) -> None:
        """Find the verb."""
        self.verb, self.verb_end = _find_verb(self.words, len(self.text))


def split_clauses(text: str, words: Words) -> list[tuple[int, int]]:
    """Split a sentence into clauses, each beginning with a subject and its predicate.

    Args:
        text: The sentence, its places masked.
        words: Its words.

    Returns:
        Where each clause begins and ends.
    """
    breaks = {0}
    last = -1
    asides = [aside.span() for aside in _ASIDE_CONDITION.finditer(words.tags)]
    asides += [aside.span() for aside in _ORDER_ASIDE.finditer(words.tags)]
    for match in _PREDICATE.finditer(words.tags):
        at = match.start()
        if any(low <= at < high for low, high in asides):
            continue
        if match[0] == "Z" and _NO_PREDICATE.search(words.tags[:at]):
            continue
        if match[0] == "M" and last >= 0 and "b" not in words.tags[last:at] and "M" not in words.tags[last : last + 1]:
            continue
        start = _find_start(words.tags, at, last)
        if (
            _NO_OBJECT.fullmatch(words.tags[words.before(max(breaks)) : start])
            and words.tags[start : start + 1] in "DTN"
        ):
            last = at
            continue
        if start > 0 and not re.fullmatch(r"[A,#~:.)(]*", words.tags[:start]):
            breaks.add(words.starts[start])
        last = at
    if words.tags[:1] == "s" and (main := _MAIN.search(words.tags)):
        breaks.add(words.starts[main.end()])
    breaks |= {words.starts[match.start()] for match in _TRAILING.finditer(words.tags)}
    bounds = sorted({*breaks, len(text)})
    return [(low, high) for low, high in pairwise(bounds) if text[low:high].strip()]


def _find_start(tags: str, at: int, last: int) -> int:
    """Return the first word of the clause of a predicate; 0 where it continues the one before."""
    lead = _LEAD.search(tags, last + 1, at)
    start = lead.start() if lead else at
    if tags[at] in "MZ" and last < 0 and tags[:1] not in ("s", "t"):
        return 0
    if at == 1 and tags[0] == "P":
        return 0
    if start > 0 and tags[start - 1] in ",;:.()c":
        return start
    if tags[at] in "VCO" and (subject := _PLACE_SUBJECT.search(tags, max(last, 0), at)):
        return subject.start("place")
    if tags[at] in "VCO" and (tags[start - 1 : start] == "P" or start == 0 or last >= 0):
        return start
    low = last + 1
    for mark in (";", ",", "c"):
        found = tags.rfind(mark, low, start)
        if found >= 0 and "P" in tags[low:found] + ("P" if last < 0 else ""):
            return found + 1 if last >= 0 or tags[:1] in ("s", "t") else 0
    return 0


def _find_verb(words: Words, end: int) -> tuple[str, int]:
    """Return what the first predicate of a clause does, and where it ends."""
    tags, lemmas = words.tags, words.lemmas
    if _CONDITION.match(tags):
        return "condition", end
    match = _PREDICATE.search(tags)
    if match is None:
        if elided := _ELIDED.search(tags):
            return "move", words.ends[elided.start()]
        if showing := re.search(r"FG(?=[^,;]*o[DT]*P)", tags):
            return "named", words.ends[showing.end() - 1]
        be = re.match(r"^(?:[of][DTnNA]{1,4},)?(?:[A,]*(?:T[nN]?|I|TNoTn))[mA]*b[DA]*(?:N(?=P))?", tags)
        if be:
            return "equal", words.ends[be.end() - 1]
        if "same" in lemmas and re.match(r"^DN(?:oTn)?m?b", tags):
            return "equal", words.ends[tags.index("b")]
        return (
            ("named", words.ends[tags.index("b")])
            if re.search(r"b(?:D?n?NW?)?oD*P|^(?:DN[uo]D*)?P,?bD", tags)
            else ("", end)
        )
    at = match.start()
    near = slice(max(0, at - 4), at)
    is_negated = "x" in tags[near] or any(lemma.endswith(("n't", "n’t")) for lemma in lemmas[near])
    if is_negated and "," not in tags[near]:
        return "negated", end
    after = words.ends[at]
    return _name_verb(tags, lemmas, at), after


def _name_verb(tags: str, lemmas: tuple[str, ...], at: int) -> str:
    lemma, tag = lemmas[at], tags[at]
    is_shown = lemma in (*load_flows().showing_verbs, *load_flows().verbs["C"])
    if tag == "M":
        is_elided = not tags[:at].strip("cAmbqx")
        if is_shown and is_elided:
            return "shown"
        return ("shown" if _ANAPHOR.match(tags[: at + 1]) else "named") if is_shown else "moved"
    if tag == "V":
        if lemma in load_flows().showing_verbs and (tags[:at] == "P" or _PLACE_SUBJECT.search(tags, 0, at)):
            return "named"
        if lemma in ("total", "combine") or (lemma == "add" and not re.match(r"A*[IT]|.*t", tags[at + 1 :])):
            return "sum"
        is_taken = lemma == "take" and re.match(r"A*[DTInN]+(?:oP,?)?t[DT#]*P", tags[at + 1 :])
        if lemma == "use" and _is_to_complete(tags, lemmas, at):
            return "move"
        used = tags[at + 1 :].partition("sy")[0]
        if lemma in ("use", "take") and re.search(r"[ti]", used) and not is_taken:
            return ""
        if lemma in load_flows().showing_verbs and re.search(r"[nN]A*m[mA]*$", tags[:at]):
            return "shown"
        is_equal = lemma in load_flows().equality_verbs and re.match(
            r"^[A,]*(?:T[nN]{0,2}|TNoTn|DNh?|I)(?:oTn)?[mA]+$", tags[:at]
        )
        return "equal" if is_equal else "" if lemma in _SAME else "move"
    if tag == "Z":
        is_own = re.match(r"^[A,]*(?:T[nN]{0,2}|I|DN(?:oTn|h))[A]*$", tags[:at]) is not None
        return "equal" if is_own and not is_shown else "named" if is_shown or lemma == "contains" else ""
    return "compute" if tag == "C" else "named" if tag == "O" and _SENT.search(tags) else ""


def _is_to_complete(tags: str, lemmas: tuple[str, ...], at: int) -> bool:
    """Decide whether an amount is used on a line: `Use the amount on Form 2889, line 4, to complete line 9`."""
    end = next(
        (index for index in range(at, len(lemmas)) if lemmas[index] == "complete" and tags[index] == "i"), len(tags)
    )
    if tags[end + 1 : end + 2] != "P" and lemmas[end + 1 : end + 3] != ("this", "line"):
        return False
    used = _USED.match(tags, at + 1, end)
    if used is None or not used["noun"]:
        return used is not None
    return names_amount(lemmas[used.start("noun") : used.end("noun")])


def find_object(clause: Clause, target: int) -> str:
    """Classify what a clause without a source moves to a place.

    Args:
        clause: The clause.
        target: Where the place begins.

    Returns:
        `own`, `this` or `amount`: an amount named before, or that of the heading; `first`: that of the heading, at the
        beginning of a text; `these`: that of a heading on a box; `here`: what the line of the heading takes, too;
        `elided`; empty for another amount.
    """
    words = clause.words
    if clause.verb == "moved":
        at = words.before(clause.verb_end) - 1
        subject = _SUBJECT_ASIDE.sub("", re.sub(r"[mAxbq]*[MZ]?$", "", words.tags[: at + 1]))
        subject = _FILERS_FIRST.sub("", subject)
        is_the = clause.words.lemmas[subject.find("D")] == "the" if "D" in subject else True
        is_the = is_the or (subject.endswith("oTn") and clause.words.lemmas[subject.find("D")] in ("any", "all"))
        if not subject.strip("cA"):
            return "elided"
        pattern = r"(?:n[:.])?(?:A,?)*(?:TN?|I|DNW?(?:h|[uo]Tn)?)"
        if re.fullmatch(r"(?:A,?)*Tn{1,2}", subject):
            return "this" if "this" in words.lemmas[: len(subject)] else "these"
        return "own" if is_the and re.fullmatch(pattern, subject) else ""
    between = words.between(clause.verb_end, target)
    return _name_object(_mark_here(between), between.lemmas)


def _mark_here(words: Words) -> str:
    """Return the letters of words with `on this line` as `here`."""
    tags = words.tags
    for at in range(len(tags) - 2):
        if tags[at] == "o" and words.lemmas[at + 1 : at + 3] == ("this", "line"):
            tags = f"{tags[:at]}AAh{tags[at + 3 :]}"
    return tags


def classify_listed_object(clause: Clause, end: int) -> str:
    """Classify what a clause moves to the targets of a following list: `Enter the result as follows`.

    Args:
        clause: The clause.
        end: Where `as follows` begins.

    Returns:
        As `find_object`; `own` also for the outcome of what comes before.
    """
    between = clause.words.between(clause.verb_end, end)
    means = _name_object(f"{between.tags}o", (*between.lemmas, "on"))
    return "own" if means in ("own", "first", "this") else means


def _name_object(tags: str, lemmas: tuple[str, ...]) -> str:
    """Return what the words between a verb and a target name."""
    found = _TO.match(tags)
    if found is None:
        return ""
    length = len(found["object"])
    if "N" in found["to"] and lemmas[length + found["to"].index("N")] not in load_flows().amount_nouns:
        return ""
    cut = min((at for at, lemma in enumerate(lemmas[:length]) if lemma in ("as", "with", "in")), default=length)
    is_aside = [False] * cut
    for aside in _ASIDE.finditer(tags[:cut]):
        is_aside[slice(*aside.span())] = [True] * (aside.end() - aside.start())
    words = "".join(tag for tag, is_out in zip(tags, is_aside, strict=False) if not is_out)
    names = [lemma for lemma, is_out in zip(lemmas, is_aside, strict=False) if not is_out]
    if names[:3] == ["your", "share", "of"]:
        words, names = words[3:], names[3:]
    if not words:
        return "elided"
    if "h" in words:
        own = re.fullmatch(r"(?:n?I|[TD][nN]{0,4})?h[,c]*", words)
        return "own" if own else "here" if re.search(r"h,?c?$", words) else ""
    if re.fullmatch(r"[IT]", words):
        return "own" if names[0] == "this" else "amount"
    return _name_noun(words, names) if _ANAPHORIC.fullmatch(words) else ""


def _name_noun(words: str, names: list[str]) -> str:
    """Return what a noun with an article or a demonstrative names."""
    determiner, head = names[0], names[-1]
    if determiner in ("this", "these", "the") and head in ("amount", "amounts") and len(names) == 2:
        return "own"
    if determiner == "this" and "W" not in words:
        return "this"
    if determiner in ("that", "those", "such", "these"):
        return "amount"
    if determiner != "the":
        return ""
    if head in load_flows().outcome_nouns or names[1:3] == ["same", "amount"]:
        return "first"
    is_total = bool(set(names[1:]) & set(load_flows().total_nouns))
    return "amount" if is_total or "W" in words or "w" in words else ""
