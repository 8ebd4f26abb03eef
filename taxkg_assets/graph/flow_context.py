"""What the clauses before a clause named, and where an amount that it names by a pronoun comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from taxkg_assets.graph.places import Place

WHOLE = re.compile(r"Schedule K(?: |$)")
"""Name of the schedule whose amounts partners or shareholders share."""


@dataclass(slots=True)
class Before:
    """Context of a sentence in flow extraction: what it and the preceding sentences named and did.

    Attributes:
        sources: Places whose amounts the sentence named.
        targets: Places that it moved an amount to.
        fronted: Place that begins it: `On line 5b, include ...`.
        is_computed: Whether its amount is the result of arithmetic.
        shown: Places whose amounts the passage names without moving them.
        named: Places that show the amount that the sentence before it is about.
        moved_to: Places that the sentence before it moved an amount to.
        last: Last place of the sentence before it.
        is_first: Whether the next sentence is the first of its passage.
        is_own: Whether it, or the one before it, moved the amount of the heading.
        is_topic: Whether it says what the amount of the heading is: `This is your deduction.`
        is_denied: Whether it says where an amount does not go.
        was_denied: Whether the sentence before it does: what goes elsewhere then is not the amount of the heading.
        topic: Content words of the heading and of its line's label; None where they have none.
        is_conditional: Whether it is about a case only: `If ..., include`.
        is_received: Whether its condition names an amount of its own: `If you received dues, report these amounts`.
        is_figured: Whether the passage names the form that figures an amount other than that of its box.
        is_here: Whether it put an amount on the line of the heading: `Enter the amount from line 9 here.`
        is_label: Whether the text is the label of a line: what it computes is the amount of that line.
        is_on_own: Whether its condition is on the amount of the heading: `If the result is a gain, report it on`.
        taken: Places of other forms whose whole amounts it takes, below the heading of no line.
        was_taken: Those of the sentence before it.
        denied: Places whose amounts it keeps from a line: `Instead, enter that amount on` another one.
        is_also: Whether it begins with `Also`: it moves the amount of the sentence before it once more.
        object: Content words of the amount that was moved last, where its sentence names it by words.
        carried: Where that amount is.
    """

    sources: list[Place] = field(default_factory=list)
    targets: list[Place] = field(default_factory=list)
    fronted: Place | None = None
    is_computed: bool = False
    shown: list[Place] = field(default_factory=list)
    named: list[Place] = field(default_factory=list)
    moved_to: list[Place] = field(default_factory=list)
    last: Place | None = None
    is_first: bool = True
    is_own: bool = False
    is_topic: bool = False
    is_denied: bool = False
    was_denied: bool = False
    topic: frozenset[str] | None = frozenset()
    is_conditional: bool = False
    is_received: bool = False
    is_figured: bool = False
    is_here: bool = False
    is_label: bool = False
    is_on_own: bool = False
    taken: list[Place] = field(default_factory=list)
    was_taken: list[Place] = field(default_factory=list)
    denied: list[Place] = field(default_factory=list)
    is_also: bool = False
    object: frozenset[str] = frozenset()
    carried: list[Place | None] = field(default_factory=list)

    def remember_moved(self, pairs: list[tuple[Place | None, Place | None]], words: frozenset[str]) -> None:
        """Remember which amount a clause moved.

        Args:
            pairs: Source and target of each amount that the clause moves.
            words: Content words that name the amount.
        """
        self.object = words or self.object
        if pairs:
            ends = [target if source is None and target and not target.forms else source for source, target in pairs]
            self.carried = list(dict.fromkeys(ends))

    def begin(self, *, is_first: bool) -> Before:
        """Return the context of the next sentence.

        Args:
            is_first: Whether the next sentence is the first of its passage.

        Returns:
            What this sentence named and did; if it has no places, what the sentences before it did.
        """
        if not (self.sources or self.targets or self.shown or self.is_computed):
            return replace(
                self,
                fronted=None,
                is_first=is_first,
                is_here=False,
                is_denied=False,
                was_denied=self.is_denied,
                denied=[],
            )
        is_named = bool(self.shown) and not self.is_computed
        named_before = [] if self.targets else self.named
        named = [*named_before, *self.shown] if is_named else []
        return Before(
            named=named,
            moved_to=self.targets,
            last=self.last,
            is_first=is_first,
            is_own=self.is_own,
            is_figured=self.is_figured,
            was_denied=self.is_denied,
            topic=self.topic,
            is_label=self.is_label,
            was_taken=[] if self.is_computed else self.taken,
            object=self.object,
            carried=self.carried,
        )


@dataclass(slots=True)
class Said:
    """The places that passages under one heading have named as showing an amount."""

    named: list[Place] = field(default_factory=list)


def find_origins(means: str, context: Before, heading_kind: str) -> list[Place | None]:
    """Find the source of an amount that a clause only refers to by a pronoun, or leaves out.

    After `Add lines 2 and 3 of Form 2889`, `this amount` is a sum and has no source; after `Your dues are in box 4`, it
    is the amount of box 4.

    Args:
        means: Class of the amount, from `find_object`.
        context: What the clauses before it named.
        heading_kind: What the heading explains.

    Returns:
        Its places; None means the line or box of the heading.
    """
    below_line = heading_kind == "lines"
    if means == "here" or (means and context.is_label):
        return [None] if below_line else []
    if not means:
        return []
    is_topic = context.is_topic and not context.sources
    if below_line and (context.is_here or is_topic):
        return [None]
    if context.is_computed or context.is_figured:  # the amount is that of no place
        return []
    places = _find_named_before(means, context, heading_kind)
    if places:
        return [*places]
    if _is_of_heading(means, context, heading_kind):
        return [None]
    is_denied = context.is_denied or context.was_denied
    return [*context.denied] if is_denied else [*context.named]


def _find_named_before(means: str, context: Before, heading_kind: str) -> list[Place]:
    """Return the places that the words for an amount refer to, nearest first: this sentence, then the one before it."""
    of_sentence = context.sources or context.targets
    if of_sentence:
        return of_sentence
    refers_to_sentence_before = means == "this" or (means == "own" and heading_kind == "lines")
    if refers_to_sentence_before and context.named:
        return context.named
    return context.was_taken if not heading_kind and means in ("own", "this") else []


def _is_of_heading(means: str, context: Before, heading_kind: str) -> bool:
    """Decide whether the words for an amount mean that of the heading."""
    if heading_kind == "boxes":
        return True
    if heading_kind != "lines" or context.was_denied:
        return False
    if means in ("own", "this"):
        return True
    if means == "first":
        return context.is_first or context.is_own or context.is_on_own
    return means == "amount" and (context.is_own or context.is_on_own)


def find_shared_total(context: Before) -> Place | None:
    """Find the previously named line of Schedule K whose amount the partners share.

    Args:
        context: What the clauses before named.

    Returns:
        The line; None means the line of the heading.
    """
    origin = context.targets[-1] if context.targets else context.last
    if origin is None or len(origin.keys) != 1:
        return None
    return origin if WHOLE.match("".join(origin.forms)) else None
