"""SecretStore and ClusterSecretStore: how a secret manager is reached, and who may use it."""

import re
from collections.abc import Collection, Iterator
from typing import Any, Final

import msgspec

from syncret.config.catalog import OTHER_NAMESPACE, Catalog, Scope
from syncret.config.durations import DurationError, parse_duration
from syncret.config.errors import Problem, Severity
from syncret.config.fields import Int32, Json, LabelSelector, Model, Namespace, StoreChoice
from syncret.config.meta import is_list, is_object
from syncret.config.paths import join
from syncret.config.resources.base import ConditionStatus, Resource
from syncret.config.resources.namespace_patterns import unanchored
from syncret.config.schema.scalars import INT32

_SHOWN: Final = 40
_REFERENCE: Final = re.compile(r".*(?:Ref|Selector|Provider|Secret)")
"""The name of a field that refers to an object."""
_ESCAPE: Final = re.compile(r"\\Q.*?(?:\\E|\Z)|\\(.)", re.DOTALL)
"""Quoted text of a regular expression, or one escape."""


class StoreCondition(Model):
    """Namespaces that may use a ClusterSecretStore; one match among the three fields is enough.

    Example: {namespaces: [shop]}
    """

    namespace_selector: LabelSelector | None = None
    """Labels of namespaces that may use the store. Example: {matchLabels: {vault: allowed}}"""
    namespaces: tuple[Namespace, ...] = ()
    """Names of namespaces that may use the store. Example: [shop, payments]"""
    namespace_regexes: tuple[str, ...] = ()
    """Regular expressions (RE2) for names of namespaces; without `^` and `$` more names match than one
    expects.
    Example: [^team-a-.*$]"""


class RetrySettings(Model):
    """How often and how fast a call that got no answer is tried again.

    Example: {maxRetries: 5, retryInterval: 10s}
    """

    max_retries: Int32 | None = None
    """How often a call is repeated at most; absent: in a store, as `callAttempts` says. Example: 5"""
    retry_interval: str | None = None
    """Pause before each repetition; absent: one that doubles. Example: 10s"""


class SecretStoreSpec(Model):
    """How a secret manager is reached, and who may use it.

    Example: {provider: {vault: {server: 'https://vault.example.com:8200', path: secret}}}
    """

    provider: StoreChoice
    """The secret manager: exactly one field, named after its provider.
    Example: {vault: {server: 'https://vault.example.com:8200', path: secret}}"""
    controller: str = ""
    """Class of daemons that serve the store; others, by their setting `controllerClass`, ignore it. Empty:
    all serve it.
    Example: edge"""
    retry_settings: RetrySettings | None = None
    """How calls without an answer are repeated. The default suits most managers."""
    refresh_interval: int | str | None = None
    """How often the store is checked, as a duration or a number of seconds; absent: as the setting
    `storeInterval` says.
    Example: 10m"""
    conditions: tuple[StoreCondition, ...] = ()
    """Who may use a ClusterSecretStore: a namespace for which one of them holds. None: every namespace."""

    def refresh_seconds(self) -> float:
        """Seconds between two probes of the store; 0: the daemon's own setting. Raises DurationError."""
        interval = self.refresh_interval
        if interval is None:
            return 0.0
        return float(interval) if isinstance(interval, int) else parse_duration(interval)


class SecretStoreStatus(Model):
    """Whether the store is ready, and its capabilities; ignored in a manifest.

    Example: {}
    """

    conditions: tuple[ConditionStatus, ...] = ()
    """Whether the store answered its last check."""
    capabilities: str = ""
    """ReadOnly, WriteOnly or ReadWrite. Example: ReadWrite"""


class SecretStore(Resource):
    """A store for one namespace."""

    spec: SecretStoreSpec = SecretStoreSpec(provider={})
    """How the secret manager is reached, and who may use it."""
    status: SecretStoreStatus = SecretStoreStatus()
    """Whether the store is ready; ignored in a manifest."""

    @property
    def scope(self) -> Scope:
        """Cluster-scoped, or its namespace."""
        return Scope(cluster=False, namespace=self.metadata.namespace)


class ClusterSecretStore(SecretStore):
    """A store for every namespace that its conditions allow."""

    @property
    def scope(self) -> Scope:
        return Scope(cluster=True)


