"""The generator GitlabDeployToken: a token of a GitLab project or group, revoked when it is replaced."""

from typing import Annotated, ClassVar, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from syncret.config.catalog import SpecType
from syncret.config.fields import Model, Rule, SecretKeySelector, Timestamp
from syncret.config.meta import Document
from syncret.providers.contract import Generator

Scope: TypeAlias = Literal[
    "read_repository",
    "read_registry",
    "write_registry",
    "read_package_registry",
    "write_package_registry",
    "read_virtual_registry",
    "write_virtual_registry",
]


class GitlabTokenRef(Model):
    """A Secret key with an access token that has the scope `api` and the role Maintainer."""

    secret_ref: SecretKeySelector


class GitlabDeployTokenAuth(Model):
    """How the generator authenticates."""

    token: GitlabTokenRef


def _one_owner(spec: Document) -> bool:
    return ("projectID" in spec) != ("groupID" in spec)


class GitlabDeployTokenSpec(Model):
    """User name and token for registries and repositories of one project or group."""

    name: Annotated[str, Meta(min_length=1)]
    scopes: Annotated[tuple[Scope, ...], Meta(min_length=1)]
    auth: GitlabDeployTokenAuth
    # Project and group: a number, or a path such as group/project.
    project_id: Annotated[str, Meta(min_length=1)] | None = msgspec.field(name="projectID", default=None)
    group_id: Annotated[str, Meta(min_length=1)] | None = msgspec.field(name="groupID", default=None)
    url: str = ""
    """Absent: https://gitlab.com."""
    username: str = ""
    """Absent: GitLab chooses one."""
    expires_at: Timestamp | None = None
    """Absent: it is valid until a newer one replaces it."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "exactly one of projectID or groupID must be set",
            "has(self.projectID) != has(self.groupID)",
            _one_owner,
        ),
    )


DEPLOY_TOKEN: Final = Generator(SpecType("GitlabDeployToken", GitlabDeployTokenSpec))
