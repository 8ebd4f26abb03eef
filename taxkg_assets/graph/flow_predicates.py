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
_SHOWING_IN = re.compile(r"FG(?=[^,;]*o[DT]*P)")
"""`a form showing your dues in` a box."""
_IS_PLACE = re.compile(r"^(?:[of][DTnNA]{1,4},)?(?:[A,]*(?:T[nN]?|I|TNoTn))[mA]*b[DA]*(?:N(?=P))?")
"""`This is the amount on` a place."""
_SAME_IS = re.compile(r"^DN(?:oTn)?m?b")
"""`The amount is the same as` a place."""
_IS_NAMED = re.compile(r"b(?:D?n?NW?)?oD*P|^(?:DN[uo]D*)?P,?bD")
"""`Your dues are in` a place; a place `is your dues`."""
_ADDED_ELSEWHERE = re.compile(r"A*[IT]|.*t")
"""After `add`: `it`, or an amount with `to` and a place, which moves it and names no sum."""
_TAKEN_TO_PLACE = re.compile(r"A*[DTInN]+(?:oP,?)?t[DT#]*P")
"""After `take`: `this amount to` a place."""
_MODAL_SUBJECT = re.compile(r"[nN]A*m[mA]*$")
"""Before a verb: `Your dues will generally`."""
_EQUAL_SUBJECT = re.compile(r"^[A,]*(?:T[nN]{0,2}|TNoTn|DNh?|I)(?:oTn)?[mA]+$")
"""Before `equal`: `This amount should`."""
_AMOUNT_SUBJECT = re.compile(r"^[A,]*(?:T[nN]{0,2}|I|DN(?:oTn|h))[A]*$")
"""Before a verb in the third person: `This amount`, `The total here`."""
_THIS_NOUN = re.compile(r"(?:A,?)*Tn{1,2}")
"""Subject `These dues`."""
_OWN_SUBJECT = re.compile(r"(?:n[:.])?(?:A,?)*(?:TN?|I|DNW?(?:h|[uo]Tn)?)")
"""Subject `This amount`, `It`, `The total here`, `The amount of these dues`."""
_AMOUNT_HERE = re.compile(r"(?:n?I|[TD][nN]{0,4})?h[,c]*")
"""Object `the total here and`."""
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
        """Return the base form of the verb, or of the last word if the clause has no verb."""
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
    tags = words.tags
    starts = {0}
    last_predicate = -1
    asides = [aside.span() for pattern in (_ASIDE_CONDITION, _ORDER_ASIDE) for aside in pattern.finditer(tags)]
    for match in _PREDICATE.finditer(tags):
        predicate = match.start()
        is_in_aside = any(low <= predicate < high for low, high in asides)
        if is_in_aside or _belongs_to_outer_verb(tags, predicate, last_predicate):
            continue
        first_word = _find_start(tags, predicate, last_predicate)
        last_predicate = predicate
        clause_before = tags[words.before(max(starts)) : first_word]
        is_object = _NO_OBJECT.fullmatch(clause_before) and tags[first_word : first_word + 1] in "DTN"
        is_only_punctuation = re.fullmatch(r"[A,#~:.)(]*", tags[:first_word])
        if not is_object and not is_only_punctuation:
            starts.add(words.starts[first_word])
    if tags[:1] == "s" and (main := _MAIN.search(tags)):
        starts.add(words.starts[main.end()])
    starts |= {words.starts[match.start()] for match in _TRAILING.finditer(tags)}
    bounds = sorted({*starts, len(text)})
    return [(low, high) for low, high in pairwise(bounds) if text[low:high].strip()]


def _belongs_to_outer_verb(tags: str, predicate: int, last_predicate: int) -> bool:
    """Decide whether a verb begins no clause: `Form 2889 shows` in an aside, or a participle after a predicate."""
    if tags[predicate] == "Z":
        return _NO_PREDICATE.search(tags[:predicate]) is not None
    if tags[predicate] != "M" or last_predicate < 0:
        return False
    has_own_auxiliary = "b" in tags[last_predicate:predicate]
    return not has_own_auxiliary and tags[last_predicate] != "M"


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
        mark_ix = tags.rfind(mark, low, start)
        if mark_ix >= 0 and "P" in tags[low:mark_ix] + ("P" if last < 0 else ""):
            return mark_ix + 1 if last >= 0 or tags[:1] in ("s", "t") else 0
    return 0


