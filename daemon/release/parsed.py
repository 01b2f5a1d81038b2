"""A release that is parsed: documents, policy, values and sensitive fields."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from syncret.daemon.release.documents import Documents
from syncret.daemon.release.findings import Findings
from syncret.daemon.release.groups import Settings
from syncret.daemon.release.model import Field, Tag
from syncret.daemon.release.platform import Policy


class Parsed(Struct, frozen=True):
    """What the steps after parsing read."""

    documents: Documents
    policy: Policy
    tree: dict[str, Any]
    fields: tuple[Field, ...]
    settings: Mapping[str, Settings]
    findings: Findings

    @property
    def tags(self) -> list[tuple[Field, Tag]]:
        """The fields whose values are to be asked for."""
        return [(field, field.fulfilment) for field in self.fields if isinstance(field.fulfilment, Tag)]
