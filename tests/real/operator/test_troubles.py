"""An API server that refuses, is slow and fails; an operator that is killed; two operators at once."""

import asyncio
import json
import multiprocessing
import random
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from typing import Final

import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry

from syncret.config.meta import Document, member
from syncret.daemon.homes.kubernetes.access.kubeconfig import Access
from syncret.daemon.homes.kubernetes.access.logins import FixedHeaders
from syncret.daemon.operator.opening import running_operator
from syncret.providers.kit.auth.logins import bearer
from syncret.providers.kit.http import Tls
from syncret.providers.values import SecretBytes
from tests.real.operator.operating import (
    ALLOWING,
    CONFIG,
    MANAGER,
    OPERAND,
    SETTINGS,
    WITHIN,
    condition,
    environment,
    installed,
    operating,
    remove_installation,
)
from tests.support.servers.kube.between import between, is_watch, refused
from tests.support.servers.kube.kubelet import roll_out
from tests.support.servers.kube.running import ADMIN, KubeApi

pytestmark = pytest.mark.slow

CORE: Final = f"/apis/apps/v1/namespaces/{OPERAND}/deployments/external-secrets"
LEASE: Final = "/apis/coordination.k8s.io/v1/namespaces/{}/leases/external-secrets-operator"
EVERYTHING: Final = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
SPEC: Final[Document] = {
    "appConfig": {"proxy": {"httpProxy": "http://proxy.example.com:3128"}},
    "controllerConfig": {"networkPolicies": [ALLOWING], "annotations": {"example.com/a": "b"}},
}
DEGRADED: Final = ("Degraded", "True")
WAITS: Final = "waits for Deployment"
TROUBLES: Final = (
    (409, "Conflict"),
    (429, "TooManyRequests"),
    (500, "InternalError"),
    (504, "Timeout"),
    (0, ""),
)
"""What requests are answered; the last: nothing."""

FAILING: Final = 0.25
"""The share of requests that fail."""

LATE: Final = 0.2
"""Seconds by which an answer is late at most."""

FEWEST: Final = 10
"""Requests that fail at least: so many that none of a run's can be allowed to begin all anew."""

FORGETTABLE: Final = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation")
_processes: Final = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload([__name__])


def content(api: KubeApi) -> Mapping[str, object]:
    """All that is installed, without what differs from one time to the next."""
    found: dict[str, object] = {}
    for path, document in installed(api).items():
        metadata = {name: value for name, value in document["metadata"].items() if name not in FORGETTABLE}
        kept = {name: value for name, value in document.items() if name not in {"status", "metadata"}}
        if "/services/" in path:
            kept["spec"] = {
                name: each for name, each in kept["spec"].items() if not name.startswith("clusterIP")
            }
        found[path] = {**kept, "metadata": metadata}
    return found


def writes(request: web.Request) -> bool:
    """Whether a request changes something that is not the operator's own Lease."""
    return request.method != "GET" and "dryRun" not in request.query and "/leases" not in request.path


# ------------------------------------------------------------------------------------------------- troubles
@pytest.mark.parametrize("seed", range(3))
async def test_refusals_and_failures_are_no_reason_to_give_up(
    api: KubeApi, namespace: str, seed: int
) -> None:
    """Every fourth request is answered 409, 429, 500 or 504, or not at all, for as long as it takes.

    Of the others some are answered late. None of it is called fatal, and the installation gets done.
    """
    choice, fatal, met = random.Random(seed), list[str](), Counter[int]()  # noqa: S311  # choices, not keys

    def before(request: web.Request, body: bytes) -> web.Response | None:
        if request.path == f"{CONFIG}/status":
            conditions = json.loads(body)["status"]["conditions"]
            fatal.extend(each["message"] for each in conditions if (each["type"], each["status"]) == DEGRADED)
        if is_aside(request) or choice.random() > FAILING:
            return None
        code, reason = TROUBLES[choice.randrange(len(TROUBLES))]
        met[code] += 1
        if code:
            return refused(code, reason, **{"Retry-After": "1"} if code == 429 else {})
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    def delay(request: web.Request) -> float:
        return 0.0 if is_aside(request) or choice.random() > FAILING else choice.uniform(0.0, LATE)

    async with between(api, before, delay=delay) as url, operating(api, namespace, url=url) as operated:
        await operated.configure(**SPEC)
        await operated.until(
            lambda: condition(api.get(CONFIG)).get("message", "").startswith(WAITS), "all is written"
        )
        roll_out(api, OPERAND)
        await operated.until_ready("True")
        assert not fatal
        assert met.total() > FEWEST, met


