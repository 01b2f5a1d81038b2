"""The spec of a Pulumi ESC store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

from msgspec import Meta

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Int64, Model, Rule, ServiceAccountSelector, either_alone
from syncret.providers.kit import spec_rules
from syncret.providers.kit.spec_parts import OptionalFromSecret


class PulumiOIDC(Model):
    """Exchanges the token of a Kubernetes ServiceAccount for one of Pulumi.

    Example: {organization: acme, serviceAccountRef: {name: app}}
    """

    organization: str
    """The organization that trusts the cluster's issuer. Example: acme"""
    service_account_ref: ServiceAccountSelector
    """The ServiceAccount whose token is exchanged; without audiences it is for `urn:pulumi:org:` and the
    organization. Example: {name: app}"""
    expiration_seconds: Annotated[Int64, Meta(ge=600)] = 600
    """For how long both tokens are requested. Example: 900"""


class PulumiAuth(Model):
    """How the store authenticates: one of the two.

    Example: {accessToken: {secretRef: {name: pulumi-login, key: token}}}
    """

    access_token: OptionalFromSecret | None = None
    """A token of a user, a team or the organization.
    Example: {secretRef: {name: pulumi-login, key: token}}"""
    oidc_config: PulumiOIDC | None = None
    """A token that Pulumi gives for that of a ServiceAccount."""

    RULES: ClassVar[tuple[Rule, ...]] = (either_alone("accessToken", "oidcConfig"),)


class PulumiSpec(Model):
    """Reads and writes the values of one environment of Pulumi ESC; keys are paths within it.

    Example: {organization: acme, project: shop, environment: prod, auth: {accessToken: {secretRef: {name:
    pulumi-login, key: token}}}}
    """

    organization: str
    """The organization that owns the environment. Example: acme"""
    project: str
    """The project of the environment. Example: shop"""
    environment: str
    """The environment. Example: prod"""
    api_url: str = "https://api.pulumi.com/api/esc"
    """Address of the API. Example: https://pulumi.example.com/api/esc"""
    auth: PulumiAuth | None = None
    """How the store authenticates to Pulumi."""
    access_token: OptionalFromSecret | None = None
    """Deprecated in favour of `auth.accessToken`. Example: {secretRef: {name: pulumi-login, key: token}}"""

    RULES: ClassVar[tuple[Rule, ...]] = (
        either_alone(
            "auth",
            "accessToken",
            message="Exactly one of 'auth' or deprecated 'accessToken' must be specified",
        ),
    )


def check(spec: PulumiSpec, scope: Scope) -> Iterator[Problem]:
    """The environment is complete; the token is complete and in scope."""
    for field, value in (
        ("organization", spec.organization),
        ("environment", spec.environment),
        ("project", spec.project),
    ):
        yield from spec_rules.filled(value, field, f"{field} is required", f"write the name of the {field}")
    if spec.access_token is not None:
        yield from _check_token(spec.access_token, scope, "accessToken")
    if spec.auth is not None and spec.auth.access_token is not None:
        yield from _check_token(spec.auth.access_token, scope, "auth.accessToken")
    if spec.auth is not None and spec.auth.oidc_config is not None:
        yield from _check_oidc(spec.auth.oidc_config, scope)


def _check_token(token: OptionalFromSecret, scope: Scope, path: str) -> Iterator[Problem]:
    selector = token.secret_ref
    if selector is None:
        yield Problem(
            path=f"{path}.secretRef",
            message="secretRef is required",
            hint="name the Secret that holds the token",
        )
        return
    yield from spec_rules.referent(selector, scope, f"{path}.secretRef")
    yield from spec_rules.complete(
        selector,
        f"{path}.secretRef",
        no_name="secretRef.name is required",
        no_key="secretRef.key is required",
    )


def _check_oidc(oidc: PulumiOIDC, scope: Scope) -> Iterator[Problem]:
    yield from spec_rules.filled(
        oidc.organization,
        "auth.oidcConfig.organization",
        "oidcConfig.organization is required",
        "write the organization that trusts the ServiceAccount's issuer",
    )
    if scope.cluster and oidc.service_account_ref.namespace is None:
        yield Problem(
            path="auth.oidcConfig.serviceAccountRef.namespace",
            message="oidcConfig.serviceAccountRef.namespace is required for ClusterSecretStore",
            hint="write the namespace of the ServiceAccount",
        )
