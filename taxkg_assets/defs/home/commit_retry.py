"""Commits that are tried again: another writer was first, or the bucket did not answer."""

from __future__ import annotations

from deltalake.exceptions import CommitFailedError
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential


def _may_succeed_later(error: BaseException) -> bool:
    """Return whether a failed commit is worth another try.

    The engine reports a bucket that did not answer as a plain `OSError` without a number. Errors of this machine have a
    number, or a type of their own such as `FileNotFoundError`.
    """
    return isinstance(error, CommitFailedError) or (type(error) is OSError and error.errno is None)


COMMIT_RETRY = Retrying(
    retry=retry_if_exception(_may_succeed_later),
    stop=stop_after_attempt(12),
    wait=wait_random_exponential(multiplier=0.05, max=2.0),
    reraise=True,
)
