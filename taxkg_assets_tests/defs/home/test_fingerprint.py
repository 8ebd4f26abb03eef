"""A table is stale when what its own builder reads has changed, and only then: code, rules by content, schemas."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import taxkg_assets.definitions  # noqa: F401 - registers how tables are made
from taxkg_assets.defs.extraction import READ_TABLES
from taxkg_assets.defs.home import fingerprint, schema_digests
from taxkg_assets.defs.home.fingerprint import family_names, forget_rules, read_code
from taxkg_assets.defs.home.schema_digests import PACKAGE
from taxkg_assets.defs.home.stored_tables import TableState
from taxkg_assets.defs.ingest.reading import reading_version
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.extraction.extract import extract
from taxkg_assets_tests.architecture.test_snapshot import REWRITE

pytestmark = pytest.mark.slow

SNAPSHOT = Path(__file__).with_name("stale_by_family.json")
READING = "all tables of the extraction"
STATE = TableState(version=0, content="content", inputs="", documents={})


def fingerprints(home: Home) -> dict[str, str]:
    """What decides of each table whether it is stale, for one and the same upstream rows."""
    found = {READING: reading_version(home.settings)}
    for record in PIPELINE.records():
        if record.fingerprint is not None:
            found[record.name] = record.fingerprint(home, dict.fromkeys(record.upstream, STATE))
    return found


def find_stale(home: Home, before: dict[str, str]) -> list[str]:
    """The tables that a change has made stale by itself; what follows from their rows is not among them."""
    return sorted(name for name, digest in fingerprints(home).items() if digest != before[name])


@pytest.fixture
def edited(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Any], None]:
    """What gives a rule family another content than its file has."""
    parse = cache(fingerprint._parse_family.__wrapped__)
    family_digest = fingerprint.family_digest
    known = cache(family_digest)
    """Digests of families that are not the edited one: each is the same for every table and every edit."""

    def edit(family: str, content: Any) -> None:
        fingerprint._fingerprint.cache_clear()
        changed = cache(lambda name: content if name == family else parse(name))
        monkeypatch.setattr(fingerprint, "_parse_family", changed)
        edited = cache(family_digest)
        monkeypatch.setattr(fingerprint, "family_digest", lambda name: (edited if name == family else known)(name))

    return edit


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Nothing is known of an earlier test, nor of an earlier process, which saw the files as they are."""
    monkeypatch.setattr(fingerprint, "recall_fingerprint", lambda *_, **__: None)
    monkeypatch.setattr(fingerprint, "keep_fingerprint", lambda *_, **__: None)
    forget_rules()
    yield
    forget_rules()


def test_each_rule_family_makes_stale_what_reads_it_and_nothing_else(
    tmp_path: Path, edited: Callable[[str, Any], None]
) -> None:
    home = Home(home=str(tmp_path))
    before = fingerprints(home)
    stale = {}
    for family in sorted(family_names()):
        edited(family, {**_read(family), "another weight": 0.5})
        stale[family] = find_stale(home, before)
    if os.environ.get(REWRITE):
        SNAPSHOT.write_text(json.dumps(stale, indent=1) + "\n", encoding="utf8")
    assert stale == json.loads(SNAPSHOT.read_text(encoding="utf8"))
    assert READING not in stale["guardrail"]
    assert "embeddings" not in stale["guardrail"]
    assert stale["guardrail"] == ["eval_report", "eval_runs"]
    assert [family for family, names in stale.items() if "embeddings" in names] == []


def _read(family: str) -> Any:
    import yaml

    return yaml.load((PACKAGE / "rules" / f"{family}.yaml").read_bytes(), Loader=yaml.CSafeLoader)


def test_comments_and_the_order_of_keys_make_nothing_stale(tmp_path: Path, edited: Callable[[str, Any], None]) -> None:
    home = Home(home=str(tmp_path))
    before = fingerprints(home)
    for family in ("guardrail", "tables", "chunking"):
        edited(family, dict(reversed(_read(family).items())))
        assert find_stale(home, before) == []


