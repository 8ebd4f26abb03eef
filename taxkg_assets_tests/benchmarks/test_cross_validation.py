"""One fold: what is learned from, what is queried, and that a fold that ran is not run again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchmarks.documents import CorpusError
from benchmarks.training.cli import train_folds
from benchmarks.training.corpus import Corpus
from benchmarks.training.cross_validation import Study, Tuned, fill_vectors, find_pool, identify_run, run_fold
from benchmarks.training.folds import Choice, build_folds, choose_examples
from benchmarks.training.report import render_summary
from benchmarks.training.summary import SYSTEMS, average_systems, read_folds, summarize
from taxkg_assets.retrieval.encoding.arrays import Floats
from taxkg_assets.retrieval.encoding.encoder import Progress, Vectors
from taxkg_assets.retrieval.encoding.passage_scorer import Reranker
from taxkg_assets.training.examples import Example
from taxkg_assets_tests.retrieval.conftest import TermEncoder

FAMILIES = {"f2077zed--2030": "Zed", "f2077zed--2031": "Zed", "f2077zed--2031-draft": "Zed", "i2077zed--2031": "Zed"}
QUESTIONS = [
    {
        "id": "q1",
        "query": "may repair fees of a shipyard be harbour rent",
        "type": "concept",
        "gold": [{"document": "i2077zed--2031", "page": 1, "quote": "Repair fees of a shipyard are never", "grade": 3}],
        "near_miss": [],
        "coverage": None,
    },
    {
        "id": "q2",
        "query": "duty for a berth in Manhattan",
        "type": "procedural",
        "gold": [{"document": "town-code", "page": 1, "quote": "pays a berth duty of thirty cents a foot", "grade": 3}],
        "near_miss": [],
        "coverage": None,
    },
]  # fmt: skip


class ContraryEncoder(TermEncoder):
    """To it the passage that is most like a question is the farthest."""

    model_hash = "contrary"

    def encode_query(self, text: str) -> Vectors:
        """Passages are encoded as by `TermEncoder`, questions the other way round."""
        return -super().encode_query(text)

    def encode_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        return -super().encode_passages(texts, progress=progress)


class KnowsBest:
    """Likes the passage that answers."""

    def score(self, question: str, passages: Sequence[str]) -> Floats:
        return np.array([float("thirty cents a foot" in passage) for passage in passages])


class Tuner:
    """Notes what it is given, and gives an encoder that ranks the wrong way round."""

    identity = "contrary"

    def __init__(self, reranker: Reranker | None = None) -> None:
        self.trained: list[list[Example]] = []
        self.reranker = reranker

    def __call__(self, train: Sequence[Example], dev: Sequence[Example], *, seed: int, out: Path) -> Tuned:
        self.trained.append(list(train))
        return Tuned(encoder=ContraryEncoder(), reranker=self.reranker, facts={"seed": seed})  # type: ignore[arg-type]


def _example(name: str, family: str, kind: str = "scenario") -> Example:
    return Example(f"question {name}", f"passage {name}", (), kind, family, 1.0, name)


@pytest.fixture
def study(corpus: Corpus) -> Study:
    return Study(
        corpus=corpus,
        questions=QUESTIONS,
        families={**FAMILIES, "town-code": "Town"},
        examples=[_example("of Zed", "Zed"), _example("of Town", "Town"), _example("of another", "Other")],
        dev_families=frozenset({"Other"}),
        query_families={},
        near_misses=(),
        choice=Choice(pairs=50),
    )


def test_a_fold_trains_on_the_other_families_and_compares_on_its_own(study: Study, tmp_path: Path) -> None:
    tune = Tuner()
    folds = build_folds(study.questions, study.families, count=2)
    found = [run_fold(study, fold, tune=tune, seed=0, out=tmp_path) for fold in folds]
    assert [[example.family for example in own] for own in tune.trained] == [["Zed"], ["Town"]]
    assert {row["query_id"] for row in found[0]["scores"]} == {"q2"}
    systems = {row["system"] for row in found[0]["scores"]}
    assert systems == {"dense base", "dense tuned", "full base", "full tuned"}
    text = render_summary(read_folds(tmp_path))
    assert "dense base → dense tuned" in text
    assert "| concept | 1 | vectors alone |" in text
    assert "full base → full tuned, worse by more than 0.02: " in text
    assert "thirty cents" not in text + "".join(path.read_text() for path in tmp_path.glob("*.json"))


def test_a_reranker_inspects_what_vectors_and_the_whole_search_find(study: Study, tmp_path: Path) -> None:
    fold = build_folds(study.questions, study.families, count=2)[0]
    tune = Tuner(Reranker("knows", KnowsBest(), weight=100.0, depth=50))
    found = run_fold(study, fold, tune=tune, seed=0, out=tmp_path)
    value = {row["system"]: row["value"] for row in found["scores"] if row["metric"] == "mrr"}
    assert value["dense tuned"] < 1
    assert {value[name] for name in value if name.endswith("+ rerank")} == {1.0}
    assert len(value) == len(SYSTEMS)


def test_a_fold_that_fails_is_reported_and_loses_no_other(study: Study, tmp_path: Path) -> None:
    class Fails(Tuner):
        identity = "fails once"

        def __call__(self, train: Sequence[Example], dev: Sequence[Example], *, seed: int, out: Path) -> Tuned:
            if not self.trained:
                self.trained.append([])
                raise RuntimeError("the machine went away")
            return super().__call__(train, dev, seed=seed, out=out)

    tune, runs = Fails(), [(fold, 0) for fold in build_folds(study.questions, study.families, count=2)]
    run = identify_run(tune, choice=study.choice, pool=study.pool)
    failed = train_folds(study, runs, tune=tune, folder=tmp_path)
    assert [line.startswith("fold 0, seed 0: RuntimeError: the machine went away") for line in failed] == [True]
    assert [found["fold"] for found in read_folds(tmp_path, run=run)] == [1]
    assert train_folds(study, runs, tune=tune, folder=tmp_path) == []
    assert [found["fold"] for found in read_folds(tmp_path, run=run)] == [0, 1]
    assert len(tune.trained) == 3  # the fold that was was read

    run_fold(study, runs[0][0], tune=Tuner(), seed=0, out=tmp_path)
    assert [found["fold"] for found in read_folds(tmp_path, run=run)] == [1]
    with pytest.raises(CorpusError, match="several runs"):
        read_folds(tmp_path)


def test_intervals_draw_form_families_not_documents(study: Study, tmp_path: Path) -> None:
    """Questions of a form's face and of its booklet are one cluster: alone they have no interval."""
    face = QUESTIONS[0] | {"id": "q3", "gold": [QUESTIONS[0]["gold"][0] | {"document": "f2077zed--2031"}]}  # type: ignore[index]
    queried = replace(study, questions=[*QUESTIONS, face])
    for fold in build_folds(queried.questions, queried.families, count=2):
        run_fold(queried, fold, tune=Tuner(), seed=0, out=tmp_path)
    scores = pl.DataFrame([row for found in read_folds(tmp_path) for row in found["scores"]], infer_schema_length=None)
    by_type = average_systems(scores, by="type").filter(pl.col("metric") == "mrr", pl.col("system") == "dense base")
    assert by_type.select("type", "n", "families").rows() == [("concept", 2, 1), ("procedural", 1, 1)]
    assert by_type["low"].to_list() == [None, None]
    assert average_systems(scores)["families"].unique().to_list() == [2]


