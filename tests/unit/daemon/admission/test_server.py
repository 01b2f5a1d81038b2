"""The webhook's server: hostile bodies, certificates that are replaced, and what probes are told."""

import asyncio
import gzip
import json
import ssl
import threading
import time
from typing import Any

import pytest
from msgspec import structs
from structlog.testing import capture_logs

from syncret.config.errors import ConfigError
from syncret.config.settings import Settings, Webhook
from syncret.daemon.admission import server as module
from syncret.daemon.admission.authority import DAY, Pair
from syncret.daemon.admission.parts import listening
from syncret.daemon.admission.review import reviewed
from syncret.daemon.admission.rotation import OVERLAP, Wanted, rotated
from syncret.daemon.admission.server import LARGEST, QUICK
from syncret.daemon.admission.tls import ciphers_of
from syncret.daemon.ops.bind_errors import CannotListen
from tests.unit.daemon.admission.support import HOST, PATH, fresh, review, running, sync

HELD = fresh()
WANTED = Wanted((HOST,))


def is_allowed(answer: tuple[int, bytes]) -> bool:
    assert answer[0] == 200
    return bool(json.loads(answer[1])["response"]["allowed"])


async def test_an_api_server_that_trusts_the_bundle_is_answered() -> None:
    async with running(HELD.leaf) as server:
        assert is_allowed(await server.post(review(sync()), HELD.bundle))
        assert not is_allowed(await server.post(review(sync(data=[])), HELD.bundle))
        text = server.text()
    assert f'controller_runtime_webhook_requests_total{{code="200",webhook="{PATH}"}} 2.0' in text
    assert f'controller_runtime_webhook_requests_in_flight{{webhook="{PATH}"}} 0.0' in text
    assert f'controller_runtime_webhook_latency_seconds_count{{webhook="{PATH}"}} 2.0' in text


@pytest.mark.parametrize("chunked", [False, True], ids=["with its length", "in pieces"])
async def test_bodies_of_any_size_are_answered(chunked: bool) -> None:  # noqa: FBT001  # by name in the row
    many = [{"secretKey": f"a{number}", "remoteRef": {"key": "k"}} for number in range(5000)]
    async with running(HELD.leaf) as server:
        assert is_allowed(await server.post(review(sync(data=many)), HELD.bundle, chunked=chunked))
        status, _ = await server.post(b" " * (LARGEST + 1), HELD.bundle, chunked=chunked)
        assert status == 413
        assert is_allowed(await server.post(review(sync()), HELD.bundle, chunked=chunked))


async def test_what_a_small_body_is_inflated_to_is_bounded() -> None:
    bomb = gzip.compress(b" " * (10 * LARGEST))
    async with running(HELD.leaf) as server:
        assert len(bomb) < QUICK * 4
        assert (await server.post(bomb, HELD.bundle, headers={"Content-Encoding": "gzip"}))[0] == 413
        assert is_allowed(await server.post(review(sync()), HELD.bundle))


async def test_a_port_that_is_taken_is_told_with_its_setting() -> None:
    async with running(HELD.leaf) as server:
        taken = Settings(webhook=Webhook(port=server.port, healthz_addr=""))
        with pytest.raises(CannotListen) as refused:
            async with listening(taken):
                pass
        assert "--set webhook.port=" in refused.value.hint


@pytest.mark.parametrize(
    ("body", "path", "status"),
    [
        pytest.param(b"", PATH, 400, id="nothing"),
        pytest.param(b"[" * 100_000, PATH, 400, id="nested"),
        pytest.param(b'{"kind":"AdmissionReview"', PATH, 400, id="cut off"),
        pytest.param(review(sync()), "/validate", 404, id="another path"),
    ],
)
async def test_what_is_no_review_is_refused(body: bytes, path: str, status: int) -> None:
    async with running(HELD.leaf) as server:
        assert (await server.post(body, HELD.bundle, path))[0] == status
        assert is_allowed(await server.post(review(sync()), HELD.bundle))


async def test_a_fault_of_ours_ends_in_an_answer_and_tells_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise KeyError("hunter2")

    monkeypatch.setattr(module, "reviewed", fails)
    async with running(HELD.leaf) as server:
        with capture_logs() as logged:
            status, body = await server.post(review(sync()), HELD.bundle)
        assert (status, b"hunter2" in body) == (500, False)
        assert [each["event"] for each in logged] == ["a review failed"]
        assert f'requests_total{{code="500",webhook="{PATH}"}} 1.0' in server.text()


