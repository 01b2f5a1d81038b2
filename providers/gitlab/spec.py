"""The spec of a GitLab store, and its rules beyond the schema."""

from collections.abc import Iterator

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Base64, CAProvider, Model, SecretKeySelector
from syncret.providers.kit.spec_rules import complete, filled, strict


class GitlabSecretRef(Model):
    """An access token that may read variables, from a Secret."""

    access_token: SecretKeySelector = SecretKeySelector()


class GitlabAuth(Model):
    """How the store authenticates."""

    secret_ref: GitlabSecretRef = msgspec.field(name="SecretRef")
    """With a capital S in the manifest."""


class GitlabSpec(Model):
    """Reads CI/CD variables of a project, of groups, or of both; the project's win."""

    auth: GitlabAuth
    url: str | None = None
    """`https://gitlab.com/` by default."""
    project_id: str | None = msgspec.field(default=None, name="projectID")
    group_ids: tuple[str, ...] = msgspec.field(default=(), name="groupIDs")
    inherit_from_groups: bool = False
    """Uses the project's own groups instead of `groupIDs`."""
    environment: str | None = None
    """The environment scope of the variables."""
    ca_bundle: Base64 | None = None
    ca_provider: CAProvider | None = None


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
