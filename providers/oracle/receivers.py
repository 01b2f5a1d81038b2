"""The addresses of Oracle's vaults, and where a store would have the daemon's own identity sent to."""

from collections.abc import Iterator, Mapping
from typing import Final

from syncret.providers.contract import Receiver
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.oracle.spec import OracleSpec

_SENDS = {
    "InstancePrincipal": "requests signed as the machine",
    "Workload": "requests signed as a workload of the daemon's cluster",
}


_DOMAINS: Final[Mapping[str, str]] = {
    "oraclegovcloud.com": "us-langley-1 us-luke-1 us-gov-ashburn-1 us-gov-chicago-1 us-gov-phoenix-1",
    "oraclegovcloud.uk": "uk-gov-london-1 uk-gov-cardiff-1",
    "oraclecloud8.com": "ap-chiyoda-1 ap-ibaraki-1",
    "oraclecloud9.com": "me-dcc-muscat-1 me-ibri-1",
    "oraclecloud10.com": "ap-dcc-canberra-1",
    "oraclecloud14.com": "eu-dcc-milan-1 eu-dcc-milan-2 eu-dcc-dublin-1 eu-dcc-dublin-2 eu-dcc-rating-1"
    " eu-dcc-rating-2",
    "oraclecloud15.com": "ap-dcc-gazipur-1",
    "oraclecloud.eu": "eu-madrid-2 eu-frankfurt-2",
    "oraclecloud20.com": "eu-jovanovac-1",
    "oraclecloud21.com": "me-dcc-doha-1 me-alrayyan-1",
    "oraclecloud23.com": "us-somerset-1 us-thames-1",
    "oraclecloud24.com": "eu-dcc-zurich-1 eu-crissier-1",
    "oraclecloud26.com": "me-abudhabi-3 me-alain-1",
    "oraclecloud29.com": "me-abudhabi-2 me-abudhabi-4",
    "oraclecloud35.com": "ap-seoul-2 ap-suwon-1 ap-chuncheon-2",
    "oraclecloud42.com": "us-ashburn-2 us-newark-1",
    "oraclecloud51.com": "eu-budapest-1",
    "oraclecloud52.com": "sa-riodejaneiro-1",
}
"""The regions of the realms with a domain of their own: those of governments, partners and the EU."""

_OF_REGION: Final = {region: domain for domain, regions in _DOMAINS.items() for region in regions.split()}


def _service(name: str, region: str) -> str:
    domain = _OF_REGION.get(region, "oraclecloud.com")
    return ADDRESSES.get("OCI_VAULTS_ENDPOINT") or f"https://{name}.{region}.oci.{domain}"


def reading(region: str) -> str:
    """The service that values are read from."""
    return _service("secrets.vaults", region)


def managing(region: str) -> str:
    """The service that secrets are listed and written by."""
    return _service("vaults", region)


def receivers(spec: OracleSpec) -> Iterator[Receiver]:
    """Both, unless the store names a user."""
    if spec.principal_type in _SENDS:
        for url in dict.fromkeys((reading(spec.region), managing(spec.region))):
            yield Receiver("oracle", url, _SENDS[spec.principal_type], "region")
