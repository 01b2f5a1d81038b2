"""Metrics with TLS, for those alone whom the cluster's RBAC lets read them."""

import ssl
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.real.e2e.process import daemon
from tests.support.servers.kube.running import KubeApi
from tests.support.tls import Authority

pytestmark = pytest.mark.slow

READS = {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}


def asked(url: str, trust: ssl.SSLContext, token: str = "") -> int:
    """The status that is answered."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310  # our own server
    try:
        with urllib.request.urlopen(request, timeout=60, context=trust) as answer:  # noqa: S310  # as above
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_metrics_are_for_those_that_may_read_them(
    tmp_path: Path, kubeconfig: Path, api: KubeApi, namespace: str
) -> None:
    authority = Authority()
    pair = authority.pair("127.0.0.1")
    (tmp_path / "tls.crt").write_bytes(pair.certificate)
    (tmp_path / "tls.key").write_bytes(pair.key)
    trust = ssl.create_default_context(cadata=authority.pem.decode())
    scraper = api.token(namespace, api.account(namespace, READS, everywhere=True))
    other = api.token(namespace, api.account(namespace))
    flags = ("--kubernetes", "--namespace", namespace, "--set", f"kubeconfig={kubeconfig}")
    guarded = ("--metrics-secure", "--metrics-auth", f"--metrics-cert-dir={tmp_path}")
    with daemon(tmp_path, None, *flags, *guarded) as process:
        process.until(lambda: "metrics: https://" in process.stdout, "the address printed")
        address = process.stdout.partition("metrics: https://")[2].partition("/")[0]
        metrics = f"https://{address}/metrics"
        for token, code in ((scraper, 200), (other, 403), ("nobody", 401), ("", 401), (scraper, 200)):
            assert asked(metrics, trust, token) == code
        assert asked(f"https://{address}/healthz", trust) == 200
        assert process.stop() == 0
        assert scraper not in process.stderr