def _find_verb(words: Words, end: int) -> tuple[str, int]:
    """Return what the first predicate of a clause does, as in `Clause.verb`, and where it ends."""
    tags, lemmas = words.tags, words.lemmas
    if _CONDITION.match(tags):
        return "condition", end
    match = _PREDICATE.search(tags)
    if match is None:
        return _find_verb_without_predicate(words, end)
    at = match.start()
    near = slice(max(0, at - 4), at)
    has_negation = "x" in tags[near] or any(lemma.endswith(("n't", "n’t")) for lemma in lemmas[near])
    # A comma ends the reach of a negation: `If not, enter` is an order.
    if has_negation and "," not in tags[near]:
        return "negated", end
    return _name_verb(tags, lemmas, at), words.ends[at]


def _find_verb_without_predicate(words: Words, end: int) -> tuple[str, int]:
    """Return what a clause does that has no verb but a form of `to be`, a participle, or none."""
    tags = words.tags
    if elided := _ELIDED.search(tags):
        return "move", words.ends[elided.start()]
    if showing := _SHOWING_IN.search(tags):
        return "named", words.ends[showing.end() - 1]
    if equal := _IS_PLACE.match(tags):
        return "equal", words.ends[equal.end() - 1]
    if "same" in words.lemmas and _SAME_IS.match(tags):
        return "equal", words.ends[tags.index("b")]
    if _IS_NAMED.search(tags):
        return "named", words.ends[tags.index("b")]
    return "", end


def _name_verb(tags: str, lemmas: tuple[str, ...], at: int) -> str:
    """Return what a predicate does to an amount, as in `Clause.verb`; each form of a verb has its own rules."""
    tag = tags[at]
    if tag == "M":
        return _name_passive(tags, lemmas, at)
    if tag == "V":
        return _name_order(tags, lemmas, at)
    if tag == "Z":
        return _name_third_person(tags, lemmas, at)
    if tag == "C":
        return "compute"
    return "named" if tag == "O" and _SENT.search(tags) else ""


def _is_showing(lemma: str) -> bool:
    """Decide whether a verb shows or computes an amount where it is, as `show` and `figure` do."""
    rules = load_flows()
    return lemma in rules.showing_verbs or lemma in rules.verbs["C"]


def _name_passive(tags: str, lemmas: tuple[str, ...], at: int) -> str:
    """Return what a passive does: `is entered on` moves an amount, `is shown on` shows or names it."""
    if not _is_showing(lemmas[at]):
        return "moved"
    has_no_subject = not tags[:at].strip("cAmbqx")
    refers_back = _ANAPHOR.match(tags[: at + 1]) is not None
    return "shown" if has_no_subject or refers_back else "named"


def _name_order(tags: str, lemmas: tuple[str, ...], at: int) -> str:
    """Return what an order or a verb with a subject does: `Enter`, `Combine`, `Box 4 will show`."""
    lemma, before, after = lemmas[at], tags[:at], tags[at + 1 :]
    rules = load_flows()
    is_showing = lemma in rules.showing_verbs
    if is_showing and (before == "P" or _PLACE_SUBJECT.search(tags, 0, at)):
        return "named"
    if lemma in ("total", "combine") or (lemma == "add" and not _ADDED_ELSEWHERE.match(after)):
        return "sum"
    if lemma in ("use", "take"):
        return _name_use(tags, lemmas, at)
    if is_showing and _MODAL_SUBJECT.search(before):
        return "shown"
    if lemma in rules.equality_verbs and _EQUAL_SUBJECT.match(before):
        return "equal"
    return "" if lemma in _SAME else "move"


def _name_use(tags: str, lemmas: tuple[str, ...], at: int) -> str:
    """Return `move` where `use` or `take` brings an amount to a place, empty where it is only an aid: `Use it to`."""
    after = tags[at + 1 :]
    if lemmas[at] == "use" and _is_to_complete(tags, lemmas, at):
        return "move"
    is_taken_to_place = lemmas[at] == "take" and _TAKEN_TO_PLACE.match(after)
    has_purpose = re.search(r"[ti]", after.partition("sy")[0])
    return "" if has_purpose and not is_taken_to_place else "move"


def _name_third_person(tags: str, lemmas: tuple[str, ...], at: int) -> str:
    """Return what a verb in the third person does: `This amount equals`, `Box 4 shows`."""
    is_showing = _is_showing(lemmas[at])
    if not is_showing and _AMOUNT_SUBJECT.match(tags[:at]):
        return "equal"
    return "named" if is_showing or lemmas[at] == "contains" else ""


def _is_to_complete(tags: str, lemmas: tuple[str, ...], at: int) -> bool:
    """Decide whether an amount is used on a line: `Use the amount on Form 2889, line 4, to complete line 9`."""
    completions = (ix for ix in range(at, len(lemmas)) if lemmas[ix] == "complete" and tags[ix] == "i")
    complete = next(completions, len(tags))
    is_before_place = tags[complete + 1 : complete + 2] == "P"
    if not is_before_place and lemmas[complete + 1 : complete + 3] != ("this", "line"):
        return False
    match = _USED.match(tags, at + 1, complete)
    if match is None:
        return False
    if not match["noun"]:  # only the place is named: `Use Form 2889, line 4, to complete`
        return True
    return names_amount(lemmas[match.start("noun") : match.end("noun")])


