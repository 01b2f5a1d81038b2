"""The NetworkPolicies of an isolated installation: what each component needs, and what the user allows."""

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import urlsplit

from syncret.config.meta import Document
from syncret.daemon.install.operator.choices import Choices, Policy, Proxy
from syncret.daemon.install.operator.components import BITWARDEN, NAME, name_of, selector

_API_SERVER: Final = (443, 6443)
_DNS: Final = (53, 5353)
"""CoreDNS' port, and that of OpenShift's pods."""
_RESOLVERS: Final = (("kube-system", {"k8s-app": "kube-dns"}), ("openshift-dns", None))
_SERVED: Final = {
    NAME: (8080, 8082),
    f"{NAME}-webhook": (10250, 8080, 8081),
    f"{NAME}-cert-controller": (8080, 8081),
    BITWARDEN: (9998,),
}
_PROXY_PORT: Final = {"http": 80, "https": 443}


def policies(chosen: Choices, components: Sequence[str]) -> Iterator[Document]:
    """The policies of the components that are installed; none unless the user has written one."""
    if not chosen.policies:
        return
    yield _policy("deny-all-traffic", {}, types=("Ingress", "Egress"))
    yield _policy("allow-to-dns", {}, egress=[{"to": [*_resolvers()], "ports": [*_dns()]}])
    for component in components:
        short = "main-controller" if component == NAME else component.removeprefix(f"{NAME}-")
        name = f"allow-api-server-egress-for-{short.replace(BITWARDEN, 'bitwarden-server')}"
        yield _policy(
            name,
            selector(component),
            egress=[{"ports": [_port(number) for number in _API_SERVER]}],
            ingress=[{"ports": [_port(number) for number in _SERVED[component]]}],
        )
    ports = sorted({port for port in map(_proxy_port, _addresses(chosen.proxy)) if port})
    if ports and chosen.proxy.managed:
        egress = [{"ports": [_port(number) for number in ports]}]
        yield _policy("allow-egress-to-proxy", {}, egress=egress)
    taken = [policy.name for policy in chosen.policies if policy.component != "BitwardenSDKServer"]
    for policy in chosen.policies:
        component = name_of(policy.component)
        if component in components:
            name = _own_name(policy, taken)
            yield _policy(name, selector(component), egress=[*policy.egress])


def _own_name(policy: Policy, taken: Sequence[str]) -> str:
    shared = policy.component == "BitwardenSDKServer" and policy.name in taken
    return f"eso-user-{policy.name}{f'-{BITWARDEN}' if shared else ''}"


def _policy(
    name: str,
    pods: dict[str, str],
    *,
    ingress: list[Document] | None = None,
    egress: list[Document] | None = None,
    types: Sequence[str] = (),
) -> Document:
    rules: Document = {}
    if ingress is not None:
        rules["ingress"] = ingress
    if egress is not None:
        rules["egress"] = egress
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name},
        "spec": {
            "podSelector": {"matchLabels": pods} if pods else {},
            "policyTypes": [*types] or [each.title() for each in rules],
            **rules,
        },
    }


def _resolvers() -> Iterator[Document]:
    for namespace, pods in _RESOLVERS:
        peer: Document = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
        if pods is not None:
            peer["podSelector"] = {"matchLabels": pods}
        yield peer


def _dns() -> Iterator[Document]:
    for number in _DNS:
        yield _port(number, "UDP")
        yield _port(number)


def _port(number: int, protocol: str = "TCP") -> Document:
    return {"protocol": protocol, "port": number}


def _addresses(proxy: Proxy) -> Sequence[str]:
    return [each for each in (proxy.http, proxy.https) if each]


def _proxy_port(address: str) -> int | None:
    parts = urlsplit(address if "://" in address else f"http://{address}")
    return parts.port or _PROXY_PORT.get(parts.scheme)
