"""How a process is told that Azure is here: the variables that Azure's own tools read."""

from tests.support.servers.azure.directory import MANAGEMENT
from tests.support.servers.azure.server import Azure


def variables(cloud: Azure) -> dict[str, str]:
    """The environment of the daemon."""
    return {
        "AZURE_AUTHORITY_HOST": cloud.url,
        "AZURE_POD_IDENTITY_AUTHORITY_HOST": cloud.url,
        "AZURE_RESOURCE_MANAGER_AUDIENCE": MANAGEMENT,
        "AZURE_RESOURCE_MANAGER_ENDPOINT": cloud.url,
    }
