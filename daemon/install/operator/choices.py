"""Merges an ExternalSecretsConfig and the ExternalSecretsManager into choices: which wins, what is ignored.

Documents are read, not models, because an empty list differs from an absent one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from syncret.config.meta import Document, member

Component: TypeAlias = Literal[
    "ExternalSecretsCoreController", "Webhook", "CertController", "BitwardenSDKServer"
]

DEFAULT_NAMESPACE: Final = "external-secrets"
CLEAN_UP: Final = "CleanUpDisabledPlugins"
"""The feature that removes what a plugin left when it is switched off."""

_FEATURES: Final = frozenset({CLEAN_UP})
_RESERVED: Final = re.compile(
    r"app|(app\.kubernetes\.io|external-secrets\.io|rbac\.authorization\.k8s\.io)/.*|servicebinding\.io/controller"
)
_PLACES: Final = ("resources", "affinity", "tolerations", "nodeSelector")
_DEBUG: Final = 4
"""The first level of the operator's API that is `debug`."""


class Proxy(NamedTuple):
    """A proxy, as variables of an environment name it; an empty text is none."""

    http: str = ""
    https: str = ""
    none: str = ""
    """Hosts that are reached without it."""
    managed: bool = True
    """Whether a NetworkPolicy may let the pods reach it."""

    def __bool__(self) -> bool:
        return any((self.http, self.https, self.none))


class CertManager(NamedTuple):
    """cert-manager issues the certificates."""

    inject: bool
    """Whether it writes its authority to the webhook's configurations."""
    issuer: Mapping[str, str]
    duration: str
    renew_before: str


class Bitwarden(NamedTuple):
    """The server of Bitwarden Secrets Manager is installed."""

    secret: str
    """The Secret with its certificate; empty: cert-manager issues one."""


class Policy(NamedTuple):
    """A user's NetworkPolicy."""

    name: str
    component: Component
    egress: Sequence[Document]


class Environment(NamedTuple):
    """What the operator knows beside its two objects."""

    image: str
    version: str
    namespace: str = "external-secrets-operator"
    """Where the operator itself runs."""
    bitwarden_image: str = ""
    bitwarden_version: str = ""
    proxy: Proxy = Proxy()
    """Of its own environment."""


class Choices(Struct, frozen=True, kw_only=True):
    """What is to be installed, after all defaults."""

    namespace: str
    only_namespace: str = ""
    log_level: Literal["info", "debug"] = "info"
    check_interval: str = ""
    """How often the webhook looks at its certificate; empty: as the daemon's default."""
    pods: Mapping[str, Any] = MappingProxyType({})
    """resources, affinity, tolerations and nodeSelector, as far as they are chosen."""
    proxy: Proxy = Proxy()
    labels: Mapping[str, str] = MappingProxyType({})
    annotations: Mapping[str, str] = MappingProxyType({})
    cert_manager: CertManager | None = None
    bitwarden: Bitwarden | None = None
    policies: Sequence[Policy] = ()
    variables: Mapping[Component, Sequence[Document]] = MappingProxyType({})
    revisions: Mapping[Component, int] = MappingProxyType({})
    clean_up: bool = False
    """Whether what a plugin left is removed when it is switched off."""
    ignored: Sequence[str] = ()
    """What is written and has no effect, each with its reason."""


def choices(config: Document, manager: Document, environment: Environment) -> Choices:
    """What counts of two admitted objects; of a manager that does not exist, give an empty document."""
    spec, defaults = member(config, "spec"), member(manager, "spec", "globalConfig")
    app, controller = member(spec, "appConfig"), member(spec, "controllerConfig")
    components = controller.get("componentConfigs", ())
    wanted = {**defaults.get("labels", {}), **controller.get("labels", {})}
    features = {each["name"]: each["enabled"] for each in member(manager, "spec").get("features", ())}
    return Choices(
        namespace=controller.get("namespace", DEFAULT_NAMESPACE),
        only_namespace=app.get("operatingNamespace", ""),
        log_level="debug" if _level(app, defaults) >= _DEBUG else "info",
        check_interval=member(app, "webhookConfig").get("certificateCheckInterval", ""),
        pods={name: of[name] for name in _PLACES for of in [app if name in app else defaults] if name in of},
        proxy=_proxy(app, defaults, environment.proxy),
        labels={name: value for name, value in wanted.items() if not _RESERVED.fullmatch(name)},
        annotations=controller.get("annotations", {}),
        cert_manager=_cert_manager(app, controller),
        bitwarden=_bitwarden(app, spec),
        policies=tuple(
            Policy(each["name"], each["componentName"], each["egress"])
            for each in controller.get("networkPolicies", ())
        ),
        variables={
            each["componentName"]: each["overrideEnv"] for each in components if each.get("overrideEnv")
        },
        revisions={
            each["componentName"]: each["deploymentConfigs"]["revisionHistoryLimit"]
            for each in components
            if "deploymentConfigs" in each
        },
        clean_up=features.get(CLEAN_UP) == "true",
        ignored=(*_ignored_labels(wanted), *_ignored_features(manager)),
    )


def _level(app: Document, defaults: Document) -> int:
    """The log level. A 1 in the config does not count: it is the schema's default in each appConfig."""
    own: int = app.get("logLevel", 1)
    general: int = defaults.get("logLevel", 1)
    return own if own > 1 else general


def _proxy(app: Document, defaults: Document, own: Proxy) -> Proxy:
    for of in (app, defaults):
        if "proxy" in of:
            proxy = member(of, "proxy")
            managed = proxy.get("networkPolicyProvisioning", "Managed") == "Managed"
            http, https, none = (proxy.get(name, "") for name in ("httpProxy", "httpsProxy", "noProxy"))
            return Proxy(http, https, none, managed)
    return own


def _cert_manager(app: Document, controller: Document) -> CertManager | None:
    earlier, later = member(app, "certManagerConfig"), member(controller, "certProvider", "certManager")
    if earlier.get("enabled") == "true":
        chosen, inject = earlier, earlier.get("addInjectorAnnotations")
    elif later.get("mode") == "Enabled":
        chosen, inject = later, later.get("injectAnnotations")
    else:
        return None
    issuer: Mapping[str, str] = member(chosen, "issuerRef")
    is_for_all = issuer.get("kind", "").lower() == "clusterissuer"
    return CertManager(
        inject == "true",
        {
            "name": issuer.get("name", ""),
            "kind": "ClusterIssuer" if is_for_all else "Issuer",
            "group": "cert-manager.io",
        },
        chosen["certificateDuration"],
        chosen["certificateRenewBefore"],
    )


def _bitwarden(app: Document, spec: Document) -> Bitwarden | None:
    earlier = member(app, "bitwardenSecretManagerProvider")
    later = member(spec, "plugins", "bitwardenSecretManagerProvider")
    if earlier.get("enabled") != "true" and later.get("mode") != "Enabled":
        return None
    return Bitwarden(member(earlier or later, "secretRef").get("name", ""))


def _ignored_labels(labels: Iterable[str]) -> Iterator[str]:
    for name in sorted(labels):
        if _RESERVED.fullmatch(name):
            yield f"label {name}: it is the operator's own"


def _ignored_features(manager: Document) -> Iterator[str]:
    names = [each["name"] for each in member(manager, "spec").get("features", ())]
    for name in dict.fromkeys(names):
        if name not in _FEATURES:
            yield f"feature {name}: there is none of that name"
        elif names.count(name) > 1:
            yield f"feature {name}: it is listed {names.count(name)} times, and the last entry counts"