async def test_what_takes_too_long_is_left_to_the_failure_policy_and_keeps_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    release = threading.Event()

    def slow(body: bytes, *rest: Any) -> Any:  # noqa: ANN401  # as it is
        if len(body) > module.QUICK:
            release.wait()
        return reviewed(body, *rest)

    monkeypatch.setattr(module, "reviewed", slow)
    monkeypatch.setattr(module, "ANSWER_WITHIN", 0.05)
    large = review(sync(target={"template": {"data": {"k": "x" * module.QUICK}}}))
    try:
        async with running(HELD.leaf) as server:
            waiting = asyncio.create_task(server.post(large, HELD.bundle))
            assert is_allowed(await server.post(review(sync()), HELD.bundle))
            assert (await waiting)[0] == 503
            monkeypatch.setattr(module, "ANSWER_WITHIN", 60.0)
            release.set()
            assert is_allowed(await server.post(large, HELD.bundle))
    finally:
        release.set()


async def test_through_a_rotation_everybody_who_trusts_what_was_told_is_answered() -> None:
    """The successor is told, used, and the one before is forgotten: with each old and new bundle it works."""
    now = time.time()
    begun = fresh(now - 3300 * DAY)
    step = structs.replace(begun, leaf=rotated(structs.replace(begun, leaf=Pair()), WANTED, now).leaf)
    first = rotated(step, WANTED, now - 1.5 * OVERLAP)
    told = structs.replace(first, published=now - 1.5 * OVERLAP)
    used = rotated(told, WANTED, now)
    assert used.authority == told.successor
    async with running(step.leaf) as server:
        for held, bundles in (
            (step, (begun.bundle, told.bundle)),
            (told, (begun.bundle, told.bundle)),
            (used, (told.bundle, used.bundle, used.authority.certificate)),
        ):
            server.leaf = held.leaf
            await server.certificate.refresh()
            for bundle in bundles:
                assert is_allowed(await server.post(review(sync()), bundle))
        with pytest.raises(OSError, match="certificate"):
            await server.post(review(sync()), begun.bundle)


async def test_a_connection_outlives_the_certificate_that_it_began_with() -> None:
    other = fresh()
    async with running(HELD.leaf) as server:
        context = ssl.create_default_context(cadata=HELD.bundle.decode())
        reader, writer = await asyncio.open_connection(HOST, server.port, ssl=context)
        server.leaf = other.leaf
        await server.certificate.refresh()
        body = review(sync())
        head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        assert is_allowed(await server.post(body, other.bundle))
        writer.close()


@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param(Pair(), id="gone"),
        pytest.param(Pair(HELD.leaf.certificate, b"x"), id="no key"),
        pytest.param(Pair(fresh().leaf.certificate, HELD.leaf.key), id="half replaced"),
        pytest.param(Pair(b"\xff", b"\xff"), id="no text"),
    ],
)
async def test_what_cannot_be_served_leaves_the_one_before(damaged: Pair) -> None:
    async with running(HELD.leaf) as server:
        server.leaf = damaged
        await server.certificate.refresh()
        assert is_allowed(await server.post(review(sync()), HELD.bundle))
        assert await server.is_ready() == (200, "ok")


async def test_it_is_ready_while_its_certificate_is_valid_for_another_hour() -> None:
    now = time.time()
    async with running(Pair()) as server:
        assert await server.is_ready() == (503, "there is no certificate in the test yet")
        with pytest.raises(OSError):  # noqa: PT011  # however a closed connection is told
            await server.post(review(sync()), HELD.bundle)
        for age, reason in (
            (90 * DAY - 3500, "the certificate is not valid in an hour"),
            (90 * DAY - 3700, "ok"),
        ):
            server.leaf = fresh(now - age).leaf
            await server.certificate.refresh()
            assert (await server.is_ready())[1] == reason
        server.leaf = rotated(HELD, Wanted(("other.svc",)), now).leaf
        await server.certificate.refresh()
        assert await server.is_ready() == (503, f"the certificate is not for {HOST}")


async def test_only_tls_of_today_is_spoken() -> None:
    newest = Webhook(tls_min_version="1.3")
    async with running(HELD.leaf, newest) as server:
        context = ssl.create_default_context(cadata=HELD.bundle.decode())
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with pytest.raises(OSError):  # noqa: PT011  # an alert, or the connection is gone
            await asyncio.open_connection(HOST, server.port, ssl=context)
    one = Webhook(tls_ciphers=("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",))
    async with running(HELD.leaf, one) as server:
        _, writer = await asyncio.open_connection(HOST, server.port, ssl=context)
        assert writer.get_extra_info("cipher")[:2] == ("ECDHE-ECDSA-AES256-GCM-SHA384", "TLSv1.2")
        writer.close()


def test_a_cipher_suite_that_is_not_known_is_named() -> None:
    with pytest.raises(ConfigError) as refused:
        ciphers_of(Webhook(tls_ciphers=("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA257",)))
    assert "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256" in str(refused.value)


async def test_who_is_slow_at_a_handshake_keeps_nobody_waiting() -> None:
    async with running(HELD.leaf) as server:
        idle = [await asyncio.open_connection(HOST, server.port) for _ in range(20)]
        assert is_allowed(await server.post(review(sync()), HELD.bundle))
        for _, writer in idle:
            writer.close()
