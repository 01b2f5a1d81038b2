"""Writes to AWS Parameter Store: only what carries our tag, and only what differs from what stands there.

A parameter is one value: as in ESO, the property of a push means nothing here.
"""

import json
from base64 import b64encode
from typing import Any, Final

from syncret.providers.aws import push_specs
from syncret.providers.aws.api import Absent, Api, surplus, tag_list, tag_map
from syncret.providers.aws.push_specs import ParameterPush
from syncret.providers.contract import PushItem, RemoteTarget
from syncret.providers.errors import Malformed
from syncret.providers.kit import gojson, texts
from syncret.providers.kit.ownership import foreign, is_ours

_KIND: Final = "Parameter"


class ParameterStoreWriter:
    """Creates, changes and deletes parameters. Names have the store's prefix already."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def push(self, item: PushItem) -> None:
        """Store a value. Raises Malformed for a parameter that is not ours."""
        name = item.remote_key
        options = push_specs.options(item.metadata, ParameterPush)
        value = texts.pushed(_value(item, options), "Parameter Store holds text: use SecretsManager")
        if not value:
            raise Malformed("the value is empty", hint="Parameter Store holds no empty values")
        stored = await self._stored(name)
        if stored is None:
            tags = tag_list(options.all_tags())
            await self._api.call("put_parameter", Tags=tags, Overwrite=False, **_put(name, value, options))
            return
        tags_there = await self._tags(name)
        if not is_ours(tags_there):
            raise foreign("secret not managed by external-secrets", name, "tag")
        if stored != value:
            await self._api.call("put_parameter", Overwrite=True, **_put(name, value, options))
        if options.tags:
            await self._set_tags(name, tags_there, options.all_tags())

    async def delete(self, target: RemoteTarget) -> None:
        """Delete a parameter of ours. What is not ours stays."""
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
        try:
            answer = await self._api.call("get_parameter", Name=name, WithDecryption=True)
        except Absent:
            return None
        value: str = answer["Parameter"]["Value"]
        return value

    async def _tags(self, name: str) -> dict[str, str]:
        answer = await self._api.call("list_tags_for_resource", ResourceType=_KIND, ResourceId=name)
        return tag_map(answer.get("TagList"))

    async def _set_tags(self, name: str, current: dict[str, str], wanted: dict[str, str]) -> None:
        unwanted = surplus(current, wanted)
        if unwanted:
            await self._api.call(
                "remove_tags_from_resource", ResourceType=_KIND, ResourceId=name, TagKeys=unwanted
            )
        if not wanted.items() <= current.items():
            await self._api.call(
                "add_tags_to_resource", ResourceType=_KIND, ResourceId=name, Tags=tag_list(wanted)
            )


def _value(item: PushItem, options: ParameterPush) -> bytes:
    """The item's value. A whole Secret is an object of base64, unless its metadata wishes it decoded."""
    if item.secret_key or options.encode_as_decoded:
        return item.value.raw
    data: dict[str, str] = item.source.get("data") or {}
    whole = gojson.unmarshal_object(item.value.raw)
    encoded = {key: data.get(key) or b64encode(str(value).encode()).decode() for key, value in whole.items()}
    return gojson.marshal(encoded).encode()


def _put(name: str, value: str, options: ParameterPush) -> dict[str, Any]:
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
