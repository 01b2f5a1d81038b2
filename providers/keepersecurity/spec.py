"""The spec of a Keeper Security store, and its rules beyond the schema."""

from collections.abc import Iterator

import msgspec

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit.spec_rules import filled, strict


class KeeperSpec(Model):
    """Reads the records that are shared with one application of Keeper, and makes new ones."""

    auth_ref: SecretKeySelector
    """The configuration of a device of the application, in base64.
    Example: {name: keeper-login, key: config}"""
    folder_id: str = msgspec.field(name="folderID")
    """UID of the folder in which pushes make records: a shared folder, or one within it.
    Example: MLyMYFkqkVZtVTRmvWPoTA"""
    get_by_title_fallback: bool = False
    """Whether a key that is the UID of no record is a title: reading by title fetches all records."""


def check(spec: KeeperSpec, scope: Scope) -> Iterator[Problem]:
    """The folder is set; the selector names its namespace in a cluster-scoped store."""
    yield from strict(spec.auth_ref, scope, "authRef", "error validating secret selector")
    yield from filled(
        spec.folder_id,
        "folderID",
        "missing: spec.provider.keepersecurity.folderID",
        "write the ID of the shared folder",
    )
