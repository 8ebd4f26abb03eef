"""torch, loaded when it is first used: every run knows how models are trained, and most train none."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch as torch
    import torch.utils.checkpoint
else:

    class _LazyTorch:
        """Stands for the module until something of it is asked for."""

        def __getattr__(self, name: str) -> Any:
            importlib.import_module("torch.utils.checkpoint")
            found = self.__dict__[name] = getattr(importlib.import_module("torch"), name)
            return found

    torch = _LazyTorch()
