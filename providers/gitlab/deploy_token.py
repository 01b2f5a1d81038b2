"""The generator GitlabDeployToken: a token of a GitLab project or group, revoked when it is replaced."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from syncret.config.catalog import SpecType
from syncret.config.fields import Model, Rule, Timestamp, either
from syncret.config.meta import Document
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.gitlab.spec import HOME
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.spec_parts import FromSecret
from syncret.providers.values import SecretBytes

if TYPE_CHECKING:  # imports TLS
    from syncret.providers.kit.http import Answer, Http
    from syncret.providers.kit.rest.api import Api
    from syncret.providers.kit.rest.identities import Identity

_GRANT: Final = "give the token the scope api, and the role Maintainer in the project (of a group: Owner)"
_TOKENS: Final = "/api/v4/{kind}/{id}/deploy_tokens"

CREATE: Final = Endpoint("POST", _TOKENS, "creating deploy token {name}", _GRANT)
REVOKE: Final = Endpoint("DELETE", f"{_TOKENS}/{{token}}", "revoking deploy token {token}", _GRANT)

_NOT_FOUND: Final = re.compile("404 (.+ )?not found", re.IGNORECASE)
"""GitLab's own words, as a proxy does not say them."""
_LEFT: Final = (
    "let the generator's token see it; if it was deleted, the deploy token is of no use any more: "
    "then remove the finalizer of this GeneratorState"
)

Scope: TypeAlias = Literal[
    "read_repository",
    "read_registry",
    "write_registry",
    "read_package_registry",
    "write_package_registry",
    "read_virtual_registry",
    "write_virtual_registry",
]


class GitlabDeployTokenAuth(Model):
    """How the generator authenticates.

    Example: {token: {secretRef: {name: gitlab-login, key: token}}}
    """

    token: FromSecret
    """An access token of a user, a project or a group, with the scope `api` and the role Maintainer.
    Example: {secretRef: {name: gitlab-login, key: token}}"""


class GitlabDeployTokenSpec(Model):
    """User name and token for registries and repositories of one project or group.

    Example: {projectID: acme/shop, name: deploy, scopes: [read_registry], auth: {token: {secretRef: {name:
    gitlab-login, key: token}}}}
    """

    name: Annotated[str, Meta(min_length=1)]
    """Name of the token in GitLab; several may have it. Example: deploy"""
    scopes: Annotated[tuple[Scope, ...], Meta(min_length=1)]
    """What the token allows. Example: [read_registry]"""
    auth: GitlabDeployTokenAuth
    """Who creates the token."""
    project_id: Annotated[str, Meta(min_length=1)] | None = msgspec.field(name="projectID", default=None)
    """Number or path of the project. Example: acme/shop"""
    group_id: Annotated[str, Meta(min_length=1)] | None = msgspec.field(name="groupID", default=None)
    """Number or path of the group. Example: acme"""
    url: str = ""
    """Address of the instance; absent: https://gitlab.com. Example: https://gitlab.example.com"""
    username: str = ""
    """User name that goes with the token; absent: GitLab chooses one. Example: deployer"""
    expires_at: Timestamp | None = None
    """When the token ends; absent: it is valid until a newer one replaces it.
    Example: '2027-01-01T00:00:00Z'"""

    RULES: ClassVar[tuple[Rule, ...]] = (either("projectID", "groupID"),)


class _Issued(msgspec.Struct):
    id: int
    username: str
    token: str


class _State(msgspec.Struct):
    token_id: int = msgspec.field(name="tokenID")


class _Failure(msgspec.Struct):
    message: str = ""


class _Gone(Malformed):
    """There is no such token: it was revoked already."""


def _missing(answer: "Answer", endpoint: Endpoint) -> SyncError | None:
    """The meaning of a 404. Of a deleted project GitLab says what it says of one that is not seen."""
    failure = answer.decode_if(_Failure)
    said = _NOT_FOUND.fullmatch("" if failure is None else failure.message)
    if said is None:
        return None
    for owner in ("project", "group"):
        if owner in said[0].lower():
            hint = _LEFT if endpoint is REVOKE else f"check {owner}ID, and whether the token may see it"
            return Malformed(f"{answer.doing}: GitLab shows no such {owner}", hint=hint)
    return _Gone(f"{answer.doing}: GitLab does not have it")


async def generate(spec: GitlabDeployTokenSpec, context: OpenContext) -> Generated:
    """A new deploy token, which is valid until it is revoked or ends."""
    body: dict[str, Any] = {"name": spec.name, "scopes": list(spec.scopes)}
    if spec.username:
        body["username"] = spec.username
    if spec.expires_at is not None:
        body["expires_at"] = spec.expires_at
    kind, owner = _place(spec)
    async with _opened(spec, context) as api:
        answer = await api.call(CREATE, body=body, kind=kind, id=owner, name=spec.name)
    issued = answer.decode(_Issued)
    values = {"username": issued.username, "token": issued.token}
    return Generated(
        {name: SecretBytes(value.encode()) for name, value in values.items()}, state=_state(spec, issued.id)
    )


def _state(spec: GitlabDeployTokenSpec, token: int) -> Document:
    """All that the operator reads of it, so that it can clean up, too."""
    place = {"url": spec.url, "projectID": spec.project_id, "groupID": spec.group_id}
    return {name: value for name, value in place.items() if value} | {"tokenID": token}


async def cleanup(spec: GitlabDeployTokenSpec, state: Document, context: OpenContext) -> None:
    """Revoke the token; one that is gone is no error."""
    token = str(msgspec.convert(state, _State).token_id)
    kind, owner = _place(spec)
    async with _opened(spec, context) as api:
        with suppress(_Gone):
            await api.call(REVOKE, kind=kind, id=owner, token=token)


def _place(spec: GitlabDeployTokenSpec) -> tuple[str, str]:
    return ("groups", spec.group_id or "") if spec.project_id is None else ("projects", spec.project_id)


@asynccontextmanager
async def _opened(spec: GitlabDeployTokenSpec, context: OpenContext) -> "AsyncGenerator[Api, None]":
    from syncret.providers.kit.references import read_text
    from syncret.providers.kit.rest.api import Refusals  # imports asyncio and TLS
    from syncret.providers.kit.rest.connection import connected
    from syncret.providers.kit.rest.identities import FixedHeaders

    async def identify(_http: "Http") -> "Identity":
        token = await read_text(context, spec.auth.token.secret_ref, "auth.token.secretRef")
        return FixedHeaders({"PRIVATE-TOKEN": token.strip()})

    refusals = Refusals(vendor="GitLab", check="check url, projectID and groupID", errors={404: _missing})
    async with connected(spec.url or HOME, context, identify, refusals) as api:
        yield api


DEPLOY_TOKEN: Final = Generator(
    SpecType("GitlabDeployToken", GitlabDeployTokenSpec), generate=generate, cleanup=cleanup
)
