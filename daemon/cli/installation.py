"""The flags of `syncret export manifests` as an Installation."""

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncret.config.errors import ConfigError, Problem

if TYPE_CHECKING:  # settings are slow to import
    from syncret.config.text.yaml_lines import Lines
    from syncret.daemon.install.installation import Installation
    from syncret.daemon.install.parts import DisruptionBudget, TargetResource

INSTALLATION_FLAGS: Final = {
    "values": "--values",
    "image": "--image",
    "installation": "--name",
    "namespace": "--namespace",
    "only_namespace": "--only-namespace",
    "replicas": "--replicas",
    "min_available": "--min-available",
    "service_account": "--service-account",
    "generic_target": "--generic-target",
    "pull_secret": "--pull-secret",
    "network_policy": "--network-policy",
    "service_monitor": "--service-monitor",
    "webhook": "--webhook",
    "set": "--set",
}
"""By their attributes."""

_SEVERAL: Final = 2
_BESIDE_VALUES: Final = ("values", "image", "installation", "namespace")
"""What a values file does not say; everything else is one of its values."""
_MONITORS: Final = "monitoring.coreos.com/v1/ServiceMonitor"
"""What a values file that asks for it may count on: no cluster is asked."""


def installation_of(options: Namespace) -> "Installation":
    """What the flags say; what they leave out is as Installation has it. Raises ConfigError."""
    from syncret.daemon.install.installation import Installation
    from syncret.daemon.install.parts import NetworkPolicy, Pod, ServiceAccount, ServiceMonitor, Webhook

    if options.values:
        return _by_values(options)
    if not options.image:
        hint = "write --image REPOSITORY:TAG: `docker build -t REPOSITORY:TAG .` makes it"
        raise ConfigError([Problem(path="--image", message="is missing", hint=hint)])
    replicas = 1 if options.replicas is None else options.replicas
    account = options.service_account
    return Installation(
        image=options.image,
        name=options.installation or "syncret",
        namespace=options.namespace or "syncret",
        replicas=replicas,
        only_namespace=options.only_namespace or "",
        settings=_settings(options.set or ()),
        generic_targets=tuple(_targets(options.generic_target or ())),
        service_account=ServiceAccount(create=not account, name=account or ""),
        pod=Pod(pull_secrets=tuple(options.pull_secret or ())),
        disruption_budget=_budget(options.min_available, replicas),
        network_policy=NetworkPolicy() if options.network_policy else None,
        service_monitor=ServiceMonitor() if options.service_monitor else None,
        webhook=Webhook(failure_policy=options.webhook) if options.webhook else None,
    )


def _by_values(options: Namespace) -> "Installation":
    """What a file with the values of the chart says."""
    from syncret.config.text.yaml import load_mapping
    from syncret.config.version import version
    from syncret.daemon.install.chart.read import Release, installation_of

    for attribute, flag in INSTALLATION_FLAGS.items():
        if attribute not in _BESIDE_VALUES and getattr(options, attribute) not in {None, False}:
            hint = f"write its value into {options.values}"
            raise ConfigError([Problem(path=flag, message="is not taken beside --values", hint=hint)])
    loaded = load_mapping(Path(options.values))
    values = loaded.value
    if loaded.problems:
        raise ConfigError([_located(each, options.values, loaded.lines) for each in loaded.problems])
    if options.image:
        repository, _, tag = options.image.rpartition(":")
        values = {**values, "image": {**values.get("image", {}), "repository": repository, "tag": tag}}
    release = Release(
        name=options.installation or "syncret",
        namespace=options.namespace or "syncret",
        service="kubectl",
        version=version(),
        apis=(_MONITORS,),
    )
    try:
        return installation_of(values, release)
    except ConfigError as error:
        located = [_located(each, options.values, loaded.lines) for each in error.problems]
        raise ConfigError(located) from error


def _located(problem: Problem, file: str, lines: "Lines") -> Problem:
    """A problem with the file and line of its value."""
    line = problem.line or lines.of(problem.path)
    field = f"{problem.path}: " if problem.path else ""
    path = f"{file}:{line}" if line else file
    return Problem(path=path, message=f"{field}{problem.message}", hint=problem.hint)


def _settings(pairs: Iterable[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            problem = Problem(path=f"--set {pair}", message="has no value", hint="write --set NAME=VALUE")
            raise ConfigError([problem])
        found[name] = text
    return found


def _targets(names: Iterable[str]) -> "Iterator[TargetResource]":
    from syncret.daemon.install.parts import TargetResource

    for name in names:
        resource, _, group = name.partition(".")
        yield TargetResource(group=group, resources=(resource.lower(),))


def _budget(text: str | None, replicas: int) -> "DisruptionBudget | None":
    """As it is written, or one of several: a node that is drained never takes the last one."""
    from syncret.daemon.install.parts import DisruptionBudget

    if text is None:
        return DisruptionBudget() if replicas >= _SEVERAL else None
    if text.isascii() and text.removesuffix("%").isdigit():
        return DisruptionBudget(min_available=int(text) if text.isdigit() else text)
    hint = "write a number or a share, such as 1 or 50%"
    raise ConfigError(
        [Problem(path=f"--min-available {text}", message="is no number of replicas", hint=hint)]
    )
