"""The servers of regions: each realm has a domain of its own."""

import pytest

from syncret.providers.oracle.receivers import managing, reading


@pytest.mark.parametrize(
    ("region", "domain"),
    [
        pytest.param("eu-frankfurt-1", "oraclecloud.com", id="oc1"),
        pytest.param("eu-later-9", "oraclecloud.com", id="one that is not known yet"),
        pytest.param("us-luke-1", "oraclegovcloud.com", id="oc2"),
        pytest.param("us-gov-phoenix-1", "oraclegovcloud.com", id="oc3"),
        pytest.param("uk-gov-cardiff-1", "oraclegovcloud.uk", id="oc4"),
        pytest.param("ap-chiyoda-1", "oraclecloud8.com", id="oc8"),
        pytest.param("eu-dcc-rating-2", "oraclecloud14.com", id="oc14"),
        pytest.param("eu-frankfurt-2", "oraclecloud.eu", id="oc19"),
    ],
)
def test_domains(region: str, domain: str) -> None:
    assert reading(region) == f"https://secrets.vaults.{region}.oci.{domain}"
    assert managing(region) == f"https://vaults.{region}.oci.{domain}"


def test_another_address_is_that_of_all_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCI_VAULTS_ENDPOINT", "https://proxy.example")

    assert reading("uk-gov-london-1") == managing("uk-gov-london-1") == "https://proxy.example"
