"""Which data a push writes: as in the operator, a value that is JSON is stored as such."""

from base64 import b64decode
from binascii import Error
from typing import Any, cast

from syncret.config.fields import Json
from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.references import as_text
from syncret.providers.pushes import PushItem
from syncret.providers.work import Work


def pushed_data(item: PushItem, work: Work) -> dict[str, Json]:
    """The data of the secret: the keys of the Secret that is pushed, below the property if there is one."""
    values = {item.secret_key: item.value.raw} if item.secret_key else _all(item)
    data = {name: _stored(value, work) for name, value in values.items()}
    return {item.property: cast("Json", data)} if item.property else data


def _all(item: PushItem) -> dict[str, bytes]:
    source: dict[str, Any] = item.source.get("data") or {}
    try:
        return {name: b64decode(value, validate=True) for name, value in source.items()}
    except (Error, TypeError):
        pass
    raise Malformed("the Secret that is pushed holds no base64", hint="write it with stringData")


def _stored(value: bytes, work: Work) -> Json:
    try:
        return gojson.unmarshal(value, work)
    except Malformed:
        return as_text(value, "push it in base64")
