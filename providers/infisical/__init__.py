"""Infisical: the secrets of one environment of one project.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store                      auth     the logins of machine identities
places      keys as folders and names         clouds   the logins with an identity at a cloud
receivers   where the daemon's own identity would go
"""

from typing import Final
from urllib.parse import urlsplit

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.infisical.receivers import receivers
from syncret.providers.infisical.spec import InfisicalSpec, check


def published_rate(spec: InfisicalSpec) -> float | None:
    """Infisical Cloud takes 120 calls for secrets a minute; installations of one's own have no limit."""
    host = urlsplit(spec.host_api).hostname or ""
    return 2.0 if host == "infisical.com" or host.endswith(".infisical.com") else None


PROVIDER: Final = Provider(
    SpecType("infisical", InfisicalSpec, check=check, gjson_properties=True),
    open=OnFirstUse("syncret.providers.infisical.connection"),
    batch_size=500,
    receivers=receivers,
    published_rate=published_rate,
)
