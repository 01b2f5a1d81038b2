"""The servers of the clouds themselves, by provider: they may have the daemon's own identity by default.

Only hosts that serve nothing but the cloud's own API, so never a suffix below which customers have servers of
theirs (such as *.amazonaws.com, *.appdomain.cloud or *.cloudapp.net).
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from typing import Final

from syncret.config.servers import Server, server_pattern

_AZURE_LOGINS: Final = (
    "login.microsoftonline.com",
    "login.microsoftonline.us",
    "login.microsoftonline.de",
    "login.chinacloudapi.cn",
    "login.partner.microsoftonline.cn",
)
_AWS_SERVICES: Final = ("acm", "api.ecr", "api.ecr-public", "secretsmanager", "ssm", "sts", "tagging")
_AWS_SUFFIXES: Final = (
    "amazonaws.com",
    "amazonaws.com.cn",
    "amazonaws.eu",
    "c2s.ic.gov",
    "sc2s.sgov.gov",
    "cloud.adc-e.uk",
    "csp.hci.ic.gov",
)

KNOWN: Final[Mapping[str, Sequence[str]]] = {
    "aws": [f"{service}.*.{suffix}" for service, suffix in product(_AWS_SERVICES, _AWS_SUFFIXES)],
    "azurekv": [
        "*.vault.azure.net",
        "*.vault.azure.cn",
        "*.vault.usgovcloudapi.net",
        "*.vault.microsoftazure.de",
        "*.managedhsm.azure.net",
        "*.managedhsm.azure.cn",
        "*.managedhsm.usgovcloudapi.net",
        *_AZURE_LOGINS,
        "*.azurecr.io",
        "*.*.geo.azurecr.io",
        "*.azurecr.cn",
        "*.azurecr.us",
        "*.azurecr.de",
    ],
    "azurerm": [
        "management.azure.com",
        "management.chinacloudapi.cn",
        "management.usgovcloudapi.net",
        *_AZURE_LOGINS,
    ],
    "gcpsm": [
        "secretmanager.googleapis.com",
        "secretmanager.*.rep.googleapis.com",
        "iamcredentials.googleapis.com",
        "oauth2.googleapis.com",
        "sts.googleapis.com",
    ],
    "ibm": [
        "iam.cloud.ibm.com",
        "private.iam.cloud.ibm.com",
        "private.*.iam.cloud.ibm.com",
        "*.*.secrets-manager.appdomain.cloud",
        "*.private.*.secrets-manager.appdomain.cloud",
    ],
    "oracle": ["secrets.vaults.*.oci.oraclecloud.com", "vaults.*.oci.oraclecloud.com"],
    "volcengine": ["open.volcengineapi.com", "kms.*.volcengineapi.com", "sts.volcengineapi.com"],
    "yandexcertificatemanager": ["api.cloud.yandex.net", "api.yandexcloud.kz"],
    "yandexlockbox": ["api.cloud.yandex.net", "api.yandexcloud.kz"],
}


def is_known(provider: str, server: Server) -> bool:
    """Whether a server is one of the provider's own cloud."""
    return any(pattern.covers(server) for pattern in _patterns(provider))


@cache
def _patterns(provider: str) -> tuple[Server, ...]:
    return tuple(filter(None, map(server_pattern, KNOWN.get(provider, ()))))
