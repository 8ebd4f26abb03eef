"""Base classes and loader of rule families: typed models of the rule files, one per file.

The attributes of a model are the values and lists of rules in its file. A type checker therefore finds names that no
file has, and a file without a declared name is refused when it is read. The models are in `taxkg_assets/rules/models`;
`taxkg_assets/rules/loader.py` reads the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from inspect import get_annotations
from keyword import iskeyword
from typing import Any, ClassVar, Generic, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from taxkg_assets.rules.anchored_search import Search
from taxkg_assets.rules.loader import RULE_KEYS, Rule, RuleFileError, is_rule_list, load_family, read_rules

_NO_MATCH = r"[^\s\S]"
"""Pattern of a disabled rule: it matches nothing, in Python and in polars."""
_REQUIRED_KEYS = frozenset({"id", "pattern", "examples", "source"})
"""Keys of every rule."""
_FIELDS = tuple(field.name for field in fields(Rule))
_Rule = TypeVar("_Rule", bound=Rule, covariant=True)


class Section(BaseModel):
    """A part of a rule family with typed keys; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Family(Section):
    """Content of a rule file: values, and lists of rules."""

    model_config = ConfigDict(arbitrary_types_allowed=True)


_Family = TypeVar("_Family", bound=Family)


class RuleList(Generic[_Rule]):
    """List of rules of a family, in the order of the file; iteration yields the enabled rules.

    A subclass declares the ids of its rules as attributes (`negative_word: Rule`, and `not_` for the id `not`, which
    Python reserves): its list has these rules and no others. A declared rule that is disabled matches nothing.

    Attributes:
        family: Rule family, `rules/<family>.yaml`.
        group: Key of the list in the family.
    """

    declared: ClassVar[Mapping[str, str]] = {}
    """Name of the attribute by id of the rule; empty if a list may have any rules."""
    rule_type: ClassVar[type[Rule]] = Rule

    def __init_subclass__(cls) -> None:
        """Make an attribute of each declared rule.

        Raises:
            TypeError: A declared name is the name of an attribute of `RuleList`.
        """
        cls.rule_type = get_args(cls.__orig_bases__[0])[0]  # type: ignore[attr-defined]
        cls.declared = {name.removesuffix("_") if iskeyword(name[:-1]) else name: name for name in get_annotations(cls)}
        for rule_id, name in cls.declared.items():
            if hasattr(RuleList, name):
                raise TypeError(
                    f"{cls.__name__}.{name}: this rule id is reserved, because every rule list has an "
                    "attribute of this name. Choose another id."
                )
            setattr(cls, name, _NamedRule(rule_id, name))

    def __init__(self, family: str, group: str, rule_type: type[_Rule]) -> None:
        """Describe the list; its rules are read on first use.

        Args:
            family: Rule family.
            group: Key of the list in the family.
            rule_type: Class of the rules.
        """
        self.family = family
        self.group = group
        self._rule_type = rule_type

    def __iter__(self) -> Iterator[_Rule]:
        """Return the enabled rules."""
        return iter(self._enabled)

    def __len__(self) -> int:
        """Return the number of enabled rules."""
        return len(self._enabled)

    def matches(self, text: str) -> bool:
        """Return whether a text contains a match of any enabled rule.

        Args:
            text: Text to search.
        """
        for search in self._searches:  # noqa: SIM110 - a generator costs as much as the search
            if search(text):
                return True
        return False

    def find_usable(self, text: str) -> list[_Rule]:
        """Return the rules that can match a text, because the text contains words that they require.

        Args:
            text: Text to search.

        Returns:
            Rules in the order of the file.
        """
        lower_text = text.lower()
        return [rule for rule in self._enabled if rule.may_match(lower_text)]

    @cached_property
    def rules_by_id(self) -> Mapping[str, _Rule]:
        """Return all rules by id, including disabled ones, which match nothing."""
        return {rule.id: _to_type(rule, self._rule_type) for rule in read_rules(self.family, self.group)}

    @cached_property
    def _enabled(self) -> tuple[_Rule, ...]:
        return tuple(rule for rule in self.rules_by_id.values() if rule.is_enabled)

    @cached_property
    def _searches(self) -> tuple[Search, ...]:
        return tuple(rule.search for rule in self._enabled)


