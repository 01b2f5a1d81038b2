"""The operator at rest, and how fast it repairs: `python -m tests.real.operator SECONDS`.

The audit log of the API server is the judge of what it writes while nothing happens.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from syncret.config.meta import Document
from syncret.config.resources.kinds import OPERATOR_KINDS
from syncret.daemon.ops import logs
from tests.real.operator.operating import (
    ALLOWING,
    MANAGER,
    OPERAND,
    Operated,
    installed,
    operating,
    remove_installation,
)
from tests.real.operator.test_install import CHANGES, ours_of
from tests.support.servers.kube.crds import install, install_kinds
from tests.support.servers.kube.kubelet import roll_out
from tests.support.servers.kube.running import KubeApi, kube_api

WITHIN: Final = 2.0
"""Seconds from a change to its repair."""

say: Final = partial(print, flush=True)
QUIET: Final = frozenset({"get", "list", "watch"})
EVERYTHING: Final = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
SPEC: Final[Document] = {
    "appConfig": {"proxy": {"httpProxy": "http://proxy.example.com:3128"}},
    "controllerConfig": {"networkPolicies": [ALLOWING]},
}


def main() -> int:
    """Exit code 1 where it wrote at rest, or where a repair took too long."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    api = kube_api()
    install(api)
    install_kinds(api, OPERATOR_KINDS)
    remove_installation(api)
    logs.configure("error", "json")
    failures = asyncio.run(play(api, seconds))
    for each in failures:
        say(f"FAILED {each}")
    return int(bool(failures))


async def play(api: KubeApi, seconds: float) -> list[str]:
    """Install, rest, and change something of each kind; returns what was not as it must be."""
    namespace = api.namespace()
    account = api.account(namespace, EVERYTHING, everywhere=True)
    async with operating(api, namespace, token=api.token(namespace, account)) as operated:
        await operated.until(lambda: api.get(MANAGER), "it has begun")
        began = time.monotonic()
        await operated.install(**SPEC)
        await operated.running.engine.wait_idle()
        asked = [each for each in api.audited(namespace, account) if each.resource != "leases"]
        say(f"installed in {time.monotonic() - began:.2f} s, {len(asked)} requests with watches", flush=True)
        before = len(written(api, namespace, account))
        await asyncio.sleep(seconds)
        rest = written(api, namespace, account)[before:]
        say(f"at rest for {seconds:g} s: {len(rest)} writes")
        failures = [f"written at rest: {each}" for each in rest]
        for what, took in await repairs(api, operated):
            say(f"{what:<60} {took:6.3f} s")
            if took > WITHIN:
                failures.append(f"{what} took {took:.3f} s")
    return failures


def written(api: KubeApi, namespace: str, account: str) -> list[str]:
    """What the operator wrote until now, but for its Lease."""
    return [
        f"{each.verb} {each.uri}"
        for each in api.audited(namespace, account)
        if each.verb not in QUIET and each.resource != "leases"
    ]


async def repairs(api: KubeApi, operated: Operated) -> list[tuple[str, float]]:
    """One object of each kind: its labels, its content and itself, each with the seconds until it is back."""
    found: list[tuple[str, float]] = []
    for path in one_of_each(api):
        for what, change in changes(api, path):
            roll_out(api, OPERAND)
            await operated.running.engine.wait_idle()
            wanted = ours_of(api.get(path) or {})
            began = time.monotonic()
            change()
            await operated.until(lambda: is_back(api, path, wanted), f"{path} is back")  # noqa: B023
            found.append((f"{path.rpartition('/')[0].rpartition('/')[2]}: {what}", time.monotonic() - began))
    return found


def one_of_each(api: KubeApi) -> Iterator[str]:
    """The path of one object in each place."""
    yield from {path.rpartition("/")[0]: path for path in installed(api)}.values()


def changes(api: KubeApi, path: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """What others do to an object."""
    labels = {"metadata": {"labels": {"app": "theirs", "app.kubernetes.io/part-of": None}}}
    yield "its labels", lambda: api.request("PATCH", path, labels)
    document = api.get(path) or {}
    if document["kind"] in CHANGES:
        content = CHANGES[document["kind"]](document)
        yield "its content", lambda: api.request("PATCH", path, content)
    yield "deleted", lambda: api.request("DELETE", path)


def is_back(api: KubeApi, path: str, wanted: object) -> bool:
    """Whether an object is as it was."""
    now = api.get(path)
    return now is not None and ours_of(now) == wanted


if __name__ == "__main__":
    sys.exit(main())
