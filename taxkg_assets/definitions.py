"""The one Definitions object: every asset, gate, sensor and resource of `defs`."""

from __future__ import annotations

from taxkg_assets.garbage import collect_rarely, loading_modules

with loading_modules():
    import dagster as dg

    import taxkg_assets.defs.automation as automation
    import taxkg_assets.defs.chunking as chunking
    import taxkg_assets.defs.evaluation as evaluation
    import taxkg_assets.defs.extraction as extraction
    import taxkg_assets.defs.graph as graph
    import taxkg_assets.defs.ingest.fetching as fetching
    import taxkg_assets.defs.llm as llm
    import taxkg_assets.defs.quality as quality
    import taxkg_assets.defs.retention as retention
    import taxkg_assets.defs.retrieval as retrieval
    import taxkg_assets.defs.sources as sources
    import taxkg_assets.defs.training as training
    import taxkg_assets.defs.training_models as training_models
    import taxkg_assets.defs.wiring.alerts as alerts
    import taxkg_assets.defs.wiring.asset_pages as asset_pages
    from taxkg_assets.defs.wiring.compat import reuse_engines
    from taxkg_assets.defs.wiring.io_manager import DeltaIO
    from taxkg_assets.defs.wiring.resources import Home

collect_rarely()
reuse_engines()
_stages = [sources, extraction, quality, graph, chunking, retrieval, evaluation, llm, training, training_models]

defs = dg.Definitions(
    assets=asset_pages.add_asset_pages(automation.add_automation_conditions(dg.load_assets_from_modules(_stages))),
    asset_checks=dg.load_asset_checks_from_modules(_stages),
    sensors=[
        automation.sources_changed,
        dg.AutomationConditionSensorDefinition(
            "tables_follow",
            target=dg.AssetSelection.all(),
            minimum_interval_seconds=automation.SENSOR_SECONDS,
            default_status=dg.DefaultSensorStatus.STOPPED,
            description="Rebuilds the tables downstream of one that was materialized by hand, "
            "once its gates have passed.",
        ),
        alerts.alert_failed_runs,
        alerts.alert_quarantine,
    ],
    jobs=[automation.everything, automation.training, fetching.watch_releases, retention.housekeeping],
    schedules=[automation.weekly_training, fetching.daily_releases, retention.nightly_housekeeping],
    resources={"home": Home(), "io_manager": DeltaIO(home=Home())},
    executor=dg.in_process_executor,
)
