"""Dagster only: one file per stage with its assets and its gates. Nothing is computed here.

Modules that define assets or checks do without postponed annotations: Dagster reads the annotation of `context`.
"""

import os
import warnings

# LanceDB warns of every table that it is about to create; read when it is imported.
os.environ.setdefault("LANCEDB_LOG", "error")

# Links to the code and range backfills are beta in Dagster; the version is pinned and the tests hold them to work.
warnings.filterwarnings("ignore", message=".*is currently in beta.*")
