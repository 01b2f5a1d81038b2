"""When the webhook is served beside the controller, and what it reads then."""

import asyncio
from pathlib import Path

import pytest
from msgspec import structs

from syncret.config.settings import Settings, Webhook
from syncret.daemon.admission.authority import Pair
from syncret.daemon.admission.in_controller import webhook_service
from syncret.daemon.admission.keeper import Place
from syncret.daemon.admission.parts import names_of
from syncret.daemon.admission.serving_certificate import decoded, from_folder
from syncret.daemon.ops.bind_errors import CannotListen
from tests.unit.daemon.admission.support import fresh, running


@pytest.mark.parametrize(
    ("settings", "listens"),
    [
        pytest.param(Settings(kubernetes=True, output_dir=""), True, id="in a cluster"),
        pytest.param(Settings(kubernetes=False), False, id="on a host"),
        pytest.param(Settings(kubernetes=True, output_dir="/out"), False, id="as a sidecar"),
    ],
)
async def test_it_is_a_service_of_a_cluster(settings: Settings, listens: bool) -> None:  # noqa: FBT001  # by name
    async with running(fresh().leaf) as taken:
        webhook = Webhook(enabled=True, port=taken.port, healthz_addr="")
        service = webhook_service(structs.replace(settings, webhook=webhook))
        if listens:
            with pytest.raises(CannotListen):
                await service.__aenter__()
        else:
            async with service:
                await asyncio.sleep(0)


async def test_files_are_read_as_they_are_now(tmp_path: Path) -> None:
    read = from_folder(tmp_path)
    assert await read() == Pair()
    leaf = fresh().leaf
    (tmp_path / "tls.crt").write_bytes(leaf.certificate)
    assert await read() == Pair()
    (tmp_path / "tls.key").write_bytes(leaf.key)
    assert await read() == leaf


@pytest.mark.parametrize(
    ("webhook", "service", "names"),
    [
        pytest.param(
            Webhook(), Place("ns", "hook"), ("hook.ns.svc", "hook.ns.svc.cluster.local"), id="service"
        ),
        pytest.param(
            Webhook(dns_name="hook.example"),
            Place("ns", "hook"),
            ("hook.example", "hook.ns.svc", "hook.ns.svc.cluster.local"),
            id="another name first",
        ),
        pytest.param(Webhook(dns_name="hook.ns.svc"), None, ("hook.ns.svc",), id="files, with a name"),
        pytest.param(Webhook(), None, (), id="files of any name"),
    ],
)
def test_the_names_that_an_api_server_may_use(
    webhook: Webhook, service: Place | None, names: tuple[str, ...]
) -> None:
    assert names_of(Settings(webhook=webhook), service) == names


def test_what_is_no_base64_is_nothing() -> None:
    assert decoded("x") == b""
    assert decoded("eA==") == b"x"
