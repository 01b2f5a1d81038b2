"""AWS Secrets Manager: reads by exact key in batches of twenty, finds by name, path and tags, writes.

Only secrets with our tag are changed, and only if they differ.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import uuid4

from syncret.providers.aws import push_specs, secret_attributes
from syncret.providers.aws.codes import error_of_code
from syncret.providers.aws.push_specs import SecretPush
from syncret.providers.aws.reading import Answers, BatchedService, answers_of, read_by_name
from syncret.providers.aws.service import Absent, Api, check_query, entries, tag_list, tag_map
from syncret.providers.aws.spec import SecretsManagerSpec
from syncret.providers.contract import Compute, Credentials, Paced
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.batching import reading
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp, sjson
from syncret.providers.kit.paging import Matches
from syncret.providers.kit.push_options import is_ours, not_ours
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes, SecretMap
from syncret.providers.work import Work

_FIRST_VERSION: Final = "00000000-0000-0000-0000-000000000001"
"""The request token of the first version: concurrent creations of a secret create it once."""


class _Stored(NamedTuple):
    value: SecretBytes
    field: str
    """The field of the value: SecretString or SecretBinary."""


class SecretsManagerWriter:
    """Creates, changes and deletes secrets. Names already have the store's prefix."""

    def __init__(
        self, api: Api, deletion: SecretsManagerSpec | None, credentials: Credentials, compute: Compute
    ) -> None:
        self._api = api
        self._compute = compute
        self._deletion = deletion or SecretsManagerSpec()
        self._credentials = credentials

    async def push(self, item: PushItem) -> None:
        """Store a value and its attributes. Raises Malformed for a secret that is not ours."""
        name = item.remote_key
        options = push_specs.options(item.metadata, SecretPush)
        described = await self._api.look_up("describe_secret", SecretId=name)
        if described is None:
            await self._create(item, options)
            return
        if not is_ours(tag_map(described.get("Tags"))):
            raise not_ours("secret not managed by external-secrets", name, "tag")
        if described.get("DeletedDate"):
            raise Malformed(
                "the secret is scheduled for deletion",
                hint="restore it, or let the store delete with forceDeleteWithoutRecovery",
            )
        stored = await self._stored(name) if described.get("VersionIdsToStages") else None
        value = await self._new_value(item, stored)
        if options.tags:
            await secret_attributes.set_tags(
                self._api, name, tag_map(described.get("Tags")), options.all_tags()
            )
        policy = await secret_attributes.policy(
            self._credentials, item, options.resource_policy, self._compute
        )
        await secret_attributes.set_policy(self._api, name, policy, options.resource_policy, self._compute)
        await secret_attributes.set_replicas(self._api, name, described, options)
        if stored is None or stored.value.raw != value:
            token = _FIRST_VERSION if stored is None else str(uuid4())
            await self._put(name, token, options.value(value))

    async def delete(self, target: RemoteTarget) -> None:
        """Delete a secret as the store says, or one property, if the secret is ours."""
        name = target.remote_key
        described = await self._api.look_up("describe_secret", SecretId=name)
        if described is None or described.get("DeletedDate") or not is_ours(tag_map(described.get("Tags"))):
            return
        stored = await self._stored(name) if target.property else None
        if stored is not None:
            held = stored.value.raw
            remaining = await self._compute(lambda work: sjson.remove(held, target.property, work))
            if remaining is not None:
                if remaining != held:
                    await self._put(name, str(uuid4()), {stored.field: _as_field(stored.field, remaining)})
                return
        await secret_attributes.drop_replicas(self._api, name, described)
        await self._api.call("delete_secret", SecretId=described.get("ARN", name), **self._deletion_options())

    async def exists(self, target: RemoteTarget) -> bool:
        """Whether there is a value, or a property of it."""
        stored = await self._stored(target.remote_key)
        if stored is None or not target.property:
            return stored is not None
        held = stored.value.raw
        return await self._compute(lambda work: sjson.has(held, target.property, work))

    async def _new_value(self, item: PushItem, stored: _Stored | None) -> bytes:
        """The new value: the item's, or the existing one with the item's property set."""
        if not item.property:
            return item.value.raw
        held = stored.value.raw if stored is not None else b""
        return await self._compute(lambda work: sjson.put(held, item.property, item.value.raw, work))

    def _deletion_options(self) -> dict[str, object]:
        manner: dict[str, object] = {}
        if self._deletion.force_delete_without_recovery:
            manner["ForceDeleteWithoutRecovery"] = True
        if self._deletion.recovery_window_in_days:
            manner["RecoveryWindowInDays"] = self._deletion.recovery_window_in_days
        return manner

    async def _stored(self, name: str) -> _Stored | None:
        answer = await self._api.look_up("get_secret_value", SecretId=name)
        if answer is None:
            return None
        text: str | None = answer.get("SecretString")
        if text is not None:
            return _Stored(SecretBytes(text.encode()), "SecretString")
        return _Stored(SecretBytes(answer.get("SecretBinary", b"")), "SecretBinary")

    async def _create(self, item: PushItem, options: SecretPush) -> None:
        value = options.value(await self._new_value(item, None))
        policy = await secret_attributes.policy(
            self._credentials, item, options.resource_policy, self._compute
        )
        replicas = secret_attributes.replicas(options.replication_locations or (), options.key)
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
            await secret_attributes.put_policy(self._api, item.remote_key, policy, options.resource_policy)

    async def _put(self, name: str, token: str, value: Mapping[str, object]) -> None:
        await self._api.call("put_secret_value", SecretId=name, ClientRequestToken=token, **value)


