"""Assets of the stage `chunking`."""

from collections.abc import Callable, Sequence

import dagster as dg
import numpy as np

from taxkg_assets import schemas
from taxkg_assets.chunking.chunks import build_chunks
from taxkg_assets.chunking.reviews import build_reviews, summarize_chunks
from taxkg_assets.defs.home.models import base_hash, open_base
from taxkg_assets.defs.home.proposers import open_proposer, proposer_fingerprint
from taxkg_assets.defs.home.store import Store, digest
from taxkg_assets.defs.home.timing import TimedProposer, timed_call
from taxkg_assets.defs.wiring.parts import BY_DOCUMENT, Parts
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.table_asset import table
from taxkg_assets.digests import frame_digest
from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder
from taxkg_assets.retrieval.index.summaries import build_summaries, digest_running_text


def open_cohesion(home: Home) -> Callable[[Sequence[str]], np.ndarray]:
    """Return a function that encodes texts as unit vectors, loading the encoder on its first call.

    Args:
        home: Home whose base encoder is used.
    """
    vectors_by_text: dict[str, np.ndarray] = {}

    def encode(texts: Sequence[str]) -> np.ndarray:
        new_texts = [text for text in dict.fromkeys(texts) if text not in vectors_by_text]
        if new_texts:
            vectors_by_text.update(zip(new_texts, open_base(home).encode_passages(new_texts), strict=True))
        return np.array([vectors_by_text[text] for text in texts])

    return encode


def _digest_reviews(home: Home) -> str:
    return frame_digest(home.store.read_or_empty("reviews"))


reviews = table(
    schemas.Reviews,
    build_reviews,
    group="chunking",
    resources={"old": lambda home: home.store.read_or_empty("reviews"), "decided": lambda home: []},
    fingerprint=_digest_reviews,
)


def show_chunks(store: Store) -> dict[str, dg.MetadataValue]:
    """Return the results of the semantic chunker for the UI.

    Args:
        store: Tables of the home.
    """
    columns = ("created_by", "status", "token_count", "quality")
    figures = summarize_chunks(store.scan("chunks").select(columns).collect())
    return {name: dg.MetadataValue.float(float(figure)) for name, figure in figures.items()}


chunks = table(
    schemas.Chunks,
    build_chunks,
    group="chunking",
    resources={
        "proposer": lambda home: TimedProposer(open_proposer(home)),
        "encode": lambda home: timed_call("cohesion", open_cohesion(home)),
    },
    fingerprint=lambda home: digest(base_hash(home), proposer_fingerprint(home)),
    code=(SentenceEncoder,),
    parts=BY_DOCUMENT,
    show=show_chunks,
    isolated=True,
)


summaries = table(
    schemas.Summaries,
    build_summaries,
    group="chunking",
    resources={"proposer": open_proposer},
    fingerprint=proposer_fingerprint,
    parts=Parts(BY_DOCUMENT.columns, BY_DOCUMENT.find, argument="only", digest_each=digest_running_text),
    isolated=True,
)
