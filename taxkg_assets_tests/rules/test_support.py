"""A rule with little support is off without a measured gain on left-out families, unless its list is exempt."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from taxkg_assets.rules import loader, support
from taxkg_assets.rules.families import RuleList
from taxkg_assets.rules.loader import Rule, read_rules
from taxkg_assets.rules.support import Exemption, Policy, Support, find_unsupported

read_gains = support.load_gains.__wrapped__
"""The reader of gains, which the fixture replaces."""
POLICY = Policy(reach=2, labeled=5, exempt=(Exemption("syntax", "as an agency writes it", ("boats.names",)),))
COUNTS = {
    "known": Support("documents", 2, 5),
    "narrow": Support("documents", 1, 9),
    "unlabeled": Support("questions", 9, 4),
    "gained": Support("documents", 1, 0),
    "lost": Support("documents", 1, 0),
    "unmeasured": Support("documents", 1, 0),
    "uncounted": Support("names of models", 0, 0),
}
GAINS = {
    ("boats", "rules", name): gain
    for name, gain in (("gained", 1.0), ("lost", -1.0), ("narrow", 0.0), ("unlabeled", 0.0))
}


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    counts = {("boats", group, rule): count for group in ("rules", "names") for rule, count in COUNTS.items()}
    monkeypatch.setattr(support, "load_policy", lambda: POLICY)
    monkeypatch.setattr(support, "load_support", lambda: counts)
    monkeypatch.setattr(support, "load_gains", lambda: GAINS)
    find_unsupported.cache_clear()
    yield
    find_unsupported.cache_clear()


def test_rules_below_the_bar_are_off_without_a_measured_gain() -> None:
    off = {("rules", name) for name in ("narrow", "unlabeled", "lost", "unmeasured")}
    assert find_unsupported("boats") == off
    assert find_unsupported("barns") == frozenset()


def test_the_loader_leaves_them_out(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"pattern": "a boat", "examples": ["a boat"], "source": "plain English"}
    rules = [{"id": name, **row} for name in (*COUNTS, "new")]
    monkeypatch.setattr(loader, "load_family", lambda name: {"rules": rules, "names": rules})
    assert [rule.id for rule in RuleList("boats", "rules", Rule)] == ["known", "gained", "uncounted", "new"]
    assert [rule.id for rule in RuleList("boats", "names", Rule)] == [*COUNTS, "new"], "an exempt list"
    off = [rule.id for rule in read_rules("boats") if not rule.is_enabled]
    assert off == ["narrow", "unlabeled", "lost", "unmeasured"]


def test_a_gain_counts_as_what_remains_without_any_one_family(monkeypatch: pytest.MonkeyPatch) -> None:
    header = "family,group,rule,measured_on,n,families,gain,left_out_gain"
    rows = [header, "boats,rules,gained,labels,9,2,3.00,1.00", "boats,rules,narrow,labels,9,1,6.00,0.00"]
    monkeypatch.setattr(support, "_read", lambda name: "\n".join(rows))
    assert read_gains() == {("boats", "rules", "gained"): 1.0, ("boats", "rules", "narrow"): 0.0}
