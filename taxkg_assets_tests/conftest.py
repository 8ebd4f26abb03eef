"""Shared fixtures: the folder of real documents, and a home built once from the bundled samples."""

from __future__ import annotations

import fcntl
import gc
import os
import pickle
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from taxkg_assets_tests.object_store import ObjectStore, start_object_store

if TYPE_CHECKING:
    from taxkg_assets.extraction.extract import Extraction

SLOW_FIXTURES = frozenset({"built_samples", "built_small", "corpus", "object_store"})
"""A test that needs a built home, real documents or a server is slow; others are marked."""

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"

IN_MEMORY = Path("/dev/shm")
ROOM_BYTES = 10 * 2**30
"""Free memory that is enough for the homes of a run and for the processes that read and build."""

ENCODED = ("models", "cache/questions", "cache/tokens")
"""Folders of a home with the exported encoder and with vectors of questions and tokens."""

LONGEST = (
    *("corpus/test_corpus.py", "defs/test_daemon.py", "serving/test_build.py"),
    *("defs/test_retention.py", "serving/test_bucket_home.py", "architecture/test_wheel.py"),
    *("serving/test_build_by_model.py", "defs/test_quality.py", "serving/test_faults.py"),
    *("serving/test_explorer_views.py", "serving/test_ui.py", "docs/test_api_reference.py"),
    *("defs/test_damaged.py", "defs/wiring/test_gates.py", "defs/wiring/test_early_gates.py"),
)
"""Modules that take longest: they begin first, so that the workers end together, and no worker waits for what another
makes for both. Of three workers each is given one of a line; the second has those that wait for a daemon or a bucket
and leave a core idle meanwhile."""

ALL_SLOW = {"pytestmark = pytest.mark.slow", "pytestmark = pytest.mark.corpus"}
"""Lines of a module whose tests are all slow."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that leaves slow tests out."""
    parser.addoption("--quick", action="store_true", help="leave out slow tests, for the inner loop")


def pytest_configure() -> None:
    """Write what tests build to memory where there is room for it: Dagster waits for the disk after each event.

    What the parts of the search add is measured where a test says so: it takes a quarter of each build. One process
    reads the documents of a build: to start it takes longer than to read them, and other tests take the other cores.
    No garbage is collected while modules are loaded: what they make stays, and a fifth of the time went there.
    """
    gc.disable()
    os.environ.setdefault("TAXKG_ABLATION", "0")
    os.environ.setdefault("TAXKG_WORKERS", "1")
    if "PYTEST_DEBUG_TEMPROOT" not in os.environ and _has_room():
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(IN_MEMORY)


def pytest_collection_finish() -> None:
    """Take what is loaded by now from the collector: it stays, and a tenth of the time went into looking through it."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def pytest_sessionfinish() -> None:
    """Take everything from the collector: pytest lets it look through all that is about to end with the process."""
    gc.freeze()


def _has_room() -> bool:
    if not (IN_MEMORY.is_dir() and os.access(IN_MEMORY, os.W_OK)):
        return False
    return min(shutil.disk_usage(IN_MEMORY).free, psutil.virtual_memory().available) > ROOM_BYTES


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import a module whose tests are all slow where only quick ones are wanted."""
    is_tests = config.getoption("--quick") and collection_path.suffix == ".py"
    is_slow = is_tests and not ALL_SLOW.isdisjoint(collection_path.read_text(encoding="utf8").splitlines())
    return True if is_slow else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests where only quick ones are wanted; else begin with the longest modules in each worker."""
    if not config.getoption("--quick"):
        workers = getattr(config, "workerinput", {}).get("workercount", 1)
        order = order_for_workers([item.nodeid.partition("::")[0] for item in items], workers=workers)
        items[:] = [items[place] for place in order]
        return
    config.hook.pytest_deselected(items=[item for item in items if _is_slow(item)])
    items[:] = [item for item in items if not _is_slow(item)]


def order_for_workers(modules: Sequence[str], *, workers: int) -> list[int]:
    """Find an order of tests in which the longest modules come first in each worker's share.

    Each of N workers is given an equal number of neighboring tests, and steals from the end of another's later.

    Args:
        modules: The module of each test.
        workers: Number of workers.
    """
    ranked = {name: rank for rank, name in enumerate(LONGEST)}
    by_module: dict[str, list[int]] = {}
    for place, module in enumerate(modules):
        by_module.setdefault(module, []).append(place)
    rank_of = {module: rank for module in by_module for name, rank in ranked.items() if module.endswith(f"/{name}")}
    shares: list[list[int]] = [[] for _ in range(workers)]
    for number, module in enumerate(sorted(rank_of, key=rank_of.__getitem__)):
        shares[number % workers] += by_module[module]
    others = iter([place for place, module in enumerate(modules) if module not in rank_of])
    for number, share in enumerate(shares):
        end = (number + 1) * len(modules) // workers - number * len(modules) // workers
        share += islice(others, max(0, end - len(share)))
    return [*(place for share in shares for place in share), *others]


def _is_slow(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is not None or not SLOW_FIXTURES.isdisjoint(
        getattr(item, "fixturenames", ())
    )


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder with real documents and gold; skips where there is none, fails where it must be there."""
    folder = Path(os.environ.get("TAXKG_TEST_CORPUS", "../shared")).resolve()
    if not (folder / "corpus").is_dir():
        if os.environ.get("TAXKG_REQUIRE_CORPUS"):
            pytest.fail(f"TAXKG_TEST_CORPUS must hold the real documents here, and {folder} does not")
        pytest.skip(f"no real documents in {folder} (set TAXKG_TEST_CORPUS)")
    return folder


