"""The graph shows what is true: what a table reads is declared, one step reads documents, every node has its code."""

from __future__ import annotations

import ast
from pathlib import Path

import dagster as dg
import pytest

import taxkg_assets
from taxkg_assets.definitions import defs
from taxkg_assets.defs.automation import partition_range
from taxkg_assets.defs.extraction import READ_TABLES
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.ingest.intake import PER_DOCUMENT
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.serving.instance import open_instance
from taxkg_assets_tests.defs.wiring.test_gates import materialize_one

pytestmark = pytest.mark.slow

PACKAGE = Path(taxkg_assets.__file__).parent
GRAPH = defs.resolve_asset_graph()
MADE_QUICKLY = [
    name for name in PIPELINE.built() if PIPELINE[name].builder and name not in {"eval_runs", "index", "references"}
]
OF_ITS_OWN = {"llm_calls", "reviews", "release", "embeddings"}
"""Tables that are made from their own earlier rows."""


def declared(name: str) -> set[str]:
    """The tables that the graph shows above a table."""
    return {key.to_user_string() for key in GRAPH.get(dg.AssetKey(name)).parent_keys}


@pytest.mark.parametrize("name", MADE_QUICKLY)
def test_what_a_table_reads_is_declared(name: str, sample_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: set[str] = set()
    plain = Store.read

    def note(self: Store, table: str, **how: int | None) -> object:
        read.add(table)
        return plain(self, table, **how)

    monkeypatch.setattr(Store, "read", note)
    builder = PIPELINE[name].builder
    assert builder is not None
    builder.make(Home(home=str(sample_home)))
    assert read - ({name} if name in OF_ITS_OWN else set()) <= declared(name)
    assert set(builder.reads) <= declared(name)


def test_inputs_that_were_hidden_are_shown() -> None:
    assert "reviews" in declared("chunks")
    assert "model" in declared("embeddings")
    assert {"documents", "edges", "tables", "registry", "document_quality", "reranker"} <= declared("release")
    assert {"model", "reranker", "index"} <= declared("eval_runs")


def test_one_step_reads_documents_and_makes_all_their_tables() -> None:
    names = {one.name for one in READ_TABLES}
    assert names == {"documents", "quarantine", *PER_DOCUMENT}
    for name in names:
        node = GRAPH.get(dg.AssetKey(name))
        assert {key.to_user_string() for key in node.execution_set_entity_keys if isinstance(key, dg.AssetKey)} == names
        assert declared(name) == set(PIPELINE.upstream(name))


def test_every_table_and_every_check_links_to_its_code() -> None:
    """The first link is the function that makes or judges, the last the line that wires it; all are there."""
    shown = [(key, GRAPH.get(key).metadata) for key in GRAPH.get_all_asset_keys()]
    shown += [(key, GRAPH.get_check_spec(key).metadata) for key in GRAPH.asset_check_keys]
    for key, metadata in shown:
        references = metadata["dagster/code_references"].code_references
        assert len(references) >= 2, key
        for reference in references:
            assert isinstance(reference, dg.LocalFileCodeReference)
            line = Path(reference.file_path).read_text(encoding="utf8").splitlines()[(reference.line_number or 1) - 1]
            if reference.label == "wiring":
                assert Path(reference.file_path).parent == PACKAGE / "defs", key
            else:
                assert line.lstrip().startswith(("def ", "@", "class ")), (key, line)
    of_spans = GRAPH.get(dg.AssetKey("spans")).metadata["dagster/code_references"].code_references
    assert [reference.label for reference in of_spans] == ["reading", "builder", "wiring"]


def test_a_click_on_one_table_of_the_extraction_makes_what_it_says(sample_home: Path) -> None:
    """A table that was lost is made again by a click on it, from the documents, with those of the same step."""
    import shutil

    store = Store(sample_home)
    rows = store.read("anchors")
    shutil.rmtree(store.table_uri("anchors"))
    shutil.rmtree(sample_home / "cache" / "extract")
    with open_instance(store) as instance:
        partitions = instance.get_dynamic_partitions("document")
        made = materialize_one(sample_home, instance, "anchors", tags=partition_range(partitions))
    assert made.success
    assert store.read("anchors").equals(rows)


def test_private_names_of_dagster_are_in_one_module() -> None:
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
            if any(name.startswith("dagster._") for name in names):
                found.add(path.relative_to(PACKAGE).as_posix())
            if isinstance(node, ast.Attribute) and node.attr == "step_context":
                found.add(path.relative_to(PACKAGE).as_posix())
    assert found == {"defs/wiring/compat.py"}


def test_the_wiring_keeps_one_register() -> None:
    """No module of defs keeps a container of its own that wiring fills; a run keeps gates, listeners and times."""
    kept = []
    for path in sorted((PACKAGE / "defs").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf8")).body:
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if isinstance(value, ast.Dict | ast.List | ast.Set) and not getattr(
                value, "elts", getattr(value, "keys", 1)
            ):
                kept.append(f"{path.name}: {ast.unparse(node)[:60]}")
    assert sorted(name.split(":")[0] for name in kept) == ["early_gates.py", "progress.py", "timing.py"]
