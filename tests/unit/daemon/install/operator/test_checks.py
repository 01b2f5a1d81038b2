"""What the schema lets through, and must not be installed."""

import pytest
from msgspec.structs import replace

from syncret.daemon.install.operator.checks import Installed, problems
from syncret.daemon.install.operator.choices import Bitwarden, CertManager, Choices, Environment, Proxy

FINE = Choices(namespace="secrets")
ISSUED = CertManager(
    inject=False,
    issuer={"name": "ca", "kind": "Issuer", "group": "cert-manager.io"},
    duration="8760h",
    renew_before="30m",
)
OWN = Environment(image="registry.example.com/syncret:1", version="1", bitwarden_image="b:1")
CANARY = "hunter2-canary"


def paths(chosen: Choices, environment: Environment = OWN, installed: Installed | None = None) -> list[str]:
    return [problem.path for problem in problems(chosen, environment, installed)]


@pytest.mark.parametrize(
    "proxy",
    [
        *("http://proxy:3128", "proxy.example.com:3128", "https://user:pw@[::1]:8080", "socks5://a"),
        "",
    ],
)
def test_nothing_is_wrong(proxy: str) -> None:
    fine = replace(
        FINE,
        only_namespace="shop",
        check_interval="90s",
        proxy=Proxy(http=proxy),
        cert_manager=ISSUED,
        bitwarden=Bitwarden(""),
    )
    assert paths(fine, installed=Installed("secrets", cert_manager=True)) == []


@pytest.mark.parametrize("name", ["Upper", "a_b", "-a", "a.b", ""])
def test_a_name_that_no_namespace_can_have(name: str) -> None:
    assert paths(replace(FINE, namespace=name)) == ["spec.controllerConfig.namespace"]


def test_the_namespace_that_is_looked_after() -> None:
    assert paths(replace(FINE, only_namespace="A")) == ["spec.appConfig.operatingNamespace"]


@pytest.mark.parametrize("text", ["5", "soon", "0s", "-5m"])
def test_an_interval_that_is_none(text: str) -> None:
    assert paths(replace(FINE, check_interval=text)) == [
        "spec.appConfig.webhookConfig.certificateCheckInterval"
    ]


@pytest.mark.parametrize("address", ["ftp://a", "http://", f"http://u:{CANARY}@a:99999", "http://[::1"])
def test_a_proxy_that_is_none_is_not_quoted(address: str) -> None:
    (problem,) = problems(replace(FINE, proxy=Proxy(https=address)), OWN, None)
    assert problem.path == "proxy.httpsProxy"
    assert CANARY not in str(problem)


@pytest.mark.parametrize(("duration", "before"), [("1h", "1h"), ("1h", "2h"), ("x", "1h"), ("1h", "-1m")])
def test_a_certificate_that_would_never_hold(duration: str, before: str) -> None:
    chosen = replace(FINE, cert_manager=ISSUED._replace(duration=duration, renew_before=before))
    assert len(paths(chosen)) == 1


def test_bitwarden_without_a_certificate() -> None:
    assert paths(replace(FINE, bitwarden=Bitwarden(""))) == ["secretRef"]
    assert paths(replace(FINE, bitwarden=Bitwarden("tls"))) == []


def test_images_that_are_not_known() -> None:
    unknown = OWN._replace(image="", bitwarden_image="")
    assert len(paths(replace(FINE, bitwarden=Bitwarden("tls")), unknown)) == 2


@pytest.mark.parametrize(
    ("chosen", "path"),
    [
        (replace(FINE, namespace="elsewhere", cert_manager=ISSUED), "spec.controllerConfig.namespace"),
        (FINE, "spec"),
    ],
)
def test_what_cannot_change_any_more(chosen: Choices, path: str) -> None:
    assert paths(chosen, installed=Installed("secrets", cert_manager=True)) == [path]
