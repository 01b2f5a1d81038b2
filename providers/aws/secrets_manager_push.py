"""Writes to AWS Secrets Manager: only what carries our tag, and only what differs from what stands there."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from uuid import uuid4

from syncret.providers.aws import push_specs, secrets_manager_extras
from syncret.providers.aws.api import Absent, Api, tag_list, tag_map
from syncret.providers.aws.push_specs import SecretPush
from syncret.providers.aws.spec import SecretsManagerSpec
from syncret.providers.contract import Credentials, PushItem, RemoteTarget, SecretBytes
from syncret.providers.errors import Malformed
from syncret.providers.kit import properties
from syncret.providers.kit.ownership import foreign, is_ours

_FIRST_VERSION: Final = "00000000-0000-0000-0000-000000000001"
"""The token of the first version: two who create the same secret at once create it once."""


class _Stored(NamedTuple):
    value: SecretBytes
    form: str
    """Under which name AWS holds it: SecretString or SecretBinary."""


class SecretsManagerWriter:
    """Creates, changes and deletes secrets. Names have the store's prefix already."""

    def __init__(self, api: Api, deletion: SecretsManagerSpec | None, credentials: Credentials) -> None:
        self._api = api
        self._deletion = deletion or SecretsManagerSpec()
        self._credentials = credentials

    async def push(self, item: PushItem) -> None:
        """Store a value and what its metadata says. Raises Malformed for a secret that is not ours."""
        name = item.remote_key
        options = push_specs.options(item.metadata, SecretPush)
        there = await self._described(name)
        if there is None:
            await self._create(item, options)
            return
        if not is_ours(tag_map(there.get("Tags"))):
            raise foreign("secret not managed by external-secrets", name, "tag")
        if there.get("DeletedDate"):
            raise Malformed(
                "the secret is scheduled for deletion",
                hint="restore it, or let the store delete with forceDeleteWithoutRecovery",
            )
        stored = await self._stored(name) if there.get("VersionIdsToStages") else None
        value = _wanted(item, stored)
        if options.tags:
            await secrets_manager_extras.set_tags(
                self._api, name, tag_map(there.get("Tags")), options.all_tags()
            )
        policy = await secrets_manager_extras.policy(self._credentials, item, options.resource_policy)
        await secrets_manager_extras.set_policy(self._api, name, policy, options.resource_policy)
        await secrets_manager_extras.set_replicas(self._api, name, there, options)
        if stored is None or stored.value.raw != value:
            token = _FIRST_VERSION if stored is None else str(uuid4())
            await self._put(name, token, options.value(value))

    async def delete(self, target: RemoteTarget) -> None:
        """Delete a secret of ours as the store says, or one property. What is not ours stays."""
        name = target.remote_key
        there = await self._described(name)
        if there is None or there.get("DeletedDate") or not is_ours(tag_map(there.get("Tags"))):
            return
        stored = await self._stored(name) if target.property else None
        if stored is not None:
            left = properties.remove(stored.value.raw, target.property)
            if left is not None:
                if left != stored.value.raw:
                    await self._put(name, str(uuid4()), {stored.form: _formed(stored.form, left)})
                return
        await secrets_manager_extras.drop_replicas(self._api, name, there)
        await self._api.call("delete_secret", SecretId=there.get("ARN", name), **self._manner())

    async def exists(self, target: RemoteTarget) -> bool:
        """Whether there is a value, or this property of it."""
        stored = await self._stored(target.remote_key)
        if stored is None or not target.property:
            return stored is not None
        return properties.has(stored.value.raw, target.property)

    def _manner(self) -> dict[str, object]:
        manner: dict[str, object] = {}
        if self._deletion.force_delete_without_recovery:
            manner["ForceDeleteWithoutRecovery"] = True
        if self._deletion.recovery_window_in_days:
            manner["RecoveryWindowInDays"] = self._deletion.recovery_window_in_days
        return manner

    async def _described(self, name: str) -> dict[str, Any] | None:
        try:
            return await self._api.call("describe_secret", SecretId=name)
        except Absent:
            return None

    async def _stored(self, name: str) -> _Stored | None:
        try:
            answer = await self._api.call("get_secret_value", SecretId=name)
        except Absent:
            return None
        text: str | None = answer.get("SecretString")
        if text is not None:
            return _Stored(SecretBytes(text.encode()), "SecretString")
        return _Stored(SecretBytes(answer.get("SecretBinary", b"")), "SecretBinary")

    async def _create(self, item: PushItem, options: SecretPush) -> None:
        value = options.value(_wanted(item, None))
        policy = await secrets_manager_extras.policy(self._credentials, item, options.resource_policy)
        replicas = secrets_manager_extras.replicas(options.replication_locations or (), options.key)
        await self._api.call(
            "create_secret",
            Name=item.remote_key,
            Description=options.description or push_specs.DESCRIPTION,
            KmsKeyId=options.key,
            Tags=tag_list(options.all_tags()),
            ClientRequestToken=_FIRST_VERSION,
            **({"AddReplicaRegions": replicas} if replicas else {}),
            **value,
        )
        if policy:
            await secrets_manager_extras.put_policy(
                self._api, item.remote_key, policy, options.resource_policy
            )

    async def _put(self, name: str, token: str, value: Mapping[str, object]) -> None:
        await self._api.call("put_secret_value", SecretId=name, ClientRequestToken=token, **value)


def _formed(form: str, raw: bytes) -> object:
    return raw.decode("utf-8", "replace") if form == "SecretString" else raw


def _wanted(item: PushItem, stored: _Stored | None) -> bytes:
    """The value as it shall stand there: the item's, or what stands there with the item's property in it."""
    if not item.property:
        return item.value.raw
    return properties.put(stored.value.raw if stored is not None else b"", item.property, item.value.raw)
