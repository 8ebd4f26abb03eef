"""taxkg: tax law PDFs to a gated knowledge graph and a cited retrieval index, as a Dagster asset graph."""
