"""The spec of a Keeper Security store, and its rules beyond the schema."""

from collections.abc import Iterator

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit.spec_rules import filled, strict


class KeeperSpec(Model):
    """Reads and writes records of a shared folder."""

    auth_ref: SecretKeySelector
    """The base64 configuration of an application, from a Secret."""
    folder_id: str = msgspec.field(name="folderID")
    """The folder of new records."""
    get_by_title_fallback: bool = False
    """Looks a record up by its title if no record has the key as its ID."""


def check(spec: KeeperSpec, scope: Scope) -> Iterator[Problem]:
    """The folder is set; the selector names its namespace in a cluster-scoped store."""
    yield from strict(spec.auth_ref, scope, "authRef", "error validating secret selector")
    yield from filled(
        spec.folder_id,
        "folderID",
        "missing: spec.provider.keepersecurity.folderID",
        "write the ID of the shared folder",
    )
