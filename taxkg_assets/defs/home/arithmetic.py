"""Where and in which arithmetic a home computes: an NVIDIA GPU, or the processor, in single precision or in bfloat16.

Here: the decision, and the copy of a model on the GPU. Not here: opening models.
"""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import Any

from taxkg_assets.defs.home.access import AnyHome
from taxkg_assets.retrieval.encoding.encoder import ROWS
from taxkg_assets.retrieval.encoding.gpu import GPU, GpuModel, has_gpu, is_built_for_gpu, open_on_gpu

TORCH = "torch"
SINGLE, BFLOAT16 = "", "bf16"
"""Arithmetic of torch; those of ONNX Runtime are named after their runtime."""
RECORD = "arithmetic"
"""File of a home with the arithmetic of its vectors."""
_IN_SINGLE = "single"

_log = logging.getLogger("taxkg")


class ModelError(Exception):
    """A model that does not exist, or whose files do not match its card."""


def move_to_gpu(home: AnyHome, model: Any) -> Any:
    """Move a model to the GPU for training, if the home uses a GPU.

    Args:
        home: Tables, files and settings of the home.
        model: PyTorch module.

    Returns:
        The model, on the CPU if no GPU is usable.
    """
    model_on_gpu = copy_to_gpu(model, is_required=home.settings.device == GPU) if uses_gpu(home) else None
    return model if model_on_gpu is None else model_on_gpu.model


def copy_to_gpu(model: Any, *, is_required: bool) -> GpuModel | None:
    """Copy a model to the GPU for encoding; if no GPU is usable and none is required, log a warning.

    Args:
        model: PyTorch module on the CPU.
        is_required: Whether the setting TAXKG_DEVICE demands a GPU.

    Returns:
        The copy; None if no GPU is usable.

    Raises:
        ModelError: The setting demands a GPU, and none is usable.
    """
    copy_or_reason = open_on_gpu(model, rows=ROWS)
    if isinstance(copy_or_reason, GpuModel):
        return copy_or_reason
    if is_required:
        raise ModelError(
            f"TAXKG_DEVICE=cuda: the GPU cannot be used ({copy_or_reason}). Free the GPU, or set TAXKG_DEVICE=cpu."
        )
    _log.warning("The GPU cannot be used (%s). The CPU is used instead, in the same precision.", copy_or_reason)
    return None


def uses_gpu(home: AnyHome) -> bool:
    """Return whether the home computes on a GPU.

    Args:
        home: Tables, files and settings of the home.

    Raises:
        ModelError: The setting demands a GPU, and there is none.
    """
    if home.settings.device == GPU and not has_gpu():
        is_built = is_built_for_gpu()
        reason = "no driver that PyTorch can use is loaded" if is_built else "PyTorch is installed without CUDA"
        raise ModelError(f"TAXKG_DEVICE=cuda: no GPU is available ({reason}). Set TAXKG_DEVICE to auto.")
    return home.settings.device != "cpu" and has_gpu()


def name_runtime(runtime: str) -> str:
    """Return the name that identifies a non-PyTorch runtime in model hashes.

    Args:
        runtime: The setting `model_runtime`.
    """
    return runtime.replace("_", "-")


def find_arithmetic(home: AnyHome) -> str:
    """Choose the arithmetic in which this machine encodes the home's passages.

    A GPU uses single precision; a CPU uses bfloat16 if its hardware does. A home that already has single-precision
    vectors stays with it, so that a machine without a GPU can add a document without encoding the library again;
    TAXKG_DEVICE=cpu overrides this and re-encodes with the CPU's faster arithmetic.

    Args:
        home: Tables, files and settings of the home.

    Returns:
        `SINGLE`, `BFLOAT16`, or the name of another runtime.
    """
    if home.settings.model_runtime != TORCH:
        return name_runtime(home.settings.model_runtime)
    # A GPU that the setting names and the machine lacks is an error only where something is to be computed on it.
    if home.settings.device == GPU or uses_gpu(home) or not has_bfloat16():
        return SINGLE
    has_single_vectors = home.settings.device == "auto" and home.store.storage.read(RECORD) == _IN_SINGLE.encode()
    return SINGLE if has_single_vectors else BFLOAT16


def drop_arithmetic(model_hash: str) -> str:
    """Return an encoder's hash without its arithmetic, to treat single precision and bfloat16 alike.

    Args:
        model_hash: Hash of an encoder.
    """
    return model_hash.removesuffix(f"-{BFLOAT16}")


def record_arithmetic(home: AnyHome) -> None:
    """Record the precision of the passage vectors, so that other machines encode questions in the same precision.

    Args:
        home: Tables, files and settings of the home.
    """
    arithmetic = (find_arithmetic(home) or _IN_SINGLE).encode()
    if home.store.storage.read(RECORD) != arithmetic:
        home.store.storage.write(RECORD, arithmetic)


@cache
def has_bfloat16() -> bool:
    """Return whether the CPU multiplies bfloat16 in hardware; otherwise single precision is faster."""
    flags = Path("/proc/cpuinfo")
    return flags.exists() and "avx512_bf16" in flags.read_text(encoding="utf8")
