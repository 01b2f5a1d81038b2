"""The flags of ESO's controller, which `syncret run` takes as they are: the arguments of a chart can stay."""

from argparse import SUPPRESS, Action, ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

PREFIXES: Final = ("--experimental-", "--doppler-")
SUFFIX: Final = "-cache-size"
"""Flags of whole groups, which have no effect here."""

_CLIENTS: Final = "sessions keep their clients"
_WATCHES: Final = "Secrets are watched without their values"
_PACE: Final = "apiWrites and workers bound it"
_CONVERSION: Final = "what has a webhook is found by itself, each webhook.checkInterval"
_LEVELS: Final = {"warn": "warning", "dpanic": "error", "panic": "error", "fatal": "error"}


class EsoFlag(NamedTuple):
    """One flag: the setting that it is, or why it has no effect."""

    name: str
    setting: str = ""
    why: str = ""
    switch: bool = False
    of: str = ""
    """Whether it is the `name` or the `namespace` of an object, which are one setting: NAMESPACE/NAME."""


FLAGS: Final = (
    EsoFlag("--controller-class", "controllerClass"),
    EsoFlag("--enable-cluster-store-reconciler", "process.clusterStore", switch=True),
    EsoFlag("--enable-secret-store-reconciler", "process.secretStore", switch=True),
    EsoFlag("--enable-push-secret-reconciler", "process.pushSecret", switch=True),
    EsoFlag("--enable-cluster-external-secret-reconciler", "process.clusterExternalSecret", switch=True),
    EsoFlag("--enable-cluster-push-secret-reconciler", "process.clusterPushSecret", switch=True),
    EsoFlag("--enable-flood-gate", "requireReadyStores", switch=True),
    EsoFlag("--enable-generator-state", "generatorState", switch=True),
    EsoFlag("--unsafe-allow-generic-targets", "allowGenericTargets", switch=True),
    EsoFlag("--store-requeue-interval", "storeInterval"),
    EsoFlag("--generator-gc-grace-period", "generatorGcGracePeriod"),
    EsoFlag("--template-left-delimiter", "templateDelimiters.left"),
    EsoFlag("--template-right-delimiter", "templateDelimiters.right"),
    EsoFlag("--enable-leader-election", "leaderElection.enabled", switch=True),
    EsoFlag("--leader-election-id", "leaderElection.id"),
    EsoFlag("--leader-election-lease-duration", "leaderElection.leaseDuration"),
    EsoFlag("--leader-election-retry-period", "leaderElection.renew"),
    EsoFlag("--leader-election-renew-deadline", why="who holds the Lease stops 2 s before its end"),
    EsoFlag("--metrics-addr", "listen"),
    EsoFlag("--metrics-secure", "metricsTls.enabled", switch=True),
    EsoFlag("--metrics-auth", "metricsAuth", switch=True),
    EsoFlag("--metrics-cert-dir", "metricsTls.certDir"),
    EsoFlag("--metrics-cert-name", "metricsTls.certName"),
    EsoFlag("--metrics-key-name", "metricsTls.keyName"),
    EsoFlag("--live-addr", "healthListen"),
    EsoFlag("--loglevel", "logLevel"),
    EsoFlag("--zap-time-encoding", "logTime"),
    EsoFlag("--enable-extended-metric-labels", "extendedMetricLabels", switch=True),
    *(EsoFlag(f"--{name}", why=_PACE) for name in ("concurrent", "client-qps", "client-burst")),
    EsoFlag("--enable-secrets-caching", why=_WATCHES, switch=True),
    EsoFlag("--enable-configmaps-caching", why=_WATCHES, switch=True),
    EsoFlag("--enable-managed-secrets-caching", why=_WATCHES, switch=True),
    EsoFlag("--enable-secret-api-read-on-cache-mismatch", why=_WATCHES, switch=True),
    EsoFlag("--enable-http2", why="HTTP/1.1 is spoken", switch=True),
    EsoFlag("--enable-vault-token-cache", why=_CLIENTS, switch=True),
    # of the webhook
    EsoFlag("--port", "webhook.port"),
    EsoFlag("--dns-name", "webhook.dnsName"),
    EsoFlag("--cert-dir", "webhook.certDir"),
    EsoFlag("--healthz-addr", "webhook.healthzAddr"),
    EsoFlag("--check-interval", "webhook.checkInterval"),
    EsoFlag("--lookahead-interval", "webhook.lookaheadInterval"),
    EsoFlag("--tls-ciphers", "webhook.tlsCiphers"),
    EsoFlag("--tls-min-version", "webhook.tlsMinVersion"),
    # of the certificate controller
    *(
        EsoFlag(f"--{what}-{of}", f"webhook.{what}", of=of)
        for what in ("service", "secret")
        for of in ("name", "namespace")
    ),
    *(EsoFlag(f"--{name}", why=_CONVERSION) for name in ("crd-names", "crd-requeue-interval")),
    EsoFlag("--enable-partial-cache", why=_WATCHES, switch=True),
)
BY_NAME: Final = {flag.name: flag for flag in FLAGS}


class Given(NamedTuple):
    """A flag as it was written on a command line."""

    flag: EsoFlag
    value: str

    @property
    def setting_value(self) -> str:
        """The value in the words of the setting."""
        if self.flag.setting == "logLevel":
            return _LEVELS.get(self.value, self.value)
        if self.flag.name in {"--metrics-addr", "--live-addr", "--healthz-addr"} and self.value == "0":
            return ""
        return self.value


class _Take(Action):
    """Collects flags in their order, whatever each means."""

    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        del parser
        taken = [*getattr(namespace, self.dest), Given(BY_NAME[str(option_string)], str(values))]
        setattr(namespace, self.dest, taken)


def eso_flags(command: ArgumentParser) -> None:
    """Let a command take ESO's flags, as `options.eso`. Its help does not list them: a guide does."""
    command.set_defaults(eso=[])
    for flag in FLAGS:
        if flag.switch:
            command.add_argument(flag.name, dest="eso", action=_Take, nargs="?", const="true", help=SUPPRESS)
        else:
            command.add_argument(flag.name, dest="eso", action=_Take, help=SUPPRESS)


def names_in_namespaces(given: Sequence[Given]) -> list[tuple[str, str, str]]:
    """Flag, setting and value of each object that is named by two flags, or by one of them."""
    parts: dict[str, dict[str, Given]] = {}
    for each in given:
        if each.flag.of:
            parts.setdefault(each.flag.setting, {})[each.flag.of] = each
    found: list[tuple[str, str, str]] = []
    for setting, by in parts.items():
        name = by["name"].value if "name" in by else "external-secrets-webhook"
        within = f"{by['namespace'].value}/" if "namespace" in by else ""
        found.append((next(iter(by.values())).flag.name, setting, f"{within}{name}"))
    return found


def passed_over(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments without the flags of those groups that have no effect, and these flags."""
    kept: list[str] = []
    dropped: list[str] = []
    is_value = False
    for each in arguments:
        name, equals, _ = each.partition("=")
        if name.startswith(PREFIXES) or (name.startswith("--") and name.endswith(SUFFIX)):
            dropped.append(name)
            is_value = not equals
        elif not (is_value and not each.startswith("-")):
            kept.append(each)
            is_value = False
        else:
            is_value = False
    return kept, dropped


def without_effect(given: Sequence[Given], dropped: Sequence[str]) -> list[tuple[str, str]]:
    """The flags that have no effect, each once, with the reason."""
    found = {each.flag.name: each.flag.why or "it is so already" for each in given if not each.flag.setting}
    found |= dict.fromkeys(dropped, _CLIENTS)
    return list(found.items())
