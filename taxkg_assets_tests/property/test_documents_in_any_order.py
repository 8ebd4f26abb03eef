"""Adding, replacing and deleting documents in any order leaves what a clean write of the last state would leave."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.home.stored_tables import TableState
from taxkg_assets.digests import frame_digest
from taxkg_assets.schemas import Faces
from taxkg_assets_tests.graph.corpora import face, frame_of

pytestmark = pytest.mark.slow

NAMES = ("a", "a'b", "b--2031-01")
"""A name that begins another one, one that needs quoting, an ordinary one."""

# What one commit does: the keys that a document's face prints now (none at all is a document too), or None: it goes.
steps = st.lists(
    st.dictionaries(
        st.sampled_from(NAMES),
        st.none() | st.lists(st.sampled_from(("box_1", "box_2", "box_3")), unique=True),
        min_size=1,
    ),
    max_size=7,
)


def _commit(store: Store, step: Mapping[str, list[str] | None]) -> TableState:
    rows = {name: [face(name, "9", key, f"Label of {key}") for key in keys or []] for name, keys in step.items()}
    content = {name: frame_digest(frame_of(Faces, rows[name])) for name in rows}
    return store.replace_documents(
        "faces",
        frame_of(Faces, [row for part in rows.values() for row in part]),
        documents={name: None if keys is None else {"content": content[name]} for name, keys in step.items()},
    )


@settings(max_examples=25, derandomize=True, deadline=None)
@given(steps=steps)
def test_any_order_equals_a_clean_write(steps: list[dict[str, list[str] | None]]) -> None:
    last: dict[str, list[str] | None] = dict.fromkeys(NAMES)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        walked, clean = Store(folder), Store(other)
        state = _commit(walked, last)
        for step in steps:
            state = _commit(walked, step)
            last |= step
        wanted = _commit(clean, last)
        assert walked.read("faces").equals(clean.read("faces"))
        assert (state.content, state.documents) == (wanted.content, wanted.documents)
        assert set(state.documents) == {name for name, keys in last.items() if keys is not None}
        printed = walked.read("faces").group_by("document_id").agg(pl.col("box_key"))
        assert dict(printed.iter_rows()) == {name: sorted(keys) for name, keys in last.items() if keys}
