"""Secrets and their versions, as Secret Manager keeps them and shows them as JSON."""

import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

from tests.support.servers.google.crc32c import crc32c
from tests.support.servers.google.errors import GoogleError

LARGEST = 64 * 1024
_SERIAL = count(0x5F00A1)
_LABEL_KEY = re.compile(r"[a-z\u00e0-\u00ff][a-z0-9\u00e0-\u00ff_-]{0,62}\Z")
_LABEL_VALUE = re.compile(r"[a-z0-9\u00e0-\u00ff_-]{0,63}\Z")
_ANNOTATION_KEY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_./-]{0,61}[A-Za-z0-9])?\Z")
_ALIAS = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}\Z")
_TOPIC = re.compile(r"projects/[^/]+/topics/[^/]+\Z")
SECRET_ID = re.compile(r"[A-Za-z0-9_-]{1,255}\Z")


def etag() -> str:
    return f'"{next(_SERIAL):x}"'


def timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass
class Version:
    """One payload. What was destroyed has none."""

    name: str
    payload: bytes = field(repr=False)
    created: float
    checked: bool
    state: str = "ENABLED"
    destroyed: float | None = None
    etag: str = field(default_factory=etag)

    @property
    def number(self) -> str:
        return self.name.rpartition("/")[2]

    def shown(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "name": self.name,
            "createTime": timestamp(self.created),
            "state": self.state,
            "replicationStatus": {"automatic": {}},
            "etag": self.etag,
        }
        if self.checked:
            told["clientSpecifiedPayloadChecksum"] = True
        if self.destroyed is not None:
            told["destroyTime"] = timestamp(self.destroyed)
        return told

    def accessed(self) -> dict[str, Any]:
        if self.state != "ENABLED":
            message = f"Secret Version [{self.name}] is in {self.state} state."
            raise GoogleError("FAILED_PRECONDITION", message)
        data = b64encode(self.payload).decode()
        return {"name": self.name, "payload": {"data": data, "dataCrc32c": str(crc32c(self.payload))}}


@dataclass
class Secret:
    """A name with versions, and what is written beside them."""

    name: str
    created: float
    config: dict[str, Any]
    """What the caller set: labels, annotations, topics, replication, versionAliases, rotation, ttl, ..."""
    versions: list[Version] = field(default_factory=list["Version"])
    etag: str = field(default_factory=etag)

    @property
    def id(self) -> str:
        return self.name.rpartition("/")[2]

    def shown(self) -> dict[str, Any]:
        config = {key: value for key, value in self.config.items() if value}
        return {"name": self.name, "createTime": timestamp(self.created), "etag": self.etag, **config}

    def version(self, name: str) -> Version:
        """By number, by alias, or `latest`: the newest there ever was, whatever its state."""
        if name == "latest":
            if not self.versions:
                raise GoogleError("NOT_FOUND", f"Secret [{self.name}] not found or has no versions.")
            return self.versions[-1]
        number = self.config.get("versionAliases", {}).get(name, name)
        for version in self.versions:
            if version.number == str(number):
                return version
        if not re.fullmatch(r"[0-9]+|[A-Za-z][A-Za-z0-9_-]*", name):
            raise GoogleError("INVALID_ARGUMENT", f"The version [{name}] is malformed.")
        raise GoogleError("NOT_FOUND", f"Secret Version [{self.name}/versions/{name}] not found.")

    def add(self, payload: bytes, checksum: str | None, now: Callable[[], float]) -> Version:
        if len(payload) > LARGEST:
            raise GoogleError("INVALID_ARGUMENT", "Secret payload is too large.")
        if not payload:
            raise GoogleError("INVALID_ARGUMENT", "Secret Payload cannot be empty.")
        if checksum is not None and int(checksum) != crc32c(payload):
            raise GoogleError("INVALID_ARGUMENT", "The checksum does not match the payload.")
        name = f"{self.name}/versions/{len(self.versions) + 1}"
        # Two in one microsecond would have no order.
        created = max(now(), self.versions[-1].created + 1e-3 if self.versions else 0)
        version = Version(name, payload, created, checked=checksum is not None)
        self.versions.append(version)
        return version


def match_etag(given: str | None, resource: Secret | Version) -> None:
    if given and given != resource.etag:
        raise GoogleError("FAILED_PRECONDITION", f"The etag does not match that of [{resource.name}].")


def check(config: dict[str, Any], *, regional: bool, versions: int = 0) -> None:
    """Raise for what Secret Manager would refuse in a Secret."""
    labels, annotations = config.get("labels", {}), config.get("annotations", {})
    if len(labels) > 64 or any(
        not _LABEL_KEY.match(key) or not _LABEL_VALUE.match(value) for key, value in labels.items()
    ):
        raise GoogleError("INVALID_ARGUMENT", "Invalid labels.")
    if any(not _ANNOTATION_KEY.match(key) for key in annotations) or (
        sum(len(key) + len(value) for key, value in annotations.items()) > 16 * 1024
    ):
        raise GoogleError("INVALID_ARGUMENT", "Invalid annotations.")
    topics = config.get("topics", [])
    if len(topics) > 10 or any(not _TOPIC.match(topic.get("name", "")) for topic in topics):
        raise GoogleError("INVALID_ARGUMENT", "Invalid topics.")
    if config.get("rotation") and not topics:
        raise GoogleError("FAILED_PRECONDITION", "Topics must be set if rotation is configured.")
    for alias, number in config.get("versionAliases", {}).items():
        if not _ALIAS.match(alias) or alias == "latest" or not 1 <= int(number) <= versions:
            raise GoogleError("INVALID_ARGUMENT", f"Invalid version alias [{alias}].")
    _check_replication(config, regional=regional)


def _check_replication(config: dict[str, Any], *, regional: bool) -> None:
    replication = config.get("replication")
    if regional:
        if replication:
            raise GoogleError("INVALID_ARGUMENT", "Replication must not be set for regional secrets.")
        return
    if config.get("customerManagedEncryption"):
        raise GoogleError("INVALID_ARGUMENT", "customerManagedEncryption is for regional secrets only.")
    if not replication or len(replication) != 1:
        raise GoogleError("INVALID_ARGUMENT", "Secret.replication must be provided.")
    managed = replication.get("userManaged")
    if managed is None:
        return
    places = [replica.get("location", "") for replica in managed.get("replicas", [])]
    if not places or len(set(places)) != len(places):
        raise GoogleError("INVALID_ARGUMENT", "Invalid replica locations.")
    for place in places:
        if not re.fullmatch(r"[a-z]+-[a-z]+[0-9]+", place):
            raise GoogleError("INVALID_ARGUMENT", f"Location [{place}] is not supported.")