def is_aside(request: web.Request) -> bool:
    """Whether a request is left alone: without watches and the election nothing happens at all."""
    return is_watch(request) or "/leases" in request.path


# ---------------------------------------------------------------------------------------------------- kills
def operate(url: str, namespace: str) -> None:
    """The operator as a process of its own, until it is killed."""

    async def work() -> None:
        access = Access(server=url, tls=Tls(), login=FixedHeaders(bearer(SecretBytes(ADMIN.encode()))))
        async with running_operator(
            access,
            SETTINGS,
            environment(namespace),
            namespace=OPERAND,
            registry=CollectorRegistry(),
            own_namespace=namespace,
        ):
            await asyncio.Event().wait()

    asyncio.run(work())


async def test_an_operator_that_is_killed_at_any_write_is_followed_to_the_same_end(
    api: KubeApi, namespace: str
) -> None:
    """SIGKILL just before each write of an install in turn, until one is not killed."""
    async with operating(api, namespace) as operated:
        await operated.install(**SPEC)
        expected = content(api)
    for most in count():
        remove_installation(api)
        api.request("DELETE", LEASE.format(namespace))
        async with operating_until(api, namespace, most) as is_killed:
            pass
        api.request("DELETE", LEASE.format(namespace))
        async with operating(api, namespace) as operated:
            await operated.until(
                lambda: condition(api.get(CONFIG)).get("message", "").startswith(WAITS), "done"
            )
            roll_out(api, OPERAND)
            await operated.until_ready("True")
            assert content(api) == expected, f"killed before write {most}"
        if not is_killed():
            assert most > len(expected)
            return


@asynccontextmanager
async def operating_until(api: KubeApi, namespace: str, most: int) -> AsyncGenerator[Callable[[], bool]]:
    """An operator that installs until it is killed before it has written more than so often, or is done."""
    made, killed = count(), asyncio.Event()

    def before(request: web.Request, body: bytes) -> web.Response | None:
        del body
        if killed.is_set() or (writes(request) and next(made) >= most):
            killed.set()
            process.kill()
            return refused(503, "ServiceUnavailable")
        return None

    async with between(api, before) as url:
        process = _processes.Process(target=operate, args=(url, namespace))
        body = {"apiVersion": "operator.openshift.io/v1alpha1", "kind": "ExternalSecretsConfig"}
        api.create(CONFIG.rpartition("/")[0], {**body, "metadata": {"name": "cluster"}, "spec": SPEC})
        process.start()
        end = asyncio.get_running_loop().time() + WITHIN
        while not killed.is_set():
            if condition(api.get(CONFIG)).get("message", "").startswith(WAITS):
                break
            assert asyncio.get_running_loop().time() < end
            await asyncio.sleep(0.02)
        process.kill()
        await asyncio.to_thread(process.join)
        yield killed.is_set


# ------------------------------------------------------------------------------------------------------ two
async def test_of_two_operators_one_writes_and_the_other_follows(api: KubeApi, namespace: str) -> None:
    """Judged by the audit log."""
    accounts = [api.account(namespace, EVERYTHING, everywhere=True) for _ in range(2)]
    tokens = [api.token(namespace, each) for each in accounts]

    def written(account: str) -> Sequence[str]:
        quiet = {"get", "list", "watch"}
        return [
            f"{each.verb} {each.uri}"
            for each in api.audited(namespace, account)
            if each.verb not in quiet and each.resource != "leases"
        ]

    async with AsyncExitStack() as stack:
        async with operating(api, namespace, token=tokens[0]) as first:
            await first.until(lambda: api.get(MANAGER), "the first one acts")
            second = await stack.enter_async_context(operating(api, namespace, token=tokens[1]))
            await first.install()
            api.request("PATCH", CORE, {"metadata": {"labels": {"app": "theirs"}}})
            await first.until(lambda: label(api) == "external-secrets-operator", "it is repaired")
            assert written(accounts[0])
            assert not written(accounts[1])
        before = written(accounts[0])
        api.request("PATCH", CORE, {"metadata": {"labels": {"app": "theirs"}}})
        await second.until(lambda: label(api) == "external-secrets-operator", "the second one follows")
        await second.until_ready("True")
        assert written(accounts[1])
        assert written(accounts[0]) == before


def label(api: KubeApi) -> str:
    """What the Deployment's label `app` says."""
    return str(member(api.get(CORE) or {}, "metadata", "labels").get("app"))
