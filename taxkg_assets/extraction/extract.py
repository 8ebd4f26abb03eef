"""One document's bytes to all its per-document tables: `extract(data) -> {name: frame}`.

A pure function, so that a process pool, Dagster partitions or a cluster engine can map it over documents.
"""
