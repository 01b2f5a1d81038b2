"""The spec that all stores of Yandex Cloud share."""

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit import spec_rules


class YandexAuth(Model):
    """How the store authenticates."""

    authorized_key_secret_ref: SecretKeySelector | None = None
    """The authorized key of a service account (JSON); absent: the service account of the virtual machine."""


class YandexCAProvider(Model):
    """The CA of the server's certificate; absent: the system's trust store."""

    cert_secret_ref: SecretKeySelector | None = None


class YandexByID(Model):
    """Remote keys are IDs."""


class YandexByName(Model):
    """Remote keys are names within one folder."""

    folder_id: str = msgspec.field(name="folderID")


class YandexFetching(Model):
    """Whether remote keys are IDs or names."""

    by_id: YandexByID | None = msgspec.field(name="byID", default=None)
    by_name: YandexByName | None = None

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)


class YandexSpec(Model):
    """Address, authentication, and the meaning of remote keys."""

    auth: YandexAuth
    api_endpoint: str = ""
    """A host and port; absent: api.cloud.yandex.net:443."""
    ca_provider: YandexCAProvider | None = None
    fetching: YandexFetching | None = None
    """Absent: by ID."""


def check(spec: YandexSpec, _scope: Scope) -> Iterator[Problem]:
    """A name is looked up in a folder."""
    if spec.fetching is not None and spec.fetching.by_name is not None:
        yield from spec_rules.filled(
            spec.fetching.by_name.folder_id,
            "fetching.byName.folderID",
            "folderID is required when fetching policy is 'byName'",
            "write the ID of the folder, or fetch byID",
        )
