"""Reads single values from stores that are given as documents, once: the tags `@secret(...)` of a release.

The engine reads them as it would for an ExternalSecret each, in a cluster in memory that ends with the run.
"""

import asyncio
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from syncret.config.meta import Document, ObjectRef, member
from syncret.config.resources.kinds import EXTERNAL_SECRET, SECRET
from syncret.config.settings import Settings
from syncret.daemon.app import run_engine
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.contract import HomeError, Invalid
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.metadata import random_uid
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.providers.registry import Registry
from syncret.providers.values import SecretBytes

KEY: Final = "value"
_NAME: Final = "syncret-read"


class Wanted(Struct, frozen=True):
    """One value: the store that has it, the entry, and a property of it."""

    store: Document
    namespace: str
    key: str
    property: str


class Unread(Struct, frozen=True):
    """Why a value could not be read."""

    message: str
    hint: str = ""


def read_values(
    objects: Sequence[Document], wanted: Sequence[Wanted], settings: Settings, registry: Registry
) -> list[SecretBytes | Unread]:
    """The values, in the order in which they are wanted; `objects` are the stores and what these refer to."""
    return asyncio.run(_read(objects, wanted, settings, registry))


async def _read(
    objects: Sequence[Document], wanted: Sequence[Wanted], settings: Settings, registry: Registry
) -> list[SecretBytes | Unread]:
    clock = Clock()
    cluster = MemoryCluster(now=clock.now, new_uid=random_uid, admission=admission_by(registry))
    refused: dict[tuple[str, str], str] = {}
    for document in objects:
        try:
            await cluster.apply(document)
        except HomeError as error:
            problems = error.problems if isinstance(error, Invalid) else ()
            refused[_named(document)] = "; ".join(map(str, problems)) or str(error)
    failures: Mapping[ObjectRef, Unread]
    async with run_engine(cluster, registry=registry, settings=settings, clock=clock) as running:
        refs = [await _ask(cluster, each, number) for number, each in enumerate(wanted)]
        await running.engine.wait_idle()
        failures = {ref: _failure(ref, running.context.memory.failure(ref)) for ref in refs}
        found = [await _value(cluster, ref) for ref in refs]
    return [
        value if value is not None else _unread(each, refused, failures[ref])
        for each, ref, value in zip(wanted, refs, found, strict=True)
    ]


def _named(document: Document) -> tuple[str, str]:
    return (str(document.get("kind")), str(member(document, "metadata").get("name")))


def _unread(wanted: Wanted, refused: Mapping[tuple[str, str], str], failure: Unread) -> Unread:
    store = (str(wanted.store.get("kind")), str(wanted.store.get("name")))
    if store in refused:
        return Unread(f"{'/'.join(store)} is not valid: {refused[store]}", "see `syncret validate`")
    return failure


def _failure(ref: ObjectRef, error: object) -> Unread:
    message = getattr(error, "message", "") or f"{ref} was not read"
    return Unread(str(message), str(getattr(error, "hint", "")))


async def _ask(cluster: MemoryCluster, wanted: Wanted, number: int) -> ObjectRef:
    name = f"{_NAME}-{number}"
    stored = await cluster.apply(
        {
            "apiVersion": "external-secrets.io/v1",
            "kind": EXTERNAL_SECRET.kind,
            "metadata": {"name": name, "namespace": wanted.namespace},
            "spec": {
                "refreshPolicy": "OnChange",
                "secretStoreRef": wanted.store,
                "target": {"name": name},
                "data": [{"secretKey": KEY, "remoteRef": {"key": wanted.key, "property": wanted.property}}],
            },
        }
    )
    return stored.ref


async def _value(cluster: MemoryCluster, ref: ObjectRef) -> SecretBytes | None:
    stored = await cluster.get(ObjectRef("", SECRET.kind, ref.namespace, ref.name))
    encoded = None if stored is None else member(stored.document, "data").get(KEY)
    return SecretBytes(b64decode(encoded)) if isinstance(encoded, str) else None
