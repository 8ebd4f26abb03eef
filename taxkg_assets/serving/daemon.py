"""What the Dagster UI and the daemon of a home need before they start: sources, partitions, the instance's folder."""

from __future__ import annotations

from taxkg_assets.defs.automation import sync_partitions
from taxkg_assets.defs.intake import scan_sources
from taxkg_assets.defs.looks import inbox_of
from taxkg_assets.defs.resources import PROJECT, Home
from taxkg_assets.defs.store import Store
from taxkg_assets.serving.build import SAMPLES
from taxkg_assets.serving.instance import open_instance

WORKSPACE = ("-w", str(PROJECT / "workspace.yaml"))


def prepare_home(home: str) -> Store:
    """Make the inbox, and partitions of all documents that there are.

    The samples are for looking around: they come where there is nothing yet, and where the home does not fill itself.
    """
    made = Home(home=home)
    settings = made.settings
    inbox_of(settings).mkdir(parents=True, exist_ok=True)
    ledger = scan_sources(made, at_first=[] if settings.automation or settings.watch else [SAMPLES])
    with open_instance(made.store) as instance:
        sync_partitions(instance, set(ledger["files"]))
    return made.store
