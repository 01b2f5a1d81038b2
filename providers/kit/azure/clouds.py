"""Azure's clouds: where each issues tokens, and by which names those tokens call its services."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Environment: TypeAlias = Literal[
    "PublicCloud", "USGovernmentCloud", "ChinaCloud", "GermanCloud", "AzureStackCloud"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """Addresses without a slash at the end; empty where they are not known."""

    authority: str = ""
    """Microsoft Entra ID."""
    vault: str = ""
    """The resource that tokens for Key Vault are for."""
    management: str = ""
    """The same for the resource manager, whose tokens container registries take."""

    def with_overrides(self, environment: Mapping[str, str]) -> "Cloud":
        """The same cloud; the public one by way of AZURE_AUTHORITY_HOST, as Azure's own tools have it.

        Only whoever runs the daemon can set that: who gives out tokens receives credentials.
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
