"""The client of a store that reads objects of one Kubernetes resource, as far as its whitelist allows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from syncret.config.catalog import Scope
from syncret.config.meta import Document
from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.crd.spec import WhitelistRule
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit import extract
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Matches
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work


class _Rule(NamedTuple):
    name: regexp.Pattern | None
    namespace: regexp.Pattern | None
    properties: Sequence[regexp.Pattern]

    def fits(self, name: str, namespace: str, work: Work) -> bool:
        if self.name is not None and not self.name.search(name, work):
            return False
        return self.namespace is None or (bool(namespace) and self.namespace.search(namespace, work))


class Whitelist:
    """The rules of a store; none allow everything. Namespaces count only in a ClusterSecretStore."""

    def __init__(self, rules: Sequence[WhitelistRule], work: Work, *, cluster: bool) -> None:
        self._rules = [
            _Rule(
                regexp.compile(rule.name, work) if rule.name else None,
                regexp.compile(rule.namespace, work) if rule.namespace and cluster else None,
                [regexp.compile(pattern, work) for pattern in rule.properties],
            )
            for rule in rules
        ]

    def allows_object(self, name: str, namespace: str, work: Work) -> bool:
        """Whether some part of this object may be read."""
        return not self._rules or any(rule.fits(name, namespace, work) for rule in self._rules)

    def allows_property(self, name: str, namespace: str, property_path: str, work: Work) -> bool:
        """Whether this property of the object may be read; empty: the whole object."""
        return not self._rules or any(
            rule.fits(name, namespace, work)
            and (
                not rule.properties
                or any(pattern.search(property_path, work) for pattern in rule.properties if property_path)
            )
            for rule in self._rules
        )


if TYPE_CHECKING:  # validation, and listing providers, must not import the HTTP stack
    from syncret.providers.kit.kube.client import Kube


class ServedResource(NamedTuple):
    """A resource as the API server serves it."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool


class ObjectName(NamedTuple):
    """The object of a remote key; the namespace is empty for a cluster-scoped resource."""

    namespace: str
    name: str


