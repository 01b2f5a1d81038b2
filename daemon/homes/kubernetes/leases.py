"""The Lease of the election, as an object of the API server: that of client-go's own election."""

from datetime import UTC, datetime

from msgspec import Struct

from syncret.config.meta import Document, member
from syncret.daemon.homes.kubernetes.api import ApiServer
from syncret.daemon.homes.kubernetes.election import Held
from syncret.providers.kit.http import json_body
from syncret.providers.kit.kube.client import path_of


class _Metadata(Struct, frozen=True, rename="camel"):
    resource_version: str = ""


class _Spec(Struct, frozen=True, rename="camel"):
    holder_identity: str | None = ""
    lease_duration_seconds: int | None = 0
    lease_transitions: int | None = 0


class _Lease(Struct):
    metadata: _Metadata
    spec: _Spec = _Spec()


class ApiLeases:
    """Implements `Leases` for one Lease of one namespace, on a connection of its own."""

    def __init__(self, api: ApiServer, namespace: str, name: str) -> None:
        self._api = api
        self._namespace = namespace
        self._name = name
        self._whole: Document = {}
        """The Lease as it was read: fields of other writers are kept."""

    async def get(self) -> Held | None:
        """As `Leases` says."""
        answer = await self._api.read(self._path(self._name), doing=self._doing("reading"))
        if answer is None:
            self._whole = {}
            return None
        self._whole = answer.decode(Document)
        return _held(answer.decode(_Lease))

    async def put(self, lease: Held, *, acquired: bool) -> Held:
        """As `Leases` says."""
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        spec = {
            **member(self._whole, "spec"),
            "holderIdentity": lease.holder,
            "leaseDurationSeconds": round(lease.seconds),
            "leaseTransitions": lease.transitions,
            "renewTime": now,
            **({"acquireTime": now} if acquired else {}),
        }
        metadata = {**member(self._whole, "metadata"), "name": self._name, "namespace": self._namespace}
        metadata.pop("managedFields", None)
        metadata["resourceVersion"] = lease.version
        document = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": metadata,
            "spec": spec,
        }
        method, path = ("PUT", self._path(self._name)) if lease.version else ("POST", self._path())
        if not lease.version:
            document["metadata"] = {"name": self._name, "namespace": self._namespace}
        answer = await self._api.write(method, path, json_body(document), doing=self._doing("writing"))
        self._whole = answer.decode(Document)
        return _held(answer.decode(_Lease))

    def _path(self, name: str = "") -> str:
        return path_of("coordination.k8s.io", "v1", "leases", namespace=self._namespace, name=name)

    def _doing(self, verb: str) -> str:
        return f"{verb} Lease/{self._namespace}/{self._name}"


def _held(lease: _Lease) -> Held:
    spec = lease.spec
    return Held(
        version=lease.metadata.resource_version,
        holder=spec.holder_identity or "",
        seconds=float(spec.lease_duration_seconds or 0),
        transitions=spec.lease_transitions or 0,
    )
