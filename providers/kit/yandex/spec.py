"""The spec that all stores of Yandex Cloud share."""

from collections.abc import Callable, Iterator
from typing import ClassVar, Final

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.contract import Receiver
from syncret.providers.kit import spec_rules

HOME: Final = "api.cloud.yandex.net:443"


class YandexAuth(Model):
    """How the store authenticates.

    Example: {authorizedKeySecretRef: {name: yandex-login, key: key.json}}
    """

    authorized_key_secret_ref: SecretKeySelector | None = None
    """The authorized key of a service account (JSON); absent: the service account of the virtual machine.
    Example: {name: yandex-login, key: key.json}"""


class YandexCAProvider(Model):
    """The CA of the servers' certificates; absent: the system's trust store.

    Example: {certSecretRef: {name: yandex-ca, key: ca.crt}}
    """

    cert_secret_ref: SecretKeySelector | None = None
    """The authorities, as PEM. Example: {name: yandex-ca, key: ca.crt}"""


class YandexByID(Model):
    """Remote keys are IDs."""


class YandexByName(Model):
    """Remote keys are names within one folder.

    Example: {folderID: b1g0example}
    """

    folder_id: str = msgspec.field(name="folderID")
    """ID of the folder. Example: b1g0example"""


class YandexFetching(Model):
    """Whether remote keys are IDs or names: exactly one of the two.

    Example: {byName: {folderID: b1g0example}}
    """

    by_id: YandexByID | None = msgspec.field(name="byID", default=None)
    """Remote keys are IDs, wherever they are; such a store cannot be searched. Example: {}"""
    by_name: YandexByName | None = None
    """Remote keys are names within one folder."""

    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 1)


class YandexSpec(Model):
    """Address, authentication, and the meaning of remote keys."""

    auth: YandexAuth
    """How the store authenticates to Yandex Cloud."""
    api_endpoint: str = ""
    """Host and port that know the addresses of all services; absent: api.cloud.yandex.net:443.
    Example: api.yandexcloud.kz:443"""
    ca_provider: YandexCAProvider | None = None
    """The authorities that signed the servers' certificates; absent: the machine's."""
    fetching: YandexFetching | None = None
    """What remote keys are; absent: IDs."""

    @property
    def folder(self) -> str:
        """The folder whose names are the keys; empty if keys are IDs."""
        by_name = None if self.fetching is None else self.fetching.by_name
        return "" if by_name is None else by_name.folder_id


def check(spec: YandexSpec, _scope: Scope) -> Iterator[Problem]:
    """A name is looked up in a folder."""
    if spec.fetching is not None and spec.fetching.by_name is not None:
        yield from spec_rules.filled(
            spec.fetching.by_name.folder_id,
            "fetching.byName.folderID",
            "folderID is required when fetching policy is 'byName'",
            "write the ID of the folder, or fetch byID",
        )


def home_of(spec: YandexSpec) -> str:
    """The server that knows the addresses of all services."""
    return f"https://{spec.api_endpoint or HOME}"


def receivers(provider: str) -> Callable[[YandexSpec], Iterator[Receiver]]:
    """The server that lists the services: it gets the token of the machine, unless the store has a key."""

    def found(spec: YandexSpec) -> Iterator[Receiver]:
        ref = spec.auth.authorized_key_secret_ref
        if ref is None or not ref.name:
            sends = "a token of the machine's service account in Yandex Cloud"
            yield Receiver(provider, home_of(spec), sends, "apiEndpoint")

    return found
