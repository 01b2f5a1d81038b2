"""Secrets with their versions, as Secrets Manager keeps them and shows them as JSON."""

import re
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias
from uuid import uuid4

from tests.support.servers.ibm.errors import IbmError

Shown: TypeAlias = dict[str, Any]

NAME = re.compile(r"\w(?:[\w.-]*\w)?\Z")
KEPT = 2
"""Versions whose data can still be read: the current and the previous one."""

LARGEST = 1024 * 1024
STATES = {0: "pre_activation", 1: "active", 2: "suspended", 3: "deactivated", 5: "destroyed"}


def timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class Lock:
    name: str
    description: str
    attributes: Shown
    created: float
    created_by: str


@dataclass
class Version:
    """What one rotation left. `data` is empty once it is out of reach."""

    data: Shown = field(repr=False)
    """The fields that hold the value, as their type has them."""
    created: float
    created_by: str
    custom: Shown = field(default_factory=dict[str, Any])
    beside: Shown = field(default_factory=dict[str, Any])
    """Fields that say something of the value, such as a serial number."""
    id: str = field(default_factory=lambda: str(uuid4()))
    downloaded: bool = False
    locks: dict[str, Lock] = field(default_factory=dict[str, Lock])


@dataclass
class Secret:
    """A name in a group, with what the caller set beside it."""

    type: str
    name: str
    group: str
    created: float
    created_by: str
    config: Shown
    """What was set: description, labels, custom_metadata, rotation, ttl, ..."""
    id: str = field(default_factory=lambda: str(uuid4()))
    updated: float = 0.0
    retrieved: float | None = None
    state: int = 1
    versions: list[Version] = field(default_factory=list[Version])

    @property
    def current(self) -> Version:
        return self.versions[-1]

    @property
    def locks(self) -> int:
        return sum(len(version.locks) for version in self.versions)

    def add(self, version: Version) -> None:
        self.versions.append(version)
        self.updated = version.created
        for old in self.versions[:-KEPT]:
            old.data = {}

    def metadata(self) -> Shown:
        """All but the value."""
        told: Shown = {
            "created_at": timestamp(self.created),
            "created_by": self.created_by,
            "crn": f"crn:v1:bluemix:public:secrets-manager:us-south:a/acme:instance:secret:{self.id}",
            "downloaded": any(version.downloaded for version in self.versions),
            "id": self.id,
            "labels": [],
            "custom_metadata": {},
            "locks_total": self.locks,
            "name": self.name,
            "secret_group_id": self.group,
            "secret_type": self.type,
            "state": self.state,
            "state_description": STATES[self.state],
            "updated_at": timestamp(self.updated or self.created),
            "versions_total": len(self.versions),
        }
        if self.retrieved is not None:
            told["retrieved_at"] = timestamp(self.retrieved)
        return deepcopy({**told, **self.config, **self.current.beside})

    def shown(self) -> Shown:
        """All of it."""
        return {**self.metadata(), **deepcopy(self.current.data)}

    def version(self, name: str) -> Version:
        """By id, or `current` or `previous`."""
        places = {"current": -1, "previous": -2}
        if name in places and len(self.versions) >= -places[name]:
            return self.versions[places[name]]
        for version in self.versions:
            if version.id == name:
                return version
        raise IbmError("not_found", "The secret version was not found.")

    def version_metadata(self, version: Version) -> Shown:
        told: Shown = {
            "auto_rotated": False,
            "created_at": timestamp(version.created),
            "created_by": version.created_by,
            "downloaded": version.downloaded,
            "id": version.id,
            "payload_available": bool(version.data),
            "secret_group_id": self.group,
            "secret_id": self.id,
            "secret_name": self.name,
            "secret_type": self.type,
            "version_custom_metadata": dict(version.custom),
        }
        for place, alias in enumerate(("current", "previous"), 1):
            if len(self.versions) >= place and self.versions[-place] is version:
                told["alias"] = alias
        return {**told, **deepcopy(version.beside)}

    def version_shown(self, version: Version) -> Shown:
        return {**self.version_metadata(version), **deepcopy(version.data)}

    def lock_shown(self, version: Version, lock: Lock) -> Shown:
        return {
            "name": lock.name,
            "description": lock.description,
            "attributes": lock.attributes,
            "created_at": timestamp(lock.created),
            "updated_at": timestamp(lock.created),
            "created_by": lock.created_by,
            "secret_group_id": self.group,
            "secret_id": self.id,
            "secret_version_id": version.id,
            "secret_version_alias": self.version_metadata(version).get("alias", ""),
        }


@dataclass
class Group:
    name: str
    description: str
    created: float
    created_by: str
    id: str = field(default_factory=lambda: str(uuid4()))

    def shown(self) -> Shown:
        moment = timestamp(self.created)
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "created_at": moment,
            "created_by": self.created_by,
            "updated_at": moment,
        }
