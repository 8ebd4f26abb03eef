"""Typed rule families: one model per rule file, whose attributes are its values, its lists of rules and their rules.

A type checker knows every attribute, so code cannot name what no file has; a file that lacks a name is refused when
it is read. Here: the base classes of the models, and their loader. Not here: the models
(`taxkg_assets/rules/models`), and reading files (`taxkg_assets/rules/loader.py`).
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

_NEVER = r"[^\s\S]"
"""Pattern of a rule that is off, for the engines of Python and of polars."""
_NEEDED = frozenset({"id", "pattern", "examples", "source"})
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
    """List of rules of a family, in the order of the file; iteration yields those that are on.

    A subclass declares the ids of its rules as attributes (`negative_word: Rule`, and `not_` for the id `not`, which
    Python reserves). Its list has these rules and no others. A declared rule that is off matches nothing.

    Attributes:
        family: Rule family, `rules/<family>.yaml`.
        group: Key of the list in the family.
    """

    declared: ClassVar[Mapping[str, str]] = {}
    """Attributes by the id of their rule; empty where a list may have any rules."""
    rule_type: ClassVar[type[Rule]] = Rule

    def __init_subclass__(cls) -> None:
        """Make an attribute of each declared rule.

        Raises:
            TypeError: A declared name is one of this class's own.
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
        """Name the list; its rules are read on first use.

        Args:
            family: Rule family.
            group: Key of the list in the family.
            rule_type: Class of the rules.
        """
        self.family = family
        self.group = group
        self._rule_type = rule_type

    def __iter__(self) -> Iterator[_Rule]:
        """Return the rules that are on."""
        return iter(self._enabled)

    def __len__(self) -> int:
        """Return the number of rules that are on."""
        return len(self._enabled)

    def matches(self, text: str) -> bool:
        """Return whether a text contains a match of any rule that is on.

        Args:
            text: Text to search.
        """
        for search in self._searches:  # noqa: SIM110 - a generator costs as much as the search
            if search(text):
                return True
        return False

    def find_usable(self, text: str) -> list[_Rule]:
        """Return the rules that can match a text, by the literals they require.

        Args:
            text: Text that is searched.

        Returns:
            Rules in the order of the file.
        """
        small = text.lower()
        return [rule for rule in self._enabled if rule.may_match(small)]

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
    """Attribute of a list that is one of its rules, kept in the list after first use."""

    def __init__(self, rule_id: str, name: str) -> None:
        self._id = rule_id
        self._name = name

    def __get__(self, rules: RuleList[Any], owner: type) -> Rule:
        found: Rule = rules.rules_by_id[self._id]
        rules.__dict__[self._name] = found
        return found


def load_model(name: str, model: type[_Family]) -> _Family:
    """Read a rule family into its typed model.

    Args:
        name: Rule family.
        model: Model of the family.

    Returns:
        The validated content; callers keep it.

    Raises:
        RuleFileError: A value has another type, or a value, a list, a declared rule or a key of a rule is missing or
            unknown, or an id is twice in a list; the message names file and place.
    """
    content = {
        group: _name_list(name, group, value, model) if is_rule_list(value) else value
        for group, value in load_family(name).items()
    }
    try:
        return model.model_validate(content)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise RuleFileError(f"rules/{name}.yaml: {place}: {first['msg']}. Correct the file.") from wrong


def _name_list(name: str, group: str, rows: Sequence[Mapping[str, Any]], model: type[Family]) -> Any:
    """Return a list of rules as the class that the model declares for it, or the rows where it declares none."""
    declared = model.model_fields[group].annotation if group in model.model_fields else None
    kind = get_origin(declared) or declared
    if not (isinstance(kind, type) and issubclass(kind, RuleList)):
        return rows
    rule_type = next(iter(get_args(declared)), kind.rule_type)
    if kind.declared and (other := kind.declared.keys() ^ {row["id"] for row in rows}):
        place = f"{group}.{min(other)}"
        wrong = "the rule is missing" if min(other) in kind.declared else f"{kind.__name__} declares no such rule"
        raise RuleFileError(f"rules/{name}.yaml: {place}: {wrong}. Correct the file.")
    _check_keys(name, group, rows, rule_type)
    return kind(name, group, rule_type)


def _check_keys(name: str, group: str, rows: Sequence[Mapping[str, Any]], rule_type: type[Rule]) -> None:
    """Refuse a rule with a key that its class lacks, or without one that the class requires."""
    ids = [row.get("id") for row in rows]
    if twice := next((each for each in ids if ids.count(each) > 1), None):
        raise RuleFileError(f"rules/{name}.yaml: {group}.{twice}: two rules have this id. Rename one.")
    declared = {key for kind in rule_type.__mro__[: rule_type.__mro__.index(Rule)] for key in get_annotations(kind)}
    required = {key for key in declared if not hasattr(rule_type, key)} | _NEEDED
    for row in rows:
        if wrong := (row.keys() - RULE_KEYS - declared) | (required - row.keys()):
            place = f"{group}.{row.get('id', '')}.{min(wrong)}"
            message = "the key is missing" if min(wrong) in required else f"{rule_type.__name__} has no such key"
            raise RuleFileError(f"rules/{name}.yaml: {place}: {message}. Correct the file.")


def _to_type(rule: Rule, rule_type: type[_Rule]) -> _Rule:
    """Return a rule as one of its list's class, with its further keys; a rule that is off matches nothing."""
    values = {name: getattr(rule, name) for name in _FIELDS}
    made = rule_type(**(values if rule.is_enabled else {**values, "source_pattern": _NEVER}))
    vars(made).update(rule.extra)  # a rule is frozen: the keys of its class are written once, here
    return made
