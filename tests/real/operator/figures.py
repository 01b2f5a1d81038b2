"""The figures of the operator, one by one, with what they have to be."""

import asyncio
import statistics
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from syncret.config.meta import Document
from syncret.daemon.install.operator.choices import choices
from syncret.daemon.install.operator.rendering import wanted
from syncret.providers.registry import Registry
from tests.real.operator.operating import (
    ALLOWING,
    CONFIG,
    MANAGER,
    OPERAND,
    Administrator,
    environment,
    installed,
    remove_installation,
    versions,
)
from tests.real.operator.test_install import CHANGES, ours_of
from tests.support.servers.kube.cert_manager import GROUP, install_cert_manager, remove_cert_manager
from tests.support.servers.kube.kubelet import deployments, roll_out
from tests.support.servers.kube.running import KubeApi, Request

QUIET: Final = frozenset({"get", "list", "watch"})
SPEC: Final[Document] = {
    "appConfig": {"proxy": {"httpProxy": "http://proxy.example.com:3128"}},
    "controllerConfig": {"networkPolicies": [ALLOWING]},
}
ISSUER: Final = {"name": "ca", "kind": "Issuer", "group": "cert-manager.io"}

RENDERED_IN: Final = 0.005
INSTALLED_IN: Final = 5.0
REQUESTS: Final = 70
"""Of the default installation; each further object adds two: one tries it, one writes it."""

MEGABYTES: Final = 60.0
REPAIRED_IN: Final = 2.0
UNMANAGED_FOR: Final = 60.0
"""Seconds, or as long as the rest if that is shorter."""


class Figure(NamedTuple):
    """What was measured."""

    what: str
    goal: str
    got: str
    holds: bool

    def __str__(self) -> str:
        return f"{self.what:<64} {self.goal:<10} {self.got:<12} {'yes' if self.holds else 'NO'}"


