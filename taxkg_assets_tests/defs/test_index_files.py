"""Files of an index that are not those that were written are refused, each with its remedy."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from taxkg_assets.defs.index_files import FACTS, FILES, IndexFilesError, find_damaged_files, open_codes
from taxkg_assets.defs.store import Store

PATH = "index/one"


def _write(home: Path) -> Path:
    """A folder of files that names one."""
    facts = home / PATH / FACTS
    facts.mkdir(parents=True)
    (facts / "code_signs.npy").write_bytes(b"signs")
    told = {"code_signs.npy": [5, hashlib.sha256(b"signs").hexdigest()]}
    (facts / FILES).write_text(json.dumps(told))
    return facts


@pytest.mark.parametrize(("held", "lost"), [(b"signs", []), (b"other", ["code_signs.npy"]), (None, ["code_signs.npy"])])
def test_a_changed_or_missing_file_is_named(tmp_path: Path, held: bytes | None, lost: list[str]) -> None:
    path = _write(tmp_path) / "code_signs.npy"
    path.unlink()
    if held is not None:
        path.write_bytes(held)
    assert find_damaged_files(Store(tmp_path), PATH) == [f"{FACTS}/{name}" for name in lost]


def test_a_damaged_copy_of_a_bucket_is_made_again_when_it_is_deleted(tmp_path: Path) -> None:
    facts = _write(tmp_path)
    (facts / "code_signs.npy").write_bytes(b"sig")
    copied: Any = SimpleNamespace(place=SimpleNamespace(copy_of=lambda name: tmp_path / name))
    with pytest.raises(IndexFilesError, match=r"code_signs\.npy.*delete this folder, it is copied again"):
        open_codes(cast(Store, copied), PATH)
    with pytest.raises(IndexFilesError, match="run `taxkg build`"):
        open_codes(Store(tmp_path), PATH)
