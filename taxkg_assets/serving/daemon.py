"""What the Dagster UI and the daemon of a home need before they start: sources, partitions, the instance's folder."""

from __future__ import annotations

from taxkg_assets.defs.automation import sync_partitions
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.ingest.file_status import inbox_of
from taxkg_assets.defs.ingest.source_scan import scan_sources
from taxkg_assets.defs.wiring.resources import PROJECT, Home
from taxkg_assets.serving.build import SAMPLES
from taxkg_assets.serving.instance import open_instance

WORKSPACE = ("-w", str(PROJECT / "workspace.yaml"))


def prepare_home(home: str) -> Store:
    """Create the inbox and the partitions of all documents of a home.

    An empty home gets the bundled samples, unless it fetches documents itself.

    Args:
        home: Folder or bucket address of the home.

    Returns:
        Tables of the home.
    """
    opened_home = Home(home=home)
    settings = opened_home.settings
    inbox_of(settings).mkdir(parents=True, exist_ok=True)
    sources = scan_sources(opened_home, default_roots=[] if settings.automation or settings.watch else [SAMPLES])
    with open_instance(opened_home.store) as instance:
        sync_partitions(instance, set(sources.manifest.files))
    return opened_home.store
