"""AWS: how many calls two thousand objects make, what a client weighs, and what a storm of throttling costs.

The manager is moto behind the gateway of the tests, which counts and verifies every call.
"""

import asyncio
import gc
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from bench.cluster import GROUP, Bench, bench, external_secret
from bench.figures import Figure
from syncret.config.fields import SecretKeySelector
from syncret.config.meta import Document
from syncret.config.settings import Settings
from syncret.providers.aws import open_aws
from syncret.providers.aws.spec import AwsAuth, AwsSecretRef, AwsSpec
from tests.servers.aws import REGION, SERVICES, Call, Fault, Gateway, gateway, moto_server
from tests.support.opened import Given, context

OBJECTS: Final = 2000
SECRETS: Final = 200
STORM: Final = 500
CLIENTS: Final = 50
RATE: Final = 5.0
RETRY_AFTER: Final = 3.0
MEGABYTE: Final = 1e6


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """In this process: calls and bytes are counted, not timed."""
    del folder
    part = 20 if smoke else 1
    with moto_server() as moto:
        for service, operation, goal in (
            ("SecretsManager", "BatchGetSecretValue", 10),
            ("ParameterStore", "GetParameters", 20),
        ):
            calls = asyncio.run(_calls(moto, service, OBJECTS // part, SECRETS // part))
            own, others = calls.count(operation), len(calls) - calls.count(operation)
            yield Figure(
                f"{OBJECTS // part} ExternalSecrets on {SECRETS // part} keys of AWS {service}: calls",
                f"<= {goal} {operation} + 0 others",
                f"{own} + {others}",
                own <= goal and not others,
            )
        for what, megabytes in asyncio.run(_weights(moto, CLIENTS // part + 1)).items():
            yield Figure(f"an AWS store's client, {what}", "<= 0.4 MB", f"{megabytes:.2f} MB", megabytes <= 0.4)  # noqa: PLR2004  # the goal
        yield from asyncio.run(_storm(moto, STORM // part))


@asynccontextmanager
async def _manager(moto: str, service: str, keys: int) -> AsyncIterator[Gateway]:
    """A manager with so many keys, to which all variables lead."""
    before = dict(os.environ)
    async with gateway(moto) as (gate, address):
        os.environ |= {f"AWS_{name}_ENDPOINT": address for name in SERVICES}
        try:
            for number in range(keys):
                await _seed(gate, service, f"/key-{number}")
            yield gate
        finally:
            os.environ.clear()
            os.environ |= before


async def _seed(gate: Gateway, service: str, name: str) -> None:
    if service == "SecretsManager":
        await gate.behind("secretsmanager", "CreateSecret", Name=name, SecretString="value")
    else:
        await gate.behind("ssm", "PutParameter", Name=name, Value="value", Type="String")


def _manifests(gate: Gateway, service: str, objects: int, keys: int) -> Iterator[Document]:
    """One store with static keys, and so many ExternalSecrets of one key each."""
    [(key, person)] = gate.people.items()
    refs = {
        "accessKeyIDSecretRef": {"name": "aws", "key": "id"},
        "secretAccessKeySecretRef": {"name": "aws", "key": "secret"},
    }
    metadata = {"name": "aws", "namespace": "team"}
    data = {"id": key, "secret": person.secret}
    spec = {"provider": {"aws": {"service": service, "region": REGION, "auth": {"secretRef": refs}}}}
    yield {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data}
    yield {"apiVersion": f"{GROUP}/v1", "kind": "SecretStore", "metadata": metadata, "spec": spec}
    for number in range(objects):
        yield external_secret(f"app-{number}", "aws", f"/key-{number % keys}")


async def _calls(moto: str, service: str, objects: int, keys: int) -> list[str]:
    """The operations of the first sync."""
    async with _manager(moto, service, keys) as gate:
        async with bench(manifests=_manifests(gate, service, objects, keys)) as one:
            await one.running.engine.settled()
            assert _synced(one) == objects
        return [call.operation for call in gate.calls]


def _synced(one: Bench) -> int:
    kept = (run for run in one.witness.runs if run.ref.kind == "ExternalSecret" and run.failure is None)
    return len({run.ref for run in kept})