def test_docstrings_comments_and_descriptions_make_nothing_stale() -> None:
    plain = (
        'class A(dy.Schema):\n    """One."""\n    b = key_column("name")\n'
        '    c = dy.Int32(min=0, description="count")\n'
    )
    other = (
        'class A(dy.Schema):\n    """Two."""\n    # why\n    b = key_column("id")\n'
        '    c = dy.Int32(min=0, description="n")\n'
    )
    wider = other.replace("min=0", "min=1")
    dumps = [
        ast.dump(schema_digests.drop_documentation(ast.parse(source), is_schema=True))
        for source in (plain, other, wider)
    ]
    assert dumps[0] == dumps[1]
    assert dumps[1] != dumps[2]


def test_a_column_makes_stale_what_names_its_table() -> None:
    reads = {
        record.name: set(read_code(*record.functions).schemas) for record in PIPELINE.records() if record.functions
    }
    assert "Edges" in reads["edges"]
    assert "Edges" not in reads["registry"]
    assert {one.schema.__name__ for one in READ_TABLES} - {"Quarantine", "Documents"} <= reads["spans"]


_RECORD = """
import functools, gc, json, sys
from pathlib import Path
import taxkg_assets.rules.loader as loader
plain, read = loader.load_family.__wrapped__, set()
def load_family(name):
    read.add(name)
    return plain(name)
loader.load_family = load_family
import taxkg_assets.definitions
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
import taxkg_assets.rules
for name, module in list(sys.modules.items()):
    if name.startswith("taxkg_assets") and getattr(module, "load_family", None) is not None:
        module.load_family = load_family

def forget():
    gc.unfreeze()  # frozen objects are not listed
    kept = [one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper)]
    own = [one for one in kept if str(one.__module__).startswith("taxkg_assets")]
    assert len(own) > 100, "the caches of the package are not found"
    for one in own:
        one.cache_clear()

def make(table):
    if table != "spans":
        PIPELINE[table].builder.make(Home(home=home))
        return
    from taxkg_assets.extraction.extract import extract
    for path in sorted(Path(samples).iterdir()):
        if path.suffix in (".pdf", ".txt"):
            extract(path.read_bytes(), document_id=path.stem, is_text=path.suffix == ".txt")

home, samples, *tables = sys.argv[1:]
found = {}
for table in tables:
    forget()
    read.clear()
    make(table)
    found[table] = sorted(read)
print(json.dumps(found))
"""

READ_AT_WORK = (
    "spans",
    "document_quality",
    "registry",
    "nodes",
    "edges",
    "flows",
    "revisions",
    "chunks",
    "summaries",
    "index",
)


@pytest.fixture(scope="module")
def loaded_at_work(built_samples: Path) -> dict[str, set[str]]:
    """The families that each builder loads, noted in one process that forgets between two what it knows of rules."""
    samples = PACKAGE.parent / "data" / "samples"
    command = [sys.executable, "-c", _RECORD, str(built_samples), str(samples), *READ_AT_WORK]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    return {table: set(families) for table, families in json.loads(done.stdout.splitlines()[-1]).items()}


@pytest.mark.parametrize("table", READ_AT_WORK)
def test_a_builder_reads_no_family_that_its_fingerprint_leaves_out(
    table: str, loaded_at_work: dict[str, set[str]]
) -> None:
    """The families are found in the code; here the builders run in another process, and what each loads is noted."""
    loaded = loaded_at_work[table]
    functions = (extract,) if table == "spans" else PIPELINE[table].functions
    known = read_code(*functions).families
    builder = PIPELINE[table].builder
    if builder is not None and "proposer" in builder.resources:
        from taxkg_assets.llm.rule_proposer import RuleProposer

        known = known | read_code(RuleProposer).families
    assert loaded, "a builder that loads nothing shows nothing"
    assert loaded <= known
