"""Reads the Secrets and ConfigMaps that a store or generator refers to, and remembers in which version."""

from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from syncret.config.catalog import Scope
from syncret.config.meta import Metadata, ObjectRef
from syncret.daemon.homes.contract import Home, HomeError
from syncret.providers.contract import IssuedToken, SecretBytes, WholeSecret
from syncret.providers.errors import Malformed, Unavailable

ABSENT = ""
"""Remembered as the version of what did not exist, so that its appearance is a change too."""


Issue: TypeAlias = Callable[[ObjectRef, Sequence[str], int], Awaitable[IssuedToken]]
"""Has a token issued to a ServiceAccount, for audiences and a number of seconds. Raises SyncError."""


async def no_issuer(account: ObjectRef, audiences: Sequence[str], seconds: int) -> IssuedToken:
    """The answer of a home without an API server."""
    told = f"for {', '.join(audiences)}" if audiences else "for its API server"
    raise Malformed(
        f'ServiceAccount "{account.name}" of namespace "{account.namespace}": nobody here can issue a token '
        f"of {seconds} s {told}",
        hint="this home has no API server: let the store refer to a Secret",
    )


class _Object(msgspec.Struct):
    metadata: Metadata
    data: dict[str, str] = {}


class StoreCredentials:
    """The `Credentials` of one store or generator, read from the home it lives in.

    `versions` says what was read: once one of these objects has another version, what was opened with them is
    stale.
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
        self.versions: dict[ObjectRef, str] = {}

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
        """A new token. The account itself is not read: whoever issues the token judges whether it exists."""
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
                hint=f"its keys are {', '.join(sorted(found.data)) or 'none'}",
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
        self.versions[ref] = ABSENT if stored is None else stored.resource_version
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
        return f"<HomeCredentials read={[str(ref) for ref in self.versions]}>"


def _decoded(name: str, key: str, text: str) -> SecretBytes:
    try:
        return SecretBytes(b64decode(text, validate=True))
    except ValueError:
        pass
    # Raised out here: what base64 says of text that is not ASCII holds the text.
    raise Malformed(f'key "{key}" of Secret "{name}" is not base64', hint="encode it, or use stringData")
