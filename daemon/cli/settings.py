"""Loads the settings of a command line, and turns errors before the work starts into exit codes."""

import os
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from syncret.config.catalog import BrokenEntry
from syncret.config.errors import ConfigError, Problem
from syncret.config.settings import IN_CLUSTER, OwnIdentity, Settings
from syncret.config.settings_layers import DEFAULTS, LayerValue, load_settings
from syncret.config.spelling import did_you_mean
from syncret.daemon.cli.exit_codes import INVALID, UNUSABLE
from syncret.daemon.cli.parser.eso_flags import names_in_namespaces
from syncret.daemon.cli.terminal import print_error
from syncret.daemon.homes.contract import HomeUnusable, StorageUnavailable
from syncret.daemon.ops.bind_errors import CannotListen
from syncret.providers.registry import Registry

KNOWN: Final = (BrokenEntry, ConfigError, HomeUnusable, StorageUnavailable, CannotListen)

FLAGS: Final = {
    "manifests": ("-f", "manifests"),
    "output_dir": ("--output-dir", "outputDir"),
    "state": ("--state", "stateFile"),
    "listen": ("--listen", "listen"),
    "socket": ("--socket", "socket"),
    "kubernetes": ("--kubernetes", "kubernetes"),
    "namespace": ("--namespace", "namespace"),
    "kubeconfig": ("--kubeconfig", "kubeconfig"),
    "context": ("--context", "context"),
    "selector": ("--selector", "selector"),
}
ONE_SHOT: Final = Settings(output_dir="", state_file="", burst=1000)
"""The defaults of `sync`, `plan` and `exec`, which write only to given folders, and read only once."""

SIDECAR: Final = Settings(output_dir="")
"""The defaults of `run` where objects come from a cluster and become files."""

NOT_IN_CLUSTER: Final = Problem(
    path="kubernetes", message="this command reads manifests, no cluster", hint="leave kubernetes out"
)

ONLY_IN_CLUSTER: Final = Problem(
    path="observe",
    message="has a meaning in a cluster alone",
    hint="add --kubernetes; on a host, `syncret plan` writes nothing",
)

NOT_SPLIT: Final = Problem(
    path="--only", message="chooses a part of what runs in a cluster", hint="add --kubernetes"
)

NO_MANIFESTS: Final = Problem(
    path="manifests",
    message="there are none",
    hint="name them with -f PATH, in SYNCRET_MANIFESTS, or as `manifests` in a settings file (--config FILE)",
)

NO_OUTPUT_DIR: Final = (
    "there is no output folder (name one with --output-dir DIR, or as the setting outputDir)"
)


def settings_of(options: Namespace, *, defaults: Settings = DEFAULTS) -> Settings:
    """The settings in force: defaults < file < environment < flags. Raises ConfigError."""
    file = getattr(options, "config", None)
    settings = load_settings(Path(file) if file else None, os.environ, _flags_of(options), defaults=defaults)
    problems = list(_unknown_providers(settings.own_identity))
    if problems:
        raise ConfigError(problems)
    return settings


def settings_of_daemon(options: Namespace) -> Settings:
    """The settings of `run`, which reads manifests or works in a cluster. Raises ConfigError."""
    settings = settings_of(options, defaults=IN_CLUSTER)
    wrong = list(_wrong_metrics(settings))
    if wrong:
        raise ConfigError(wrong)
    if settings.is_sidecar:
        return settings_of(options, defaults=SIDECAR)
    if settings.kubernetes:
        return settings
    if getattr(options, "only", None):
        raise ConfigError([NOT_SPLIT])
    if settings.observe:
        raise ConfigError([ONLY_IN_CLUSTER])
    return settings_with_manifests(options)


def _wrong_metrics(settings: Settings) -> Iterator[Problem]:
    if settings.metrics_tls.enabled and not settings.metrics_tls.cert_dir:
        hint = "name the folder of tls.crt and tls.key, such as a mounted Secret"
        yield Problem(path="metricsTls.certDir", message="is missing: there is no certificate", hint=hint)
    if settings.metrics_auth and not settings.metrics_tls.enabled:
        message = "needs metricsTls: a token must not travel in the clear"
        yield Problem(path="metricsAuth", message=message, hint="set metricsTls.enabled, or leave it out")
    if settings.metrics_auth and not settings.kubernetes:
        message = "needs a cluster, which knows whose a token is"
        yield Problem(path="metricsAuth", message=message, hint="add --kubernetes, or leave it out")


def settings_with_manifests(options: Namespace, *, defaults: Settings = DEFAULTS) -> Settings:
    """The settings of a command that reads manifests. Raises ConfigError, also if there are none."""
    settings = settings_of(options, defaults=defaults)
    if settings.kubernetes:
        raise ConfigError([NOT_IN_CLUSTER])
    if not settings.manifests:
        raise ConfigError([NO_MANIFESTS])
    return settings


def _unknown_providers(own: OwnIdentity) -> Iterator[Problem]:
    for setting, names in (("receivers", own.receivers), ("clusterOnly", own.cluster_only)):
        known = Registry().store_names() if names else ()
        for name in names:
            if name not in known:
                hint = did_you_mean(name, list(known))
                yield Problem(
                    path=f"ownIdentity.{setting}", message=f"there is no provider {name}", hint=hint
                )


def _flags_of(options: Namespace) -> Iterator[LayerValue]:
    """What the command line sets, the dedicated flags first."""
    for attribute, (flag, name) in FLAGS.items():
        value = getattr(options, attribute, None)
        if value is not None:
            yield LayerValue(flag, name, value)
    for given in getattr(options, "eso", ()):
        if given.flag.setting and not given.flag.of:
            yield LayerValue(given.flag.name, given.flag.setting, given.setting_value)
    for name, setting, value in names_in_namespaces(getattr(options, "eso", ())):
        yield LayerValue(name, setting, value)
    for pair in getattr(options, "set", ()):
        name, equals, value = pair.partition("=")
        if not equals:
            raise ConfigError(
                [Problem(path=f"--set {pair}", message="has no value", hint="write --set NAME=VALUE")]
            )
        yield LayerValue(f"--set {name}", name, value)
    if getattr(options, "only", None) == "controller":
        yield LayerValue("--only", "webhook.enabled", value=False)


def run_guarded(work: Callable[[], int]) -> int:
    """Run a command; an error that keeps it from starting becomes a message and an exit code."""
    try:
        return work()
    except KNOWN as error:
        return _report([error])
    except BaseExceptionGroup as group:
        known, rest = group.split(KNOWN)
        if known is None or rest is not None:
            raise
        return _report(list(_leaves(known)))


def _report(errors: Iterable[BaseException]) -> int:
    code = INVALID
    for error in errors:
        if isinstance(error, ConfigError):
            for problem in error.problems:
                print_error(problem)
            continue
        code = UNUSABLE
        print_error(error, getattr(error, "hint", ""))
    return code


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        match error:
            case BaseExceptionGroup():
                yield from _leaves(error)
            case _:
                yield error
