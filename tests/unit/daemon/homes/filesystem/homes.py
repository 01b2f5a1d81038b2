"""Manifests of the host home, and what is seen of its files."""

import asyncio
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from pathlib import Path

import pytest

from syncret.config.meta import Document, ObjectRef
from syncret.daemon.homes.contract import HomeProblem, StoredObject, WatchEventType
from syncret.daemon.homes.filesystem.home import HostHome
from syncret.daemon.homes.filesystem.output.names import TEMPORARY

VALUE = "hunter2-hunter2"
ES = ObjectRef("external-secrets.io", "ExternalSecret", "default", "app")
STORE = ObjectRef("external-secrets.io", "SecretStore", "default", "vault")
GIVEN = ObjectRef("", "Secret", "default", "given")
MADE = ObjectRef("", "Secret", "default", "made")

ES_YAML = """apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: app}
spec:
  refreshInterval: %s
  secretStoreRef: {name: vault}
  data: [{secretKey: a, remoteRef: {key: k}}]
"""
STORE_YAML = f"""apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: vault}}
spec: {{provider: {{fake: {{data: [{{key: k, value: {VALUE}}}]}}}}}}
"""
SECRET_YAML = f"""apiVersion: v1
kind: Secret
metadata: {{name: given, labels: {{a: b}}}}
stringData: {{user: anna, password: {VALUE}}}
"""

Opener = Callable[..., AbstractAsyncContextManager[HostHome]]


class Problems:
    """The last problems that were told."""

    def __init__(self) -> None:
        self.last: Sequence[HomeProblem] = ()

    def __call__(self, problems: Sequence[HomeProblem]) -> None:
        self.last = problems

    def __str__(self) -> str:
        return "\n".join(map(str, self.last))


def encoded(**data: str) -> dict[str, str]:
    return {key: b64encode(value.encode()).decode() for key, value in data.items()}


def made(owner: StoredObject | None = None, **data: str) -> Document:
    metadata: Document = {"name": MADE.name, "namespace": MADE.namespace}
    if owner is not None:
        metadata["ownerReferences"] = [
            {"apiVersion": "external-secrets.io/v1", "kind": ES.kind, "name": ES.name, "uid": owner.uid}
        ]
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded(**data)}


async def existing(home: HostHome, ref: ObjectRef) -> StoredObject:
    stored = await home.get(ref)
    assert stored is not None
    return stored


async def uid_at_start(opened: Opener, ref: ObjectRef) -> str:
    """The uid that an object has once the home has been opened; it is closed again."""
    async with opened() as home:
        return (await existing(home, ref)).uid


async def data_of(home: HostHome, ref: ObjectRef) -> dict[str, str]:
    document = (await existing(home, ref)).document
    data: dict[str, str] = document.get("data", {})
    return data


async def until(home: HostHome, ref: ObjectRef, *, there: bool = True) -> None:
    """Watch the home until an object is there, or gone."""
    async with asyncio.timeout(60), aclosing(home.watch()) as changes:
        async for change in changes:
            if change.type is WatchEventType.LISTED and (await home.get(ref) is not None) is there:
                return
            gone = change.type is WatchEventType.DELETED
            if change.object is not None and change.object.ref == ref and gone is not there:
                return


def tree(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def files(folder: Path) -> dict[str, str]:
    """Every file but those of sets that were replaced a moment ago."""
    found = [path for path in folder.rglob("*") if path.is_file() and TEMPORARY not in str(path)]
    return {str(path.relative_to(folder)): path.read_text() for path in found}


def is_anywhere(folder: Path, value: str) -> list[str]:
    """Files below a folder that hold a value, plain or in base64."""
    needles = (value.encode(), b64encode(value.encode()))
    return [
        path.name
        for path in folder.rglob("*")
        if path.is_file() and any(needle in path.read_bytes() for needle in needles)
    ]


def made_anew(folder: Path, *, before: Callable[[], None] = lambda: None) -> None:
    """Remove an empty folder and make it again, under the same inode number; skip where none is used again.

    `before` is called before each try.
    """
    for _ in range(50):
        before()
        number = folder.stat().st_ino
        folder.rmdir()
        folder.mkdir()
        if folder.stat().st_ino == number:
            return
    pytest.skip("this file system does not use an inode number again")
