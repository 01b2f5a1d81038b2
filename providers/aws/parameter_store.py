"""AWS Parameter Store: reads by exact name in batches of ten, finds by name, path and tags, writes.

Only parameters with our tag are changed, and only if they differ. A parameter is one value: as in ESO, the
property of a push is ignored.
"""

import json
from base64 import b64encode
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from syncret.providers.aws import push_specs
from syncret.providers.aws.push_specs import ParameterPush
from syncret.providers.aws.reading import Answers, BatchedService, answers_of, read_by_name
from syncret.providers.aws.service import (
    Absent,
    Api,
    Forbidden,
    check_query,
    entries,
    obsolete_tags,
    tag_list,
    tag_map,
)
from syncret.providers.contract import Compute, Paced
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit import references
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Matches
from syncret.providers.kit.push_options import is_ours, not_ours
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes, SecretMap
from syncret.providers.work import Work

_KIND: Final = "Parameter"


class ParameterStoreWriter:
    """Creates, changes and deletes parameters. Names already have the store's prefix."""

    def __init__(self, api: Api, compute: Compute) -> None:
        self._api = api
        self._compute = compute

    async def push(self, item: PushItem) -> None:
        """Store a value. Raises Malformed for a parameter that is not ours."""
        name = item.remote_key
        options = push_specs.options(item.metadata, ParameterPush)
        raw = await self._compute(lambda work: _value(item, options, work))
        value = references.as_text(raw, "Parameter Store holds text: use SecretsManager")
        if not value:
            raise Malformed("the value is empty", hint="Parameter Store holds no empty values")
        stored = await self._stored(name)
        if stored is None:
            tags = tag_list(options.all_tags())
            await self._api.call(
                "put_parameter", Tags=tags, Overwrite=False, **_put_request(name, value, options)
            )
            return
        tags_there = await self._tags(name)
        if not is_ours(tags_there):
            raise not_ours("secret not managed by external-secrets", name, "tag")
        if stored != value:
            await self._api.call("put_parameter", Overwrite=True, **_put_request(name, value, options))
        if options.tags:
            await self._set_tags(name, tags_there, options.all_tags())

    async def delete(self, target: RemoteTarget) -> None:
        """Delete a parameter, if it is ours."""
        try:
            if not is_ours(await self._tags(target.remote_key)):
                return
            await self._api.call("delete_parameter", Name=target.remote_key)
        except Absent:
            return

    async def exists(self, target: RemoteTarget) -> bool:
        """Whether there is such a parameter."""
        return await self._stored(target.remote_key) is not None

    async def _stored(self, name: str) -> str | None:
        answer = await self._api.look_up("get_parameter", Name=name, WithDecryption=True)
        if answer is None:
            return None
        value: str = answer["Parameter"]["Value"]
        return value

    async def _tags(self, name: str) -> dict[str, str]:
        answer = await self._api.call("list_tags_for_resource", ResourceType=_KIND, ResourceId=name)
        return tag_map(answer.get("TagList"))

    async def _set_tags(self, name: str, current: dict[str, str], wanted: dict[str, str]) -> None:
        unwanted = obsolete_tags(current, wanted)
        if unwanted:
            await self._api.call(
                "remove_tags_from_resource", ResourceType=_KIND, ResourceId=name, TagKeys=unwanted
            )
        if not wanted.items() <= current.items():
            await self._api.call(
                "add_tags_to_resource", ResourceType=_KIND, ResourceId=name, Tags=tag_list(wanted)
            )


def _value(item: PushItem, options: ParameterPush, work: Work) -> bytes:
    """The item's value. A whole Secret is a JSON object of base64, unless its metadata asks for decoding."""
    if item.secret_key or options.encode_as_decoded:
        return item.value.raw
    data: dict[str, str] = item.source.get("data") or {}
    whole = gojson.unmarshal_object(item.value.raw, work)
    encoded = {key: data.get(key) or b64encode(str(value).encode()).decode() for key, value in whole.items()}
    return gojson.marshal(encoded, work).encode()


def _put_request(name: str, value: str, options: ParameterPush) -> dict[str, Any]:
    put: dict[str, Any] = {
        "Name": name,
        "Value": value,
        "Type": options.secret_type or "String",
        "Description": options.description or push_specs.DESCRIPTION,
    }
    if options.secret_type == "SecureString":
        put["KeyId"] = options.kms_key_id or "alias/aws/ssm"
    if options.tier.type in {"Advanced", "Intelligent-Tiering"}:
        put["Tier"] = options.tier.type
        if options.tier.policies is not None:
            put["Policies"] = json.dumps(options.tier.policies)
    return put


