"""Reads the Secrets and ConfigMaps that a store or generator refers to, and remembers in which version."""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable

import msgspec

from syncret.config.catalog import Scope
from syncret.config.meta import ObjectRef
from syncret.daemon.backends.contract import BackendError, Target
from syncret.providers.contract import SecretBytes
from syncret.providers.errors import Malformed, Unavailable

ABSENT = ""
"""Remembered as the version of what did not exist, so that its appearance is a change too."""


class _Data(msgspec.Struct):
    data: dict[str, str] = {}


class HomeCredentials:
    """The `Credentials` of one store or generator, read from the home it lives in.

    `versions` says what was read: once one of these objects has another version, what was opened with them is
    stale.
    """

    def __init__(
        self, target: Target, scope: Scope, *, on_read: Callable[[ObjectRef], None] | None = None
    ) -> None:
        self._target = target
        self._scope = scope
        self._on_read = on_read
        self.versions: dict[ObjectRef, str] = {}

    async def secret_key(self, name: str, key: str, namespace: str | None = None) -> SecretBytes:
        """One key of one Secret. Raises Malformed if there is none."""
        text = await self._key("Secret", name, key, namespace)
        try:
            return SecretBytes(b64decode(text, validate=True))
        except Base64Error:
            raise Malformed(f'key "{key}" of Secret "{name}" is not base64') from None

    async def config_map_key(self, name: str, key: str, namespace: str | None = None) -> str:
        """One key of one ConfigMap. Raises Malformed if there is none."""
        return await self._key("ConfigMap", name, key, namespace)

    async def _key(self, kind: str, name: str, key: str, namespace: str | None) -> str:
        ref = ObjectRef("", kind, self._namespace(kind, name, namespace), name)
        if self._on_read is not None:
            self._on_read(ref)
        try:
            stored = await self._target.get(ref)
        except BackendError as error:
            raise Unavailable(f"cannot read {ref}: {error.reason}") from None
        self.versions[ref] = ABSENT if stored is None else stored.resource_version
        if stored is None:
            raise Malformed(
                f'cannot get {kind} "{name}" from namespace "{ref.namespace}": it does not exist',
                hint="create it, or mend the reference in the store",
            )
        data = stored.as_type(_Data).data
        if key not in data:
            raise Malformed(
                f'cannot find key "{key}" in {kind} "{name}" of namespace "{ref.namespace}"',
                hint=f"its keys are {', '.join(sorted(data)) or 'none'}",
            )
        return data[key]

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
