"""A LlamaIndex retriever over a running taxkg server (`taxkg serve`).

Each passage becomes one `NodeWithScore`: the text that a language model reads, and in `metadata` what a citation needs.
The metadata is excluded from the text that is embedded or sent to a model, because the rectangles are long.
"""

from __future__ import annotations

from typing import Any

import httpx
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

CITATION = ("document", "form", "revision", "page", "bboxes", "heading_path")


class TaxkgRetriever(BaseRetriever):
    """Ranked passages of `POST /v1/search`.

    Args:
        client: Client whose base URL is the server; it carries the API key, if one is set.
        k: Number of passages.
        form: Search documents of this form only, such as `1099-DIV`.
        year: Search documents of this tax year or revision year only.
    """

    def __init__(
        self, client: httpx.Client | None = None, *, k: int = 5, form: str | None = None, year: int | None = None
    ) -> None:
        self._client = client or httpx.Client(base_url="http://localhost:8000")
        filters: dict[str, Any] = {"k": k, "form": form, "year": year}
        self._filters = {name: value for name, value in filters.items() if value is not None}
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        reply = self._client.post("/v1/search", json={"question": query_bundle.query_str} | self._filters)
        reply.raise_for_status()
        return [
            NodeWithScore(
                node=TextNode(
                    id_=row["node_id"],
                    text=row["text"],
                    metadata={name: row[name] for name in CITATION},
                    excluded_embed_metadata_keys=["bboxes"],
                    excluded_llm_metadata_keys=["bboxes"],
                ),
                score=row["score"],
            )
            for row in reply.json()
        ]


if __name__ == "__main__":
    for found in TaxkgRetriever(k=3).retrieve("Is section 897 gain part of ordinary dividends?"):
        print(found.metadata["document"], "page", found.metadata["page"], "|", found.metadata["heading_path"])
