"""HTTP: what each address answers, before and after the first pass, and where nobody can listen."""

import asyncio
import json
import socket
from contextlib import AsyncExitStack

import aiohttp
import msgspec
import pytest

from syncret.config.meta import Document
from syncret.config.resources.kinds import DELIVERY
from syncret.config.settings import Settings
from syncret.daemon.core.reviews import Verdict
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.ops.bind_errors import CannotListen, cannot_listen
from syncret.daemon.ops.http import health_service, http_service
from syncret.daemon.ops.view import View
from syncret.providers.values import SecretBytes
from tests.unit.daemon.ops.objects import CANARY, Apply, external_secret, named, serving, store


async def get(view: View, path: str, **headers: str) -> tuple[int, str, str]:
    url = f"http://{view.address}{path}"
    async with aiohttp.ClientSession() as client, client.get(url, headers=headers) as response:
        return response.status, response.content_type, await response.text()


def opened(view: View) -> None:
    """Serve the status at `listen`, too."""
    view.settings = msgspec.structs.replace(view.settings, status_on_listen=True)


async def test_probes_have_an_address_of_their_own(view: View) -> None:
    view.settings = msgspec.structs.replace(view.settings, health_listen="127.0.0.1:0")
    async with serving(http_service, view), serving(health_service, view):
        assert view.health_address not in {"", view.address}
        metrics = view.address
        view.address = view.health_address
        for path, code in (("/healthz", 200), ("/readyz", 200), ("/metrics", 404), ("/status", 404)):
            assert (await get(view, path))[0] == code, path
        view.address = metrics
        assert (await get(view, "/metrics"))[0] == 200


async def test_every_address(view: View, apply: Apply) -> None:
    await apply(store(database=CANARY), external_secret(), external_secret("lost", key="nowhere"))
    async with serving(http_service, view):
        assert await get(view, "/healthz") == (200, "text/plain", "ok\n")
        assert await get(view, "/readyz") == (200, "text/plain", "ok\n")
        code, kind, text = await get(view, "/metrics")
        assert (code, kind) == (200, "text/plain")
        assert 'externalsecret_sync_calls_total{name="database",namespace="default"}' in text
        assert CANARY not in text
        assert (await get(view, "/refresh"))[0] == 404


async def test_the_status_is_served_on_the_socket_unless_a_setting_opens_it(view: View, apply: Apply) -> None:
    await apply(store(database=CANARY), external_secret())
    async with serving(http_service, view):
        code, _, text = await get(view, "/status")
        assert code == 404
        assert "curl --unix-socket" in text
        assert "statusOnListen" in text
        opened(view)
        code, kind, text = await get(view, "/status")
        assert (code, kind) == (200, "application/json")
        assert CANARY not in text


@pytest.mark.parametrize(
    ("host", "path", "code"),
    [
        pytest.param("127.0.0.1:9847", "/metrics", 200, id="address"),
        pytest.param("[::1]:9847", "/status", 200, id="IPv6"),
        pytest.param("10.0.0.7", "/status", 200, id="another address"),
        pytest.param("LocalHost:9847", "/status", 200, id="localhost"),
        pytest.param(socket.gethostname(), "/status", 200, id="the machine's name"),
        pytest.param("", "/status", 200, id="none"),
        pytest.param("evil.example:9847", "/status", 421, id="rebound"),
        pytest.param("evil.example", "/metrics", 421, id="rebound metrics"),
        pytest.param("localhost.evil.example", "/healthz", 421, id="a name that begins like ours"),
        pytest.param("127.0.0.1.evil.example", "/status", 421, id="a name that begins like an address"),
        pytest.param("[", "/status", 421, id="nonsense"),
    ],
)
async def test_a_host_name_of_others_is_refused_on_loopback(
    view: View, host: str, path: str, code: int
) -> None:
    """A page in a browser could make its own name lead to this machine."""
    opened(view)
    async with serving(http_service, view):
        assert (await get(view, path, Host=host))[0] == code


async def test_on_other_addresses_only_the_status_needs_a_name_of_ours(view: View) -> None:
    """Prometheus may know this machine by any name."""
    view.settings = msgspec.structs.replace(view.settings, listen="0.0.0.0:0", status_on_listen=True)
    async with serving(http_service, view):
        assert (await get(view, "/metrics", Host="node-7.example:9847"))[0] == 200
        assert (await get(view, "/status", Host="node-7.example:9847"))[0] == 421


async def test_the_host_of_the_setting_is_ours(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "other")
    view.settings = msgspec.structs.replace(view.settings, listen="ip6-localhost:0")
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(serving(http_service, view))
        except CannotListen:
            pytest.skip("this machine does not know ip6-localhost")
        assert (await get(view, "/metrics", Host="ip6-localhost"))[0] == 200
        assert (await get(view, "/metrics", Host="other-name"))[0] == 421


async def test_the_status_document(view: View, apply: Apply) -> None:
    await apply(store(database=CANARY), external_secret(), external_secret("lost", key="nowhere"))
    opened(view)
    async with serving(http_service, view):
        document = json.loads((await get(view, "/status"))[2])
    assert (document["apiVersion"], document["kind"]) == ("syncret.dev/v1alpha1", "DaemonStatus")
    assert document["ready"] is True
    assert document["failing"] == 1
    assert document["queue"]["ready"] == 0
    assert [(each["kind"], each["name"], each["ready"]) for each in document["stores"]] == [
        ("SecretStore", "demo", True)
    ]
    good, bad = document["objects"]
    assert (good["kind"], good["namespace"], good["name"]) == ("ExternalSecret", "default", "database")
    assert (good["ready"], good["reason"], good["failures"]) == (True, "SecretSynced", 0)
    assert good["lastGood"] is not None
    assert good["nextDue"] is not None
    assert good["lastFailure"] is None
    assert (bad["ready"], bad["failures"]) == (False, 1)
    assert "does not exist" in bad["lastFailure"]["message"]


