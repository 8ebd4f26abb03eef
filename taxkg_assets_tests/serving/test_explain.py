"""A node explained with its edges, and the released graph exported."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from taxkg_assets.serving.cli import app
from taxkg_assets.serving.explain import NodeNotFoundError, explain
from taxkg_assets.serving.released import open_release

pytestmark = pytest.mark.slow


def test_a_box_in_words_is_explained_with_page_and_evidence(built_samples: Path, tmp_path: Path) -> None:
    page, picture = tmp_path / "a.html", tmp_path / "a.png"
    arguments = ["explain", "box", "1a", "of", "1099-DIV", "--html", str(page), "--picture", str(picture)]
    done = CliRunner().invoke(app, [*arguments, "--json", "--home", str(built_samples)], catch_exceptions=False)
    found = json.loads(done.stdout)
    assert (found["level"], found["anchor_key"], found["perspective"]) == ("anchor", "box_1a", "face")
    assert found["page"] >= 1
    assert found["bboxes"]
    assert "same_field" in {edge["relation"] for edge in found["edges"]}
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "1a" in page.read_text(encoding="utf8")


def test_a_paragraph_states_its_evidence(built_samples: Path) -> None:
    released = open_release(str(built_samples))
    said = released.table("edges").filter(pl.col("relation") == "includes").row(0, named=True)
    out = CliRunner().invoke(app, ["explain", said["source_id"], "--home", str(built_samples)], catch_exceptions=False)
    assert "includes" in out.stdout
    assert said["rule_id"] in out.stdout
    with pytest.raises(NodeNotFoundError, match="Give a form and a box"):
        explain(released, ["no", "such", "thing"])


def test_the_graph_is_exported_whole(built_samples: Path, tmp_path: Path) -> None:
    CliRunner().invoke(app, ["export", str(tmp_path), "--home", str(built_samples)], catch_exceptions=False)
    released = open_release(str(built_samples))
    for name in ("nodes", "edges", "registry"):
        assert pl.read_parquet(tmp_path / f"{name}.parquet").height == released.table(name).height
    assert (tmp_path / "graph.graphml").read_text(encoding="utf8").count("<edge ") == released.table("edges").height
