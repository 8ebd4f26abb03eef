"""Addresses of the web that references name, by their words or by the publisher's link."""

from __future__ import annotations

import re

from taxkg_assets.records import ReferenceRecord

_ADDRESS = re.compile(r"(?i)(?:https?://)?(?:[a-z\d-]+\.)+(?:gov|com|org|net|edu|mil|us)(?:/\S*)?")


def find_named_target(reference: ReferenceRecord) -> str:
    """Find what a reference names: its target, or the address of a link whose words name a page of the web otherwise.

    Args:
        reference: Row of `references`.

    Returns:
        The target; of a page of the web its address without scheme, where the words or the link state one.
    """
    target, address = reference["target"], (reference.get("target_url") or "").partition("://")[2]
    is_other = reference["kind"] == "url" and bool(address) and not _ADDRESS.fullmatch(target)
    return address.rstrip("/") if is_other else target
