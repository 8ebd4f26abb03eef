"""A home in a bucket of S3, or of anything that speaks its protocol.

Address, region and keys come from where every AWS program takes them (AWS_ENDPOINT_URL, AWS_REGION, keys, profile or
role) and are in no setting, log or table. A client serves until one of them changes; temporary keys of a role are
renewed by the client itself.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from email.utils import parsedate_to_datetime
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from taxkg_assets.defs.home.lease import Lease
from taxkg_assets.defs.home.storage import REMOTE, FileStat, StorageError, safe_name

DEFAULT_REGION = "us-east-1"
ATTEMPTS = 10
MOST_AT_ONCE = 1000
MISSING = frozenset({"404", "NoSuchKey", "NotFound"})


class S3Storage:
    """Storage of a home under one prefix of a bucket, with a local work folder for copies.

    Requests are retried for `patience_s` seconds if the bucket does not answer.
    """

    def __init__(self, uri: str, *, work: Path, patience_s: float = 180.0) -> None:
        bucket, _, prefix = uri.removeprefix(REMOTE).partition("/")
        if not bucket:
            raise StorageError(f"{uri!r} is not the address of a bucket folder. Write s3://BUCKET/FOLDER.")
        self.bucket, self.prefix, self._work = bucket, prefix.strip("/"), work
        self.uri = f"{REMOTE}{bucket}/{self.prefix}".rstrip("/")
        self._patience_s = patience_s

    def __repr__(self) -> str:
        return f"S3Storage({self.uri!r})"

    def uri_of(self, name: str) -> str:
        """Return the `s3://` address of a name.

        Args:
            name: Path of a file or folder, relative to the home.

        Raises:
            ValueError: The name leads out of the home.
        """
        return f"{self.uri}/{safe_name(name)}"

    def options(self) -> dict[str, str]:
        """Return the options with which Delta and LanceDB open the bucket: keys, region, endpoint, retries.

        Raises:
            StorageError: No credentials are set.
        """
        with _OPENING:
            session = _open_session(_find_aws_settings())
        keys = session.get_credentials().get_frozen_credentials()
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
        options = {
            "aws_access_key_id": keys.access_key,
            "aws_secret_access_key": keys.secret_key,
            "aws_session_token": keys.token,
            "aws_region": session.region_name or DEFAULT_REGION,
            "aws_endpoint": endpoint,
            "aws_allow_http": "true" if endpoint.startswith("http://") else "",
            "aws_conditional_put": "etag",
            "retry_timeout": f"{self._patience_s:g}s",
        }
        return {name: value for name, value in options.items() if value}

    def read(self, name: str) -> bytes | None:
        """Read an object.

        Args:
            name: Path of a file or folder, relative to the home.

        Returns:
            Its bytes; None where there is no such object.
        """
        from botocore.exceptions import ClientError

        try:
            response = self._client().get_object(Bucket=self.bucket, Key=self._key(name))
            data: bytes = response["Body"].read()
        except ClientError as failed:
            if failed.response["Error"]["Code"] in MISSING:
                return None
            raise
        return data

    def stat(self, name: str) -> FileStat | None:
        """Return the size of an object, and its age by the bucket's clock.

        Args:
            name: Path of a file or folder, relative to the home.

        Returns:
            Size in bytes and age in seconds; None where there is no such object.
        """
        from botocore.exceptions import ClientError

        try:
            response = self._client().head_object(Bucket=self.bucket, Key=self._key(name))
        except ClientError as failed:
            if failed.response["Error"]["Code"] in MISSING:
                return None
            raise
        now = parsedate_to_datetime(response["ResponseMetadata"]["HTTPHeaders"]["date"])
        return FileStat(response["ContentLength"], (now - response["LastModified"]).total_seconds())

    def write(self, name: str, data: bytes) -> None:
        """Write an object in one request, so that readers get the old or the new bytes.

        Args:
            name: Path of a file or folder, relative to the home.
            data: Content.
        """
        self._client().put_object(Bucket=self.bucket, Key=self._key(name), Body=data)

    def remove(self, name: str) -> None:
        """Delete an object and all objects under its prefix, `MOST_AT_ONCE` at a time.

        Args:
            name: Path of a file or folder, relative to the home.

        Raises:
            StorageError: The credentials do not allow it.
        """
        client, key = self._client(), self._key(name)
        keys = [key, *(f"{key}/{path}" for path in self.walk(name))]
        for first in range(0, len(keys), MOST_AT_ONCE):
            objects = [{"Key": object_key} for object_key in keys[first : first + MOST_AT_ONCE]]
            failures = client.delete_objects(Bucket=self.bucket, Delete={"Objects": objects}).get("Errors", [])
            if failures:
                raise StorageError(
                    f"{failures[0]['Key']} in {self.uri} cannot be deleted: {failures[0]['Message']}. Check that the "
                    "credentials allow s3:DeleteObject, and run the command again."
                )

    def children(self, name: str) -> list[str]:
        """Return the names directly below a prefix, sorted.

        Args:
            name: Path of a file or folder, relative to the home.
        """
        return sorted({path.split("/", 1)[0] for path in self.walk(name)})

    def walk(self, name: str) -> Iterator[str]:
        """List all objects below a name.

        Args:
            name: Path of a file or folder, relative to the home.

        Yields:
            Path of each object, relative to the name.
        """
        prefix = self._key(name) + "/"
        for page in self._client().get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix):
            yield from (entry["Key"].removeprefix(prefix) for entry in page.get("Contents", ()))

    def publish_folder(self, folder: Path, name: str) -> None:
        """Upload a folder file by file; readers ignore it until a table refers to it.

        Args:
            folder: Folder of this machine.
            name: Name below the home to publish it under.
        """
        self.remove(name)
        client = self._client()
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            client.upload_file(str(path), self.bucket, f"{self._key(name)}/{path.relative_to(folder).as_posix()}")
        shutil.rmtree(folder)

    def local_copy(self, name: str) -> Path:
        """Return a local folder with the objects below a name; they are downloaded once.

        Args:
            name: Path of a file or folder, relative to the home.

        Raises:
            StorageError: There is no object below the name.
        """
        # A copy bears the name of what it is a copy of: models are known by the names of their folders.
        uri_hash = hashlib.sha256(self.uri_of(name).encode()).hexdigest()[:16]
        copy_folder = self._work / "copies" / uri_hash / name.rsplit("/", 1)[-1]
        if copy_folder.is_dir():
            return copy_folder
        copy_folder.parent.mkdir(parents=True, exist_ok=True)
        download_folder = Path(tempfile.mkdtemp(dir=copy_folder.parent, prefix=".loading-"))
        for path in self.walk(name):
            target = download_folder / safe_name(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            self._client().download_file(self.bucket, f"{self._key(name)}/{path}", str(target))
        if not any(download_folder.iterdir()):
            download_folder.rmdir()
            raise StorageError(f"{self.uri_of(name)} does not exist in the bucket: check the address of the home.")
        try:
            download_folder.replace(copy_folder)
        except OSError:
            # Another process was faster; files below a name never change, so its copy is equal.
            shutil.rmtree(download_folder)
            if not copy_folder.is_dir():
                raise
        return copy_folder

    def lease(self, *, wait_s: float) -> AbstractContextManager[None]:
        """Hold the home's lease, which admits one writer among all machines.

        Args:
            wait_s: Longest wait for another writer, in seconds.

        Returns:
            Context in which the lease is renewed.

        Raises:
            HomeBusyError: Another writer holds it for longer than `wait_s`.
        """
        return Lease(self._client(), self.bucket, self._key(".lease"), uri=self.uri).hold(wait_s=wait_s)

    def check_lease(self) -> None:
        """Check that this process still holds the lease.

        Raises:
            HomeBusyError: The lease was lost.
        """
        Lease.check(self.uri)

    def _key(self, name: str) -> str:
        return f"{self.prefix}/{safe_name(name)}".lstrip("/")

    def _client(self) -> Any:
        with _OPENING:
            return _open_client(_find_aws_settings())


_OPENING = Lock()
"""Threads that start at once share one client: `lru_cache` alone would let each make its own."""
AwsSettings = tuple[tuple[str, str], ...]
"""Everything that an AWS client is made from: variables of the environment, and files with their time of change."""


def _find_aws_settings() -> AwsSettings:
    files = {
        "AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials",
        "AWS_CONFIG_FILE": "~/.aws/config",
    }
    variables = [(name, value) for name, value in sorted(os.environ.items()) if name.startswith("AWS_")]
    paths = [Path(os.environ.get(name, default)).expanduser() for name, default in files.items()]
    return (*variables, *((str(path), str(path.stat().st_mtime_ns)) for path in paths if path.is_file()))


@lru_cache(maxsize=2)
def _open_session(_settings: AwsSettings) -> Any:
    """Open the session of these settings.

    To make one takes 0.1 s, a client 0.2 s, and a build asks the bucket thousands of times. Without keys nothing is
    kept, because those of a role may come a moment late.
    """
    import boto3

    session = boto3.Session()
    if session.get_credentials() is None:
        raise StorageError(
            "There are no credentials for the bucket. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE."
        )
    return session


@lru_cache(maxsize=2)
def _open_client(settings: AwsSettings) -> Any:
    """Open the client of these settings, for all threads."""
    from botocore.config import Config

    session = _open_session(settings)
    config = Config(retries={"max_attempts": ATTEMPTS, "mode": "standard"})
    return session.client("s3", region_name=session.region_name or DEFAULT_REGION, config=config)
