"""A home in a bucket: the same store, on an S3 that answers late, wrongly or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from deltalake.exceptions import CommitFailedError

from taxkg_assets.defs.home import lease
from taxkg_assets.defs.home.bucket import S3Storage
from taxkg_assets.defs.home.models import base_hash, is_tuned, open_encoder, open_encoder_by_hash
from taxkg_assets.defs.home.storage import HomeBusyError, LocalStorage, Storage, StorageError, safe_name
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.training_models import store_model
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.retrieval.encoding.encoder import CosineScale
from taxkg_assets.schemas import Model
from taxkg_assets.sources.scan import sha256_of
from taxkg_assets.training.similarity_calibration import SCALE_FILE
from taxkg_assets_tests.defs.home.test_store import faces
from taxkg_assets_tests.object_store import KEYS, ObjectStore
from taxkg_assets_tests.training.tiny import save_tiny_model

pytestmark = pytest.mark.slow

HOME = "s3://homes/one"


@pytest.fixture
def bucket(object_store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectStore]:
    """The object store with an empty bucket of this test's own, named in the environment."""
    for name, value in {**object_store.environment, "TAXKG_WORK": str(tmp_path / "work")}.items():
        monkeypatch.setenv(name, value)
    object_store.empty_bucket("homes")
    yield object_store
    object_store.fail()


def test_a_bucket_holds_what_a_folder_holds(bucket: ObjectStore, tmp_path: Path) -> None:
    places: list[Storage] = [LocalStorage(tmp_path / "here"), S3Storage(HOME, work=tmp_path / "copies")]
    for storage in places:
        made = tmp_path / "made"
        (made / "deep").mkdir(parents=True)
        (made / "deep" / "b.txt").write_bytes(b"b")
        (made / "a.txt").write_bytes(b"a")
        assert storage.read("index/a.txt") is None
        storage.write("index/old/gone.txt", b"old")
        storage.publish_folder(made, "index/old")
        storage.write("index/c.txt", b"one")
        storage.write("index/c.txt", b"two")
        assert not made.exists()
        assert list(storage.walk("index")) == ["c.txt", "old/a.txt", "old/deep/b.txt"]
        assert storage.children("index") == ["c.txt", "old"]
        assert storage.read("index/c.txt") == b"two"
        seen = storage.stat("index/c.txt")
        assert seen is not None
        assert (seen.bytes, seen.age_s < 60) == (3, True)
        assert storage.stat("index/d.txt") is None
        assert (storage.local_copy("index/old") / "deep" / "b.txt").read_bytes() == b"b"
        storage.remove("index/old")
        storage.remove("index/c.txt")
        assert storage.children("index") == []


@pytest.mark.parametrize("name", ["../up", "/etc/passwd", "a/../../b", "a//b", "", "a/./b", "a\0b"])
def test_a_name_that_leads_out_of_the_home_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="leads out"):
        safe_name(name)


def test_the_local_folder_of_a_bucket_names_the_same_home(bucket: ObjectStore) -> None:
    store = Store(HOME)
    store.write("faces", faces("a", ["box_1"]), inputs="x")
    assert Store(store.home).read("faces").equals(store.read("faces"))
    assert Store(store.home).uri == HOME
    assert not (store.home / "tables" / "faces").exists()


def test_answers_that_get_lost_lose_and_double_no_row(bucket: ObjectStore) -> None:
    store = Store(HOME)
    store.append("faces", faces("a", ["box_1"]))
    bucket.fail(match="PUT .*_delta_log", every=2, is_done=True)
    for key in ("box_2", "box_3", "box_4"):
        store.append("faces", faces("a", [key]))
    bucket.fail(match=".", every=4)
    store.replace_documents("faces", faces("b", ["box_9"]), documents={"b": {"content": "1"}})
    assert bucket.fail() > 0
    rows = store.read("faces").select("document_id", "box_key").rows()
    assert rows == [("a", "box_1"), ("a", "box_2"), ("a", "box_3"), ("a", "box_4"), ("b", "box_9")]


def test_a_commit_that_outlasts_all_tries_of_the_engine_is_made_once(bucket: ObjectStore) -> None:
    store = Store(HOME)
    store.append("faces", faces("a", ["box_1"]))
    bucket.fail(match="PUT .*_delta_log", every=1, is_done=True)
    with pytest.raises((CommitFailedError, OSError)):
        store._commit("faces", faces("a", ["box_2"]), record={"taxkg.token": "t"}, mode="append")
    bucket.fail()
    assert store._holds("faces", "t")
    assert store.read("faces").height == 2


def test_a_bucket_that_cannot_be_reached_is_no_empty_table(bucket: ObjectStore) -> None:
    store = Store(HOME)
    store.write("faces", faces("a", ["box_1"]), inputs="x")
    bucket.fail(match="GET", every=1)
    with pytest.raises(OSError, match="S3"):
        Store(HOME, patience_s=1.0).read_or_empty("faces")