def test_a_worse_encoder_is_seen_to_be_worse(study: Study, tmp_path: Path) -> None:
    for fold in build_folds(study.questions, study.families, count=2):
        run_fold(study, fold, tune=Tuner(), seed=0, out=tmp_path)
    gains = summarize(read_folds(tmp_path))["gains"]
    row = gains.filter(pl.col("system_with") == "dense tuned", pl.col("metric") == "mrr").row(0, named=True)
    assert row["n"] == len(QUESTIONS)
    assert row["with"] < row["without"]
    assert row["gain"] == pytest.approx(row["with"] - row["without"])


def test_a_fold_that_ran_is_read_until_its_data_change(study: Study, tmp_path: Path) -> None:
    tune = Tuner()
    fold = build_folds(study.questions, study.families, count=2)[0]
    first = run_fold(study, fold, tune=tune, seed=0, out=tmp_path)
    assert run_fold(study, fold, tune=tune, seed=0, out=tmp_path) == first
    assert len(tune.trained) == 1
    run_fold(study, fold, tune=tune, seed=1, out=tmp_path)
    changed: dict[str, Any] = {name: getattr(study, name) for name in Study.__dataclass_fields__}
    run_fold(Study(**{**changed, "examples": study.examples[:1]}), fold, tune=tune, seed=0, out=tmp_path)
    assert len(tune.trained) == 3


def test_a_pool_holds_what_the_retrievers_find_and_the_pages_of_the_gold(study: Study) -> None:
    changed: dict[str, Any] = {name: getattr(study, name) for name in Study.__dataclass_fields__}
    small = Study(**{**changed, "pool": 1})
    pool = find_pool(small, QUESTIONS[1:], [])
    documents = {study.corpus.rows["document_id"][row] for row in pool}
    assert "town-code" in documents
    assert len(pool) < len(study.corpus.passages) == len(find_pool(study, QUESTIONS[1:], []))


def test_rows_outside_the_pool_get_the_vectors_of_a_map_that_fits_the_pool() -> None:
    draw = np.random.default_rng(0)
    base = draw.normal(size=(400, 8)).astype(np.float32)
    base /= np.linalg.norm(base, axis=1, keepdims=True)
    tuned = (base @ draw.normal(size=(8, 8))).astype(np.float32)
    tuned /= np.linalg.norm(tuned, axis=1, keepdims=True)
    pool = list(range(0, 400, 2))
    filled = fill_vectors(base, tuned[pool], pool=pool)
    assert (filled[pool] == tuned[pool]).all()
    assert ((filled * tuned).sum(axis=1) > 0.9).all()


def test_examples_are_chosen_by_kind_and_development_is_of_other_families() -> None:
    examples = [_example(f"{kind}{n}", "A", kind) for kind in ("scenario", "table", "definition") for n in range(50)]
    examples += [_example(f"dev{n}", "B") for n in range(9)]
    train, dev = choose_examples(examples, dev_families=frozenset("B"), choice=Choice(pairs=20, dev=4))
    kinds = [example.kind for example in train]
    assert (kinds.count("scenario"), kinds.count("table"), kinds.count("definition")) == (12, 4, 4)
    assert [example.family for example in dev] == ["B"] * 4
