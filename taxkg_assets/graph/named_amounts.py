"""Amounts that a document names twice: in the sentence on the box that shows them, and in the one on their line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from taxkg_assets.graph.flow_statements import FlowStatement, find_matches, list_places
from taxkg_assets.graph.places import Place, find_last_document, name_forms
from taxkg_assets.rules.models.flows import load_flows
from taxkg_assets.rules.sentences import find_sentences


@dataclass(frozen=True, slots=True)
class PlacedAmount:
    """An amount by name, with the line on which a passage says to report it."""

    amount: str
    target: Place
    start: int
    end: int
    rule_id: str


@dataclass(slots=True)
class NamedAmounts:
    """Boxes of one document by the name of the amount they show."""

    _shown: dict[str, list[Place]] = field(default_factory=lambda: defaultdict(list))

    def add(self, text: str) -> None:
        """Record the boxes that a passage names for an amount.

        Args:
            text: The passage.
        """
        for match, places, _ in find_matches(text, load_flows().shown_amounts):
            for place in list_places(match["from"], places):
                if place.kind == "box" and not place.forms:
                    place = replace(place, forms=name_forms(find_last_document(text[: place.start])))
                if place.kind == "box" and place.forms and place not in self._shown[_fold(match["amount"])]:
                    self._shown[_fold(match["amount"])].append(place)

    def join(self, placed: PlacedAmount) -> Iterator[FlowStatement]:
        """Build a flow statement for each box that shows an amount.

        Args:
            placed: The amount with its line.

        Returns:
            Statements, one per box.
        """
        for source in self._shown.get(_fold(placed.amount), ()):
            yield FlowStatement("flows_to", source, placed.target, placed.start, placed.end, placed.rule_id)


def read_placed_amounts(text: str) -> list[PlacedAmount]:
    """Return the amounts that a passage names together with the lines on which to report them.

    Args:
        text: The passage.
    """
    return [
        PlacedAmount(match["amount"], target, start + match.start(), start + match.end(), rule_id)
        for start, end in find_sentences(text)
        for match, places, rule_id in find_matches(text[start:end], load_flows().placed_amounts)
        for target in list_places(match["to"], places)
    ]


def _fold(amount: str) -> str:
    return " ".join(amount.lower().split())
