"""Writes the pages that follow from code and data: tables.md, commands.md, settings.md and rule-evidence.md.

`make docs` runs it; a test fails where a page is not what the code says.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer
from pydantic import SecretStr

import taxkg_assets.definitions as definitions
from taxkg_assets.defs.home.contracts import schema_of
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.serving.cli import app
from taxkg_assets.settings import Settings

HERE = Path(__file__).resolve().parent
# `python docs/generate.py` does not have the checkout on its path.
sys.path.insert(0, str(HERE.parent))
from tools.rule_decisions import (  # noqa: E402
    CHOSEN_ON,
    CONFIRMED_ON,
    SMALLEST_GAIN,
    list_decided,
    read_effects,
    sum_gains,
)
from tools.rule_evidence import (  # noqa: E402
    FEWEST_DOCUMENTS,
    FEWEST_LABELS,
    Evidence,
    list_rules,
    read_evidence,
)

WRITTEN = "<!-- Written by `make docs`; do not edit. -->"


def write_tables() -> str:
    """Every table: what a row is, its columns, what it is made from, its gates."""
    groups = {spec.key.to_user_string(): spec.group_name for spec in definitions.defs.resolve_all_asset_specs()}
    lines = ["# Tables", "", WRITTEN, ""]
    for name in PIPELINE.order():
        schema = schema_of(name)
        keys = schema.primary_key()
        lines += [f"## {name}", "", " ".join(str(inspect.getdoc(schema)).split()), ""]
        above = ", ".join(f"`{n}`" for n in (*PIPELINE[name].upstream, *PIPELINE[name].optional)) or "the sources"
        gates = ", ".join(f"`{g}`" for g in PIPELINE.gates(name)) or "none"
        lines += [
            f"Group {groups[name]}; made from {above}; gates: {gates}.",
            "",
            "| column | type | is |",
            "|---|---|---|",
        ]
        for column, kind in schema.columns().items():
            mark = " (key)" if column in keys else ""
            lines.append(f"| `{column}`{mark} | {type(kind).__name__} | {_cell(kind.description or '')} |")
        lines.append("")
    return "\n".join(lines)


def write_commands() -> str:
    """Every command with its arguments and options, as `--help` tells them."""
    lines = ["# Commands", "", WRITTEN, ""]
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for name, command in sorted(commands.items()):
        lines += [f"## taxkg {name}", "", " ".join(str(command.help).split()), "", "| option | does |", "|---|---|"]
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
    lines = ["# Settings", "", WRITTEN, "", "| variable | default | is |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.default.get_secret_value() if isinstance(field.default, SecretStr) else field.default
        shown = "" if default == "" else f"`{default}`"
        lines.append(f"| `TAXKG_{name.upper()}` | {shown} | {_cell(field.description or '')} |")
    return "\n".join([*lines, ""])


def write_rule_evidence() -> str:
    """Counts of the rules by family, and the rules with little evidence."""
    rows = read_evidence()
    counted = [row for row in rows if row.is_counted]
    thin = [row for row in counted if row.is_thin]
    lines = ["# Evidence of the rules", "", WRITTEN, ""]
    lines += [
        "`python -m tools.rule_evidence --home HOME --gold FOLDER` counts in how many documents of a library each",
        "rule fires, and how many labeled rows it matches. Rules of questions are counted on the written questions.",
        f"A rule has little evidence if it fires in fewer than {FEWEST_DOCUMENTS} documents or questions, or matches",
        f"fewer than {FEWEST_LABELS} labeled rows. The counts are in `data/rule_evidence.csv`. A match is not yet a",
        "right decision; `rules/confidence.yaml` counts those. Labels cover few documents, so a rule with little",
        "evidence is one to check, not one that is wrong.",
        "",
        f"{len(rows)} rules, {len(counted)} counted, {len(thin)} with little evidence, "
        f"{sum(row.documents < FEWEST_DOCUMENTS for row in thin if row.reads == 'documents')} of these in fewer than "
        f"{FEWEST_DOCUMENTS} documents.",
        "",
        "| family | rules | counted | fewer than 2 documents or questions | fewer than 5 labels | either |",
        "|---|---|---|---|---|---|",
    ]
    for family in dict.fromkeys(row.family for row in rows):
        own = [row for row in rows if row.family == family]
        read = [row for row in own if row.is_counted]
        narrow = sum(row.reach < FEWEST_DOCUMENTS for row in read)
        unlabeled = sum(row.labeled < FEWEST_LABELS for row in read)
        either = sum(row.is_thin for row in read)
        lines.append(f"| {family} | {len(own)} | {len(read)} | {narrow} | {unlabeled} | {either} |")
    lines += ["", "## Not counted", ""]
    lines += [
        f"- `{name}`: {reads}" for name, reads in dict.fromkeys((r.family, r.reads) for r in rows if not r.is_counted)
    ]
    lines += ["", "## Rules that are switched off", "", *_write_decisions(rows)]
    lines += ["", "## Rules that fire in fewer than 2 documents or questions", ""]
    lines += [
        "These are candidates: a measurement decides. Two kinds need another judgment: `router.places` is a closed",
        "list of states and cities, and rules for codes of law need a library with more than one code.",
        "",
    ]
    for row in counted:
        if row.reach < FEWEST_DOCUMENTS:
            lines.append(
                f"- `{row.family}.{row.group}.{row.rule}`: {row.reach} {row.reads}, {row.labeled} labeled rows"
            )
    return "\n".join([*lines, ""])


def _write_decisions(rows: Sequence[Evidence]) -> list[str]:
    effects = read_effects()
    off = {(family, group, rule.id) for family, group, rule in list_rules() if not rule.is_enabled}
    decided = list_decided(rows)
    families = dict.fromkeys(row.family for row in rows if (row.family, row.group, row.rule) in decided)
    lines = [
        "`python -m benchmarks rule_effect` switches off each rule with little evidence that reads questions, and",
        "evaluates the questions in which it fires. What counts is the sum of the reciprocal rank, of answers with",
        "the needed passage, and of silence where there is no answer. The development half of `data/library_eval`",
        "and the written questions of `data/training` propose the rules to switch off: those without a gain. The",
        "check half and the questions of `TAXKG_GOLD` confirm it for a family as a whole: if they lose by it, all",
        "its rules stay on. A rule that is off has `enabled: false` in its file: it is tested and counted, but not",
        "used. The effects are in `data/rule_effect.csv`.",
        "",
        "The measurement decides on `lay_terms`. The other families that read questions are the syntax of keys,",
        "revisions, forms and places, and kinds of questions: capabilities with tests, of which the labeled questions",
        "contain few. Rules that read documents are not decided yet: the labels measure headings, owners, roles and",
        "cells, but few other decisions of these rules, such as the identity of a document.",
        "",
        "| family | rules with little evidence | without a gain | what confirming questions lose without them | off |",
        "|---|---|---|---|---|",
    ]
    gains, confirming = (sum_gains(effects, sets=sets) for sets in (CHOSEN_ON, CONFIRMED_ON))
    for family in families:
        own = {key for key in decided if key[0] == family}
        weak = [key for key in own if gains.get(key, 0.0) <= SMALLEST_GAIN]
        lost = sum(confirming.get(key, 0.0) for key in weak)
        lines.append(f"| {family} | {len(own)} | {len(weak)} | {lost:.2f} | {len(own & off)} |")
    listed = [f"- `{'.'.join(key)}`: {gains.get(key, 0.0):+.2f}" for key in sorted(off)]
    return [*lines, "", *listed] if listed else lines


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
