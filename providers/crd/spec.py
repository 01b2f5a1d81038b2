"""The spec of a store that reads Kubernetes resources, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final

from msgspec import Meta

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, Rule, SecretKeySelector, at_least_one, at_most_one
from syncret.providers.errors import OverBudget
from syncret.providers.kit.kube.spec import KubernetesAuth, KubernetesServer, check_connection
from syncret.providers.work import Work

_PATTERNS_SECONDS: Final = 0.05
"""Work, in seconds, for compiling all patterns of one store."""


class Resource(Model):
    """The kind of objects that is read.

    Example: {group: example.com, version: v1, kind: Database}
    """

    group: str
    """API group; empty for the core group, and written even then: a typo must not read another resource.
    Example: example.com"""
    version: Annotated[str, Meta(min_length=1)]
    """Version of the resource, as the API server serves it. Example: v1"""
    kind: Annotated[str, Meta(min_length=1)]
    """Kind of the objects; Secrets are refused, and left to the provider `kubernetes`. Example: Database"""


class WhitelistRule(Model):
    r"""Regular expressions for objects and their properties; an absent one matches all.

    Example: {name: ^gateway$, properties: ['^data\.']}
    """

    name: str | None = None
    """Regular expression (RE2) for names of objects; it matches anywhere unless it is anchored.
    Example: ^gateway$"""
    namespace: str | None = None
    """Regular expression (RE2) for namespaces, in a ClusterSecretStore: a SecretStore reads only its own.
    Example: ^payments$"""
    properties: tuple[str, ...] = ()
    r"""Regular expressions (RE2) for properties; with any, the whole object may not be read.
    Example: ['^data\.']"""


class Whitelist(Model):
    """What may be read: what at least one rule allows; without rules, everything.

    Example: {rules: [{namespace: ^payments$}]}
    """

    rules: tuple[WhitelistRule, ...] = ()
    """The rules, each of which allows what all its expressions match. Example: [{namespace: ^payments$}]"""


class CrdSpec(Model):
    """Reads fields of objects of one resource. Secrets are left to the provider `kubernetes`.

    Example: {resource: {group: '', version: v1, kind: ConfigMap}, auth: {serviceAccount: {name: reader}}}
    """

    RULES: ClassVar[tuple[Rule, ...]] = (
        at_least_one("auth", "authRef", message="one of auth or authRef is required"),
        at_most_one("auth", "authRef"),
    )

    resource: Resource
    """The kind of objects that is read."""
    server: KubernetesServer = KubernetesServer()
    """The API server, and who signed its certificate."""
    auth: KubernetesAuth | None = None
    """How the store authenticates to the API server; either this or `authRef`."""
    auth_ref: SecretKeySelector | None = None
    """A Secret that contains a kubeconfig, instead of `server` and `auth`; one that runs programs or names
    files is refused.
    Example: {name: cluster, key: kubeconfig}"""
    whitelist: Whitelist = Whitelist()
    """What may be read of these objects."""


def check(spec: CrdSpec, scope: Scope) -> Iterator[Problem]:
    """The connection is complete, the resource is no Secret, the patterns of the whitelist compile."""
    yield from check_connection(spec.server, spec.auth, spec.auth_ref, scope)
    resource = spec.resource
    if (resource.group in {"", "core"}) and resource.version == "v1" and resource.kind.lower() == "secret":
        yield Problem(
            path="resource.kind",
            message='kind "Secret" is not allowed: use the Kubernetes provider to read Kubernetes Secrets',
            hint="use the provider kubernetes",
        )
    work = Work(seconds=_PATTERNS_SECONDS)
    for index, rule in enumerate(spec.whitelist.rules):
        try:
            yield from _check_rule(rule, scope, f"whitelist.rules[{index}]", work)
        except OverBudget:
            yield Problem(
                path=f"whitelist.rules[{index}]",
                message="crd: the patterns of the whitelist take too long",
                hint="write fewer and simpler ones",
            )
            return


def _check_rule(rule: WhitelistRule, scope: Scope, path: str, work: Work) -> Iterator[Problem]:
    if not (rule.name or rule.namespace or rule.properties):
        yield Problem(
            path=path,
            message=f"crd: {path}: whitelist rule must define name, namespace, or properties",
            hint="remove the rule, or write what it allows",
        )
    patterns = [("name", rule.name), ("namespace", rule.namespace)]
    patterns += [(f"properties[{index}]", pattern) for index, pattern in enumerate(rule.properties)]
    for field, pattern in patterns:
        yield from _check_pattern(pattern or "", f"{path}.{field}", work)
    if rule.namespace and not scope.cluster:
        yield Problem(
            path=f"{path}.namespace",
            message=f"crd: {path}.namespace is not supported for a SecretStore",
            hint="a SecretStore only reads its own namespace: remove it, or use a ClusterSecretStore",
        )


def _check_pattern(pattern: str, path: str, work: Work) -> Iterator[Problem]:
    from syncret.providers.kit.golang import regexp  # RE2 is not needed to read a spec

    try:
        regexp.compile(pattern, work)
    except regexp.PatternError as error:
        yield Problem(
            path=path,
            message=f"crd: invalid {path} regex: {error.message}",
            hint="write an RE2 expression: without look-around and back references",
        )