async def test_an_empty_daemon_has_a_status(view: View, apply: Apply) -> None:
    await apply()
    opened(view)
    async with serving(http_service, view):
        document = json.loads((await get(view, "/status"))[2])
    assert (document["stores"], document["objects"]) == ([], [])


async def test_not_ready_before_the_first_pass(cluster: MemoryCluster, view: View) -> None:
    async with serving(http_service, view):
        code, _, text = await get(view, "/readyz")
        if code != 200:  # the pass over nothing may be done already
            assert (code, text.startswith("the first pass is under way")) == (503, True)
        await view.running.engine.first_pass.wait()
        assert (await get(view, "/readyz"))[0] == 200


class Unfinished:
    """A first pass that goes on."""

    def is_set(self) -> bool:
        return False

    async def wait(self) -> None:
        await asyncio.Event().wait()


async def test_readyz_says_why_not(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view.running.engine, "first_pass", Unfinished())
    async with serving(http_service, view):
        code, _, text = await get(view, "/readyz")
        assert code == 503
        assert text == "the first pass is under way: 0 objects wait, 0 are being worked on\n"
        assert (await get(view, "/healthz"))[0] == 200


async def test_a_startup_probe_can_wait_for_deliveries(
    view: View, cluster: MemoryCluster, apply: Apply
) -> None:
    spec: Document = {"sources": [{"secret": "tls"}], "to": [{"directory": {"path": "/srv/tls"}}]}
    web = {**named("Delivery", "web", spec), "apiVersion": "syncret.dev/v1alpha1"}
    async with serving(http_service, view):
        await apply()
        assert (await get(view, "/readyz?delivered=1"))[0] == 200
        await apply(web)
        assert await get(view, "/readyz?delivered=1") == (
            503,
            "text/plain",
            "not live yet: Delivery/default/web\n",
        )
        assert (await get(view, "/readyz"))[0] == 200
        (stored,) = await cluster.list(DELIVERY.group_kind)
        await cluster.update_status(stored, {"live": {"generation": 1}})
        await apply()
        assert (await get(view, "/readyz?delivered=1"))[0] == 200


async def test_who_calls_before_the_engine_runs_waits_for_it(view: View) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    view.settings = msgspec.structs.replace(view.settings, listen=address)
    view.address = address
    async with http_service(view.settings) as serve:
        early = asyncio.create_task(get(view, "/healthz"))
        await asyncio.sleep(0.02)
        assert not early.done()
        async with serve(view):
            assert (await early)[0] == 200


async def test_without_an_address_nothing_is_served(view: View) -> None:
    view.settings = msgspec.structs.replace(view.settings, listen="")
    async with serving(http_service, view):
        assert view.address == ""


async def test_a_port_in_use_is_told_with_a_remedy(view: View) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        view.settings = msgspec.structs.replace(view.settings, listen=address)
        async with AsyncExitStack() as stack:
            with pytest.raises(CannotListen, match=f"cannot listen on {address}: another process") as caught:
                await stack.enter_async_context(serving(http_service, view))
    assert "--listen" in caught.value.hint


@pytest.mark.parametrize(
    ("listen", "message"),
    [
        pytest.param("192.0.2.1:0", "this machine has no such address", id="foreign-address"),
        pytest.param("no-such-host.invalid:0", "cannot listen on no-such-host.invalid:0", id="no-such-name"),
    ],
)
async def test_addresses_that_are_not_ours(view: View, listen: str, message: str) -> None:
    view.settings = msgspec.structs.replace(view.settings, listen=listen)
    with pytest.raises(CannotListen, match=message):
        async with serving(http_service, view):
            pass


def test_an_error_without_a_code_is_that_of_no_address_left() -> None:
    told = cannot_listen("192.0.2.1:9090", OSError("could not bind on any address out of [...]"))
    assert str(told) == "cannot listen on 192.0.2.1:9090: this machine has no such address"


async def test_a_client_that_leaves_early_harms_nobody(view: View, apply: Apply, settings: Settings) -> None:
    await apply(store(database=CANARY), *(external_secret(f"db-{number}") for number in range(30)))
    async with serving(http_service, view):
        reader, writer = await asyncio.open_connection(*view.address.rsplit(":", 1))
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.read(100)
        writer.transport.abort()
        assert (await get(view, "/healthz"))[0] == 200


class Judge:
    """Knows three tokens; the API server is away for the fourth."""

    async def check(self, token: SecretBytes, path: str) -> Verdict:
        if token.raw == b"away":
            raise StorageUnavailable("no answer")
        if token.raw == b"status":
            return Verdict.ALLOWED if path == "/status" else Verdict.DENIED
        return Verdict.ALLOWED if token.raw == b"all" else Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("path", "authorization", "code"),
    [
        ("/metrics", "Bearer all", 200),
        ("/metrics", "bearer all", 200),
        ("/metrics", "Bearer status", 403),
        ("/status", "Bearer status", 200),
        ("/metrics", "Bearer nobody", 401),
        ("/metrics", "Bearer", 401),
        ("/metrics", "Basic all", 401),
        ("/metrics", "", 401),
        ("/metrics", "Bearer away", 503),
        ("/readyz", "", 200),
        ("/healthz", "", 200),
    ],
)
async def test_metrics_may_be_for_some_alone(view: View, path: str, authorization: str, code: int) -> None:
    opened(view)
    view.reviews = Judge()
    async with serving(http_service, view):
        headers = {"Authorization": authorization} if authorization else {}
        assert (await get(view, path, **headers))[0] == code
