"""The addresses of Oracle's vaults, and where a store would have the daemon's own identity sent to."""

from collections.abc import Iterator

from syncret.providers.contract import Receiver
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.oracle.spec import OracleSpec

_SENDS = {
    "InstancePrincipal": "requests signed as the machine",
    "Workload": "requests signed as a workload of the daemon's cluster",
}


def reading(region: str) -> str:
    """The service that values are read from."""
    return ADDRESSES.get("OCI_VAULTS_ENDPOINT") or f"https://secrets.vaults.{region}.oci.oraclecloud.com"


def managing(region: str) -> str:
    """The service that secrets are listed and written by."""
    return ADDRESSES.get("OCI_VAULTS_ENDPOINT") or f"https://vaults.{region}.oci.oraclecloud.com"


def receivers(spec: OracleSpec) -> Iterator[Receiver]:
    """Both, unless the store names a user."""
    if spec.principal_type in _SENDS:
        for url in dict.fromkeys((reading(spec.region), managing(spec.region))):
            yield Receiver("oracle", url, _SENDS[spec.principal_type], "region")