BATCH: Final = 10
"""Parameters in one GetParameters, and in one page of GetParametersByPath."""

_PAGE: Final = 50
_ROOT: Final = "/"
_VERSION: Final = ":"
"""Stands between a name and its version or label; also in ARNs, but not in names."""


class ParameterStoreClient(BatchedService):
    """Reads, finds, writes and probes. A version is a number or a label."""

    batch_size = BATCH

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        names = {key: self._name(key) for key in keys}
        values: Answers = {}
        for together in self._batches(key for key in keys if not key.metadata):
            values |= await self._read_values(together)
        tags = await read_by_name((name for key, name in names.items() if key.metadata), self._read_tags)
        found = {key: (tags if key.metadata else values).get(name) for key, name in names.items()}
        return {key: value for key, value in found.items() if value is not None}

    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        check_query(query)
        if query.tags:
            return await self._find_described(query, paced, work)
        try:
            return await self._find_by_path(query, paced, work)
        except Forbidden:
            pass  # older policies allow only the other operation
        return await self._find_described(query, paced, work)

    def _name(self, key: RemoteKey) -> str:
        name = self._prefix + key.key
        return f"{name}{_VERSION}{key.version}" if key.version and not key.metadata else name

    def _batches(self, keys: Iterable[RemoteKey]) -> list[list[str]]:
        """Names in batches, none with a parameter twice: AWS may not accept two versions in one call."""
        lists: list[dict[str, str]] = []
        for key in keys:
            free = next((names for names in lists if key.key not in names), None)
            if free is None:
                lists.append(free := {})
            free[key.key] = self._name(key)
        return [list(names.values()) for names in lists]

    async def _read_batch(self, names: Sequence[str], paced: Paced) -> Answers:
        """Read one batch. Only what AWS reports as absent is absent."""
        request = partial(self._api.call, "get_parameters", Names=list(names), WithDecryption=True)
        answer = await paced(request, reads=len(names))
        values: dict[str, SecretBytes | SyncError] = {}
        for parameter in answer.get("Parameters", ()):
            selector = parameter.get("Selector") or ""
            value = SecretBytes(parameter.get("Value", "").encode())
            values |= dict.fromkeys(
                (parameter.get("Name", "") + selector, parameter.get("ARN", "") + selector), value
            )
        absent = set(answer.get("InvalidParameters", ()))
        # AWS does not say what is missing: the parameter, or only this version or label of it.
        versioned = [name for name in names if name in absent and _VERSION in name]
        alone = await read_by_name(versioned, self._read_one, paced)
        return answers_of("GetParameters", names, values | alone, absent - alone.keys())

    async def _read_one(self, name: str) -> SecretBytes:
        answer = await self._api.call("get_parameter", Name=name, WithDecryption=True)
        value = answer.get("Parameter", {}).get("Value")
        if value is None:
            raise Malformed("invalid secret received. parameter value is nil")
        return SecretBytes(value.encode())

    async def _read_tags(self, name: str) -> SecretBytes:
        answer = await self._api.call("list_tags_for_resource", ResourceType="Parameter", ResourceId=name)
        return SecretBytes(gojson.marshal(tag_map(answer.get("TagList")), Work()).encode())

    async def _find_by_path(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        wanted = regexp.matcher(query.name or "", work)
        found = Matches()
        parameters = self._parameters(
            "get_parameters_by_path",
            paced,
            Path=query.path or _ROOT,
            Recursive=True,
            WithDecryption=True,
            MaxResults=BATCH,
        )
        async for parameter in parameters:
            if wanted(parameter["Name"]):
                found.add_value(parameter["Name"], SecretBytes(parameter.get("Value", "").encode()))
        return found.values

    async def _find_described(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        wanted = regexp.matcher(query.name or "", work)
        filters = [
            {"Key": f"tag:{key}", "Option": "Equals", "Values": [value]} for key, value in query.tags or ()
        ]
        if query.path:
            filters.append({"Key": "Path", "Option": "Recursive", "Values": [query.path]})
        parameters = self._parameters(
            "describe_parameters", paced, ParameterFilters=filters, MaxResults=_PAGE
        )
        found = Matches()
        async for parameter in parameters:
            if wanted(parameter["Name"]):
                found.add_name(parameter["Name"])
        return await self._read_matches(found, paced)

    def _parameters(
        self, operation: str, paced: Paced, **parameters: object
    ) -> AsyncGenerator[dict[str, Any], None]:
        return entries(self._api, operation, parameters, paced, members=("Parameters",))
