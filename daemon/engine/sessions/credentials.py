"""Reads the Secrets and ConfigMaps that a store or generator refers to, and remembers their versions."""

from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence

import msgspec

from syncret.config.catalog import Scope
from syncret.config.meta import Metadata, ObjectRef
from syncret.config.spelling import keys_hint
from syncret.daemon.homes.contract import Home, HomeError, StoredObject, WatchEvent, WatchEventType
from syncret.providers.contract import IssuedToken, WholeSecret
from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.values import SecretBytes


class _Object(msgspec.Struct):
    metadata: Metadata
    data: dict[str, str] = {}


class StoreCredentials:
    """The `Credentials` of one store or generator, read from the home it lives in.

    It remembers which versions were read, without their content: what was opened with them is stale once
    there is a newer one.
    """

    def __init__(
        self,
        home: Home,
        scope: Scope,
        *,
        on_read: Callable[[ObjectRef], None] | None = None,
    ) -> None:
        self._home = home
        self._scope = scope
        self._on_read = on_read
        self._read: dict[ObjectRef, StoredObject | None] = {}

    def is_outdated_by(self, event: WatchEvent) -> bool:
        """Whether an object that was read has changed since. Events of older versions may come late."""
        stored = event.object
        if stored is None or stored.ref not in self._read:
            return False
        read = self._read[stored.ref]
        if event.type is WatchEventType.DELETED:
            return read is not None and not read.is_newer_than(stored)
        return stored.is_newer_than(read)

    async def secret_key(self, name: str, key: str, namespace: str | None = None) -> SecretBytes:
        """One key of one Secret. Raises Malformed if there is none."""
        return _decoded(name, key, await self._key("Secret", name, key, namespace))

    async def config_map_key(self, name: str, key: str, namespace: str | None = None) -> str:
        """One key of one ConfigMap. Raises Malformed if there is none."""
        return await self._key("ConfigMap", name, key, namespace)

    async def secret(self, name: str, namespace: str | None = None) -> WholeSecret:
        """A whole Secret. Raises Malformed if there is none."""
        _, found = await self._object("Secret", name, namespace)
        data = {key: _decoded(name, key, text) for key, text in found.data.items()}
        return WholeSecret(found.metadata.labels, data)

    async def account_token(
        self, name: str, *, audiences: Sequence[str] = (), seconds: int = 600, namespace: str | None = None
    ) -> IssuedToken:
        """A new token. The account itself is not read: the home that issues the token knows if it exists."""
        account = ObjectRef("", "ServiceAccount", self._namespace("ServiceAccount", name, namespace), name)
        if self._on_read is not None:
            self._on_read(account)
        return await self._home.issue_token(account, audiences, seconds)

    async def account_annotations(self, name: str, namespace: str | None = None) -> Mapping[str, str]:
        """The annotations of a ServiceAccount. Raises Malformed if there is none."""
        _, found = await self._object("ServiceAccount", name, namespace)
        return found.metadata.annotations

    async def _key(self, kind: str, name: str, key: str, namespace: str | None) -> str:
        ref, found = await self._object(kind, name, namespace)
        if key not in found.data:
            raise Malformed(
                f'cannot find key "{key}" in {kind} "{name}" of namespace "{ref.namespace}"',
                hint=keys_hint(key, found.data),
            )
        return found.data[key]

    async def _object(self, kind: str, name: str, namespace: str | None) -> tuple[ObjectRef, _Object]:
        ref = ObjectRef("", kind, self._namespace(kind, name, namespace), name)
        if self._on_read is not None:
            self._on_read(ref)
        try:
            stored = await self._home.get(ref)
        except HomeError as error:
            raise Unavailable(f"cannot read {ref}: {error.reason}") from None
        self._read[ref] = None if stored is None else msgspec.structs.replace(stored, data=b"")
        if stored is None:
            raise Malformed(
                f'cannot get {kind} "{name}" from namespace "{ref.namespace}": it does not exist',
                hint="create it, or mend the reference in the store",
            )
        return ref, stored.as_type(_Object)

    def _namespace(self, kind: str, name: str, asked: str | None) -> str:
        namespace = (asked or self._scope.namespace) if self._scope.cluster else self._scope.namespace
        if not namespace:
            raise Malformed(
                f'{kind} "{name}" is referred to without a namespace',
                hint="a cluster-scoped store has none of its own: write one beside the name",
            )
        return namespace

    def __repr__(self) -> str:
        return f"<StoreCredentials read={[str(ref) for ref in self._read]}>"


def _decoded(name: str, key: str, text: str) -> SecretBytes:
    try:
        return SecretBytes(b64decode(text, validate=True))
    except ValueError:
        pass
    # Raised outside of the `except`: the error of base64 contains the text if it is not ASCII.
    raise Malformed(f'key "{key}" of Secret "{name}" is not base64', hint="encode it, or use stringData")
