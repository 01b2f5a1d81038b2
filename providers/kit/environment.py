"""Variables of the environment that providers read, beside identities: proxies, and addresses of clouds.

Everything else in the environment is behind the door (`syncret.providers.kit.ambient`). Only the operator of
the daemon can set these; a store cannot.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Final

_NAMES: Final = frozenset(
    {
        # proxies, in capitals or not
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        # Alibaba Cloud's KMS and STS in a VPC, or a proxy of them
        "ALIBABA_CLOUD_KMS_ENDPOINT",
        "ALIBABA_CLOUD_STS_ENDPOINT",
        # other endpoints of AWS's services
        "AWS_ACM_ENDPOINT",
        "AWS_EC2_METADATA_SERVICE_ENDPOINT",
        "AWS_ECR_ENDPOINT",
        "AWS_ECR_PUBLIC_ENDPOINT",
        "AWS_RESOURCE_GROUPS_TAGGING_API_ENDPOINT",
        "AWS_SECRETSMANAGER_ENDPOINT",
        "AWS_SSM_ENDPOINT",
        "AWS_STS_ENDPOINT",
        # Azure's login endpoint, the cloud, and the tenant of ServiceAccounts that name none
        "AZURE_AUTHORITY_HOST",
        "AZURE_CLOUD",
        "AZURE_ENVIRONMENT",
        "AZURE_TENANT_ID",
        # Azure's resource manager, and what tokens for it are for, as in Azure Service Operator
        "AZURE_RESOURCE_MANAGER_AUDIENCE",
        "AZURE_RESOURCE_MANAGER_ENDPOINT",
        # Cloud.ru's services, or the server that lists them
        "CLOUDRU_CSM_ADDRESS",
        "CLOUDRU_DISCOVERY_URL",
        "CLOUDRU_IAM_ADDRESS",
        # Doppler's API, for a proxy of it
        "DOPPLER_BASE_URL",
        # Google's metadata server, and its sovereign clouds
        "GCE_METADATA_HOST",
        "GOOGLE_CLOUD_UNIVERSE_DOMAIN",
        # Oracle's vaults, for a proxy of them
        "OCI_VAULTS_ENDPOINT",
        # Volcengine's API, for a proxy of it, and its STS
        "VOLCENGINE_ENDPOINT",
        "VOLCENGINE_OIDC_STS_ENDPOINT",
    }
)
_PREFIX: Final = "CLOUDSDK_API_ENDPOINT_OVERRIDES_"
"""Of gcloud's variables for private endpoints and proxies."""


class _Addresses(Mapping[str, str]):
    """The variables above as they are now."""

    def __getitem__(self, name: str) -> str:
        if name.upper() not in _NAMES and not name.startswith(_PREFIX):
            raise RuntimeError(f"{name} is not a variable that names an address")
        return os.environ[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in os.environ if name.upper() in _NAMES or name.startswith(_PREFIX))

    def __len__(self) -> int:
        return sum(1 for _ in self)


ADDRESSES: Final[Mapping[str, str]] = _Addresses()
