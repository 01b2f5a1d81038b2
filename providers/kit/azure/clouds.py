"""Azure's clouds: the authority that issues tokens, and the resources that they are for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Environment: TypeAlias = Literal[
    "PublicCloud", "USGovernmentCloud", "ChinaCloud", "GermanCloud", "AzureStackCloud"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """The addresses of a cloud, without a trailing slash; empty if unknown."""

    authority: str = ""
    """Microsoft Entra ID."""
    vault: str = ""
    """The resource that tokens for Key Vault are for."""
    management: str = ""
    """The same for the resource manager, whose tokens container registries take."""

    def with_overrides(self, environment: Mapping[str, str]) -> "Cloud":
        """The cloud, with AZURE_AUTHORITY_HOST instead of the public authority, as in Azure's own tools.

        Only the operator of the daemon can set it: the authority receives credentials.
        """
        host = environment.get("AZURE_AUTHORITY_HOST", "").rstrip("/")
        if not host or self != CLOUDS["PublicCloud"]:
            return self
        authority = host if "://" in host else f"https://{host}"
        return Cloud(authority=authority, vault=self.vault, management=self.management)


def _cloud(authority: str, vault: str, management: str) -> Cloud:
    return Cloud(
        authority=f"https://{authority}", vault=f"https://{vault}", management=f"https://{management}"
    )


CLOUDS: Final[Mapping[Environment, Cloud]] = {
    "PublicCloud": _cloud("login.microsoftonline.com", "vault.azure.net", "management.azure.com"),
    "USGovernmentCloud": _cloud(
        "login.microsoftonline.us", "vault.usgovcloudapi.net", "management.usgovcloudapi.net"
    ),
    "ChinaCloud": _cloud("login.chinacloudapi.cn", "vault.azure.cn", "management.chinacloudapi.cn"),
    "GermanCloud": _cloud(
        "login.microsoftonline.de", "vault.microsoftazure.de", "management.microsoftazure.de"
    ),
    "AzureStackCloud": Cloud(),
}
