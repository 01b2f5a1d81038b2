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


CLOUDS: Final[Mapping[Environment, Cloud]] = {
    "PublicCloud": Cloud(
        authority="https://login.microsoftonline.com",
        vault="https://vault.azure.net",
        management="https://management.azure.com",
    ),
    "USGovernmentCloud": Cloud(
        authority="https://login.microsoftonline.us",
        vault="https://vault.usgovcloudapi.net",
        management="https://management.usgovcloudapi.net",
    ),
    "ChinaCloud": Cloud(
        authority="https://login.chinacloudapi.cn",
        vault="https://vault.azure.cn",
        management="https://management.chinacloudapi.cn",
    ),
    "GermanCloud": Cloud(
        authority="https://login.microsoftonline.de",
        vault="https://vault.microsoftazure.de",
        management="https://management.microsoftazure.de",
    ),
    "AzureStackCloud": Cloud(),
}