class CrdClient(Unversioned, SingleReads[bytes]):
    """Reads and finds objects; a value is the object as JSON, a property is a gjson path in it."""

    converts_keys = True

    def __init__(
        self, kube: "Kube", served: ServedResource, allowed: Whitelist, scope: Scope, compute: Compute
    ) -> None:
        self._compute = compute
        self._kube = kube
        self._served = served
        self._whitelist = allowed
        self._scope = scope

    def value(self, payload: bytes, ref: RemoteRef, work: Work) -> SecretBytes | None:
        return SecretBytes(self._extract(payload, ref, work))

    def fields(self, payload: bytes, ref: RemoteRef, work: Work) -> SecretMap | None:
        """The members of an object; any other value under the key `value`."""
        found = self._extract(payload, ref, work)
        try:
            members = gojson.to_secret_map(found, work)
        except Malformed:
            members = {"value": found}
        return {key: SecretBytes(member) for key, member in members.items()}

    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """Objects whose names match; in a ClusterSecretStore the names are `namespace/name`."""
        if query.tags is not None or query.path is not None:
            raise Malformed("unsupported find operator", hint="objects are found by name.regexp only")
        matches = regexp.matcher(query.name, work) if query.name else None
        namespace = self._scope.namespace if self._served.namespaced and not self._scope.cluster else ""
        await paced(lambda: check_access(self._kube, self._served, "list", namespace))
        found = Matches()
        doing = f"listing {self._served.kind}"
        async for document in self._kube.list(self._path(ObjectName(namespace, "")), paced, doing=doing):
            target = ObjectName(document["metadata"].get("namespace", ""), document["metadata"]["name"])
            key = f"{target.namespace}/{target.name}" if self._full_names else target.name
            if (matches is None or matches(key)) and self._whitelist.allows_property(
                target.name, target.namespace, "", work
            ):
                whole = {"apiVersion": self._api_version, "kind": self._served.kind, **document}
                found.add_value(key, SecretBytes(_json(whole, work)))
        return found.values

    async def probe(self) -> Readiness:
        """Always ready: opening checked that objects may be read."""
        return "ready"

    @property
    def _full_names(self) -> bool:
        return self._served.namespaced and self._scope.cluster

    @property
    def _api_version(self) -> str:
        group, version = self._served.group, self._served.version
        return f"{group}/{version}" if group else version

    async def fetch_one(self, key: RemoteKey) -> bytes | None:
        target = self._parse_key(key.key)
        namespace = target.namespace if self._scope.cluster else ""
        if not await self._compute(lambda work: self._whitelist.allows_object(target.name, namespace, work)):
            raise _denied(key.key)
        doing = f"reading {self._served.kind} {key.key}"
        document = await self._kube.get(self._path(target), doing=doing)
        return None if document is None else await self._compute(lambda work: _json(document, work))

    def _extract(self, payload: bytes, ref: RemoteRef, work: Work) -> bytes:
        target = self._parse_key(ref.key)
        namespace = target.namespace if self._scope.cluster else ""
        if not self._whitelist.allows_property(target.name, namespace, ref.property, work):
            raise _denied(ref.key)
        if not ref.property:
            return payload
        found = extract.value(payload, ref.property, work)
        if found is None:
            raise extract.missing_property(
                f'crd: property "{ref.property}" not found in object "{target.name}"'
            )
        return found

    def _parse_key(self, key: str) -> ObjectName:
        """The object of a remote key. Raises Malformed."""
        if not key:
            raise Malformed("crd: remoteRef.key must not be empty", hint="write the object's name")
        if not self._scope.cluster and "/" in key:
            raise Malformed(
                "crd: remoteRef.key must not contain '/' for SecretStore; namespace is fixed to the store "
                "namespace",
                hint="write the object's name only",
            )
        namespace, slash, name = key.partition("/")
        if slash and not (namespace and name and "/" not in name):
            raise Malformed(
                f'crd: invalid remoteRef.key "{key}": must be in "namespace/objectName" form',
                hint="one slash, between the namespace and the object's name",
            )
        kind = self._served.kind
        if slash and not self._served.namespaced:
            raise Malformed(
                f"crd: cluster-scoped resource kind \"{kind}\" does not allow '/' in remoteRef.key",
                hint="write the object's name only",
            )
        if not slash and self._full_names:
            raise Malformed(
                f'crd: namespaced resource kind "{kind}" requires remoteRef.key in the form '
                "namespace/objectName when using ClusterSecretStore",
                hint="write the namespace and a slash before the object's name",
            )
        own = self._scope.namespace if self._served.namespaced else ""
        return ObjectName(namespace, name) if slash else ObjectName(own, key)

    def _path(self, target: ObjectName) -> str:
        from syncret.providers.kit.kube.client import path_of

        served = self._served
        return path_of(
            served.group, served.version, served.plural, namespace=target.namespace, name=target.name
        )


async def served_resource(kube: "Kube", group: str, version: str, kind: str) -> ServedResource:
    """The resource of a kind, from the server's discovery. Raises Malformed if there is none."""
    for each in await kube.resources(group, version, doing=f"looking for kind {kind}"):
        if each.get("kind") == kind and "/" not in each["name"]:
            return ServedResource(group, version, kind, each["name"], each.get("namespaced") is True)
    raise Malformed(
        f'crd: group "{group}" version "{version}" kind "{kind}" is not registered in the cluster',
        hint="check spec.provider.crd.resource, and whether the CRD is installed",
    )


async def check_access(kube: "Kube", served: ServedResource, verb: str, namespace: str) -> None:
    """Raises Denied if the server does not allow it."""
    if not await kube.allowed(verb, served.plural, group=served.group, namespace=namespace):
        raise Denied(
            f'crd: serviceaccount is not allowed to "{verb}" resource "{served.plural}" in apiGroup '
            f'"{served.group}"',
            hint=f"grant {verb} on {served.plural}" + (f' in namespace "{namespace}"' if namespace else ""),
        )


def _denied(key: str) -> Denied:
    return Denied(
        f'crd: request for "{key}" denied by whitelist rules', hint="see spec.provider.crd.whitelist.rules"
    )


def _json(document: Document, work: Work) -> bytes:
    return gojson.marshal(document, work).encode("utf-8", "surrogateescape")
