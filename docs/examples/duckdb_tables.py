"""SQL over the tables of a home with DuckDB: no taxkg import, no server.

`python docs/examples/duckdb_tables.py HOME` lists the boxes that a form's instructions explain at greatest length.
"""

from __future__ import annotations

import sys

import duckdb
from deltalake import DeltaTable

LONGEST = """
    SELECT a.document_id, a.key, sum(length(s.text)) AS characters, min(s.page) AS first_page
    FROM anchors AS a JOIN sections AS s USING (anchor_id)
    WHERE a.kind IN ('box', 'box_group')
    GROUP BY ALL ORDER BY characters DESC, document_id, key LIMIT 10
"""


def longest_boxes(home: str) -> duckdb.DuckDBPyRelation:
    """Rank boxes by the length of their explanation.

    Args:
        home: Home folder of a build.

    Returns:
        At most ten rows: document_id, key, characters, first_page.
    """
    connection = duckdb.connect()
    for name in ("anchors", "sections"):
        files = DeltaTable(f"{home}/tables/{name}").file_uris()  # the current version; the folder also has older ones
        connection.read_parquet(files).create_view(name)
    return connection.sql(LONGEST)


if __name__ == "__main__":
    longest_boxes(sys.argv[1] if len(sys.argv) > 1 else "data/store").show()