def find_object(clause: Clause, target: int) -> str:
    """Classify the amount that a clause moves to a place, if the clause names no source for it.

    `This amount is reported on line 4` moves an amount named before (`this`); `Enter the total on line 4` moves that of
    the heading, if it begins the text (`first`); `Enter your dues on line 4` moves an amount of its own (empty).

    Args:
        clause: The clause.
        target: Where the place begins.

    Returns:
        One of these classes:
        `own`, `this`, `amount`: the amount that an earlier clause or the heading names;
        `first`: the amount of the heading, if the clause begins the text;
        `these`: the amount of a heading on a box;
        `here`: an amount that also goes to the line of the heading;
        `elided`: the clause has no words for the amount;
        empty: another amount.
    """
    if clause.verb == "moved":
        return _name_subject(clause)
    between = clause.words.between(clause.verb_end, target)
    return _name_object(_mark_here(between), between.lemmas)


def _name_subject(clause: Clause) -> str:
    """Classify the amount that a passive moves, by its subject; the results are those of `find_object`."""
    words = clause.words
    verb = words.before(clause.verb_end) - 1
    subject = re.sub(r"[mAxbq]*[MZ]?$", "", words.tags[: verb + 1])
    subject = _FILERS_FIRST.sub("", _SUBJECT_ASIDE.sub("", subject))
    if not subject.strip("cA"):
        return "elided"
    if _THIS_NOUN.fullmatch(subject):
        return "this" if "this" in words.lemmas[: len(subject)] else "these"
    determiner = words.lemmas[subject.index("D")] if "D" in subject else "the"
    # `any of these amounts` is as definite as `the amount`.
    is_definite = determiner == "the" or (subject.endswith("oTn") and determiner in ("any", "all"))
    return "own" if is_definite and _OWN_SUBJECT.fullmatch(subject) else ""


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
    """Return what the words between a verb and a target name; the results are those of `find_object`."""
    match = _TO.match(tags)
    if match is None:
        return ""
    length = len(match["object"])
    if "N" in match["to"]:  # `in the total on`: only the noun of an amount may stand before the target
        noun = lemmas[length + match["to"].index("N")]
        if noun not in load_flows().amount_nouns:
            return ""
    object_tags, object_lemmas = _drop_asides(tags[:length], lemmas[:length])
    if object_lemmas[:3] == ["your", "share", "of"]:
        object_tags, object_lemmas = object_tags[3:], object_lemmas[3:]
    if not object_tags:
        return "elided"
    if "h" in object_tags:
        if _AMOUNT_HERE.fullmatch(object_tags):
            return "own"
        return "here" if re.search(r"h,?c?$", object_tags) else ""
    if re.fullmatch(r"[IT]", object_tags):
        return "own" if object_lemmas[0] == "this" else "amount"
    return _name_noun(object_tags, object_lemmas) if _ANAPHORIC.fullmatch(object_tags) else ""


def _drop_asides(tags: str, lemmas: tuple[str, ...]) -> tuple[str, list[str]]:
    """Return letters and base forms of an object without its asides, up to the first `as`, `with` or `in`."""
    aside_start = min((ix for ix, lemma in enumerate(lemmas) if lemma in ("as", "with", "in")), default=len(lemmas))
    aside_ixs = {ix for aside in _ASIDE.finditer(tags[:aside_start]) for ix in range(*aside.span())}
    kept_ixs = [ix for ix in range(aside_start) if ix not in aside_ixs]
    return "".join(tags[ix] for ix in kept_ixs), [lemmas[ix] for ix in kept_ixs]


def _name_noun(tags: str, lemmas: list[str]) -> str:
    """Return what a noun with an article or a demonstrative names; the results are those of `find_object`."""
    determiner, noun = lemmas[0], lemmas[-1]
    if determiner in ("this", "these", "the") and lemmas[1:] in (["amount"], ["amounts"]):
        return "own"
    if determiner == "this" and "W" not in tags:
        return "this"
    if determiner in ("that", "those", "such", "these"):
        return "amount"
    if determiner != "the":
        return ""
    if noun in load_flows().outcome_nouns or lemmas[1:3] == ["same", "amount"]:
        return "first"
    is_total = any(lemma in load_flows().total_nouns for lemma in lemmas[1:])
    has_participle = "W" in tags or "w" in tags
    return "amount" if is_total or has_participle else ""
