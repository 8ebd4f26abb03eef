"""Support of the rules: the number of documents and labeled rows for each rule, and the rules disabled for lack of it.

`tools/rule_evidence.py` counts documents and rows, `benchmarks/rule_gain.py` measures the gain of rules.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

Key = tuple[str, str, str]
"""Family, group and id of a rule."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_COUNTED = ("documents", "questions")


@dataclass(frozen=True, slots=True)
class Support:
    """The evidence for one rule.

    Attributes:
        reads: Kind of text that the rule searches: `documents` or `questions`; for other kinds nothing is counted.
        reach: Number of documents of the library, or of written questions, in which the rule matches.
        labeled: Number of labeled rows that the rule matches or decides.
    """

    reads: str
    reach: int
    labeled: int


@dataclass(frozen=True, slots=True)
class Exemption:
    """Rule lists that stay enabled without evidence.

    Attributes:
        kind: `closed list`, `syntax`, `named part`, `guard` or `safety`.
        reason: Why the rules need no evidence.
        lists: The lists, as `family.group`.
    """

    kind: str
    reason: str
    lists: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """The minimum evidence that rules need.

    Attributes:
        reach: Least number of documents or questions.
        labeled: Least number of labeled rows.
        exempt: Lists that need no evidence.
    """

    reach: int
    labeled: int
    exempt: tuple[Exemption, ...]

    def is_below(self, support: Support) -> bool:
        """Return whether a rule has too little evidence to be enabled without a measured gain.

        Args:
            support: Counts of the rule.
        """
        has_little_evidence = support.reach < self.reach or support.labeled < self.labeled
        return support.reads in _COUNTED and has_little_evidence


def name_family(document_id: str) -> str:
    """Return the family of a document: a form with its instructions, or a publication, in all its revisions.

    Args:
        document_id: Id of the document, e.g. `i1040sd--2025`.

    Returns:
        Name without revision, and without the letter that distinguishes a form from its instructions, e.g. `1040sd`.
    """
    stem = document_id.split("--")[0]
    return stem[1:] if stem[:1] in ("f", "i") and len(stem) > 1 else stem


@cache
def load_policy() -> Policy:
    """Read `rules/support.yaml`, once per process."""
    policy_values = yaml.load(_read("support.yaml"), Loader=_LOADER)
    exempt = (Exemption(row["kind"], row["reason"], tuple(row["lists"])) for row in policy_values["exempt"])
    return Policy(**policy_values["bar"], exempt=tuple(exempt))


@cache
def load_support() -> Mapping[Key, Support]:
    """Read the evidence counts of all rules from `rules/support.csv`, once per process."""
    return {key: _to_support(row) for key, row in _read_rows("support.csv")}


@cache
def load_gains() -> Mapping[Key, float]:
    """Read the measured gains of rules on left-out families from `rules/gains.csv`, once per process.

    Returns:
        The least gain over all families of documents that may be left out. A gain is the number of labeled rows or
        questions that are right only with the rule, minus the number of those that are right only without the rule.
    """
    return {key: float(row["left_out_gain"]) for key, row in _read_rows("gains.csv")}


@cache
def load_evidence_families(reads: str) -> frozenset[str]:
    """Read the document families whose labels count as evidence from `rules/evidence_families.csv`.

    Args:
        reads: Kind of text that the rules search: `documents` or `questions`.

    Returns:
        Families, as from `name_family`; labels of other families do not count.
    """
    rows = csv.DictReader(_read("evidence_families.csv").splitlines())
    return frozenset(row["family"] for row in rows if row["reads"] == reads)


@cache
def find_unsupported(family: str) -> frozenset[tuple[str, str]]:
    """Find the rules of a family that are disabled for lack of evidence.

    Args:
        family: Rule family, such as `relations`.

    Returns:
        Group and id of the rules with too little evidence and without a measured gain; exempt rules are not among them.
    """
    policy, gains = load_policy(), load_gains()
    exempt_lists = {name for row in policy.exempt for name in row.lists}
    return frozenset(
        (group, rule)
        for (counted_family, group, rule), support in load_support().items()
        if counted_family == family
        and f"{family}.{group}" not in exempt_lists
        and policy.is_below(support)
        and gains.get((family, group, rule), 0.0) <= 0.0
    )


def _to_support(row: Mapping[str, str]) -> Support:
    reach = row["questions"] if row["reads"] == "questions" else row["documents"]
    return Support(reads=row["reads"], reach=int(reach), labeled=int(row["labeled"]))


def _read(name: str) -> str:
    return files("taxkg_assets.rules").joinpath(name).read_text(encoding="utf8")


def _read_rows(name: str) -> Iterator[tuple[Key, dict[str, str]]]:
    header, *rows = filter(None, csv.reader(_read(name).splitlines()))  # a quarter of the time of `DictReader`
    for row in rows:
        row_by_column = dict(zip(header, row, strict=True))
        yield (row_by_column["family"], row_by_column["group"], row_by_column["rule"]), row_by_column
