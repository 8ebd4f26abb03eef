"""A model on the GPU for batches of passages, in single precision; the CPU takes over when GPU memory runs out.

Here: whether there is a GPU, and running a batch on it. Not here: batching, or which home computes on a GPU.
"""

from __future__ import annotations

import copy
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

GPU = "cuda"
GPU_ROWS = 256
"""Texts in each batch on the GPU; the number is fixed so that a vector depends on its text alone."""
_DRIVERS = ("/dev/nvidiactl", "/proc/driver/nvidia/version", "/dev/dxg", "C:/Windows/System32/nvcuda.dll")
"""Files that exist where an NVIDIA driver is loaded: on Linux, in containers, in WSL, on Windows."""
_BUILT_FOR = re.compile(r"^cuda\b[^=]*= *['\"]", re.MULTILINE)
"""The line of PyTorch's `version.py` in a build for CUDA."""

_log = logging.getLogger("taxkg")


@cache
def has_gpu() -> bool:
    """Return whether PyTorch can use a GPU, without importing PyTorch where no driver is loaded."""
    if not (is_built_for_gpu() and any(Path(name).exists() for name in _DRIVERS)):
        return False
    import torch

    return bool(torch.cuda.is_available())


def is_built_for_gpu() -> bool:
    """Return whether the installed PyTorch is built for CUDA, without importing it."""
    spec = find_spec("torch")
    version = Path(spec.origin).parent / "version.py" if spec is not None and spec.origin else None
    return version is not None and version.is_file() and bool(_BUILT_FOR.search(version.read_text(encoding="utf8")))


@contextmanager
def single_precision() -> Iterator[None]:
    """Turn off TF32, which rounds products of single precision to 10 bits, for the duration of a block."""
    import torch  # loaded here: readers of the index's rows need no torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@dataclass
class GpuModel:
    """A copy of a model on the GPU, with the CPU model as fallback when GPU memory runs out.

    Attributes:
        model: The copy; None once the GPU's memory has run out.
        fallback: The model on the CPU, used once the memory of the GPU is full.
        device: Device of the copy.
        rows: Texts in a batch on the CPU.
    """

    model: Any
    fallback: Any
    device: str
    rows: int

    def run(self, features: dict[str, Any], output: str) -> Any:
        """Run a batch, and return one of the model's outputs as a tensor on the CPU.

        Args:
            features: Padded token ids and their mask, on the CPU.
            output: Name of the output.

        Returns:
            Tensor with a row per text.
        """
        import torch

        if self.model is not None:
            try:
                with torch.inference_mode(), single_precision():
                    moved = {name: tensor.to(self.device) for name, tensor in features.items()}
                    return self.model(moved)[output].float().cpu()
            except torch.OutOfMemoryError:
                self.model = None
                torch.cuda.empty_cache()
                _log.warning(
                    "The GPU's memory is full. The remaining passages are encoded on the CPU, in the same precision. "
                    "Free GPU memory for the next build, or set TAXKG_DEVICE=cpu."
                )
        parts = zip(*(tensor.split(self.rows) for tensor in features.values()), strict=True)
        with torch.inference_mode():
            return torch.cat([self.fallback(dict(zip(features, part, strict=True)))[output].float() for part in parts])


def open_on_gpu(model: Any, *, rows: int, device: str = GPU) -> GpuModel | str:
    """Copy a model to the GPU.

    Args:
        model: Torch module on the CPU, which stays there.
        rows: Texts in a batch on the CPU.
        device: Device to copy the model to.

    Returns:
        The copy, or the reason why there is none.
    """
    import torch

    if device == GPU and not torch.cuda.is_available():
        return "PyTorch finds no GPU that it can use"
    try:
        return GpuModel(copy.deepcopy(model).to(device), model, device, rows)
    except RuntimeError as failed:  # memory, or a driver too old for this PyTorch
        return str(failed).partition("\n")[0]
