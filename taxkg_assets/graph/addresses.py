"""Addresses of the web that references name, by their words or by the publisher's link."""

from __future__ import annotations

import re

from taxkg_assets.records import ReferenceRecord

_ADDRESS = re.compile(r"(?i)(?:https?://)?(?:[a-z\d-]+\.)+(?:gov|com|org|net|edu|mil|us)(?:/\S*)?")


def find_named_target(reference: ReferenceRecord) -> str:
    """Determine what a reference names: its printed target, or the web address of its link.

    Args:
        reference: Row of `references`.

    Returns:
        The target; for a web page its address without scheme, if the words or the link state it.
    """
    target, address = reference["target"], (reference.get("target_url") or "").partition("://")[2]
    is_other = reference["kind"] == "url" and bool(address) and not _ADDRESS.fullmatch(target)
    return address.rstrip("/") if is_other else target
