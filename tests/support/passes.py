"""One pass of the daemon over manifests, and what an operator reads of it."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.config.settings import Settings
from syncret.daemon.one_pass import SyncResult, one_pass
from syncret.providers.registry import Registry


def login(name: str, value: str, labels: dict[str, str] | None = None) -> Document:
    """The Secret `login` with one key."""
    metadata = {"name": "login", "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {name: value}}


def store(provider: str, spec: Json) -> Document:
    """The SecretStore `s`."""
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "SecretStore",
        "metadata": {"name": "s"},
        "spec": {"provider": {provider: spec}},
    }


def external(name: str, **entries: Json) -> Document:
    """An ExternalSecret of the store `s`: its `data`, or its `dataFrom`."""
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": name},
        "spec": {"secretStoreRef": {"name": "s"}, **entries},
    }


async def passed(folder: Path, *documents: Document, secrets: Sequence[str]) -> SyncResult:
    """What one pass comes to. None of the secrets is told, but in the Secrets themselves."""
    manifests = folder / "manifests"
    manifests.mkdir(parents=True)
    for number, document in enumerate(documents):
        (manifests / f"{number}.json").write_text(json.dumps(document))
    settings = Settings(
        manifests=(os.fspath(manifests),),
        output_dir=os.fspath(folder / "out"),
        state_file="",
        call_attempts=1,
        requests_per_second=1000.0,
    )
    result = await one_pass(settings, Registry())
    said = json.dumps([document for document in result.resources if document["kind"] != "Secret"])
    said += repr(result.failures)
    assert not [number for number, secret in enumerate(secrets) if secret in said]
    return result


def ready(result: SyncResult, kind: str, name: str = "") -> tuple[str, str]:
    """Status and reason of the condition Ready of the one object of a kind (of this name)."""
    [document] = [
        each
        for each in result.resources
        if each["kind"] == kind and (not name or each["metadata"]["name"] == name)
    ]
    [condition] = [each for each in document["status"]["conditions"] if each["type"] == "Ready"]
    return condition["status"], condition["reason"]
