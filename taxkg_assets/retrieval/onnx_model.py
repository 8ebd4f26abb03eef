"""An encoder whose transformer runs in ONNX Runtime; it is called as the sentence-transformers model is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class ExportError(Exception):
    """A model that cannot be exported, or whose export does not say what it says; the message names the reason."""


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """A session in place of the first module of a loaded model; tokenizer, prompts and pooling are the model's own."""

    own: Any
    session: Any

    @property
    def tokenizer(self) -> Any:
        return self.own.tokenizer

    @property
    def prompts(self) -> Any:
        return self.own.prompts

    @property
    def max_seq_length(self) -> int | None:
        found: int | None = self.own.max_seq_length
        return found

    def __getitem__(self, place: int) -> Any:
        return self.own[place]

    def get_embedding_dimension(self) -> int:
        """Length of the vectors."""
        return int(self.own.get_embedding_dimension())

    def __call__(self, features: dict[str, Any]) -> dict[str, Any]:
        """Token and sentence vectors of padded rows."""
        import torch  # loaded here: readers of the index's rows need no torch

        fed = {one.name: features[one.name].numpy() for one in self.session.get_inputs()}
        found = {**features, "token_embeddings": torch.from_numpy(self.session.run(None, fed)[0])}
        for module in list(self.own)[1:]:
            found = module(found)
        return found


def open_session(path: str, *, threads: int = 0) -> Any:
    """An ONNX Runtime session on the CPU; 0 threads leaves their number to the runtime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
