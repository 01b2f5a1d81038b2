"""AWS: how many calls two thousand objects make, what a client weighs, and what a storm of throttling costs.

The manager is moto behind the gateway of the tests, which counts and verifies every call.
"""

import asyncio
import gc
import math
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from bench.cluster import GROUP, Bench, bench, external_secret
from bench.figures import Figure
from syncret.config.fields import SecretKeySelector
from syncret.config.meta import Document
from syncret.config.settings import Settings
from syncret.providers.aws import open_aws
from syncret.providers.aws.secrets_manager import BATCH
from syncret.providers.aws.spec import AwsAuth, AwsSecretRef, AwsSpec
from syncret.providers.values import RemoteKey
from tests.support.opened import Given, context
from tests.support.servers.aws import REGION, SERVICES, Call, Fault, Gateway, gateway, moto_server

OBJECTS: Final = 2000
SECRETS: Final = 200
STORM: Final = 500
CLIENTS: Final = 50
RATE: Final = 5.0
RETRY_AFTER: Final = 3.0
STORM_BEGINS: Final = 8
"""The number of the call with which it begins."""
TOLERANCE: Final = 0.01
"""Seconds by which the clocks of server and client may differ."""
LONGEST_WAIT: Final = 120.0
WEIGHT: Final = 0.4
MEGABYTE: Final = 1e6


def measure(folder: Path, *, smoke: bool) -> Iterator[Figure]:
    """In this process: calls and bytes are counted, not timed."""
    del folder
    part = 20 if smoke else 1
    with moto_server() as moto:
        for service, operation, most in (
            ("SecretsManager", "BatchGetSecretValue", 10),
            ("ParameterStore", "GetParameters", 20),
        ):
            calls = asyncio.run(_calls(moto, service, OBJECTS // part, SECRETS // part))
            own, others = calls.count(operation), len(calls) - calls.count(operation)
            yield Figure(
                f"{OBJECTS // part} ExternalSecrets on {SECRETS // part} keys of AWS {service}: calls",
                f"<= {most} {operation} + 0 others",
                f"{own} + {others}",
                own <= most and not others,
            )
        for what, megabytes in asyncio.run(_weights(moto, CLIENTS // part + 1)).items():
            goal, figure = f"<= {WEIGHT} MB", f"{megabytes:.2f} MB"
            yield Figure(f"client memory per AWS store, {what}", goal, figure, megabytes <= WEIGHT)
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
            await one.running.engine.wait_idle()
            assert _synced(one) == objects
        return [call.operation for call in gate.calls]


def _synced(one: Bench) -> int:
    kept = (run for run in one.witness.runs if run.ref.kind == "ExternalSecret" and run.failure is None)
    return len({run.ref for run in kept})


async def _weights(moto: str, clients: int) -> dict[str, float]:
    """Memory that each further client takes: opened, and after its first calls. In megabytes, resident."""
    async with _manager(moto, "SecretsManager", 1) as gate, AsyncExitStack() as stack:
        [(key, person)] = gate.people.items()
        given = Given(secrets={"aws": {"id": key.encode(), "secret": person.secret.encode()}})
        spec = AwsSpec(service="SecretsManager", region=REGION, auth=_AUTH)
        opened = [await stack.enter_async_context(open_aws(spec, context(given)))]
        await opened[0].fetch([RemoteKey("/key-0")])
        before = _resident()
        opened += [await stack.enter_async_context(open_aws(spec, context(given))) for _ in range(clients)]
        open_ = _resident()
        for client in opened:
            await client.fetch([RemoteKey("/key-0")])
        used = _resident()
    return {"open": (open_ - before) / clients, "after a call": (used - before) / clients}


_AUTH: Final = AwsAuth(
    secret_ref=AwsSecretRef(
        access_key_id_secret_ref=SecretKeySelector(name="aws", key="id"),
        secret_access_key_secret_ref=SecretKeySelector(name="aws", key="secret"),
    )
)


def _resident() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


class Storm:
    """A manager that grants five calls a second; after some calls it grants none for three seconds.

    Calls in those seconds are answered with 429 and Retry-After.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.refused = 0
        self.early = 0
        """Calls that came before the time that Retry-After gave."""
        self._tokens, self._last = RATE, time.monotonic()
        self._closed = 0.0

    def __call__(self, call: Call) -> Fault | None:
        if not call.operation.endswith("GetSecretValue"):
            return None
        now = time.monotonic()
        self._tokens, self._last = min(RATE, self._tokens + (now - self._last) * RATE), now
        self.early += now < self._closed - TOLERANCE
        self.calls += 1
        if self.calls == STORM_BEGINS:
            self._closed = now + RETRY_AFTER
        elif now >= self._closed and self._tokens >= 1:
            self._tokens -= 1
            return None
        self.refused += 1
        headers = {"Retry-After": f"{max(1, math.ceil(self._closed - now))}"}
        return Fault(429, "ThrottlingException", "Rate exceeded", headers)


async def _storm(moto: str, keys: int) -> list[Figure]:
    """All keys are due together, on a store with a bucket of five calls a second."""
    least = -(-keys // BATCH)
    async with _manager(moto, "SecretsManager", keys) as gate:
        storm = Storm()
        gate.fault = storm
        settings = Settings(requests_per_second=RATE, burst=int(RATE))
        begin = time.monotonic()
        async with bench(manifests=_manifests(gate, "SecretsManager", keys, keys), settings=settings) as one:
            while _synced(one) < keys and time.monotonic() - begin < LONGEST_WAIT:  # noqa: ASYNC110  # no event
                await asyncio.sleep(0.1)
            synced, seconds = _synced(one), time.monotonic() - begin
    return [
        Figure(
            f"429 storm, bucket {RATE:g}/s, {keys} keys: calls before Retry-After",
            "0",
            f"{storm.early} ({storm.refused} of {storm.calls} calls were refused)",
            storm.early == 0,
        ),
        Figure(
            f"429 storm, bucket {RATE:g}/s, {keys} keys: calls in all",
            f"<= 1.15 x {least}",
            f"{storm.calls} ({storm.calls / least:.2f} x), all synced after {seconds:.0f} s",
            storm.calls <= 1.15 * least and synced == keys,
        ),
    ]
