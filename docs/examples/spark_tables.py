"""The tables of a home in Spark, without the Delta package: Spark reads the current Parquet files of a table.

`python docs/examples/spark_tables.py HOME` counts the typed relations of the graph by polarity. Java 17 is required.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from deltalake import DeltaTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read_table(spark: SparkSession, home: str, name: str) -> DataFrame:
    """Read the current version of a table.

    Args:
        spark: Session.
        home: Home folder of a build.
        name: Table, such as `edges`.

    Returns:
        The columns that `docs/tables.md` describes.
    """
    return spark.read.parquet(*DeltaTable(f"{home}/tables/{name}").file_uris())


def count_relations(spark: SparkSession, home: str) -> DataFrame:
    """Count the edges of the graph.

    Args:
        spark: Session.
        home: Home folder of a build.

    Returns:
        One row per relation and polarity: relation, polarity, count.
    """
    return read_table(spark, home, "edges").groupBy("relation", "polarity").count().orderBy("relation", "polarity")


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").getOrCreate()
    count_relations(session, sys.argv[1] if len(sys.argv) > 1 else "data/store").show(50)
