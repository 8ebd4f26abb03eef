"""torch, imported on first use: every run imports the training code, and most train nothing."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch as torch
    import torch.utils.checkpoint
else:

    class _LazyTorch:
        """Placeholder that imports the module at the first access."""

        def __getattr__(self, name: str) -> Any:
            importlib.import_module("torch.utils.checkpoint")
            value = self.__dict__[name] = getattr(importlib.import_module("torch"), name)
            return value

    torch = _LazyTorch()
