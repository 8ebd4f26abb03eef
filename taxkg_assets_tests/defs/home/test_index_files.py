"""Files of an index that are not those that were written are refused, each with its remedy."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from taxkg_assets.defs.home.index_files import (
    FACTS,
    FILES,
    IndexFilesError,
    find_damaged_files,
    open_codes,
    open_tables,
    read_frame,
    read_parts,
)
from taxkg_assets.defs.home.index_parts import read_current_index
from taxkg_assets.defs.home.indexes import open_index
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.retrieval.index.index import read_rows
from taxkg_assets.retrieval.index.precomputed import TERM_SOURCE_COLUMNS

PATH = "index/one"


def _write(home: Path) -> Path:
    """A folder of files that names one."""
    facts = home / PATH / FACTS
    facts.mkdir(parents=True)
    (facts / "code_signs.npy").write_bytes(b"signs")
    reported = {"code_signs.npy": [5, hashlib.sha256(b"signs").hexdigest()]}
    (facts / FILES).write_text(json.dumps(reported))
    return facts


@pytest.mark.parametrize(("kept", "lost"), [(b"signs", []), (b"other", ["code_signs.npy"]), (None, ["code_signs.npy"])])
def test_a_changed_or_missing_file_is_named(tmp_path: Path, kept: bytes | None, lost: list[str]) -> None:
    path = _write(tmp_path) / "code_signs.npy"
    path.unlink()
    if kept is not None:
        path.write_bytes(kept)
    assert find_damaged_files(Store(tmp_path), PATH) == [f"{FACTS}/{name}" for name in lost]


def test_a_damaged_copy_of_a_bucket_is_made_again_when_it_is_deleted(tmp_path: Path) -> None:
    facts = _write(tmp_path)
    (facts / "code_signs.npy").write_bytes(b"sig")
    copied: Any = SimpleNamespace(storage=SimpleNamespace(local_copy=lambda name: tmp_path / name))
    with pytest.raises(IndexFilesError, match=r"code_signs\.npy.*Delete this folder to have it copied again"):
        open_codes(cast(Store, copied), PATH)
    with pytest.raises(IndexFilesError, match="run `taxkg build`"):
        open_codes(Store(tmp_path), PATH)


def test_the_tables_of_an_index_are_those_of_the_release(sample_home: Path) -> None:
    store = Store(sample_home)
    path = store.read("index")["path"].item()
    own = open_tables(store, path)
    assert own is not None
    assert own.equals(store.read("tables").sort("table_id"))
    assert open_tables(store, "index/of an older version") is None


def test_terms_are_read_of_whole_files_that_the_same_code_wrote(sample_home: Path) -> None:
    home = Home(home=str(sample_home))
    found = read_current_index(home.store)
    assert found.parts is not None
    path = home.store.read("index")["path"].item()
    rows = read_rows(open_index(home.store, path), [*TERM_SOURCE_COLUMNS, "terms"])
    assert found.parts.terms.equals(rows)
    assert read_parts(home.store, path, terms_by="other code") is None
    mapped = sample_home / path / FACTS / "mapped.arrow"
    whole = mapped.read_bytes()
    mapped.write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
    assert read_current_index(home.store).parts is None, "a file that is not as written"
    mapped.write_bytes(whole[:-9])
    assert read_current_index(home.store).parts is None, "a file that was cut"
    shutil.rmtree(sample_home / path)
    assert read_current_index(home.store).parts is None, "an index that is gone"


def test_units_of_a_damaged_file_are_not_taken_over(small_home: Path) -> None:
    home = Home(home=str(small_home))
    found = read_current_index(home.store).parts
    assert found is not None
    assert found.units is not None
    assert found.units.digests.keys() == set(home.store.read("documents")["document_id"])
    path = small_home / home.store.read("index")["path"].item() / "flat" / "units.arrow"
    whole = path.read_bytes()
    path.write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
    found = read_current_index(home.store).parts
    assert found is not None
    assert found.units is None
    assert found.catalogue is None


@pytest.mark.parametrize("stored", ["labeled", "labelled"])
def test_a_frame_is_found_under_the_name_of_an_earlier_release(tmp_path: Path, stored: str) -> None:
    frame = pl.DataFrame({"row": [3]})
    frame.write_ipc(tmp_path / f"{stored}.arrow")
    assert read_frame(tmp_path, "labeled").equals(frame)
