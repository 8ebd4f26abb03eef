"""A LangChain retriever over a running taxkg server (`taxkg serve`).

Each passage becomes one `Document`: the text that a language model reads, and in `metadata` what a citation needs:
document, form, revision, page, rectangles in points from the top left of the page, heading path, and score.
"""

from __future__ import annotations

from typing import Any

import httpx
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field

CITATION = ("document", "form", "revision", "page", "bboxes", "heading_path", "node_id", "score")


class TaxkgRetriever(BaseRetriever):
    """Ranked passages of `POST /v1/search`.

    Attributes:
        client: Client whose base URL is the server; it carries the API key, if one is set.
        k: Number of passages.
        form: Search documents of this form only, such as `1099-DIV`.
        year: Search documents of this tax year or revision year only.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    client: httpx.Client = Field(default_factory=lambda: httpx.Client(base_url="http://localhost:8000"))
    k: int = 5
    form: str | None = None
    year: int | None = None

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        filters: dict[str, Any] = {"form": self.form, "year": self.year}
        body = {"question": query, "k": self.k} | {name: value for name, value in filters.items() if value is not None}
        reply = self.client.post("/v1/search", json=body)
        reply.raise_for_status()
        return [
            Document(id=row["node_id"], page_content=row["text"], metadata={name: row[name] for name in CITATION})
            for row in reply.json()
        ]


if __name__ == "__main__":
    for found in TaxkgRetriever(k=3).invoke("Is section 897 gain part of ordinary dividends?"):
        print(found.metadata["document"], "page", found.metadata["page"], "|", found.metadata["heading_path"])