def test_one_build_at_a_time_and_a_dead_one_is_not_waited_for(
    bucket: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (S3Storage(HOME, work=tmp_path) for _ in range(2))
    with one.lease(wait_s=0), pytest.raises(HomeBusyError, match="running on s3://homes/one"), other.lease(wait_s=0):
        pass
    with one.lease(wait_s=0):
        one.check_lease()
    bucket.fail(match="PUT .*lease", every=2, is_done=True)  # the answer to the claim is lost
    with one.lease(wait_s=0):
        pass
    bucket.fail()
    monkeypatch.setattr(lease, "LEASE_SECONDS", 1.0)
    one.write(".lease", b'{"holder": "dead:1", "token": "other", "beats": 1}')
    with other.lease(wait_s=8):
        other.check_lease()
        one.write(".lease", b'{"holder": "thief:1", "token": "other", "beats": 1}')
        monkeypatch.setattr(lease, "SURE_SECONDS", -1.0)
        with pytest.raises(HomeBusyError, match="stopped writing"):
            Store(HOME).write("faces", faces("a", ["box_1"]), inputs="x")
    assert one.read(".lease") is not None  # somebody else's lease is left alone


def test_keys_that_come_late_or_change_are_used(bucket: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = S3Storage(HOME, work=Path("work"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for use in (storage.options, lambda: storage.read("note")):
        with pytest.raises(StorageError, match="no credentials for the bucket"):
            use()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, KEYS[name])
    storage.write("note", b"late")
    assert storage.read("note") == b"late"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "another")
    assert storage.options()["aws_access_key_id"] == "another"


def test_a_client_serves_until_its_settings_change(bucket: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = S3Storage(HOME, work=Path("work"))
    first = storage._client()
    assert storage._client() is first
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    assert storage._client() is not first


def test_keys_are_nowhere_to_be_seen(bucket: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(HOME)
    shown = [repr(store), repr(store.storage), *(str(p.read_bytes()) for p in store.home.rglob("*") if p.is_file())]
    assert not any(KEYS["AWS_SECRET_ACCESS_KEY"] in text for text in shown)
    for name in KEYS:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    with pytest.raises(StorageError, match="AWS_ACCESS_KEY_ID"):
        Store(HOME).exists("faces")


def test_rows_and_states_come_back_as_from_a_folder(bucket: ObjectStore, tmp_path: Path) -> None:
    stores = Store(HOME), Store(tmp_path / "home")
    both = pl.concat([faces("a", ["box_1", "box_2"]), faces("b", ["box_1"])])
    for store in stores:
        store.replace_documents("faces", both, documents={"a": {"content": "1"}, "b": {"content": "2"}})
        store.replace_documents("faces", faces("a", [])[:0], documents={"a": None})
    assert stores[0].read("faces").equals(stores[1].read("faces"))
    assert stores[0].state("faces") == stores[1].state("faces")
    assert stores[0].count("faces") == stores[1].count("faces") == 1


def test_a_trained_model_is_in_the_bucket_and_is_opened_on_any_machine(
    bucket: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = save_tiny_model(tmp_path / "base")
    monkeypatch.setenv("TAXKG_MODEL", str(base))
    home = Home(home=HOME)
    trained = Path(shutil.copytree(base, tmp_path / "trained"))
    weights = trained / "model.safetensors"
    # The header may end in blanks: other bytes, the same weights.
    size = int.from_bytes(weights.read_bytes()[:8], "little")
    data = weights.read_bytes()
    weights.write_bytes((size + 8).to_bytes(8, "little") + data[8 : 8 + size] + b" " * 8 + data[8 + size :])
    (trained / SCALE_FILE).write_text('{"slope": 0.8, "offset": 0.2}\n', encoding="utf8")
    name = f"encoder-{sha256_of(weights)[:12]}"
    row = {"name": name, "sha256": sha256_of(weights), "base_hash": base_hash(home).removesuffix("-bf16")}
    path = store_model(home, trained, name)
    model = Model.sample(overrides=[row | {"path": path, "is_chosen": True, "gain": 0.1, "gain_low": 0.1}])
    home.store.write("model", model, inputs="x")
    assert not trained.exists()
    assert not (home.store.home / "models").exists()
    hashes = set()
    for machine in ("one", "other"):
        monkeypatch.setenv("TAXKG_WORK", str(tmp_path / machine))
        opened = open_encoder(Home(home=HOME))
        hashes.add(opened.model_hash)
        assert (opened.model_name, opened.scale) == (name, CosineScale(0.8, 0.2))
        assert is_tuned(Home(home=HOME))
        assert open_encoder_by_hash(Home(home=HOME), opened.model_hash) is opened
    assert [one.split("-")[0] for one in hashes] == [row["sha256"][:16]]
