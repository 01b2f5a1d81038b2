"""The spec of a Cloud.ru store, and its rules beyond the schema."""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model
from syncret.providers.kit.spec_parts import AccessKey
from syncret.providers.kit.spec_rules import filled, referents

_UUID: Final = re.compile(
    r"(urn:uuid:)?H{8}-H{4}-H{4}-H{4}-H{12}|\{H{8}-H{4}-H{4}-H{4}-H{12}\}|H{32}".replace("H", "[0-9a-f]"),
    re.IGNORECASE,
)


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID, in any of its spellings."""
    return _UUID.fullmatch(text) is not None


class CloudRuAuth(Model):
    """How the store authenticates.

    Example: {secretRef: {accessKeyIDSecretRef: {name: cloudru-login, key: id}, accessKeySecretSecretRef:
    {name: cloudru-login, key: secret}}}
    """

    secret_ref: AccessKey | None = None
    """An access key that is kept in a Secret; required."""


class CloudRuSpec(Model):
    """Reads and writes secrets of one project.

    Example: {projectID: 6f0e1d3c-8a6b-4c5d-9e7f-2a3b4c5d6e7f, auth: {secretRef: {accessKeyIDSecretRef:
    {name: cloudru-login, key: id}, accessKeySecretSecretRef: {name: cloudru-login, key: secret}}}}
    """

    auth: CloudRuAuth
    """How the store authenticates to Cloud.ru."""
    project_id: str | None = msgspec.field(default=None, name="projectID")
    """The project, a UUID; required. Example: 6f0e1d3c-8a6b-4c5d-9e7f-2a3b4c5d6e7f"""


def check(spec: CloudRuSpec, scope: Scope) -> Iterator[Problem]:
    """Key and project are set, the project is a UUID, selectors are in scope."""
    yield from filled(
        spec.auth.secret_ref, "auth.secretRef", "invalid spec: auth.secretRef is required", "write it"
    )
    if not spec.project_id:
        yield Problem(
            path="projectID", message="invalid spec: projectID is required", hint="write the project's UUID"
        )
    elif not is_uuid(spec.project_id):
        yield Problem(
            path="projectID",
            message="invalid spec: projectID is invalid UUID",
            hint="copy the project's UUID from the console",
        )
    if ref := spec.auth.secret_ref:
        halves = (
            ("accessKeyIDSecretRef", "accessKeyID", ref.access_key_id_secret_ref),
            ("accessKeySecretSecretRef", "accessKeySecret", ref.access_key_secret_secret_ref),
        )
        yield from referents(halves, scope, "auth.secretRef", "invalid spec: auth.secretRef")
