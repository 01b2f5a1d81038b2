"""The client of a store whose values are Secrets in one namespace of a Kubernetes API."""

from typing import TYPE_CHECKING, Final

from syncret.config.catalog import Scope
from syncret.config.meta import is_list
from syncret.providers.contract import Paced, Readiness
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Matches
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kubernetes import secret
from syncret.providers.kubernetes.secret import Secret, data_of, fields, secret_of, value, whole
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

if TYPE_CHECKING:  # validation, and listing providers, must not import the HTTP stack
    from syncret.providers.kit.kube.client import Kube

_SECRETS: Final = "secrets"
_ANY: Final = "*"


class KubernetesClient(Unversioned, SingleReads[Secret]):
    """Reads, finds, pushes, deletes and looks up Secrets."""

    converts_keys = True

    def __init__(self, kube: "Kube", namespace: str, scope: Scope) -> None:
        self._kube = kube
        self._namespace = namespace
        self._scope = scope

    def value(self, payload: Secret, ref: RemoteRef, work: Work) -> SecretBytes | None:
        return SecretBytes(value(payload, ref, work))

    def fields(self, payload: Secret, ref: RemoteRef, work: Work) -> SecretMap | None:
        return fields(payload, ref, work)

    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """By labels, or by name; each value is the whole Secret as JSON."""
        if query.tags is None and query.name is None:
            raise Malformed("unexpected find operator", hint="Secrets are found by name.regexp or by tags")
        labels = ",".join(f"{name}={wanted}" for name, wanted in sorted(query.tags or ()))
        matches = regexp.matcher(query.name, work) if query.tags is None and query.name else None
        found = Matches()
        doing = f'listing Secrets of namespace "{self._namespace}"'
        async for document in self._kube.list(self._path(), paced, doing=doing, labels=labels):
            name = str(document["metadata"]["name"])
            if matches is None or matches(name):
                found.add_value(name, SecretBytes(whole(data_of(document), work)))
        return found.values

    async def push(self, item: PushItem) -> None:
        options = secret.options_of(item, cluster=self._scope.cluster)
        namespace = options.remote_namespace or self._namespace
        path = self._path(item.remote_key, namespace)
        doing = self._doing("pushing", item.remote_key, namespace)
        before = await self._kube.get(path, doing=doing)
        after = secret.secret_after_push(before, item, options, item.remote_key)
        if before is None:
            await self._kube.create(self._path(namespace=namespace), after, doing=doing)
        elif not secret.has_same_content(before, after):
            await self._kube.update(path, after, doing=doing)

    async def delete(self, target: RemoteTarget) -> None:
        """Delete a key or the Secret; with the last key, the Secret too."""
        path, doing = self._path(target.remote_key), self._doing("deleting", target.remote_key)
        document = await self._kube.get(path, doing=doing)
        if document is None:
            return
        data = data_of(document)
        if target.property and target.property not in data:
            return
        if target.property and len(data) > 1:
            del data[target.property]
            await self._kube.update(path, {**document, "data": secret.encoded(data)}, doing=doing)
        else:
            await self._kube.delete(path, doing=doing)

    async def exists(self, target: RemoteTarget) -> bool:
        path, doing = self._path(target.remote_key), self._doing("looking for", target.remote_key)
        document = await self._kube.get(path, doing=doing)
        return document is not None and (not target.property or target.property in data_of(document))

    async def probe(self) -> Readiness:
        """Check whether Secrets may be read in the namespace."""
        for rule in await self._kube.rules(self._namespace):
            groups = rule.get("apiGroups")
            if (
                _has(rule.get("resources"), _SECRETS)
                and _has(rule.get("verbs"), "get")
                and (not groups or _has(groups, ""))
            ):
                return "ready"
        if await self._kube.allowed("get", _SECRETS, namespace=self._namespace):
            return "ready"
        raise Denied(
            "client is not allowed to get secrets",
            hint=f'grant get on secrets in namespace "{self._namespace}", by a Role and a RoleBinding',
        )

    async def fetch_one(self, key: RemoteKey) -> Secret | None:
        document = await self._kube.get(self._path(key.key), doing=self._doing("reading", key.key))
        return None if document is None else secret_of(document)

    def _path(self, name: str = "", namespace: str = "") -> str:
        from syncret.providers.kit.kube.client import path_of

        return path_of("", "v1", _SECRETS, namespace=namespace or self._namespace, name=name)

    def _doing(self, act: str, name: str, namespace: str = "") -> str:
        if not name:
            raise Malformed("a Secret has a name: remoteRef.key is empty", hint="write the Secret's name")
        return f'{act} Secret "{name}" of namespace "{namespace or self._namespace}"'


def _has(words: object, word: str) -> bool:
    return is_list(words) and (word in words or _ANY in words)
