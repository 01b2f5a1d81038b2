"""Calls of a client, made as the engine makes them."""

import json
from base64 import b64encode
from collections.abc import Mapping

from syncret.config.meta import Document, is_object
from syncret.providers.contract import Client, Finder, Prober, Reader, Writer
from syncret.providers.errors import Denied, SyncError
from syncret.providers.pushes import PushItem
from syncret.providers.values import RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work


def reader(client: Client) -> Reader:
    assert isinstance(client, Reader), f"{client!r} is no Reader, and its harness does not say so"
    return client


def finder(client: Client) -> Finder:
    assert isinstance(client, Finder), f"{client!r} is no Finder, and its harness does not say so"
    return client


def writer(client: Client) -> Writer:
    assert isinstance(client, Writer), f"{client!r} is no Writer, and its harness does not say so"
    return client


def prober(client: Client) -> Prober:
    assert isinstance(client, Prober), f"{client!r} is no Prober, and its harness does not say so"
    return client


async def read(client: Client, ref: RemoteRef) -> bytes | None:
    """One value, as the engine reads it."""
    payload = await _fetched(client, ref)
    found = None if payload is None else reader(client).value(payload, ref, Work())
    return None if found is None else found.raw


async def failing(client: Client, key: RemoteKey) -> None:
    """Raise the error of the key; Unavailable and Throttled the client must raise itself."""
    found = (await reader(client).fetch([key])).get(key)
    assert isinstance(found, Denied), "the engine waits, or tries again, only where the whole call fails"
    raise found


async def fields(client: Client, ref: RemoteRef) -> SecretMap | None:
    """One value as a map, as the engine reads it."""
    payload = await _fetched(client, ref)
    return None if payload is None else reader(client).fields(payload, ref, Work())


async def _fetched(client: Client, ref: RemoteRef) -> object:
    payload = (await reader(client).fetch([ref.remote_key()])).get(ref.remote_key())
    if isinstance(payload, SyncError):
        raise payload
    return payload


def item(key: str, value: bytes, name: str = "") -> PushItem:
    """A push of one key of a Secret or, where the value is an object of strings, of a whole Secret."""
    try:
        members = json.loads(value)
    except ValueError:
        members = None
    if name or not is_object(members):
        source = {"k": value}
        return PushItem(key, name, SecretBytes(value), secret_key="k", source=secret(source))
    return PushItem(key, "", SecretBytes(value), source=secret({k: v.encode() for k, v in members.items()}))


def secret(data: Mapping[str, bytes]) -> Document:
    """The Secret that is pushed."""
    encoded = {key: b64encode(value).decode() for key, value in data.items()}
    metadata = {"name": "source", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": encoded}


def chain(error: BaseException | None) -> str:
    """Everything that can be printed of an error."""
    text = ""
    while error is not None:
        text += f"{error!r} {error} {getattr(error, 'hint', '')} {vars(error)} "
        error = error.__cause__ or error.__context__
    return text
