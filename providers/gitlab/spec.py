"""The spec of a GitLab store, and its rules beyond the schema."""

from collections.abc import Iterator
from typing import Final

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Base64, CAProvider, Model, SecretKeySelector
from syncret.providers.kit.spec_rules import complete, filled, strict

HOME: Final = "https://gitlab.com"


class GitlabSecretRef(Model):
    """An access token that may read variables, from a Secret.

    Example: {accessToken: {name: gitlab-login, key: token}}
    """

    access_token: SecretKeySelector = SecretKeySelector()
    """A token of a user, project or group with the scope read_api, or api to push.
    Example: {name: gitlab-login, key: token}"""


class GitlabAuth(Model):
    """How the store authenticates.

    Example: {SecretRef: {accessToken: {name: gitlab-login, key: token}}}
    """

    secret_ref: GitlabSecretRef = msgspec.field(name="SecretRef")
    """A token that is kept in a Secret; with a capital S in the manifest."""


class GitlabSpec(Model):
    """Reads and writes CI/CD variables of a project, of groups, or of both; the project's win.

    Example: {projectID: shop/api, auth: {SecretRef: {accessToken: {name: gitlab-login, key: token}}}}
    """

    auth: GitlabAuth
    """How the store authenticates to GitLab."""
    url: str | None = None
    """Address of the instance; absent: https://gitlab.com/. Example: https://gitlab.example.com"""
    project_id: str | None = msgspec.field(default=None, name="projectID")
    """ID or path of the project. Example: shop/api"""
    group_ids: tuple[str, ...] = msgspec.field(default=(), name="groupIDs")
    """IDs or paths of groups, the outermost first: of two that have a variable, a read takes the later one.
    Example: [shop]"""
    inherit_from_groups: bool = False
    """Whether the groups above the project are used; then `groupIDs` must be absent."""
    environment: str | None = None
    """The environment scope of the variables; what is not there is looked for in the scope `*`.
    Example: production"""
    ca_bundle: Base64 | None = None
    """The certificate authorities to trust, as PEM in base64; absent: those of the system.
    Example: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"""
    ca_provider: CAProvider | None = None
    """Where the certificate authorities are kept, in place of `caBundle`."""


def check(spec: GitlabSpec, scope: Scope) -> Iterator[Problem]:
    """A project or group is set, groups are given in one way, and the token's Secret is complete."""
    token, path = spec.auth.secret_ref.access_token, "auth.SecretRef.accessToken"
    yield from strict(token, scope, path)
    yield from filled(
        spec.project_id or spec.group_ids,
        "projectID",
        "projectID and groupIDs must not both be empty",
        "write the project's ID or path, or groupIDs",
    )
    if spec.inherit_from_groups and spec.group_ids:
        yield Problem(
            path="groupIDs",
            message="defining groupIDs and inheritFromGroups = true is not allowed",
            hint="remove groupIDs to take the project's own groups, or inheritFromGroups to keep them",
        )
    yield from complete(
        token, path, no_name="accessToken.name cannot be empty", no_key="accessToken.key cannot be empty"
    )
