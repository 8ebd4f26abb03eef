"""Writes the pages that follow from code and data: tables.md, commands.md, settings.md and rule-evidence.md.

`make docs` runs it; a test fails where a page is not what the code says.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer
from pydantic import SecretStr
from pydantic.fields import FieldInfo

import taxkg_assets.definitions as definitions
from taxkg_assets.defs.home.contracts import schema_of
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.serving.cli import app
from taxkg_assets.settings import Settings

HERE = Path(__file__).resolve().parent
# `python docs/generate.py` does not have the checkout on its path.
sys.path.insert(0, str(HERE.parent))
from taxkg_assets.rules.support import Key, load_policy, load_support  # noqa: E402
from tools.rule_decisions import list_undecided, read_gains  # noqa: E402
from tools.rule_evidence import Evidence, list_rules, read_evidence  # noqa: E402

WRITTEN = "<!-- Written by `make docs`; do not edit. -->"


def write_tables() -> str:
    """Every table: what a row is, its columns, what it is made from, its gates."""
    groups = {spec.key.to_user_string(): spec.group_name for spec in definitions.defs.resolve_all_asset_specs()}
    lines = ["# Tables", "", WRITTEN, ""]
    for name in PIPELINE.order():
        schema = schema_of(name)
        keys = schema.primary_key()
        lines += [f"## {name}", "", " ".join(str(inspect.getdoc(schema)).split()), ""]
        above = ", ".join(f"`{n}`" for n in (*PIPELINE[name].upstream, *PIPELINE[name].optional)) or "none"
        gates = ", ".join(f"`{g}`" for g in PIPELINE.gates(name)) or "none"
        lines += [
            f"Group {groups[name]}; upstream tables: {above}; gates: {gates}.",
            "",
            "| column | type | description |",
            "|---|---|---|",
        ]
        for column, kind in schema.columns().items():
            mark = " (key)" if column in keys else ""
            lines.append(f"| `{column}`{mark} | {type(kind).__name__} | {_cell(kind.description or '')} |")
        lines.append("")
    return "\n".join(lines)


def write_commands() -> str:
    """Every command with its arguments and options, as `--help` states them."""
    lines = ["# Commands", "", WRITTEN, ""]
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for name, command in sorted(commands.items()):
        lines += [
            f"## taxkg {name}",
            "",
            " ".join(str(command.help).split()),
            "",
            "| option | description |",
            "|---|---|",
        ]
        lines += [f"| {shown} | {_cell(said)} |" for shown, said in _parameters(command)]
        lines.append("")
        if command.epilog:
            shown = [line.strip() for line in command.epilog.split("\n\n")[1:]]
            lines += ["```", *shown, "```", ""]
    return "\n".join(lines)


def _parameters(command: Any) -> Iterator[tuple[str, str]]:
    for parameter in command.params:
        if parameter.name == "help":
            continue
        is_option = parameter.param_type_name == "option"
        names = [*parameter.opts, *parameter.secondary_opts] if is_option else [parameter.name.upper()]
        yield ", ".join(f"`{name}`" for name in names), str(getattr(parameter, "help", "") or "")


def write_settings() -> str:
    """Every setting with its environment variable, default and meaning."""
    lines = ["# Settings", "", WRITTEN, "", "| variable | default | values | description |", "|---|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.default.get_secret_value() if isinstance(field.default, SecretStr) else field.default
        shown = "" if default == "" else f"`{default}`"
        values = _cell(_allowed_values(field))
        lines.append(f"| `TAXKG_{name.upper()}` | {shown} | {values} | {_cell(field.description or '')} |")
    return "\n".join([*lines, ""])


def _allowed_values(field: FieldInfo) -> str:
    """The values that a setting may have: those of its type, and its bounds."""
    if get_origin(field.annotation) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(field.annotation))
    if field.annotation is bool:
        return "`true`, `false`"
    bounds = {
        name: getattr(each, name)
        for each in field.metadata
        for name in ("ge", "gt", "le", "lt")
        if getattr(each, name, None) is not None
    }
    words = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
    return ", ".join(f"{words[name]} {bound:,}" for name, bound in bounds.items())


def write_rule_evidence() -> str:
    """Counts of the rules by family, exempt lists, and the rules that are off or on with a measured gain."""
    rows, policy = read_evidence(), load_policy()
    off = {(family, group, rule.id) for family, group, rule in list_rules() if not rule.is_enabled}
    undecided, gains = list_undecided(), {gain.key: gain for gain in read_gains()}
    unmeasured = {key for key in undecided if key not in gains or not gains[key].n}
    lines = ["# Evidence of the rules", "", WRITTEN, ""]
    lines += [
        f"A rule is enabled if it fires in at least {policy.reach} documents (a rule for questions: in",
        f"{policy.reach} questions) and matches, or decides, at least {policy.labeled} labeled rows. A rule below this",
        "bar is disabled, unless a gain is measured that remains when any one family of documents is left out, or its",
        "list is exempt for the reason given below. Rules of other lists whose gain cannot be measured are disabled.",
        "Rules that read neither documents nor questions, such as names of fonts or models, are not counted. The",
        "loader (`taxkg_assets/rules/support.py`) decides from counts in `support.csv` and gains in `gains.csv`.",
        "A new rule is enabled until it is counted.",
        "",
        "- Counts: `python -m tools.rule_evidence --home HOME --gold FOLDER`. Labeled rows are labels of `data` and",
        "  of `FOLDER`, and the references that a person checked (`rules/confidence.yaml`). A question with a known",
        "  passage, or known to have none, is a labeled row of rules for questions. Matches that a reader found right",
        "  (`data/rule_reviews.csv`) count as labeled rows, too. `python -m tools.rule_matches` prints texts to label",
        "  before it shows which of them match. Labels that are held out support no rule.",
        "- Gains: `python -m benchmarks rule_gain` disables each rule below the bar on its own, and repeats the",
        "  reading or answering where it fires. The gain is the number of cases that are correct only with the rule,",
        "  minus those that are correct only without it. The second figure is the leave-one-family-out gain: the",
        "  minimum over all families. A family is a form with its instructions, or a publication, in all revisions.",
        "  Rules for questions on a meaning are measured on terms of printed indexes, put into wordings that they",
        "  match: an answer is correct if it begins on a page that the index names.",
        "  What a person read of a rule (`changes read`) counts where it is more rows than the measurement has.",
        "- Left-out families: `evidence_families.csv` names the families whose labels support rules. The gate",
        "  `left_out_families` compares the figures of all others with theirs, and blocks where the difference is",
        "  beyond the bound in `rules/floors.yaml`; the evaluation report shows both.",
        "",
        f"{len(rows)} rules are counted. {len(undecided)} are below the bar and not exempt: "
        f"{len(undecided) - len(off)} are on with a measured gain, and {len(off)} are off, "
        f"{len(unmeasured)} of them unmeasured. Rules that are newer than their family's last count are on, and not in "
        "this table.",
        "",
        "| family | rules | below the bar | of these exempt | measured, on | measured, off | unmeasured, off |",
        "|---|---|---|---|---|---|---|",
    ]
    for family in dict.fromkeys(row.family for row in rows):
        below = [row for row in rows if row.family == family and policy.is_below(load_support()[_key(row)])]
        own = [_key(row) for row in below if _key(row) in undecided]
        dark = sum(key in unmeasured for key in own)
        gone = sum(key in off for key in own) - dark
        count = sum(row.family == family for row in rows)
        figures = (count, len(below), len(below) - len(own), len(own) - dark - gone, gone, dark)
        lines.append(f"| {family} | {' | '.join(map(str, figures))} |")
    lines += ["", "## Exempt lists", ""]
    for each in policy.exempt:
        lines += [f"- {each.kind}: {each.reason}. " + ", ".join(f"`{name}`" for name in each.lists)]
    return "\n".join([*lines, *_write_gains(off), ""])


def _key(row: Evidence) -> Key:
    return row.family, row.group, row.rule


def _write_gains(off: set[Key]) -> list[str]:
    gains = sorted(read_gains(), key=lambda row: (row.key in off, row.key))
    lines = ["", "## Rules below the bar", ""]
    lines += ["| rule | | measured on | n | families | gain | one family left out |", "|" + "---|" * 7]
    return [
        *lines,
        *(
            f"| `{'.'.join(row.key)}` | {'off' if row.key in off else 'on'} | {row.measured_on or 'not measured'} "
            f"| {row.n} | {row.families} | {row.gain:.2f} | {row.left_out_gain:.2f} |"
            for row in gains
        ),
    ]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


PAGES = {
    "tables.md": write_tables,
    "commands.md": write_commands,
    "settings.md": write_settings,
    "rule-evidence.md": write_rule_evidence,
}


def main(folder: Path = HERE) -> None:
    """Write all pages."""
    for name, write in PAGES.items():
        (folder / name).write_text(write(), encoding="utf8")


if __name__ == "__main__":
    sys.exit(main())
