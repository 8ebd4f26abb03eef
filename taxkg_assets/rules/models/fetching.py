"""Rule family `fetching`: where the publisher's documents are, and the limits of requests."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, Section, load_model


class Paths(Section):
    """Paths below the base address, with `{name}` and `{year}`."""

    current: str
    prior: str
    draft: str


class Limits(Section):
    """Limits of requests, in bytes, seconds and attempts."""

    most_bytes: int
    most_redirects: int
    attempts: int
    seconds_between: float
    seconds_to_connect: float
    seconds_to_read: float
    seconds_in_all: float
    longest_wait_s: float


class Fetching(Family):
    """Content of `rules/fetching.yaml`."""

    paths: Paths
    base_url: str
    hosts: tuple[str, ...]
    limits: Limits
    run_seconds: int
    families: dict[int | str, tuple[str, ...]]


@cache
def load_fetching() -> Fetching:
    """Return the rules that decide from which addresses documents are fetched, and the limits of requests."""
    return load_model("fetching", Fetching)