def _as_field(form: str, raw: bytes) -> object:
    return raw.decode("utf-8", "replace") if form == "SecretString" else raw


BATCH: Final = 20
"""Secrets in one BatchGetSecretValue."""

_MOST_IN_ANSWER: Final = 50 * BATCH
"""Entries of all pages that answer one batch; AWS sends one for each secret."""

_PAGE: Final = 100
_CURRENT: Final = "AWSCURRENT"
_BY_ID: Final = "uuid/"


class SecretsManagerClient(BatchedService):
    """Reads, finds, writes and probes. A version is a stage (`AWSPREVIOUS`), or an ID: `uuid/<id>`."""

    batch_size = BATCH

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        current = {
            key: self._prefix + key.key for key in keys if not key.metadata and key.version in {"", _CURRENT}
        }
        found = await self._read_values(list(dict.fromkeys(current.values())))
        answers = {key: found[name] for key, name in current.items() if name in found}
        for key in keys:
            if key not in current:
                call = self._read_tags if key.metadata else partial(self._read_one, version=key.version)
                for answer in (await read_by_name([self._prefix + key.key], call)).values():
                    answers[key] = answer
        return answers

    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        check_query(query)
        return await self._read_matches(await self._find_names(query, paced, work), paced)

    async def _read_batch(self, names: Sequence[str], paced: Paced) -> Answers:
        """Read one batch. Only what AWS reports as absent is absent."""
        values: dict[str, SecretBytes | SyncError] = {}
        absent: set[str] = set()
        answered = entries(
            self._api,
            "batch_get_secret_value",
            {"SecretIdList": list(names)},
            reading(paced, len(names)),
            members=("SecretValues", "Errors"),
            most=_MOST_IN_ANSWER,
        )
        async for entry in answered:
            if "ErrorCode" not in entry:
                arn = str(entry.get("ARN", ""))
                # A secret is requested by its name, its ARN, or its ARN without the six random letters.
                called = {entry.get("Name", ""), arn, arn.rpartition("-")[0]}
                values |= dict.fromkeys(called.intersection(names), _value(entry))
                continue
            name = str(entry.get("SecretId", ""))
            error = error_of_code("GetSecretValue", str(entry["ErrorCode"]), str(entry.get("Message")))
            if name in names and isinstance(error, Absent):
                absent.add(name)
            elif name in names:
                values[name] = error
        return answers_of("BatchGetSecretValue", names, values, absent)

    async def _read_one(self, name: str, version: str = "") -> SecretBytes:
        which = {}
        if version.startswith(_BY_ID):
            which = {"VersionId": version.removeprefix(_BY_ID)}
        elif version:
            which = {"VersionStage": version}
        found = _value(await self._api.call("get_secret_value", SecretId=name, **which))
        if isinstance(found, SyncError):
            raise found
        return found

    async def _read_tags(self, name: str) -> SecretBytes:
        answer = await self._api.call("describe_secret", SecretId=name)
        return SecretBytes(gojson.marshal(tag_map(answer.get("Tags")), Work()).encode())

    async def _find_names(self, query: FindQuery, paced: Paced, work: Work) -> Matches:
        """The names of the secrets that match. AWS filters by prefix; equality is checked here."""
        wanted = regexp.matcher(query.name or "", work)
        tags = dict(query.tags or ())
        filters = [{"Key": "name", "Values": [query.path]}] if query.path else []
        for key, value in tags.items():
            filters += [{"Key": "tag-key", "Values": [key]}, {"Key": "tag-value", "Values": [value]}]
        parameters = {"Filters": filters, "MaxResults": _PAGE}
        found = Matches()
        async for entry in entries(self._api, "list_secrets", parameters, paced, members=("SecretList",)):
            if wanted(entry["Name"]) and tags.items() <= tag_map(entry.get("Tags")).items():
                found.add_name(entry["Name"])
        return found


def _value(entry: Mapping[str, Any]) -> SecretBytes | SyncError:
    if entry.get("SecretString") is not None:
        return SecretBytes(entry["SecretString"].encode())
    if entry.get("SecretBinary") is not None:
        return SecretBytes(entry["SecretBinary"])
    return Malformed(
        "invalid secret received. no secret string nor binary", hint="give the secret a value first"
    )