class _NamedRule:
    """Attribute of a list for one of its rules; the list stores the rule after first use."""

    def __init__(self, rule_id: str, name: str) -> None:
        self._id = rule_id
        self._name = name

    def __get__(self, rules: RuleList[Any], owner: type) -> Rule:
        rule: Rule = rules.rules_by_id[self._id]
        rules.__dict__[self._name] = rule
        return rule


def load_model(name: str, model: type[_Family]) -> _Family:
    """Read a rule family into its typed model.

    Args:
        name: Rule family: `rules/<name>.yaml`.
        model: Model of the family.

    Returns:
        The validated content, not cached.

    Raises:
        RuleFileError: A value has another type, or a value, a list, a declared rule or a key of a rule is missing or
            unknown, or an id is twice in a list; the message names file and place.
    """
    content = {
        group: _convert_list(name, group, value, model) if is_rule_list(value) else value
        for group, value in load_family(name).items()
    }
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first_error = error.errors()[0]
        place = ".".join(str(part) for part in first_error["loc"])
        raise RuleFileError(f"rules/{name}.yaml: {place}: {first_error['msg']}. Correct the file.") from error


def _convert_list(name: str, group: str, rows: Sequence[Mapping[str, Any]], model: type[Family]) -> Any:
    """Convert a list of rules to the class that the model declares for it; without such a class, return the rows."""
    annotation = model.model_fields[group].annotation if group in model.model_fields else None
    list_type = get_origin(annotation) or annotation
    if not (isinstance(list_type, type) and issubclass(list_type, RuleList)):
        return rows
    rule_type = next(iter(get_args(annotation)), list_type.rule_type)
    if list_type.declared and (other_ids := list_type.declared.keys() ^ {row["id"] for row in rows}):
        place = f"{group}.{min(other_ids)}"
        reason = (
            "the rule is missing"
            if min(other_ids) in list_type.declared
            else f"{list_type.__name__} declares no such rule"
        )
        raise RuleFileError(f"rules/{name}.yaml: {place}: {reason}. Correct the file.")
    _check_keys(name, group, rows, rule_type)
    return list_type(name, group, rule_type)


def _check_keys(name: str, group: str, rows: Sequence[Mapping[str, Any]], rule_type: type[Rule]) -> None:
    """Refuse a rule with a key that its class lacks, or without a key that the class requires."""
    ids = [row.get("id") for row in rows]
    if repeated_id := next((rule_id for rule_id in ids if ids.count(rule_id) > 1), None):
        raise RuleFileError(f"rules/{name}.yaml: {group}.{repeated_id}: two rules have this id. Rename one.")
    declared_keys = {
        key for kind in rule_type.__mro__[: rule_type.__mro__.index(Rule)] for key in get_annotations(kind)
    }
    required_keys = {key for key in declared_keys if not hasattr(rule_type, key)} | _REQUIRED_KEYS
    for row in rows:
        if wrong_keys := (row.keys() - RULE_KEYS - declared_keys) | (required_keys - row.keys()):
            place = f"{group}.{row.get('id', '')}.{min(wrong_keys)}"
            message = (
                "the key is missing" if min(wrong_keys) in required_keys else f"{rule_type.__name__} has no such key"
            )
            raise RuleFileError(f"rules/{name}.yaml: {place}: {message}. Correct the file.")


def _to_type(rule: Rule, rule_type: type[_Rule]) -> _Rule:
    """Convert a rule to the class of its list, with its further keys; a disabled rule then matches nothing."""
    values = {name: getattr(rule, name) for name in _FIELDS}
    typed_rule = rule_type(**(values if rule.is_enabled else {**values, "source_pattern": _NO_MATCH}))
    vars(typed_rule).update(rule.extra)  # a rule is frozen: the further keys are set here only
    return typed_rule