class Process(NamedTuple):
    """The operator that is measured."""

    pid: int
    namespace: str
    account: str

    def megabytes(self) -> float:
        """What it has in memory now."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def asked(self, api: KubeApi) -> list[Request]:
        """All that it has asked for but watches and its Lease."""
        every = api.audited(self.namespace, self.account)
        return [each for each in every if each.verb != "watch" and each.resource != "leases"]

    def written(self, api: KubeApi) -> list[str]:
        """What it has written."""
        return [f"{each.verb} {each.uri}" for each in self.asked(api) if each.verb not in QUIET]


def within(what: str, took: float, goal: float) -> Figure:
    """A time in seconds."""
    return Figure(what, f"<= {goal:g} s", f"{took:.2f} s", took <= goal)


async def figures(api: KubeApi, process: Process, seconds: float) -> AsyncGenerator[Figure]:
    """Install, rest for so many seconds, change something of each kind, end the management, go on."""
    administrator = Administrator(api)
    yield rendering()
    await administrator.until(lambda: api.get(MANAGER), "it has begun")
    for what, spec in (("default", Document()), ("with a proxy and NetworkPolicies", SPEC)):
        await forget(administrator)
        async for figure in installing(administrator, process, what, spec):
            yield figure
    before = process.written(api)
    await asyncio.sleep(seconds)
    rest = process.written(api)[len(before) :]
    yield Figure(f"at rest for {seconds:g} s: writes", "0", str(len(rest)), not rest)
    size = process.megabytes()
    yield Figure("at rest: RSS", f"<= {MEGABYTES:g} MB", f"{size:.1f} MB", size <= MEGABYTES)
    async for figure in repairs(administrator):
        yield figure
    async for figure in unmanaged(administrator, min(UNMANAGED_FOR, seconds)):
        yield figure
    async for figure in appearing(administrator):
        yield figure


async def forget(administrator: Administrator) -> None:
    """Remove what is installed, once it is not managed any more: its rights go, too."""
    api = administrator.api
    if api.get(CONFIG) is not None:
        api.request("DELETE", CONFIG)
        await administrator.until(lambda: "not managed" in str(api.get(MANAGER)), "it has ended")
    remove_installation(api)
    await administrator.until(lambda: api.get(MANAGER), "all is forgotten")


def rendering() -> Figure:
    """Of all objects, once it is warm: seconds of the processor."""
    known, registry = environment("operator"), Registry()
    bitwarden = {"enabled": "true", "secretRef": {"name": "b"}}
    config = {
        "spec": {**SPEC, "appConfig": {**SPEC["appConfig"], "bitwardenSecretManagerProvider": bitwarden}}
    }
    taken: list[float] = []
    for _ in range(51):
        began = time.process_time()
        wanted(choices(config, {}, known), known, registry)
        taken.append(time.process_time() - began)
    median = statistics.median(taken)
    got = f"{median * 1000:.1f} ms"
    return Figure(
        "all objects rendered: processor", f"<= {RENDERED_IN * 1000:g} ms", got, median <= RENDERED_IN
    )


async def installing(
    administrator: Administrator, process: Process, what: str, spec: Document
) -> AsyncGenerator[Figure]:
    """From the configuration to the last Deployment, and to what the status says of them."""
    api, before = administrator.api, len(process.asked(administrator.api))
    began = time.monotonic()
    await administrator.configure(**spec)
    await administrator.until(lambda: len(deployments(api, OPERAND)) == 3, "Deployments are there")
    took = time.monotonic() - began
    await administrator.until_ready("False", "waits for Deployment")
    asked = process.asked(api)[before:]
    roll_out(api, OPERAND)
    await administrator.until_ready("True")
    yield within(f"install ({what}): until the Deployments are written", took, INSTALLED_IN)
    most, count = REQUESTS if not spec else 0, len(asked)
    yield Figure(
        f"install ({what}): requests", f"<= {most}" if most else "", str(count), count <= (most or count)
    )


# ------------------------------------------------------------------------------------------------- repairs
async def repairs(administrator: Administrator) -> AsyncGenerator[Figure]:
    """One object of each kind: its labels, its content and itself, until it is back."""
    api = administrator.api
    for path in one_of_each(api):
        async for figure in repairs_of(administrator, path):
            yield figure
            roll_out(api, OPERAND)
            await administrator.until_ready("True")


async def repairs_of(administrator: Administrator, path: str) -> AsyncGenerator[Figure]:
    """Of one object."""
    api = administrator.api
    for what, change in changes(api, path):
        ours = ours_of(api.get(path) or {})
        took = await timed(administrator, change, lambda: is_back(api, path, ours))  # noqa: B023
        plural = path.rpartition("/")[0].rpartition("/")[2]
        yield within(f"repaired: {plural}, {what}", took, REPAIRED_IN)


async def timed(
    administrator: Administrator, change: Callable[[], object], holds: Callable[[], object]
) -> float:
    """Seconds from a change, once the API server has it, until something holds."""
    change()
    began = time.monotonic()
    await administrator.until(holds, "the operator has acted")
    return time.monotonic() - began


def one_of_each(api: KubeApi) -> Iterator[str]:
    """The path of one object in each place, and of the namespace."""
    yield f"/api/v1/namespaces/{OPERAND}"
    yield from {path.rpartition("/")[0]: path for path in installed(api)}.values()


def changes(api: KubeApi, path: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """What others do to an object."""
    labels = {"metadata": {"labels": {"app": "theirs", "app.kubernetes.io/part-of": None}}}
    yield "its labels", lambda: api.request("PATCH", path, labels)
    document = api.get(path) or {}
    if document["kind"] == "Namespace":  # nobody brings it to its end here
        return
    if document["kind"] in CHANGES:
        content = CHANGES[document["kind"]](document)
        yield "its content", lambda: api.request("PATCH", path, content)
    yield "deleted", lambda: api.request("DELETE", path)


def is_back(api: KubeApi, path: str, ours: object) -> bool:
    """Whether an object is as it was."""
    now = api.get(path)
    return now is not None and ours_of(now) == ours


# ----------------------------------------------------------------------------------------------- unmanaged
async def unmanaged(administrator: Administrator, seconds: float) -> AsyncGenerator[Figure]:
    """Without its configuration nothing is written or repaired; with one again no Pod is replaced."""
    api = administrator.api
    api.request("DELETE", CONFIG)
    core = f"/apis/apps/v1/namespaces/{OPERAND}/deployments/external-secrets"
    api.request("PATCH", core, {"metadata": {"labels": {"app": "theirs"}}})
    before, generations = versions(api), generations_of(api)
    await asyncio.sleep(seconds)
    changed = len(before.items() ^ versions(api).items())
    yield Figure(f"without a configuration for {seconds:g} s: changed", "0", str(changed), not changed)
    await administrator.configure(**SPEC)
    await administrator.until_ready("True")
    rolled = len(generations.items() ^ generations_of(api).items())
    yield Figure("with a configuration again: Deployments rolled", "0", str(rolled), not rolled)


def generations_of(api: KubeApi) -> dict[str, int]:
    """Of all Deployments."""
    return {each["metadata"]["name"]: each["metadata"]["generation"] for each in deployments(api, OPERAND)}


# ----------------------------------------------------------------------------------------------- appearing
async def appearing(administrator: Administrator) -> AsyncGenerator[Figure]:
    """What the operator waits for is there at last: how long until it goes on."""
    api = administrator.api
    async for figure in bitwarden_appears(administrator):
        yield figure
    remove_cert_manager(api)
    api.request("DELETE", CONFIG)
    await administrator.until(lambda: api.get(CONFIG) is None, "it is gone")
    switch = {"enabled": "true", "issuerRef": ISSUER}
    try:
        await administrator.configure(appConfig={"certManagerConfig": switch})
        await administrator.until_ready("False", "cert-manager")
        failed = administrator.condition()["message"]
        install_cert_manager(api)
        took = await timed(administrator, nothing, lambda: administrator.condition()["message"] != failed)
        yield within("goes on once cert-manager is there", took, REPAIRED_IN)
        metadata = {"name": "ca", "namespace": OPERAND}
        body = {"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": metadata}
        issuers = f"{GROUP}/namespaces/{OPERAND}/issuers"
        certificate = f"{GROUP}/namespaces/{OPERAND}/certificates/external-secrets-webhook"
        took = await timed(administrator, lambda: api.create(issuers, body), lambda: api.get(certificate))
        yield within("goes on once the issuer is there", took, REPAIRED_IN)
        async for figure in repairs_of(administrator, certificate):
            yield figure
    finally:
        remove_cert_manager(api)


def nothing() -> None:
    """What was to be done is done."""


async def bitwarden_appears(administrator: Administrator) -> AsyncGenerator[Figure]:
    """The Secret with the certificate of its server."""
    api = administrator.api
    secrets = f"/api/v1/namespaces/{OPERAND}/secrets"
    server = f"/apis/apps/v1/namespaces/{OPERAND}/deployments/bitwarden-sdk-server"
    chosen = {"enabled": "true", "secretRef": {"name": "bitwarden-tls"}}
    await administrator.configure(appConfig={"bitwardenSecretManagerProvider": chosen})
    await administrator.until_ready("False", "bitwarden-tls")
    body = {"metadata": {"name": "bitwarden-tls"}, "stringData": {"tls.crt": "x"}}
    took = await timed(administrator, lambda: api.create(secrets, body), lambda: api.get(server))
    api.request("DELETE", f"{secrets}/bitwarden-tls")
    yield within("goes on once the Secret of the Bitwarden server is there", took, REPAIRED_IN)
