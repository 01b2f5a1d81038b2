"""Yandex Certificate Manager: certificates, with their chains and private keys.

spec  the spec of a store, its rules     client  the endpoints, the client of a store
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.kit.yandex.spec import receivers
from syncret.providers.yandexcertificatemanager.client import CertificateManagerClient
from syncret.providers.yandexcertificatemanager.spec import YandexCertificateManagerSpec, check

_RECEIVERS: Final = receivers("yandexcertificatemanager")


@asynccontextmanager
async def open_certificate_manager(
    spec: YandexCertificateManagerSpec, context: OpenContext
) -> AsyncGenerator[CertificateManagerClient, None]:
    """Open a client of one store, logged in."""
    from syncret.providers.kit.yandex.connection import connected_to  # imports asyncio and TLS

    services = ("certificate-manager-data", "certificate-manager")
    async with connected_to(services, spec, context, _RECEIVERS(spec)) as (api, addresses):
        yield CertificateManagerClient(api, addresses["certificate-manager"], spec.folder)


PROVIDER: Final = Provider(
    SpecType("yandexcertificatemanager", YandexCertificateManagerSpec, check=check),
    open=open_certificate_manager,
    receivers=_RECEIVERS,
)