def make_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that one worker makes, once for all workers of this run; never change it, copy it."""
    base = factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = root / name
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            make(folder)
            (folder / "done").touch()
    return folder


@pytest.fixture(scope="session")
def read_real(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Extraction]:
    """What the extraction makes of a real document, such as `corpus/fw2--2025`: read once, never change it."""

    def write(folder: Path, name: str) -> None:
        from taxkg_assets.extraction.extract import extract

        path = corpus / f"{name}.pdf"
        folder.mkdir()
        (folder / "reading").write_bytes(pickle.dumps(extract(path.read_bytes(), document_id=path.stem)))

    @cache
    def read(name: str) -> Extraction:
        made = make_once(tmp_path_factory, f"real-{name.replace('/', '-')}", lambda folder: write(folder, name))
        found: Extraction = pickle.loads((made / "reading").read_bytes())
        return found

    return read


def _build(home: Path, root: Path) -> None:
    from taxkg_assets.serving.build import build

    result = build(str(home), roots=[root])
    assert result.is_done, result


@pytest.fixture(scope="session")
def small_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample booklet and town code under other names: without labels, and with few of the questions."""

    def write(folder: Path) -> None:
        folder.mkdir()
        for path in (SAMPLES / "sample-i1099div--2024-01.pdf", *SAMPLES.glob("*.txt")):
            shutil.copy(path, folder / path.name.replace("sample-", "small-"))

    return make_once(tmp_path_factory, "small", write)


@pytest.fixture(scope="session")
def built_small(small_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home built from two samples, which is quick to bring up to date; never change it, copy it."""
    return make_once(tmp_path_factory, "built-small", lambda home: _build(home, small_corpus))


@pytest.fixture(scope="session")
def begin_home(built_small: Path) -> Callable[..., Path]:
    """Makes a home with the exported encoder and the vectors of another's texts: to make them again takes seconds.

    They are named after texts, weights and code; what a home does with texts that it knows is what each build does. A
    home that is compared with the other one makes vectors and tokens by itself: `with_vectors=False`.
    """

    def begin(home: Path, *, other: Path = built_small, with_vectors: bool = True) -> Path:
        from taxkg_assets.defs.home.new_vectors import NewVectors
        from taxkg_assets.defs.home.store import Store

        if not with_vectors:
            shutil.copytree(other / "models", home / "models")
            return home
        for name in ENCODED:
            shutil.copytree(other / name, home / name)
        NewVectors(Store(home)).keep(Store(other).read("embeddings"))
        return home

    return begin


@pytest.fixture(scope="session")
def built_samples(begin_home: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home built from the bundled samples, once for all workers; never change it, copy it."""
    return make_once(tmp_path_factory, "built-samples", lambda home: _build(begin_home(home), SAMPLES))


@pytest.fixture
def small_home(built_small: Path, tmp_path: Path) -> Path:
    """A copy of the home built from two samples, free to be broken."""
    return Path(shutil.copytree(built_small, tmp_path / "home"))


@pytest.fixture
def sample_home(built_samples: Path, tmp_path: Path) -> Path:
    """A copy of the home built from the samples, free to be broken."""
    return Path(shutil.copytree(built_samples, tmp_path / "home"))


@pytest.fixture(scope="session")
def object_store() -> Iterator[ObjectStore]:
    """An S3 of this machine; `fail` makes it unreliable."""
    started = start_object_store()
    yield started
    started.process.kill()
    started.process.wait()
