"""What a case's expectations are held against: the world that `syncret simulate` reports after a step."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from syncret.config.fields import Json
from syncret.config.meta import Document
from tests.suites.corpus.runners.comparing import object_in

Found: TypeAlias = Iterator[str]
"""What came that was not expected, in words."""


@dataclass(frozen=True)
class Seen:
    """The world after a step, and what happened in it; the first two steps of a scenario count as one."""

    subject: Document
    """The resource that the case is about, as it was applied."""
    objects: Sequence[Document]
    changes: Sequence[Document]
    writes: Sequence[Document]
    deletes: Sequence[Document]
    rejected: Sequence[Document]
    held: Mapping[tuple[str, str, str], bytes]
    """What was pushed to stores and not deleted since, by store, key and property."""

    @property
    def current(self) -> Document | None:
        """The resource as it stands now."""
        metadata = self.subject["metadata"]
        return self.find(self.subject["kind"], metadata["name"], metadata.get("namespace", ""))

    @property
    def status(self) -> Document:
        return object_in(self.current, "status")

    def find(self, kind: str, name: str, namespace: str, api_version: str | None = None) -> Document | None:
        """An object by its name; None where there is none."""
        for one in self.objects:
            metadata = one["metadata"]
            if (one["kind"], metadata["name"], metadata.get("namespace", "")) == (kind, name, namespace) and (
                api_version is None or one["apiVersion"] == api_version
            ):
                return one
        return None

    @property
    def namespace(self) -> str:
        """Where things are that an expectation names without a namespace."""
        namespace: str = self.subject["metadata"].get("namespace") or "default"
        return namespace

    def store(self, named: Mapping[str, Json]) -> Document | None:
        """The one store that has the name, the kind and the namespace, as far as they are told."""
        found = [one for one in self.objects if one["kind"] in _STORES and _fits(one, named)]
        return found[0] if len(found) == 1 else None


_STORES: Final = frozenset({"SecretStore", "ClusterSecretStore"})


def _fits(store: Document, named: Mapping[str, Json]) -> bool:
    facts = {"kind": store["kind"], **store["metadata"]}
    return all(named.get(name) in {None, facts.get(name)} for name in ("kind", "name", "namespace"))
