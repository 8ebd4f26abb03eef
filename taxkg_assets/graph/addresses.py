"""Addresses of the web that references name, by their words or by the publisher's link."""

from __future__ import annotations

from taxkg_assets.records import ReferenceRecord


def find_named_target(reference: ReferenceRecord) -> str:
    """Find what a reference names: its target, or the address of a link whose words name a page of the web otherwise.

    Args:
        reference: Row of `references`.

    Returns:
        The target; of a page of the web its address without scheme, where the words or the link state one.
    """
    target, address = reference["target"], (reference.get("target_url") or "").partition("://")[2]
    is_address = "." in target and " " not in target
    return target if reference["kind"] != "url" or is_address or not address else address.rstrip("/")
