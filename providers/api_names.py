"""Names of secret managers and of their API calls in the metrics: ESO's names, where it has them.

They are the values of the labels `provider` and `call`, by which dashboards and alerts select.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct

CallKind: TypeAlias = Literal[
    "read",
    "batch",
    "metadata",
    "find",
    "find_tags",
    "push",
    "delete",
    "exists",
    "probe",
    "generate",
    "cleanup",
]
"""An operation, or a special case of one: a read of several entries in one call (`batch`), of metadata,
a search by tags. A search looks for entries by `find`, and reads them by `read` or `batch`."""


def _same_for_all(_kind: CallKind, _key: str) -> str | None:
    """The default of `by_key`: no name depends on the key."""
    return None


class ApiNames(Struct, frozen=True):
    """The names of one manager: its own, and those of its calls. What has none is named as we do.

    Without a name of its own, a special case has that of its operation; `exists` has that of `read`.
    """

    provider: str = ""
    read: str = ""
    batch: str = ""
    metadata: str = ""
    find: str = ""
    find_tags: str = ""
    push: str = ""
    delete: str = ""
    exists: str = ""
    probe: str = ""
    generate: str = ""
    cleanup: str = ""
    by_key: Callable[[CallKind, str], str | None] = _same_for_all
    """The name of a call for one remote key, where that depends on the key."""

    def of(self, kind: CallKind) -> str:
        """The name of a call; empty: none."""
        name: str = getattr(self, kind)
        return name


def our_names(_spec: object) -> ApiNames:
    """The names of a manager without metrics in ESO: those of its manifests and of our operations."""
    return ApiNames()
