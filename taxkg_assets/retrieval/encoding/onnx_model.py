"""An encoder whose transformer runs in ONNX Runtime; its interface is that of the sentence-transformers model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

WEIGHTS = "model.weights"
"""File with the weights of a saved graph, in the folder of the graph; it is memory-mapped when the graph is opened."""


class ExportError(Exception):
    """A model cannot be exported, or its export computes other results; the message names the reason."""


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """A loaded model whose first module, the transformer, is replaced by a session of ONNX Runtime."""

    model: Any
    session: Any

    @property
    def tokenizer(self) -> Any:
        """Return the tokenizer of the model."""
        return self.model.tokenizer

    @property
    def prompts(self) -> Any:
        """Return the prompts of the model."""
        return self.model.prompts

    @property
    def max_seq_length(self) -> int | None:
        """Return the largest number of tokens of a text; None where it is unlimited."""
        limit: int | None = self.model.max_seq_length
        return limit

    def __getitem__(self, ix: int) -> Any:
        return self.model[ix]

    def get_embedding_dimension(self) -> int:
        """Return the length of a vector."""
        return int(self.model.get_embedding_dimension())

    def __call__(self, features: dict[str, Any]) -> dict[str, Any]:
        """Return token and sentence vectors of padded rows."""
        import torch  # loaded here: readers of the index's rows need no torch

        fed = {node.name: features[node.name].numpy() for node in self.session.get_inputs()}
        output = {**features, "token_embeddings": torch.from_numpy(self.session.run(None, fed)[0])}
        for module in list(self.model)[1:]:
            output = module(output)
        return output


def open_session(path: str, *, threads: int = 0, is_optimized: bool = False, save_as: str = "") -> Any:
    """Open an ONNX Runtime session on the CPU.

    Args:
        path: Path of the graph.
        threads: Number of threads; 0 for the runtime's default.
        is_optimized: Whether the graph was saved after its optimization, which is then not repeated.
        save_as: File for the optimized graph, whose weights are saved as `WEIGHTS` in the same folder; empty to save
            none.

    Returns:
        The session.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    if is_optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    elif save_as:
        # A graph with these optimizations runs on any CPU; further ones depend on the CPU.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = save_as
        options.add_session_config_entry("session.optimized_model_external_initializers_file_name", WEIGHTS)
        Path(save_as).with_name(WEIGHTS).unlink(missing_ok=True)
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