def check(resource: SecretStore, catalog: Catalog) -> Iterator[Problem]:
    """The rules of the admission webhook beyond the schema, and those of the provider."""
    spec = resource.spec
    yield from _conditions(spec.conditions)
    yield from _refresh_interval(spec)
    if len(spec.provider) != 1:
        yield Problem(
            path="spec.provider",
            message=f"secret stores must only have exactly one backend specified, found {len(spec.provider)}",
        )
        return
    ((name, value),) = spec.provider.items()
    spec_type = catalog.store(name)
    if not spec_type.maintained:
        yield Problem(
            path=f"spec.provider.{name}",
            message=f"store {resource.metadata.name} isn't currently maintained",
            hint="plan and prepare accordingly",
            severity=Severity.WARNING,
            upstream=True,
        )
    path, found = f"spec.provider.{name}", list[Problem]()
    if spec_type.check is not None:
        typed: Any = msgspec.convert(value, spec_type.model)
        found = [
            msgspec.structs.replace(problem, path=join(path, problem.path))
            for problem in spec_type.check(typed, resource.scope)
        ]
    yield from found
    yield from _foreign_namespaces(value, resource.scope, path, {problem.path for problem in found})


def _foreign_namespaces(provider: Json, scope: Scope, path: str, known: Collection[str]) -> Iterator[Problem]:
    """Warnings about references of a namespaced store to other namespaces, except at paths `known` by now."""
    if scope.cluster:
        return
    for place, namespace in _references(provider, path, named=False):
        if namespace != scope.namespace and place not in known:
            yield Problem(
                path=place,
                message=OTHER_NAMESPACE,
                hint=f"the store reads in its own namespace, {scope.namespace}: remove it, or use a "
                "ClusterSecretStore",
                severity=Severity.WARNING,
            )


def _references(value: Json, path: str, *, named: bool) -> Iterator[tuple[str, str]]:
    """The namespaces that references to objects name, however deep; `named`: the field is called like one."""
    if is_list(value):
        for place, item in enumerate(value):
            yield from _references(item, f"{path}[{place}]", named=False)
    elif is_object(value):
        namespace = value.get("namespace")
        if named and isinstance(namespace, str) and namespace and isinstance(value.get("name"), str):
            yield f"{path}.namespace", namespace
        for field, inner in value.items():
            yield from _references(inner, join(path, field), named=_REFERENCE.fullmatch(field) is not None)


MOST_PATTERNS: Final = 100
"""Regular expressions of one store; each may take milliseconds to compile."""


def _conditions(conditions: tuple[StoreCondition, ...]) -> Iterator[Problem]:
    if sum(len(condition.namespace_regexes) for condition in conditions) > MOST_PATTERNS:
        yield Problem(
            path="spec.conditions",
            message=f"has more than {MOST_PATTERNS} regular expressions",
            hint="write fewer, or select namespaces by labels",
        )
        return
    for place, condition in enumerate(conditions):
        for index, pattern in enumerate(condition.namespace_regexes):
            path = f"spec.conditions[{place}].namespaceRegexes[{index}]"
            fault = _pattern_fault(pattern)
            if not fault:
                yield from unanchored(pattern, path)
            else:
                yield Problem(
                    path=path,
                    message=f"failed to compile {index}th namespace regex in {place}th condition: "
                    f"error parsing regexp: {fault}",
                    hint="use RE2 syntax: no look-around, no back references",
                )


def _pattern_fault(pattern: str) -> str:
    """Why Go would not compile the pattern; empty if it would."""
    import re2  # few stores have patterns

    options = re2.Options()
    options.log_errors = False
    if any(found[1] == "C" for found in _ESCAPE.finditer(pattern)):
        return r"invalid escape sequence: `\C`"  # RE2 would match one byte of a character
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        return _text(error)
    return ""


def _refresh_interval(spec: SecretStoreSpec) -> Iterator[Problem]:
    interval = spec.refresh_interval
    shown = f'"{interval[:_SHOWN]}"' if isinstance(interval, str) else interval
    fault = ""
    try:
        if spec.refresh_seconds() < 0:
            fault = "must not be negative"
        elif isinstance(interval, int) and interval >= INT32:
            fault = "must fit into 32 bits"
    except DurationError as error:
        fault = str(error)
    if fault:
        yield Problem(
            path="spec.refreshInterval",
            message=f"invalid refreshInterval {shown}: {fault}",
            hint='write seconds as a number (3600), or a duration ("1h")',
        )


def _text(error: Exception) -> str:
    detail = error.args[0] if error.args else ""
    return detail.decode(errors="replace") if isinstance(detail, bytes) else str(detail)
